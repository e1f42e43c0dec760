"""What counts as trouble in a run, event by event: the one list that the audit trail and the companion share. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from reconvene.core.facts import events as e
from reconvene.core.facts.ids import parse_task


def is_trouble(event: e.AnyEvent) -> bool:
    return any(True for _ in told(event, lambda _: b""))


def told(event: e.AnyEvent, read: Callable[[str], bytes]) -> Iterator[tuple[str, str]]:
    """What is wrong with what an event tells, and whose it is; nothing where nothing is."""
    match event:
        case e.AttemptEnded(verdict="rejected"):
            yield f"an output was sent back: {event.why}", parse_task(event.task)[2]
        case e.AttemptEnded(verdict="failed" | "cancelled" | "doubt"):
            told = {"failed": "failed", "cancelled": "was cancelled", "doubt": "is in doubt"}[event.verdict]
            yield f"an attempt {told}: {event.why}", parse_task(event.task)[2]
        case e.CallEnded(outcome="failed" | "refused"):
            by = "failed" if event.outcome == "failed" else "was refused by a person"
            result = read(event.result.digest).decode("utf-8", "replace")
            yield f"the call of {event.tool} {by}: {result}", parse_task(event.task)[2]
        case e.CallsDeferred(doubt=True):
            yield (
                f"calls may have been made already, and a person is asked: {', '.join(event.calls)}",
                parse_task(event.task)[2],
            )
        case e.ProviderFailed():
            yield f"{event.model} failed: {event.why}", parse_task(event.task)[2]
        case e.TroubleMet() if event.trouble.kind != "calls":  # a call that waits for a person is none
            yield event.trouble.message, ", ".join(event.trouble.agents)
        case e.ExpressionFailed():
            yield f"{event.where}: {event.message}", ""
        case e.RenderFailed():
            yield f"{event.path} could not be written: {event.message}", ""
        case e.GapFound():
            yield f"a check found a gap in {event.phase}: {event.say}", ""
        case e.RoundUndone():
            yield f"round {event.n} of {event.phase} was taken back: {event.why}", event.by
        case e.RunEnded(status="failed" | "aborted"):
            yield f"the run {event.status}" + (f": {event.why}" if event.why else ""), event.by
