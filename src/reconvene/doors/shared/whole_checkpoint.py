"""A checkpoint told whole, in lines of text: what there is to read, what is asked, what may be decided."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from reconvene.doors.shared import passages
from reconvene.doors.shared.advice import changed_lines
from reconvene.doors.shared.asked_of import asked_of
from reconvene.doors.shared.comment_lines import still_open
from reconvene.doors.shared.fields import mark, title_of
from reconvene.doors.shared.glance import takes_parts, written_lines
from reconvene.doors.shared.harmless import clean, one_line
from reconvene.doors.shared.options import listed, on_offer

if TYPE_CHECKING:
    from reconvene.app.views.read_model import Checkpoint, Field, Option
    from reconvene.core.facts.commands import Answers


class Hand(NamedTuple):
    """How a door puts down its own words, and those that may be of agents."""

    ours: Callable[[str], str] = str
    theirs: Callable[[str], str] = passages.barred


PLAIN = Hand()


def put_down(found: Iterable[passages.Passage], hand: Hand = PLAIN) -> str:
    return "\n\n".join(hand.theirs(one.text) if one.theirs else hand.ours(one.text) for one in found)


def describe(checkpoint: Checkpoint, hand: Hand = PLAIN) -> str:
    lines = to_read(checkpoint, hand)
    if checkpoint.feedback:
        lines += ["", put_down(passages.wanted(checkpoint), hand)]
    if checkpoint.fields:
        lines += ["", "fields:", *(f"  {line}" for line in field_lines(checkpoint.fields, checkpoint.answers))]
    lines += ["", *(f"  {line}" for option in option_lines(checkpoint.options) for line in option)]
    return "\n".join(lines)


def field_lines(fields: Iterable[Field], answers: Answers | None, lead: str = "") -> Iterator[str]:
    """Each field with its id, its type and its question; below it, what it takes and what was answered so far."""
    for field in fields:
        needed = ", needed" if field.required and field.default is None and field.blank is None else ""
        first, *more = clean(field.prompt).strip().split("\n")
        yield f"{lead}{one_line(field.id)} ({field.type}{needed}) {first}".rstrip()
        yield from (f"  {line}" for line in passages.barred("\n".join(more)).split("\n") if more)
        yield from (f"  {line}" for line in _about(field, answers))


def option_lines(options: Iterable[Option]) -> Iterator[list[str]]:
    """Each option that is offered, with its number; below it, what follows from it."""
    shown = on_offer(options)
    for option, line in zip(shown, listed(shown)):
        marks = ["recommended"] * option.recommend + ["with feedback"] * (option.remark == "required")
        marks += [f"needs {option.needs} people"] * (option.needs > 1)
        first = line + (f"  [{', '.join(marks)}]" if marks else "")
        yield [first, *(f"   {below}" for below in (_below(option) if option.available else ()))]


def _below(option: Option) -> Iterator[str]:
    if option.leads:
        yield one_line(option.leads)
    if option.takes is not None:
        stop = f"; stops {one_line(option.takes.stop)}" if option.takes.stop else ""
        yield f"{', '.join(takes_parts(option.takes))}{stop}"
    if option.because:
        yield f"for it: {one_line(option.because, 160)}"
    if option.against:
        words = f": “{one_line(option.against_words, 120)}”" if option.against_words else ""
        yield f"against it: {one_line(option.against, 160)}{words}"
    if option.final:
        yield f"cannot be taken back: {one_line(option.final, 160)}"


def to_read(checkpoint: Checkpoint, hand: Hand = PLAIN) -> list[str]:
    """What there is to read before one decides."""
    lines = [passages.question_line(checkpoint), *asked_of(checkpoint)]
    if found := passages.to_read(checkpoint):
        lines += ["", put_down(found, hand)]
    if changed := changed_lines(checkpoint):
        lines += ["", *changed]
    if checkpoint.show_files:
        lines += ["", "look at: " + ", ".join(one_line(path) for path in checkpoint.show_files)]
    if checkpoint.comments:
        lines += ["", "comments that are still open:"]
        lines += [f"  {line}" for line in still_open(checkpoint.comments, "reconvene comments")]
    if written := written_lines(checkpoint):
        lines += ["", "what the agents wrote:", *(f"  {hand.ours(line)}" for line in written)]
    return lines


def _about(field: Field, answers: Answers | None) -> Iterator[str]:
    """What can be answered, what was, and what became of an earlier answer."""
    if field.type in ("choice", "agents") and field.options:
        how = "some" if field.type == "agents" else "one"
        yield f"{how} of: " + ", ".join(title_of(field, option) for option in field.options)
    if answers is not None:
        yield mark(field, answers)
    if field.note:
        yield one_line(field.note)
