"""The files of a worktree that an agent has had in its hands: nothing in it is followed, opened or believed.

Knows paths and bytes; nothing of git beyond the name `.git`.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
import subprocess
from collections.abc import Callable, Iterable, Mapping

from reconvene.core.paths import is_safe

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


def write(root: str, files: Mapping[str, bytes]) -> tuple[str, ...]:
    """Put these files there. What would lie behind a link, or has an unsafe name, is left out: the reasons why."""
    ignored: list[str] = []
    for path, data in files.items():
        if not is_safe(path):
            ignored.append(f"{path}: not a path inside the project")
            continue
        try:
            _put(root, path.split("/"), data)
        except OSError as error:
            ignored.append(f"{path}: {_why(error)}")
    return tuple(ignored)


def _why(error: OSError) -> str:
    """In words; a link on the way shows as one of two errors, by system and place."""
    if isinstance(error, NotADirectoryError) or "symbolic link" in str(error.strerror).lower():
        return "it lies behind a symbolic link or a file"
    return error.strerror or "it cannot be written"


def _put(root: str, parts: list[str], data: bytes) -> None:
    here = os.open(root, _FOLDER)
    try:
        for part in parts[:-1]:
            with contextlib.suppress(FileExistsError):
                os.mkdir(part, dir_fd=here)
            below = os.open(part, _FOLDER, dir_fd=here)
            os.close(here)
            here = below
        mode = _mode(here, parts[-1])
        with contextlib.suppress(FileNotFoundError):
            os.unlink(parts[-1], dir_fd=here)  # never written through: it may be one name of a file elsewhere
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        with open(os.open(parts[-1], flags, mode, dir_fd=here), "wb") as file:
            file.write(data)
    finally:
        os.close(here)


def _mode(folder: int, name: str) -> int:
    """As the file was: an executable one stays so."""
    try:
        before = os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode
    except FileNotFoundError:
        return 0o644
    if stat.S_ISLNK(before):
        raise OSError("it is a symbolic link")
    return 0o755 if before & 0o100 else 0o644


def defuse(root: str) -> None:
    """Take away what git must not meet: repositories inside the tree, pipes, sockets, devices."""
    waiting = [root]
    while waiting:
        here = waiting.pop()
        for entry in _entries(here):
            if entry.name.lower() == ".git" and here != root:
                remove(entry.path)
            elif entry.is_dir(follow_symlinks=False):
                waiting.append(entry.path)
            elif not entry.is_symlink() and not entry.is_file(follow_symlinks=False):
                os.unlink(entry.path)


def remove_matching(root: str, names: Iterable[str], unwanted: Callable[[str], bool]) -> None:
    """Of these, take away what is unwanted; of a folder (its name ends with a slash), whatever in it is."""
    for name in names:
        if unwanted(name + "x" if name.endswith("/") else name):
            remove(os.path.join(root, name.rstrip("/")))


def _entries(folder: str) -> list[os.DirEntry[str]]:
    """What is in a folder; one that was locked is opened first."""
    for _ in range(2):
        with contextlib.suppress(OSError), os.scandir(folder) as found:
            return list(found)
        with contextlib.suppress(OSError):
            os.chmod(folder, 0o700)
    return []


def remove(path: str) -> None:
    """Take a file or folder away, whatever was done to it."""
    if os.path.islink(path) or not os.path.isdir(path):
        with contextlib.suppress(OSError):
            os.unlink(path)
        return
    with contextlib.suppress(OSError, RecursionError):
        shutil.rmtree(path)
        return
    # folders without permissions, or nested deeper than Python recurses
    for command in (["chmod", "-R", "u+rwX", "--", path], ["rm", "-rf", "--", path]):
        with contextlib.suppress(OSError, subprocess.TimeoutExpired):
            subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=60, check=False)


def save(path: str, data: bytes) -> None:
    """Only for files of the engine: it follows links."""
    with open(path, "wb") as file:
        file.write(data)


def read_small(path: str, limit: int) -> bytes:
    """A plain file's beginning, b"" for anything else: a link, a pipe, nothing."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return b""
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        return b""
    with open(handle, "rb") as file:
        return file.read(limit)
