"""What was recorded, read back: the option, the answers by their questions, every note, every call by what was decided
of it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from msgspec import Struct

from reconvene.app import queries
from reconvene.app.session import state_after
from reconvene.app.views.projections import remarks as as_shown
from reconvene.core.facts.events import CallRuled, CheckpointOpened, DecisionRecorded
from reconvene.core.facts.state import EMPTY
from reconvene.core.person import rulings
from reconvene.doors.http import acts
from reconvene.doors.shared.harmless import one_line

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reconvene.app.engine import Engine
    from reconvene.app.views.read_model import Approval, Remark, RunInFull
    from reconvene.core.facts.events import ApprovalRecorded, FieldAsked

_MADE = {
    "approve": "is made", "change": "is made as you changed it", "refuse": "is refused", "later": "keeps waiting",
    "answer": "is not made; you answered in its place",
}  # fmt: skip


class Told(Struct, frozen=True):
    """An answer with its question, or what was decided of a call with what the call is."""

    what: str
    answer: str
    words: str = ""


class Receipt(Struct, frozen=True):
    run: RunInFull
    checkpoint: str
    taken: DecisionRecorded | None
    vote: Approval | None  # of this person, where others have to choose, too
    remarks: tuple[Remark, ...] = ()
    answers: tuple[Told, ...] = ()
    calls: tuple[Told, ...] = ()


def receipt(engine: Engine, run: str, checkpoint: str, person: str) -> Receipt:
    shown = queries.show(engine, acts.require_run(engine, run))
    state = engine.load(run)
    point = shown.checkpoint
    own = point.approvals if point and point.id == checkpoint else ()
    vote = next((one for one in own if person in (one.user, one.by)), None)
    number = state.record.decided.get(checkpoint)
    if number is None:
        given = _told(engine, run, checkpoint, vote.option, vote.answers) if vote else ()
        with_it = {id for one in state.world.pending.approvals if vote and one.user == vote.user for id in _ids(one)}
        said = as_shown(state, [one for one in state.record.remarks.values() if one.id in with_it])
        return Receipt(shown, checkpoint, None, vote, said, given)
    taken = state.record.decisions[number]
    said = as_shown(state, [one for one in state.record.remarks.values() if one.id in taken.remarks])
    answers = json.loads(engine.log.artefact(taken.fields)) if taken.fields else {}
    if taken.attention and taken.option in rulings.LABELS:
        return Receipt(shown, checkpoint, taken, None, said, calls=tuple(_calls(engine, run, checkpoint)))
    return Receipt(shown, checkpoint, taken, None, said, _told(engine, run, checkpoint, taken.option, answers))


def _ids(one: ApprovalRecorded) -> tuple[str, ...]:
    """What this person said with their choice, and before it at the same checkpoint."""
    return (*one.remarks, *one.notes)


def _told(engine: Engine, run: str, checkpoint: str, option: str, answers: dict[str, object]) -> tuple[Told, ...]:
    opened = (one for _, one in engine.log.read(run) if isinstance(one, CheckpointOpened) and one.id == checkpoint)
    fields: dict[str, FieldAsked] = {}
    for point in opened:
        fields |= {one.id: one for one in point.fields}
        fields |= {one.id: one for each in point.options if each.label == option for one in each.fields}
    return tuple(_answers(fields, answers))


def _answers(fields: dict[str, FieldAsked], answers: dict[str, object]) -> Iterator[Told]:
    for name, value in answers.items():
        field = fields.get(name)
        text = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
        if isinstance(value, bool):
            text = "Yes" if value else "No"
        elif field is not None and text in field.options and field.titles:
            text = field.titles[field.options.index(text)]
        yield Told(one_line(field.prompt if field is not None and field.prompt else name, 200), text)


def _calls(engine: Engine, run: str, checkpoint: str) -> Iterator[Told]:
    """Those that waited there, each with what is on record of it."""
    state, waited = EMPTY, list[rulings.Waiting]()
    for seq, event in engine.log.read(run):
        if isinstance(event, DecisionRecorded) and event.checkpoint == checkpoint:
            waited = rulings.waiting(state)
            break
        state = state_after(run, state, seq, event)
    after = [event for _, event in engine.log.read(run, state.seq)]
    made_at = after[0].at if after else ""
    ruled = {(one.task, one.call): one for one in after if isinstance(one, CallRuled) and one.at == made_at}
    for one in waited:
        found = ruled.get((one.task, one.call.id))
        words = engine.log.artefact(found.words).decode() if found is not None and found.words else ""
        yield Told(f"{one.agent} wants {one.call.tool}", _MADE[found.ruling if found is not None else "later"], words)
