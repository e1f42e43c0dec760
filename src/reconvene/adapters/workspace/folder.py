"""The log's files written out, and what a person changed in them.

Three things are compared per path: the log (`known`), the disk, and the manifest, which remembers what the engine last
wrote out. What is on disk is a person's change when it is neither what the log says nor what the engine wrote; it is
stale when the log says something else and the engine itself put there what is there now. Hence:

- a crash between append and write leaves stale files, never invented edits;
- a folder that vanished as a whole is a missing projection (somebody cleaned up), not a hundred deletions: there are no
  changes, everything is stale, the caller writes it again;
- a lost manifest loses no text: it only forgets which files a person had deleted.

An object that reported a change may overwrite it, for by then the caller has recorded it; a change nobody has seen yet
stays where it is, and the next `look` reports it. After recording edits, call `write({}, known)`: what log and disk
agree upon counts as written out from then on. One process writes; any number may look. Knows no run, event or git.
"""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress

from reconvene.adapters.shared.safe_files import look, parent_of, read_file, replace_file
from reconvene.adapters.workspace.manifest import Entry, Manifest, ManifestFile
from reconvene.adapters.workspace.seen_files import MAX_BYTES, Eyes, Survey
from reconvene.core.facts.ids import digest_of
from reconvene.core.paths import safe_path
from reconvene.errors import Bug, StoreError
from reconvene.ports import Change, Look

# When new stamps alone are worth a manifest: once the files they stand for cost more to read in each new process than
# it costs to write once. In bytes read; opening a file costs as much as so many of them.
_OPENING, _WORTH_NOTING = 50_000, 1_000_000


