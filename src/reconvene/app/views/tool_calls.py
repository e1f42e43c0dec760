"""The calls of tools that agents made or want to make in a run, from its log."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable

from msgspec import Struct
from msgspec.structs import replace

from reconvene.core.facts import events as e
from reconvene.core.facts.ids import parse_task

_NOT_MADE = ("waits", "due")


class Call(Struct, frozen=True):
    """`name`: which one of the run it is, as in R3/0/analyst:2.1. `state`: waits, in doubt, at work, given up, or
    its outcome."""

    name: str
    at: str
    agent: str
    tool: str
    arguments: str
    state: str
    effects: bool = False
    why: str = ""  # a person was asked
    ruling: str = ""
    by: str = ""  # the person
    words: str = ""
    result: str = ""
    seconds: float = 0.0
    files: tuple[str, ...] = ()
    counts: dict[str, int] = {}
    sandbox: str = ""
    user: str = ""  # for whom the system vouches
    recorded: bool = False  # a recording asked for it; the call itself was made


class Allowed(Struct, frozen=True):
    id: str
    agent: str
    tool: str
    arguments: dict[str, str]
    by: str
    at: str
    user: str = ""


def calls(events: Iterable[e.AnyEvent], read: Callable[[str], bytes], agent: str = "") -> list[Call]:
    """In the order in which they were asked for."""
    found: dict[str, Call] = {}

    def text(digest: str) -> str:
        return read(digest).decode("utf-8", "replace") if digest else ""

    for event in events:
        match event:
            case e.ModelTurned():
                for one in event.calls:
                    name = f"{event.task}:{one.id}"
                    state = "waits" if one.why else "due"
                    found[name] = Call(
                        name,
                        event.at,
                        parse_task(event.task)[2],
                        one.tool,
                        text(one.arguments),
                        state,
                        one.effects,
                        one.why,
                        recorded=event.usage.model == "recorded",
                    )
            case e.CallStarted():
                name = f"{event.task}:{event.call}"
                found[name] = replace(found[name], state="at work")
            case e.CallsDeferred():
                for call in event.calls:
                    name = f"{event.task}:{call}"
                    found[name] = replace(found[name], state="in doubt" if event.doubt else "waits")
            case e.CallRuled():
                name = f"{event.task}:{event.call}"
                said = {"ruling": event.ruling, "by": event.by, "user": event.user, "words": text(event.words)}
                changed = {"arguments": text(event.arguments)} if event.arguments else {}
                found[name] = replace(found[name], state="due", **said, **changed)
            case e.CallEnded():
                name = f"{event.task}:{event.call}"
                found[name] = replace(
                    found[name],
                    state=event.outcome,
                    arguments=text(event.arguments),
                    result=text(event.result.digest),
                    seconds=event.seconds,
                    files=tuple(file.path for file in event.files),
                    counts=event.counts,
                    sandbox=event.sandbox,
                )
            case e.Replanned():
                _give_up(found, event.tasks)
            case e.RoundUndone():
                tasks = (_task(name) for name in found)
                _give_up(found, [task for task in tasks if parse_task(task)[0] == event.serial])
    return [call for call in found.values() if not agent or call.agent == agent]


def _give_up(found: dict[str, Call], tasks: Collection[str]) -> None:
    """What was not made yet of these tasks is not made any more."""
    for name, call in found.items():
        if call.state in _NOT_MADE and _task(name) in tasks:
            found[name] = replace(call, state="given up")


def _task(name: str) -> str:
    return name.rpartition(":")[0]


def allowed(rules: Iterable[e.ToolAllowed]) -> list[Allowed]:
    ordered = sorted(rules, key=lambda rule: int(rule.id[1:]))
    return [Allowed(rule.id, rule.agent, rule.tool, rule.arguments, rule.by, rule.at, rule.user) for rule in ordered]
