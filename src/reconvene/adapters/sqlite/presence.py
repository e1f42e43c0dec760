"""Tells at once whether the process behind a lease still lives. It must not know what the lease is for.

Whoever takes a lease keeps a file of its own locked; the system drops the lock when the process ends, however it ends.
So "can I lock it?" answers "is it dead?", with no clock and no waiting. Its name is a token that is never used again.

A look is itself a lock for a moment, so everybody who looks or puts a sign up takes turns on a lock of the folder.
"""

from __future__ import annotations

import fcntl
import os
import re
from collections.abc import Iterable
from contextlib import suppress

from reconvene.adapters.shared.private_folders import folder_lock, make_private_folder

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
        with folder_lock(self._folder):
            for name in os.listdir(self._folder):
                if _TOKEN.fullmatch(name) and not self._lives(name):
                    with suppress(FileNotFoundError):  # its owner may take it down at this moment
                        os.unlink(self._path(name))  # what the dead left behind
            self._handle = os.open(self._path(self.token), os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
            fcntl.flock(self._handle, fcntl.LOCK_EX)

    def is_alive(self, token: str) -> bool:
        """Whether the owner of that token lives. A dead one's file is removed."""
        with folder_lock(self._folder):
            if self._lives(token):
                return True
            with suppress(FileNotFoundError):
                os.unlink(self._path(token))
            return False

    def alive(self, tokens: Iterable[str]) -> set[str]:
        """Those of them whose owner lives. Only looks: nothing is made or removed."""
        try:
            with folder_lock(self._folder):
                return {token for token in tokens if self._lives(token)}
        except FileNotFoundError:
            return set()  # nobody ever put a sign up
        except PermissionError:
            return set(tokens)  # another person's; the safe guess

    def _lives(self, token: str) -> bool:
        try:
            handle = os.open(self._path(token), os.O_RDONLY)
        except FileNotFoundError:
            return False
        except PermissionError:
            return True  # another person's; the safe guess
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        finally:
            os.close(handle)
        return False

    def hide(self) -> None:
        if self._handle < 0:
            return
        with suppress(FileNotFoundError):  # somebody tidied up; the lock was what counted
            os.unlink(self._path(self.token))
        os.close(self._handle)
        self._handle = -1

    def _path(self, token: str) -> str:
        return os.path.join(self._folder, token)
