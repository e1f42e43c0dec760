"""The companion's tools for the loop of a model: what it looks with, and two that only note what it proposes.

What a tool gives is put between tags with the mark of the prompt, so that no text can pass for anything else.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager

from reconvene.app import queries
from reconvene.app.views.companion_talk import Proposed, Used
from reconvene.companion import tools
from reconvene.companion.tool_scope import Answer, CompanionTool, Scope
from reconvene.core.facts.ids import digest_of
from reconvene.errors import UserError
from reconvene.ports import Assignment, Listener
from reconvene.prompts.marks import Section, tagged
from reconvene.tool_ports import Toolbox, ToolInfo, ToolResult
from reconvene.wire import replies

_MOST = 20  # proposals of one answer
_TEXT: dict[str, object] = {"type": "string", "minLength": 1, "maxLength": 20_000}


def _object(properties: dict[str, object], *required: str) -> dict[str, object]:
    return {"type": "object", "properties": properties, "required": list(required), "additionalProperties": False}


DRAFT_FEEDBACK = CompanionTool(
    "draft_feedback",
    "basic",
    "Draft feedback for the agents in the person's name. It is shown to the person, who sends it or not. One point in "
    "each call, so that an agent can act on it.",
    _object(
        {
            "text": {**_TEXT, "description": "The words, as the person would say them to the agents."},
            "path": {"type": "string", "description": "The file that it is about, where it is about one."},
            "lines": {"type": "string", "pattern": r"^\d+(-\d+)?$", "description": "Its lines: 3 or 3-5."},
        },
        "text",
    ),
)
PROPOSE_EDIT = CompanionTool(
    "propose_edit",
    "basic",
    "Propose other words in a file of the workspace. The person sees the difference and applies it or not.",
    _object(
        {
            "path": {"type": "string", "description": "The file."},
            "old": {**_TEXT, "description": "The words as they stand there now; they must stand there exactly once."},
            "new": {"type": "string", "maxLength": 20_000, "description": "What should stand there instead."},
            "why": {"type": "string", "maxLength": 2_000, "description": "Why, in a sentence."},
        },
        "path",
        "old",
        "new",
    ),
)
PROPOSING = (DRAFT_FEEDBACK, PROPOSE_EDIT)


class Tools:
    """`adapters.agents.tool_loop.Toolboxes`: these tools, in this scope. `used` and `proposed` grow as it works."""

    def __init__(self, scope: Scope, offered: Sequence[CompanionTool], mark: str) -> None:
        self._scope = scope
        self._offered = {tool.name: tool for tool in offered}
        self._mark = mark
        self.used: list[Used] = []
        self.proposed: list[Proposed] = []

    @asynccontextmanager
    async def open(
        self, assignment: Assignment, changed: Mapping[str, bytes | None], listener: Listener
    ) -> AsyncIterator[Toolbox]:
        yield self

    def tools(self) -> tuple[ToolInfo, ...]:
        return tuple(
            ToolInfo(tool.name, "companion", tool.description, tool.parameters) for tool in self._offered.values()
        )

    async def call(self, name: str, arguments: Mapping[str, object]) -> ToolResult:
        answer = self._called(name, arguments)
        self.used.append(Used(name, json.dumps(dict(arguments), ensure_ascii=False), answer.text, answer.failed))
        shown = answer.text.replace(self._mark, "")
        return ToolResult(tagged(Section("document", shown, name=name), self._mark), failed=answer.failed)

    def _called(self, name: str, arguments: Mapping[str, object]) -> Answer:
        if name not in self._offered:
            return Answer(f"There is no tool {name!r} here. There is: {', '.join(self._offered)}.", failed=True)
        if name not in {tool.name for tool in PROPOSING}:
            return tools.call(self._scope, name, arguments)
        if problems := replies.wrong_arguments(self._offered[name].parameters, arguments):
            return Answer(f"{name} was not called: {'; '.join(problems)}.", failed=True)
        if len(self.proposed) >= _MOST:
            return Answer(f"{_MOST} proposals are enough for one answer.", failed=True)
        try:
            made = (_feedback if name == DRAFT_FEEDBACK.name else _edit)(self._scope, arguments)
        except UserError as error:
            return Answer(f"{error.message} {error.hint}".strip(), failed=True)
        self.proposed.append(made)
        return Answer("It is noted. The person will be shown it with your answer, and decides.")

    def read(self, path: str) -> bytes | None:
        return None

    def files(self) -> Mapping[str, bytes]:
        return {}

    def ignored(self) -> tuple[str, ...]:
        return ()


def _feedback(scope: Scope, given: Mapping[str, object]) -> Proposed:
    path, lines = str(given.get("path") or ""), str(given.get("lines") or "")
    return remark(scope, str(given["text"]), path, lines)


def remark(scope: Scope, words: str, path: str = "", lines: str = "") -> Proposed:
    """Words for the agents, about lines of a file where some are named. UserError where they are not there."""
    if not path:
        return Proposed("remark", words.strip())
    text = _text(scope, path)
    first, _, last = (lines or "1").partition("-")
    there = text.removesuffix("\n").count("\n") + 1
    if not 1 <= int(first) <= int(last or first) <= there:
        raise UserError(f"{path} has {there} lines, and not the lines {lines}.")
    return Proposed("remark", words.strip(), path, lines, digest_of(text.encode()) if lines else "")


def _edit(scope: Scope, given: Mapping[str, object]) -> Proposed:
    path, old, new = str(given["path"]), str(given["old"]), str(given["new"])
    text = _text(scope, path)
    if (times := text.count(old)) != 1:
        raise UserError(f"In {path} these words stand {times} times; give more of what is around them.")
    after = text.replace(old, new, 1)
    secrets = scope.engine.discretion.of(scope.engine.session(scope.run).book.workflow)
    if names := secrets.names_in(after.encode()):
        raise UserError(f"{path} would hold the value of {names[0]}: the person has to edit it themselves.")
    if after == text:
        raise UserError("That changes nothing.")
    return Proposed("edit", str(given.get("why") or "").strip(), path, "", digest_of(text.encode()), after)


def _text(scope: Scope, path: str) -> str:
    data = queries.file(scope.engine, scope.run, path)
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        raise UserError(f"{path} is not a text.") from None
