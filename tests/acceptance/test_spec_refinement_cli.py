"""Spec refinement from the command line: how it is started, how it stops, and the exit code of every ending."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest
import yaml

import reconvene
from commands import Done, call

FOLDER = Path(reconvene.__file__).parent / "workflows" / "spec-refinement"


@pytest.fixture
def recorded(tmp_path: Path) -> Path:
    """The packaged workflow with its recording in the place of models, and its own specification beside it."""
    folder = tmp_path / "mine"
    shutil.copytree(FOLDER, folder)
    text = (FOLDER / "workflow.yaml").read_text(encoding="utf-8")
    for agent in ("engineer", "reviewer", "mediator"):
        text = text.replace(f"\n  {agent}:\n", f"\n  {agent}:\n    recorded: team\n")
    (folder / "workflow.yaml").write_text(text, encoding="utf-8")
    spec = yaml.safe_load((FOLDER / "inputs.yaml").read_text(encoding="utf-8"))["spec"]
    (tmp_path / "Draft & Check.md").write_text(spec, encoding="utf-8")
    return folder


def cli(folder: Path, *words: str) -> Done:
    return call(*words, cwd=folder)


def answers(folder: Path, *rows: dict[str, object]) -> str:
    (folder / "answers.yaml").write_text(yaml.safe_dump(list(rows)), encoding="utf-8")
    return "answers.yaml"


BEGIN: dict[str, object] = {"option": "Begin"}
GO_ON: dict[str, object] = {"option": "Continue"}
RULED: dict[str, object] = {"option": "Continue", "fields": {"ISSUE-R1-001": "B", "rationale": "pages differ"}}
ACCEPT: dict[str, object] = {"option": "Accept"}


def run(folder: Path, recorded: Path, *words: str) -> Done:
    return cli(folder, "run", str(recorded), "--input", "spec=Draft & Check.md", *words)


def test_complete_ends_with_zero_and_prints_the_final_summary(tmp_path: Path, recorded: Path) -> None:
    told = run(tmp_path, recorded, "--answers", answers(tmp_path, BEGIN, GO_ON, RULED, ACCEPT))
    assert told.code == 0, told.err
    assert "All that was resolved and decided is in the text." in told.out
    assert re.search(r"SPEC-\d+-001 is completed \(COMPLETE\)", told.out)
    assert "## Session Complete" in told.out.replace("│ ", "")
    assert "**Status:** COMPLETE\n**Rounds:** 3\n" in told.out.replace("│ ", "")
    assert "Final spec written to: `specs/draft-check_v1.0.md`" in told.out.replace("│ ", "")
    [spec] = (tmp_path / "refinements").rglob("draft-check_v1.0.md")
    assert "a heading, a part number and at least one instruction" in spec.read_text(encoding="utf-8")
    [decisions] = (tmp_path / "refinements").rglob("decisions.md")
    assert "**Rationale:** pages differ" in decisions.read_text(encoding="utf-8")


def test_abandoned_ends_with_two(tmp_path: Path, recorded: Path) -> None:
    told = run(tmp_path, recorded, "--answers", answers(tmp_path, BEGIN, {"option": "Abandon"}))
    assert told.code == 2
    assert "(ABANDONED)" in told.out.replace("│ ", "")
    assert "| Still open | 4 |" in told.out.replace("│ ", "")


def test_auto_reaches_its_limit_and_ends_with_one(tmp_path: Path, recorded: Path) -> None:
    told = run(tmp_path, recorded, "--auto", "--set", "max_rounds=2")
    assert told.code == 1
    assert "(MAX_ROUNDS)" in told.out.replace("│ ", "")
    assert "status.md lists them" in told.out.replace("│ ", "")
    assert "### Decisions That Wait\n- ISSUE-R1-001 (GAP-FLOW-001)" in told.out.replace("│ ", "")
    assert list((tmp_path / "refinements").rglob("draft-check_draft.md"))


def test_auto_parks_where_only_a_person_can_go_on_and_takes_the_decision_later(tmp_path: Path, recorded: Path) -> None:
    told = run(tmp_path, recorded, "--auto", "--json")
    assert told.code == 3
    parked = json.loads(told.out)
    assert parked["round"] == 3
    assert "Every open gap waits for your decision" in parked["checkpoint"]["prompt"]
    refused = cli(tmp_path, "decide", parked["run"], "--option", "Continue")
    assert refused.code != 0
    assert "ISSUE-R1-001" in refused.err
    decided = cli(tmp_path, "decide", parked["run"], "--option", "Continue", "--field", "ISSUE-R1-001=A")
    assert decided.code in (0, 3), decided.err
    ended = cli(tmp_path, "resume", parked["run"])
    assert ended.code == 0, ended.err
    assert "(COMPLETE)" in ended.out.replace("│ ", "")


@pytest.mark.torture
def test_a_wish_that_is_refused_says_why(tmp_path: Path, recorded: Path) -> None:
    told = run(tmp_path, recorded, "--answers", answers(tmp_path, BEGIN, {"option": "Accept as complete"}))
    assert told.code != 0
    assert "blocking gaps are open: GAP-FLOW-001" in told.err
    assert "stays parked there" in told.err


def test_an_empty_specification_ends_with_one_and_the_next_command(tmp_path: Path, recorded: Path) -> None:
    (tmp_path / "empty.md").write_text("\n", encoding="utf-8")
    told = cli(tmp_path, "run", str(recorded), "--input", "spec=empty.md", "--no-input")
    assert told.code == 1
    assert "The specification is empty" in told.out.replace("│ ", "")
    assert "reconvene run spec-refinement --input spec=FILE" in told.out.replace("│ ", "")


@pytest.mark.torture
def test_the_demo_plays_offline_and_says_that_it_is_recorded(tmp_path: Path) -> None:
    told = cli(tmp_path, "demo", "spec-refinement", "--by", "ann")
    assert told.code == 0, told.err
    assert "All agents are recorded: no model is asked" in told.out.replace("│ ", "")
    places = [
        "Open Gaps: 7 (0 Critical, 3 High, 3 Medium, 1 Low)",
        "Session Progress: Round 1 of max 10",
        "STALLED (1). No net progress this round.",
        "### Conflict: ISSUE-R1-001 - The length of a page is the wrong test",
        "**Status:** COMPLETE",
        "specs/draft-and-check_v1.0.md",
    ]
    plain = " ".join(told.out.split())
    at = [plain.find(place) for place in places]
    assert -1 not in at, places[at.index(-1)]
    assert at == sorted(at)
