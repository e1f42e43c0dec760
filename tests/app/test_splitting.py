"""Splitting on a real store: children made once, whatever happened; one queue over all runs, read without folding."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from reconvene.adapters.sqlite import SqliteLog
from reconvene.app import queries
from reconvene.app import run_queue as queue
from reconvene.app.engine import Engine
from reconvene.core.facts.commands import AddRemark, AnswerCheckpoint, DropQueued, RemarkIn
from reconvene.core.facts.events import AnyEvent, ChildStarted, RemarkAdded, RunStarted
from reconvene.errors import Busy, Refused, UserError
from reconvene.testing.scripted import ScriptedAgents
from reconvene.wire.packaged import packaged
from reconvene.wire.pins import pin
from reconvene.wire.workflow_file import load_workflow, parse_workflow
from reconvene.wiring import open_engine

SPLIT = """
name: split
inputs: {description: {type: text, required: true}}
agents: {scout: {}, worker: {}}
files: [{path: status.md, template: "{{ inputs.description }}\\n"}]
phases:
  - id: triage
    agents: [scout]
    output: triage
    checkpoint:
      options:
        - {label: Split, start: {workflow: split, each: context.triage.pieces}, then: {end: split}}
        - {label: Queue and go on, start: {workflow: split, each: context.triage.pieces}, then: continue}
        - {label: Elsewhere, start: {workflow: early-exit, each: context.triage.pieces}, then: {end: split}}
        - {label: Go on, then: continue}
  - {id: work, agents: [worker], checkpoint: {approval_required: true}}
