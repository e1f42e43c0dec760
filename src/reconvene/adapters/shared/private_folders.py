"""Folders for their owner only, and turns that processes take on one."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager


def make_private_folder(folder: str) -> None:
    """Like makedirs, but every folder made on the way is for its owner only: runs hold what people wrote."""
    if os.path.isdir(folder):
        return
    make_private_folder(os.path.dirname(folder))
    try:
        os.mkdir(folder, 0o700)
    except FileExistsError:
        if not os.path.isdir(folder):
            raise


@contextmanager
def folder_lock(folder: str) -> Iterator[None]:
    """Take turns with every other process that locks this folder. Gone with the process, whatever happens to it."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)
