"""Which versions of checkpoints were shown to whom: a small file for each run, a line for each showing.

A line is added in one write, so that processes need not wait for each other. Nothing is decided by what stands here: a
line that is lost or damaged counts as not shown. A link in the place of the file or its folder is not followed.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

import msgspec

from reconvene.showing_ports import Showing, Viewer

_MOST = 200_000  # bytes; what is older than the last half goes


class _Line(msgspec.Struct, omit_defaults=True):
    version: str
    user: str
    name: str = ""
    door: str = ""
    after_decide: bool = False


_decode, _encode = msgspec.json.Decoder(_Line).decode, msgspec.json.Encoder().encode


class ShownFiles:
    """ports.Showings in a folder of the home."""

    def __init__(self, folder: str, file_name: Callable[[str], str]) -> None:
        """`file_name`: of a run."""
        self._folder = folder
        self._file_name = file_name

    def note(self, run: str, showing: Showing) -> None:
        own = [one for one in self.of(run) if one.to == showing.to]
        if own[-1:] == [showing]:
            return
        line = _encode(_Line(showing.version, *showing.to, showing.after_decide)) + b"\n"
        with suppress(OSError):
            os.makedirs(self._folder, mode=0o700, exist_ok=True)
            with self._opened(run, os.O_RDWR | os.O_CREAT | os.O_APPEND) as file:
                if os.fstat(file).st_size > _MOST:
                    self._shorten(file)
                os.write(file, line)

    def of(self, run: str) -> list[Showing]:
        try:
            with self._opened(run, os.O_RDONLY) as file:
                data = os.pread(file, os.fstat(file).st_size, 0)
        except OSError:
            return []
        return [showing for line in data.splitlines() for showing in _read(line)]

    def drop(self, run: str) -> None:
        with suppress(FileNotFoundError), self._folder_opened() as folder:
            os.unlink(f"{self._file_name(run)}.jsonl", dir_fd=folder)

    @contextmanager
    def _folder_opened(self) -> Iterator[int]:
        folder = os.open(self._folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        try:
            yield folder
        finally:
            os.close(folder)

    @contextmanager
    def _opened(self, run: str, how: int) -> Iterator[int]:
        with self._folder_opened() as folder:
            file = os.open(f"{self._file_name(run)}.jsonl", how | os.O_NOFOLLOW, 0o600, dir_fd=folder)
        try:
            yield file
        finally:
            os.close(file)

    def _shorten(self, file: int) -> None:
        """Whoever adds a line at this moment may lose it."""
        kept = os.pread(file, _MOST, max(0, os.fstat(file).st_size - _MOST // 2)).partition(b"\n")[2]
        os.ftruncate(file, 0)
        os.write(file, kept)


def _read(line: bytes) -> Iterator[Showing]:
    with suppress(msgspec.DecodeError, UnicodeError):
        found = _decode(line)
        yield Showing(found.version, Viewer(found.user, found.name, found.door), found.after_decide)
