"""Where attempts have their folders: outside every home, one folder for each process of the engine, gone with it.

A lock that the process holds says that it lives. What a process that died has left behind is taken away by the next:
first the programs that are still at work, then the folders. A program that acts on the world stays until it is decided
what becomes of it.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import secrets
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager

from reconvene.adapters.sandbox import remains
from reconvene.errors import UserError

_LOCK = ".lock"


class Places:
    """`root`: the folder of all of them. Made when it is first asked for."""

    def __init__(self, root: str) -> None:
        self._root = root
        self._own = ""
        self._lock = -1
        self._process = 0

    def own(self) -> str:
        """This process's folder."""
        if not self._own or self._process != os.getpid():
            self._own = self._make()
            self._process = os.getpid()
            atexit.register(self.close)
        return self._own

    def new(self) -> str:
        """An empty folder with a name that nobody can guess."""
        path = os.path.join(self.own(), secrets.token_hex(6))
        os.mkdir(path, 0o700)
        return path

    def close(self) -> None:
        if self._own and self._process == os.getpid():
            remove(self._own)
            with contextlib.suppress(OSError):
                os.unlink(self._own + _LOCK)
            with contextlib.suppress(OSError):
                os.close(self._lock)
            self._own = ""

    def _make(self) -> str:
        import fcntl

        os.makedirs(self._root, mode=0o700, exist_ok=True)
        self.sweep()
        while True:
            path = os.path.join(os.path.realpath(self._root), secrets.token_hex(6))
            lock = os.open(path + _LOCK, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
            fcntl.flock(lock, fcntl.LOCK_EX)
            if _is_at(lock, path + _LOCK):  # nobody swept it before it was locked
                os.mkdir(path, 0o700)
                self._lock = lock
                return path
            os.close(lock)

    def others(self) -> bool:
        """Whether there are folders of other processes."""
        own = os.path.basename(self._own) if self._process == os.getpid() else ""
        return any(name.removesuffix(_LOCK) != own for name in _names(self._root))

    def sweep(self, home: str = "", run: str = "") -> list[str]:
        """End and take away what belongs to no living process; the folders of attempts that act on the world and are
        still at work. Of this run nobody else is at work: whoever sweeps for it holds its lease. Without a run, what
        living processes have started stays: they may be looking at something for a run that is not there yet."""
        if not self.others():
            return []
        left: list[str] = []
        root = os.path.realpath(self._root)
        with _turn(root):
            for name in {name.removesuffix(_LOCK) for name in _names(root)}:
                path = os.path.join(root, name)
                if path == self._own and self._process == os.getpid():
                    continue
                with _dead(path + _LOCK) as dead:
                    if not dead and not run:
                        continue
                    stays = _end_in(path, None if dead else (home, run))
                    left += stays
                    if dead and not stays:
                        remove(path)
                        with contextlib.suppress(OSError):
                            os.unlink(path + _LOCK)
        return left

    def end_own(self) -> None:
        """At once, all that this process has started for attempts."""
        if self._own and self._process == os.getpid():
            remains.end(_attempts(self._own), at_once=True)


@contextmanager
def _turn(root: str) -> Iterator[None]:
    """One sweeps at a time: who waits finds everything ended."""
    import fcntl

    handle = os.open(root, os.O_RDONLY | os.O_CLOEXEC)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


@contextmanager
def _dead(path: str) -> Iterator[bool]:
    """Whether nobody holds this lock; it is held meanwhile."""
    import fcntl

    try:
        lock = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    except FileNotFoundError:
        yield True
        return
    except OSError:
        yield False
        return
    try:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            yield False
        else:
            yield True
    finally:
        os.close(lock)


def _attempts(place: str) -> list[str]:
    return [os.path.join(place, name) for name in _names(place)]


def _end_in(place: str, only: tuple[str, str] | None) -> list[str]:
    """End the attempts there, of this home and run alone where they are given; those that act on the world and are
    still at work."""
    known = {path: remains.noted(path) for path in _attempts(place)}
    if only is not None:
        known = {path: one for path, one in known.items() if one and (one.home, one.run) == only}
    lasting = [path for path, one in known.items() if one and one.effects and remains.alive([path])]
    end(set(known) - set(lasting))
    return lasting


def end(folders: set[str]) -> None:
    if folders and (left := remains.end(folders)):
        pids = " ".join(map(str, sorted(left)))
        raise UserError(
            f"programs of a process that died cannot be ended (process {pids}); nothing was started",
            hint=f"end them, then type the same again: kill -9 {pids}",
        )


def _names(folder: str) -> list[str]:
    with contextlib.suppress(OSError):
        return sorted(os.listdir(folder))
    return []


def _is_at(handle: int, path: str) -> bool:
    try:
        found, held = os.stat(path), os.fstat(handle)
    except OSError:
        return False
    return (found.st_dev, found.st_ino) == (held.st_dev, held.st_ino)


def remove(path: str) -> None:
    """Take a folder away, whatever was done to it."""
    with contextlib.suppress(OSError, RecursionError):
        shutil.rmtree(path)
    if not os.path.lexists(path):
        return
    for command in (["chmod", "-R", "u+rwX", "--", path], ["rm", "-rf", "--", path]):
        with contextlib.suppress(OSError, subprocess.TimeoutExpired):
            subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=60, check=False)
