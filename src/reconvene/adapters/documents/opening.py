"""Opens files so that nothing leads out of the folder they are in, and finds the files of a folder. Follows no link
there, waits for no pipe, and reads nothing."""

from __future__ import annotations

import errno
import os
import re
import stat
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from reconvene.material_ports import DocumentError, Entry, Listing, ReadLimits

_FLAGS = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC
_FOLDER = _FLAGS | os.O_DIRECTORY | os.O_NOFOLLOW
_HOSTILE = re.compile(
    "[\x00-\x1f\x7f-\x9f\ud800-\udfff\u200b-\u200f\u202a-\u202e\u2066-\u2069\ufeff\U000e0000-\U000e007f]"
)
_SKIPPED = frozenset((".git", ".hg", ".svn", "node_modules", "__pycache__", ".venv", ".reconvene"))
_LONGEST = 200
_NAMED = 20
_LOOKED_AT = 50  # entries of folders, for each file that may be read


_LOCK = threading.Lock()
_OURS: set[int] = set()  # handles of documents that are being read


class Opened(NamedTuple):
    handle: int
    name: str
    size: int


def shown(name: str) -> str:
    """A name as it can be printed: without what would break a line, or turn it round."""
    name = _HOSTILE.sub("\ufffd", name)
    return name if len(name) <= _LONGEST else name[: _LONGEST - 1] + "…"


@contextmanager
def opened(path: str, within: str = "") -> Iterator[Opened]:
    name = shown(path if within else os.path.basename(path))
    try:
        with _LOCK:
            handle = _below(within, path) if within else _open(path, _FLAGS)
            _OURS.add(handle)
    except (OSError, ValueError) as error:
        raise _why(name, error) from None
    try:
        found = os.fstat(handle)
        if stat.S_ISDIR(found.st_mode):
            raise DocumentError(f"{name} is a folder, not a file.", fault="kind", hint="Name a file in it.")
        if not stat.S_ISREG(found.st_mode):
            raise DocumentError(f"{name} is no ordinary file: a device, a pipe or a socket.", fault="outside")
        yield Opened(handle, name, found.st_size)
    finally:
        with _LOCK:
            _OURS.discard(handle)
            os.close(handle)


def _open(path: str, flags: int, folder: int | None = None) -> int:
    """Not what this process has open otherwise, its own database say: to close it again would drop its locks."""
    found = os.stat(path, dir_fd=folder, follow_symlinks=not flags & os.O_NOFOLLOW)
    if stat.S_ISREG(found.st_mode) and _is_open_here(found):
        raise _InUse
    return os.open(path, flags, dir_fd=folder)


def _is_open_here(wanted: os.stat_result) -> bool:
    for name in _names("/proc/self/fd") or _names("/dev/fd"):
        try:
            found = os.fstat(int(name))
        except (OSError, ValueError):
            continue
        if (found.st_dev, found.st_ino) == (wanted.st_dev, wanted.st_ino) and int(name) not in _OURS:
            return True
    return False


def _names(folder: str) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError:
        return []


def _why(name: str, error: OSError | ValueError) -> DocumentError:
    code = error.errno if isinstance(error, OSError) else 0
    if code in (errno.ELOOP, errno.EMLINK):
        return DocumentError(
            f"{name} is a link, or leads through one.", fault="outside", hint="Give the file itself, not a link to it."
        )
    if code in (errno.EACCES, errno.EPERM):
        return DocumentError(f"{name} may not be read.", fault="missing", hint="Change its rights, or give a copy.")
    if code == errno.ENXIO:
        return DocumentError(f"{name} is no ordinary file: a device, a pipe or a socket.", fault="outside")
    if isinstance(error, _Outside):
        return DocumentError(f"{name} leads out of the folder.", fault="outside", hint="Name a file in the folder.")
    if isinstance(error, _InUse):
        return DocumentError(f"{name} is in use by this program itself.", fault="outside", hint="Give a copy of it.")
    return DocumentError(f"There is no file {name}.", fault="missing", hint="Look at which files there are.")


class _Outside(ValueError):
    pass


class _InUse(ValueError):
    pass


def _below(folder: str, path: str) -> int:
    """Step by step, from the folder on, through no link."""
    steps = path.split("/")
    if "\0" in path or any(step in ("", ".", "..") for step in steps):
        raise _Outside
    here = os.open(folder, _FLAGS | os.O_DIRECTORY)
    try:
        for step in steps[:-1]:
            try:
                inner = os.open(step, _FOLDER, dir_fd=here)
            except NotADirectoryError as error:
                is_link = stat.S_ISLNK(os.lstat(step, dir_fd=here).st_mode)
                raise OSError(errno.ELOOP if is_link else errno.ENOENT, "") from error
            os.close(here)
            here = inner
        return _open(steps[-1], _FLAGS | os.O_NOFOLLOW, here)
    finally:
        os.close(here)


