"""What time it is, for the doors over HTTP: as the log writes it, from any thread."""

from __future__ import annotations

from reconvene.surroundings import SystemClock


def now() -> str:
    return SystemClock().now()
