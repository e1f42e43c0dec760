"""What must hold at the end of a simulation, whatever failed on the way: the log on disk against what people were told
and what agents really did."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import pairwise

from reconvene.app import measures
from reconvene.app.verifying import verify_all
from reconvene.core.facts import events as e
from reconvene.core.facts.ids import parse_task
from reconvene.core.person.attention import AGAIN
from reconvene.testing.simulation.simulated_agents import Outside
from reconvene.testing.simulation.simulated_people import Acknowledged
from reconvene.testing.simulation.simulated_world import World


def check(world: World, known: Acknowledged, outside: Outside) -> None:
    for what in _wrong(world, known, outside):
        world.violated(what)


def _wrong(world: World, known: Acknowledged, outside: Outside) -> Iterator[str]:
    runs = world.disk.runs()
    yield from (f"run {run} was started, and is gone" for run in known.started if run not in runs)
    for run in runs:
        events = [event for _, event in world.disk.read(run)]
        yield from _nothing_lost(run, events, known)
        yield from _one_winner(run, events)
        yield from _acted_once(run, events, outside)
        yield from _as_it_was(world, run, events, outside)
        yield from _in_order(run, events)
    yield from _remarks_told(world, runs, outside)
    yield from _sound(world)


def _nothing_lost(run: str, events: list[e.AnyEvent], known: Acknowledged) -> Iterator[str]:
    said = Counter(event.text for event in events if isinstance(event, e.RemarkAdded))
    for one in known.said:
        if one.run == run and not said[one.text]:
            yield f"{run}: {one.text!r} was acknowledged, and is not on record"
    for text, times in said.items():
        if times > 1 and any(one.text == text for one in known.said):
            yield f"{run}: {text!r} was said once, and is on record {times} times"
    decided = {event.checkpoint: event for event in events if isinstance(event, e.DecisionRecorded)}
    chosen = {(event.checkpoint, event.by) for event in events if isinstance(event, e.ApprovalRecorded)}
    for act in known.decided:
        if act.run != run or (act.checkpoint, act.by) in chosen:
            continue
        found = decided.get(act.checkpoint)
        if found is None:
            yield f"{run}: {act.by} was told that {act.checkpoint} is decided ({act.option}), and it is not on record"
        elif found.option != act.option:
            yield f"{run}: {act.by} was told {act.option!r} at {act.checkpoint}; on record is {found.option!r}"


def _one_winner(run: str, events: list[e.AnyEvent]) -> Iterator[str]:
    times = Counter(event.checkpoint for event in events if isinstance(event, e.DecisionRecorded))
    yield from (f"{run}: {point} was decided {count} times" for point, count in times.items() if count > 1)


def _acted_once(run: str, events: list[e.AnyEvent], outside: Outside) -> Iterator[str]:
    """What acts on the world did so once, and once more for each time that a person was asked and said so."""
    asked: Counter[tuple[int, str]] = Counter()
    for event in events:
        if isinstance(event, e.DecisionRecorded) and event.option == AGAIN:
            asked.update((event.serial, agent) for agent in event.acts)
    for (of, task), times in outside.acted.items():
        serial, _, agent = parse_task(task)
        if of == run and times > 1 + asked[serial, agent]:
            yield f"{run}: {agent} acted {times} times in {task}; a person said so {asked[serial, agent]} times"


def _as_it_was(world: World, run: str, events: list[e.AnyEvent], outside: Outside) -> Iterator[str]:
    """What is on record of an agent is what that agent gave."""
    for event in events:
        if isinstance(event, e.AttemptEnded) and event.verdict == "accepted" and event.output is not None:
            given = outside.given.get((run, event.task, event.attempt), [])
            if world.disk.artefact(event.output.digest).decode().strip() not in given:
                yield f"{run}: {event.task} attempt {event.attempt} is on record with what its agent never said"


def _in_order(run: str, events: list[e.AnyEvent]) -> Iterator[str]:
    for before, after in pairwise(events):
        if after.at < before.at:
            yield f"{run}: {type(after).__name__} is recorded as before {type(before).__name__}, which it follows"
            return


def _remarks_told(world: World, runs: list[str], outside: Outside) -> Iterator[str]:
    """Each remark has its place in the ledger: delivered, and then whoever answered was really shown it, or open."""
    engine = world.process("checks").engine
    for run in runs:
        state, ledger = engine.load(run), {entry.id: entry for entry in measures.ledger(engine, run)}
        prompts = {(call.task, call.attempt): call.prompt for call in outside.calls if call.run == run}
        answered = [
            (event.task, event.at, prompts.get((event.task, event.attempt), ""))
            for _, event in world.disk.read(run)
            if isinstance(event, e.AttemptEnded) and event.verdict == "accepted" and event.usage.requests
        ]
        for remark in state.record.remarks.values():
            entry = ledger.get(remark.id)
            if entry is None:
                if remark.number not in state.record.withdrawn:
                    yield f"{run}: {remark.id} is not in the ledger"
                continue
            own = all(one.by == "edit" for one in entry.reflected)  # the person's own lines, which need nobody
            if not entry.delivered and not entry.open and not (entry.reflected and own):
                yield f"{run}: {remark.id} was shown to nobody, and does not count as open"
            for one in entry.delivered:
                if any(task == one.task and at > one.at and remark.text not in prompt for task, at, prompt in answered):
                    yield f"{run}: {remark.id} counts as delivered to {one.agent} ({one.task}), which was not shown it"


def _sound(world: World) -> Iterator[str]:
    found = verify_all(world.disk, world.history)
    for run in found.runs:
        if run.misfit is not None:
            yield f"{run.run} does not verify: {run.misfit}"
    yield from (f"the store does not verify: {fault}" for fault in found.misfits)
