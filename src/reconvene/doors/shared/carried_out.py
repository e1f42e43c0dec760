"""What the companion proposed, carried out by a person: feedback sent as a remark, an edit applied to a file."""

from __future__ import annotations

from reconvene.app import one_edit
from reconvene.app.engine import Engine
from reconvene.app.line_diff import unified_diff
from reconvene.app.model_reader import Entry, OnRecord
from reconvene.app.views.companion_talk import Proposed, Said
from reconvene.core.facts.events import Lines
from reconvene.core.facts.ids import digest_of
from reconvene.core.kit_finder import reader
from reconvene.errors import Refused, UserError


def proposed(entries: list[Said]) -> tuple[tuple[Proposed, ...], int]:
    """All that was proposed in a conversation, counted from 1 on, and which of it is the first that came last."""
    batches = [said.proposals for said in entries if said.proposals]
    every = tuple(one for batch in batches for one in batch)
    return every, len(every) - len(batches[-1] if batches else ()) + 1


def about(one: Proposed) -> str:
    """`plan.md:3-5`, "" where it is about no file."""
    return f"{one.path}:{one.lines}" if one.path and one.lines else one.path


def shown(engine: Engine, run: str, one: Proposed) -> str:
    """As a person is shown it before they carry it out."""
    if one.kind == "remark":
        where = f"on {about(one)}: " if about(one) else ""
        return f"{where}{one.text}"
    why = f"{one.text}\n" if one.text else ""
    return f"{why}{unified_diff(one.path, engine.log.artefact(one.before), one.after.encode())}".rstrip("\n")


def send(engine: Engine, run: str, one: Proposed, by: str, door: str, words: str = "") -> str:
    """As this person's remark: its id. `words`: what they say instead."""
    from msgspec.structs import replace

    if one.kind != "remark":
        raise UserError("that is an edit, and no feedback", hint="/apply applies it")
    kits = engine.session(run).book.workflow.kits
    said = replace(reader(kits).typed(words or one.text), lines=about(one) if one.lines else "", on=_lines(one))
    record = OnRecord(engine, run, by, door)
    record.become([Entry(said)])
    return record.remarks[0].id


def _lines(one: Proposed) -> Lines | None:
    """The lines that it is about, in the version that was looked at: from there they are followed."""
    if not (one.path and one.lines and one.before):
        return None
    first, _, last = one.lines.partition("-")
    return Lines(one.path, one.before, int(first), int(last or first))


def apply(engine: Engine, run: str, one: Proposed, by: str, door: str) -> str:
    """As this person's edit: the path. Refused where the file is not what was looked at any more."""
    if one.kind != "edit":
        raise UserError("that is feedback, and no edit", hint="/send sends it")
    engine.scan(run, by=by, door=door)  # what the person has typed in the file itself comes first
    state = engine.load(run)
    if state.ended:
        raise Refused(f"Run {run} has ended ({state.ended}).", hint=f"reconvene reopen {run} takes it up again")
    now = state.world.files.get(one.path)
    data = one.after.encode()
    if now is not None and now.digest == digest_of(data):
        return one.path
    if now is None or now.digest != one.before:
        raise Refused(
            f"{one.path} has changed since this edit was proposed; nothing was changed.", hint="Ask for it once more."
        )
    one_edit.record(engine, run, one.path, data, by=by, door=door)
    return one.path