"""
PIECES = {"pieces": [{"id": name, "title": f"Piece {name}"} for name in ("a", "b", "c")]}


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    opened = reopened(tmp_path)
    yield opened
    opened.log.close()


def reopened(tmp_path: Path) -> Engine:
    """As another process would see it."""
    return open_engine(tmp_path / "home", runner=ScriptedAgents({"scout": {"value": PIECES}, "worker": "done"}))


def triaged(engine: Engine, *said: str) -> str:
    run = engine.start(parse_workflow(SPLIT), {"description": "All of it"}, by="ann")
    for text in said:
        engine.submit(run, AddRemark(RemarkIn(text), by="ann"))
    assert engine.drive_sync(run).status == "waiting"
    return run


def choose(engine: Engine, run: str, option: str) -> None:
    """The decision alone: what a process has done that dies at once."""
    engine.submit(run, AnswerCheckpoint("", option, by="ann"))


def split(engine: Engine) -> str:
    run = triaged(engine)
    choose(engine, run, "Split")
    engine.drive_sync(run)
    return run


def events(engine: Engine, run: str, kind: type[AnyEvent]) -> list[AnyEvent]:
    return [event for _, event in engine.log.read(run) if isinstance(event, kind)]


def order(engine: Engine) -> list[str]:
    return [entry.run for entry in queue.in_order(engine.log)]


# --- making them ---


def test_a_split_gives_runs_with_logs_of_their_own_in_the_queue(engine: Engine) -> None:
    run = triaged(engine, "keep it short")
    choose(engine, run, "Split")
    assert engine.drive_sync(run).outcome == "split"
    assert order(engine) == ["split-1.a", "split-1.b", "split-1.c"]
    for child in order(engine):
        state = engine.load(child)
        assert (state.status, state.parent, state.workflow) == ("queued", run, engine.load(run).workflow)
        assert [remark.text for remark in state.record.remarks.values()] == ["keep it short"]
        assert not Path(state.workspace).exists()
    assert [child.status for child in queries.show(engine, run).children] == ["queued"] * 3


@pytest.mark.parametrize("option", ["Split", "Queue and go on"])
def test_what_a_decision_started_is_made_by_whoever_drives_the_parent_next(
    engine: Engine, tmp_path: Path, option: str
) -> None:
    run = triaged(engine)
    choose(engine, run, option)
    assert queue.unmade(engine.log) == [run]
    assert order(engine) == []
    other = reopened(tmp_path)
    for _ in range(2):
        other.drive_sync(run)
        assert order(other) == ["split-1.a", "split-1.b", "split-1.c"]
        assert len(events(other, run, ChildStarted)) == 3
    assert queue.unmade(other.log) == []
    other.log.close()


def test_a_child_that_was_made_but_not_recorded_is_found_again(engine: Engine) -> None:
    """The process died between the child's log and the parent's."""
    run = triaged(engine)
    choose(engine, run, "Split")
    session = engine.session(run)
    made = engine.new.make_child(session, "b")
    engine.make_children(run)
    assert made == "split-1.b"
    assert order(engine) == ["split-1.a", "split-1.b", "split-1.c"]
    assert len(events(engine, "split-1.b", RunStarted)) == 1


def test_where_a_stranger_has_its_name_a_child_gets_the_next_one(engine: Engine) -> None:
    run = triaged(engine)
    stranger = "name: other\nrun_id: split-1.b\nagents: {worker: {}}\nphases: [{id: one, agents: [worker]}]\n"
    assert engine.start(parse_workflow(stranger)) == "split-1.b"
    choose(engine, run, "Split")
    engine.drive_sync(run)
    assert order(engine) == ["split-1.a", "split-1.b-2", "split-1.c"]
    assert [child.run for child in engine.load(run).record.children.values() if child.child.key == "b"] == [
        "split-1.b-2"
    ]


def test_a_packaged_workflow_is_stored_with_the_decision(engine: Engine) -> None:
    run = triaged(engine)
    choose(engine, run, "Elsewhere")
    engine.drive_sync(run)
    states = [engine.load(child) for child in order(engine)]
    assert [state.name for state in states] == ["early-exit"] * 3
    assert engine.log.artefact(states[0].workflow) == pin(load_workflow(packaged()["early-exit"]))


def test_a_child_runs_like_any_run_once_it_is_taken_up(engine: Engine) -> None:
    split(engine)
    assert engine.drive_sync("split-1.b").status == "waiting"
    assert order(engine) == ["split-1.a", "split-1.c"]
    assert (Path(engine.load("split-1.b").workspace) / "status.md").read_text() == "Piece b\n"
    choose(engine, "split-1.b", "Split")
    engine.drive_sync("split-1.b")
    assert order(engine) == ["split-1.a", "split-1.c", "split-1.b.a", "split-1.b.b", "split-1.b.c"]


def test_inherited_remarks_name_the_run_in_which_they_were_made_first(engine: Engine) -> None:
    run = triaged(engine, "keep it short")
    choose(engine, run, "Split")
    engine.drive_sync(run)
    engine.drive_sync("split-1.a")
    engine.submit("split-1.a", AddRemark(RemarkIn("and clear"), by="bob"))
    choose(engine, "split-1.a", "Split")
    engine.drive_sync("split-1.a")
    said = events(engine, "split-1.a.c", RemarkAdded)
    assert [(one.text, one.by, one.origin) for one in said if isinstance(one, RemarkAdded)] == [
        ("keep it short", "ann", "split-1 FB-001"),
        ("and clear", "bob", "split-1.a FB-002"),
    ]


def test_the_beginning_of_an_id_means_the_parent_and_not_what_it_started(engine: Engine) -> None:
    split(engine)
    assert engine.find("spl") == "split-1"
    assert engine.find("split-1.b") == "split-1.b"
    with pytest.raises(UserError, match=r"may be split-1\.c, split-1\.b, split-1\.a"):
        engine.find("split-1.")


def test_a_fork_of_the_parent_leaves_the_children_behind(engine: Engine) -> None:
    run = triaged(engine)
    choose(engine, run, "Queue and go on")  # recorded, and nothing made yet
    forked = engine.fork(run)
    engine.drive_sync(forked)
    assert order(engine) == []
    assert queries.summary(engine, forked).children == ()
    engine.drive_sync(run)
    assert len(order(engine)) == 3


def test_a_fork_of_a_child_is_a_run_of_its_own_that_no_queue_takes_up(engine: Engine) -> None:
    split(engine)
    engine.drive_sync("split-1.a")
    choose(engine, "split-1.a", "Go on")
    forked = engine.fork("split-1.a")
    assert (engine.load(forked).status, engine.load(forked).parent) == ("running", "")
    assert queue.interrupted(engine.log) == ["split-1.a"]


# --- the queue ---


def test_one_order_over_all_runs_and_every_move_leaves_the_others_where_they_are(engine: Engine) -> None:
    split(engine)
    split(engine)
    a, b, c, d, e, f = order(engine)
    assert (a, f) == ("split-1.a", "split-2.c")
    assert queue.move(engine, f, 1) == 1
    assert order(engine) == [f, a, b, c, d, e]
    assert queue.move(engine, a, 4) == 4
    assert order(engine) == [f, b, c, a, d, e]
    assert queue.move(engine, f, -1) == 6
    assert order(engine) == [b, c, a, d, e, f]
    assert queue.move(engine, c, 1) == 1
    assert order(engine) == [c, b, a, d, e, f]
    split(engine)
    assert order(engine) == [c, b, a, d, e, f, "split-3.a", "split-3.b", "split-3.c"]


def test_a_run_that_is_there_already_is_not_moved(engine: Engine) -> None:
    split(engine)
    head = engine.log.head("split-1.b")
    for position in (2, 2):
        assert queue.move(engine, "split-1.b", position) == 2
    assert queue.move(engine, "split-1.c", -1) == 3
    assert engine.log.head("split-1.b") == head


def test_a_position_outside_the_queue_and_a_run_outside_it_are_refused(engine: Engine) -> None:
    run = split(engine)
    with pytest.raises(UserError, match="The queue has 3 runs; 4 is not"):
        queue.move(engine, "split-1.a", 4)
    with pytest.raises(Refused, match="split-1 is completed, not in the queue"):
        queue.move(engine, run, 1)


def test_looking_at_the_queue_folds_no_log(engine: Engine, tmp_path: Path) -> None:
    split(engine)
    engine.drive_sync("split-1.a")

    class Unread(SqliteLog):
        def read(self, run: str, after: int = 0, limit: int = 0) -> list[tuple[int, AnyEvent]]:
            raise AssertionError(f"the log of {run} was read")

    log = Unread(tmp_path / "home" / "reconvene.db")
    assert [entry.title for entry in queue.in_order(log)] == ["Piece b", "Piece c"]
    family = queue.children_by_parent(log)["split-1"]
    assert [(one.run, one.status) for one in family] == [
        ("split-1.a", "waiting"),
        ("split-1.b", "queued"),
        ("split-1.c", "queued"),
    ]
    assert queue.interrupted(log) == []
    assert queue.unmade(log) == []
    log.close()


def test_only_a_queued_run_or_one_left_in_the_middle_can_be_taken(engine: Engine, tmp_path: Path) -> None:
    split(engine)
    asyncio.run(engine.drive("split-1.a", take=True))
    with pytest.raises(Busy, match=r"split-1\.a is waiting: somebody else took it up"):
        asyncio.run(engine.drive("split-1.a", take=True))
    choose(engine, "split-1.a", "Go on")  # and the process dies before it drives on
    assert queue.interrupted(engine.log) == ["split-1.a"]
    assert asyncio.run(engine.drive("split-1.a", take=True)).status == "waiting"


def test_a_run_that_another_process_drives_is_busy(engine: Engine, tmp_path: Path) -> None:
    split(engine)
    other = reopened(tmp_path)
    assert other.log.acquire("split-1.a", "somebody")
    with pytest.raises(Busy, match="Another process is driving"):
        asyncio.run(engine.drive("split-1.a", take=True))
    assert engine.load("split-1.a").status == "queued"
    other.log.close()


def test_a_dropped_run_keeps_its_log_and_does_not_run(engine: Engine) -> None:
    split(engine)
    engine.submit("split-1.b", DropQueued("ann"))
    assert order(engine) == ["split-1.a", "split-1.c"]
    state = engine.drive_sync("split-1.b")
    assert (state.status, state.outcome, state.record.tasks) == ("aborted", "dropped", 0)
    assert not Path(state.workspace).exists()
    with pytest.raises(Busy):
        asyncio.run(engine.drive("split-1.b", take=True))
