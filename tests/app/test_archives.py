"""Files of undone rounds in the workspace and in the history: there for people, never anybody's work again."""

from __future__ import annotations

from pathlib import Path

import pytest

from reconvene.core.facts.commands import AnswerCheckpoint, Rollback
from reconvene.testing.scripted import ScriptedAgents
from reconvene.wire.workflow_file import parse_workflow
from reconvene.wiring import open_engine

ROUNDS = """
name: rounds
agents: {writer: {}}
phases:
  - id: write
    rounds: {max: 4, undo: 3, folder: "round_{{ round.n|pad(3) }}"}
    steps: [{agents: [writer], writes: ["round_{{ round.n|pad(3) }}/text.md"], output: text}]
    checkpoint:
      options: [{label: On, then: continue}, {label: Redo, undo: true, then: again}]
"""


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    count = iter(range(1, 100))
    runner = ScriptedAgents({"writer": lambda work: {"files": {work.writes[0]: f"text {next(count)}"}}})
    engine = open_engine(tmp_path / "home", runner=runner)
    run = engine.start(parse_workflow(ROUNDS))
    state = engine.drive_sync(run)
    return engine, run, Path(state.workspace)


def texts(folder: Path) -> dict[str, str]:
    return {str(path.relative_to(folder)): path.read_text() for path in sorted(folder.rglob("*.md"))}


def test_an_undone_rounds_files_lie_beside_the_new_ones(machine):
    engine, run, folder = machine
    engine.submit(run, AnswerCheckpoint("", "Redo", by="ann"))
    engine.drive_sync(run)
    assert texts(folder) == {"round_001/text.md": "text 2", "round_001_rolled_back/text.md": "text 1"}
    engine.submit(run, Rollback(by="ann"))
    engine.drive_sync(run)
    assert texts(folder) == {
        "round_001/text.md": "text 3",
        "round_001_rolled_back/text.md": "text 1",
        "round_001_rolled_back_2/text.md": "text 2",
    }
    assert engine.scan(run) == []
    engine.commit_history(run)
    newest = engine.history().commits(run)[-1][0]
    assert "round_001_rolled_back_2/text.md" in engine.history().diff(run, "", newest)


def test_a_person_may_throw_an_archive_away_without_being_asked_about_it(machine):
    engine, run, folder = machine
    engine.submit(run, AnswerCheckpoint("", "Redo", by="ann"))
    engine.drive_sync(run)
    (folder / "round_001_rolled_back" / "text.md").unlink()
    assert engine.scan(run) == []
    engine.submit(run, AnswerCheckpoint("", "On", by="ann"))
    assert engine.drive_sync(run).ended == "completed"
    assert not engine.load(run).record.remarks
