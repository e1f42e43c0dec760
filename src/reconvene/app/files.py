"""The workspace as a projection: bring recorded files to disk, and find what a person changed there."""

from __future__ import annotations

from collections.abc import Iterable

from immutables import Map
from msgspec import Struct

from reconvene.app.edit_command import edit_of
from reconvene.app.moved_files import renamed
from reconvene.app.session import Session
from reconvene.core.facts.commands import EditIn, RecordEdits
from reconvene.core.facts.ids import digest_of
from reconvene.core.facts.state import FileVersion
from reconvene.core.paths import is_safe
from reconvene.ports import Change, Workspace


class Scan(Struct, frozen=True):
    """What is to be done after the folder was compared with the log. settled: nothing at all."""

    command: RecordEdits | None
    blobs: dict[str, bytes]
    stale: list[str]
    settled: bool
    ignored: tuple[str, ...] = ()  # what lies there and was not taken, each with the reason


class Files:
    """Remembers what it last brought to disk, so that a step that changed no file costs nothing."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._files_for: tuple[object, object] = (None, None)
        self._files: Map[str, FileVersion] = Map()
        self._known: dict[str, str] = {}
        self._written: Map[str, FileVersion] = Map()

    def known(self, session: Session) -> dict[str, str]:
        self._all(session)
        return self._known

    def _all(self, session: Session) -> Map[str, FileVersion]:
        """Worked out anew only when the state has other files than last time."""
        state = session.state
        if state.world.files is not self._files_for[0] or state.record.archives is not self._files_for[1]:
            self._files_for = (state.world.files, state.record.archives)
            self._files = state.files
            self._known = {path: version.digest for path, version in self._files.items()}
        return self._files

    def scan(self, session: Session, by: str, door: str, *, claims: bool = False) -> Scan:
        """What a person changed, as a command with the contents and diffs it names; and what is to be written.
        `claims`: also what was found while agents worked counts as theirs."""
        found = self._workspace.look(self.known(session))
        if found.settled:
            self._written = self._all(session)
        changes = found.changes if claims else self._fresh(session, found.changes)
        command, blobs = self._edits(session, changes, by, door)
        return Scan(command, blobs, found.stale, found.settled, found.ignored)

    def found(self, session: Session, agents: Iterable[str]) -> Scan:
        """The same while these are at work: nobody says who it was, and nobody's edit is recorded."""
        looked = self.scan(session, "", "")
        if looked.command is None:
            return looked
        files = {edit.digest for edit in looked.command.edits}
        command = RecordEdits(looked.command.edits, found=tuple(dict.fromkeys(agents)))
        blobs = {name: looked.blobs[name] for name in looked.blobs if name in files}
        return Scan(command, blobs, looked.stale, False, looked.ignored)

    def _fresh(self, session: Session, changes: list[Change]) -> list[Change]:
        """Those that are not as they were found before."""
        known = session.state.world.found
        return [
            one
            for one in changes
            if one.path not in known or known[one.path].digest != (digest_of(one.data) if one.data is not None else "")
        ]

    def _edits(
        self, session: Session, changes: list[Change], by: str, door: str
    ) -> tuple[RecordEdits | None, dict[str, bytes]]:
        blobs: dict[str, bytes] = {}
        edits: list[EditIn] = []
        files = session.state.world.files
        archives = session.state.record.archives  # what is kept of an undone round is no longer anybody's work
        changes = [one for one in changes if is_safe(one.path) and (one.path not in archives or one.path in files)]
        moved = self._moved(session, changes)
        for change in changes:
            if change.path in moved.values():
                continue
            before = moved.get(change.path, "")
            known = before or change.path
            old = session.book.read(files[known].digest) if known in files else None
            edit = edit_of(change.path, old, change.data, before=before)
            blobs |= edit.contents
            edits.append(edit.command)
        return (RecordEdits(tuple(edits), by, door), blobs) if edits else (None, {})

    def _moved(self, session: Session, changes: list[Change]) -> dict[str, str]:
        """New name → old name. A file that the workflow renders comes back under its own name: it is none of these."""
        files = session.state.world.files
        gone = [one.path for one in changes if one.data is None and one.path in files and not files[one.path].rendered]
        new = {one.path: one.data for one in changes if one.data is not None and one.path not in files}
        return renamed({path: session.book.read(files[path].digest) for path in gone}, new) if gone and new else {}

    def ignored(self, session: Session) -> tuple[str, ...]:
        """What lies in the folder and is not taken, each with the reason; for who only looks."""
        return self._workspace.ignored(self.known(session))

    def on_disk(self, path: str) -> bytes | None:
        """As it lies in the folder, for who only looks; None = it is not there."""
        return self._workspace.read(path)

    def changed_archives(self, session: Session) -> tuple[str, ...]:
        """Files kept of undone rounds in which a person wrote: their text is nowhere else."""
        archives = session.state.record.archives
        changes = self._workspace.look(self.known(session)).changes if archives else []
        return tuple(change.path for change in changes if change.path in archives and change.data is not None)

    def remove(self, session: Session, paths: Iterable[str]) -> None:
        """Take from disk what the log no longer keeps there; folders that this leaves empty go too."""
        known = self.known(session)
        self._workspace.write({path: None for path in paths if path not in known}, known)

    def clear(self, session: Session) -> list[str]:
        """Take from disk all that is as the log says. What a person changed stays, and is named."""
        known = self.known(session)
        changed = {change.path for change in self._workspace.look(known).changes}
        self._workspace.write({path: None for path in known if path not in changed}, {})
        self._workspace.leave()
        return sorted(changed)

    def restore(self, session: Session, scan: Scan | None = None) -> None:
        """Bring to disk whatever a crash left unwritten. Scan for a person's edits first, and give what was found."""
        known = self.known(session)
        stale = scan.stale if scan is not None else self._workspace.stale(known)
        self._workspace.write({p: session.book.read(known[p]) if p in known else None for p in stale}, known)
        self._written = self._all(session)

    def sync(self, session: Session) -> None:
        """Bring to disk what the log has added since. What a person wrote is there, unless a round was undone."""
        files = self._all(session)
        if files is self._written:
            return
        before, self._written = self._written, files
        changed: dict[str, bytes | None] = {
            path: session.book.read(version.digest)
            for path, version in files.items()
            if path not in before or before[path].digest != version.digest
        }
        changed |= {path: None for path in before if path not in files}
        self._workspace.write(changed, self.known(session))