class FolderWorkspace:
    """ports.Workspace over a real folder. `manifest` names a file outside of it.

    `check` is called before anything in the folder is looked at or written, and may refuse it.
    """

    def __init__(
        self, root: str, manifest: str, check: Callable[[], None] = lambda: None, largest: int = MAX_BYTES
    ) -> None:
        self.root = root
        self._check = check
        self._file = ManifestFile(manifest)
        self._eyes = Eyes(root, largest)
        self._reported: dict[str, str] = {}  # changes handed to the caller: path → digest

    def occupied(self) -> bool:
        """Whether something lies there already. What cannot be looked into counts as something."""
        try:
            with os.scandir(self.root) as entries:
                return next(entries, None) is not None
        except FileNotFoundError:
            return os.path.lexists(self.root)  # a link to nowhere
        except OSError:
            return True

    def look(self, known: Mapping[str, str]) -> Look:
        """Costs next to nothing where there is no folder yet."""
        there = os.path.lexists(self.root)
        if there:
            self._check()
        if not there or not os.path.isdir(self.root):
            missing = _written_out(known)
            return Look([], missing, settled=not missing)
        written, survey = self._look(known)
        foreign = _foreign(known, written, survey)
        changes = [change for path in foreign if (change := self._change(path, known, written))]
        self._reported.update((change.path, _digest_of(change)) for change in changes)
        stale = _stale(known, written, survey)
        agreed = all(_digest(written, path) == known.get(path, "") for path in known.keys() | written.keys())
        settled = not changes and not stale and agreed and not self._worth_noting(written)
        return Look(changes, stale, settled, _ignored(survey))

    def stale(self, known: Mapping[str, str]) -> list[str]:
        """What the caller still has to write or, where `known` lacks it, to remove."""
        self._check()
        if not os.path.isdir(self.root):
            return _written_out(known)
        return _stale(known, *self._look(known))

    def _change(self, path: str, known: Mapping[str, str], written: Mapping[str, Entry]) -> Change | None:
        """None = it has just become what it should be."""
        change = Change(path, self.read(path))
        return change if _digest_of(change) not in (known.get(path, ""), _digest(written, path)) else None

    def ignored(self, known: Mapping[str, str]) -> tuple[str, ...]:
        if not os.path.isdir(self.root):
            return ()
        self._check()
        return _ignored(self._look(known)[1])

    def read(self, path: str) -> bytes | None:
        path = safe_path(path)
        with _in_plain_words(self.root):
            try:
                with parent_of(self.root, path) as folder:
                    found = read_file(folder, os.path.basename(path)) if folder is not None else None
            except StoreError:  # behind a link or a file: no file of ours
                return None
        return found[0] if found else None

    def leave(self) -> None:
        self._file.remove()
        with suppress(OSError):  # somebody's files are there
            os.rmdir(self.root)

    def write(self, files: Mapping[str, bytes | None], known: Mapping[str, str]) -> None:
        """Bring `files` to disk, removals first. A text of a person's that nobody has seen yet stays in its place."""
        self._check()
        for path in files:
            if safe_path(path) != path:
                raise Bug(f"The workspace was given {path!r} instead of {safe_path(path)!r}.")
        with _in_plain_words(self.root):
            # Without its folder nothing is written out any more. Keeping the entries would make all that this call does
            # not write look deleted by a person.
            manifest = self._file.load().copy() if os.path.isdir(self.root) else Manifest({}, set())
            touched: set[str] = set()
            try:
                for path in sorted(path for path, data in files.items() if data is None):
                    self._remove(path, manifest, touched)
                for path, data in sorted(files.items()):
                    if data is not None:
                        self._put(path, data, manifest, touched)
                self._catch_up({path: digest for path, digest in known.items() if path not in files}, files, manifest)
            finally:
                self._save(manifest, touched)

    def _put(self, path: str, data: bytes, manifest: Manifest, touched: set[str]) -> None:
        name, digest = os.path.basename(path), digest_of(data)
        with parent_of(self.root, path, manifest.folders) as folder:
            assert folder is not None  # made where it was missing
            there = look(folder, name)
            if there is not None and stat.S_ISDIR(there.st_mode):
                raise StoreError(
                    f"The workspace file {path!r} cannot be written: a folder of that name is in the way.",
                    hint=f"Move or remove the folder {path!r} in the workspace, then resume the run.",
                )
            if there is not None and stat.S_ISREG(there.st_mode):
                entry = self._eyes.entry_at(folder, path, there, manifest.files)
                if entry is not None and entry.digest == digest:
                    manifest.files[path] = entry
                    return
                if not self._may_replace(path, entry, manifest):
                    return
            manifest.files[path] = Entry.of(digest, replace_file(folder, name, data), time.time_ns())
        touched.add(os.path.dirname(path))
        self._reported.pop(path, None)

    def _remove(self, path: str, manifest: Manifest, touched: set[str]) -> None:
        name = os.path.basename(path)
        with suppress(StoreError), parent_of(self.root, path) as folder:  # behind a link: not there
            there = look(folder, name) if folder is not None else None
            if folder is not None and there is not None and not stat.S_ISDIR(there.st_mode):
                if stat.S_ISREG(there.st_mode):
                    entry = self._eyes.entry_at(folder, path, there, manifest.files)
                    if not self._may_replace(path, entry, manifest):
                        return
                os.unlink(name, dir_fd=folder)
                touched.add(os.path.dirname(path))
        manifest.files.pop(path, None)
        self._reported.pop(path, None)
        self._prune(os.path.dirname(path), manifest)

    def _may_replace(self, path: str, entry: Entry | None, manifest: Manifest) -> bool:
        return entry is not None and entry.digest in (_digest(manifest.files, path), self._reported.get(path))

    def _prune(self, path: str, manifest: Manifest) -> None:
        """Empty folders go if the engine made them."""
        while path in manifest.folders:
            with suppress(FileNotFoundError, StoreError), parent_of(self.root, path) as folder:
                if folder is not None:
                    try:
                        os.rmdir(os.path.basename(path), dir_fd=folder)
                    except FileNotFoundError:
                        pass
                    except OSError:  # something else lies in it
                        return
            manifest.folders.discard(path)
            path = os.path.dirname(path)

    def _catch_up(self, rest: Mapping[str, str], files: Mapping[str, bytes | None], manifest: Manifest) -> None:
        """What log and disk agree upon counts as written out, whoever wrote it."""
        for path in rest.keys() | (manifest.files.keys() - files.keys()):
            wanted = rest.get(path, "")
            if _digest(manifest.files, path) == wanted:
                continue
            with suppress(StoreError), parent_of(self.root, path) as folder:
                there = look(folder, os.path.basename(path)) if folder is not None else None
                if folder is None or there is None:
                    if not wanted:
                        del manifest.files[path]
                elif stat.S_ISREG(there.st_mode):
                    entry = self._eyes.entry_at(folder, path, there, manifest.files)
                    if entry is not None and entry.digest == wanted:
                        manifest.files[path] = entry

    def _save(self, manifest: Manifest, touched: set[str]) -> None:
        """Folders first: a manifest that is ahead of the disk would turn a power failure into a person's edit."""
        for path in sorted(touched):
            with suppress(StoreError), parent_of(self.root, f"{path}/x" if path else "x") as folder:
                if folder is not None:
                    os.fsync(folder)
        if manifest == self._file.load() and not self._worth_noting(manifest.files):
            return
        manifest.files.update(self._calmer(manifest.files))
        self._file.save(manifest)

    def _worth_noting(self, written: Mapping[str, Entry]) -> bool:
        return sum(entry.size + _OPENING for entry in self._calmer(written).values()) >= _WORTH_NOTING

    def _calmer(self, written: Mapping[str, Entry]) -> dict[str, Entry]:
        """The same bytes, looked at in a calmer moment: with these stamps nobody has to read them again."""
        found: dict[str, Entry] = {}
        for path, entry in written.items():
            seen = self._eyes.seen.get(path)
            if seen is not None and seen.digest == entry.digest and seen.seen_ns > entry.seen_ns and seen.is_settled():
                found[path] = seen
        return found

    def _look(self, known: Mapping[str, str]) -> tuple[Mapping[str, Entry], Survey]:
        with _in_plain_words(self.root):
            written = self._file.load().files
            return written, self._eyes.survey(known.keys() | written.keys(), written)