class Walked:
    """The files of a folder, and what was left out, sorted by why."""

    def __init__(self, limits: ReadLimits) -> None:
        self.files: list[Entry] = []
        self._limits = limits
        self._left: dict[str, list[str]] = {}
        self._size = 0
        self._looks = limits.files * _LOOKED_AT

    def through(self, folder: str, below: str = "") -> None:
        try:
            handle = _folder(folder, below)
        except (OSError, ValueError) as error:
            raise _why_no_folder(shown(below or os.path.basename(folder)), error) from None
        waiting = [(below, handle, 0)]
        try:
            while waiting:
                prefix, handle, depth = waiting.pop()
                try:
                    waiting += self._look(prefix, handle, depth)
                finally:
                    os.close(handle)
        finally:
            for _, handle, _ in waiting:
                os.close(handle)
        self.files.sort(key=lambda entry: entry.name)

    def leave(self, why: str, name: str) -> None:
        self._left.setdefault(why, []).append(shown(name))

    def notes(self) -> tuple[str, ...]:
        return tuple(f"{why}: {_listed(names)}." for why, names in self._left.items())

    def _look(self, prefix: str, handle: int, depth: int) -> list[tuple[str, int, int]]:
        """Takes the files; the folders in it, opened, the first of them last."""
        inner: list[tuple[str, int, int]] = []
        for name in sorted(os.listdir(handle)):
            path = f"{prefix}/{name}" if prefix else name
            self._looks -= 1
            if self._looks < 0:
                self.leave("Not looked at, because the folder holds too much, from here on", path)
                break
            try:
                found = os.lstat(name, dir_fd=handle)
            except OSError:
                continue  # gone meanwhile
            if stat.S_ISDIR(found.st_mode):
                if (deeper := self._deeper(name, path, handle, depth)) >= 0:
                    inner.insert(0, (path, deeper, depth + 1))
            elif why := self._why_not(name, found):
                self.leave(why, path)
            else:
                self._size += found.st_size
                self.files.append(Entry(path, found.st_size))
        return inner

    def _deeper(self, name: str, path: str, handle: int, depth: int) -> int:
        if name in _SKIPPED:
            self.leave("Folders that are not read", path)
        elif depth >= self._limits.depth:
            self.leave("Nested too deeply, not read", path)
        else:
            try:
                return os.open(name, _FOLDER, dir_fd=handle)
            except OSError:
                self.leave("May not be read", path)
        return -1

    def _why_not(self, name: str, found: os.stat_result) -> str:
        if stat.S_ISLNK(found.st_mode):
            return "Links, which are not followed"
        if not stat.S_ISREG(found.st_mode):
            return "No ordinary files"
        if name.startswith("."):
            return "Hidden files, not read"
        if len(self.files) >= self._limits.files:
            return f"Left out, because only {self._limits.files} files are read"
        if self._size + found.st_size > self._limits.folder_bytes:
            return f"Left out, because only {self._limits.folder_bytes // 2**20} MB of a folder are read"
        return ""


def listing(folder: str, below: str, limits: ReadLimits) -> Listing:
    walked = Walked(limits)
    walked.through(folder, below)
    usable = tuple(entry for entry in walked.files if not _HOSTILE.search(entry.name))
    for entry in walked.files:
        if _HOSTILE.search(entry.name):
            walked.leave("Names that cannot be shown; rename these files", entry.name)
    return Listing(usable, walked.notes())


def _folder(folder: str, below: str) -> int:
    if not below:
        return os.open(folder, _FLAGS | os.O_DIRECTORY)
    handle = _below(folder, below.rstrip("/"))
    if stat.S_ISDIR(os.fstat(handle).st_mode):
        return handle
    os.close(handle)
    raise NotADirectoryError(errno.ENOTDIR, "")


def _why_no_folder(name: str, error: OSError | ValueError) -> DocumentError:
    if isinstance(error, NotADirectoryError):
        return DocumentError(f"{name} is no folder.", fault="kind", hint="Name a folder, or read the file itself.")
    if isinstance(error, FileNotFoundError):
        return DocumentError(f"There is no folder {name}.", fault="missing")
    return _why(name, error)


def _listed(names: list[str]) -> str:
    rest = len(names) - _NAMED
    return ", ".join(names[:_NAMED]) + (f" and {rest:,} more" if rest > 0 else "")
