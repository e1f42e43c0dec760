"""A checkpoint as a question that a client puts to its person: what is shown, and a form of plain values.

The form is made for one version of one checkpoint, and remembers which: whoever answers it decides on that.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Literal

from msgspec import Struct
from pydantic import BaseModel, Field, create_model

from reconvene.app import queries
from reconvene.app.views.read_model import Checkpoint
from reconvene.app.views.read_model import Field as Asked
from reconvene.core.facts.commands import AnswerCheckpoint, Answers
from reconvene.core.kit_finder import reader
from reconvene.doors.mcp.served import Served, show_checkpoint
from reconvene.doors.shared.fields import answer_in
from reconvene.doors.shared.harmless import clean, one_line
from reconvene.doors.shared.options import match_option
from reconvene.errors import Refused

_FIELD = "field_"


class Shown(Struct, frozen=True):
    """What was put to the person."""

    run: str
    point: Checkpoint
    fields: tuple[Asked, ...] = ()

    @property
    def version(self) -> str:
        return self.point.digest


class Form(BaseModel):
    """What a person answers: `option`, `feedback`, and field_1 …"""

    shown: ClassVar[Shown]


class Question(Struct, frozen=True):
    text: str
    form: type[Form]


def question(served: Served, run: str) -> Question:
    """UserError where nothing waits for a decision."""
    text = show_checkpoint(served, run).text
    point = queries.standing(served.engine, run).checkpoint
    assert point is not None
    return Question(f"Decide: {clean(text)}", _form(run, point))


def _form(run: str, point: Checkpoint) -> type[Form]:
    labels = tuple(option.label for option in point.options if option.available and option.offered)
    if not labels:
        raise Refused(f"{run} offers no option that can be chosen now.", hint=f"reconvene show {run}")
    fields = (*point.fields, *(field for option in point.options if option.available for field in option.fields))
    fields = tuple({field.id: field for field in fields}.values())
    asked: dict[str, Any] = {
        "option": (
            Literal[labels],
            Field(title="Decision", description="What you decide", json_schema_extra=_as_choice(labels)),
        ),
        "feedback": (
            str,
            Field("", title="Feedback", description=one_line(point.feedback, 200) or "What you say to the agents"),
        ),
    }
    for at, field in enumerate(fields, 1):
        asked[f"{_FIELD}{at}"] = _property(field)
    form = create_model("Decision", __base__=Form, **asked)
    form.shown = Shown(run, point, fields)
    return form


def _as_choice(labels: tuple[str, ...]) -> Callable[[dict[str, Any]], None]:
    """Also where there is one: clients know `enum`, and not `const`."""

    def change(schema: dict[str, Any]) -> None:
        schema.pop("const", None)
        schema["enum"] = list(labels)

    return change


def _property(field: Asked) -> tuple[object, object]:
    """Every value may be left out: whether one is needed depends on the option, and the engine says so."""
    kinds: dict[str, object] = {"number": float | None, "confirm": bool | None, "bool": bool | None}
    choices = tuple(field.options) if field.type == "choice" and field.options and not field.other else ()
    kind = (Literal[choices] | None) if choices else kinds.get(field.type, str | None)
    needed = " (needed)" if field.required else ""
    described = f"{one_line(field.prompt, 300)}{needed}" + (
        f"; one of: {', '.join(field.options)}" if field.options else ""
    )
    extra = _as_choice(choices) if choices else None
    return kind, Field(None, title=one_line(field.id, 80), description=described, json_schema_extra=extra)


def decision(served: Served, answered: Form, by: str, door: str) -> AnswerCheckpoint:
    """On the version that the form showed."""
    shown, given = type(answered).shown, answered.model_dump()
    answers: Answers = {}
    for at, field in enumerate(shown.fields, 1):
        value = given.get(f"{_FIELD}{at}")
        if value not in (None, ""):
            answers[field.id] = answer_in(field, value) if isinstance(value, str) else value
    option, said = match_option(shown.point, str(given["option"])), str(given["feedback"])
    typed = reader(served.engine.session(shown.run).book.workflow.kits).typed
    remarks = (typed(said),) if said.strip() else ()
    return AnswerCheckpoint(shown.point.id, option.label, answers, remarks, shown.version, by, door)
