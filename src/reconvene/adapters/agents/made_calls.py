"""The calls of one attempt: whether each can be made as written, making it, and what is told of it. Knows no model."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping

from msgspec import Struct
from msgspec.structs import replace

from reconvene.errors import ReconveneError
from reconvene.ports import Assignment, Listener, Progress
from reconvene.tool_ports import CallsWait, Known, Outcome, Toolbox, ToolInfo, ToolResult, Turns, Wanted
from reconvene.wire import replies

_SHOWN = 200  # characters of a call's arguments, in the line that tells of it


class Told(Struct, frozen=True):
    """What the model is told of a call. by_person: somebody decided on it, and their words may be in it."""

    text: str
    by_person: bool = False
    said: str = ""  # by them


class Calls:
    def __init__(self, assignment: Assignment, listener: Listener, box: Toolbox, turns: Turns) -> None:
        self._work = assignment
        self._listener = listener
        self._box = box
        self._turns = turns
        self._tools = {tool.name: tool for tool in box.tools()}

    def wanted(self, name: str, tool_name: str, arguments: str) -> Wanted:
        """What cannot be made as it is written has no entry: nobody is asked about it."""
        given = _object(arguments)
        if given is not None:  # so that a call is the same however it is spelt, and what is shown is what is done
            arguments = json.dumps(given, ensure_ascii=False, sort_keys=True)
        tool = self._tools.get(tool_name)
        if tool is None or _wrong(tool, arguments):
            return Wanted(name, tool_name, arguments)
        schema = json.dumps(tool.schema, sort_keys=True)
        return Wanted(name, tool_name, arguments, tool.effects, tool.entry(given or {}), schema)

    async def make(self, calls: tuple[Known, ...]) -> list[Told]:
        """What the model is told of each. CallsWait, once all others are made, where a person has to decide."""
        results = [call.result if call.state == "over" else await self._made(call) for call in calls]
        if any(result is None for result in results):
            raise CallsWait
        return [Told(result or "", bool(call.ruling), _said(call)) for call, result in zip(calls, results)]

    async def _made(self, call: Known) -> str | None:
        if call.state == "waits":
            return None
        began = time.monotonic()
        outcome, result = await self._result(call)
        return await self._turns.ended(call.id, outcome, result, time.monotonic() - began)

    async def _result(self, call: Known) -> tuple[Outcome, ToolResult]:
        if call.ruling == "refuse":
            said = f"A person refused this call: {call.words} Do not ask for it again."
            return "refused", ToolResult(said, failed=True)
        if call.ruling == "answer":
            return "answered", ToolResult(call.words)
        tool = self._tools.get(call.tool)
        if tool is None:
            there = ", ".join(self._tools) or "none"
            return "failed", ToolResult(f"There is no tool {call.tool!r}. There are: {there}.", failed=True)
        if wrong := _wrong(tool, call.arguments):
            return "failed", ToolResult(wrong, failed=True)
        shown = " ".join(call.arguments.split())
        self._tell(f"{call.tool} {shown[:_SHOWN]}{'…' if len(shown) > _SHOWN else ''}")
        if tool.effects:
            await self._turns.started(call.id)
        result = await self._called(tool.name, _object(call.arguments) or {})
        notes = []
        if call.changed:
            notes.append(f"A person changed the arguments of this call to {call.arguments}.")
        if call.ruling == "approve" and call.words:
            notes.append(f"The person who allowed this call said: {call.words}")
        text = "\n\n".join([*notes, result.text])
        return "failed" if result.failed else "done", replace(result, text=text)

    async def _called(self, name: str, arguments: Mapping[str, object]) -> ToolResult:
        try:
            return await self._box.call(name, arguments)
        except ReconveneError as error:
            return ToolResult(f"{error.message} {error.hint}".strip(), failed=True)
        except Exception as error:  # a tool's surprise is the model's to deal with
            return ToolResult(f"{name} failed: {type(error).__name__}: {error}", failed=True)

    def _tell(self, line: str) -> None:
        work = self._work
        self._listener(Progress(work.run, work.task, work.agent.name, "output", line))


def _said(call: Known) -> str:
    """What the person said of a call, for a place where nobody else can speak."""
    match call.ruling:
        case "refuse":
            return f"I refused your call of {call.tool}: {call.words}"
        case "approve" if call.words:
            return f"I allowed your call of {call.tool}, and say: {call.words}"
        case "change":
            return f"I changed the arguments of your call of {call.tool} to {call.arguments}"
        case "answer":
            return f"I answered in place of {call.tool}; its result is my answer."
    return ""


def _wrong(tool: ToolInfo, text: str) -> str:
    arguments = _object(text)
    if arguments is None:
        return f"The arguments of {tool.name} are not a JSON object."
    problems = replies.wrong_arguments(tool.schema, arguments)
    return f"The arguments of {tool.name} do not fit: {'; '.join(problems)}." if problems else ""


def _object(text: str) -> dict[str, object] | None:
    try:
        found = json.loads(text or "{}")
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None
