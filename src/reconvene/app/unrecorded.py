"""What agents finished, until the log has it: kept on a shelf, offered to the store again and again, taken up later.

An output may have cost minutes and money, and cannot be had a second time. So it is on the shelf before the store is
asked to take it, and leaves the shelf after the commit. Whoever drives the run next takes up what lies there instead of
asking the agent again. What the log has already changes nothing there, so nothing is accepted twice.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from typing import TypeGuard

from msgspec import Struct

from reconvene.app.effects import Done
from reconvene.app.session import Session
from reconvene.app.turns import Posted
from reconvene.core.facts.commands import Command, Pause, RecordAttempt
from reconvene.core.facts.ids import digest_of, parse_task
from reconvene.errors import StoreError
from reconvene.language.times import spelled
from reconvene.ports import Listener, Progress
from reconvene.shelf_ports import Shelf, Takes
from reconvene.wire import finished

Mail = Done | Posted

_DEAR = 0.1  # seconds of work: what took less is cheaper to have again than to write down each time
_FIRST, _LONGEST = 0.25, 5.0  # seconds between two tries


class Keeping(Struct, frozen=True):
    """`wait`: so many seconds the process offers what it has to a store that is locked or full, before it ends.
    `takes`: how many files of an agent, and how large."""

    shelf: Shelf | None = None
    wait: float = 3600.0
    takes: Takes = Takes()


class Unrecorded:
    """Of one driver. `mail`: the next that comes within so many seconds."""

    def __init__(
        self, session: Session, keeping: Keeping, listener: Listener, mail: Callable[[float], Awaitable[Mail | None]]
    ) -> None:
        self._session = session
        self._shelf = keeping.shelf
        self._wait = keeping.wait
        self._listener = listener
        self._mail = mail
        self.later: list[Mail] = []  # what came while the store was waited for

    def finished(self, done: Done, effects: bool) -> None:
        """On the shelf at once, where it is dear. It need not outlive a power cut: the commit follows."""
        command = done.command
        if _is_output(command) and (effects or command.usage.seconds >= _DEAR):
            self._put([done], durable=False)

    def _put(self, mail: Iterable[Mail], *, durable: bool) -> str:
        """Why it could not be kept, "" = it is."""
        if self._shelf is None:
            return "this engine has no place for it"
        try:
            for one in mail:
                if isinstance(one, Done) and _is_output(one.command):
                    data = finished.encode(self._session.run, one.command, one.blobs)
                    self._shelf.put(self._session.run, _name(one.command), data, durable=durable)
        except StoreError as error:
            return error.message
        return ""

    def recorded(self, mail: Iterable[Mail]) -> None:
        """The log has these."""
        for one in mail:
            if self._shelf is not None and isinstance(one, Done) and _is_output(one.command):
                self._shelf.drop(self._session.run, _name(one.command))

    async def until_recorded(self, mail: list[Mail], record: Callable[[], None]) -> None:
        """`record`, again and again while the store is locked or full. Its error where it is something else, where the
        person wants to stop, or where it took too long."""
        loop, pause = asyncio.get_running_loop(), _FIRST
        begun = loop.time()
        while (error := _tried(record)) is not None:
            unkept = self._put([*mail, *self.later], durable=True)
            outputs = [one.command for one in mail if isinstance(one, Done) and _is_output(one.command)]
            if not error.passing or loop.time() - begun >= self._wait:
                raise self._told(error, outputs, unkept) from error
            if pause == _FIRST:
                self._tell(error, outputs, unkept)
            if await self._is_stopped(pause):
                unkept = self._put([*mail, *self.later], durable=True)
                raise self._told(error, outputs, unkept) from error
            pause = min(pause * 2, _LONGEST)
        self.recorded(mail)

    async def _is_stopped(self, seconds: float) -> bool:
        """After so many seconds, whether the person asked to stop meanwhile."""
        loop = asyncio.get_running_loop()
        until = loop.time() + seconds
        while (left := until - loop.time()) > 0:
            if (mail := await self._mail(left)) is not None:
                self.later.append(mail)
                if isinstance(mail.command, Pause):
                    return True
        return False

    def _tell(self, error: StoreError, outputs: list[RecordAttempt], unkept: str) -> None:
        run, what = self._session.run, error.message
        for command in outputs:
            told = f"{what} {_where(unkept, self._shelf, run)} It is tried again for {spelled(self._wait)} at most."
            self._listener(Progress(run, command.task, parse_task(command.task)[2], "waiting", told))
        if not outputs:
            told = f"{what} It is tried again for {spelled(self._wait)} at most."
            self._listener(Progress(run, "", "", "warning", told))

    def _told(self, error: StoreError, outputs: list[RecordAttempt], unkept: str) -> StoreError:
        if not outputs:
            return error
        who = ", ".join(parse_task(command.task)[2] for command in outputs)
        where = _where(unkept, self._shelf, self._session.run)
        resume = f"reconvene resume {self._session.run}"
        then = f" {resume} records it; nobody is asked again." if not unkept else f" {resume} asks again."
        hint = f"{error.hint}\nWhat {who} finished is not on record. {where}{then}"
        return StoreError(error.message, hint=hint, passing=error.passing)

    def taken_up(self) -> list[Done]:
        """What an earlier process finished and could not record. What cannot be used is told, and stays on disk."""
        found: list[Done] = []
        run = self._session.run
        for name, data in self._shelf.of(run) if self._shelf is not None else ():
            held = finished.decode(run, data)
            if isinstance(held, str):
                assert self._shelf is not None
                told = f"a finished output that was kept cannot be used: {held}. It lies in"
                self._listener(Progress(run, "", "", "warning", f"{told} {self._shelf.set_aside(run, name)}"))
                continue
            attempt = held.attempt
            told = f"{parse_task(attempt.task)[2]} had finished before the process ended: its output is taken up"
            self._listener(Progress(run, attempt.task, "", "note", told))
            found.append(Done(attempt, held.contents))
        return found


def record_late(session: Session, keeping: Keeping, listener: Listener) -> None:
    """For a run that has ended: what lies on its shelf is archived with it."""

    async def nothing(seconds: float) -> Mail | None:
        return None

    kept = Unrecorded(session, keeping, listener, nothing)
    if found := kept.taken_up():
        contents = {digest: data for one in found for digest, data in one.blobs.items()}
        session.submit([one.command for one in found], contents)
        kept.recorded(found)


def _tried(record: Callable[[], None]) -> StoreError | None:
    try:
        record()
    except StoreError as error:
        return error
    return None


def _is_output(command: Command) -> TypeGuard[RecordAttempt]:
    return isinstance(command, RecordAttempt) and command.output is not None and not command.cancelled


def _name(command: RecordAttempt) -> str:
    return digest_of(f"{command.task}#{command.attempt}".encode())


def _where(unkept: str, shelf: Shelf | None, run: str) -> str:
    if unkept or shelf is None:
        return f"Nothing but this process has it ({unkept.rstrip('.')})."
    return f"It is kept in {shelf.place(run)}."
