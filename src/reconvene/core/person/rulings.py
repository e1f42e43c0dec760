"""Calls of tools that wait for a person: how they are asked about, and what each answer means."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Literal

from msgspec import Struct

from reconvene.core.facts import commands as c
from reconvene.core.facts import events as e
from reconvene.core.facts import loops
from reconvene.core.facts.ids import task_id
from reconvene.core.facts.round import CallAt, TaskAt
from reconvene.core.facts.state import RunState
from reconvene.core.working import allowances
from reconvene.core.working.calls import arguments_of
from reconvene.core.working.transaction import Transaction
from reconvene.errors import Refused

APPROVE = "Approve"
MAKE_AGAIN = "Make them again"
REFUSE = "Refuse"
EACH = "Decide each call"
LABELS = (APPROVE, MAKE_AGAIN, REFUSE, EACH)

_ANSWERS = {
    "approve": "make the call",
    "refuse": "do not make it, and say why",
    "change": "make it with other arguments",
    "answer": "do not make it, and answer in its place",
    "always": "make it, and never ask again about this very call",
    "always like": "make it, and never ask again about calls that fit the pattern above, or yours",
    "later": "leave it waiting, and be asked again",
}
_MOST_SHOWN = 2000  # characters of the arguments of one call
_MOST_SAID = 300  # and of what the agent says with it


class Waiting(Struct, frozen=True):
    """A call, and whose it is. `field`: what its answer is called."""

    field: str
    task: str
    attempt: int
    agent: str
    call: CallAt
    said: str = ""  # digest: what the agent wrote beside its calls


def waiting(state: RunState) -> list[Waiting]:
    """In the order of the agents and of their calls."""
    round_ = state.world.top.round
    step = round_.open if round_ is not None else None
    if round_ is None or step is None:
        return []
    found = [
        (task_id(round_.serial, step.index, task.agent), task, call)
        for task in (step.tasks[agent] for agent in step.order)
        if task.status == "suspended" and task.loop is not None
        for call in loops.waiting(task.loop)
    ]
    return [
        Waiting(f"call{number}", name, task.attempt, task.agent, call, task.loop.said if task.loop else "")
        for number, (name, task, call) in enumerate(found, 1)
    ]


def message(tx: Transaction, tasks: list[TaskAt]) -> str:
    """For the trouble: who waits for what."""
    names = {task.agent for task in tasks}
    lines = [_told(tx, one) for one in waiting(tx.state) if one.agent in names]
    return "\n- ".join(lines)


def _told(tx: Transaction, one: Waiting) -> str:
    """In Markdown. What the agent wrote stands in a block, or is one line: nothing in it looks like ours."""
    why = f" ({one.call.why})" if one.call.why and not one.call.doubt else ""
    lines = [f"{one.field}: {one.agent} wants {one.call.tool}{why}"]
    if one.call.doubt:
        lines.append("  It was begun, and nobody knows whether it happened: the process ended before its outcome")
    if said := " ".join(tx.book.text(one.said).split()) if one.said else "":
        lines.append(f"  It says: “{said[:_MOST_SAID]}{'…' if len(said) > _MOST_SAID else ''}”")
    return "\n".join([*lines, "", *(f"      {line}" for line in _block(tx, one))])


def _block(tx: Transaction, one: Waiting) -> list[str]:
    """Its arguments, a name and a value each, as the call would get them."""
    lines: list[str] = []
    for name, value in _arguments(tx, one.call).items():
        first, *more = allowances.as_text(value).rstrip("\n").split("\n")
        lines += [f"{name}:", *(f"  {line}" for line in (first, *more))] if more else [f"{name}: {first}"]
    shown = _both_ends("\n".join(lines) or "(without arguments)", f"{one.task}:{one.call.id}", tx)
    return ["".join(sign if sign.isprintable() else _escaped(sign) for sign in line) for line in shown.split("\n")]


def _escaped(sign: str) -> str:
    return sign.encode("unicode_escape").decode("ascii")


def _both_ends(text: str, call: str, tx: Transaction) -> str:
    """What is long is cut in its middle: what counts may stand at the end."""
    if len(text) <= _MOST_SHOWN:
        return text
    cut, half = len(text) - _MOST_SHOWN, _MOST_SHOWN // 2
    where = f"reconvene calls {tx.state.run} --call {call}"
    return f"{text[:half]}\n[… {cut:,} characters are not shown; all of it: {where} …]\n{text[-half:]}"


def options(tx: Transaction) -> list[e.OptionOffered]:
    """What could be done twice is never the first."""
    calls = waiting(tx.state)
    doubt = any(one.call.doubt for one in calls)
    every = e.OptionOffered(MAKE_AGAIN if doubt else APPROVE, index=-1, remark="optional")
    each = e.OptionOffered(EACH, index=-1, fields=tuple(_fields(tx, calls)))
    refuse = e.OptionOffered(REFUSE, index=-1, remark="required")
    return [each, refuse, every] if doubt else [every, refuse, each]


def _fields(tx: Transaction, calls: list[Waiting]) -> list[e.FieldAsked]:
    fields: list[e.FieldAsked] = []
    for one in calls:
        arguments = _arguments(tx, one.call)
        like = json.dumps(allowances.alike(arguments), ensure_ascii=False)
        prompt = f"{_told(tx, one)}\n\n  always like: {one.call.tool} {like}"
        titles = tuple(_ANSWERS.values())
        fields.append(e.FieldAsked(one.field, "choice", prompt, tuple(_ANSWERS), blank="later", titles=titles))
        words = f"{one.field}: why, the other arguments, the answer, or the pattern"
        starts = {"refuse": "", "change": json.dumps(arguments, ensure_ascii=False), "answer": "", "always like": like}
        starts = {answer: text if len(text) <= _MOST_SHOWN else "" for answer, text in starts.items()}
        fields.append(e.FieldAsked(f"{one.field}_words", "text", words, follows=one.field, starts=starts))
    return fields


def rule(tx: Transaction, label: str, command: c.AnswerCheckpoint) -> bool:
    """Whether `label` decides on calls; what it says of each is then on record."""
    if label not in LABELS:
        return False
    said = "\n".join(remark.text for remark in command.remarks if remark.text.strip())
    every: Literal["approve", "refuse"] = "refuse" if label == REFUSE else "approve"
    ruled = 0
    for one in waiting(tx.state):
        answer = str(command.fields.get(one.field) or "later") if label == EACH else every
        words = str(command.fields.get(f"{one.field}_words") or "") if label == EACH else said
        ruled += _ruled(tx, one, answer, words.strip(), command)
    if not ruled:
        fields = ", ".join(one.field for one in waiting(tx.state))
        raise Refused("Nothing is decided: no call has an answer.", hint=f"Answer at least one of {fields}.")
    return True


def _ruled(tx: Transaction, one: Waiting, answer: str, words: str, command: c.AnswerCheckpoint) -> bool:
    match answer:
        case "later":
            return False
        case "approve":
            _emit(tx, one, "approve", command, words=words)
        case "refuse":
            if not words:
                raise Refused(f"{one.field}: say why it is refused.", hint=f"Add {one.field}_words=…")
            _emit(tx, one, "refuse", command, words=words)
        case "answer":
            if not words:
                raise Refused(f"{one.field}: the answer is missing.", hint=f"Add {one.field}_words=…")
            _emit(tx, one, "answer", command, words=words)
        case "change":
            _emit(tx, one, "change", command, arguments=_changed(one, words))
        case "always" | "always like":
            _allow(tx, one, _pattern(tx, one, words) if answer == "always like" else None, command)
            _emit(tx, one, "approve", command)
        case _:
            hint = f"One of {', '.join(_ANSWERS)}."
            raise Refused(f"{one.field}: {answer!r} is no answer to a call.", hint=hint)
    return True


def _emit(
    tx: Transaction,
    one: Waiting,
    ruling: Literal["approve", "change", "refuse", "answer"],
    command: c.AnswerCheckpoint,
    *,
    arguments: str = "",
    words: str = "",
) -> None:
    tx.emit(
        e.CallRuled(
            at=tx.now,
            by=command.by,
            door=command.door,
            task=one.task,
            attempt=one.attempt,
            call=one.call.id,
            ruling=ruling,
            arguments=tx.keep_text(arguments) if arguments else "",
            words=tx.keep_text(words) if words else "",
            claim=tx.claim,
        )
    )


def _changed(one: Waiting, words: str) -> str:
    found = _object(words)
    if found is None:
        hint = f"""Add {one.field}_words='{{"name": "value"}}'"""
        raise Refused(f"{one.field}: the other arguments are not a JSON object.", hint=hint)
    return json.dumps(found, ensure_ascii=False)


def _pattern(tx: Transaction, one: Waiting, words: str) -> dict[str, str]:
    """As it was shown, or as the person writes it; it must allow the call that it was made from."""
    arguments = _arguments(tx, one.call)
    if not words:
        return allowances.alike(arguments)
    found = _object(words)
    if found is None or not all(isinstance(value, str) for value in found.values()):
        hint = f"As in {json.dumps(allowances.alike(arguments), ensure_ascii=False)}"
        raise Refused(f"{one.field}: the pattern is not a JSON object of texts.", hint=hint)
    pattern = {name: str(value) for name, value in found.items()}
    rule = e.ToolAllowed(at=tx.now, id="", agent=one.agent, tool=one.call.tool, arguments=pattern)
    if not allowances.allows(rule, one.agent, one.call.tool, arguments):
        hint = allowances.why_not(pattern, arguments)
        raise Refused(f"{one.field}: the pattern does not fit the call itself.", hint=hint)
    return pattern


def _allow(tx: Transaction, one: Waiting, pattern: dict[str, str] | None, command: c.AnswerCheckpoint) -> None:
    number = tx.state.record.allowances + 1
    tx.emit(
        e.ToolAllowed(
            at=tx.now,
            by=command.by,
            door=command.door,
            id=f"A{number}",
            agent=one.agent,
            tool=one.call.tool,
            arguments=allowances.exactly(_arguments(tx, one.call)) if pattern is None else pattern,
        )
    )


def disallow(tx: Transaction, command: c.DisallowTool) -> None:
    if command.id not in tx.state.record.allowed:
        known = ", ".join(sorted(tx.state.record.allowed)) or "none"
        hint = f"Allowed: {known}. reconvene allowed {tx.state.run} lists them"
        raise Refused(f"{command.id!r} is nothing that was allowed in run {tx.state.run}.", hint=hint)
    tx.emit(e.ToolDisallowed(at=tx.now, by=command.by, door=command.door, id=command.id))


def _arguments(tx: Transaction, call: CallAt) -> dict[str, object]:
    return arguments_of(tx.book.text(call.arguments))


def _object(text: str) -> Mapping[str, object] | None:
    try:
        found = json.loads(text)
    except ValueError:
        return None
    return found if isinstance(found, dict) else None
