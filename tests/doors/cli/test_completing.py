"""A shell completes commands, run ids, workflows, options and agents; --help lists every command in one group."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from commands import process
from reconvene.doors.cli.main import COMMANDS, GROUPS

if TYPE_CHECKING:
    from pathlib import Path

    from commands import Command


def completed(folder: Path, *words: str, shell: str = "bash") -> list[str]:
    line = " ".join(("reconvene", *words))
    found = process(cwd=folder, _RECONVENE_COMPLETE=f"{shell}_complete", COMP_WORDS=line, COMP_CWORD=str(len(words)))
    assert found.err == ""
    return [row.partition(",")[2] for row in found.out.splitlines() if row]


@pytest.fixture
def parked(reconvene: Command) -> str:
    assert reconvene("run", "two-step.yaml", "--no-input").code == 3
    return "two-step-1"


@pytest.mark.parametrize(
    ("words", "found"),
    [
        (("comp",), ["compare", "completion"]),
        (("show", "tw"), ["two-step-1"]),
        (("show", "other"), []),
        (("decide", "two-step-1", "--option", "c"), ["Continue"]),
        (("decide", "--option", "''"), ["Continue", "Abort"]),
        (("decide", "two-step-1", "--option", "''"), ["Continue", "Abort"]),
        (("run", "two"), ["two-step.yaml"]),
        (("run", "market"), ["market-entry"]),
        (("output", "two-step-1", "wr"), ["writer"]),
        (("--home", "nowhere", "show", "t"), []),
    ],
)
def test_what_begins_so_is_offered(words: tuple[str, ...], found: list[str], parked: str, folder: Path) -> None:
    assert completed(folder, *words) == found
    assert not (folder / "nowhere").exists()


def test_a_label_of_several_words_is_one_word_of_the_shell(reconvene: Command, folder: Path) -> None:
    flow = (folder / "two-step.yaml").read_text(encoding="utf-8").replace('"Accept"', '"It\'s good"')
    (folder / "two-step.yaml").write_text(flow, encoding="utf-8")
    reconvene("run", "two-step.yaml", "--no-input")
    reconvene("decide", "--option", "Continue")
    assert completed(folder, "decide", "--option", "I") == ["'It'\"'\"'s good'"]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_of_a_shell_asks_the_command(shell: str, reconvene: Command) -> None:
    done = reconvene("completion", shell)
    assert done.code == 0
    assert f"{shell}_complete" in done.out
    assert reconvene("completion", "tcsh").code == 64


def test_help_lists_every_command_once_in_its_group(reconvene: Command) -> None:
    grouped = [name for names in GROUPS.values() for name in names]
    assert sorted(grouped) == sorted(COMMANDS)
    told = reconvene("--help").out
    for title in GROUPS:
        assert f"\n{title}:\n" in told
