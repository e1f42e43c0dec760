"""Who decides a checkpoint, how many must, until when, and what follows when nobody has."""

from __future__ import annotations

from typing import NamedTuple

from reconvene.core.definition.workflow import Continue, End, Field, Late, Option
from reconvene.core.facts.named_people import TEAM, is_name
from reconvene.language.times import LONGEST
from reconvene.wire.problems import shown
from reconvene.wire.reading import Reading
from reconvene.wire.yaml_reader import Mapping


class WhoAndWhen(NamedTuple):
    who: tuple[str, ...]
    within: float
    remind: float
    late: Late | None


def read(reading: Reading, node: Mapping, options: tuple[Option, ...], fields: tuple[Field, ...]) -> WhoAndWhen:
    who = _who(reading, node)
    within, remind = reading.seconds(node, "within", 0.0), reading.seconds(node, "remind", 0.0)
    if node.wrote("remind") and not node.wrote("within"):
        reading.add(node.line_of("remind"), "'remind' needs 'within': before which deadline?", "write within: 2d")
    elif within and remind >= within:
        message = "'remind' is not shorter than 'within': it says how long before the deadline people are reminded"
        reading.add(node.line_of("remind"), message, "such as within: 2d and remind: 8h")
    for name, seconds in (("within", within), ("remind", remind)):
        if seconds > LONGEST:
            reading.add(node.line_of(name), f"'{name}' is longer than ten years", "such as within: 2d")
    _check_enough(reading, who, options)
    return WhoAndWhen(who, within, remind, _late(reading, node, options, fields))


def _who(reading: Reading, node: Mapping) -> tuple[str, ...]:
    found = node.texts("who")
    for one in found:
        if not is_name(one):
            message = f"'who': '{shown(one)}' is neither the name of a person nor a team"
            reading.add(node.line_of("who"), message, f"such as who: [ada, {TEAM}finance]")
    return tuple(dict.fromkeys(found))


def _check_enough(reading: Reading, who: tuple[str, ...], options: tuple[Option, ...]) -> None:
    if not who or any(one.startswith(TEAM) for one in who):
        return
    for option in options:
        if option.needs > len(who):
            message = f"'{shown(option.label)}' needs {option.needs} people, and 'who' names {len(who)}"
            reading.add(option.line, message, "name more people, or a team")


def _late(reading: Reading, node: Mapping, options: tuple[Option, ...], fields: tuple[Field, ...]) -> Late | None:
    if not isinstance(node.get("late"), Mapping):
        return None
    late, line = node.mapping("late"), node.line_of("late")
    if not node.wrote("within"):
        reading.add(line, "'late' needs 'within': later than when?", "write within: 2d")
    who, label = _who(reading, late), " ".join(late.text("option").split())
    if bool(who) == bool(label):
        reading.add(line, "'late' says either 'who' or 'option'", "who decides as well, or what is taken")
    if label:
        _check_option(reading, late, label, options, fields)
    return Late(who, label)


def _check_option(
    reading: Reading, late: Mapping, label: str, options: tuple[Option, ...], fields: tuple[Field, ...]
) -> None:
    """Nobody is there who could say something, answer, or agree."""
    line = late.line_of("option")
    option = next((one for one in options if one.label == label), None)
    if option is None:
        message = f"'late': there is no option '{shown(label)}' here"
        reading.add_unknown(line, message, label, [one.label for one in options])
        return
    leaves = isinstance(option.then, Continue) or (isinstance(option.then, End) and option.then.status != "aborted")
    asked = [one for one in (*option.fields, *(fields if leaves else ())) if one.required and one.blank is None]
    unanswered = [one.id or "each" for one in asked if one.default is None and not one.default_expr]
    why = ""
    if option.remark == "required":
        why = "it needs a person's words"
    elif unanswered:
        why = f"it needs an answer to '{shown(unanswered[0])}'"
    elif option.needs > 1:
        why = f"it needs {option.needs} people"
    elif option.undo:
        why = "it takes a round back, which is for a person to say"
    if why:
        reading.add(line, f"'late': '{shown(label)}' cannot be taken by a deadline: {why}", "name another option")