def _ignored(survey: Survey) -> tuple[str, ...]:
    return tuple(f"{path}: {why}" for path, why in sorted((survey.links | survey.unread).items()))


def _digest(written: Mapping[str, Entry], path: str) -> str:
    entry = written.get(path)
    return entry.digest if entry else ""


def _written_out(known: Mapping[str, str]) -> list[str]:
    return sorted([path for path, digest in known.items() if digest]) if known else []


def _foreign(known: Mapping[str, str], written: Mapping[str, Entry], survey: Survey) -> list[str]:
    """Paths whose content is neither the log's nor the engine's."""
    return [
        path
        for path in sorted(known.keys() | survey.digests.keys())
        if survey.digests.get(path, "") not in (known.get(path, ""), _digest(written, path))
        and not survey.is_link(path)
        and not survey.is_unread(path)
    ]


def _stale(known: Mapping[str, str], written: Mapping[str, Entry], survey: Survey) -> list[str]:
    """Paths where the engine itself put what is there, and the log says something else."""
    return [
        path
        for path in sorted(known.keys() | written.keys())
        if (digest := survey.digests.get(path, "")) != known.get(path, "")
        and not survey.is_unread(path)
        and (survey.is_link(path) or digest == _digest(written, path))
    ]


def _digest_of(change: Change) -> str:
    return digest_of(change.data) if change.data is not None else ""


@contextmanager
def _in_plain_words(root: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise StoreError(
            f"The workspace {root} cannot be used: {reason}. Nothing was written to the log for it.",
            hint="Check free space and permissions there, then resume the run: its files are written again.",
        ) from error
