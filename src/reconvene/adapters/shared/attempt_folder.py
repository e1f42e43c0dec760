"""The private folder of one attempt: filled with exactly what the task may read, read back afterwards, then removed.

What is in it after an agent has worked is hostile until shown otherwise: links are never followed, and only plain files
with plain names are taken.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import shutil
import stat
import subprocess
import time
from collections.abc import Mapping

from reconvene.adapters.shared.file_names import (
    Taken,
    safe_relative_path,
    shown,
    why_not_taken,
    why_unsafe,
)
from reconvene.errors import AgentError
from reconvene.ports import Assignment

_SECRET = os.urandom(16)
_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")
_MAX_IGNORED = 100
_MOST_COUNTED = 1_000_000
# Given files carry this time, so that one written anew with the same content still shows that it was written.
_GIVEN_AT = int(time.time()) - 3600


def safe_name(name: str) -> str:
    """One folder name for any id: readable, and never the same for two ids."""
    plain = _UNSAFE.sub("_", name).strip(".")[:80]
    if plain == name:
        return plain
    return f"{plain or 'x'}-{hashlib.sha256(name.encode('utf-8', 'replace')).hexdigest()[:8]}"


def make(scratch: str, assignment: Assignment) -> str:
    """Create the folder (0700) with the assignment's files; leftovers of an earlier process are cleared first.

    It lies in a folder of its own, whose name nobody can guess: an agent that looks around finds no other's work.
    """
    whose = f"{assignment.run}/{assignment.task}/{assignment.attempt}"
    parent = os.path.join(os.path.abspath(scratch), hashlib.sha256(_SECRET + whose.encode()).hexdigest()[:24])
    path = os.path.join(parent, f"{safe_name(assignment.task)}-{assignment.attempt}")
    try:
        os.makedirs(parent, mode=0o700, exist_ok=True)
        remove(path)
        os.mkdir(path, 0o700)
        _fill(path, assignment.files)
    except AgentError:
        clear(path)
        raise
    except OSError as error:
        clear(path)
        raise AgentError(
            f"Cannot prepare the working folder {path}: {error.strerror or error}.",
            hint="Check free space and permissions there.",
        ) from error
    return path


def _fill(root: str, files: Mapping[str, bytes]) -> None:
    for name, data in files.items():
        path = safe_relative_path(name)
        if path is None:
            problem = f"The file {shown(name)!r} cannot be given to an agent: {why_unsafe(name)}."
            raise AgentError(problem, retryable=False)
        target = os.path.join(root, *path.split("/"))
        os.makedirs(os.path.dirname(target), mode=0o700, exist_ok=True)
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        with open(os.open(target, flags, 0o600), "wb") as handle:
            handle.write(data)
        os.utime(target, (_GIVEN_AT, _GIVEN_AT))


def collect(root: str, assignment: Assignment, most: int = 0) -> Taken:
    """New and changed plain files. Deleted ones are no news; everything else is refused with a reason.

    A file that a step must write counts when it was written, even with the content it had before. At most so many
    bytes in all, 0 = any number.
    """
    try:
        return _walk(root, assignment, most)
    except OSError as error:  # it removed or locked its own folder
        return Taken({}, (f"the working folder cannot be read any more: {error.strerror or error}",))


def _walk(root: str, assignment: Assignment, most: int) -> Taken:
    files: dict[str, bytes] = {}
    size, looked_at = 0, 2 * assignment.takes.files
    ignored: list[str] = []
    unreadable: list[OSError] = []
    unseen = 0  # files that were only counted
    for here, folders, names, fd in os.fwalk(root, follow_symlinks=False, onerror=unreadable.append):
        prefix = "" if here == root else os.path.relpath(here, root).replace(os.sep, "/") + "/"
        if len(files) + len(ignored) > looked_at:
            unseen += len(names)
            if unseen > _MOST_COUNTED:
                break
            continue
        folders[:] = [name for name in sorted(folders) if not _refuse_folder(fd, prefix, name, ignored)]
        for at, name in enumerate(sorted(names)):
            if len(files) + len(ignored) > looked_at:
                unseen += len(names) - at
                break
            path = prefix + name
            data = _take(fd, name, path, assignment, len(files))
            if isinstance(data, str):
                ignored.append(f"{shown(path)}: {data}")
            elif data is not None and most and size + len(data) > most:
                ignored.append(f"{shown(path)}: with it there would be more than {most // (1024 * 1024)} MB")
            elif data is not None:
                files[path] = data
                size += len(data)
    ignored += [f"{shown(os.path.relpath(str(error.filename), root))}: {error.strerror}" for error in unreadable]
    count = len(ignored) + unseen
    if count > _MAX_IGNORED:
        said = f"more than {_MOST_COUNTED:,}" if unseen > _MOST_COUNTED else f"{count:,}"
        ignored = [f"{said} files in all; the first {_MAX_IGNORED} are named", *ignored[:_MAX_IGNORED]]
    return Taken(files, tuple(ignored))


def _refuse_folder(fd: int, prefix: str, name: str, ignored: list[str]) -> bool:
    reason = why_unsafe(prefix + name)
    if not reason:
        try:
            status = os.stat(name, dir_fd=fd, follow_symlinks=False)
            reason = "" if stat.S_ISDIR(status.st_mode) else _kind(status.st_mode)
        except OSError as error:
            reason = error.strerror or "cannot be read"
    if reason:
        ignored.append(f"{shown(prefix + name)}: {reason}")
    return bool(reason)


def _take(fd: int, name: str, path: str, assignment: Assignment, already: int) -> bytes | str | None:
    """The file's new content, the reason why it is refused, or None where it is unchanged."""
    if reason := why_unsafe(path):
        return reason
    try:
        mode = os.stat(name, dir_fd=fd, follow_symlinks=False).st_mode
        if not stat.S_ISREG(mode):
            return _kind(mode)
        handle = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=fd)
    except OSError as error:
        return error.strerror or "cannot be read"
    with open(handle, "rb") as opened:
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode):
            return _kind(status.st_mode)
        given = assignment.files.get(path)
        if status.st_size > assignment.takes.file:
            return why_not_taken(assignment, path, status.st_size, already)
        data = opened.read(assignment.takes.file + 1)
    if data == given and not (assignment.writes and status.st_mtime_ns != _GIVEN_AT * 10**9):
        return None
    return why_not_taken(assignment, path, len(data), already) or data


def _kind(mode: int) -> str:
    if stat.S_ISLNK(mode):
        return "symbolic link"
    if stat.S_ISFIFO(mode):
        return "named pipe"
    if stat.S_ISSOCK(mode):
        return "socket"
    return "not a plain file"


def remove(path: str) -> None:
    """Take the folder away, whatever was done to it. What cannot be removed is left for the next attempt to clear."""
    if not os.path.lexists(path):
        return
    if os.path.islink(path) or not os.path.isdir(path):
        os.unlink(path)
        return
    with contextlib.suppress(OSError, RecursionError):
        shutil.rmtree(path)
        return
    # Folders without permissions, or nested deeper than Python recurses: `chmod` and `rm` cope with both.
    for command in (["chmod", "-R", "u+rwX", "--", path], ["rm", "-rf", "--", path]):
        with contextlib.suppress(OSError, subprocess.TimeoutExpired):
            subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=60, check=False)


def clear(path: str) -> None:
    """`remove`, and the run's folder with it when that was the last one."""
    with contextlib.suppress(OSError):
        remove(path)
        os.rmdir(os.path.dirname(path))
