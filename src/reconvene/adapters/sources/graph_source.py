"""A graph in one file as a source, and changes to it as a call of their own.

A change is made to a copy, and the copy takes the place of the file when all of it has succeeded: the file is the old
one or the new one, whatever happens in between.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import tempfile
import threading
from collections.abc import Iterator
from typing import Literal, NamedTuple

from reconvene.adapters.sources.graph_child import POOL
from reconvene.adapters.sources.questions import Asking, Question, Reply, checked
from reconvene.material_ports import MEBIBYTE, Box, Changes, Description, QueryLimits, Rows, Sight, SourceError

MAGIC = b"LBUG"
_LOG = ".wal"
_SMALLEST = 1024 * MEBIBYTE  # address space that the library sets aside for a file


# Locks on files count for a whole process: between its threads these do.
_MUTEXES: dict[str, threading.Lock] = {}
_ONE_BY_ONE = threading.Lock()


class _Held(NamedTuple):
    handle: int
    size: int
    has_log: bool  # changes that are not in the file itself yet


class GraphSource:
    """material_ports.Graph."""

    kind: Literal["graph"] = "graph"

    def __init__(self, path: str, box: Box, limits: QueryLimits | None = None) -> None:
        self._path = os.path.realpath(path)
        self._box = box
        self._limits = limits or QueryLimits()
        self._name = os.path.basename(self._path)
        self._asking = Asking(box, "graph_child", self._name, strict=True)

    def describe(self) -> Description:
        found = self._read(Question("describe", self._path, self._limits)).description
        assert found is not None
        return found

    def query(self, text: str, limit: int = 0) -> Rows:
        most = checked(text, self._limits, limit)
        found = self._read(Question("query", self._path, self._limits, text, most)).rows
        assert found is not None
        return found

    def change(self, text: str) -> Changes:
        checked(text, self._limits, 0)
        with self._held(fcntl.LOCK_EX) as held, self._box.folder() as folder:
            if held.has_log:
                raise SourceError(
                    f"{self._name} was not closed properly: changes lie beside it that are not in it yet.",
                    fault="busy",
                    hint="Open it once with its own program, and close it.",
                )
            copy = self._copied(held, folder)
            found = self._put(Question("change", copy, self._limits, text), copy, held, folder).changes
            assert found is not None
            try:
                self._replace(copy)
            except OSError as error:
                told = f"{self._name} cannot be written: {error.strerror}. Nothing was changed."
                raise SourceError(told, fault="setup", hint="Look at the rights of its folder, and the disk.") from None
        return found

    def _read(self, question: Question) -> Reply:
        with self._held(fcntl.LOCK_SH) as held:
            if not held.has_log:
                return self._put(question, self._path, held)
            with self._box.folder() as folder:
                return self._put(question, self._copied(held, folder), held, folder)

    def _put(self, question: Question, path: str, held: _Held, folder: str = "") -> Reply:
        most = _SMALLEST
        while most < 4 * held.size:
            most *= 2
        limits = self._limits
        asked = Question(question.kind, path, limits, question.text, question.limit, most)
        changes = question.kind == "change"
        return self._asking.put(
            asked,
            Sight(() if folder else (path,)),
            folder=folder,
            memory=most + POOL + limits.memory,
            writes=most if changes or folder else 0,
        )

    def _copied(self, held: _Held, folder: str) -> str:
        """Through the handle that holds the lock: to close another one on the same file would give it up."""
        copy = os.path.join(folder, "graph.lbug")
        with os.fdopen(held.handle, "rb", closefd=False) as file, open(copy, "wb") as target:
            file.seek(0)
            shutil.copyfileobj(file, target, MEBIBYTE)
        if held.has_log:
            shutil.copyfile(self._path + _LOG, copy + _LOG)
        return copy

    def _replace(self, copy: str) -> None:
        """With the rights of the old one."""
        folder = os.path.dirname(self._path)
        handle, new = tempfile.mkstemp(prefix=f".{self._name}.", dir=folder)
        try:
            with open(copy, "rb") as made, os.fdopen(handle, "wb") as file:
                shutil.copyfileobj(made, file, MEBIBYTE)
                file.flush()
                os.fsync(file.fileno())
            shutil.copymode(self._path, new)
            os.replace(new, self._path)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(new)
            raise
        beneath = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(beneath)
        finally:
            os.close(beneath)

    @contextlib.contextmanager
    def _held(self, lock: int) -> Iterator[_Held]:
        """Meanwhile no program that respects the database's own lock writes to it, nor does a thread of this one."""
        with _ONE_BY_ONE:
            mutex = _MUTEXES.setdefault(self._path, threading.Lock())
        with mutex, self._locked(lock) as held:
            yield held

    @contextlib.contextmanager
    def _locked(self, lock: int) -> Iterator[_Held]:
        try:
            handle = os.open(self._path, (os.O_RDWR if lock == fcntl.LOCK_EX else os.O_RDONLY) | os.O_CLOEXEC)
        except FileNotFoundError:
            raise SourceError(f"There is no file {self._name}.", fault="missing") from None
        except OSError as error:
            told = f"{self._name} cannot be opened: {error.strerror}."
            raise SourceError(told, fault="missing", hint="Change its rights, or give a copy.") from None
        try:
            if os.pread(handle, len(MAGIC), 0) != MAGIC:
                told = f"{self._name} is no graph file, or of another database."
                raise SourceError(told, fault="kind", hint="Graph files are made by ladybug.")
            try:
                fcntl.lockf(handle, lock | fcntl.LOCK_NB)
            except OSError:
                told = f"{self._name}: another program has it open."
                raise SourceError(told, fault="busy", hint="Try again when it is done.") from None
            held = _Held(handle, os.fstat(handle).st_size, os.path.exists(self._path + _LOG))
            if held.size > self._limits.copy and (lock == fcntl.LOCK_EX or held.has_log):
                told = f"{self._name} is too large to be copied, which is needed for that."
                raise SourceError(told, fault="limit", hint="Close it with its own program, or use a smaller one.")
            yield held
        finally:
            os.close(handle)
