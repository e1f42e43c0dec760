"""What people say and change, on record at once: remarks, edits, drafts. Nothing here moves the run."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec.structs import replace

from reconvene.core import kit_finder
from reconvene.core.definition.workflow import Workflow
from reconvene.core.extensions import Reading
from reconvene.core.facts import commands as c
from reconvene.core.facts import events as e
from reconvene.core.facts.evolve import remark_is_on, remark_key
from reconvene.core.facts.ids import remark_id
from reconvene.core.shown import anchors, drafts
from reconvene.core.working.transaction import Transaction
from reconvene.errors import Forbidden, Refused, StoreError


def require_alive(tx: Transaction) -> None:
    if tx.state.ended:
        raise Refused(
            f"Run {tx.state.run} has ended ({tx.state.ended}).",
            hint=f"reconvene reopen {tx.state.run} takes it up again",
        )


def add_remarks(tx: Transaction, remarks: tuple[c.RemarkIn, ...], by: str, door: str) -> tuple[str, ...]:
    return tuple(add_remark(tx, remark, by, door) for remark in remarks if remark.text.strip())


def add_remark(
    tx: Transaction, remark: c.RemarkIn, by: str, door: str, *, path: str = "", diff: str = "",
    read: Reading | None = None,
) -> str:  # fmt: skip
    """Durable at once, with the opinion of how much it weighs. The same remark at the same checkpoint is one. `read`:
    that opinion, where whoever calls has it."""
    state = tx.state
    point = state.world.open
    checkpoint = point.id if point else ""
    anchor = _anchored(tx, remark.on) if remark.on is not None else None
    on = anchor.key if anchor is not None else diff
    known = state.record.said.get(remark_key(checkpoint, remark.kind, remark.target, remark.text, by, on))
    if known is not None and known not in state.record.withdrawn and not remark.replaces:
        return state.record.remarks[known].id
    replaces = _replaced(tx, remark.replaces, by).id if remark.replaces else ""
    number = len(state.record.remarks) + 1
    read = read or _read(tx, remark)
    if remark.level:
        read = _weighed(read, remark.level, by)
    tx.emit(
        e.RemarkAdded(
            at=tx.now,
            id=remark_id(number),
            number=number,
            kind=remark.kind,
            text=remark.text,
            target=remark.target,
            by=by,
            door=door,
            phase=tx.frame.phase,
            n=tx.frame.round.n if tx.frame.round else 0,
            checkpoint=checkpoint,
            path=path,
            diff=diff,
            lines=anchor.name if anchor is not None else remark.lines,
            anchor=anchor,
            was=read.was,
            now=read.now,
            level=read.level,
            reason=read.reason,
            replaces=replaces,
            working=point is None and bool(state.record.tasks) and not state.ended,
        )
    )
    return remark_id(number)


def _replaced(tx: Transaction, id: str, by: str) -> e.RemarkAdded:
    """The remark that goes when another one takes its place."""
    remark = _remark(tx, id)
    _require_own(tx, remark, by, "replace it")
    if remark.number in tx.state.record.withdrawn:
        gone = tx.state.record.replaced.get(remark.number, "")
        how = f"was replaced by {gone}" if gone else "was taken back"
        raise Refused(
            f"{remark.id} {how}: there is nothing to replace.", hint=f"Replace {gone} instead." if gone else ""
        )
    if remark.diff:
        raise Refused(f"{remark.id} is an edit of a file.", hint=f"Change {remark.path} again instead.")
    return remark


def _anchored(tx: Transaction, on: e.Lines) -> e.Anchor:
    """Made of what the version says, whatever a door thinks."""
    try:
        text = tx.book.text(on.version)
    except StoreError:
        raise Refused(f"There is no version {on.version[:12]!r} of {on.path}.") from None
    return anchors.make(on.path, on.version, text, on.first, on.last)


def read_again(tx: Transaction, command: c.ReadRemark) -> None:
    """A later reading. What is not said stays; what a remark weighs follows from its kind and figures, as at first.
    Where nothing is said at all, the reader reads it once more: it may have failed before."""
    require_alive(tx)
    remark = _remark(tx, command.id)
    _require_reader(tx, remark, command)
    kinds = kit_finder.reader(tx.book.workflow.kits).kinds
    if remark.diff:
        raise Refused(f"{remark.id} is an edit of a file: there is nothing else to read in it.")
    if remark.number in tx.state.record.withdrawn:
        by = tx.state.record.withdrawn[remark.number]
        raise Refused(f"{remark.id} was taken back{f' by {by}' if by else ''}: there is nothing to read in it.")
    if command.kind is not None and command.kind not in kinds:
        raise Refused(f"{command.kind!r} is no kind of remark.", hint=f"Kinds: {', '.join(kinds)}.", field="kind")
    if command.target and not command.model:
        require_addressee(tx.book.workflow, command.target)
    meant = c.RemarkIn(
        remark.text,
        remark.kind if command.kind is None else command.kind,
        remark.target if command.target is None else command.target,
        remark.was if command.was is None else command.was,
        remark.now if command.now is None else command.now,
    )
    read = Reading(meant.was, meant.now, remark.level, remark.reason)
    said = (command.kind, command.target, command.was, command.now, command.level)
    if (meant.kind, meant.was, meant.now) != (remark.kind, remark.was, remark.now) or not any(
        one is not None for one in said
    ):
        read = _read(tx, meant)
    by = command.model or command.by
    if command.level is not None:
        read = _weighed(read, command.level, by, command.reason)
    event = e.RemarkRead(
        at=tx.now,
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
    before = tx.state.record.readings.get(remark.number)
    if before is None or replace(before, at=event.at) != event:
        tx.emit(event)


def require_addressee(workflow: Workflow, target: str) -> None:
    """Whom a person names as those whom a remark is for: agents of the workflow. Words within what they said, such as
    "reaction to the board: …", name nobody here, and are left as they are."""
    known = {_as_name(name) for name in workflow.agents}
    for one in filter(None, map(str.strip, target.split(","))):
        if _as_name(one.removeprefix("@")) not in known:
            there = ", ".join(workflow.agents) or "none"
            raise Refused(f"There is no agent {one!r} in {workflow.name}.", hint=f"there is: {there}", field="target")


def _as_name(text: str) -> str:
    return " ".join(text.replace("_", " ").replace("-", " ").split()).casefold()


def _weighed(read: Reading, level: str, by: str, why: str = "") -> Reading:
    """With the weight that somebody gives it."""
    if level not in ("minor", "major"):
        raise Refused(f"A remark is minor or major, not {level!r}.")
    told = why or (read.reason if level == read.level else f"{by or 'a person'} weighs it so")
    return replace(read, level=level, reason=told)


def withdraw(tx: Transaction, command: c.WithdrawRemark, bound: Mapping[str, str]) -> None:
    """Possible also after agents were shown it: they are told with the next task. `bound`: the remarks that go with a
    choice that counts, each with who made it."""
    require_alive(tx)
    remark, record = _remark(tx, command.id), tx.state.record
    _require_own(tx, remark, command.by, "take it back")
    if remark.number in record.withdrawn:
        return
    if remark.diff:
        raise Refused(f"{remark.id} is an edit of a file.", hint=f"Change {remark.path} back instead.")
    if remark.id in bound:
        why = f"it goes with what {bound[remark.id]} chose, and that counts"
        raise Refused(f"{remark.id} cannot be taken back: {why}.", hint="Say in another remark what holds now.")
    tx.emit(e.RemarkWithdrawn(at=tx.now, id=remark.id, number=remark.number, by=command.by, door=command.door))


def settle(tx: Transaction, command: c.SettleRemark) -> None:
    """Also of a run that has ended: it moves nothing. Whoever said it, or decides here, calls it answered."""
    remark, record = _remark(tx, command.id), tx.state.record
    if not _is_own(tx, remark, command.by) and tx.actor.role and not tx.actor.may("decider"):
        raise Forbidden(
            f"{remark.id} is {_whose(remark)}'s: only they, or who decides, can call it answered. Nothing was done.",
            hint="Say in a remark of your own what holds.",
        )
    if remark.number in record.withdrawn:
        instead = record.replaced.get(remark.number, "")
        why = f"was replaced by {instead}" if instead else "was taken back"
        raise Refused(f"{remark.id} {why}: there is nothing to settle.")
    if remark.number not in record.settled:
        tx.emit(e.RemarkSettled(at=tx.now, id=remark.id, number=remark.number, by=command.by, door=command.door))


def _require_own(tx: Transaction, remark: e.RemarkAdded, by: str, what: str) -> None:
    """Who said it, or an admin: the same proved person, and where nothing proves it, the same name."""
    if not _is_own(tx, remark, by) and tx.actor.role != "admin":
        raise Forbidden(
            f"{remark.id} is {_whose(remark)}'s: only they, or an admin, can {what}. Nothing was done.",
            hint="Say in a remark of your own what holds.",
        )


def _is_own(tx: Transaction, remark: e.RemarkAdded, by: str) -> bool:
    return remark.user == tx.user if remark.user or tx.user else remark.by == by


def _whose(remark: e.RemarkAdded) -> str:
    return remark.by or remark.user or "somebody else"


def _require_reader(tx: Transaction, remark: e.RemarkAdded, command: c.ReadRemark) -> None:
    """Agents are shown a remark as its author's, in its last reading. So who decides may weigh it and say whom it
    concerns; which figures somebody meant, only they say, or an admin."""
    if command.model or _is_own(tx, remark, command.by) or tx.actor.role == "admin":
        return
    figures = command.was is not None or command.now is not None
    if figures or not tx.actor.may("decider"):
        what = "say which figures it means" if figures else "read it anew, or who decides"
        raise Forbidden(
            f"{remark.id} is {_whose(remark)}'s: only they can {what}. Nothing was done.",
            hint="Say in a remark of your own what holds.",
        )


def _remark(tx: Transaction, name: str) -> e.RemarkAdded:
    found = [remark for remark in tx.state.record.remarks.values() if remark.id == name.upper()]
    if not found:
        known = f"It has {remark_id(1)} to {remark_id(len(tx.state.record.remarks))}."
        raise Refused(
            f"Run {tx.state.run} has no remark {name!r}.",
            hint=known if tx.state.record.remarks else "Nobody has said anything yet.",
        )
    return found[0]


def inherit(tx: Transaction, remarks: tuple[e.RemarkAdded, ...], parent: str) -> None:
    """A parent's remarks as this run's own, weighed as they were there, with where they come from."""
    for remark in remarks:
        known = tx.state.record.said
        away = replace(remark.anchor, version="") if remark.anchor is not None else None  # the file is the parent's
        remark = replace(remark, anchor=away)
        if remark_key("", remark.kind, remark.target, remark.text, remark.by, remark_is_on(remark)) in known:
            continue
        number = len(tx.state.record.remarks) + 1
        origin = remark.origin or f"{parent} {remark.id}"
        own = {"id": remark_id(number), "number": number, "phase": "", "n": 0, "checkpoint": "", "origin": origin}
        tx.emit(replace(remark, at=tx.now, **own))


def _read(tx: Transaction, remark: c.RemarkIn) -> Reading:
    """What the rules make of it, beside the outputs that the person has before them."""
    frame = tx.frame
    outputs = frame.round.outputs if frame.round and frame.round.outputs else frame.outputs
    texts = {output.agent: tx.book.text(output.output.digest) for output in outputs}
    return kit_finder.reader(tx.book.workflow.kits).read(remark, texts)


def record_edits(tx: Transaction, command: c.RecordEdits) -> None:
    known = tx.state.world.files
    fresh = [edit for edit in command.edits if (known[edit.path].digest if edit.path in known else "") != edit.digest]
    if not fresh:
        return
    for edit in fresh:
        if edit.base is not None and (known[edit.path].digest if edit.path in known else "") != edit.base:
            raise Refused(
                f"{edit.path} was changed meanwhile.", hint=f"See it: reconvene files {tx.state.run} {edit.path}"
            )
    files = tuple(e.FileOut(edit.path, edit.digest, edit.size) for edit in fresh)
    renamed = {edit.path: edit.renamed for edit in fresh if edit.renamed in known}
    files += tuple(e.FileOut(old, "") for old in renamed.values())
    if command.found is not None:
        tx.emit(e.FilesFound(at=tx.now, files=files, agents=command.found))
        return
    tx.emit(e.FilesEdited(at=tx.now, files=files, renamed=renamed, by=command.by))
    for edit in fresh:
        verb = "Edited" if edit.digest else "Deleted"
        what = f"Renamed {edit.renamed} to {edit.path}" if edit.renamed else f"{verb} {edit.path}"
        said = c.RemarkIn(f"{what} ({edit.summary})", "edit")
        add_remark(tx, said, command.by, command.door, path=edit.path, diff=edit.diff, read=_weighed_edit(tx, edit))


def _weighed_edit(tx: Transaction, edit: c.EditIn) -> Reading:
    """A figure that was changed by hand weighs as if it had been said: the first that weighs most."""
    read = Reading("", "", "minor", "an edit of a file")
    for one in edit.figures:
        found = _read(tx, c.RemarkIn(one.line, "correction", was=one.was, now=one.now))
        if found.level == "major" or not read.now:
            read = found
        if found.level == "major":
            break
    return read


def add_to_draft(tx: Transaction, point: e.CheckpointOpened, fields: c.Answers, by: str) -> None:
    """These answers with those there are; null or nothing at all takes one back."""
    both = {**drafts.here(tx.state, tx.book), **fields}
    keep_draft(tx, {name: value for name, value in both.items() if value not in (None, "")}, point.id, by)


def keep_draft(tx: Transaction, fields: c.Answers, checkpoint: str, by: str) -> None:
    if fields != drafts.here(tx.state, tx.book):
        ref = tx.keep(fields)
        tx.emit(e.DraftSaved(at=tx.now, checkpoint=checkpoint, place=tx.frame.address, fields=ref.digest, by=by))
