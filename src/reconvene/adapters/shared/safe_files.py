"""Files below one folder, without ever following a link.

Every step goes through an open folder (`dir_fd`, O_NOFOLLOW), so that nobody can swap a folder for a link between a
look and a touch. The folder itself may be reached through links: somebody chose it. Knows nothing of runs or logs.
"""

from __future__ import annotations

import errno
import hashlib
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from reconvene.errors import StoreError

TEMP_PREFIX = ".reconvene-tmp-"
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC  # NONBLOCK: a pipe must not hold us up
_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_READS = 3


@contextmanager
def parent_of(root: str, path: str, made: set[str] | None = None) -> Iterator[int | None]:
    """The open folder that holds `path`, None where it is missing. With `made`, missing folders are made and added."""
    folder = _open_parent(root, path, made)
    try:
        yield folder
    finally:
        if folder is not None:
            os.close(folder)


def open_folder(name: str, inside: int) -> int:
    return os.open(name, _FOLDER | os.O_NOFOLLOW, dir_fd=inside)


def open_root(root: str) -> int:
    return os.open(root, _FOLDER)


def look(folder: int, name: str) -> os.stat_result | None:
    try:
        return os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return None


def read_file(folder: int, name: str, most: int = -1) -> tuple[bytes, os.stat_result] | None:
    """The bytes and the stamp they belong to; None where there is no plain file. PermissionError is the caller's.
    At most so many bytes, -1 = all.

    A file that changes while it is read is read again, a few times.
    """
    there = look(folder, name)
    if there is None or not stat.S_ISREG(there.st_mode):
        return None
    try:
        handle = os.open(name, _READ, dir_fd=folder)
    except OSError as error:
        if error.errno in (errno.ENOENT, errno.ELOOP, errno.ENXIO):  # gone, or swapped since the look
            return None
        raise
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        return None
    with os.fdopen(handle, "rb") as file:
        for _ in range(_READS):
            before = os.fstat(handle)
            file.seek(0)
            data = file.read(most)
            after = os.fstat(handle)
            if (before.st_mtime_ns, before.st_size) == (after.st_mtime_ns, after.st_size):
                break
        return data, after


def replace_file(folder: int, name: str, data: bytes) -> os.stat_result:
    """The whole file or nothing, on disk before it takes its place. A link of that name is itself replaced."""
    # The same name every time: what a crash left behind is overwritten when the write is repeated.
    temp = TEMP_PREFIX + hashlib.sha256(os.fsencode(name)).hexdigest()[:16]
    old = look(folder, name)
    with suppress(FileNotFoundError):
        os.unlink(temp, dir_fd=folder)
    try:
        with os.fdopen(os.open(temp, _CREATE, 0o666, dir_fd=folder), "wb") as file:
            if old is not None and stat.S_ISREG(old.st_mode):
                os.fchmod(file.fileno(), stat.S_IMODE(old.st_mode) & 0o777)
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temp, name, src_dir_fd=folder, dst_dir_fd=folder)
    except BaseException:
        with suppress(OSError):
            os.unlink(temp, dir_fd=folder)
        raise
    return os.stat(name, dir_fd=folder, follow_symlinks=False)


def _open_parent(root: str, path: str, made: set[str] | None) -> int | None:
    if made is not None:
        os.makedirs(root, exist_ok=True)
    held = -1
    try:
        held = open_root(root)
        at = ""
        for name in path.split("/")[:-1]:
            at = f"{at}/{name}" if at else name
            inner = _open_inner(held, name, at, made)
            os.close(held)
            held = inner
    except BaseException as error:
        if held >= 0:
            os.close(held)
        if isinstance(error, FileNotFoundError) and made is None:
            return None
        raise
    return held


def _open_inner(folder: int, name: str, at: str, made: set[str] | None) -> int:
    try:
        return open_folder(name, folder)
    except FileNotFoundError:
        if made is None:
            raise
    except OSError as error:
        there = look(folder, name)
        if there is None or stat.S_ISDIR(there.st_mode):
            raise
        what = "a link" if stat.S_ISLNK(there.st_mode) else "a file"
        raise StoreError(
            f"The workspace needs a folder {at!r}, but {what} of that name is in the way; links are never followed.",
            hint=f"Move or remove {at!r} in the workspace, then resume the run.",
        ) from error
    os.mkdir(name, dir_fd=folder)
    made.add(at)
    os.fsync(folder)
    return open_folder(name, folder)
