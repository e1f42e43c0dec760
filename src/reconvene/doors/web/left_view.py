"""What a person typed for a run and did not send, as pages show it: for an earlier checkpoint, or in another tab."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from reconvene.core.facts.events import CheckpointOpened
from reconvene.doors.shared.harmless import one_line
from reconvene.doors.web.drafted_decisions import Field, Left, Note, lefts

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from reconvene.app.engine import Engine
    from reconvene.desk_ports import Desk


class LeftItem(Struct, frozen=True):
    """`id`: "words", the id of a note, or a field, whose question is `what`."""

    id: str
    text: str
    what: str = ""
    note: Note | None = None

    @property
    def as_note(self) -> Note:
        """As something that can be said; an answer together with its question."""
        return self.note or Note("", f"{self.what}: {self.text}" if self.what else self.text.strip())


class LeftView(Struct, frozen=True):
    key: str
    of_other_tab: bool  # and for what is open now
    question: str
    option: str
    items: list[LeftItem]


def left_views(engine: Engine, desk: Desk, person: str, run: str, open_now: str) -> list[LeftView]:
    found = lefts(desk, person, run, open_now)
    if not found:
        return []
    asked = {
        event.id: event
        for _, event in engine.log.read(run)
        if isinstance(event, CheckpointOpened) and any(event.id == one.checkpoint for one in found)
    }
    shown = [_shown(one, asked, open_now) for one in found]
    return [one for one in shown if one.items or one.option]


def _shown(one: Left, asked: Mapping[str, CheckpointOpened], open_now: str) -> LeftView:
    point = asked.get(one.checkpoint)
    question = one_line((point.question or point.prompt) if point else "", 100)
    return LeftView(one.key, one.checkpoint == open_now, question, one.draft.option, list(_items(one, point)))


def _items(one: Left, point: CheckpointOpened | None) -> Iterator[LeftItem]:
    if one.draft.words.strip():
        yield LeftItem("words", one.draft.words)
    for note in one.draft.notes:
        yield LeftItem(note.id, note.text, note=note)
    for name, value in one.draft.fields.items():
        what, default = _asked(point, name)
        text = _as_text(value)
        if text.strip() and text != default:
            yield LeftItem(name, text, what)


def _asked(point: CheckpointOpened | None, name: str) -> tuple[str, str]:
    """The question of a field, and what stands in it when nobody has touched it."""
    number, _, id = name.rpartition("|")
    kind, _, call = name.partition(":")
    if call:
        words = {"call": "Your answer to", "words": "Your words to", "arg": "Your change of"}
        return f"{words.get(kind, kind)} {one_line(call.replace(':', ', '), 80)}", "later" if kind == "call" else ""
    if point is None:
        return id, ""
    options = [point.options[int(number) - 1]] if number.isdecimal() and 0 < int(number) <= len(point.options) else []
    fields = (*point.fields, *(field for option in options for field in option.fields))
    field = next((one for one in reversed(fields) if one.id == id), None)
    if field is None:
        return id, ""
    return one_line(field.prompt or id, 120), "" if field.default is None else str(field.default)


def _as_text(value: Field) -> str:
    return value if isinstance(value, str) else ", ".join(one for one in value if one.strip())
