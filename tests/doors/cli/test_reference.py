from __future__ import annotations

from pathlib import Path

from reconvene.doors.cli.main import COMMANDS
from reconvene.doors.cli.reference import reference

PAGE = Path(__file__).resolve().parents[3] / "docs" / "cli.md"


def test_the_reference_in_the_docs_is_the_one_the_commands_give() -> None:
    assert PAGE.read_text(encoding="utf-8") == reference(), (
        "make it anew: python -m reconvene.doors.cli.reference > docs/cli.md"
    )


def test_the_reference_names_every_command() -> None:
    page = reference()
    for name, (_, _, line) in COMMANDS.items():
        assert f"### reconvene {name}\n" in page
        assert line in page
