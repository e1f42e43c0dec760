"""A gap-check script of a phase: what it is told, and what its verdict becomes."""

from __future__ import annotations

import asyncio

import msgspec

from reconvene.app.effects import Done
from reconvene.core.definition.workflow import Agent
from reconvene.core.facts.book import Book
from reconvene.core.facts.commands import RecordCheck
from reconvene.core.facts.state import RunState
from reconvene.core.run.plan import RunCheck
from reconvene.core.shown import scope
from reconvene.errors import AgentError
from reconvene.ports import AgentRunner, Assignment, Listener
from reconvene.wire import replies

_ACTIONS = ("", "retry", "spawn_additional", "escalate", "abort")


async def run_check(runner: AgentRunner, state: RunState, book: Book, effect: RunCheck, listener: Listener) -> Done:
    """A gap-check script: context as JSON on stdin, a private copy of the files, its verdict as JSON on stdout."""
    phase = book.phase(state.world.top.phase)
    if phase.check is None:
        return Done(RecordCheck(effect.serial), {})
    request = msgspec.json.encode({"context": scope.context(state, book), "phase": {"id": phase.id}}).decode()
    work = Assignment(
        run=state.run,
        task=f"R{effect.serial}/0/check",
        attempt=1,
        agent=Agent(
            "check",
            "command",
            command=phase.check.script,
            timeout=phase.check.timeout,
            sandbox=book.workflow.sandbox,
        ),
        prompt=request,
        files={path: book.read(version.digest) for path, version in state.world.files.items()},
        writes=(),
        schema=None,
    )
    try:
        answer = await runner.run(work, listener)
        verdict = replies.extract_json(answer.text) if answer.text.strip() else {}
    except asyncio.CancelledError:
        raise
    except (AgentError, ValueError) as error:
        return Done(RecordCheck(effect.serial, error=str(error)), {})
    return Done(_verdict(effect.serial, verdict), {})


def _verdict(serial: int, verdict: object) -> RecordCheck:
    if not isinstance(verdict, dict):
        return RecordCheck(serial, error='it must print a JSON object such as {"action": "retry", "say": "…"}')
    action = str(verdict.get("action") or "")
    if action not in _ACTIONS:
        return RecordCheck(serial, error=f"unknown action {action!r} (known: {', '.join(_ACTIONS[1:])})")
    agents = verdict.get("agents") or []
    names = tuple(str(agent) for agent in agents) if isinstance(agents, list) else ()
    return RecordCheck(serial, action, names, str(verdict.get("say") or verdict.get("message") or ""))  # type: ignore[arg-type]
