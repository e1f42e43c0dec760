"""Whoever works takes up what is due, each run once, and leaves nothing that the next one could not take up."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from reconvene.app import queries
from reconvene.app.engine import Engine
from reconvene.app.since import since
from reconvene.app.verifying import verify
from reconvene.app.worker import Told, Worker
from reconvene.core.facts.commands import AnswerCheckpoint, Pause
from reconvene.core.facts.events import AttemptEnded, Paused, Resumed
from reconvene.doors.cli.stops import headline
from reconvene.errors import AgentError, StoreError, UserError
from reconvene.ports import Assignment
from reconvene.testing.scripted import Reply, ScriptedAgents
from reconvene.wire.workflow_file import parse_workflow
from reconvene.wiring import open_engine

ONE = """
name: one
agents: {a: {retries: 0}}
phases:
  - {id: first, agents: [a], checkpoint: {approval_required: true}}
  - {id: second, agents: [a]}
"""
SPLIT = """
name: split
inputs: {description: {type: text, required: true}}
agents: {scout: {}, worker: {}}
phases:
  - id: triage
    when: "inputs.description === 'all of it'"
    agents: [scout]
    output: triage
    checkpoint:
      options: [{label: Split, start: {workflow: split, each: context.triage.pieces}, then: {end: split}}]
  - {id: work, agents: [worker]}
