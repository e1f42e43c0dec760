"""Tells at once whether the process behind a lease still lives. It must not know what the lease is for.

Whoever takes a lease keeps a file of its own locked; the system drops the lock when the process ends, however it ends.
So "can I lock it?" answers "is it dead?", with no clock and no waiting. Its name is a token that is never used again.

A look is itself a lock for a moment: callers must see to it that `show` and `is_alive` of all processes take turns.
"""

from __future__ import annotations

import fcntl
import os
import re
from contextlib import suppress

from reconvene.adapters.sqlite.opening import make_private_folder

_TOKEN = re.compile("[0-9a-f]{16}")


class Presence:
    """One user's sign of life in `folder`, put up when first needed."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._handle = -1
        self.token = os.urandom(8).hex()

    def show(self) -> None:
        """Put the sign up. Must come before the token is written anywhere."""
        if self._handle >= 0:
            return
        make_private_folder(self._folder)
        for name in os.listdir(self._folder):
            if _TOKEN.fullmatch(name):
                self.is_alive(name)  # removes what the dead left behind
        self._handle = os.open(self._path(self.token), os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
        fcntl.flock(self._handle, fcntl.LOCK_EX)

    def is_alive(self, token: str) -> bool:
        """Whether the owner of that token lives. A dead one's file is removed."""
        path = self._path(token)
        try:
            handle = os.open(path, os.O_RDWR)
        except FileNotFoundError:
            return False
        except PermissionError:
            return True  # another person's; the safe guess
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        else:
            os.unlink(path)
            return False
        finally:
            os.close(handle)

    def hide(self) -> None:
        if self._handle < 0:
            return
        with suppress(FileNotFoundError):  # somebody tidied up; the lock was what counted
            os.unlink(self._path(self.token))
        os.close(self._handle)
        self._handle = -1

    def _path(self, token: str) -> str:
        return os.path.join(self._folder, token)
