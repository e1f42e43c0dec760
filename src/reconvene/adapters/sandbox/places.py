"""Where attempts have their folders: outside every home, one folder for each process of the engine, gone with it.

A lock that the process holds says that it lives. What a process that died has left behind is taken away by the next.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import secrets
import shutil
import subprocess

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

    def sweep(self) -> list[str]:
        """Take away what belongs to no living process; what that was."""
        import fcntl

        swept = []
        for name in _names(self._root):
            path = os.path.join(self._root, name.removesuffix(_LOCK))
            if not name.endswith(_LOCK):
                if not os.path.lexists(path + _LOCK):
                    remove(path)
                continue
            with contextlib.suppress(OSError):
                lock = os.open(path + _LOCK, os.O_RDWR | os.O_CLOEXEC)
                try:
                    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    remove(path)
                    os.unlink(path + _LOCK)
                    swept.append(path)
                finally:
                    os.close(lock)
        return swept


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