"""
PIECES = {"pieces": [{"id": name, "title": name} for name in ("a", "b", "c")]}


class Shop:
    """A home, and the workers that were opened on it."""

    def __init__(self, home: Path) -> None:
        self._home = home
        self.told: list[Told] = []

    def engine(self, **replies: Reply) -> Engine:
        return open_engine(self._home, runner=ScriptedAgents(replies, default="an output"))

    def worker(self, engine: Engine, slots: int = 4, permit: Callable[[str], None] = lambda run: None) -> Worker:
        return Worker(engine, slots, tell=self.told.append, begin=lambda run: None, permit=permit, by="ann")

    def work(self, engine: Engine, **options: int) -> None:
        async def once() -> None:
            await self.worker(engine, **options).work(once=True)

        asyncio.run(once())


@pytest.fixture
def shop(tmp_path: Path) -> Shop:
    return Shop(tmp_path / "home")


def started(engine: Engine, text: str = ONE, **inputs: object) -> str:
    return engine.start(parse_workflow(text), inputs)


def statuses(engine: Engine) -> dict[str, str]:
    return {row.run: row.status for row in engine.log.index()}


async def until(holds: Callable[[], bool]) -> None:
    """Bounded by the number of looks."""
    for _ in range(2_000):
        if holds():
            return
        await asyncio.sleep(0.005)
    raise AssertionError("it never came to that")


def test_what_was_recorded_and_left_is_taken_up_to_its_next_stop_and_no_further(shop: Shop) -> None:
    engine = shop.engine()
    runs = [started(engine) for _ in range(3)]
    shop.work(engine, slots=2)
    assert statuses(engine) == dict.fromkeys(runs, "waiting")
    engine.submit(runs[1], AnswerCheckpoint("", "Continue", by="ann"))
    shop.work(engine)
    assert statuses(engine) == {runs[0]: "waiting", runs[1]: "completed", runs[2]: "waiting"}
    assert sorted(one.run for one in shop.told) == sorted([*runs, runs[1]])
    assert len(engine.history().commits(runs[1])) > 0


def test_a_decision_is_taken_up_while_the_worker_waits(shop: Shop) -> None:
    async def play() -> None:
        engine, other = shop.engine(), shop.engine()
        run, works = started(engine), shop.worker(engine)
        working = asyncio.create_task(works.work())
        await until(lambda: statuses(other)[run] == "waiting")
        other.submit(run, AnswerCheckpoint("", "Continue", by="bo"))
        await until(lambda: statuses(other)[run] == "completed")
        works.leave()
        await working

    asyncio.run(play())


def test_what_a_person_paused_stays_paused(shop: Shop) -> None:
    engine = shop.engine()
    run = started(engine)
    engine.submit(run, Pause(by="ann"))
    shop.work(engine)
    assert statuses(engine) == {run: "paused"}
    assert shop.told == []


def held(begun: asyncio.Event, go: asyncio.Event) -> Callable[[Assignment], Awaitable[str]]:
    async def answer(assignment: Assignment) -> str:
        begun.set()
        await go.wait()
        return "an output"

    return answer


@pytest.mark.parametrize("now", [False, True])
def test_a_worker_that_leaves_lets_agents_finish_or_cancels_them_and_the_next_one_goes_on(
    shop: Shop, now: bool
) -> None:
    async def play() -> None:
        begun, go = asyncio.Event(), asyncio.Event()
        engine = shop.engine(a=held(begun, go))
        run, works = started(engine), shop.worker(engine)
        working = asyncio.create_task(works.work())
        await begun.wait()
        assert works.at_work == [run]
        works.leave(now=now)
        if not now:
            await until(lambda: statuses(engine)[run] == "paused")
            assert not working.done()
            go.set()
        await working
        await engine.close()

        again = shop.engine()
        (run,) = statuses(again)
        assert again.log.due("9999") != []
        assert verify(again.log, run).sound
        await shop.worker(again).work(once=True)
        assert statuses(again) == {run: "waiting"}
        assert again.log.due("9999") == []
        events = [event for _, event in again.log.read(run)]
        assert [one.left for one in events if isinstance(one, Paused)] == [True]
        assert len([one for one in events if isinstance(one, Resumed)]) == 1
        verdicts = [one.verdict for one in events if isinstance(one, AttemptEnded)]
        assert verdicts == (["cancelled", "accepted"] if now else ["accepted"])

    asyncio.run(play())


def test_a_person_who_pauses_what_a_worker_left_keeps_it_from_the_next_one(shop: Shop) -> None:
    engine = shop.engine()
    run = started(engine)
    engine.submit(run, Pause(by="w", left=True))
    assert [one for _, one in engine.log.due("9999")] == [run]
    left = queries.summary(engine, run)
    assert left.left
    assert "its process had to end; a server or a worker takes it up again by itself" in headline(left)
    assert since(engine, run, "ann").news == (), "nobody paused it"
    engine.submit(run, Pause(by="ann"))
    assert "its process had to end" not in headline(queries.summary(engine, run))
    engine.submit(run, Pause(by="w", left=True))
    assert engine.log.due("9999") == []
    shop.work(engine)
    assert statuses(engine) == {run: "paused"}


def test_pieces_of_a_split_are_made_and_worked_off_one_after_another(shop: Shop) -> None:
    order: list[str] = []

    async def work(assignment: Assignment) -> str:
        order.append(f"+{assignment.run}")
        await asyncio.sleep(0)
        order.append(f"-{assignment.run}")
        return "done"

    engine = shop.engine(scout={"value": PIECES}, worker=work)
    run = started(engine, SPLIT, description="all of it")
    shop.work(engine)
    engine.submit(run, AnswerCheckpoint("", "Split", by="ann"))
    shop.work(engine)
    assert set(statuses(engine).values()) == {"completed"}
    assert order == [f"{sign}{run}.{name}" for name in ("a", "b", "c") for sign in "+-"]


def test_a_run_whose_provider_failed_is_due_at_its_time_and_not_before(shop: Shop) -> None:
    engine = shop.engine(a=AgentError("It is away.", outcome="transport", retry_after=9_000))
    run = started(engine)
    shop.work(engine)
    assert statuses(engine) == {run: "waiting"}
    ((when, waiting),) = engine.log.due("9999")
    assert waiting == run
    assert engine.log.due(engine.now()) == []
    assert engine.log.due(when) == [(when, run)]
    assert verify(engine.log, run).sound
    shop.work(engine)
    assert len(shop.told) == 1


def test_a_run_that_cannot_be_driven_is_told_once_and_does_not_hold_up_the_others(shop: Shop) -> None:
    engine = shop.engine()
    bad, good = started(engine), started(engine)

    def permit(run: str) -> None:
        if run == bad:
            raise UserError("It was not accepted.", hint="reconvene accept")

    async def once() -> None:
        await shop.worker(engine, permit=permit).work(once=True)

    asyncio.run(once())
    assert statuses(engine) == {bad: "running", good: "waiting"}
    ((told,),) = [[one for one in shop.told if one.run == bad]]
    assert str(told.error) == "It was not accepted."
    assert told.again > 0


def test_of_several_workers_each_run_is_driven_by_one(shop: Shop) -> None:
    async def play() -> None:
        engines = [shop.engine() for _ in range(3)]
        runs = [started(engines[0]) for _ in range(12)]
        await asyncio.gather(*(shop.worker(engine, slots=3).work(once=True) for engine in engines))
        assert statuses(engines[0]) == dict.fromkeys(runs, "waiting")
        asked = [call.run for engine in engines for call in engine.runner.calls]  # type: ignore[attr-defined]
        assert sorted(asked) == sorted(runs)

    asyncio.run(play())


def test_whoever_starts_a_run_to_drive_it_is_not_overtaken(shop: Shop) -> None:
    engine, other = shop.engine(), shop.engine()
    run = engine.start(parse_workflow(ONE), {}, driving=True)
    shop.work(other)
    assert statuses(other) == {run: "running"}
    assert engine.drive_sync(run).status == "waiting"


def test_a_lease_that_a_locked_store_did_not_take_back_is_given_back_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    shop = Shop(tmp_path / "home")
    engine = shop.engine()
    engine.start(parse_workflow(ONE), {})
    release, tried = engine.log.release, list[str]()

    def locked_at_first(run: str, holder: str) -> None:
        tried.append(run)
        if len(tried) == 1:
            raise StoreError("It is locked.")
        release(run, holder)

    monkeypatch.setattr(engine.log, "release", locked_at_first)
    shop.work(engine)
    assert len(tried) == 2
    assert engine.log.driven() == frozenset()
    asyncio.run(engine.close())
