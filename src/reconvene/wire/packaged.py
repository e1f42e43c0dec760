"""Where the packaged workflows are. Knows their names and files, not what is in them."""

from __future__ import annotations

from pathlib import Path

_ROOT = Path(__file__).resolve().parents[1] / "workflows"


def packaged() -> dict[str, Path]:
    """Name → file of every workflow that comes with the package."""
    return {path.parent.name: path for path in sorted(_ROOT.glob("*/workflow.yaml"))}


def demos() -> list[str]:
    """The names in the order in which they are offered as a demo; the first is played when none is named."""
    return (_ROOT / "demos.txt").read_text(encoding="utf-8").split()
