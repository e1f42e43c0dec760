"""`reconvene gaps` in a real process, on a run whose agents close gaps; and what `rounds --compare` says about them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from commands import Command

# An agent's nth call answers with the nth of its texts.
CLOSE = """\
name: close
inputs: {gaps: file}
agents:
  engineer: {command: ["sh", "-c", "cat >/dev/null; echo x >>HERE/e; cat HERE/e$(grep -c x HERE/e).md"]}
  reviewer: {command: ["sh", "-c", "cat >/dev/null; echo x >>HERE/r; cat HERE/r$(grep -c x HERE/r).md"]}
phases:
  - id: refine
    rounds: {max: 5, until: "context.gaps.complete", folder: "round_{{ round.n|pad(3) }}"}
    track: {kit: gaps, into: gaps, given: inputs.gaps, proposals: proposals, review: review}
    steps:
      - {agents: [engineer], output: {name: proposals, file: "round_{{ round.n|pad(3) }}/engineer.md"}}
      - {agents: [reviewer], output: {name: review, file: "round_{{ round.n|pad(3) }}/reviewer.md"}}
    checkpoint:
      options:
        - {label: Continue, then: continue}
        - {label: Narrow, set: {gaps.orders.scope: blocking}, then: continue}
        - {label: Redo, undo: true, then: again, fields: [{id: reason, type: text, into: gaps.orders.redo.reason}]}
        - {label: Change the list, fields: [{id: list, required: true, into: gaps.orders.list}], then: {goto: current}}
        - {label: Stop, then: {end: done}}
