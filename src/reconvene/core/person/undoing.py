"""Rounds that a person takes back, and the folders kept of them: which there still are, and their removal.

Only the copies in the workspace go: the log keeps every byte, so looking back never depends on them. A name that an
archive once had is not given to another. It must not know a disk: what a person changed there is told by the command.
"""

from __future__ import annotations

from msgspec import Struct, structs

from reconvene.core.definition.workflow import Again
from reconvene.core.facts import commands as c
from reconvene.core.facts import events as e
from reconvene.core.facts.state import RunState
from reconvene.core.paths import is_safe
from reconvene.core.person import approving
from reconvene.core.person.checkpoint import shown
from reconvene.core.person.remarking import add_remarks, require_alive
from reconvene.core.shown import scope
from reconvene.core.working import acting
from reconvene.core.working.moves import undo_refused
from reconvene.core.working.transaction import Transaction
from reconvene.errors import ReconveneError, Refused, StaleDecision


class Archive(Struct, frozen=True):
    folder: str
    serial: int  # of the round that was undone
    paths: tuple[str, ...]
    size: int


def archives(state: RunState) -> list[Archive]:
    """Those that still hold files, oldest first."""
    found: list[Archive] = []
    kept = state.record.archives
    for number in range(1, len(state.record.rollbacks) + 1):
        undone = state.record.rollbacks[number]
        paths = tuple(sorted(path for path in kept if undone.folder and path.startswith(f"{undone.folder}/")))
        if paths:
            found.append(Archive(undone.folder, undone.serial, paths, sum(kept[path].size for path in paths)))
    return found


def prunable(state: RunState, keep: int, spare: tuple[str, ...] = ()) -> list[Archive]:
    """All but the newest `keep`, without the files to `spare`."""
    every = archives(state)
    kept = state.record.archives
    found: list[Archive] = []
    for archive in every[: max(len(every) - keep, 0)]:
        paths = tuple(path for path in archive.paths if path not in spare)
        if paths:
            found.append(structs.replace(archive, paths=paths, size=sum(kept[path].size for path in paths)))
    return found


def prune(tx: Transaction, command: c.PruneArchives) -> None:
    """Also of a run that has ended: nothing of what it did changes."""
    paths = tuple(path for archive in prunable(tx.state, command.keep, command.spare) for path in archive.paths)
    if paths:
        tx.emit(e.ArchivesPruned(at=tx.now, paths=paths, by=command.by, door=command.door))


def undo(
    tx: Transaction,
    point: e.CheckpointOpened | None,
    *,
    dropped: bool,
    by: str,
    why: str,
    seen: c.Rollback | None = None,
) -> bool:
    """`seen`: the command, where no decision says what it is about."""
    frame = tx.frame
    folder, archived = _archive(tx)
    tx.emit(
        e.RoundUndone(
            at=tx.now,
            serial=tx.round.serial,
            phase=frame.phase,
            scope=frame.address,
            n=tx.round.n,
            dropped=dropped,
            by=by,
            why=why,
            checkpoint=point.id if point is not None else "",
            folder=folder,
            archived=archived,
            digest=seen.digest if seen else "",
            source=seen.source if seen else "",
            since=seen.since if seen else (),
            acts=() if dropped else acting.again(tx.state, tx.book, Again(), undo=True),
        )
    )
    return True


def _archive(tx: Transaction) -> tuple[str, tuple[e.FileOut, ...]]:
    """The files of the round's own folder, under a name that no other round's archive has."""
    try:
        folder = scope.round_folder(tx.state, tx.book)
    except ReconveneError as error:  # a name that cannot be filled in costs the copy in the workspace, not the undo
        tx.emit(e.RenderFailed(at=tx.now, path=tx.phase.rounds.folder, message=str(error)))
        folder = ""
    files = tx.state.world.files
    inside = [path for path in sorted(files) if folder and path.startswith(f"{folder}/")]
    if not inside:
        return "", ()
    taken = {path.rpartition("/")[0] for path in (*tx.state.record.archives, *files)}
    taken |= {undone.folder for undone in tx.state.record.rollbacks.values()}  # pruned ones too: a name is one round's
    name, number = f"{folder}_rolled_back", 1
    while any(each == name or each.startswith(f"{name}/") for each in taken):
        number += 1
        name = f"{folder}_rolled_back_{number}"
    moved = [e.FileOut(name + path.removeprefix(folder), files[path].digest, files[path].size) for path in inside]
    if unsafe := next((file.path for file in moved if not is_safe(file.path)), ""):
        message = f"the files of the undone round are not kept beside it: {unsafe[:80]!r} is no path that can be used"
        tx.emit(e.RenderFailed(at=tx.now, path=folder, message=message))
        return "", ()
    return name, tuple(moved)


def rollback(tx: Transaction, command: c.Rollback) -> None:
    require_alive(tx)
    point = tx.state.world.open
    if point is None and tx.state.awaits is None:
        raise Refused(
            f"Run {tx.state.run} is {tx.state.status}: a round is rolled back at its checkpoint.",
            hint=f"reconvene pause {tx.state.run}, or fork it from an earlier point",
        )
    if command.checkpoint not in ("", point.id if point is not None else ""):
        raise StaleDecision(
            f"Checkpoint {command.checkpoint} is not open any more.", hint=f"reconvene show {tx.state.run}"
        )
    approving.require_one_of_them(tx)
    command = structs.replace(command, digest=shown(tx, command) if point is not None else "")
    refused = undo_refused(tx.state, tx.book)
    if refused:
        raise Refused(f"This round cannot be rolled back: {refused}.")
    acting.require_told(acting.again(tx.state, tx.book, Again(), undo=True), command.told)
    add_remarks(tx, command.remarks, command.by, command.door)
    undo(tx, point, dropped=False, by=command.by, why="rollback", seen=command)
