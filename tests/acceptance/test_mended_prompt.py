"""A mistake in a prompt, found after four decisions, costs none of them; and a run that has ended is taken up again."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from commands import Command

MISTAKE = "Count in dozens, not in tens."
MENDED = "Count in tens."


@pytest.fixture
def mine(tmp_path: Path, reconvene: Command) -> Path:
    """A copy of a packaged workflow with a mistake in one of its prompts."""
    assert reconvene("eject", "scenario-planning", "mine").code == 0
    write(tmp_path / "mine", MISTAKE)
    return tmp_path / "mine"


def write(folder: Path, line: str) -> None:
    file = folder / "prompts" / "economist.md"
    text = file.read_text(encoding="utf-8").replace(f"{MISTAKE}\n\n", "")
    file.write_text(f"{line}\n\n{text}", encoding="utf-8")


def answers(folder: Path, first: int, last: int | None = None) -> str:
    """Some of the decisions that come with the workflow, as a file."""
    text = (folder / "answers.yaml").read_text(encoding="utf-8")
    rows = re.split(r"^(?=- )", text, flags=re.MULTILINE)[1:]
    file = folder.parent / "some.yaml"
    file.write_text("".join(rows[first:last]), encoding="utf-8")
    return file.name


def test_a_mistake_in_a_prompt_found_after_four_decisions_costs_none_of_them(mine: Path, reconvene: Command) -> None:
    done = reconvene("run", "mine", "--recorded", "--answers", answers(mine, 0, 4), "--json")
    assert done.code == 3
    run = str(done.object["run"])
    before, ledger = reconvene("show", run, "--json").object, reconvene("ledger", run, "--json").object
    written = reconvene("output", run, "economist", "--prompt").out
    assert MISTAKE in written
    assert len(before["decisions"]) == 4  # type: ignore[arg-type]

    write(mine, MENDED)
    told = reconvene("upgrade", run, "--to", "mine", "--dry-run")
    assert told.code == 0
    assert "agent economist, prompt: +1 −1 lines" in told.out
    assert f"+{MENDED}" in told.out
    assert "nothing was changed (--dry-run)" in told.out
    assert reconvene("show", run, "--json").object == before

    done = reconvene("upgrade", run, "--to", "mine")
    assert done.code == 3, done.err
    assert f"{run} is waiting at" in done.out
    after = reconvene("show", run, "--json").object
    assert {name: after[name] for name in ("decisions", "remarks", "files", "usage")} == {
        name: before[name] for name in ("decisions", "remarks", "files", "usage")
    }
    assert after["pinned"] != before["pinned"]
    assert reconvene("ledger", run, "--json").object == ledger
    assert reconvene("output", run, "economist", "--prompt").out == written, "what was sent stays as it was"

    done = reconvene("resume", run, "--answers", answers(mine, 4), "--json")
    assert done.code == 0, done.err
    ended = reconvene("show", run, "--json").object
    assert ended["decisions"][:4] == before["decisions"]  # type: ignore[index]
    assert len(ended["decisions"]) == 12  # type: ignore[arg-type]
    assert MENDED in reconvene("output", run, "economist", "--prompt").out
    assert MISTAKE not in reconvene("output", run, "economist", "--prompt").out
    lives = reconvene("ledger", run, "--json").object["remarks"]
    known = [(one["id"], one["text"]) for one in ledger["remarks"]]  # type: ignore[attr-defined]
    assert [(one["id"], one["text"]) for one in lives][: len(known)] == known  # type: ignore[attr-defined]


@pytest.mark.torture
def test_a_run_that_is_completed_is_taken_up_again_with_a_remark(mine: Path, reconvene: Command) -> None:
    done = reconvene("run", "mine", "--recorded", "--answers", answers(mine, 0), "--json")
    assert done.code == 0
    run = str(done.object["run"])
    done = reconvene("reopen", run, "--remark", "correction: Debt is £170M, not £150M")
    assert done.code == 3
    assert f"{run} is waiting at strategy" in done.out
    shown = reconvene("show", run, "--json").object
    assert [one["phase"] for one in shown["reopened"]] == ["strategy"]  # type: ignore[attr-defined]
    assert shown["remarks"][-1]["checkpoint"] == shown["checkpoint"]["id"]  # type: ignore[index]
    assert "mended\n" in reconvene("show", run).out
    assert reconvene("rounds", run).code == 0
    assert reconvene("stats", run).code == 0
