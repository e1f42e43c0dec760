"""Git's objects as files of their own ("loose"), and trees of them from path → digest, without the git library.

An object's id is the SHA-1 of its kind, its length and its bytes: the same content has the same id, whoever writes it.
What is there is never changed: a file comes into being whole, by a rename. Nothing is synced to disk one by one, since
all of it can be made again from the log. What plain git has packed is read through the library, loaded for that alone.
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from hashlib import sha1

from msgspec import Struct

from reconvene.adapters.git.message import Person
from reconvene.core.paths import safe_path
from reconvene.errors import UserError

_FILE, _FOLDER = b"100644", b"40000"


class Found(Struct, frozen=True):
    """A commit as git holds it."""

    id: str
    parents: list[str]
    author: Person
    seconds: int
    message: str


class Objects:
    def __init__(self, repository: str) -> None:
        self._repository = repository
        self._folder = os.path.join(repository, "objects")
        self._sound: set[str] = set()  # ids of those that were read and are whole

    def add_blob(self, data: bytes) -> str:
        return self._add(b"blob", data)

    def add_tree(self, entries: Iterable[tuple[str, str, bool]]) -> str:
        """Of (name, id, whether it is a folder)."""
        lines = []
        for name, oid, is_folder in entries:
            written = name.encode()
            # Git sorts a folder as if its name ended in a slash.
            line = b"%b %b\0%b" % (_FOLDER if is_folder else _FILE, written, bytes.fromhex(oid))
            lines.append((written + b"/" if is_folder else written, line))
        return self._add(b"tree", b"".join(line for _, line in sorted(lines)))

    def add_commit(self, tree: str, parent: str, author: Person, committer: Person, seconds: int, message: str) -> str:
        head = [f"tree {tree}"]
        head += [f"parent {parent}"] if parent else []
        head += [f"author {author.name} <{author.email}> {seconds} +0000"]
        head += [f"committer {committer.name} <{committer.email}> {seconds} +0000"]
        return self._add(b"commit", ("\n".join(head) + "\n\n" + message).encode())

    def commit(self, oid: str) -> Found | None:
        """None where there is none, or what a power cut left of one."""
        kind, data = self._read(oid)
        if kind != b"commit":
            return None
        head, _, message = data.partition(b"\n\n")
        lines = head.decode("utf-8", "replace").split("\n")
        parents = [line.removeprefix("parent ") for line in lines if line.startswith("parent ")]
        author = next((line.removeprefix("author ") for line in lines if line.startswith("author ")), "")
        name, _, rest = author.partition(" <")
        email, _, when = rest.partition("> ")
        seconds = when.partition(" ")[0]
        known = int(seconds) if seconds.isdecimal() else 0
        return Found(oid, parents, Person(name, email), known, message.decode("utf-8", "replace"))

    def blob(self, oid: str) -> bytes:
        """Empty where there is none."""
        kind, data = self._read(oid)
        return data if kind == b"blob" else b""

    def is_sound(self, oid: str) -> bool:
        """Whether its bytes are there, and those that its id says."""
        kind, data = self._read(oid)
        return sha1(b"%b %d\0%b" % (kind, len(data), data), usedforsecurity=False).hexdigest() == oid

    def unsound(self, tip: str) -> str:
        """The first object that this commit is made of and that is not whole; "" where all are. Each is read once."""
        todo = [tip] if tip else []
        while todo:
            oid = todo.pop()
            if oid in self._sound:
                continue
            kind, data = self._read(oid)
            if sha1(b"%b %d\0%b" % (kind, len(data), data), usedforsecurity=False).hexdigest() != oid:
                return oid
            self._sound.add(oid)
            todo += _made_of(kind, data)
        return ""

    def reachable(self, tips: Iterable[str]) -> set[str]:
        """Every object that these commits are made of, and those before them."""
        found, todo = set[str](), [tip for tip in tips if tip]
        while todo:
            oid = todo.pop()
            if oid in found:
                continue
            found.add(oid)
            todo += _made_of(*self._read(oid))
        return found

    def remove(self, oids: Iterable[str]) -> None:
        """Those that lie in files of their own."""
        for oid in oids:
            with suppress(FileNotFoundError):
                os.unlink(self._path(oid))

    def _add(self, kind: bytes, data: bytes) -> str:
        whole = b"%b %d\0%b" % (kind, len(data), data)
        oid = sha1(whole, usedforsecurity=False).hexdigest()
        path = self._path(oid)
        if not _is_there(path):
            self._write(path, zlib.compress(whole, 1))
        return oid

    def _write(self, path: str, packed: bytes) -> None:
        folder = os.path.dirname(path)
        aside = os.path.join(folder, f"tmp_obj_{os.urandom(6).hex()}")  # a name that `git gc` knows to sweep up
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
        try:
            handle = os.open(aside, flags, 0o444)
        except FileNotFoundError:
            os.makedirs(folder, exist_ok=True)
            handle = os.open(aside, flags, 0o444)
        try:
            with open(handle, "wb") as file:
                file.write(packed)
            os.rename(aside, path)
        except BaseException:
            with suppress(OSError):
                os.unlink(aside)
            raise

    def _read(self, oid: str) -> tuple[bytes, bytes]:
        """Kind and bytes; both empty where it is not there or cannot be read."""
        try:
            with open(self._path(oid), "rb") as file:
                head, _, data = zlib.decompress(file.read()).partition(b"\0")
            kind, _, size = head.partition(b" ")
            return (kind, data) if size == b"%d" % len(data) else (b"", b"")
        except FileNotFoundError:
            return self._read_packed(oid)
        except zlib.error:
            return b"", b""

    def _read_packed(self, oid: str) -> tuple[bytes, bytes]:
        packs: list[str] = []
        with suppress(FileNotFoundError):
            packs = os.listdir(os.path.join(self._folder, "pack"))
        if not any(name.endswith(".pack") for name in packs):
            return b"", b""
        from reconvene.adapters.git.library import Library

        return Library(self._repository).raw(oid)

    def _path(self, oid: str) -> str:
        return os.path.join(self._folder, oid[:2], oid[2:])


def _made_of(kind: bytes, data: bytes) -> list[str]:
    if kind == b"commit":
        head = data.partition(b"\n\n")[0].decode("utf-8", "replace").split("\n")
        return [line.partition(" ")[2] for line in head if line.startswith(("tree ", "parent "))]
    return _ids_in(data) if kind == b"tree" else []


def _ids_in(tree: bytes) -> list[str]:
    """Of a tree's entries: mode, a blank, a name, a zero, and 20 bytes of an id each."""
    found, at = [], 0
    while (end := tree.find(b"\0", at)) >= 0:
        found.append(tree[end + 1 : end + 21].hex())
        at = end + 21
    return found


