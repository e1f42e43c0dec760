"""Whatever a person does to a file of a run counts: copies of inputs, rendered files, new names, large, binary."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from support.stage import Stage

from reconvene.app import measures, queries
from reconvene.app.file_comments import comments
from reconvene.core.facts.commands import AddRemark, RemarkIn
from reconvene.core.facts.events import FilesEdited, Lines, RemarkAdded
from reconvene.errors import Refused

WORKFLOW = """
name: w
inputs:
  company: {type: text, default: "ACME has 20 people and a revenue of 100 million."}
files:
  - {path: company.md, template: "{{ inputs.company }}"}
  - {path: status.md, template: "# Status\\n\\nRevenue: 100 million.\\n\\nRemarks: {{ feedback.count }}\\n"}
agents: {a: {}}
phases:
  - id: work
    agents: [a]
    rounds: {max: 9}
    reads: [company.md, status.md]
    output: {name: plan, file: plan.md}
    checkpoint:
      prompt: Fine?
      options: [{label: Done, then: continue}, {label: More, remark: optional, then: again}]
"""
PLAN = "# Plan\n\nOne.\nTwo.\nThree.\n"


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    stage = Stage(tmp_path / "home", WORKFLOW, {"a": [PLAN, PLAN, PLAN]})
    stage.drive()
    return stage


def said(stage: Stage) -> list[str]:
    return [remark.text for remark in stage.events(RemarkAdded)]


def test_a_copy_of_an_input_that_a_person_edits_is_theirs(stage: Stage) -> None:
    stage.write("company.md", "ACME has 20 people and a revenue of 150 million.")
    stage.decide("More")
    assert stage.read("company.md") == "ACME has 20 people and a revenue of 150 million."
    asked = stage.agents.calls[-1]
    assert asked.files["company.md"] == b"ACME has 20 people and a revenue of 150 million."
    assert "+ACME has 20 people and a revenue of 150 million." in asked.prompt


def test_an_edit_of_a_rendered_file_becomes_a_remark_and_the_file_is_rendered_anew(stage: Stage) -> None:
    stage.write("status.md", "# Status\n\nRevenue: 150 million.\n\nRemarks: 0\n")
    stage.decide("More")
    (remark,) = stage.events(RemarkAdded)
    assert (remark.level, remark.reason) == ("major", "100 million → 150 million is a change of 50 %, above 20 %")
    assert (remark.was, remark.now) == ("Revenue: 100 million", "Revenue: 150 million")
    assert "+Revenue: 150 million." in stage.agents.calls[-1].prompt
    assert stage.read("status.md") == "# Status\n\nRevenue: 100 million.\n\nRemarks: 1\n"


@pytest.mark.parametrize(
    ("line", "level"),
    [("Revenue: 105 million.", "minor"), ("Revenue: 100 thousand.", "major"), ("Revenue: good.", "minor")],
)
def test_a_figure_changed_by_hand_weighs_like_one_that_is_said(stage: Stage, line: str, level: str) -> None:
    stage.write("status.md", f"# Status\n\n{line}\n\nRemarks: 0\n")
    stage.engine.scan(stage.run, by="ann")
    assert [remark.level for remark in stage.events(RemarkAdded)] == [level]


def test_a_rename_is_a_rename_for_agents_and_in_the_history(stage: Stage) -> None:
    os.rename(stage.folder / "plan.md", stage.folder / "outline.md")
    stage.decide("More")
    assert said(stage) == ["Renamed plan.md to outline.md (another name; the content is the same)"]
    assert "Renamed plan.md to outline.md" in stage.agents.calls[-1].prompt
    assert "Deleted plan.md" not in stage.agents.calls[-1].prompt
    (edited,) = stage.events(FilesEdited)
    assert {file.path: bool(file.digest) for file in edited.files} == {"outline.md": True, "plan.md": False}
    stage.engine.commit_history(stage.run)
    log = ["log", "--all", "--find-renames", "--name-status", "--format=", "--diff-filter=R"]
    git = subprocess.run(
        ["git", "-C", str(stage.home / "history.git"), *log], capture_output=True, text=True, check=True
    )
    assert git.stdout.split() == ["R100", "plan.md", "outline.md"]


def test_a_rename_with_a_change_tells_both(stage: Stage) -> None:
    os.unlink(stage.folder / "plan.md")
    stage.write("parts/outline.md", PLAN.replace("Two.", "Two and a half."))
    stage.write("other.md", "nothing of it")
    stage.engine.scan(stage.run, by="ann")
    assert said(stage) == ["Edited other.md (+1 −0 lines)", "Renamed plan.md to parts/outline.md (+1 −1 lines)"]


def test_twenty_megabytes_a_binary_file_and_a_deleted_one_count(stage: Stage) -> None:
    (stage.folder / "data.bin").write_bytes(b"\0\1" * 10_000_000)
    os.unlink(stage.folder / "plan.md")
    os.unlink(stage.folder / "status.md")
    stage.decide("More")
    assert said(stage) == [
        "Edited data.bin (binary file changed (0 → 20000000 bytes))",
        "Deleted plan.md (+0 −5 lines)",
        "Deleted status.md (+0 −5 lines)",
    ]
    assert stage.read("status.md").endswith("Remarks: 3\n")
    assert stage.state.files["data.bin"].size == 20_000_000


def test_what_is_not_taken_from_the_folder_is_named_at_the_checkpoint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RECONVENE_MAX_EDIT_MB", "1")
    stage = Stage(tmp_path / "home", WORKFLOW, {"a": PLAN})
    stage.drive()
    (stage.folder / "large.bin").write_bytes(b"1" * 1_100_000)
    os.symlink("/etc/passwd", stage.folder / "link.md")
    os.mkfifo(stage.folder / "pipe")
    names = ("large.bin: larger than 1 MB (RECONVENE_MAX_EDIT_MB)", "link.md: a link", "pipe: not a plain file")
    shown = queries.show(stage.engine, stage.run)
    assert shown.checkpoint is not None
    assert shown.checkpoint.not_taken == names
    assert shown.not_taken == tuple(f"the folder: {name}" for name in names)
    stage.engine.scan(stage.run, by="ann")
    assert said(stage) == []


@pytest.mark.parametrize("large", [True, False])
def test_nothing_is_decided_over_an_edit_that_cannot_be_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, large: bool
) -> None:
    monkeypatch.setenv("RECONVENE_MAX_EDIT_MB", "1")
    stage = Stage(tmp_path / "home", WORKFLOW, {"a": PLAN})
    stage.drive()
    plan, words = stage.folder / "plan.md", "Debt is 150M.\n" * (100_000 if large else 1)
    if large:
        plan.write_text(words)
    else:
        (tmp_path / "mine.md").write_text(words)
        plan.unlink()
        plan.symlink_to(tmp_path / "mine.md")
    with pytest.raises(Refused, match=r"cannot be taken: plan\.md: "):
        stage.answer("Done")
    assert plan.read_text() == words
    assert stage.state.world.open is not None
    plan.unlink()
    plan.write_text("Debt is 150M.\n")
    stage.answer("Done")
    assert [remark.path for remark in stage.events(RemarkAdded)] == ["plan.md"]


def test_a_copy_of_an_input_that_a_person_deletes_stays_away(stage: Stage) -> None:
    os.unlink(stage.folder / "company.md")
    stage.decide("More")
    stage.decide("More")
    assert said(stage) == ["Deleted company.md (+0 −1 lines)"]
    assert not (stage.folder / "company.md").exists()
    assert "company.md" not in stage.agents.calls[-1].files


def test_comments_follow_a_file_to_its_new_name(stage: Stage) -> None:
    digest = stage.state.files["plan.md"].digest
    on = Lines("plan.md", digest, 4, 4)
    stage.engine.submit(stage.run, AddRemark(RemarkIn("Why two?", on=on), "ann"))
    os.rename(stage.folder / "plan.md", stage.folder / "outline.md")
    stage.engine.scan(stage.run, by="ann")
    stage.write("outline.md", PLAN.replace("One.", "Zero.\nOne."))
    stage.engine.scan(stage.run, by="ann")
    (comment,) = comments(stage.engine, stage.run)
    assert (comment.file, comment.first, comment.outdated, comment.quote) == ("outline.md", 5, False, "Two.")
    assert [one.id for one in comments(stage.engine, stage.run, "outline.md")] == ["FB-001"]
    os.rename(stage.folder / "outline.md", stage.folder / "plan.md")
    stage.engine.scan(stage.run, by="ann")
    (comment,) = comments(stage.engine, stage.run)
    assert (comment.file, comment.first) == ("plan.md", 5)


def test_a_figure_changed_by_hand_stays_open_while_an_agent_says_the_old_one(tmp_path: Path) -> None:
    flow = WORKFLOW.replace("name: w\n", "name: w\nkits: [reading]\n")
    stage = Stage(tmp_path / "home", flow, {"a": ["Debt is 20M.\n", "Debt is 20M, as ever.\n", "Debt is 150M.\n"]})
    stage.drive()
    (stage.folder / "plan.md").write_text("Debt is 150M.\n")
    stage.decide("More")
    (entry,) = measures.ledger(stage.engine, stage.run).entries
    assert (entry.kind, entry.open) == ("edit", True), entry
    stage.decide("More")
    (entry,) = measures.ledger(stage.engine, stage.run).entries
    assert (entry.status, entry.open) == ("reflected", False), entry.answers
