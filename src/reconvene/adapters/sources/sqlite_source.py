"""A SQLite file as a source. Sees to it that what was read is whole, and that neither the file nor its folder changes.

This process never opens the file: closing it again would drop the locks of a connection that it may have itself. Sizes
and times tell whether somebody wrote meanwhile; how the file is read, `sqlite_child` decides.
"""

from __future__ import annotations

import os
import time
from typing import Literal

from reconvene.adapters.sources.questions import Asking, Question, Reply, checked
from reconvene.material_ports import MEBIBYTE, Box, Description, QueryLimits, Rows, Sight, SourceError

MAGIC = b"SQLite format 3\0"
BESIDE = ("", "-wal", "-journal")  # what a database consists of
_TRIES = 5
_PAUSE = 0.05  # seconds: longer than a file system takes to tell two times apart

_Marks = tuple[tuple[int, int], ...]  # of each: size and time of the last change; 0, 0 = it is not there


class SqliteSource:
    """material_ports.Source."""

    kind: Literal["sqlite"] = "sqlite"

    def __init__(self, path: str, box: Box, limits: QueryLimits | None = None) -> None:
        self._path = os.path.realpath(path)
        self._box = box
        self._limits = limits or QueryLimits()
        self._name = os.path.basename(self._path)
        self._asking = Asking(box, "sqlite_child", self._name)

    def describe(self) -> Description:
        found = self._asked(Question("describe", self._path, self._limits)).description
        assert found is not None
        return found

    def query(self, text: str, limit: int = 0) -> Rows:
        most = checked(text, self._limits, limit)
        found = self._asked(Question("query", self._path, self._limits, text, most)).rows
        assert found is not None
        return found

    def _asked(self, question: Question) -> Reply:
        for turn in range(_TRIES):
            if turn:
                time.sleep(_PAUSE)
            before = self._marks()
            reply = self._once(question, before)
            if _is_whole(reply.how, before, self._marks()):
                return reply
        told = f"{self._name} is being written to all the time."
        raise SourceError(told, fault="busy", hint="Try again when the other program is done.")

    def _once(self, question: Question, marks: _Marks) -> Reply:
        sizes = [size for size, _ in marks]
        readable = tuple(self._path + name for name, size in zip(BESIDE, sizes, strict=True) if size or not name)
        writes = sum(sizes) + 64 * MEBIBYTE if sizes[1] or sizes[2] else 0  # for a copy
        return self._asking.put(question, Sight(readable), writes=writes)

    def _marks(self) -> _Marks:
        try:
            os.stat(self._path)
            return tuple(_mark(self._path + name) for name in BESIDE)
        except FileNotFoundError:
            raise SourceError(f"There is no file {self._name}.", fault="missing") from None
        except OSError as error:
            told = f"{self._name} cannot be read: {error.strerror}."
            raise SourceError(told, fault="missing", hint="Change its rights, or give a copy.") from None


def _is_whole(how: str, before: _Marks, after: _Marks) -> bool:
    """Whether nothing was written while it was read without locks. With locks, a journal that was not there before may
    be left over from a transaction that was never ended."""
    return before[2] == after[2] or bool(before[2][0]) if how == "shared" else before == after


def _mark(path: str) -> tuple[int, int]:
    try:
        found = os.stat(path)
    except FileNotFoundError:
        return 0, 0
    return found.st_size, found.st_mtime_ns
