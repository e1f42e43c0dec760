"""The forms that the prompts ask for are those that the tracker reads: each is cut out of its prompt and handed in."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from reconvene.ports import Assignment

from .refining import GAPS, Refinement

ONE, TWO, THREE, FOUR = (f"GAP-BOX-00{n}" for n in range(1, 5))
FILLED = "Every box has a number, a state and a rule for what follows when it stays shut. "


def _cut(prompt: str, start: str, end: str) -> str:
    assert start in prompt, start
    return start + prompt.partition(start)[2].partition(end)[0]


def engineer(work: Assignment) -> object:
    """Fills the form for the first gap as it stands, splits the second, asks about the third."""
    form = _cut(work.prompt.partition("### The form")[2], "## Gap Resolution: ", "Close with this table")
    item = form.partition("`- GAP-AREA-NNN")[2].partition("`")[0]
    assert item, "the form shows how a new gap is written"
    parent = form.partition("add `")[2].partition("`")[0]
    whole = form.partition("### New Gaps Introduced")[0] + FILLED
    first = form.partition("\n")[0]
    new = f"\n\n### New Gaps Introduced\n- GAP-BOX-010{item}\n"
    part = new.rstrip().replace("010", "011") + "; " + parent.replace("GAP-AREA-NNN", TWO) + "\n"
    mark = form.partition("write `")[2].partition("`")[0]
    asked = whole.replace(first, f"## Gap Resolution: {THREE}") + f"\n\n{mark} How many days?\n"
    parts = [whole + new, whole.replace(first, f"## Gap Resolution: {TWO}") + part, asked]
    table = _cut(work.prompt, "| Gap ID |", "\n\n") + f"| {ONE} | Proposed | HIGH | 1 (GAP-BOX-010) |\n"
    return {"text": "done", "files": {work.writes[0]: "\n\n".join(parts) + "\n\n## Summary\n\n" + table}}


def reviewer(work: Assignment) -> object:
    form = _cut(work.prompt.partition("### The form")[2], "## Review: ", "\n</task-")
    for shown, meant in (("FLOW-001", "BOX-001"), ("FLOW-003", "BOX-002"), ("FLOW-002", "BOX-004")):
        form = form.replace(f"GAP-{shown}", f"GAP-{meant}")
    form = (
        form.replace("GAP-AREA-NNN", "GAP-BOX-020")
        .replace("**APPROVE** if nothing", "If nothing")
        .replace("- or `None.`\n", "")
    )
    return {"text": "done", "files": {work.writes[0]: form.replace("else **REVISE**", "\n\n**REVISE**")}}


def found(work: Assignment) -> object:
    form = _cut(work.prompt, "## GAP-FLOW-001: ", "Ids are GAP-AREA-NNN")
    said = form.replace("yes or no", "yes").replace("ids of gaps that must be closed first, or none", "none")
    lines = said.replace("the lines of the specification it is about, such as ", "")
    return {"text": "done", "files": {work.writes[0]: lines}}


@pytest.fixture
def run(tmp_path: Path) -> Iterator[Refinement]:
    one = Refinement(tmp_path, [engineer], [reviewer], gaps=GAPS.replace("LOW", "HIGH"))
    yield one
    one.close()


def test_what_the_engineers_form_asks_for_is_read(run: Refinement) -> None:
    assert [one[1] for one in run.attempts if "engineer" in one[0]] == ["accepted"]
    rows = {str(row["id"]): row for row in run.gaps["list"]}  # type: ignore[attr-defined]
    assert (rows["GAP-BOX-010"]["severity"], rows["GAP-BOX-010"]["source"]) == ("MEDIUM", ONE)
    assert (rows[TWO]["children"], rows["GAP-BOX-011"]["parent"]) == (["GAP-BOX-011"], TWO)
    assert rows[ONE]["confidence"] == "HIGH"
    assert run.gaps["questions"] == [{"id": THREE, "text": f"{THREE}: How many days?"}]
    assert f"Only you can decide:\n- {THREE}: How many days?" in run.asked


def test_what_the_reviewers_form_asks_for_is_read(run: Refinement) -> None:
    assert [one[1] for one in run.attempts if "reviewer" in one[0]] == ["accepted"]
    assert run.states[ONE] == "resolved"
    [issue] = run.gaps["issues"]  # type: ignore[misc]
    assert (issue["id"], issue["severity"], issue["gap"]) == ("ISSUE-R1-001", "HIGH", TWO)
    rows = {str(row["id"]): row for row in run.gaps["list"]}  # type: ignore[attr-defined]
    assert rows["GAP-BOX-020"]["severity"] == "LOW"
    assert rows[TWO]["note"] == "Which section, what is wrong with it"
    assert rows[FOUR]["history"][-1]["why"].startswith("severity HIGH → LOW: why")
    assert run.gaps["verdict"] == "REVISE"
    assert [check["done"] for check in run.gaps["checks"]] == [True, False]  # type: ignore[attr-defined]


def test_what_the_form_for_finding_gaps_asks_for_is_read(tmp_path: Path) -> None:
    run = Refinement(tmp_path, gaps=None, found=[found])
    [row] = run.gaps["list"]  # type: ignore[misc]
    assert (row["id"], row["severity"], row["blocking"], row["spec_lines"]) == ("GAP-FLOW-001", "HIGH", True, "12–15")
    assert row["blocked_by"] == []
    run.close()
