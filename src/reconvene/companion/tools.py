"""The companion's tools, called: arguments are checked, and whatever is wrong is an answer in words.

Every text that a tool gives was written by agents, people or data sources: it is material, never an instruction.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec.structs import replace

from reconvene.companion import debug_tools, history_tools, outside_tools, workspace_tools
from reconvene.companion.catalogue import NAMED, TOOLS
from reconvene.companion.paging import BYTES, within
from reconvene.companion.tool_scope import Answer, CompanionTool, Drafts, Made, Scope, Tier, WebSearch
from reconvene.errors import ReconveneError

__all__ = ["Answer", "CompanionTool", "Drafts", "Scope", "Tier", "WebSearch", "all_tools", "call"]

_OF_A_RUN: tuple[Tier, ...] = ("basic", "history", "debug")
_MADE: dict[str, Made] = {**workspace_tools.MADE, **history_tools.MADE, **debug_tools.MADE, **outside_tools.MADE}


def all_tools() -> tuple[CompanionTool, ...]:
    return TOOLS


def call(scope: Scope, name: str, arguments: Mapping[str, object]) -> Answer:
    """One of them. What is wrong with a call is a failed answer that says how to do better; nothing is raised."""
    if name not in _MADE:
        return Answer(f"There is no tool {name!r}. There is: {', '.join(_MADE)}.", failed=True)
    if problems := _problems(NAMED[name], arguments):
        return Answer(f"{name} was not called: {'; '.join(problems)}.", failed=True)
    if not scope.run and NAMED[name].tier in _OF_A_RUN:
        return Answer(f"{name} was not called: nothing has been started yet, there is only a draft.", failed=True)
    try:
        answer = _MADE[name](scope, arguments)
    except ReconveneError as error:
        answer = Answer(" ".join(filter(None, (error.message, error.hint))), failed=True)
    return replace(answer, text=within(_without_secrets(scope, answer.text), BYTES))


def _without_secrets(scope: Scope, text: str) -> str:
    """What is on record holds none, but for files that the person took although they do."""
    if not scope.run:
        return text
    secrets = scope.engine.discretion.of(scope.engine.session(scope.run).book.workflow)
    return secrets.blank(text.encode("utf-8", "replace")).decode("utf-8", "replace") if secrets else text


def _problems(tool: CompanionTool, arguments: Mapping[str, object]) -> list[str]:
    from reconvene.wire import replies

    return replies.wrong_arguments(tool.parameters, arguments)
