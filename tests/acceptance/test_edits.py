"""What a person changes in the workspace: found, recorded as theirs with the diff, shown to the agents, never lost."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from support.stage import Stage

from reconvene.app.views.projections import checkpoint
from reconvene.core.facts.events import CheckpointOpened, DecisionRecorded, FilesEdited, RemarkAdded, StepStarted
from reconvene.errors import StaleDecision
from reconvene.ports import Assignment

TEXT = """
name: w
agents: {writer: {}, reader: {}}
files: [{path: status.md, template: "{{ context.subagents_spawned }} so far\\n"}]
phases:
  - id: draft
    rounds: {max: 4}
    agents: [writer]
    checkpoint:
      show_files: [text.md]
      options: [{label: Go on, then: continue}, {label: Once more, remark: optional, then: again}]
  - {id: read, agents: [reader]}
"""


def writer(assignment: Assignment) -> dict[str, object]:
    """Adds a line to the text it is given, and has notes of its own."""
    before = assignment.files.get("text.md", b"").decode()
    text = f"{before}line {assignment.round}\n"
    return {"text": "done", "files": {"text.md": text, "notes.md": "some notes\n"}}


def parked(tmp_path: Path) -> Stage:
    stage = Stage(tmp_path, TEXT, {"writer": writer, "reader": "read"})
    assert stage.drive().status == "waiting"
    assert stage.read("text.md") == "line 1\n"
    return stage


def digest_shown(stage: Stage) -> str:
    shown = checkpoint(stage.state)
    assert shown is not None
    return shown.digest


def test_an_edit_made_while_parked_is_found_by_the_decision_and_shown_to_the_next_agents(tmp_path: Path) -> None:
    stage = parked(tmp_path)
    stage.write("text.md", "line one, better\n")
    other = stage.other()  # the decision comes from another process than the one that parked the run
    other.answer("Go on")
    assert stage.seqs(FilesEdited)[0] < stage.seqs(DecisionRecorded)[0] < stage.seqs(StepStarted)[1]
    (remark,) = stage.events(RemarkAdded)
    assert (remark.kind, remark.by, remark.door, remark.path) == ("edit", "ann", "test", "text.md")
    assert stage.kept(remark.diff).splitlines()[-2:] == ["-line 1", "+line one, better"]
    assert other.drive().status == "completed"
    asked = stage.asked("R2/0/reader")
    assert "+line one, better" in asked  # the diff, as something the person said
    assert ' name="text.md">\nline one, better' in asked  # and the text itself
    assert stage.agents.of("reader")[0].files["text.md"] == b"line one, better\n"


def test_an_edit_made_while_parked_is_found_by_a_resume(tmp_path: Path) -> None:
    stage = parked(tmp_path)
    stage.write("text.md", "line one, better\n")
    assert stage.other().drive().status == "waiting"
    assert [edited.by for edited in stage.events(FilesEdited)] == ["ann"]
    assert stage.other().drive().status == "waiting"
    assert len(stage.events(FilesEdited)) == 1


def test_a_decision_on_a_file_that_somebody_else_changed_since_is_refused_with_the_difference(tmp_path: Path) -> None:
    stage = parked(tmp_path)
    seen = digest_shown(stage)
    stage.write("text.md", "line one, better\n")
    stage.other().engine.scan(stage.run, by="bob")
    with pytest.raises(StaleDecision) as refusal:
        stage.answer("Go on", digest=seen)
    said, *diff = refusal.value.changes
    assert said == "bob [claimed by root]: Edited text.md (+1 −1 lines) [FB-001]"
    assert diff[-2:] == ["-line 1", "+line one, better"]
    assert refusal.value.now == digest_shown(stage) != seen
    assert not stage.events(DecisionRecorded)
    assert stage.decide("Go on", digest=refusal.value.now).status == "completed"


@pytest.mark.parametrize("path", ["text.md", "notes.md"])
@pytest.mark.parametrize("recorded", [False, True])
def test_a_persons_own_edit_does_not_stand_in_the_way_and_is_listed(tmp_path: Path, path: str, recorded: bool) -> None:
    stage = parked(tmp_path)
    seen = digest_shown(stage)
    stage.write(path, "mine\n")
    if recorded:
        stage.other().engine.scan(stage.run, by="ann")
    assert stage.decide("Go on", digest=seen).status == "completed"
    assert "+mine" in stage.asked("R2/0/reader")
    (decision,) = stage.events(DecisionRecorded)
    assert (decision.digest, decision.since) == (seen, ("FB-001",))


def test_new_and_deleted_files_are_edits_too(tmp_path: Path) -> None:
    stage = parked(tmp_path)
    stage.write("from me/facts.md", "Revenue is $900M\n")
    (stage.folder / "notes.md").unlink()
    assert stage.decide("Go on").status == "completed"
    texts = [remark.text for remark in stage.events(RemarkAdded)]
    assert texts == ["Edited from me/facts.md (+1 −0 lines)", "Deleted notes.md (+0 −1 lines)"]
    (reader,) = stage.agents.of("reader")
    assert sorted(reader.files) == ["from me/facts.md", "status.md", "text.md"]
    assert not (stage.folder / "notes.md").exists()


@pytest.mark.parametrize("found_by", ["scan", "decision"])
def test_an_agent_may_build_on_an_edit_that_another_process_recorded(tmp_path: Path, found_by: str) -> None:
    """Its version must then replace the person's on disk, and must not come back as an edit of theirs."""
    stage = parked(tmp_path)
    stage.write("text.md", "line one, better\n")
    other = stage.other()
    if found_by == "scan":
        assert other.engine.scan(stage.run, by="ann") == ["text.md"]
    other.answer("Once more")
    stage.other().drive()
    assert stage.read("text.md") == "line one, better\nline 2\n"
    assert stage.other().decide("Go on").status == "completed"
    assert stage.read("text.md") == "line one, better\nline 2\n"
    assert len(stage.events(FilesEdited)) == 1


