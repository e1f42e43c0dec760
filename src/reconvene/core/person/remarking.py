"""What people say and change, on record at once: remarks, edits, drafts. Nothing here moves the run."""

from __future__ import annotations

from msgspec.structs import replace

from reconvene.core import kit_finder
from reconvene.core.extensions import Reading
from reconvene.core.facts import commands as c
from reconvene.core.facts import events as e
from reconvene.core.facts.evolve import remark_key
from reconvene.core.facts.ids import remark_id
from reconvene.core.person.answering import typed
from reconvene.core.shown import drafts
from reconvene.core.work.turn import Turn
from reconvene.errors import Refused


def require_alive(turn: Turn) -> None:
    if turn.state.ended:
        raise Refused(
            f"Run {turn.state.run} has ended ({turn.state.ended}).",
            hint=f"reconvene fork {turn.state.run} --at SEQ starts again from any point of its log",
        )


def add_remarks(turn: Turn, remarks: tuple[c.RemarkIn, ...], by: str, door: str) -> tuple[str, ...]:
    return tuple(add_remark(turn, remark, by, door) for remark in remarks if remark.text.strip())


def add_remark(turn: Turn, remark: c.RemarkIn, by: str, door: str, *, path: str = "", diff: str = "") -> str:
    """Durable at once, with the engine's opinion of how much it weighs. The same remark at the same place is one."""
    state = turn.state
    point = state.world.open
    place = point.id if point else ""
    known = state.record.said.get(remark_key(place, remark.kind, remark.target, remark.text + diff, by))
    if known is not None:
        return state.record.remarks[known].id
    number = len(state.record.remarks) + 1
    read = _read(turn, remark) if not diff else Reading(remark.was, remark.now, "minor", "an edit of a file")
    turn.emit(
        e.RemarkAdded(
            at=turn.now,
            id=remark_id(number),
            number=number,
            kind=remark.kind,
            text=remark.text,
            target=remark.target,
            by=by,
            door=door,
            phase=turn.frame.phase,
            n=turn.frame.round.n if turn.frame.round else 0,
            checkpoint=place,
            path=path,
            diff=diff,
            lines=remark.lines,
            was=read.was,
            now=read.now,
            level=read.level,
            reason=read.reason,
            opinion=remark.opinion,
            because=remark.because,
        )
    )
    return remark_id(number)


def inherit(turn: Turn, remarks: tuple[e.RemarkAdded, ...], parent: str) -> None:
    """A parent's remarks as this run's own, weighed as they were there, with where they come from."""
    for remark in remarks:
        known = turn.state.record.said
        if remark_key("", remark.kind, remark.target, remark.text + remark.diff, remark.by) in known:
            continue
        number = len(turn.state.record.remarks) + 1
        origin = remark.origin or f"{parent} {remark.id}"
        own = {"id": remark_id(number), "number": number, "phase": "", "n": 0, "checkpoint": "", "origin": origin}
        turn.emit(replace(remark, at=turn.now, **own))


def _read(turn: Turn, remark: c.RemarkIn) -> Reading:
    """What the rules make of it, beside the outputs that the person has before them."""
    frame = turn.frame
    outputs = frame.round.outputs if frame.round and frame.round.outputs else frame.outputs
    texts = {output.agent: turn.book.text(output.output.digest) for output in outputs}
    return kit_finder.reader(turn.book.workflow.kits).read(remark, texts)


def record_edits(turn: Turn, command: c.RecordEdits) -> None:
    known = turn.state.world.files
    fresh = [edit for edit in command.edits if (known[edit.path].digest if edit.path in known else "") != edit.digest]
    if not fresh:
        return
    files = tuple(e.FileOut(edit.path, edit.digest, edit.size) for edit in fresh)
    turn.emit(e.FilesEdited(at=turn.now, files=files, by=command.by))
    for edit in fresh:
        verb = "Edited" if edit.digest else "Deleted"
        said = c.RemarkIn(f"{verb} {edit.path} ({edit.summary})", "edit")
        add_remark(turn, said, command.by, command.door, path=edit.path, diff=edit.diff)


def save_draft(turn: Turn, command: c.SaveDraft) -> None:
    point = turn.state.world.open
    if point is None or (command.checkpoint and point.id != command.checkpoint):
        raise Refused("That checkpoint is not open any more.", hint=f"reconvene show {turn.state.run}")
    asked = {field.id: field for field in point.fields}
    unknown = [name for name in command.fields if name not in asked]
    if unknown:
        raise Refused(f"There is no field {unknown[0]!r} here.")
    given = {
        name: value if value in (None, "") else typed(asked[name], value) for name, value in command.fields.items()
    }
    add_to_draft(turn, point, given, command.by)


def add_to_draft(turn: Turn, point: e.CheckpointOpened, fields: c.Answers, by: str) -> None:
    """These answers with those there are; null or nothing at all takes one back."""
    both = {**drafts.here(turn.state, turn.book), **fields}
    keep_draft(turn, {name: value for name, value in both.items() if value not in (None, "")}, point.id, by)


def keep_draft(turn: Turn, fields: c.Answers, checkpoint: str, by: str) -> None:
    if fields != drafts.here(turn.state, turn.book):
        ref = turn.keep(fields)
        place = turn.frame.place
        turn.emit(e.DraftSaved(at=turn.now, checkpoint=checkpoint, place=place, fields=ref.digest, by=by))
