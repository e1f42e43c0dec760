"""Git trees from path → digest. A further version costs what changed in it: untouched folders keep their id.

Every name is checked again, so that no tree can hold `.git`, `..` or a path that is both file and folder.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from reconvene.core.paths import safe_path
from reconvene.errors import UserError

if TYPE_CHECKING:
    from pygit2 import Oid, Repository

_FILE, _FOLDER = 0o100644, 0o040000


class TreeWriter:
    """Writes one version after another into the repository's objects. Nothing refers to them yet.

    After an error it is of no further use: it no longer knows what was written.
    """

    def __init__(self, blobs: dict[str, Oid]) -> None:
        self._blobs = blobs  # digest → blob id, kept by the caller for all runs
        self._files: dict[str, str] = {}
        self._folders: dict[str, dict[str, tuple[Oid | None, int]]] = {"": {}}
        self._touched = {""}

    def write(self, repository: Repository, files: Mapping[str, str], blob: Callable[[str], bytes]) -> Oid:
        """The id of the tree that holds exactly these files."""
        gone = self._files.keys() - files.keys()
        changed = [path for path, digest in files.items() if self._files.get(path) != digest]
        for path in gone:
            self._remove(path)
        for path in changed:
            self._put(path, self._blob_id(repository, files[path], blob))
        self._files = dict(files)
        return self._flush(repository)

    def _blob_id(self, repository: Repository, digest: str, blob: Callable[[str], bytes]) -> Oid:
        known = self._blobs.get(digest)
        if known is None or known not in repository:
            known = self._blobs[digest] = repository.create_blob(blob(digest))
        return known

    def _put(self, path: str, blob: Oid) -> None:
        if safe_path(path) != path:
            raise UserError(f"The history cannot hold the file {path!r}.", hint=f"Call it {safe_path(path)!r}.")
        folder, name = _split(path)
        self._ensure(folder, path)
        if path in self._folders:
            raise _both(path)
        self._folders[folder][name] = (blob, _FILE)

    def _ensure(self, folder: str, path: str) -> None:
        self._touched.add(folder)
        if folder in self._folders:
            return
        outer, name = _split(folder)
        self._ensure(outer, path)
        if name in self._folders[outer]:
            raise _both(folder)
        self._folders[outer][name] = (None, _FOLDER)
        self._folders[folder] = {}

    def _remove(self, path: str) -> None:
        folder, name = _split(path)
        del self._folders[folder][name]
        self._touched.add(folder)
        if folder and not self._folders[folder]:
            del self._folders[folder]
            self._touched.discard(folder)
            self._remove(folder)

    def _flush(self, repository: Repository) -> Oid:
        """Deepest folders first; each tells the one around it."""
        while True:
            folder = max(self._touched, key=lambda path: path.count("/") + bool(path))
            self._touched.discard(folder)
            builder = repository.TreeBuilder()
            for name, (oid, mode) in self._folders[folder].items():
                assert oid is not None  # an inner folder is flushed before the outer one
                builder.insert(name, oid, mode)
            tree = builder.write()
            if not folder:
                self._touched = {""}
                return tree
            outer, name = _split(folder)
            self._folders[outer][name] = (tree, _FOLDER)
            self._touched.add(outer)


def _split(path: str) -> tuple[str, str]:
    folder, _, name = path.rpartition("/")
    return folder, name


def _both(path: str) -> UserError:
    return UserError(f"{path!r} would be a file and a folder at the same time.", hint="Give one of them another name.")
