"""A workspace in memory, for tests: it passes the same conformance suite as the real folder.

Three things are compared per path, as there: the log, what lies in the folder, and what the engine last wrote out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from reconvene.core.facts.ids import digest_of
from reconvene.core.paths import safe_path
from reconvene.errors import Bug
from reconvene.ports import Change, Look


class MemoryFolder:
    """What lies on the disk: files, and beside them what the engine noted of its own writing. Whoever holds the object
    shares the folder. A person changes `files`; `None` in its place: somebody took the whole folder away."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] | None = None
        self.manifest: dict[str, str] = {}  # path → digest

    def edit(self, path: str, data: bytes | None) -> None:
        """As a person does."""
        if data is None:
            (self.files or {}).pop(path, None)
            return
        self.files = self.files or {}
        self.files[path] = data

    def put(self, path: str, data: bytes) -> None:
        """As the engine does."""
        self.files = self.files if self.files is not None else {}
        self.files[path] = data

    def drop(self, path: str) -> None:
        """As the engine does."""
        if self.files is not None:
            del self.files[path]

    def digest(self, path: str) -> str:
        data = (self.files or {}).get(path)
        return "" if data is None else digest_of(data)


class MemoryWorkspace:
    """ports.Workspace. `step` is called before each single change of the folder, and may raise: then what was done
    before it is done, as after a crash. A StoreError in its place is a disk that refuses: what was written by then is
    noted."""

    def __init__(self, root: str, folder: MemoryFolder, step: Callable[[str], None] = lambda what: None) -> None:
        self.root = root
        self._folder = folder
        self._step = step
        self._reported: dict[str, str] = {}

    def occupied(self) -> bool:
        return bool(self._folder.files)

    def look(self, known: Mapping[str, str]) -> Look:
        self._step("look")
        folder = self._folder
        if folder.files is None:
            missing = sorted(path for path, digest in known.items() if digest)
            return Look([], missing, settled=not missing)
        written = folder.manifest
        foreign = [
            path
            for path in sorted(known.keys() | folder.files.keys())
            if folder.digest(path) not in (known.get(path, ""), written.get(path, ""))
        ]
        changes = [Change(path, folder.files.get(path)) for path in foreign]
        self._reported.update((path, folder.digest(path)) for path in foreign)
        stale = self._stale(known)
        agreed = all(written.get(path, "") == known.get(path, "") for path in known.keys() | written.keys())
        return Look(changes, stale, settled=not changes and not stale and agreed)

    def stale(self, known: Mapping[str, str]) -> list[str]:
        self._step("look")
        if self._folder.files is None:
            return sorted(path for path, digest in known.items() if digest)
        return self._stale(known)

    def _stale(self, known: Mapping[str, str]) -> list[str]:
        folder = self._folder
        return [
            path
            for path in sorted(known.keys() | folder.manifest.keys())
            if folder.digest(path) != known.get(path, "") and folder.digest(path) == folder.manifest.get(path, "")
        ]

    def write(self, files: Mapping[str, bytes | None], known: Mapping[str, str]) -> None:
        for path in files:
            if safe_path(path) != path:
                raise Bug(f"The workspace was given {path!r} instead of {safe_path(path)!r}.")
        folder = self._folder
        manifest = dict(folder.manifest) if folder.files is not None else {}
        try:
            for path in sorted(path for path, data in files.items() if data is None):
                self._remove(path, manifest)
            for path, data in sorted(files.items()):
                if data is not None:
                    self._put(path, data, manifest)
            self._catch_up(files, known, manifest)
        except Exception:
            folder.manifest = manifest
            raise
        self._step("note")
        folder.manifest = manifest

    def _put(self, path: str, data: bytes, manifest: dict[str, str]) -> None:
        folder, digest = self._folder, digest_of(data)
        if folder.digest(path) == digest:
            manifest[path] = digest
            return
        self._step(f"write {path}")
        if folder.digest(path) and not self._may_replace(path, manifest):
            return
        folder.put(path, data)
        manifest[path] = digest
        self._reported.pop(path, None)

    def _remove(self, path: str, manifest: dict[str, str]) -> None:
        folder = self._folder
        if folder.files is not None and path in folder.files:
            self._step(f"remove {path}")
            if not self._may_replace(path, manifest):
                return
            folder.drop(path)
        manifest.pop(path, None)
        self._reported.pop(path, None)

    def _may_replace(self, path: str, manifest: Mapping[str, str]) -> bool:
        """A text of a person's that nobody has seen yet stays in its place."""
        return self._folder.digest(path) in (manifest.get(path, ""), self._reported.get(path))

    def _catch_up(self, files: Mapping[str, bytes | None], known: Mapping[str, str], manifest: dict[str, str]) -> None:
        """What log and disk agree upon counts as written out, whoever wrote it."""
        rest = {path: digest for path, digest in known.items() if path not in files}
        for path in rest.keys() | (manifest.keys() - files.keys()):
            wanted, there = rest.get(path, ""), self._folder.digest(path)
            if manifest.get(path, "") == wanted:
                continue
            if not there and not wanted:
                del manifest[path]
            elif there and there == wanted:
                manifest[path] = there

    def read(self, path: str) -> bytes | None:
        return (self._folder.files or {}).get(safe_path(path))

    def ignored(self, known: Mapping[str, str]) -> tuple[str, ...]:
        """Nothing: whatever lies in memory is a file that can be taken."""
        return ()

    def leave(self) -> None:
        self._folder.manifest = {}
        if not self._folder.files:
            self._folder.files = None
