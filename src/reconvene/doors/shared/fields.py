"""The fields of a checkpoint: which are open, what an answer must be, and how question and answer read."""

from __future__ import annotations

import json
import math
from contextlib import suppress

from reconvene.app.views.read_model import Checkpoint, Field
from reconvene.core.facts.commands import Answers
from reconvene.doors.shared.harmless import one_line
from reconvene.errors import Refused, UserError

_LONGEST_ANSWER = 40
_WORDS = {
    **dict.fromkeys(("true", "yes", "y", "on", "1"), True),
    **dict.fromkeys(("false", "no", "n", "off", "0"), False),
}


def unanswered(checkpoint: Checkpoint) -> list[Field]:
    answers = checkpoint.answers or {}
    return [field for field in checkpoint.fields if answers.get(field.id) is None]


def needed(checkpoint: Checkpoint) -> list[Field]:
    """What must be answered before the checkpoint can be left."""
    return [field for field in unanswered(checkpoint) if field.required]


# --- what an answer must be ---


def wrong(field: Field, answer: object) -> str:
    """Why it is no answer to the field, before it is given; "" where it is one. The engine checks by the same rules."""
    from reconvene.core.definition import field_types

    if field.required and answer in (None, "", []):
        return "choose at least one" if field.type == "agents" else f"{field.prompt} needs an answer"
    if answer is None:
        return ""
    try:
        field_types.typed(field, answer)
    except Refused as error:
        return error.message
    return ""


def answer_in(field: Field, text: str, what: str = "") -> object:
    """What was typed, in the field's own type. `what` names it in the error."""
    if field.type == "agents":
        return [part.strip() for part in text.split(",") if part.strip()]
    return typed(what or f"field {field.id!r}", {"confirm": "bool", "choice": "text"}.get(field.type, field.type), text)


def typed(what: str, kind: str, text: str) -> object:
    """Text as a number, a truth or JSON; `what` names it in the error."""
    word = text.strip().casefold()
    match kind:
        case "number":
            return _number(what, text)
        case "bool" | "boolean" if word in _WORDS:
            return _WORDS[word]
        case "bool" | "boolean":
            raise UserError(f"{what} must be true or false, not {text!r}")
        case "json" | "list" | "object":
            try:
                return json.loads(text)
            except (ValueError, RecursionError) as error:
                raise UserError(f"{what} is not valid JSON: {error}") from None
        case _:
            return text


def _number(what: str, text: str) -> int | float:
    with suppress(ValueError):
        return int(text)
    try:
        value = float(text)
    except ValueError:
        raise UserError(f"{what} must be a number, not {text!r}") from None
    if not math.isfinite(value):
        raise UserError(f"{what} must be a finite number, not {text!r}")
    return value


# --- how it reads ---


def mark(field: Field, answers: Answers) -> str:
    """[unanswered], or [answered: PostgreSQL]"""
    answer = answers.get(field.id)
    return "[unanswered]" if answer is None else f"[answered: {one_line(worded(field, answer), _LONGEST_ANSWER)}]"


def worded(field: Field, answer: object) -> str:
    """An answer as people read it."""
    if isinstance(answer, bool):
        return "yes" if answer else "no"
    if isinstance(answer, list):
        return ", ".join(str(part) for part in answer) or "nobody"
    text = str(answer)
    return title_of(field, text) if text in field.options else text


def title_of(field: Field, option: str) -> str:
    """What people read instead of an option."""
    options, titles = field.options, field.titles
    found = titles[options.index(option)] if option in options and len(titles) == len(options) else option
    return one_line(found) if found == option else f"{one_line(option)}: {one_line(found)}"


def asked(field: Field) -> str:
    """A question in a line, marked where it needs an answer."""
    return one_line(field.prompt or field.id) + (" (needed)" if field.required else "")
