"""The record of an attempt that uses tools: what its loop tells goes into the log before the loop goes on."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Literal, cast

from msgspec import Struct

from reconvene.app.session import Session
from reconvene.core.facts import commands as c
from reconvene.core.facts.events import CallAsked, FileOut, Ref, Usage
from reconvene.core.facts.ids import digest_of, parse_task
from reconvene.core.facts.round import CallAt, LoopAt
from reconvene.core.facts.state import RunState
from reconvene.errors import AgentError, ReconveneError, StoreError
from reconvene.language.plain_text import quoted
from reconvene.prompts import marks
from reconvene.secrets import Secrets
from reconvene.tool_ports import Known, Outcome, Recorded, ToolResult, Wanted

_STATES: dict[str, Literal["due", "waits", "over"]] = {"due": "due", "begun": "due", "waits": "waits", "over": "over"}


def again(state: RunState, agent: str, mark: str, latest: str) -> tuple[str, str]:
    """For an agent whose loop goes on: why its last answer was sent back with what the person said since its last turn,
    and the second alone. `latest`: what the person said since it last worked."""
    round_ = state.world.top.round
    task = round_.open.tasks.get(agent) if round_ is not None and round_.open is not None else None
    if task is None or task.loop is None:
        return "", ""
    why = task.reason or (quoted(task.told) if task.told else "")  # what was said of a failure may be an agent's words
    said = f"Your last answer does not count: {why}\n\nGo on from here, with that put right." if why else ""
    first = [marks.tagged(marks.Section("attempt", said), mark)] if said else []
    since = [latest] if latest and task.loop.untold else []
    return _marked(mark, [*first, *since]), _marked(mark, since)


def _marked(mark: str, sections: list[str]) -> str:
    return "\n\n".join([marks.first_line(mark), *sections]) if sections else ""


class Posted(Struct, frozen=True):
    """A command on its way into the log. `done` is settled when it is there, or with what refused it."""

    command: c.Command
    blobs: dict[str, bytes]
    done: asyncio.Future[None]


def record(session: Session, posted: Sequence[Posted], claim: str) -> None:
    """One append for all, and whoever waits for it goes on. What is refused is told to whoever asked for it. Where the
    store is locked or full nobody is told anything: it is tried again."""
    blobs: dict[str, bytes] = {}
    for mail in posted:
        blobs |= mail.blobs
    try:
        outcomes = session.submit([mail.command for mail in posted], blobs, claim)
    except Exception as error:
        for mail in posted if not (isinstance(error, StoreError) and error.passing) else ():
            mail.done.set_exception(error)
        raise
    for mail, refused in zip(posted, outcomes):
        if refused is None:
            mail.done.set_result(None)
        else:
            mail.done.set_exception(refused)


class TurnsOf:
    """Of one attempt. `post`: puts it into the driver's mailbox."""

    def __init__(
        self, session: Session, task: str, attempt: int, post: Callable[[Posted], None], secrets: Secrets
    ) -> None:
        self._session = session
        self._task = task
        self._attempt = attempt
        self._post = post
        self._secrets = secrets

    def so_far(self) -> Recorded:
        loop = self._loop()
        if loop is None:
            return Recorded()
        read = self._session.book.read
        return Recorded(
            turn=loop.turn,
            messages=tuple(map(read, loop.messages)),
            calls=tuple(map(self._known, loop.calls)),
            usage=loop.usage,
            fresh=loop.attempt != self._attempt,
            before=loop.before,
            untold=loop.untold,
            files={path: read(digest) if digest else None for path, digest in loop.files.items()},
        )

    async def turned(
        self,
        turn: int,
        messages: bytes,
        calls: tuple[Wanted, ...],
        usage: Usage,
        request: bytes,
        reply: bytes,
        said: str = "",
    ) -> tuple[Known, ...]:
        kept = _Kept(self._secrets)
        asked = tuple(
            CallAsked(
                call.id,
                call.tool,
                kept.text(call.arguments),
                call.effects,
                schema=kept.text(call.schema) if call.schema else "",
            )
            for call in calls
        )
        command = c.RecordTurn(
            self._task,
            self._attempt,
            turn,
            kept.data(messages),
            asked,
            {call.id: call.of for call in calls if call.of},
            usage,
            kept.data(request) if request else "",
            kept.data(reply) if reply else "",
            kept.text(said) if said else "",
        )
        await self._record(command, kept.blobs)
        return self.so_far().calls

    async def started(self, call: str) -> None:
        await self._record(c.StartCall(self._task, self._attempt, call), {})

    async def ended(self, call: str, outcome: Outcome, result: ToolResult, seconds: float) -> str:
        kept = _Kept(self._secrets)
        digest = kept.text(result.text)
        files = [FileOut(path, kept.data(data), len(data)) for path, data in sorted(result.files.items())]
        files += [FileOut(path, "") for path in sorted(result.removed)]
        command = c.EndCall(
            self._task,
            self._attempt,
            call,
            outcome,
            Ref(digest, "text", len(kept.blobs[digest])),
            tuple(files),
            round(seconds, 3),
            dict(result.counts),
            result.sandbox,
            result.unknown,
        )
        await self._record(command, kept.blobs)
        return kept.blobs[digest].decode()

    async def compacted(self, turn: int, messages: bytes, why: str) -> None:
        kept = _Kept(self._secrets)
        await self._record(c.CompactMessages(self._task, self._attempt, turn, kept.data(messages), why), kept.blobs)

    async def _record(self, command: c.Command, blobs: dict[str, bytes]) -> None:
        posted = Posted(command, blobs, asyncio.get_running_loop().create_future())
        self._post(posted)
        try:
            await asyncio.shield(posted.done)
        except ReconveneError as error:  # another process works at it, or nobody wants it any more
            raise AgentError(error.message, hint=error.hint, retryable=False) from error

    def _loop(self) -> LoopAt | None:
        round_ = self._session.state.world.top.round
        step = round_.open if round_ is not None else None
        task = step.tasks.get(parse_task(self._task)[2]) if step is not None else None
        return task.loop if task is not None else None

    def _known(self, call: CallAt) -> Known:
        text = self._session.book.text
        return Known(
            call.id,
            call.tool,
            text(call.arguments),
            _STATES[call.state],
            cast(Outcome, call.outcome or "done"),
            text(call.result) if call.result else "",
            call.changed,
            cast('Literal["", "approve", "change", "refuse", "answer"]', call.ruling),
            text(call.words) if call.words else "",
        )


class _Kept:
    """Contents by digest, without secrets."""

    def __init__(self, secrets: Secrets) -> None:
        self._secrets = secrets
        self.blobs: dict[str, bytes] = {}

    def text(self, text: str) -> str:
        return self.data(text.encode("utf-8", "replace"))

    def data(self, data: bytes) -> str:
        if self._secrets:
            data = self._secrets.blank(data)
        digest = digest_of(data)
        self.blobs[digest] = data
        return digest
