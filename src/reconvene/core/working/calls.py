"""Calls of tools within an attempt: which of them a person is asked about first, and what is on record of each.

The attempt goes on where its record ends, in whatever process: nothing that is on record is done again, and a call with
effects that was begun and not ended is a person's to judge.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

from msgspec.structs import replace

from reconvene.core.definition.workflow import Tool
from reconvene.core.facts import commands as c
from reconvene.core.facts import events as e
from reconvene.core.facts import loops
from reconvene.core.facts.ids import parse_task
from reconvene.core.facts.round import CallAt, LoopAt, TaskAt
from reconvene.core.shown import scope
from reconvene.core.shown.settled_agents import settled_agent
from reconvene.core.working.allowances import allows
from reconvene.core.working.transaction import Transaction
from reconvene.errors import Refused, UserError
from reconvene.language.expressions import ExpressionError, truth

_InLoop = c.RecordTurn | c.StartCall | c.EndCall | c.DeferCalls | c.CompactMessages


def record(tx: Transaction, command: _InLoop) -> None:
    task = _task(tx, command)
    if isinstance(command, c.RecordTurn):
        _turned(tx, command, task)
        return
    loop = task.loop
    if loop is None:
        raise Refused(f"{command.task} uses no tools.")
    now, name, attempt = tx.now, command.task, command.attempt
    match command:
        case c.StartCall():
            _due(loop, command.call)
            tx.emit(e.CallStarted(at=now, task=name, attempt=attempt, call=command.call))
        case c.EndCall():
            _ended(tx, command, loop)
        case c.DeferCalls():
            calls = loops.ids(loops.waiting(loop))
            tx.emit(e.CallsDeferred(at=now, task=name, attempt=attempt, calls=calls))
        case c.CompactMessages():
            made = e.MessagesCompacted(
                at=now, task=name, attempt=attempt, turn=command.turn, messages=command.messages, why=command.why
            )
            tx.emit(made)


def in_a_loop(tx: Transaction, task: TaskAt) -> bool:
    """Whether all that its attempt does is on record before it is done: then the same attempt goes on."""
    if task.loop is not None or not tx.book.workflow.agents[task.agent].tools:
        return task.loop is not None
    try:
        return settled_agent(tx.state, tx.book, task.agent).kind in ("model", "recorded")
    except UserError:  # said when it is to work
        return False


def let_go(tx: Transaction, name: str, task: TaskAt, claim: str) -> bool:
    """The attempt stays as it is, for whoever has this claim ("" = nobody yet). False: it asks a person, since a call
    that was begun may have happened."""
    doubtful = loops.in_doubt(task.loop) if task.loop is not None else []
    if doubtful:
        ids = loops.ids(doubtful)
        tx.emit(e.CallsDeferred(at=tx.now, task=name, attempt=task.attempt, calls=ids, doubt=True))
    elif claim != task.claim:
        tx.emit(e.TasksClaimed(at=tx.now, tasks=(name,), claim=claim))
    return not doubtful


def _task(tx: Transaction, command: _InLoop) -> TaskAt:
    """Its task, as long as it is this process that works at it."""
    serial, index, agent = parse_task(command.task)
    round_ = tx.frame.round
    step = round_.open if round_ is not None and round_.serial == serial else None
    task = step.tasks.get(agent) if step is not None and step.index == index else None
    if tx.state.ended or task is None or task.status != "open" or task.attempt != command.attempt:
        raise Refused(f"{command.task} is not at work any more.")
    if task.claim != tx.claim:
        raise Refused(f"{command.task} was taken over by another process.")
    return task


def _turned(tx: Transaction, command: c.RecordTurn, task: TaskAt) -> None:
    if command.turn != (task.loop.turn if task.loop else 0) + 1:
        raise Refused(f"{command.task} is at another turn.")
    tx.emit(
        e.ModelTurned(
            at=tx.now,
            task=command.task,
            attempt=command.attempt,
            turn=command.turn,
            messages=command.messages,
            calls=tuple(_asked(tx, task, call, command.of) for call in command.calls),
            usage=command.usage,
            request=command.request,
            reply=command.reply,
            said=command.said,
        )
    )


def _asked(tx: Transaction, task: TaskAt, call: e.CallAsked, of: Mapping[str, str]) -> e.CallAsked:
    """With why a person is asked. What cannot be made as it is written needs nobody: the model is told."""
    entry = of.get(call.id)
    if entry is None:
        return replace(call, why="")
    if task.loop is not None:
        key = loops.key(call)
        if refused := task.loop.refused.get(key, ""):
            return replace(call, why="", refused=refused)
        if before := task.loop.doubted.get(key, "") if call.effects else "":
            return replace(call, why=f"call {before} was the same, and nobody knows whether it happened")
    tools = settled_agent(tx.state, tx.book, task.agent).tools
    tool = next((one for one in tools if one.name == entry), None)
    return replace(call, why=_why(tx, task.agent, tool, call) if tool is not None else "")


def _why(tx: Transaction, agent: str, tool: Tool, call: e.CallAsked) -> str:
    first = tool.name in tx.state.record.ask_first
    if not tool.ask and not first:
        return ""
    arguments = arguments_of(tx.book.text(call.arguments))
    if any(allows(one, agent, call.tool, arguments) for one in tx.state.record.allowed.values()):
        return ""
    if first and tool.ask != "always":
        return f"{tool.name} asks first, as a person said"
    if tool.ask == "always":
        return f"{tool.name} always asks"
    seen = {"tool": call.tool, "args": arguments, "agent": agent, "phase": {"id": tx.frame.phase}}
    try:
        asks = truth(tool.ask, scope.for_expression(tx.state, tx.book, tool.ask, seen))
        return f"`{tool.ask}` is true" if asks else ""
    except ExpressionError as error:
        return f"`{tool.ask}` failed: {error}"


def arguments_of(text: str) -> dict[str, object]:
    try:
        found = json.loads(text)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _due(loop: LoopAt, call: str) -> CallAt:
    found = next((one for one in loop.calls if one.id == call), None)
    if found is None or found.state != "due":
        raise Refused(f"Call {call} is not to be made{f': it {found.state}' if found else ''}.")
    return found


def _ended(tx: Transaction, command: c.EndCall, loop: LoopAt) -> None:
    call = next((one for one in loop.calls if one.id == command.call), None)
    if call is None or call.state not in ("due", "begun"):
        raise Refused(f"Call {command.call} is not at work.")
    tx.emit(
        e.CallEnded(
            at=tx.now,
            task=command.task,
            attempt=command.attempt,
            call=call.id,
            tool=call.tool,
            arguments=call.arguments,
            outcome=command.outcome,
            result=command.result,
            files=command.files,
            seconds=command.seconds,
            counts=command.counts,
            sandbox=command.sandbox,
            doubt=command.doubt,
        )
    )
