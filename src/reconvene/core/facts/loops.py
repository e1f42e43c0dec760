"""An attempt's loop over tools, as `evolve` folds it."""

from __future__ import annotations

from collections.abc import Collection

from msgspec.structs import replace

from reconvene.core.facts import events as e
from reconvene.core.facts.round import CallAt, LoopAt


def turned(loop: LoopAt | None, ev: e.ModelTurned) -> LoopAt:
    loop = loop or LoopAt()
    calls = tuple(
        CallAt(
            call.id,
            call.tool,
            call.arguments,
            call.effects,
            "waits" if call.why else "due",
            call.why,
            ruling="refuse" if call.refused else "",
            words=call.refused,
            schema=call.schema,
        )
        for call in ev.calls
    )
    messages = (*loop.messages, ev.messages)
    used = plus(loop.usage, ev.usage)
    at = replace(loop, turn=ev.turn, attempt=ev.attempt, untold=False)
    return replace(at, messages=messages, calls=calls, usage=used, said=ev.said)


def started(loop: LoopAt, ev: e.CallStarted) -> LoopAt:
    return _with(loop, ev.call, state="begun")


def key(call: CallAt | e.CallAsked | e.CallEnded) -> str:
    """What is the same in two calls that do the same."""
    return f"{call.tool} {call.arguments}"


def ended(loop: LoopAt, ev: e.CallEnded) -> LoopAt:
    if ev.doubt or key(ev) in loop.doubted:
        doubted = loop.doubted.set(key(ev), ev.call) if ev.doubt else loop.doubted.delete(key(ev))
        loop = replace(loop, doubted=doubted)
    files = loop.files.update({file.path: file.digest for file in ev.files}) if ev.files else loop.files
    return replace(_with(loop, ev.call, state="over", outcome=ev.outcome, result=ev.result.digest), files=files)


def deferred(loop: LoopAt, ev: e.CallsDeferred) -> LoopAt:
    for call in ev.calls:
        loop = _with(loop, call, state="waits", doubt=ev.doubt or call_of(loop, call).doubt)
    return loop


def ruled(loop: LoopAt, ev: e.CallRuled) -> LoopAt:
    """A permission is for one start: whoever began and did not end is asked about again."""
    call = call_of(loop, ev.call)
    if ev.ruling == "refuse":
        loop = replace(loop, refused=loop.refused.set(key(call), ev.words))
    changed = {"arguments": ev.arguments or call.arguments, "changed": bool(ev.arguments) or call.changed}
    return _with(loop, ev.call, state="due", ruling=ev.ruling, words=ev.words, doubt=False, **changed)


def tried_anew(loop: LoopAt | None, *, untold: bool = False) -> LoopAt | None:
    """Another attempt goes on in the same conversation; what it uses is counted anew. `untold`: a person let it try
    again, and said something."""
    if loop is None:
        return None
    return replace(loop, usage=e.Usage(), before=loop.turn, untold=untold or loop.untold)


def compacted(loop: LoopAt, ev: e.MessagesCompacted) -> LoopAt:
    return replace(loop, messages=(ev.messages,))


def call_of(loop: LoopAt, call: str) -> CallAt:
    return next(one for one in loop.calls if one.id == call)


def waiting(loop: LoopAt) -> list[CallAt]:
    return [call for call in loop.calls if call.state == "waits"]


def in_doubt(loop: LoopAt) -> list[CallAt]:
    """Begun by whoever is gone: they may have happened."""
    return [call for call in loop.calls if call.state == "begun"]


def plus(usage: e.Usage, more: e.Usage) -> e.Usage:
    return _summed(usage, more, 1)


def minus(usage: e.Usage, less: e.Usage) -> e.Usage:
    return _summed(usage, less, -1)


def _summed(usage: e.Usage, other: e.Usage, sign: int) -> e.Usage:
    return replace(
        usage,
        model=usage.model or other.model,
        input_tokens=max(0, usage.input_tokens + sign * other.input_tokens),
        output_tokens=max(0, usage.output_tokens + sign * other.output_tokens),
        requests=max(0, usage.requests + sign * other.requests),
        cost=max(0.0, usage.cost + sign * other.cost),
        seconds=max(0.0, round(usage.seconds + sign * other.seconds, 3)),
    )


def _with(loop: LoopAt, call: str, **changes: object) -> LoopAt:
    return replace(loop, calls=tuple(replace(one, **changes) if one.id == call else one for one in loop.calls))


def ids(calls: Collection[CallAt]) -> tuple[str, ...]:
    return tuple(call.id for call in calls)
