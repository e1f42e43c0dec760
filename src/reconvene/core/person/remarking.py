"""What people say and change, on record at once: remarks, edits, drafts. Nothing here moves the run."""

from __future__ import annotations

from msgspec.structs import replace

from reconvene.core import kit_finder
from reconvene.core.definition.field_types import typed
from reconvene.core.extensions import Reading
from reconvene.core.facts import commands as c
from reconvene.core.facts import events as e
from reconvene.core.facts.evolve import remark_key
from reconvene.core.facts.ids import remark_id
from reconvene.core.shown import drafts
from reconvene.core.working.turn import Turn
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
    if known is not None and known not in state.record.withdrawn:
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
        )
    )
    return remark_id(number)


def read_again(turn: Turn, command: c.ReadRemark) -> None:
    """A later reading. What is not said stays; what a remark weighs follows from its kind and figures, as at first."""
    require_alive(turn)
    remark = _remark(turn, command.id)
    kinds = kit_finder.reader(turn.book.workflow.kits).kinds
    if remark.diff:
        raise Refused(f"{remark.id} is an edit of a file: there is nothing else to read in it.")
    if command.kind is not None and command.kind not in kinds:
        raise Refused(f"{command.kind!r} is no kind of remark.", hint=f"Kinds: {', '.join(kinds)}.")
    if command.level not in (None, "minor", "major"):
        raise Refused(f"A remark is minor or major, not {command.level!r}.")
    meant = c.RemarkIn(
        remark.text,
        remark.kind if command.kind is None else command.kind,
        remark.target if command.target is None else command.target,
        remark.was if command.was is None else command.was,
        remark.now if command.now is None else command.now,
    )
    read = Reading(meant.was, meant.now, remark.level, remark.reason)
    if (meant.kind, meant.was, meant.now) != (remark.kind, remark.was, remark.now):
        read = _read(turn, meant)
    by = command.model or command.by
    if command.level is not None:
        told = command.reason or (read.reason if command.level == read.level else f"{by or 'a person'} weighs it so")
        read = read._replace(level=command.level, reason=told)
    event = e.RemarkRead(
        at=turn.now,
        id=remark.id,
        number=remark.number,
        kind=meant.kind,
        target=meant.target,
        was=read.was,
        now=read.now,
        level=read.level,
        reason=read.reason,
        reader="model" if command.model else "person",
        by=by,
        door=command.door,
    )
    before = turn.state.record.readings.get(remark.number)
    if before is None or replace(before, at=event.at) != event:
        turn.emit(event)


def withdraw(turn: Turn, command: c.WithdrawRemark) -> None:
    require_alive(turn)
    remark, record = _remark(turn, command.id), turn.state.record
    if remark.number in record.withdrawn:
        return
    shown = sorted(agent for agent, count in record.seen.items() if count >= remark.number)
    instead = "Say in another remark what holds now."
    if remark.diff:
        raise Refused(f"{remark.id} is an edit of a file.", hint=f"Change {remark.path} back instead.")
    if shown:
        raise Refused(f"{remark.id} cannot be taken back: {', '.join(shown)} has been shown it.", hint=instead)
    if remark.checkpoint in record.decided:
        raise Refused(f"{remark.id} cannot be taken back: a decision was made with it.", hint=instead)
    turn.emit(e.RemarkWithdrawn(at=turn.now, id=remark.id, number=remark.number, by=command.by, door=command.door))


def _remark(turn: Turn, name: str) -> e.RemarkAdded:
    found = [remark for remark in turn.state.record.remarks.values() if remark.id == name.upper()]
    if not found:
        known = f"It has {remark_id(1)} to {remark_id(len(turn.state.record.remarks))}."
        raise Refused(
            f"Run {turn.state.run} has no remark {name!r}.",
            hint=known if turn.state.record.remarks else "Nobody has said anything yet.",
        )
    return found[0]


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
