"""The types that a field may have. One table: the grammar, the check of names, the engine and the doors all read it.

A new type is one more row here, and a line in docs/language.md. A terminal asks for it as for a text, and says what is
wrong with an answer; a type that is asked for in another way has an arm of its own in `doors/cli/ask.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Literal, Protocol

from msgspec import Struct

from reconvene.errors import Refused


class Asked(Protocol):
    """What a rule may know of the field that is answered."""

    @property
    def id(self) -> str: ...
    @property
    def type(self) -> str: ...
    @property
    def options(self) -> tuple[str, ...]: ...
    @property
    def blank(self) -> object: ...
    @property
    def other(self) -> bool: ...


class FieldType(Struct, frozen=True):
    typed: Callable[[Asked, object], object]  # what was given, as an answer of the type; refuses what is none
    fits: Callable[[Asked, object], bool]  # whether an answer given to an earlier form of the field is one to this
    gives: Literal["text", "number", "flag", "texts"]  # what expressions and templates see
    of_items: bool = True  # an item of `each` may ask for it
    literal: bool = False  # a default that is a string is the answer itself, not an expression


def typed(field: Asked, answer: object) -> object:
    """The answer in the field's own type. Refused, with the reason, where it is none."""
    try:
        return _type_of(field).typed(field, answer)
    except Refused as error:
        raise Refused(error.message, hint=error.hint, field=field.id) from None


def fits(field: Asked, answer: object) -> bool:
    """Whether an answer given to an earlier form of this field is one to this."""
    return answer == field.blank or _type_of(field).fits(field, answer)


def _type_of(field: Asked) -> FieldType:
    return TYPES.get(field.type, TYPES["text"])


# --- what an answer must be ---


def _yes_or_no(field: Asked, answer: object) -> bool:
    if isinstance(answer, bool):
        return answer
    word = str(answer).strip().lower()
    if word in ("yes", "y", "true", "1"):
        return True
    if word in ("no", "n", "false", "0"):
        return False
    raise Refused(f"{field.id}: answer yes or no, not {answer!r}.")


def _number(field: Asked, answer: object) -> int | float:
    try:
        return answer if isinstance(answer, int | float) else float(str(answer))
    except ValueError:
        raise Refused(f"{field.id}: {answer!r} is not a number.") from None


def _agents(field: Asked, answer: object) -> list[object]:
    names = answer if isinstance(answer, list) else [part.strip() for part in str(answer).split(",") if part.strip()]
    wrong = [str(name) for name in names if name not in field.options]
    if wrong:
        raise Refused(f"{field.id}: unknown agents {', '.join(wrong)} (known: {', '.join(field.options)}).")
    return names


def _chosen(field: Asked, answer: object) -> object:
    """One of the options, by its own words or by a beginning that only one of them has ("C" for "C: a setting")."""
    if _is_choice(field, answer) or answer == field.blank:
        return answer
    word = str(answer).strip().casefold()
    begun = [option for option in field.options if word and option.casefold().startswith(word)]
    if len(begun) != 1:
        raise Refused(f"{field.id}: {answer!r} is not one of {', '.join(field.options)}.")
    return begun[0]


def _is_choice(field: Asked, answer: object) -> bool:
    return not field.options or field.other or str(answer) in field.options


def _are_agents(field: Asked, answer: object) -> bool:
    return isinstance(answer, list) and all(name in field.options for name in answer)


def _is_number(_: Asked, answer: object) -> bool:
    return isinstance(answer, int | float) and not isinstance(answer, bool)


TYPES: Mapping[str, FieldType] = {
    "text": FieldType(lambda _, answer: answer, lambda *_: True, "text", literal=True),
    "number": FieldType(_number, _is_number, "number"),
    "choice": FieldType(_chosen, _is_choice, "text"),
    "confirm": FieldType(_yes_or_no, lambda _, answer: isinstance(answer, bool), "flag"),
    "agents": FieldType(_agents, _are_agents, "texts", of_items=False),
}
