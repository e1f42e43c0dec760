"""The folder of one attempt, as tools see it: made from what the task may read, looked at and changed by name.

No link is ever followed, whoever made it. One rule says which names can be used: `file_names`. What the folder holds is
known, so that what a program changed there can be found.
"""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import NamedTuple

from reconvene.adapters.shared import attempt_folder, safe_files
from reconvene.adapters.shared.file_names import MAX_FILE, MAX_FILES, Taken, shown, wanted, why_unsafe
from reconvene.adapters.tools.offered import ToolFailed
from reconvene.core.paths import safe_path
from reconvene.errors import StoreError
from reconvene.ports import Assignment

MEGABYTE = 1024 * 1024
MOST_CHANGED = 64 * MEGABYTE  # bytes that one call may change, as far as they are taken
_MOST_LOOKED_AT = 20_000  # entries of a folder


class Found(NamedTuple):
    """A plain file of the folder, or what is there instead."""

    path: str
    size: int
    what: str = ""  # "" = a plain file


class Changed(NamedTuple):
    files: Mapping[str, bytes]
    removed: tuple[str, ...]
    ignored: tuple[str, ...]  # that are new


class AttemptTree:
    """`writes`: what tools may change there, () = anything with a good name."""

    def __init__(self, scratch: str, assignment: Assignment, changed: Mapping[str, bytes | None]) -> None:
        self._assignment = assignment
        self.root = attempt_folder.make(scratch, assignment)
        made = os.lstat(self.root)
        self._made = made.st_dev, made.st_ino
        self._known = dict(assignment.files)
        self._said: set[str] = set()
        try:
            for path, data in changed.items():
                if data is not None:
                    self._put(path, data)
                elif path in self._known:
                    self._drop(path)
        except BaseException:
            self.clear()
            raise

    def clear(self) -> None:
        attempt_folder.clear(self.root)

    def named(self, path: str) -> str:
        """The path in its one spelling."""
        if reason := why_unsafe(path):
            raise ToolFailed(f"{shown(path)!r} cannot be used: {reason}. Paths are relative, such as notes/draft.md.")
        return safe_path(path)

    def require_wanted(self, path: str, patterns: tuple[str, ...]) -> None:
        for allowed in (patterns, self._assignment.writes):
            if not wanted(path, allowed):
                raise ToolFailed(f"{path} is not among the files that may be changed: {', '.join(allowed)}.")

    # --- one file ---

    def _require_own(self) -> None:
        """Where nothing keeps a program in, it may have put something else in the place of its folder."""
        with suppress(OSError):
            there = os.lstat(self.root)
            if (there.st_dev, there.st_ino) == self._made:
                return
        raise ToolFailed("The folder is gone: a program took it away, or put something else in its place.")

    def look(self, path: str) -> Found | None:
        with self._parent(path) as parent:
            there = safe_files.look(parent, _last(path)) if parent is not None else None
        return Found(path, there.st_size, _what(there.st_mode)) if there is not None else None

    def read(self, path: str) -> tuple[bytes, int]:
        """Its first bytes, and how many there are."""
        there = self.look(path)
        if there is None:
            raise ToolFailed(f"There is no file {path}. {self._what_there_is()}")
        if there.what:
            raise ToolFailed(f"{path} is {there.what}, not a plain file.")
        with self._parent(path) as parent:
            found = safe_files.read_file(parent, _last(path), MAX_FILE) if parent is not None else None
        if found is None:
            raise ToolFailed(f"{path} cannot be read.")
        return found[0], found[1].st_size

    def write(self, path: str, data: bytes) -> None:
        if len(data) > MAX_FILE:
            raise ToolFailed(f"{path} would have {len(data):,} bytes; {MAX_FILE // MEGABYTE} MB are the most.")
        if path not in self._known and len(self._known) >= 2 * MAX_FILES:
            raise ToolFailed(f"There are {len(self._known):,} files already; no more can be made.")
        there = self.look(path)
        if there is not None and there.what == "a folder":
            raise ToolFailed(f"{path} is a folder.")
        self._put(path, data)

    def delete(self, path: str) -> None:
        there = self.look(path)
        if there is None:
            raise ToolFailed(f"There is no file {path}.")
        if there.what == "a folder":
            raise ToolFailed(f"{path} is a folder; only files can be deleted.")
        self._drop(path)

    def _put(self, path: str, data: bytes) -> None:
        with self._parent(path, make=True) as parent:
            assert parent is not None
            safe_files.replace_file(parent, _last(path), data)
        self._known[path] = data

    def _drop(self, path: str) -> None:
        with self._parent(path) as parent, suppress(FileNotFoundError):
            if parent is not None:
                os.unlink(_last(path), dir_fd=parent)
        self._known.pop(path, None)

    def _parent(self, path: str, *, make: bool = False) -> _Parent:
        self._require_own()
        return _Parent(self.root, path, make)

    def _what_there_is(self) -> str:
        names = [found.path for found in self.all() if not found.what][:20]
        return f"There are: {', '.join(names)}." if names else "The folder is empty."

    # --- all of them ---

    def all(self, below: str = "") -> Iterator[Found]:
        """What is there, in order, but for what lies deeper than any name may."""
        self._require_own()
        left = _MOST_LOOKED_AT
        for here, folders, names, fd in os.fwalk(self.root, follow_symlinks=False):
            prefix = "" if here == self.root else os.path.relpath(here, self.root).replace(os.sep, "/") + "/"
            kept = []
            for name in sorted(folders):
                path = prefix + name
                if _is_folder(fd, name) and not why_unsafe(path):
                    kept += [name] if _leads_to(path, below) else []
                elif _is_below(path, below):
                    yield Found(path, 0, "a link" if not _is_folder(fd, name) else "a folder that is not looked into")
            folders[:] = kept
            for name in sorted(names):
                path = prefix + name
                if not _is_below(path, below):
                    continue
                left -= 1
                with suppress(OSError):
                    status = os.stat(name, dir_fd=fd, follow_symlinks=False)
                    yield Found(path, status.st_size, why_unsafe(path) or _what(status.st_mode))
            if left <= 0:
                return

    def searched(self, below: str, seconds: float) -> Iterator[tuple[str, bytes]]:
        """The plain files there with their contents, as far as they are not too large, until the time is up."""
        until = time.monotonic() + seconds
        for found in self.all(below):
            if time.monotonic() > until:
                raise ToolFailed(
                    f"The search took longer than {seconds:g} s. Search fewer files: `below` names a folder."
                )
            if not found.what and found.size <= MAX_FILE:
                with suppress(ToolFailed, OSError):
                    yield found.path, self.read(found.path)[0]

    def changes(self) -> Changed:
        """What a program did to the folder since the last look."""
        self._require_own()
        os.chmod(self.root, 0o700)
        taken = attempt_folder.collect(self.root, self._assignment._replace(files=self._known, writes=()), MOST_CHANGED)
        removed = tuple(sorted(path for path in self._known if path not in taken.files and self._is_gone(path)))
        self._known = {path: data for path, data in self._known.items() if path not in removed} | taken.files
        ignored = tuple(reason for reason in taken.ignored if reason not in self._said)
        self._said.update(ignored)
        return Changed(taken.files, removed, ignored)

    def _is_gone(self, path: str) -> bool:
        with suppress(OSError, ToolFailed):
            there = self.look(path)
            return there is None or bool(there.what)
        return False

    def taken(self) -> Taken:
        """What the attempt hands over."""
        try:
            self._require_own()
        except ToolFailed as error:
            return Taken({}, (str(error),))
        return attempt_folder.collect(self.root, self._assignment)


