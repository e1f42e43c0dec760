"""A run told as a story, from its log: who worked, what came of it, what the person said, what that changed.

Follows any run of phases, rounds and checkpoints. Every name and figure it tells is in the log; it adds only the words
between them, and decides nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from datetime import datetime
from typing import TYPE_CHECKING

from reconvene.core.facts import events as e
from reconvene.core.facts.ids import parse_task
from reconvene.core.shown.context import summary_in
from reconvene.doors.cli.text import one_line
from reconvene.doors.shared.advice import because

if TYPE_CHECKING:
    from reconvene.app.engine import Engine
    from reconvene.app.views.beside import Preview
    from reconvene.core.definition.workflow import Phase, Workflow

_RULE = 78
_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z“\"'])")
_FEW = 3  # so many agents are named, more are counted
_LONG = 300  # characters of a change that are shown
_WAITS = "(Here the run stops for a person, for a minute or a month. No process has to wait: it is rows in a database.)"


class _Step:
    def __init__(self, event: e.StepStarted) -> None:
        self.agents = [task.agent for task in event.tasks]
        self.began = self.ended = event.at

    @property
    def seconds(self) -> float:
        return (datetime.fromisoformat(self.ended) - datetime.fromisoformat(self.began)).total_seconds()


class _Round:
    def __init__(self, event: e.RoundStarted) -> None:
        self.event = event
        self.steps: list[_Step] = []
        self.outputs: dict[str, str] = {}  # agent → what it said
        self.files: list[str] = []
        self.missing: list[str] = []


class Story:
    """`catch_up` tells what is new in the log since it was last called."""

    def __init__(self, engine: Engine, run: str, say: Callable[[str], None]) -> None:
        self._engine = engine
        self._run = run
        self._say = say
        self._workflow: Workflow = engine.session(run).book.workflow
        self._seq = 0
        self._headed = ""
        self._blank = False  # whether the last line told was empty
        self._waited = False
        self._round: _Round | None = None
        self._before: dict[tuple[str, str], str] = {}  # phase, agent → its last summary
        self.turns: list[str] = []  # what extra rounds changed

    def catch_up(self) -> None:
        for seq, event in list(self._engine.log.read(self._run, self._seq)):
            self._seq = seq
            self._take(event)

    def _take(self, event: e.AnyEvent) -> None:
        match event:
            case e.RoundStarted():
                self._round = _Round(event)
            case e.StepStarted() if self._round:
                self._round.steps.append(_Step(event))
            case e.AttemptEnded() if self._round and self._round.steps:
                self._round.steps[-1].ended = event.at
                if event.verdict == "accepted" and event.output is not None:
                    said = self._engine.log.artefact(event.output.digest).decode("utf-8", errors="replace")
                    self._round.outputs[parse_task(event.task)[2]] = said
            case e.StepClosed() if self._round:
                self._round.files += [file.path for file in event.files if file.digest]
                self._round.missing += event.missing
            case e.RoundClosed() if self._round and self._round.steps:
                self._tell_round(self._round)
            case e.CheckpointOpened():
                self._tell_checkpoint(event)
            case e.RemarkAdded():
                self._tell_remark(event)
            case e.DecisionRecorded():
                self._tell_decision(event)
            case _:
                pass  # the rest is how, not what

    # --- the agents ---

    def _tell_round(self, done: _Round) -> None:
        phase = self._phase(done.event.phase)
        if phase.checkpoint is None:
            self._tell(f"  {self._wrote(done)}")
            return
        self._head(phase)
        several = phase.rounds.max != 1 and len(done.steps) > 1
        name = "" if done.event.name == "main" else f" ({'extra' if done.event.extra else done.event.name})"
        self._tell(f"  {f'Round {done.event.n}{name}: ' if several else ''}{self._worked(done)}.", apart=True)
        if done.missing:
            self._tell(f"  Missing: {', '.join(done.missing)}")
        drew = done.steps[-1].agents[-1]
        if done.event.extra:
            self._tell_turns(done, besides=drew)
        for agent, text in done.outputs.items():
            self._before[done.event.phase, agent] = summary_in(text)
        self._tell(f"  {self._gist(done, done.outputs.get(drew, ''))}", 2, apart=True)

    def _worked(self, done: _Round) -> str:
        """`7 specialists in parallel, 1.9 s; moderator drew it together, 1.0 s`"""
        told = []
        for at, step in enumerate(done.steps):
            many = len(step.agents) > 1
            did = "in parallel" if many else "drew it together" if at else "worked"
            told.append(f"{self._crew(step.agents)} {did}, {_spelt(step.seconds)}")
        return "; ".join(told)

    def _wrote(self, done: _Round) -> str:
        paths = ", ".join(dict.fromkeys(one_line(path) for path in done.files))
        alone = len(done.steps) == 1 and len(done.steps[0].agents) == 1
        if paths and alone:
            return f"{done.steps[0].agents[0]} wrote {paths}, {_spelt(done.steps[0].seconds)}"
        return f"{self._worked(done)}{': ' * bool(paths)}{paths}"

    def _crew(self, agents: list[str]) -> str:
        if len(agents) <= _FEW:
            return " and ".join(part for part in (", ".join(agents[:-1]), agents[-1]) if part)
        group = next((name for name, members in self._workflow.groups.items() if set(agents) <= set(members)), "agents")
        return f"{len(agents)} {group}"

    def _gist(self, done: _Round, text: str) -> str:
        """The first paragraph; of a standard round after the first only its first sentence."""
        paragraph = one_line(summary_in(text).split("\n\n")[0])
        brief = done.event.n > 1 and not done.event.extra
        return _SENTENCE.split(paragraph)[0] if brief else paragraph

    def _tell_turns(self, done: _Round, *, besides: str) -> None:
        """What was held before and is held now, by those who looked again. `besides` is told in full anyway."""
        found = []
        for agent, text in done.outputs.items():
            before = self._before.get((done.event.phase, agent), "")
            found += list(_turn(agent, before, summary_in(text))) if before and agent != besides else []
        if found:
            self._tell("  What that changed:", apart=True)
        for line in found:
            self._tell(line, 11)
        self.turns += found

    # --- the person ---

    def _tell_checkpoint(self, opened: e.CheckpointOpened) -> None:
        self._head(self._phase(opened.phase))
        if opened.attention or not (self._round and self._round.event.serial == opened.serial and self._round.steps):
            for paragraph in opened.prompt.strip().split("\n\n"):
                self._tell(f"  {one_line(paragraph)}", 2, apart=True)
        if not self._waited:
            self._waited = True
            self._tell(f"  {_WAITS}", 2, apart=True)

    def _tell_remark(self, remark: e.RemarkAdded) -> None:
        values = f", {remark.was} → {remark.now}" if remark.was and remark.now else ""
        weight = f", {remark.level}: {one_line(remark.reason)}" if remark.level else ""
        self._tell(f"▸ “{one_line(remark.text)}”", 2, apart=True)
        self._tell(f"  {remark.id} {remark.kind}{values}{weight}")

    def tell_advice(self, preview: Preview) -> None:
        """What is recommended, who would look again, and why."""
        self._tell(f"  Recommended: {one_line(preview.option)}, {one_line(preview.line)}")
        for route in preview.agents:
            self._tell(f"    • {one_line(route.agent)}: {because(route)}", 6)

    def _tell_decision(self, decision: e.DecisionRecorded) -> None:
        import json

        fields = json.loads(self._engine.log.artefact(decision.fields)) if decision.fields else {}
        words = "; ".join(one_line(text) for text in fields.values() if isinstance(text, str) and text.strip())
        self._tell(f"▸ {one_line(decision.option)}{f': {words}' if words else ''}", 2, apart=not decision.remarks)
        self._tell("")

    # --- small things ---

    def _phase(self, name: str) -> Phase:
        return next(phase for phase in _all(self._workflow.phases) if phase.id == name)

    def _head(self, phase: Phase) -> None:
        if phase.id != self._headed:
            self._headed = phase.id
            title = f"── {one_line(phase.title or phase.id)} "
            self._tell(title.ljust(_RULE, "─"), apart=True)

    def _tell(self, line: str, hang: int = 4, *, apart: bool = False) -> None:
        """One line, broken where the screen ends; `apart`: with an empty one before it."""
        if apart and not self._blank:
            self._say("")
        self._say(hung(line, hang))
        self._blank = not line


def _all(phases: tuple[Phase, ...]) -> Iterator[Phase]:
    for phase in phases:
        yield phase
        yield from _all(phase.phases)


def _turn(agent: str, before: str, after: str) -> Iterator[str]:
    """The first sentence that is new, and the one that stood in its place."""
    old, new = _sentences(before), _sentences(after)
    fresh = [sentence for sentence in new if sentence not in old]
    gone = [sentence for sentence in old if sentence not in new]
    if not fresh:
        return
    yield f"    {agent}"
    if gone:
        yield f"      was: {one_line(gone[0], _LONG)}"
    yield f"      is:  {one_line(fresh[0], _LONG)}"


def _spelt(seconds: float) -> str:
    """With a space at which no line is broken."""
    return f"{seconds:.1f}\u00a0s"


def _sentences(text: str) -> list[str]:
    return [sentence.strip() for sentence in _SENTENCE.split(" ".join(text.split()))]


def hung(line: str, hang: int) -> str:
    """Broken between words at the edge of the screen, its later lines `hang` further in than the edge."""
    import shutil
    import textwrap

    width = max(shutil.get_terminal_size().columns - 1, 40)
    return textwrap.fill(line, width, subsequent_indent=" " * hang, break_long_words=False, break_on_hyphens=False)
