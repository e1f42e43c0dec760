"""One question to the companion, from the person's words to the answer on record.

What the person says is on record first. Then a model is asked, which looks with the tools of this stage; without a
model, or where it fails, the record answers. Whatever it was, the answer is on record before it is shown.
"""

from __future__ import annotations

from collections.abc import Callable, Collection

from msgspec import Struct

from reconvene.app import queries
from reconvene.app.views.companion_talk import Proposed, Said, Used
from reconvene.companion import from_record
from reconvene.companion.checked_cites import Cited, cited
from reconvene.companion.from_draft import from_draft
from reconvene.companion.kept_talk import Conversation
from reconvene.companion.looks_and_proposals import PROPOSING, Tools
from reconvene.companion.loop_record import InMemory
from reconvene.companion.prompting import about_draft, about_run, prompt
from reconvene.companion.roles import RULES
from reconvene.companion.run_record import RunRecord
from reconvene.companion.tiers import Stage, stage_of, tools_for
from reconvene.companion.tool_scope import CompanionTool, Scope, Tier
from reconvene.core.definition.workflow import Agent, Loop, Tool, Workflow
from reconvene.core.facts.events import Usage
from reconvene.errors import AgentError
from reconvene.ports import Answer, Assignment, Listener
from reconvene.prompts.marks import Section

LOOP = Loop(turns=16, tokens=400_000, cost=1.0)  # of one answer
_SECONDS = 300.0
_ASK_FOR_LESS = "Ask for less at a time, or name what it should look at."

AskModel = Callable[[Assignment, Tools, Listener], Answer]


class Reply(Struct, frozen=True):
    """What came of a question. `understood`: how it was read, where no model read it. `facts`: figures for scripts."""

    asked: Said
    said: Said
    understood: str = ""
    facts: dict[str, object] = {}
    hint: str = ""  # where a model failed: what could be done


class _Found(Struct, frozen=True):
    text: str
    understood: str = ""
    facts: dict[str, object] = {}
    proposals: tuple[Proposed, ...] = ()
    used: tuple[Used, ...] = ()
    usage: Usage = Usage()
    fault: str = ""
    hint: str = ""


class Companion:
    """`workflow`: of a draft, what it is to be a run of. `ask_model` None = the record answers."""

    def __init__(
        self,
        scope: Scope,
        conversation: Conversation,
        by: str,
        door: str,
        *,
        model: str = "",
        ask_model: AskModel | None = None,
        workflow: Workflow | None = None,
        inputs: Callable[[], tuple[str, ...]] = tuple,
    ) -> None:
        self.scope = scope
        self.conversation = conversation
        self.model = model if ask_model is not None else ""
        self.chosen: tuple[Tier, ...] = ()  # the person's choice of tiers, () = the stage's
        self._by = by
        self._door = door
        self._ask_model = ask_model
        self._workflow = workflow
        self._inputs = inputs

    @property
    def stage(self) -> Stage:
        scope = self.scope
        return stage_of(queries.standing(scope.engine, scope.run) if scope.run else None)

    def tools(self, chosen: Collection[Tier] | None = None) -> tuple[CompanionTool, ...]:
        """Those of this stage and of the tiers that the person chose; and what it may propose with."""
        scope = self.scope
        record = RunRecord(scope) if scope.run else None
        offered = tools_for(
            self.stage,
            documents=bool(record and record.documents),
            history=bool(record and scope.engine.history().last_seq(scope.run)),
            errors=bool(record and record.trouble),
            chosen=self.chosen if chosen is None else chosen,
            web=scope.web is not None,
        )
        return (*offered, *PROPOSING) if record else offered

    def ask(self, text: str, listener: Listener) -> Reply:
        stage = self.stage
        before = self.conversation.entries()
        asked = self.conversation.add(Said("person", text, by=self._by, door=self._door, stage=stage))
        found = self._found(text, stage, before, listener)
        named = cited(self.scope, found.text) if self.scope.run else Cited()
        said = self.conversation.add(
            Said(
                "companion",
                found.text,
                by=self._by,
                door=self._door,
                stage=stage,
                answers=asked.number,
                cites=named.cites,
                unknown=named.unknown,
                tools=found.used,
                proposals=found.proposals,
                usage=found.usage,
                fault=found.fault,
            )
        )
        return Reply(asked, said, found.understood, found.facts, found.hint)

    def _found(self, text: str, stage: Stage, before: list[Said], listener: Listener) -> _Found:
        if self._ask_model is None:
            return self._on_record(text)
        sections = self._sections(text, stage, before)
        message, mark = prompt(sections)
        tools = Tools(self.scope, self.tools(), mark)
        agent = Agent("companion", "model", model=self.model, tools=(Tool("companion"),), loop=LOOP, timeout=_SECONDS)
        assignment = Assignment(
            self.scope.run or self.scope.draft, "R0/0/companion", 1, agent, message, {}, (), None, system=RULES,
            mark=mark, turns=InMemory(),
        )  # fmt: skip
        try:
            answer = self._ask_model(assignment, tools, listener)
        except AgentError as error:
            usage = getattr(error, "usage", Usage())
            hint = _ASK_FOR_LESS if "`loop`" in error.hint else error.hint
            instead = self._on_record(text)
            return _Found(
                instead.text,
                instead.understood,
                instead.facts,
                (*tools.proposed, *instead.proposals),
                tuple(tools.used),
                usage if isinstance(usage, Usage) else Usage(),
                f"{self.model} could not be asked: {error.message}",
                hint,
            )
        return _Found(answer.text.strip(), proposals=tuple(tools.proposed), used=tuple(tools.used), usage=answer.usage)

    def _on_record(self, text: str) -> _Found:
        scope = self.scope
        if scope.run:
            question, told = from_record.answer(scope, text)
            return _Found(told.text, question.subject, told.facts, told.proposals)
        assert self._workflow is not None
        told = from_draft(self._workflow, self._instructions(), self._inputs())
        return _Found(told.text, "draft", told.facts)

    def _sections(self, text: str, stage: Stage, before: list[Said]) -> list[Section]:
        if self.scope.run:
            return about_run(self.scope, stage, before, text)
        assert self._workflow is not None
        return about_draft(self._workflow, self._instructions(), self._inputs(), before, text)

    def _instructions(self) -> str:
        scope = self.scope
        return scope.drafts.read(scope.draft) if scope.drafts is not None else ""
