"""Folders kept of rolled-back rounds, and their pruning, on a real engine with a real folder and real git."""

from __future__ import annotations

from pathlib import Path

from support.stage import Stage

from reconvene.app import round_tries as rounds
from reconvene.core.facts.commands import Rollback
from reconvene.core.facts.events import ArchivesPruned, FilesEdited
from reconvene.ports import Assignment

TEAM = """
name: w
agents: {a: {}}
phases:
  - id: work
    rounds: {max: 3, plan: [one, two], folder: "round_{{ round.n }}"}
    steps: [{agents: [a], output: {name: x, file: "round_{{ round.n }}/notes.md"}}]
    checkpoint: {options: [{label: On, then: continue}, {label: Redo, undo: true, then: again}]}
"""


def kept(stage: Stage) -> list[str]:
    return sorted(str(path.relative_to(stage.folder)) for path in stage.folder.rglob("*") if path.is_file())


def rolled_back(tmp_path: Path, *replies: object) -> Stage:
    stage = Stage(tmp_path, TEAM, {"a": list(replies)})
    stage.drive()
    stage.decide("Redo")
    return stage


def test_pruning_leaves_the_world_and_the_comparison_as_they_were(tmp_path: Path) -> None:
    stage = rolled_back(tmp_path, "first", "second")
    assert kept(stage) == ["round_1/notes.md", "round_1_rolled_back/notes.md"]
    world, compared = stage.state.world, rounds.compare(stage.engine, stage.run, "1")
    pruned, spared = stage.engine.prune(stage.run, by="ann", door="test")
    assert [archive.folder for archive in pruned] == ["round_1_rolled_back"]
    assert spared == ()
    assert kept(stage) == ["round_1/notes.md"]
    assert stage.state.world == world
    assert rounds.compare(stage.engine, stage.run, "1") == compared
    assert "-first" in compared.differences[0].diff
    assert stage.engine.scan(stage.run) == []
    (event,) = stage.events(ArchivesPruned)
    assert (event.paths, event.by) == (("round_1_rolled_back/notes.md",), "ann")


def test_the_history_shows_the_archive_and_that_it_was_pruned(tmp_path: Path) -> None:
    stage = rolled_back(tmp_path, "first", "second")
    stage.engine.prune(stage.run, by="ann")
    stage.engine.commit_history(stage.run)
    history = stage.engine.history()
    (commit_id, commit), (before, _) = reversed(history.commits(stage.run)[-2:])
    assert commit.subject == "Pruned round_1_rolled_back/notes.md"
    assert "round_1_rolled_back/notes.md" in history.diff(stage.run, before, commit_id)


def test_pruning_while_another_process_drives_is_carried_out_by_that_one(tmp_path: Path) -> None:
    async def meanwhile(assignment: Assignment) -> str:
        elsewhere = stage.other()
        elsewhere.engine.prune(stage.run)
        elsewhere.engine.log.close()
        return "third"

    stage = rolled_back(tmp_path, "first", "second", meanwhile)
    assert stage.decide("On").status == "waiting"
    assert len(stage.events(ArchivesPruned)) == 1
    assert kept(stage) == ["round_1/notes.md", "round_2/notes.md"]
    assert stage.events(FilesEdited) == []


def test_a_pruned_name_is_not_used_for_another_round(tmp_path: Path) -> None:
    stage = rolled_back(tmp_path, "first", "second", "third")
    stage.engine.prune(stage.run)
    stage.engine.submit(stage.run, Rollback(by="ann"))
    stage.drive()
    assert kept(stage) == ["round_1/notes.md", "round_1_rolled_back_2/notes.md"]


def test_a_folder_that_somebody_removed_by_hand_is_pruned_without_writing_it_again(tmp_path: Path) -> None:
    stage = rolled_back(tmp_path, "first", "second")
    (stage.folder / "round_1_rolled_back" / "notes.md").unlink()
    (stage.folder / "round_1_rolled_back").rmdir()
    pruned, spared = stage.engine.prune(stage.run)
    assert (len(pruned), spared) == (1, ())
    assert kept(stage) == ["round_1/notes.md"]
    assert stage.drive().status == "waiting"
    assert stage.events(FilesEdited) == []
