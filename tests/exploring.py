"""How many examples a property is tried with: a small, fixed part in `make test`, many more in `make torture`."""

from __future__ import annotations

from typing import Any

from hypothesis import HealthCheck, settings

TIMES = settings().max_examples // 100  # the profile (tests/conftest.py) allows a hundred examples, or that many times


def examples(count: int, **more: Any) -> settings:
    """`@examples(20)` for a property of which each example is dear."""
    return settings(max_examples=count * TIMES, suppress_health_check=[HealthCheck.too_slow], **more)
