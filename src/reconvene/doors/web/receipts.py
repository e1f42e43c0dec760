"""What was recorded, read back: the option, the answers by their questions, every note, every call by what was decided
of it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from msgspec import Struct

from reconvene.app import queries
from reconvene.app.views.projections import remarks as as_shown
from reconvene.core.facts.events import CheckpointOpened, DecisionRecorded
from reconvene.core.person.rulings import EACH
from reconvene.doors.http import acts
from reconvene.doors.shared.harmless import one_line

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reconvene.app.engine import Engine
    from reconvene.app.views.read_model import Approval, Remark, RunInFull
    from reconvene.core.facts.events import FieldAsked

_MADE = {
    "approve": "is made", "change": "is made as you changed it", "refuse": "is refused", "later": "keeps waiting",
    "answer": "is not made; you answered in its place", "always": "is made, and never asked about again",
    "always like": "is made, and calls like it are never asked about again",
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
        return Receipt(shown, checkpoint, None, vote, answers=given)
    taken = state.record.decisions[number]
    said = as_shown(state, [one for one in state.record.remarks.values() if one.id in taken.remarks])
    answers = json.loads(engine.log.artefact(taken.fields)) if taken.fields else {}
    every = _told(engine, run, checkpoint, taken.option, answers)
    if taken.option == EACH:
        return Receipt(shown, checkpoint, taken, None, said, calls=every)
    return Receipt(shown, checkpoint, taken, None, said, every)


def _told(engine: Engine, run: str, checkpoint: str, option: str, answers: dict[str, object]) -> tuple[Told, ...]:
    opened = (one for _, one in engine.log.read(run) if isinstance(one, CheckpointOpened) and one.id == checkpoint)
    fields: dict[str, FieldAsked] = {}
    for point in opened:
        fields |= {one.id: one for one in point.fields}
        fields |= {one.id: one for each in point.options if each.label == option for one in each.fields}
    return tuple(_calls(fields, answers) if option == EACH else _answers(fields, answers))


def _answers(fields: dict[str, FieldAsked], answers: dict[str, object]) -> Iterator[Told]:
    for name, value in answers.items():
        field = fields.get(name)
        text = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
        if isinstance(value, bool):
            text = "Yes" if value else "No"
        elif field is not None and text in field.options and field.titles:
            text = field.titles[field.options.index(text)]
        yield Told(one_line(field.prompt if field is not None and field.prompt else name, 200), text)


def _calls(fields: dict[str, FieldAsked], answers: dict[str, object]) -> Iterator[Told]:
    for name, field in fields.items():
        if field.type != "choice":
            continue
        what = one_line(field.prompt.split("\n")[0].partition(": ")[2] or name, 200)
        ruling = str(answers.get(name) or "later")
        yield Told(what, _MADE.get(ruling, ruling), str(answers.get(f"{name}_words") or ""))