def test_edits_at_every_checkpoint_are_all_delivered(tmp_path: Path) -> None:
    stage = parked(tmp_path)
    for number in (1, 2, 3):
        stage.write("text.md", stage.read("text.md") + f"mine {number}\n")
        stage.other().decide("Once more")
    assert stage.other().decide("Go on").status == "completed"
    asked = stage.asked("R5/0/reader")
    assert all(f"+mine {number}" in asked for number in (1, 2, 3))
    assert stage.read("text.md") == "line 1\nmine 1\nline 2\nmine 2\nline 3\nmine 3\nline 4\n"
    assert len(stage.events(FilesEdited)) == 3


def test_an_edit_of_a_rendered_file_is_a_remark_and_the_file_is_rendered_again(tmp_path: Path) -> None:
    stage = parked(tmp_path)
    stage.write("status.md", "all is well\n")
    assert stage.decide("Go on").status == "completed"
    assert [remark.path for remark in stage.events(RemarkAdded)] == ["status.md"]
    assert "+all is well" in stage.asked("R2/0/reader")
    assert stage.read("status.md") == "2 so far\n"
    assert stage.other().drive().status == "completed"
    assert len(stage.events(FilesEdited)) == 1


def test_a_workspace_that_was_thrown_away_is_written_again_and_is_no_edit(tmp_path: Path) -> None:
    stage = parked(tmp_path)
    shutil.rmtree(stage.folder)
    assert stage.other().drive().status == "waiting"
    assert stage.read("text.md") == "line 1\n"
    assert not stage.events(FilesEdited)
    shutil.rmtree(stage.folder)
    assert stage.other().decide("Go on").status == "completed"
    assert stage.read("text.md") == "line 1\n"
    assert not stage.events(FilesEdited)


def test_bytes_that_are_no_text_and_hostile_names_do_no_harm(tmp_path: Path) -> None:
    stage = parked(tmp_path)
    secret = tmp_path / "secret"
    secret.write_text("do not read this\n")
    (stage.folder / "picture.bin").write_bytes(bytes(range(256)))
    (stage.folder / "link.md").symlink_to(secret)
    (stage.folder / ".git" / "hooks").mkdir(parents=True)
    (stage.folder / ".git" / "hooks" / "post-commit").write_text("#!/bin/sh\ntouch /nowhere\n")
    (stage.folder / "line\nbreak.md").write_text("odd\n")
    assert stage.decide("Go on").status == "completed"
    (reader,) = stage.agents.of("reader")
    assert reader.files["picture.bin"] == bytes(range(256))
    assert "do not read this" not in reader.prompt
    assert not any(path.startswith((".git", "link")) for path in reader.files)


def test_a_remark_given_with_the_decision_and_an_edit_reach_the_agent_in_order(tmp_path: Path) -> None:
    stage = parked(tmp_path)
    stage.write("text.md", "line one, better\n")
    stage.decide("Once more", "correction: it is $900M")
    asked = stage.asked("R2/0/writer")
    assert asked.index("+line one, better") < asked.index("it is $900M")
    assert [opened.id for opened in stage.events(CheckpointOpened)] == ["C1", "C2"]
