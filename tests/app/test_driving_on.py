"""Deciding, driving on and writing the history cost what is new in them. Facts are counted, nothing is timed."""

from __future__ import annotations

import asyncio
import shutil
from pathlib import Path

import pytest

from reconvene.adapters.git import GitHistory
from reconvene.adapters.workspace import FolderWorkspace
from reconvene.app.engine import Engine
from reconvene.core.facts.commands import AnswerCheckpoint, Rollback
from reconvene.core.facts.events import AnyEvent, DecisionRecorded, StepStarted, TasksClaimed
from reconvene.core.facts.evolve import fold
from reconvene.core.run.plan import FollowUp, plan
from reconvene.errors import Bug, Busy, UserError
from reconvene.ports import Append, Assignment
from reconvene.surroundings import SystemClock
from reconvene.testing.memory import MemoryLog
from reconvene.testing.scripted import ScriptedAgents
from reconvene.wire.workflow_file import parse_workflow

LOOP = """
name: loop
limits: {rounds: 1000, calls: 1000}
agents: {a: {}}
phases:
  - id: p
    agents: [a]
    rounds: {max: 900}
    checkpoint: {options: [{label: More, then: again}, {label: Enough, then: continue}]}
"""


class CountingLog(MemoryLog):
    """Counts what is appended, read, and leased."""

    def __init__(self) -> None:
        super().__init__()
        self.appends, self.events_read, self.leases = 0, 0, 0

    def append(self, run: str, expected_seq: int, append: Append) -> int:
        self.appends += 1
        return super().append(run, expected_seq, append)

    def read(self, run: str, after: int = 0, limit: int = 0) -> list[tuple[int, AnyEvent]]:
        found = super().read(run, after, limit)
        self.events_read += len(found)
        return found

    def acquire(self, run: str, holder: str) -> bool:
        self.leases += 1
        return super().acquire(run, holder)

    def release(self, run: str, holder: str) -> None:
        self.leases += 1
        super().release(run, holder)


def opened(tmp_path: Path, log: CountingLog, text: object = "an output") -> Engine:
    def workspace_for(run: str, folder: str) -> FolderWorkspace:
        return FolderWorkspace(folder, str(tmp_path / "manifests" / f"{run}.json"))

    def history_for() -> GitHistory:
        return GitHistory(str(tmp_path / "history.git"))

    agents = ScriptedAgents({}, default=text)
    return Engine(log, SystemClock(), agents, workspace_for, history_for, str(tmp_path / "home"))


def decide(engine: Engine, run: str, option: str = "More") -> str:
    engine.submit(run, AnswerCheckpoint("", option, by="ann"), driving=True)
    return asyncio.run(engine.drive(run)).status


def parked(engine: Engine) -> str:
    run = engine.start(parse_workflow(LOOP), {})
    assert asyncio.run(engine.drive(run)).status == "waiting"
    return run


def test_a_decision_is_on_disk_first_and_its_tasks_are_claimed_as_they_start(tmp_path: Path) -> None:
    log = CountingLog()
    engine = opened(tmp_path, log)
    run = parked(engine)
    log.appends = log.leases = 0
    before = log.head(run)
    assert decide(engine, run) == "waiting"
    assert log.appends == 3  # the decision; the step that it starts; the output with the next checkpoint
    assert log.leases == 2  # taken once, given back once
    events = [event for _, event in log.read(run, before)]
    assert not any(isinstance(event, TasksClaimed) for event in events)
    assert all(event.claim for event in events if isinstance(event, StepStarted))


def test_nothing_that_follows_from_a_decision_can_keep_it_from_the_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = CountingLog()
    engine = opened(tmp_path, log)
    run = parked(engine)
    before = log.head(run)

    def broken(turn: object) -> None:
        raise Bug("a step that cannot start")

    monkeypatch.setattr("reconvene.core.run.handle.advance", broken)
    with pytest.raises(Bug):
        engine.submit(run, AnswerCheckpoint("", "More", by="ann"))
    with pytest.raises(Bug):
        asyncio.run(engine.drive(run))
    assert any(isinstance(event, DecisionRecorded) for _, event in log.read(run, before))
    monkeypatch.undo()
    session = opened(tmp_path, log).session(run)
    assert plan(session.state, session.book) == [FollowUp()]
    assert asyncio.run(opened(tmp_path, log).drive(run)).status == "waiting"


def test_a_decision_costs_the_same_in_the_last_round_as_in_the_first(tmp_path: Path) -> None:
    log = CountingLog()
    engine = opened(tmp_path, log)
    run = parked(engine)
    reads: list[int] = []
    for _ in range(60):
        log.events_read = 0
        decide(engine, run)
        engine.commit_history(run)
        reads.append(log.events_read)
    assert max(reads[2:]) == reads[1] < 20  # what is new since the last commit, read once
    assert len(GitHistory(str(tmp_path / "history.git")).commits(run)) == 121


