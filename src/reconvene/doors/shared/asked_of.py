"""Whom a checkpoint waits for, who has chosen what, until when, and what follows then: in lines of text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from reconvene.core.facts.named_people import named
from reconvene.doors.shared.harmless import one_line

if TYPE_CHECKING:
    from reconvene.app.views.read_model import Approval, Checkpoint


def asked_of(point: Checkpoint) -> list[str]:
    """Nothing where anybody may decide alone, and at any time."""
    return [one_line(line, 300) for line in (*_who(point), *_chosen(point), *_time(point))]


def _who(point: Checkpoint) -> Iterator[str]:
    if point.who:
        handed = " (handed over)" if point.assigned else ""
        yield f"waits for {named(point.who)}{handed}"


def _chosen(point: Checkpoint) -> Iterator[str]:
    """`1 of 2: bob chose Approve`"""
    counted = [one for one in point.approvals if one.counts]
    for option in point.options:
        if option.needs < 2:
            continue
        alike: dict[str, list[str]] = {}  # only the same answers add up
        for one in counted:
            if one.option == option.label:
                alike.setdefault(one.choice, []).append(f"{one.user}{answered(one)}")
        for chose in alike.values():
            yield f"{len(chose)} of {option.needs}: {named(chose, 'and')} chose {option.label}"
        if not alike:
            yield f"“{option.label}” needs {option.needs} people"
    if differ(point):
        yield f"they chose differently{differing(counted)}: nothing is decided before enough people choose the same"
    for one in point.approvals:
        if one.barred:
            yield f"{one.user} chose {one.option}, and may not decide any more: it does not count"
        elif not one.counts:
            yield f"{one.user} chose {one.option}, before something was changed here: it does not count any more"


def differ(point: Checkpoint) -> bool:
    """Whether people who must choose the same have not."""
    return len({(one.option, one.choice) for one in point.approvals if one.counts}) > 1


def answered(one: Approval) -> str:
    """` (amount: 5)`"""
    told = ", ".join(f"{name}: {one_line(str(value), 80)}" for name, value in one.answers.items())
    return f" ({told})" if told else ""


def differing(chosen: Iterable[Approval]) -> str:
    """` (amount: 5 by ada, 7 by bob)`: of those who chose the same option with other answers."""
    told: list[str] = []
    by_option: dict[str, list[Approval]] = {}
    for one in chosen:
        by_option.setdefault(one.option, []).append(one)
    for same in by_option.values():
        for name in dict.fromkeys(name for one in same for name in one.answers):
            values = [one_line(str(one.answers.get(name, "nothing")), 40) for one in same]
            if len(set(values)) > 1:
                told.append(f"{name}: {', '.join(f'{value} by {one.user}' for value, one in zip(values, same))}")
    return f" ({'; '.join(told)})" if told else ""


def _time(point: Checkpoint) -> Iterator[str]:
    if not point.deadline:
        return
    when = f"{point.deadline[:16].replace('T', ' ')} UTC"
    if point.late:
        yield f"late since {when}" + (f": {named(point.late_who)} may decide as well" if point.late_who else "")
    elif point.late_option:
        yield f"to be decided until {when}; then “{point.late_option}” is taken"
    elif point.late_who:
        yield f"to be decided until {when}; then {named(point.late_who)} may decide as well"
    else:
        yield f"to be decided until {when}"
