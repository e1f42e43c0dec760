"""What a process that asks a database is told and answers, and what it means where it does not answer."""

from __future__ import annotations

from typing import Literal

import msgspec
from msgspec import Struct

from reconvene.errors import AgentError
from reconvene.material_ports import (
    NOTHING,
    Bounds,
    Box,
    Changes,
    Description,
    Ended,
    QueryLimits,
    Rows,
    Sight,
    SourceError,
    SourceFault,
)

_PATIENCE = 15.0  # seconds for starting, connecting and telling, beyond what the database may take
_INSTALL = {"psycopg": "pip install 'reconvene[postgres]'", "ladybug": "pip install 'reconvene[graph]'"}
_NARROWER = "Ask for less: fewer rows, a narrower condition, no joins without a condition."


class Question(Struct, frozen=True):
    """place: a path, or an address with its password. most: bytes that a file may grow to."""

    kind: Literal["describe", "query", "change"]
    place: str
    limits: QueryLimits
    text: str = ""
    limit: int = 0
    most: int = 0


class Refusal(Struct, frozen=True):
    fault: SourceFault
    problem: str
    hint: str = ""


class Reply(Struct, frozen=True):
    """One of them. how: in which way it was read, for the source itself."""

    description: Description | None = None
    rows: Rows | None = None
    changes: Changes | None = None
    refusal: Refusal | None = None
    how: str = ""


class Refused(Exception):
    """Ends the work of the process that asks."""

    def __init__(self, fault: SourceFault, problem: str, hint: str = "") -> None:
        super().__init__(problem)
        self.refusal = Refusal(fault, problem, hint)


class Asking:
    """Puts one question to one module in the box. `name`: what the source is called in messages, without secrets."""

    def __init__(self, box: Box, module: str, name: str, *, strict: bool = False) -> None:
        self._box = box
        self._module = f"reconvene.adapters.sources.{module}"
        self._name = name
        self._strict = strict

    def put(
        self, question: Question, sight: Sight = NOTHING, *, folder: str = "", memory: int = 0, writes: int = 0
    ) -> Reply:
        limits = question.limits
        bounds = Bounds(limits.seconds + _PATIENCE, memory or limits.memory, limits.bytes * 8 + 2**20, writes)
        given = msgspec.json.encode(question)
        try:
            ended = self._box.run(self._module, (), given, bounds, sight, folder=folder, strict=self._strict)
        except AgentError as error:
            raise SourceError(
                f"{self._name} is only opened in a sandbox, because its library writes files even when it only reads. "
                "There is no sandbox here.",
                fault="sandbox",
                hint=error.hint,
            ) from None
        return self._answered(ended, limits)

    def _answered(self, ended: Ended, limits: QueryLimits) -> Reply:
        match ended.cause:
            case "time":
                told = f"{self._name} took longer than {limits.seconds:g} seconds."
                raise SourceError(told, fault="slow", hint=_NARROWER)
            case "memory":
                told = f"{self._name}: the query needs more memory than it may have."
                raise SourceError(told, fault="limit", hint=_NARROWER)
            case "flood":
                raise SourceError(f"{self._name} gave more than can be taken.", fault="limit", hint=_NARROWER)
            case "crash":
                last = ended.said.rpartition("\n")[2][:200]
                told = f"{self._name}: the library that asks it failed{f' ({last})' if last else ''}."
                raise SourceError(f"{told} Nothing was changed.", fault="failed", hint="Put the query in another way.")
        try:
            reply = msgspec.json.decode(ended.answer, type=Reply)
        except msgspec.MsgspecError:
            raise SourceError(f"{self._name} gave no answer that can be read.", fault="failed") from None
        if reply.refusal is not None:
            raise self._error(reply.refusal)
        return reply

    def _error(self, refusal: Refusal) -> SourceError:
        if refusal.fault == "library":
            told = f"{self._name} cannot be asked: the library {refusal.problem} is not installed."
            return SourceError(told, fault="library", hint=_INSTALL.get(refusal.problem, ""))
        return SourceError(f"{self._name}: {refusal.problem}", fault=refusal.fault, hint=refusal.hint)


def checked(text: str, limits: QueryLimits, limit: int) -> int:
    """The rows that may be given."""
    if not text.strip():
        raise SourceError("The query is empty.", fault="query")
    if "\0" in text or len(text) > 100_000:
        raise SourceError("The query is too long, or holds a zero character.", fault="query")
    if any("\ud800" <= char <= "\udfff" for char in text):
        raise SourceError("The query holds half a character (a surrogate).", fault="query")
    return min(limit, limits.rows) if limit > 0 else limits.rows