def test_a_history_that_goes_on_from_a_known_state_is_the_one_made_from_nothing(tmp_path: Path) -> None:
    log = CountingLog()
    engine = opened(tmp_path, log, {"text": "done", "files": {"a.md": "one\n"}})
    run = parked(engine)
    for number in range(6):
        if number % 2:
            (tmp_path / "home" / "runs" / run / "a.md").write_text(f"mine {number}\n")
        decide(engine, run)
        if number == 3:
            engine.submit(run, Rollback(by="ann"), driving=True)
            asyncio.run(engine.drive(run))
        if number != 4:  # once it falls behind
            engine.commit_history(run)
    assert decide(engine, run, "Enough") == "completed"
    engine.commit_history(run)
    made = engine.history().commits(run)
    shutil.rmtree(tmp_path / "history.git")
    opened(tmp_path, log).commit_history(run)
    assert engine.history().commits(run) == made
    assert made[-1][1].subject == "Run completed"


def test_another_process_finds_the_history_complete_and_reads_only_what_follows(tmp_path: Path) -> None:
    log = CountingLog()
    engine = opened(tmp_path, log)
    run = parked(engine)
    for _ in range(5):
        decide(engine, run)
    engine.commit_history(run)
    before = engine.history().commits(run)
    log.events_read = 0
    opened(tmp_path, log).commit_history(run)
    assert log.events_read < 5
    assert engine.history().commits(run) == before


def test_a_refused_decision_gives_the_lease_back(tmp_path: Path) -> None:
    log = CountingLog()
    engine = opened(tmp_path, log)
    run = parked(engine)
    with pytest.raises(UserError, match="not an option"):
        engine.submit(run, AnswerCheckpoint("", "Nonsense", by="ann"), driving=True)
    assert log.driven() == frozenset()
    assert decide(engine, run) == "waiting"


def test_who_decides_to_drive_keeps_others_from_driving_until_it_has(tmp_path: Path) -> None:
    log = CountingLog()
    engine, other = opened(tmp_path, log), opened(tmp_path, log)
    run = parked(engine)
    engine.submit(run, AnswerCheckpoint("", "More", by="ann"), driving=True)
    with pytest.raises(Busy):
        asyncio.run(other.drive(run))
    assert asyncio.run(engine.drive(run)).status == "waiting"
    assert log.driven() == frozenset()


def test_who_decides_while_another_drives_still_has_the_decision_on_record(tmp_path: Path) -> None:
    log = CountingLog()
    engine = opened(tmp_path, log)
    run = parked(engine)
    assert log.acquire(run, "somebody else")
    state = engine.submit(run, AnswerCheckpoint("", "More", by="ann"), driving=True)
    assert state.status == "running"
    with pytest.raises(Busy):
        asyncio.run(engine.drive(run))
    log.release(run, "somebody else")
    assert asyncio.run(engine.drive(run)).status == "waiting"


def test_what_was_decided_and_not_driven_is_given_back_at_the_end(tmp_path: Path) -> None:
    log = CountingLog()
    engine = opened(tmp_path, log)
    run = parked(engine)
    engine.submit(run, AnswerCheckpoint("", "More", by="ann"), driving=True)
    asyncio.run(engine.close())
    assert log.driven() == frozenset()


def test_what_others_append_is_seen_by_who_has_the_run_in_hand(tmp_path: Path) -> None:
    log = CountingLog()
    engine, other = opened(tmp_path, log), opened(tmp_path, log)
    run = parked(engine)
    before = engine.load(run)
    decide(other, run)
    assert engine.load(run).seq > before.seq
    assert engine.load(run) == other.load(run)


ACTING = """
name: acting
agents: {planner: {}, sender: {effects: true}}
phases:
  - {id: plan, agents: [planner], checkpoint: {options: [{label: Go}]}}
  - {id: work, agents: [sender]}
"""


class LostLeases(CountingLog):
    """Everybody gets the lease, as on a disk whose locks do not hold."""

    def acquire(self, run: str, holder: str) -> bool:
        return True


def test_what_is_begun_is_on_record_as_taken_up_also_where_two_drive(tmp_path: Path):
    log, claims = LostLeases(), list[str]()

    def seen(assignment: Assignment) -> str:
        step = fold(event for _, event in log.read(assignment.run)).world.top.round.open
        claims.append(step.tasks["sender"].claim if step is not None else "")
        return "sent"

    async def overtaken(assignment: Assignment) -> str:
        other = opened(tmp_path, log)
        await other.drive(assignment.run)
        other.submit(assignment.run, AnswerCheckpoint("", "Go", by="ann"))
        await asyncio.Event().wait()  # until it is stopped: nobody wants it any more
        return "never"

    engine = opened(tmp_path, log)
    engine.runner = ScriptedAgents({"planner": overtaken, "sender": seen})
    run = engine.start(parse_workflow(ACTING), {})
    assert asyncio.run(engine.drive(run)).status == "completed"
    assert len(claims) == 1
    assert all(claims)
