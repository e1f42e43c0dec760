"""Deadlines and reminders of open checkpoints: what is due is submitted, by whoever looks. Nothing waits in memory.

When something is due stands in an indexed column, written with the events that it follows from. Any number may look at
the same time: each deadline is recorded once.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from reconvene.app.engine import Engine
from reconvene.core.facts import events as e
from reconvene.core.facts.actors import NOBODY
from reconvene.core.facts.commands import Lapse
from reconvene.core.facts.named_people import named
from reconvene.core.person.deadlines import next_due
from reconvene.errors import ReconveneError

_MOST = 100  # runs that are looked up at once


class Lapsed(Struct, frozen=True, omit_defaults=True):
    """What a deadline, or a reminder, did. what: reminded, escalated, overdue, decided; failed with an error."""

    run: str
    what: str
    checkpoint: str = ""
    deadline: str = ""
    option: str = ""  # that the deadline took
    who: tuple[str, ...] = ()  # who may decide as well
    why: str = ""
    text: str = ""  # all of it as a sentence


def is_due(engine: Engine, run: str) -> bool:
    """Whether a deadline or a reminder of this run is."""
    when = next_due(engine.load(run))
    return bool(when) and when <= engine.now()


def lapse(engine: Engine, run: str) -> list[Lapsed]:
    """Submit what is due in this run; nothing where somebody was faster. Its agents are not driven."""
    before = engine.log.head(run)
    engine.submit(run, Lapse(), actor=NOBODY)
    return [one for _, event in engine.log.read(run, before) if (one := _lapsed(run, event)) is not None]


def lapse_all(engine: Engine) -> Iterator[Lapsed]:
    """Whatever is due in the home by now. What cannot be done in one run does not keep the others back."""
    done = set[str]()
    while fresh := [run for _, run in engine.log.due(engine.now(), len(done) + _MOST) if run not in done]:
        for run in fresh:
            done.add(run)
            try:
                if is_due(engine, run):
                    yield from lapse(engine, run)
            except ReconveneError as error:
                yield Lapsed(run, "failed", why=error.message, text=f"nothing was done: {error.message}")


def _lapsed(run: str, event: e.AnyEvent) -> Lapsed | None:
    match event:
        case e.CheckpointReminded():
            text = f"reminded: it is to be decided until {_time(event.deadline)}"
            return Lapsed(run, "reminded", event.checkpoint, event.deadline, text=text)
        case e.CheckpointEscalated():
            text = f"late since {_time(event.deadline)}: {named(event.who)} may decide as well"
            return Lapsed(run, "escalated", event.checkpoint, event.deadline, who=event.who, text=text)
        case e.CheckpointOverdue():
            why = f"; {event.why}" if event.why else ""
            text = f"late since {_time(event.deadline)}, and still waiting{why}"
            return Lapsed(run, "overdue", event.checkpoint, event.deadline, why=event.why, text=text)
        case e.DecisionRecorded(late=True):
            text = f"the deadline took {event.option!r}"
            return Lapsed(run, "decided", event.checkpoint, option=event.option, text=text)
    return None


def _time(at: str) -> str:
    return f"{at[:16].replace('T', ' ')} UTC"
