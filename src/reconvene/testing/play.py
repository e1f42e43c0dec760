"""Play a workflow by hand on the pure core: no log, no agents, no clock. For tests of workflows and of the core."""

from __future__ import annotations

from collections.abc import Mapping

from reconvene.core.definition.workflow import Workflow
from reconvene.core.facts import commands as c
from reconvene.core.facts.actors import NOBODY, Actor
from reconvene.core.facts.book import Book, to_json
from reconvene.core.facts.events import AnyEvent, FileOut, Ref
from reconvene.core.facts.ids import digest_of
from reconvene.core.facts.state import EMPTY, RunState
from reconvene.core.run.handle import handle
from reconvene.core.run.plan import Effect, RunTask, plan
from reconvene.core.shown.scope import context
from reconvene.wire import replies
from reconvene.wire.pins import pin


class Play:
    def __init__(
        self,
        workflow: Workflow,
        inputs: Mapping[str, object] | None = None,
        settings: Mapping[str, object] | None = None,
    ) -> None:
        self.blobs: dict[str, bytes] = {}
        self.workflow = workflow
        self.book = Book(workflow, self.blobs.__getitem__, replies.validate)
        self.state: RunState = EMPTY
        self.log: list[AnyEvent] = []
        self._ticks = 0
        pinned, given, chosen = pin(workflow), to_json(dict(inputs or {})), to_json(dict(settings or {}))
        kept = (self.keep(pinned), workflow.name, self.keep(given), self.keep(chosen))
        self.do(c.StartRun("run-1", *kept, "/workspace", "ann", "test"))

    def keep(self, data: bytes) -> str:
        digest = digest_of(data)
        self.blobs[digest] = data
        return digest

    def now(self) -> str:
        self._ticks += 1
        minutes, seconds = divmod(self._ticks, 60)
        return f"2026-01-01T{minutes // 60:02d}:{minutes % 60:02d}:{seconds:02d}.000Z"

    def do(self, command: c.Command, claim: str = "driver", actor: Actor = NOBODY, at: str = "") -> list[AnyEvent]:
        """Handle a command; what it refuses raises. `at`: when; "" = a second after the last one."""
        handled = handle(self.state, command, at or self.now(), self.book, claim, actor)
        self.blobs |= handled.blobs
        self.state = handled.state
        self.log += handled.events
        return handled.events

    # --- agents ---

    def effects(self) -> list[Effect]:
        return plan(self.state, self.book)

    def working(self) -> list[str]:
        return [effect.agent for effect in self.effects() if isinstance(effect, RunTask)]

    def output(
        self, agent: str, text: str = "", *, value: object = None, files: Mapping[str, str] | None = None
    ) -> c.RecordAttempt:
        """The command that records this output of an agent that works now."""
        effect = next(e for e in self.effects() if isinstance(e, RunTask) and e.agent == agent)
        data = (text or f"output of {agent}").encode()
        encoded = to_json(value) if value is not None else b""
        return c.RecordAttempt(
            effect.task,
            effect.attempt,
            output=Ref(self.keep(data), "text", len(data)),
            value=Ref(self.keep(encoded), "json", len(encoded)) if value is not None else None,
            files=tuple(FileOut(p, self.keep(t.encode()), len(t.encode())) for p, t in (files or {}).items()),
        )

    def finish(
        self, agent: str, text: str = "", *, value: object = None, files: Mapping[str, str] | None = None
    ) -> list[AnyEvent]:
        return self.do(self.output(agent, text, value=value, files=files))

    def finish_all(self, **values: object) -> None:
        """Let everybody who works now deliver; values by agent name."""
        while self.working():
            agent = self.working()[0]
            self.finish(agent, value=values.get(agent))

    def fail(self, agent: str, why: str = "it broke", *, retryable: bool = True) -> list[AnyEvent]:
        effect = next(e for e in self.effects() if isinstance(e, RunTask) and e.agent == agent)
        return self.do(c.RecordAttempt(effect.task, effect.attempt, failed=True, why=why, retryable=retryable))

    # --- the person ---

    def decide(
        self, option: str, *said: str, fields: Mapping[str, object] | None = None, checkpoint: str = ""
    ) -> list[AnyEvent]:
        remarks = tuple(c.RemarkIn(text) for text in said)
        return self.do(c.AnswerCheckpoint(checkpoint, option, dict(fields or {}), remarks, by="ann", door="test"))

    # --- looking ---

    @property
    def phase(self) -> str:
        return self.state.world.top.phase

    @property
    def labels(self) -> list[str]:
        point = self.state.world.open
        return [option.label for option in point.options if option.available] if point else []

    def context(self) -> dict[str, object]:
        return context(self.state, self.book)

    def entered(self) -> list[str]:
        return [event.scope for event in self.log if type(event).__name__ == "PhaseEntered"]  # type: ignore[union-attr]
