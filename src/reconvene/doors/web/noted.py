"""How notes are read before they are said, and what is said of them: the same. Nothing is recorded here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from reconvene.core.facts.commands import AddRemark, RemarkIn
from reconvene.core.kit_finder import reader
from reconvene.core.run.handle import record
from reconvene.core.shown import on_record
from reconvene.doors.http.acts import Said
from reconvene.doors.shared.harmless import one_line
from reconvene.errors import ReconveneError

if TYPE_CHECKING:
    from reconvene.app.session import Session
    from reconvene.doors.web.drafted_decisions import Note


class ReadBack(Struct, frozen=True):
    """How a note would be read."""

    note: Note
    kind: str
    was: str = ""
    now: str = ""
    level: str = ""
    reason: str = ""
    concerns: tuple[str, ...] = ()
    why: str = ""

    @property
    def as_said(self) -> RemarkIn:
        return RemarkIn(self.note.text, self.kind, self.note.target, self.was, self.now)


def with_its_kind(session: Session, note: Note) -> Note:
    """A kind that is typed before the text ("correction: …") is the note's kind, and no longer a part of its text."""
    typed = reader(session.book.workflow.kits).typed(note.text)
    if typed.text == note.text.strip():
        return replace(note, text=typed.text)
    return replace(note, text=typed.text, kind=note.kind or typed.kind, target=note.target or typed.target)


def said(session: Session, note: Note) -> Said:
    """As it is read back, and with the lines that it is about."""
    one = _meant(session, note)
    return Said(
        one.text, one.kind, one.target, one.was, one.now,
        note.path, note.version, note.first, note.last, note.level,
    )  # fmt: skip


def read_back(session: Session, note: Note) -> ReadBack:
    """As the engine would read it if it were said now: it is tried."""
    one = _meant(session, note)
    try:
        state = record(session.state, AddRemark(one), session.now(), session.book).state
    except ReconveneError:
        return ReadBack(note, one.kind, one.was, one.now)
    made = state.record.remarks[len(state.record.remarks)]
    routed = on_record.routes(state, session.book) if state.world.cursor else ()
    concerns = tuple(route.agent for route in routed)
    why = "; ".join(f"{route.agent}: {one_line(route.why, 80)}" for route in routed[:3] if route.rule != "always")
    return ReadBack(note, made.kind, made.was, made.now, made.level, made.reason, concerns, why)


def _meant(session: Session, note: Note) -> RemarkIn:
    note = with_its_kind(session, note)
    one = RemarkIn(note.text, note.kind) if note.kind else _understood(session, note.text)
    return replace(one, target=note.target or one.target, level=note.level)


def _understood(session: Session, text: str) -> RemarkIn:
    """Of a free text as one remark: kind and figures of the part that says most."""
    from reconvene.doors.shared.remarks import understood

    workflow = session.book.workflow
    found = [entry.remark for entry in understood(text, tuple(workflow.agents), workflow.kits)]
    if not found:
        return RemarkIn(text.strip())
    best = next((one for one in found if one.kind != "comment"), found[0])
    return RemarkIn(text.strip(), best.kind, best.target, best.was, best.now)
