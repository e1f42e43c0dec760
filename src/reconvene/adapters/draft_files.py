"""Runs that are being prepared: a file for each in the home, to which lines are only ever added.

A line is a JSON object. Whoever adds one holds the file's lock, and it is on disk before anybody is told so: two
processes lose nothing of each other. A line that a crash cut off is passed over. Links are not followed.
"""

from __future__ import annotations

import fcntl
import json
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from reconvene.errors import StoreError, UserError

_NAME = re.compile(r"draft-(\d{1,9})")
_MOST = 64_000_000  # bytes of a draft that are read


class DraftFiles:
    def __init__(self, folder: str) -> None:
        self._folder = folder

    def names(self) -> list[str]:
        try:
            found = [_NAME.fullmatch(name.removesuffix(".jsonl")) for name in os.listdir(self._folder)]
        except FileNotFoundError:
            return []
        return [f"draft-{number}" for number in sorted(int(match[1]) for match in found if match)]

    def new(self, line: Mapping[str, object]) -> str:
        """A draft that begins with this line, under a name that no other has."""
        os.makedirs(self._folder, mode=0o700, exist_ok=True)
        number = int(self.names()[-1].partition("-")[2]) + 1 if self.names() else 1
        while True:
            name = f"draft-{number}"
            try:
                os.close(os.open(self._path(name), os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600))
            except FileExistsError:
                number += 1
                continue
            self.add(name, line)
            return name

    def add(self, name: str, line: Mapping[str, object]) -> None:
        with self.locked(name) as draft:
            draft.add(line)

    def lines(self, name: str) -> list[dict[str, object]]:
        """Oldest first. UserError where there is no such draft."""
        file = self._opened(name, os.O_RDONLY)
        try:
            return _lines(file)
        finally:
            os.close(file)

    @contextmanager
    def locked(self, name: str) -> Iterator[Locked]:
        """Nobody else adds to it meanwhile."""
        file = self._opened(name, os.O_RDWR | os.O_APPEND)
        try:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield Locked(file)
        finally:
            os.close(file)

    def _opened(self, name: str, how: int) -> int:
        if not _NAME.fullmatch(name):
            raise self._unknown(name)
        try:
            return os.open(self._path(name), how | os.O_NOFOLLOW)
        except FileNotFoundError:
            raise self._unknown(name) from None
        except OSError as error:
            raise StoreError(f"The draft {name} cannot be opened: {error.strerror or error}.") from error

    def _path(self, name: str) -> str:
        return os.path.join(self._folder, f"{name}.jsonl")

    def _unknown(self, name: str) -> UserError:
        there = self.names()
        hint = f"there is: {', '.join(there[-8:])}" if there else "begin one: reconvene chat --new WORKFLOW"
        return UserError(f"there is no draft {name!r}", hint=hint)


class Locked:
    """A draft that is held."""

    def __init__(self, file: int) -> None:
        self._file = file

    def lines(self) -> list[dict[str, object]]:
        return _lines(self._file)

    def add(self, line: Mapping[str, object]) -> None:
        size = os.fstat(self._file).st_size
        whole = not size or os.pread(self._file, 1, size - 1) == b"\n"
        data = b"" if whole else b"\n"  # a crash cut the last line off: it stays, and counts for nothing
        data += json.dumps(line, ensure_ascii=False).encode("utf-8", "replace") + b"\n"
        while data:
            data = data[os.write(self._file, data) :]
        os.fsync(self._file)


def _lines(file: int) -> list[dict[str, object]]:
    found = []
    for line in os.pread(file, _MOST, 0).split(b"\n"):
        try:
            value = json.loads(line) if line.strip() else None
        except (ValueError, RecursionError):
            continue
        if isinstance(value, dict):
            found.append(value)
    return found
