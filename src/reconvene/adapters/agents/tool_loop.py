"""A model that works with tools: it is asked, makes calls, is told what they gave, is asked again, until it answers.

Every turn is on record before its calls are made, and every call before its result is told. So an attempt goes on where
its record ends, in whatever process: nothing that is on record is asked or done again.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING, Protocol

from reconvene.adapters.agents import model, token_limits
from reconvene.adapters.agents.as_answer import Interpreted, ReplyError, take_files
from reconvene.adapters.agents.loop_messages import MEMORY, Conversation
from reconvene.adapters.agents.made_calls import Calls
from reconvene.adapters.agents.model_reply import must_be_whole, read
from reconvene.adapters.agents.windows import window_of
from reconvene.adapters.shared.file_names import wanted
from reconvene.core.definition.workflow import Loop
from reconvene.core.facts.events import Usage
from reconvene.core.facts.loops import plus
from reconvene.core.working.spending import dollars
from reconvene.errors import AgentError
from reconvene.ports import Answer, Assignment, Listener, Progress
from reconvene.secrets import redact_text
from reconvene.tool_ports import Toolbox, Turns, Wanted

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelResponse, ToolCallPart

    from reconvene.adapters.agents.providers import Connection

_FULL = 0.75  # of the window: the rest is for the reply


class Toolboxes(Protocol):
    """A port: makes the tools of an attempt ready, and leaves nothing behind."""

    def open(
        self, assignment: Assignment, changed: Mapping[str, bytes | None], listener: Listener
    ) -> AbstractAsyncContextManager[Toolbox]:
        """`changed`: what the calls on record made of the attempt's folder, None = removed. AgentError where a tool
        cannot be had."""


async def run(
    assignment: Assignment, listener: Listener, environ: Mapping[str, str], toolboxes: Toolboxes, turns: Turns
) -> Answer:
    limits = token_limits.limits(assignment.agent)
    connection = await asyncio.to_thread(model.connect, assignment, environ, limits)
    async with connection.client, toolboxes.open(assignment, turns.so_far().files, listener) as box:
        loop = _Loop(assignment, listener, environ, connection, box, turns)
        while (answer := await loop.turn()) is None:
            pass
        return answer


class _Loop:
    def __init__(
        self,
        assignment: Assignment,
        listener: Listener,
        environ: Mapping[str, str],
        connection: Connection,
        box: Toolbox,
        turns: Turns,
    ) -> None:
        self._work = assignment
        self._listener = listener
        self._environ = environ
        self._connection = connection
        self._box = box
        self._turns = turns
        self._calls = Calls(assignment, listener, box, turns)
        self._limits = token_limits.limits(assignment.agent)
        self._talk = Conversation(assignment, connection, box.tools(), turns.so_far().messages)
        self._sent = self._got = b""

    async def turn(self) -> Answer | None:
        """Make the calls that are due, then ask once more; an answer, once the model has given one."""
        so_far = self._turns.so_far()
        if so_far.calls:
            results = await self._calls.make(so_far.calls)
            self._talk.told(results)
        elif so_far.turn and (not so_far.fresh or not self._work.again):
            return self._answer()  # it had been given, and its end was not on record
        self._within_bounds(so_far.turn - so_far.before, so_far.usage or Usage())
        told = self._work.again if so_far.fresh else self._work.since if so_far.untold else ""
        self._talk.asks_again(told, self._memory())
        await self._fit(so_far.turn)
        began = time.monotonic()
        response: ModelResponse | None = None
        self._connection.tap.forget()
        try:
            asked = model.ask(
                self._work,
                self._connection,
                self._listener,
                self._talk.messages(),
                self._talk.parameters(),
                self._limits,
            )
            response = await model.within(self._limits, asked, self._connection)
            must_be_whole(response, streamed=model.streamed(self._work))
        except Exception as error:
            raise self._failed(error, response, began) from error
        self._sent, self._got = self._captured(response)
        usage = model.used(self._connection, response, began)
        calls = self._talk.answered(response)
        turn = so_far.turn + 1
        wants = tuple(self._wanted(f"{turn}.{number}", part) for number, part in enumerate(calls, 1))
        said = (response.text or "").strip() if calls else ""
        await self._turns.turned(turn, self._talk.newest(), wants, usage, self._sent, self._got, said)
        return self._answer() if not calls else None

    def _wanted(self, name: str, part: ToolCallPart) -> Wanted:
        text = part.args if isinstance(part.args, str) else json.dumps(part.args or {}, ensure_ascii=False)
        return self._calls.wanted(name, part.tool_name, text)

    def _memory(self) -> dict[str, str]:
        found = {name: self._box.read(name) for name in MEMORY}
        return {name: data.decode("utf-8", "replace") for name, data in found.items() if data is not None}

    async def _fit(self, turn: int) -> None:
        """Near the window of the model old calls are shortened; that is on record before it is asked again."""
        window = window_of(self._work.agent)
        room = int(window * _FULL)
        if not window or self._talk.size() <= room:
            return
        why = self._talk.compact(room)
        if why:
            await self._turns.compacted(turn, self._talk.stored(), why)
            self._tell(f"its messages came near the window of the model: {why}")
        if self._talk.size() > window:
            raise ReplyError(
                f"What {self._work.agent.name} has to be shown does not fit into {window:,} tokens.",
                hint="Choose a model with a larger window, or let it read less.",
                outcome="too_long",
                usage=self._turns.so_far().usage or Usage(),
            )

    def _tell(self, line: str) -> None:
        work = self._work
        here = work.run, work.task, work.agent.name
        self._listener(Progress(*here, "output", line))
        self._listener(Progress(*here, "text", f"[{line}]\n"))

    # --- ends ---

    def _answer(self) -> Answer:
        """What the model gave last, with the files that its calls made."""
        response = self._talk.last()
        made = {path: data for path, data in self._box.files().items() if wanted(path, self._work.writes)}
        taken = take_files(self._work, self._box.files())
        asked = self._work._replace(writes=()) if made or not self._work.writes else self._work
        usage = self._turns.so_far().usage or Usage()
        try:
            found: Interpreted = read(asked, response, streamed=False, one_text=self._connection.one_text)
        except AgentError as error:
            raise self._failed(error, response, time.monotonic(), usage) from error
        files = {**found.files, **taken.files}
        ignored = (*found.ignored, *taken.ignored, *self._box.ignored())
        return Answer(found.text, found.value, found.has_value, files, ignored, usage, self._sent, self._got)

    def _within_bounds(self, turns: int, usage: Usage) -> None:
        bounds = self._work.agent.loop or Loop()
        tokens = usage.input_tokens + usage.output_tokens
        reached = (
            f"{turns} turns" if bounds.turns and turns >= bounds.turns else "",
            f"{tokens:,} tokens" if bounds.tokens and tokens >= bounds.tokens else "",
            dollars(usage.cost) if bounds.cost and usage.cost >= bounds.cost else "",
        )
        if found := next(filter(None, reached), ""):
            raise ReplyError(
                f"{self._work.agent.name} used {found} in one attempt and came to no end.",
                hint="Raise `loop` of the agent, or ask for less.",
                retryable=False,
                usage=usage,
            )

    def _captured(self, response: ModelResponse | None) -> tuple[bytes, bytes]:
        return model.captured(self._connection, self._talk.newest_request(), response, self._environ)

    def _failed(
        self, error: Exception, response: ModelResponse | None, began: float, usage: Usage | None = None
    ) -> ReplyError:
        failure = model.explained(self._work, self._connection, error)
        if usage is None:
            usage = plus(self._turns.so_far().usage or Usage(), model.used(self._connection, response, began))
        sent, got = self._captured(response)
        secrets = self._connection.tap.secrets
        return ReplyError(
            redact_text(failure.message, self._environ, secrets),
            hint=redact_text(failure.hint, self._environ, secrets),
            outcome=failure.outcome,
            retryable=failure.retryable,
            retry_after=failure.retry_after,
            said=redact_text(failure.said, self._environ, secrets),
            for_agents=redact_text(failure.for_agents, self._environ, secrets),
            usage=usage,
            request=sent,
            reply=got,
        )
