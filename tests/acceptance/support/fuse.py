"""Kills its own process, for real, the n-th time that a named place is passed."""

from __future__ import annotations

import os
import signal
from collections import Counter


class Fuse:
    def __init__(self, place: str = "", at: int = 0) -> None:
        self.passed: Counter[str] = Counter()
        self._place = place
        self._at = at

    def __call__(self, place: str) -> None:
        self.passed[place] += 1
        if place == self._place and self.passed[place] == self._at:
            os.kill(os.getpid(), signal.SIGKILL)


def note(path: str, line: str) -> None:
    """Append a line so that it is on disk before this returns, whatever happens to the process afterwards."""
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    try:
        os.write(handle, f"{line}\n".encode())
        os.fsync(handle)
    finally:
        os.close(handle)


def noted(path: str) -> list[str]:
    try:
        with open(path, encoding="utf-8") as file:
            return file.read().splitlines()
    except FileNotFoundError:
        return []