def _is_there(path: str) -> bool:
    """An empty file is what a power cut leaves behind: it is written again."""
    try:
        return os.stat(path).st_size > 0
    except FileNotFoundError:
        return False


class TreeWriter:
    """Writes one version after another, each at the cost of what changed in it: untouched folders keep their id.

    Every name is checked again, so that no tree can hold `.git`, `..` or a path that is both file and folder. After an
    error it is of no further use: it no longer knows what was written.
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
        for path in self._files.keys() - files.keys():
            self._remove(path)
        for path, digest in files.items():
            if self._files.get(path) != digest:
                self._put(path, self._blob_id(digest, blob))
        self._files = dict(files)
        return self._flush()

    def _blob_id(self, digest: str, blob: Callable[[str], bytes]) -> str:
        if digest not in self._blobs:
            self._blobs[digest] = self._objects.add_blob(blob(digest))
        return self._blobs[digest]

    def _put(self, path: str, blob: str) -> None:
        if safe_path(path) != path:
            raise UserError(f"The history cannot hold the file {path!r}.", hint=f"Call it {safe_path(path)!r}.")
        folder, name = os.path.split(path)
        self._ensure(folder)
        if path in self._folders:
            raise _both(path)
        self._folders[folder][name] = (blob, False)

    def _ensure(self, folder: str) -> None:
        self._touched.add(folder)
        if folder in self._folders:
            return
        outer, name = os.path.split(folder)
        self._ensure(outer)
        if name in self._folders[outer]:
            raise _both(folder)
        self._folders[outer][name] = ("", True)
        self._folders[folder] = {}

    def _remove(self, path: str) -> None:
        folder, name = os.path.split(path)
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
                outer, name = os.path.split(folder)
                self._folders[outer][name] = (tree, True)
        return tree


def _with_outer(folder: str) -> Iterator[str]:
    while folder:
        yield folder
        folder = os.path.dirname(folder)
    yield ""


def _both(path: str) -> UserError:
    return UserError(f"{path!r} would be a file and a folder at the same time.", hint="Give one of them another name.")
