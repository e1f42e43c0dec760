"""Deadlines, decisions and approvals at the same moment, on one real store: one winner each, and everybody is told."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from reconvene.app.engine import Engine
from reconvene.app.lapsing import lapse, lapse_all
from reconvene.app.verifying import verify
from reconvene.core.facts import events as e
from reconvene.core.facts.actors import Actor
from reconvene.core.facts.commands import AnswerCheckpoint
from reconvene.errors import Refused, Repeated
from reconvene.language.times import later
from reconvene.surroundings import SystemClock
from reconvene.testing.scripted import ScriptedAgents
from reconvene.wire.workflow_file import parse_workflow
from reconvene.wiring import open_engine, open_log

FLOW = """
name: pay
agents: {w: {}}
phases:
  - id: plan
    agents: [w]
    checkpoint:
      within: 1h
      remind: 10m
      late: {option: Reject}
      options:
        - {label: Approve, then: {end: approved}}
        - {label: Two, needs: 2, then: {end: together}}
        - {label: Reject, then: {end: rejected}}
"""
START = "2026-03-01T09:00:00.000Z"
Side = Callable[[Engine, str], object]


class Ground:
    def __init__(self, home: Path) -> None:
        self.home = home
        self.now = START

    def engine(self) -> Engine:
        return open_engine(self.home, runner=ScriptedAgents({"w": "done"}))

    def parked(self) -> str:
        engine = self.engine()
        with closing(engine.log):
            run = engine.start(parse_workflow(FLOW))
            engine.drive_sync(run)
            return run

    def at_once(self, run: str, *sides: Side) -> list[object]:
        """What each got: its result, or the error that refused it."""
        ready, found = threading.Barrier(len(sides)), list[object]([None] * len(sides))

        def one(at: int, side: Side) -> None:
            engine = self.engine()
            with closing(engine.log):
                engine.load(run)
                ready.wait()
                try:
                    found[at] = side(engine, run)
                except (Refused, Repeated) as error:
                    found[at] = error

        threads = [threading.Thread(target=one, args=each) for each in enumerate(sides)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return found

    def events(self, run: str, *kinds: type) -> list[e.AnyEvent]:
        with closing(open_log(self.home)) as log:
            return [event for _, event in log.read(run) if isinstance(event, kinds)]

    def is_sound(self, run: str) -> bool:
        engine = self.engine()
        with closing(engine.log):
            return verify(engine.log, run, None, engine.signer).sound


@pytest.fixture
def ground(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Ground:
    made = Ground(tmp_path / ".reconvene")
    monkeypatch.setattr(SystemClock, "now", lambda _: made.now)
    return made


def decides(name: str, option: str) -> Side:
    return lambda engine, run: engine.submit(
        run, AnswerCheckpoint("C1", option, by=name, door="test"), once=True, actor=Actor(name, "decider", served=True)
    )


def _race(ground: Ground) -> Counter[str]:
    ground.now = START
    run = ground.parked()
    ground.now = later(START, 3600)
    found = ground.at_once(run, decides("ada", "Approve"), lapse, lapse, decides("bob", "Two"), decides("cyd", "Two"))
    decisions = [one for one in ground.events(run, e.DecisionRecorded) if isinstance(one, e.DecisionRecorded)]
    assert len(decisions) == 1
    (decision,) = decisions
    if decision.late:
        assert (decision.by, decision.user) == ("the deadline", "")
    if decision.option == "Two":
        assert sorted(decision.approved) == ["bob", "cyd"]
    told = [one for one in (found[0], found[3], found[4]) if isinstance(one, Refused)]
    won = {decision.user, *decision.approved} - {""}
    assert len(told) >= 3 - len(won) - len(ground.events(run, e.ApprovalRecorded)), "who lost was told"
    assert ground.is_sound(run)
    return Counter([decision.option])


def test_of_a_deadline_and_people_who_decide_at_the_same_moment_one_wins(ground: Ground) -> None:
    assert sum((_race(ground) for _ in range(6)), Counter()).total() == 6


@pytest.mark.torture
def test_the_same_many_times(ground: Ground) -> None:
    assert sum((_race(ground) for _ in range(300)), Counter()).total() == 300


def test_a_reminder_is_recorded_once_whoever_looks(ground: Ground) -> None:
    run = ground.parked()
    ground.now = later(START, 3000)
    found = ground.at_once(run, *[lambda engine, run: list(lapse_all(engine))] * 4)
    assert len(ground.events(run, e.CheckpointReminded)) == 1
    assert sum(len(each) for each in found if isinstance(each, list)) >= 1
    assert ground.is_sound(run)


def test_one_engine_acts_for_many_and_mixes_nobody_up(ground: Ground) -> None:
    """As a server does: one process and one key, and each act is its person's."""
    run = ground.parked()
    engine = ground.engine()
    with closing(engine.log):
        decides("ada", "Two")(engine, run)
        assert engine.session(run).actor == engine.actor, "nothing stays set"
        decides("bob", "Two")(engine, run)
    (decision,) = ground.events(run, e.DecisionRecorded)
    assert isinstance(decision, e.DecisionRecorded)
    assert decision.approved == ("ada", "bob")
    assert ground.is_sound(run)
