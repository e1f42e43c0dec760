"""`reconvene rounds` in a real process, on a run whose rounds were rolled back."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from reconvene.settings import system_user

if TYPE_CHECKING:
    from commands import Command
    from terminals import Terminal

# Every call of the engineer finds one more line in its diary, beside the workflow: each try says something new.
REFINE = """\
name: refine
agents:
  engineer:
    command: ["sh", "-c", "cat >/dev/null; echo x >>DIARY; echo '# Plan'; echo shared; echo try $(grep -c x DIARY)"]
    gate: [{if: "output.text.includes('try 2')", retry_with: "NOT_TWO: never say two"}]
  reviewer: {command: ["sh", "-c", "cat >/dev/null; echo fine"]}
phases:
  - id: refine
    rounds: {plan: [first, second], max: 4, folder: "round_{{ round.n|pad(3) }}"}
    steps:
      - {agents: [engineer], output: {name: proposals, file: "round_{{ round.n|pad(3) }}/proposals.md"}}
      - {agents: [reviewer], output: review}
    checkpoint:
      options:
        - {label: Go on, then: continue}
        - {label: Redo, undo: true, then: again, fields: [{id: reason, type: text}]}
        - {label: Skip it, undo: true, then: continue}
"""


@pytest.fixture
def refined(reconvene: Command, folder: Path) -> str:
    """Round 1 was rolled back, and its retry waits for the person."""
    (folder / "refine.yaml").write_text(REFINE.replace("DIARY", str(folder / "diary")), encoding="utf-8")
    assert reconvene("run", "refine.yaml").code == 3
    words = ("--option", "Redo", "--field", "reason=too abstract", "--feedback", "comment: show \x1b[31mexamples")
    assert reconvene("decide", *words, "--latest", "--by", "Ada").code == 3
    return "refine-1"


def test_rounds_lists_every_round_and_says_who_took_one_back(reconvene: Command, refined: str) -> None:
    before = reconvene("log").out
    done = reconvene("rounds", refined)
    assert done.code == 0
    head, first, why, kept, second, *rest = done.out.splitlines()
    assert head.split() == ["NO", "PHASE", "ROUND", "STARTED", "SECS", "AGENTS", "ATTEMPTS", "OUTCOME"]
    assert re.fullmatch(r"R1  refine  1 first  \S+ \S+  +[\d.]+ +2 +2 +rolled back", first)
    assert why.strip() == f"by Ada [claimed by {system_user()}]: Redo; FB-001 show examples"
    assert kept.strip() == "kept in round_001_rolled_back/ (1 file)"
    assert re.fullmatch(r"R2  refine  1 first  \S+ \S+  +[\d.]+ +2 +3 +waits for you", second)
    assert rest[-1] == "what differed in a retry: reconvene rounds refine-1 --compare R1"
    assert max(map(len, done.out.splitlines())) <= 80
    assert reconvene("log").out == before


def test_a_round_tells_who_gave_nothing(reconvene: Command, folder: Path) -> None:
    (folder / "poor.yaml").write_text(
        "name: poor\n"
        "agents:\n"
        "  writer: {command: [sh, -c, 'cat >/dev/null; echo fine']}\n"
        "  critic: {command: [sh, -c, 'cat >/dev/null; exit 7'], retries: 0}\n"
        "phases: [{id: draft, agents: [writer, critic], checkpoint: {approval_required: true}}]\n",
        encoding="utf-8",
    )
    done = reconvene("run", "poor.yaml", "--no-input")
    assert "what the agents wrote:\n  writer (5 characters): fine\n  critic: nothing\n" in done.out + done.err
    point = reconvene("show", "poor-1", "--json").object["checkpoint"]
    assert isinstance(point, dict)
    assert point["missing"] == ["critic"]
    assert reconvene("decide", "poor-1", "--option", "Continue").code == 0
    _, first, *below = reconvene("rounds", "poor-1").out.splitlines()
    assert first.endswith("stands")
    assert [line.strip() for line in below] == ["without critic"]


def test_rounds_for_scripts_holds_the_same(reconvene: Command, refined: str) -> None:
    shown = reconvene("rounds", "--json").object
    assert shown["run"] == refined
    rows = shown["rounds"]
    assert isinstance(rows, list)
    assert [(row["serial"], row["n"], row["outcome"], row["rejections"]) for row in rows] == [
        (1, 1, "rolled back", 0), (2, 1, "stands", 1),
    ]  # fmt: skip
    assert rows[0]["undone"]["by"] == "Ada"
    assert rows[0]["agents"] == ["engineer", "reviewer"]


def test_compare_shows_what_was_asked_the_facts_and_the_diff(reconvene: Command, refined: str) -> None:
    done = reconvene("rounds", refined, "--compare", "1")
    assert done.code == 0
    assert done.out.startswith("refine, round 1: 2 tries\n")
    facts = dict(re.split(r"  +", line, maxsplit=1) for line in done.out.splitlines()[3:9])
    assert re.split(r"  +", facts["outcome"]) == ["rolled back", "stands"]
    assert facts["gate rejections"].split() == ["0", "1"]
    assert facts["length, reviewer"].startswith("5 characters")
    assert f"try 1 was rolled back by Ada [claimed by {system_user()}] (" in done.out
    assert "  - reason: too abstract\n  - FB-001 comment: show examples\n" in done.out
    assert "-try 1\n+try 3\n" in done.out
    assert "reviewer, R1 → R2: no change" in done.out
    assert "proposals.md" not in done.out  # its text is the engineer's output
    assert "\x1b" not in done.out


def test_compare_for_scripts(reconvene: Command, refined: str) -> None:
    shown = reconvene("rounds", refined, "--compare", "R2", "--json").object
    assert (shown["phase"], shown["n"], shown["standing"]) == ("refine", 1, 2)
    assert [difference["what"] for difference in shown["differences"]] == ["engineer", "reviewer"]  # type: ignore[attr-defined]
    assert shown["asked"][0]["fields"] == {"reason": "too abstract"}  # type: ignore[index]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("two",), "'two' is not a round"),
        (("7",), "has no round 7"),
        (("1", "--phase", "other"), "has no round 1 of other"),
        (("2",), "Round 2 was not rolled back"),
    ],
)
def test_a_round_that_cannot_be_compared_is_refused_kindly(
    reconvene: Command, refined: str, words: tuple[str, ...], message: str
) -> None:
    reconvene("decide", "--latest", "--option", "Go on")
    done = reconvene("rounds", refined, "--compare", *words)
    assert done.code == 64
    assert message in done.err
    assert "hint: " in done.err


# --- pruning ---


def archived(folder: Path) -> list[str]:
    workspace = folder / ".reconvene" / "runs" / "refine-1"
    return sorted(path.name for path in workspace.iterdir() if "rolled_back" in path.name)


def test_prune_removes_the_folders_and_the_log_keeps_it_all(reconvene: Command, folder: Path, refined: str) -> None:
    compared = reconvene("rounds", refined, "--compare", "1").out
    assert archived(folder) == ["round_001_rolled_back"]
    done = reconvene("rounds", refined, "--prune", "--yes", "--by", "Ada")
    assert (done.code, done.out) == (0, "removed round_001_rolled_back/  (1 file)\n")
    assert archived(folder) == []
    assert "ArchivesPruned" in reconvene("log").out
    told = reconvene("rounds", refined).out
    assert "was kept in round_001_rolled_back/, pruned since; the log still has it all" in told
    assert reconvene("rounds", refined, "--compare", "1").out == compared
    before = reconvene("log").out
    assert reconvene("rounds", refined, "--prune").out == "refine-1 keeps no folders of rolled-back rounds\n"
    assert reconvene("rounds", refined, "--prune", "--json").object == {"run": refined, "pruned": [], "spared": []}
    assert reconvene("log").out == before
    assert reconvene("resume").code == 3  # nothing of it looks like an edit
    assert "FilesEdited" not in reconvene("log").out


def test_prune_keeps_the_newest_and_a_pruned_name_is_not_given_again(
    reconvene: Command, folder: Path, refined: str
) -> None:
    reconvene("decide", "--latest", "--option", "Redo")
    assert archived(folder) == ["round_001_rolled_back", "round_001_rolled_back_2"]
    assert reconvene("rounds", "--prune", "--keep", "2").out.endswith("beyond the newest 2\n")
    shown = reconvene("rounds", "--prune", "--keep", "1", "--json").object
    assert [archive["folder"] for archive in shown["pruned"]] == ["round_001_rolled_back"]  # type: ignore[attr-defined]
    assert archived(folder) == ["round_001_rolled_back_2"]
    reconvene("decide", "--latest", "--option", "Go on")
    reconvene("decide", "--latest", "--option", "Redo")
    assert reconvene("rounds", "--prune").code == 0
    assert archived(folder) == []


def test_a_file_that_a_person_changed_in_an_archive_is_spared(reconvene: Command, folder: Path, refined: str) -> None:
    mine = folder / ".reconvene" / "runs" / refined / "round_001_rolled_back" / "proposals.md"
    mine.write_text("my own notes", encoding="utf-8")
    done = reconvene("rounds", "--prune", "--yes")
    assert done.out == "round_001_rolled_back/proposals.md stays: you changed it, and that is nowhere else\n"
    assert mine.read_text(encoding="utf-8") == "my own notes"
    mine.unlink()
    assert reconvene("rounds", "--prune", "--yes").code == 0
    assert archived(folder) == []


def test_prune_works_on_a_run_that_has_ended(reconvene: Command, folder: Path, refined: str) -> None:
    assert reconvene("abort", refined).code == 2
    assert reconvene("rounds", refined, "--prune").code == 0
    assert archived(folder) == []
    assert reconvene("show", refined, "--json").object["status"] == "aborted"


def test_prune_and_compare_do_not_go_together(reconvene: Command, refined: str) -> None:
    assert reconvene("rounds", refined, "--prune", "--compare", "1").code == 64


@pytest.mark.parametrize("answer", ["y", "n"])
def test_on_a_terminal_prune_asks_first(terminal: Terminal, folder: Path, refined: str, answer: str) -> None:
    from terminals import ending

    child = terminal("rounds", refined, "--prune", size=(24, 80))
    child.expect("round_001_rolled_back/")
    child.expect("Remove this folder")
    child.send(answer)
    child.expect("removed round_001" if answer == "y" else "nothing was removed")
    assert ending(child) == 0
    assert archived(folder) == ([] if answer == "y" else ["round_001_rolled_back"])


def test_a_dropped_round_and_an_ended_run_are_told_too(reconvene: Command, refined: str) -> None:
    reconvene("decide", "--latest", "--option", "Skip it")
    reconvene("decide", "--latest", "--option", "Go on")
    assert reconvene("runs", "--json").objects[0]["status"] == "completed"
    told = reconvene("rounds", refined).out
    assert [line.split("  ")[-1].strip() for line in told.splitlines() if line.startswith("R")] == [
        "rolled back", "dropped", "stands",
    ]  # fmt: skip
    assert "no try stands" in reconvene("rounds", refined, "--compare", "1").out


def test_a_run_that_began_nothing_says_how_to_go_on(reconvene: Command, folder: Path) -> None:
    (folder / "empty.yaml").write_text(
        "name: empty\nagents: {a: {command: [cat]}}\nphases: [{id: p, when: 'false', agents: [a]}]\n", encoding="utf-8"
    )
    assert reconvene("run", "empty.yaml").code == 0
    assert "no round of empty-1 has begun" in reconvene("rounds", "empty-1").out
