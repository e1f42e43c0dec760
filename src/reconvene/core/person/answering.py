"""A person's answers to the fields of a checkpoint: checked, completed, and turned into values."""

from __future__ import annotations

from collections.abc import Mapping

from reconvene.core.definition.field_types import fits, typed
from reconvene.core.facts import events as e
from reconvene.core.facts.commands import Answers
from reconvene.core.shown import drafts, scope
from reconvene.core.working import tracking
from reconvene.core.working.turn import Turn
from reconvene.errors import Refused
from reconvene.language.closest import closest


def merge(turn: Turn, option: e.OptionOffered, given: Answers, *, leaving: bool) -> Answers:
    """Defaults, then drafts, then what was given; `blank` and `required` count only when the checkpoint is left."""
    point = turn.state.world.open
    assert point is not None
    asked = {field.id: field for field in (*point.fields, *option.fields)}
    unknown = [name for name in given if name not in asked]
    if unknown:
        near = closest(unknown[0], asked)
        known = ", ".join(asked) or "none"
        raise Refused(
            f"There is no field {unknown[0]!r} here (fields: {known}).",
            hint=f"Did you mean {near[0]!r}?" if near else "",
        )
    before = drafts.here(turn.state, turn.book)
    answers: Answers = {}
    for name, field in asked.items():
        draft = before.get(name)
        answer = given.get(name, draft if draft is not None and fits(field, draft) else field.default)
        if answer is not None:
            answers[name] = typed(field, answer)
    _complete(answers, option.fields)
    if leaving:
        _complete(answers, point.fields)
    return answers


def _complete(answers: Answers, fields: tuple[e.FieldAsked, ...]) -> None:
    for field in fields:
        empty = answers.get(field.id) in (None, "")
        if empty and field.blank is not None:
            answers[field.id] = field.blank
        elif field.required and field.type == "confirm" and answers.get(field.id) is not True:
            raise Refused(
                f"{field.prompt or field.id} needs an answer of yes first.",
                hint=f"Add --field {field.id}=yes, or choose another option.",
            )
        elif field.required and empty:
            raise Refused(f"{field.prompt or field.id} needs an answer first.", hint=f"Add --field {field.id}=…")


def chosen_agents(option: e.OptionOffered, answers: Answers) -> tuple[str, ...]:
    for field in option.fields:
        names = answers.get(field.id)
        if field.type == "agents" and isinstance(names, list):
            return tuple(str(name) for name in names)
    return ()


def writes(
    turn: Turn, fields: tuple[e.FieldAsked, ...], answers: Answers, constants: Mapping[str, object], by: str
) -> tuple[e.ValueWrite, ...]:
    """The values that these answers and `set` constants make, one write per name, unchanged ones left out."""
    paths = [(field.into, answers[field.id]) for field in fields if field.into and field.id in answers]
    fresh: dict[str, object] = {}
    for path, value in (*paths, *constants.items()):
        name, *rest = path.split(".")
        if name not in fresh:
            fresh[name] = scope.load_value(turn.book, scope.value_at(turn.state, turn.book, name))
        fresh[name] = _put(fresh[name], rest, value)
    for path in _replaced(fields):
        name, *rest = path.split(".")
        if name in fresh and rest:
            fresh[name] = _without(fresh[name], rest)
    found: list[e.ValueWrite] = []
    for name, value in fresh.items():
        owner = turn.book.workflow.names.get(name, "")
        key = scope.value_key(turn.state.world.cursor, owner, name)
        ref = turn.keep(tracking.settled(turn, name, value, by))
        old = turn.state.world.values.get(key)
        if old is None or old.ref is None or old.ref.digest != ref.digest:
            found.append(e.ValueWrite(key, ref, by))
    return tuple(found)


def _replaced(fields: tuple[e.FieldAsked, ...]) -> list[str]:
    """Where the answers to fields stand whose place another has taken."""
    asked = {field.id for field in fields}
    return [
        f"{field.into.rpartition('.')[0]}.{name}"
        for field in fields
        for name in field.replaces
        if name not in asked and "." in field.into
    ]


def _without(whole: object, path: list[str]) -> object:
    if not isinstance(whole, dict) or path[0] not in whole:
        return whole
    rest = {key: value for key, value in whole.items() if key != path[0]}
    return rest if len(path) == 1 else {**rest, path[0]: _without(whole[path[0]], path[1:])}


def _put(whole: object, path: list[str], value: object) -> object:
    if not path:
        return value
    base: dict[str, object] = dict(whole) if isinstance(whole, dict) else {}
    base[path[0]] = _put(base.get(path[0]), path[1:], value)
    return base
