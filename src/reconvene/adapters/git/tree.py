"""Git trees from path → digest. A further version costs what changed in it: untouched folders keep their id.

Every name is checked again, so that no tree can hold `.git`, `..` or a path that is both file and folder.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from reconvene.adapters.git.objects import Objects
from reconvene.core.paths import safe_path
from reconvene.errors import UserError


class TreeWriter:
    """Writes one version after another into the repository's objects. Nothing refers to them yet.

    After an error it is of no further use: it no longer knows what was written.
    """

    def __init__(self, objects: Objects, blobs: dict[str, str]) -> None:
        self._objects = objects
        self._blobs = blobs  # digest → id of a blob that is there
        self._files: dict[str, str] = {}
        self._folders: dict[str, dict[str, tuple[str, bool]]] = {"": {}}  # path → name → id, whether a folder
        self._touched = {""}

    def blobs(self) -> dict[str, str]:
        """Digest → blob id, of what the last version holds."""
        return {digest: self._blobs[digest] for digest in self._files.values()}

    def write(self, files: Mapping[str, str], blob: Callable[[str], bytes]) -> str:
        """The id of the tree that holds exactly these files."""
        gone = self._files.keys() - files.keys()
        changed = [path for path, digest in files.items() if self._files.get(path) != digest]
        for path in gone:
            self._remove(path)
        for path in changed:
            self._put(path, self._blob_id(files[path], blob))
        self._files = dict(files)
        return self._flush()

    def _blob_id(self, digest: str, blob: Callable[[str], bytes]) -> str:
        known = self._blobs.get(digest)
        if known is None:
            known = self._blobs[digest] = self._objects.add_blob(blob(digest))
        return known

    def _put(self, path: str, blob: str) -> None:
        if safe_path(path) != path:
            raise UserError(f"The history cannot hold the file {path!r}.", hint=f"Call it {safe_path(path)!r}.")
        folder, name = _split(path)
        self._ensure(folder, path)
        if path in self._folders:
            raise _both(path)
        self._folders[folder][name] = (blob, False)

    def _ensure(self, folder: str, path: str) -> None:
        self._touched.add(folder)
        if folder in self._folders:
            return
        outer, name = _split(folder)
        self._ensure(outer, path)
        if name in self._folders[outer]:
            raise _both(folder)
        self._folders[outer][name] = ("", True)
        self._folders[folder] = {}

    def _remove(self, path: str) -> None:
        folder, name = _split(path)
        del self._folders[folder][name]
        self._touched.add(folder)
        if folder and not self._folders[folder]:
            del self._folders[folder]
            self._touched.discard(folder)
            self._remove(folder)

    def _flush(self) -> str:
        """Deepest folders first; each tells the one around it."""
        todo = {outer for folder in self._touched for outer in _with_outer(folder)}
        self._touched = {""}
        tree = ""
        for folder in sorted(todo, key=lambda path: path.count("/") + bool(path), reverse=True):
            entries = self._folders[folder].items()
            tree = self._objects.add_tree((name, oid, is_folder) for name, (oid, is_folder) in entries)
            if folder:
                outer, name = _split(folder)
                self._folders[outer][name] = (tree, True)
        return tree


def _with_outer(folder: str) -> Iterator[str]:
    while folder:
        yield folder
        folder, _ = _split(folder)
    yield ""


def _split(path: str) -> tuple[str, str]:
    folder, _, name = path.rpartition("/")
    return folder, name


def _both(path: str) -> UserError:
    return UserError(f"{path!r} would be a file and a folder at the same time.", hint="Give one of them another name.")
