"""A recording whose agents use tools: the calls are recorded, what they give is real.

Each turn is on record before its calls are made, as a model's is, so a call may wait for a person and the attempt goes
on in another process. Which call comes next stands in the entry; what is answered may depend on what the calls gave.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct

from reconvene.adapters.agents import recorded
from reconvene.adapters.agents.as_answer import take_files
from reconvene.adapters.agents.made_calls import Calls
from reconvene.adapters.agents.recorded import Played, bad
from reconvene.core.facts.events import Usage
from reconvene.ports import Answer, Assignment, Listener
from reconvene.tool_ports import Recorded, Toolbox, Turns, Wanted

if TYPE_CHECKING:
    from reconvene.adapters.agents.tool_loop import Toolboxes

_AS = "as"


class _Call(Struct, frozen=True):
    tool: str
    given: object
    name: str


class _Turn(Struct, frozen=True):
    """As it is stored. told: what the calls of the turn before gave; names: how the results of its own are called."""

    attempt: int
    told: list[str]
    names: list[str]


async def run(
    assignment: Assignment, listener: Listener, environ: Mapping[str, str], toolboxes: Toolboxes, turns: Turns
) -> Answer:
    played = recorded.found(assignment)
    script = _script(played.entry.get("calls") or [], assignment)
    if not script:
        return await recorded.answered(played, assignment, listener, environ)
    async with toolboxes.open(assignment, turns.so_far().files, listener) as box:
        calls = Calls(assignment, listener, box, turns)
        while True:
            so_far = turns.so_far()
            told = [one.text for one in await calls.make(so_far.calls)] if so_far.calls else []
            made = _made(so_far, assignment.attempt)
            results = _results(made, told)
            if len(made) == len(script):
                answer = await recorded.answered(played, _as_asked(assignment, box), listener, environ, results)
                return _with_files(assignment, answer, box)
            turn, due = so_far.turn + 1, script[len(made)]
            wants = tuple(
                _wanted(calls, played, assignment, results, f"{turn}.{number}", call)
                for number, call in enumerate(due, 1)
            )
            kept = _Turn(assignment.attempt, told, [call.name for call in due])
            await turns.turned(turn, msgspec.json.encode(kept), wants, Usage(model="recorded"), b"", b"")


def _script(given: object, assignment: Assignment) -> list[list[_Call]]:
    if not isinstance(given, list | tuple):
        raise bad(assignment, "`calls` should be a list of turns")
    return [[_call(one, assignment) for one in (turn if isinstance(turn, list | tuple) else [turn])] for turn in given]


def _call(given: object, assignment: Assignment) -> _Call:
    tools = [key for key in given if key != _AS] if isinstance(given, Mapping) else []
    if not isinstance(given, Mapping) or len(tools) != 1:
        raise bad(assignment, "a call is one tool and its arguments, such as {read_file: {path: a.md}, as: a}")
    return _Call(str(tools[0]), given[tools[0]] or {}, str(given.get(_AS) or ""))


def _made(so_far: Recorded, attempt: int) -> list[_Turn]:
    """The turns of this attempt."""
    every = (msgspec.json.decode(part, type=_Turn) for part in so_far.messages)
    return [turn for turn in every if turn.attempt == attempt]


def _results(made: list[_Turn], told: list[str]) -> dict[str, str]:
    given = [*(turn.told for turn in made[1:]), told]
    return {name: text for turn, texts in zip(made, given) for name, text in zip(turn.names, texts) if name}


def _wanted(
    calls: Calls, played: Played, assignment: Assignment, results: Mapping[str, str], name: str, call: _Call
) -> Wanted:
    filled = recorded.arguments(played, assignment, results, call.given)
    return calls.wanted(name, call.tool, json.dumps(filled, ensure_ascii=False))


def _as_asked(assignment: Assignment, box: Toolbox) -> Assignment:
    """Where its calls wrote files, what it says is none."""
    return assignment._replace(writes=()) if take_files(assignment, box.files()).files else assignment


def _with_files(assignment: Assignment, answer: Answer, box: Toolbox) -> Answer:
    taken = take_files(assignment, box.files())
    files = {**answer.files, **taken.files}
    return answer._replace(files=files, ignored=(*answer.ignored, *taken.ignored, *box.ignored()))
