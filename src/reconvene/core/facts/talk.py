"""The talk as the log tells it: what agents presented and people said, answered and decided, noted spot by spot.

Used by `evolve` only: it evaluates nothing, and one more entry costs the same however long the run. Contents stay where
they are (outputs, remarks, drafts); an entry names them. What of it an agent is shown is `conversation`'s business.
"""

from __future__ import annotations

from immutables import Map
from msgspec.structs import replace

from reconvene.core.definition.workflow import Continue, End
from reconvene.core.facts import events as e
from reconvene.core.facts.round import OutputAt
from reconvene.core.facts.state import Asked, RunState, TalkEntry, TalkKind, Thread, spot


def output(state: RunState, made: OutputAt, at: str) -> RunState:
    return _said(state, "output", made.agent, at, ref=made.value or made.output)


def remark(state: RunState, ev: e.RemarkAdded) -> RunState:
    return _said(state, "remark", ev.by, ev.at, number=ev.number)


def answers(state: RunState, ev: e.DraftSaved) -> RunState:
    here = state.world.spot
    old = state.record.drafts.get(here, "")
    state = replace(state, record=replace(state.record, drafts=state.record.drafts.set(here, ev.fields)))
    return _said(state, "answer", ev.by, ev.at, ref=e.Ref(ev.fields, "json"), old=old)


def decision(state: RunState, ev: e.DecisionRecorded) -> RunState:
    state = _said(state, "decision", ev.by, ev.at, text=ev.option)
    here, record = state.world.spot, state.record
    settled = isinstance(ev.move, Continue | End)
    thread = replace(record.threads[here], chosen=ev.option if settled else record.threads[here].chosen)
    record = replace(record, threads=record.threads.set(here, thread))
    if here in record.asked:
        record = replace(record, asked=record.asked.set(here, replace(record.asked[here], settled=settled)))
    return replace(state, record=record)


def asked(state: RunState, ev: e.CheckpointOpened) -> RunState:
    if not ev.fields:
        return state
    record = state.record
    before = record.asked.get(state.world.spot)
    questions = before.questions if before else Map()
    for field in ev.fields:
        questions = questions.set(field.id, field.prompt or field.id)
    found = Asked(ev.scope, ev.fields, _around(state), questions)
    return replace(state, record=replace(record, asked=record.asked.set(state.world.spot, found)))


def left(state: RunState) -> RunState:
    """The person goes back from here: what was said here is shown to whoever works there."""
    here, record = state.world.spot, state.record
    thread = replace(record.threads.get(here, Thread(0, _around(state))), left=True)
    return replace(state, record=replace(record, threads=record.threads.set(here, thread)))


def came_back(state: RunState, origin: str, at: str) -> RunState:
    last = state.record.decisions.get(len(state.record.decisions))
    return _said(state, "back", last.by if last else "", at, text=origin)


def reopened(state: RunState, ev: e.RunReopened) -> RunState:
    return _said(state, "back", ev.by, ev.at, text="the end")


def undone(state: RunState, ev: e.RoundUndone) -> RunState:
    return _said(state, "undone", ev.by, ev.at)


def _around(state: RunState) -> str:
    return spot(state.world.cursor[:-1])


def _said(
    state: RunState,
    kind: TalkKind,
    role: str,
    at: str,
    *,
    ref: e.Ref | None = None,
    old: str = "",
    number: int = 0,
    text: str = "",
) -> RunState:
    record, frame, here = state.record, state.world.top, state.world.spot
    thread = record.threads.get(here, Thread(0, _around(state)))
    n = frame.round.n if frame.round else frame.n
    entry = TalkEntry(kind, role, here, frame.phase, n, at, thread.last, ref, old, number, text)
    count = len(record.talk) + 1
    record = replace(
        record,
        talk=record.talk.set(count, entry),
        threads=record.threads.set(here, replace(thread, last=count)),
    )
    return replace(state, record=record)
