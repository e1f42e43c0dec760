"""A run of `brainstorm` with scripted agents, and the person in front of it. Shared by its tests."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from pathlib import Path

from reconvene.adapters.agents import Agents
from reconvene.adapters.project.repository import plant
from reconvene.core.facts import commands as c
from reconvene.core.facts.events import CheckpointOpened
from reconvene.core.shown.scope import context
from reconvene.ports import Answer, Assignment, Listener
from reconvene.sandboxing import sandbox_for
from reconvene.testing.scripted import ScriptedAgents
from reconvene.wire.workflow_file import load_workflow
from reconvene.wiring import open_engine

from .seats import WORKFLOWS, Seat

FOLDER = WORKFLOWS / "brainstorm"
WISH = "Keep what was typed in the notes window, so that a crash loses nothing."
AGREE = {
    "straightforward": "Agree — quick design outline",
    "exploration": "Agree — questions, approaches, design",
    "complex": "Agree — more questions, deeper design",
}
Script = Callable[[Assignment], object]


def triage(level: str = "exploration", **more: object) -> dict[str, object]:
    return {"level": level, "reasoning": f"It looks {level} to me, for this project.", "suggestedSkips": [], **more}


def questions(count: int = 3, *ids: str, **more: object) -> dict[str, object]:
    names = ids or tuple(f"q{n}" for n in range(1, count + 1))
    listed = [{"id": name, "text": f"What about {name}?"} for name in names]
    listed[0]["options"] = ["a file", "a database"]  # type: ignore[assignment]
    return {"list": listed, **more}


def approaches(*titles: str, **more: object) -> dict[str, object]:
    names = titles or ("Journal file", "Small database")
    listed = [{"title": name, "summary": f"Take the {name}.", "pros": ["simple"], "cons": ["slow"]} for name in names]
    return {"list": listed, "recommended": names[0], **more}


def outline(approach: str, *ids: str) -> dict[str, object]:
    sections = [{"id": name, "title": f"The {name}", "covers": name} for name in ids]
    return {"approach": approach, "why": "It is the least.", "sections": sections}


def section(
    approach: str, text: str = "It appends every change to a journal, and reads it at the start.", **more: object
):
    return {"title": "How it works", "approach": approach, "text": text, **more}


def plan(*ids: str) -> dict[str, object]:
    tasks = [
        {
            "id": name,
            "title": f"Do {name}",
            "description": f"All of {name}.",
            "files": [f"{name}.py"],
            "tests": ["pytest"],
            "acceptance": [f"{name} works"],
        }
        for name in ids
    ]
    return {"summary": "Some tasks.", "tasks": tasks}


def review(verdict: str = "APPROVE", *findings: str) -> dict[str, object]:
    return {
        "verdict": verdict,
        "summary": f"I say {verdict}.",
        "checked": ["the tests"],
        "findings": [{"text": text} for text in findings],
    }


def asked_approach(work: Assignment) -> str:
    """What the prompt of the design step says the approach is."""
    found = re.search(r"`approach`: “(.*?)”|chose “(.*?)”|`approach` \(“(.*?)”", work.prompt)
    return next((part for part in found.groups() if part), "") if found else ""


LONG = "The journal is a file beside the notes. " * 20


def brainstormer(work: Assignment) -> object:
    """Answers every step acceptably, whatever the level."""
    deep = "5 to 7" in work.prompt or "three to eight" in work.prompt
    quick = "one or two, each" in work.prompt
    match work.phase:
        case "triage":
            return triage()
        case "questions":
            return questions(5 if deep else 3)
        case "approaches":
            return approaches()
        case "outline":
            ids = ("store",) if quick else ("store", "screen", "failure") if deep else ("store", "screen")
            return outline(asked_approach(work) or "Journal file", *ids)
        case "design":
            return section(asked_approach(work), LONG)
        case "reassess":
            found = re.findall(r"^\d+\. \*\*.*?\*\* \(`(.*?)`\)", work.prompt, re.MULTILINE)
            return {"summary": "On we go.", "batches": batches(*dict.fromkeys(found))}
    raise AssertionError(work.phase)


def batches(*ids: str) -> list[dict[str, object]]:
    return [{"id": name, "title": name.capitalize(), "description": f"All of {name}."} for name in ids]


def _project(parent: Path) -> Path:
    """A project for the scout to look at, with everything committed and no tests."""
    folder = parent / "project"
    if not folder.exists():
        plant(str(folder), {"notes.py": "NOTES = []  # typed notes are kept in memory\n"}, os.environ)
    return folder


def green(work: Assignment) -> str:
    """What a suite prints whose tests pass; the last line is what the engine asks for after it."""
    return f"3 passed in 0.1s\n\n{work.agent.command[-1]} 0\n"


def red(work: Assignment) -> str:
    return f"FAILED test_notes.py::test_it - boom\n1 failed, 2 passed in 0.1s\n\n{work.agent.command[-1]} 1\n"


class _WithCommands(ScriptedAgents):
    """Whatever is a command really runs, in its sandbox; all others say what the test tells them to."""

    def __init__(self, replies: Mapping[str, object], home: Path) -> None:
        super().__init__(replies)  # type: ignore[arg-type]
        self._commands = Agents(sandbox_for(lambda: [str(home)], os.environ, str(home)), os.environ)

    async def run(self, assignment: Assignment, listener: Listener) -> Answer:
        if assignment.agent.kind != "command":
            return await super().run(assignment, listener)
        self.calls.append(assignment)
        return await self._commands.run(assignment, listener)

    async def close(self) -> None:
        await self._commands.close()
        await super().close()


class Talk(Seat):
    """A run with scripted agents. `real`: commands are run."""

    def __init__(
        self,
        home: Path,
        inputs: Mapping[str, object] | None = None,
        settings: Mapping[str, object] | None = None,
        *,
        real: bool = False,
        **replies: object,
    ) -> None:
        everybody: dict[str, object] = {
            "brainstormer": brainstormer,
            "planner": lambda work: plan("one", "two"),
            "plan_reviewer": lambda work: review(),
            "coder": "Done.",
            "specification": lambda work: review(),
            "quality": lambda work: review(),
            "tester": green,
        }
        given: dict[str, object] = {"description": WISH, "project": str(_project(home.parent)), **(inputs or {})}
        known = everybody | replies
        self.agents = _WithCommands(known, home) if real else ScriptedAgents(known)  # type: ignore[arg-type]
        engine = open_engine(home, runner=self.agents)
        super().__init__(engine, engine.start(load_workflow(FOLDER), given, settings=settings, by="ann"))

    @property
    def trouble(self) -> CheckpointOpened:
        assert self.point.attention, self.point.prompt
        return self.point

    @property
    def context(self) -> dict[str, object]:
        return context(self.state, self.engine.session(self.run).book)

    def draft(self, **fields: object) -> Talk:
        self.engine.submit(self.run, c.SaveDraft(self.open.id, fields))
        self.state = self.engine.load(self.run)
        return self

    def decide(self, option: str, *said: str, **fields: object) -> Talk:
        """Also what the engine asks of its own."""
        return self.answer(option, fields, *said, at=self.point)

    def asked(self, agent: str, phase: str) -> list[str]:
        """The prompts an agent got in a phase."""
        return [call.prompt for call in self.agents.of(agent) if call.phase == phase]
