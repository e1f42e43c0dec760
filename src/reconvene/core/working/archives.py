"""The folders kept of undone rounds: which there still are, and their removal from the workspace.

Only the copies in the workspace go: the log keeps every byte, so looking back never depends on them. A name that an
archive once had is not given to another. It must not know a disk: what a person changed there is told by the command.
"""

from __future__ import annotations

from typing import NamedTuple

from reconvene.core.facts import commands as c
from reconvene.core.facts import events as e
from reconvene.core.facts.state import RunState
from reconvene.core.working.turn import Turn


class Archive(NamedTuple):
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
            found.append(archive._replace(paths=paths, size=sum(kept[path].size for path in paths)))
    return found


def prune(turn: Turn, command: c.PruneArchives) -> None:
    """Also of a run that has ended: nothing of what it did changes."""
    paths = tuple(path for archive in prunable(turn.state, command.keep, command.spare) for path in archive.paths)
    if paths:
        turn.emit(e.ArchivesPruned(at=turn.now, paths=paths, by=command.by, door=command.door))
