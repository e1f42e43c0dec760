"""What a listener is told of the record, once it is there: what became of answers, and what was not taken."""

from __future__ import annotations

from reconvene.app.session import Session
from reconvene.core.facts.events import AttemptEnded, GapFound, LateOutputArchived
from reconvene.core.facts.ids import parse_task
from reconvene.ports import Listener, Progress

NAMED = 5  # files that were not taken
_BECAME = {"accepted": "done", "rejected": "sent back"}


def silent(progress: Progress) -> None:
    """Tells nobody."""


def tell_passed(session: Session, listener: Listener) -> None:
    """Of each checkpoint that was not asked because its condition failed, once, however the run came past it."""
    for text in session.not_told():
        listener(Progress(session.run, "", "", "warning", text))


def tell_recorded(session: Session, listener: Listener) -> None:
    """What became of answers: an answer counts when it is on record, and not when it came."""
    for event in session.recorded:
        if isinstance(event, AttemptEnded) and event.verdict in _BECAME:
            tokens = event.usage.input_tokens + event.usage.output_tokens
            what = _BECAME[event.verdict]
            listener(Progress(session.run, event.task, parse_task(event.task)[2], what, event.why, tokens))
            tell_not_taken(event, session.run, listener)
        elif isinstance(event, GapFound) and event.say:
            listener(Progress(session.run, "", "", "note", event.say))
        elif isinstance(event, LateOutputArchived) and event.output is not None:
            listener(Progress(session.run, event.task, parse_task(event.task)[2], "late"))


def tell_not_taken(event: AttemptEnded, run: str, listener: Listener) -> None:
    """Files that an agent wrote and nobody gets: named when it happens."""
    agent, more = parse_task(event.task)[2], len(event.ignored) - NAMED
    named = [*event.ignored[:NAMED], *([f"and {more} more: reconvene output {run} {agent}"] if more > 0 else [])]
    for why in named:
        listener(Progress(run, event.task, agent, "warning", f"not taken of {agent}: {why}"))
