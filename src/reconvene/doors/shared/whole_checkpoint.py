"""A checkpoint told whole, in lines of text: what there is to read, what is asked, what may be decided."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from reconvene.doors.shared.advice import changed_lines
from reconvene.doors.shared.comment_lines import still_open
from reconvene.doors.shared.fields import mark, title_of
from reconvene.doors.shared.glance import text_of, written_lines
from reconvene.doors.shared.harmless import clean, one_line
from reconvene.doors.shared.options import listed, on_offer

if TYPE_CHECKING:
    from reconvene.app.views.read_model import Checkpoint, Field, Option
    from reconvene.core.facts.commands import Answers


def describe(checkpoint: Checkpoint) -> str:
    lines = to_read(checkpoint)
    if checkpoint.feedback:
        lines += ["", clean(checkpoint.feedback).strip()]
    if checkpoint.fields:
        lines += ["", "fields:", *(f"  {line}" for line in field_lines(checkpoint.fields, checkpoint.answers))]
    lines += ["", *(f"  {line}" for option in option_lines(checkpoint.options) for line in option)]
    return "\n".join(lines)


def field_lines(fields: Iterable[Field], answers: Answers | None, lead: str = "") -> Iterator[str]:
    """Each field with its id, its type and its question; below it, what it takes and what was answered so far."""
    for field in fields:
        needed = ", needed" if field.required and field.default is None and field.blank is None else ""
        yield f"{lead}{clean(field.id)} ({field.type}{needed}) {clean(field.prompt)}".rstrip()
        yield from (f"  {line}" for line in _about(field, answers))


def option_lines(options: Iterable[Option]) -> Iterator[list[str]]:
    """Each option that is offered, with its number; below it, what follows from it."""
    shown = on_offer(options)
    for option, line in zip(shown, listed(shown)):
        marks = ["recommended"] * option.recommend + ["with feedback"] * (option.remark == "required")
        first = line + (f"  [{', '.join(marks)}]" if marks else "")
        yield [first, *([f"   {one_line(option.leads)}"] if option.leads and option.available else [])]


def to_read(checkpoint: Checkpoint) -> list[str]:
    """What there is to read before one decides."""
    lines = [clean(checkpoint.question).strip()]
    if text := text_of(checkpoint):
        lines += ["", text]
    if changed := changed_lines(checkpoint):
        lines += ["", *changed]
    if checkpoint.show_files:
        lines += ["", "look at: " + ", ".join(clean(path) for path in checkpoint.show_files)]
    if checkpoint.comments:
        lines += ["", "comments that are still open:"]
        lines += [f"  {line}" for line in still_open(checkpoint.comments, "reconvene comments")]
    if written := written_lines(checkpoint):
        lines += ["", "what the agents wrote:", *(f"  {line}" for line in written)]
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