class _Parent:
    """The open folder that holds a path, None where there is none. What is in the way is said in words."""

    def __init__(self, root: str, path: str, make: bool) -> None:
        self._path = path
        self._opened = safe_files.parent_of(root, path, set() if make else None)

    def __enter__(self) -> int | None:
        try:
            return self._opened.__enter__()
        except StoreError:
            raise ToolFailed(f"{self._path} cannot be used: a file or a link is where its folder should be.") from None
        except (NotADirectoryError, OSError) as error:
            raise ToolFailed(f"{self._path} cannot be used: {error.strerror or error}. No link is followed.") from None

    def __exit__(self, *error: object) -> None:
        self._opened.__exit__(None, None, None)


def _last(path: str) -> str:
    return path.rpartition("/")[2]


def _is_folder(fd: int, name: str) -> bool:
    with suppress(OSError):
        return stat.S_ISDIR(os.stat(name, dir_fd=fd, follow_symlinks=False).st_mode)
    return False


def _is_below(path: str, below: str) -> bool:
    return not below or path == below or path.startswith(below + "/")


def _leads_to(path: str, below: str) -> bool:
    return _is_below(path, below) or below.startswith(path + "/")


def _what(mode: int) -> str:
    if stat.S_ISREG(mode):
        return ""
    if stat.S_ISDIR(mode):
        return "a folder"
    return "a link" if stat.S_ISLNK(mode) else "no file but a pipe, a socket or a device"