"""

GAPS = """\
- GAP-FLOW-001 (HIGH, blocking): No error recovery when an agent fails, \x1b[31mwhatever the reason
- GAP-FLOW-002 (MEDIUM): No stall detection
- GAP-FLOW-003 (LOW): Handoff mechanics are vague
"""

SECTION = """\
## Gap Resolution: {gap}

**Confidence:** HIGH

### Proposed Solution
{solution}

### Examples
One.

### Trade-offs
Few.

### New Gaps Introduced
{new}

"""


def solved(gap: str, solution: str, new: str = "None.") -> str:
    return SECTION.format(gap=gap, solution=solution, new=new)


TEXTS = {
    "e1": solved("GAP-FLOW-001", "Retry, somehow.", "- GAP-FLOW-004 (LOW): How long to wait"),
    "r1": "## Review: Round 1\n\n1. GAP-FLOW-001: Recovery - **rejected**\n   - Too thin.\n\n**REVISE**\n",
    "e2": solved("GAP-FLOW-001", "Retry twice, then tell the person.") + solved("GAP-FLOW-002", "Count open gaps."),
    "r2": "## Review: Round 1\n\n1. GAP-FLOW-001: Recovery - **needs revision**\n   - Define partial rounds.\n"
    "2. GAP-FLOW-002: Stalls - **APPROVED with note**\n   - Note: make it configurable\n\n"
    "### Issues\n- ISSUE-R1-001 (HIGH) GAP-FLOW-001: A partial round is not defined.\n\n**REVISE**\n",
    "e3": solved("GAP-FLOW-001", "A partial round lacks an output. See ISSUE-R1-001.")
    + "## Response to ISSUE-R1-001\n\n**Engineer Position:** AGREE\n\n**Rationale:** It was not.\n",
    "r3": "## Review: Round 2\n\n1. GAP-FLOW-001: Recovery - **APPROVED**\n\n- [x] Examples are there\n\n"
    "### Recommendation\n**REVISE**: one is left\n",
}


@pytest.fixture
def closing(reconvene: Command, folder: Path) -> str:
    """Round 1 was rolled back, its retry stands, and round 2 waits for the person."""
    (folder / "close.yaml").write_text(CLOSE.replace("HERE", str(folder)), encoding="utf-8")
    (folder / "list.md").write_text(GAPS, encoding="utf-8")
    for name, text in TEXTS.items():
        (folder / f"{name}.md").write_text(text, encoding="utf-8")
    assert reconvene("run", "close.yaml", "--input", "gaps=@list.md").code == 3
    assert reconvene("decide", "--option", "Redo", "--field", "reason=too thin", "--by", "Ada").code == 3
    assert reconvene("decide", "--option", "Continue", "--latest").code == 3
    return "close-1"


def rows(text: str) -> list[list[str]]:
    return [line.split() for line in text.splitlines() if line.startswith("GAP-")]


def test_the_table_holds_every_gap_the_open_ones_first(reconvene: Command, closing: str) -> None:
    before = reconvene("log").out
    done = reconvene("gaps", closing)
    assert done.code == 0, done.err
    assert [row[:5] for row in rows(done.out)] == [
        ["GAP-FLOW-003", "LOW", "open", "1", "person"],
        ["GAP-FLOW-001", "HIGH", "!", "resolved", "1"],
        ["GAP-FLOW-002", "MEDIUM", "resolved", "1", "person"],
    ]
    assert "    note: make it configurable\n" in done.out
    assert "3 of 3 gaps shown; 1 open: 0 critical, 0 high, 0 medium, 1 low\n" in done.out
    assert "CONVERGING; reviewer: REVISE\n" in done.out
    assert "one gap's life: reconvene gaps close-1 GAP-FLOW-003\n" in done.out
    assert "\x1b" not in done.out
    assert max(map(len, done.out.splitlines())) <= 80
    assert reconvene("log").out == before


def test_the_kit_brings_the_gaps_as_a_view_too(reconvene: Command, closing: str) -> None:
    assert reconvene("view", closing).out.splitlines()[1:] == ["gaps  gaps  every gap that the run follows"]
    told = reconvene("view", closing, "gaps.gaps").out
    assert [line.split()[:5] for line in told.splitlines()] == [
        ["GAP", "SEVERITY", "BLOCKING", "STATE", "ROUND"],
        ["GAP-FLOW-001", "HIGH", "yes", "resolved", "1"],
        ["GAP-FLOW-002", "MEDIUM", "no", "resolved", "1"],
        ["GAP-FLOW-003", "LOW", "no", "open", "1"],
    ]
    assert "\x1b" not in told
    found = reconvene("view", closing, "gaps", "--json").object
    assert (found["run"], found["kit"], found["view"]) == ("close-1", "gaps", "gaps")
    assert [row["place"] for row in found["rows"]] == ["gaps"] * 3  # type: ignore[attr-defined]


def test_the_rounds_are_told_as_a_table_and_as_a_chart(reconvene: Command, closing: str) -> None:
    told = reconvene("gaps", closing).out
    table = [line.split() for line in told.partition("convergence\n")[2].partition("\n\n")[0].splitlines()]
    assert table == [
        ["ROUND", "START", "RESOLVED", "NEW", "END", "NET", "WEIGHT", "STATE"],
        ["1", "3", "1", "0", "2", "+1", "+2", "CONVERGING"],
        ["2", "2", "1", "0", "1", "+1", "+4", "CONVERGING"],
    ]
    start, first, second, meaning = told.partition("open gaps\n")[2].partition("\n\n")[0].splitlines()
    assert (start.split()[0], start.split()[2:]) == ("start", ["3:", "1", "high,", "1", "medium,", "1", "low"])
    assert (first.split()[:2], first.split()[3:]) == (["round", "1"], ["2:", "1", "high,", "1", "low"])
    assert (second.split()[:2], second.split()[3:]) == (["round", "2"], ["1:", "1", "low"])
    assert meaning.split()[1::2] == ["critical", "high", "medium", "low"]


@pytest.mark.parametrize(("plain", "blocks"), [(True, "=+."), (False, "▓▒░")])
def test_the_chart_is_plain_where_that_is_asked_for(reconvene: Command, closing: str, plain: bool, blocks: str) -> None:
    told = reconvene("gaps", closing, TERM=None, NO_COLOR="1" if plain else None).out
    assert f"  start    {blocks}  3: 1 high, 1 medium, 1 low\n" in told


@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        (("--open",), ["GAP-FLOW-003"]),
        (("--state", "resolved"), ["GAP-FLOW-001", "GAP-FLOW-002"]),
        (("--state", "Open, needs_revision"), ["GAP-FLOW-003"]),
        (("--severity", "high,MEDIUM"), ["GAP-FLOW-001", "GAP-FLOW-002"]),
        (("--blocking",), ["GAP-FLOW-001"]),
        (("--round", "2"), []),
        (("--round", "1", "--blocking", "--state", "resolved"), ["GAP-FLOW-001"]),
    ],
)
def test_filters_choose(reconvene: Command, closing: str, words: tuple[str, ...], wanted: list[str]) -> None:
    done = reconvene("gaps", closing, *words)
    assert [row[0] for row in rows(done.out)] == wanted
    assert ("no gap is like that" in done.out) == (not wanted)
    shown = reconvene("gaps", closing, *words, "--json").object["gaps"]
    assert [gap["id"] for gap in shown] == wanted  # type: ignore[attr-defined]


def test_one_gap_is_told_with_its_whole_life(reconvene: Command, closing: str) -> None:
    told = reconvene("gaps", closing, "gap-flow-001").out
    assert told.startswith("GAP-FLOW-001  No error recovery when an agent fails, whatever the reason\n")
    assert "  HIGH, blocking, resolved, raised by person in round 1\n" in told
    life = [line.removeprefix("  - ") for line in told.partition("its life\n")[2].splitlines()]
    assert [line.partition(" (")[0].split(":")[:2] for line in life] == [
        ["round 1", " open"],
        ["round 1", " proposed"],
        ["round 1", " needs revision"],
        ["round 1", " issue ISSUE-R1-001"],
        ["round 2", " proposed"],
        ["round 2", " resolved"],
    ]
    assert "Too thin" not in told  # that try was rolled back
    alone = reconvene("gaps", "GAP-FLOW-001").out  # the only open run is meant
    assert alone == told
    shown = reconvene("gaps", closing, "GAP-FLOW-001", "--json").object
    assert shown["gap"]["state"] == "resolved"  # type: ignore[index]
    assert [issue["id"] for issue in shown["issues"]] == ["ISSUE-R1-001"]  # type: ignore[attr-defined]


def test_for_scripts_there_is_all_of_it(reconvene: Command, closing: str) -> None:
    shown = reconvene("gaps", closing, "--json").object
    assert (shown["run"], shown["place"], shown["open"], shown["total"]) == (closing, "gaps", 1, 3)
    assert shown["by_severity"] == {"CRITICAL": 0, "HIGH": 0, "MEDIUM": 0, "LOW": 1}
    assert [bar["label"] for bar in shown["chart"]] == ["start", "round 1", "round 2"]  # type: ignore[attr-defined]
    assert [row["net"] for row in shown["rounds"]] == [1, 1]  # type: ignore[attr-defined]


def test_a_person_s_order_and_the_end_of_the_run_show_at_once(reconvene: Command, closing: str) -> None:
    reconvene("decide", "--latest", "--option", "Narrow", "--no-drive")
    told = reconvene("gaps", closing).out
    assert rows(told)[0][:3] == ["GAP-FLOW-001", "HIGH", "!"]
    assert ["GAP-FLOW-003", "LOW", "deferred"] in [row[:3] for row in rows(told)]
    assert "  now " in told
    assert reconvene("abort", closing).code == 2
    assert reconvene("gaps", closing).out == told


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("GAP-FLOW-01",), "knows no gap 'GAP-FLOW-01'"),
        (("--state", "opne"), "there is no state 'opne'"),
        (("--severity", "urgent"), "there is no severity 'URGENT'"),
        (("--at", "elsewhere"), "follows no gaps in 'elsewhere'"),
    ],
)
def test_what_is_not_there_is_refused_with_what_is(
    reconvene: Command, closing: str, words: tuple[str, ...], message: str
) -> None:
    done = reconvene("gaps", closing, *words)
    assert done.code == 64
    assert message in done.err
    assert "hint: " in done.err


def test_a_run_that_follows_no_gaps_says_so_kindly(reconvene: Command) -> None:
    assert reconvene("run", "two-step.yaml").code == 3
    done = reconvene("gaps", "two-step-1")
    assert done.code == 64
    assert "two-step-1 follows no gaps: no phase of its workflow two-step says `track`" in done.err
    assert "spec-refinement" in done.err


def test_before_anything_is_known_it_says_where_the_run_stands(reconvene: Command, folder: Path, closing: str) -> None:
    assert reconvene("new", "close.yaml", "--input", "gaps=@list.md").code == 0
    done = reconvene("gaps", "close-2")
    assert (done.code, done.out) == (0, "no gaps of close-2 are known yet; where it stands: reconvene show close-2\n")
    assert reconvene("gaps", "close-2", "--json").object["gaps"] == []


def test_comparing_tries_tells_what_each_did_to_the_gaps(reconvene: Command, closing: str) -> None:
    tries = reconvene("rounds", closing, "--compare", "1", "--json").object["tries"]
    first, second = [facts["gaps"] for facts in tries]  # type: ignore[attr-defined]
    assert (first["addressed"], first["resolved"], first["raised"]) == (["GAP-FLOW-001"], [], ["GAP-FLOW-004"])
    assert second["addressed"] == ["GAP-FLOW-001", "GAP-FLOW-002"]
    assert (second["resolved"], second["raised"]) == (["GAP-FLOW-002"], [])
    told = reconvene("rounds", closing, "--compare", "1").out
    facts = [line for line in told.splitlines() if line.startswith(("gaps addressed", "new gaps"))]
    assert [line.split()[2] for line in facts] == ["1:", "1:"]
    assert "  - reason: too thin\n" in told
    assert "-Retry, somehow.\n+Retry twice, then tell the person.\n" in told


def listed(reconvene: Command, run: str) -> dict[str, tuple[object, ...]]:
    shown = reconvene("gaps", run, "--json").object["gaps"]
    return {one["id"]: (one["severity"], one["blocking"], one["state"]) for one in shown}  # type: ignore[attr-defined]


def test_the_list_is_edited_where_the_run_stops_and_the_same_stop_is_there_again(
    reconvene: Command, folder: Path, closing: str
) -> None:
    (folder / "more.txt").write_text("block GAP-FLOW-003 by GAP-FLOW-001\nadd HIGH blocking: Who pays?\n")
    calls = (folder / "e").read_text()
    done = reconvene(
        "gaps", closing, "--edit", "rate GAP-FLOW-003 CRITICAL", "--edit", "@more.txt", "--edit",
        "reopen GAP-FLOW-002: it counts the wrong thing", "--edit", "blocking GAP-FLOW-001 no", "--by", "Ada",
    )  # fmt: skip
    assert done.code == 3, done.err
    assert "Change the list" in done.out, "the stop is shown again"
    assert listed(reconvene, closing) == {
        "GAP-FLOW-003": ("CRITICAL", False, "open"),
        "GAP-FLOW-001": ("HIGH", False, "resolved"),
        "GAP-FLOW-002": ("MEDIUM", False, "open"),
        "GAP-SPEC-001": ("HIGH", True, "open"),
    }
    assert (folder / "e").read_text() == calls, "nobody worked for it"
    more = reconvene("gaps", closing, "--edit", "unblock GAP-FLOW-003", "--edit", "defer GAP-FLOW-003", "--edit",
                     "split GAP-SPEC-001 into: Who pays for parcels? | Who pays for boxes?", "--edit",
                     "drop GAP-FLOW-002: it is none")  # fmt: skip
    assert more.code == 3, more.err
    states = {name: state for name, (_, _, state) in listed(reconvene, closing).items()}
    assert (states["GAP-FLOW-003"], states["GAP-SPEC-001"], states["GAP-FLOW-002"]) == ("deferred", "split", "dropped")
    parts = sorted(name for name in states if name.startswith("GAP-SPEC-") and states[name] == "open")
    assert reconvene("gaps", closing, "--edit", f"merge {parts[1]} into {parts[0]}").code == 3
    assert listed(reconvene, closing)[parts[1]][2] == "merged"
    assert "Ada" in reconvene("gaps", closing, "GAP-FLOW-003").out


def test_an_edit_with_a_line_that_does_not_fit_changes_nothing_and_says_what_fits(
    reconvene: Command, closing: str
) -> None:
    before = reconvene("log").out
    done = reconvene("gaps", closing, "--edit", "rate GAP-FLOW-003 HIGH", "--edit", "rate GAP-FLAW-003 HIGH")
    assert done.code == 64
    assert "nothing was changed" in done.err
    assert "GAP-FLAW-003 is not a known gap; did you mean GAP-FLOW-003?" in done.err
    assert "rate GAP-A-001 HIGH" in done.err
    assert reconvene("gaps", closing, "--edit", "burn it all").code == 64
    assert reconvene("gaps", closing, "--edit", " ").code == 64
    assert reconvene("log").out == before


def test_where_a_run_does_not_stop_the_list_is_not_edited(reconvene: Command, closing: str) -> None:
    reconvene("decide", closing, "--latest", "--option", "Stop")
    done = reconvene("gaps", closing, "--edit", "rate GAP-FLOW-003 HIGH")
    assert done.code == 64
    assert "the list is edited where a run stops" in done.err
