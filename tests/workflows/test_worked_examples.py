"""Every step of a packaged workflow shows one worked example, and who copies it passes at the first attempt.

The matter of each run is that of the examples, because some gates ask whether an output is about this case.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest
from msgspec.structs import replace

from reconvene.adapters.agents.as_answer import interpret
from reconvene.core.definition.workflow import every_phase
from reconvene.core.facts.events import AttemptEnded
from reconvene.ports import Assignment
from reconvene.testing.scripted import ScriptedAgents
from reconvene.wire.packaged import packaged
from reconvene.wire.workflow_file import load_workflow
from reconvene.wiring import open_engine

from .seats import WORKFLOWS, Seat

# Their agents answer in a word or two, and ask for no form.
_PATTERNS = {"early-exit", "quality-gate", "review-before-changes", "skip-optional"}
BAKERY = "# Tidewell Bakery\n\nTwo shops. The lease of the Harbour Street shop ends in 2031, the loan in 2034.\n"
SPEC = "# Picture Desk\n\nA clerk uploads images to a report.\n\n## Images\n\nImages are removed after a while.\n"
GAPS = "- GAP-DATA-004 (HIGH): How long are images kept?\n- GAP-DATA-002 (LOW): Who may see an image?\n"


def example(work: Assignment) -> str:
    opening = f'<example-{work.mark} name="one that would pass, about another matter">\n'
    assert opening in work.prompt, f"{work.agent.name} in {work.phase} is shown no example"
    return work.prompt.split(opening)[1].split(f"\n</example-{work.mark}>")[0]


def copied(work: Assignment) -> object:
    """As if a model had written it."""
    said = interpret(work, example(work))
    value = {"value": said.value} if said.has_value else {}
    files = {path: body.decode() for path, body in said.files.items()}
    if known := re.findall(
        r"^- (GAP-\S+): “(.*)” \((.*)\)$", work.prompt.partition("- Close with the section")[2], re.M
    ):
        listed = "".join(
            f"- {gap}: {title} ({state})\n" for gap, title, state in known
        )  # of this matter, not of that one
        files = {path: f"{body.rstrip()}\n{listed}" for path, body in files.items()}
    if work.agent.name == "coder":  # whom the reviewers' example sends back: then something must have changed
        files |= {path: f"{body}# {work.task}\n" for path, body in files.items()}
    return {"text": said.text, "files": files, **value}


class Copyists(Seat):
    """A run all of whose agents say what their example says."""

    def __init__(self, home: Path, name: str, inputs: Mapping[str, object], **settings: object) -> None:
        self.agents = ScriptedAgents({}, default=copied)
        engine = open_engine(home, runner=self.agents)
        workflow = load_workflow(WORKFLOWS / name)
        models = {key: replace(agent, kind="model", recorded="") for key, agent in workflow.agents.items()}
        models |= {key: agent for key, agent in workflow.agents.items() if agent.kind == "survey"}
        run = engine.start(replace(workflow, agents=models), inputs, settings=settings, by="ann")
        super().__init__(engine, run)

    @property
    def refused(self) -> list[str]:
        ended = [event for _, event in self.engine.log.read(self.run) if isinstance(event, AttemptEnded)]
        return [f"{one.task}: {one.why}" for one in ended if one.verdict != "accepted"]

    @property
    def worked(self) -> set[tuple[str, str]]:
        return {(call.phase, call.agent.name) for call in self.agents.calls}


Copy = Callable[..., Copyists]


@pytest.fixture
def copy(tmp_path: Path) -> Iterator[Copy]:
    runs: list[Copyists] = []

    def start(name: str, inputs: Mapping[str, object], **settings: object) -> Copyists:
        runs.append(Copyists(tmp_path / f"home-{len(runs)}", name, inputs, **settings))
        return runs[-1]

    yield start
    for run in runs:
        run.close()


def every_task(name: str) -> set[tuple[str, str]]:
    """(phase, agent) of all that a workflow asks of a model."""
    workflow = load_workflow(WORKFLOWS / name)
    found = {(phase.id, agent) for phase in every_phase(workflow) for step in phase.steps for agent in step.agents}
    return {(phase, agent) for phase, agent in found if workflow.agents[agent].kind != "survey"}


def test_scenario_planning(copy: Copy) -> None:
    run = copy("scenario-planning", {})
    while run.state.status == "waiting":
        match run.phase:
            case "company_interview":
                run.decide("That is the company", name="Tidewell Bakery", business="Bread in Harbour Street")
            case "focal_interview":
                run.decide("That is the question", decision="Shall we buy a second oven?")
            case "company" | "focal_question":
                run.decide("That is right")
            case "completeness":
                run.decide("Finish", captured="yes")
            case _:
                run.decide("Looks good")
    assert (run.refused, run.state.status) == ([], "completed")
    assert run.worked == every_task("scenario-planning")


def test_scenario_planning_with_something_said(copy: Copy) -> None:
    run = copy("scenario-planning", {"company": BAKERY, "question": "Shall we buy a second oven?"})
    run.decide("That is right").decide("One more round", "correction: The rent is 60,000", gap="Does it still pay?")
    run.decide("Looks good")
    assert run.refused == []
    assert run.file("predetermined_elements.md").endswith("\n\nUser feedback from checkpoints incorporated.\n")


def test_market_entry(copy: Copy) -> None:
    run = copy("market-entry", {}).decide("Look again", "correction: Revenue is $900M").decide("Accept the memo")
    assert (run.refused, run.state.status) == ([], "completed")
    assert run.worked == every_task("market-entry")


def test_spec_refinement(copy: Copy) -> None:
    found = copy("spec-refinement", {"spec": SPEC})
    assert (found.refused, found.phase) == ([], "find")
    run = copy("spec-refinement", {"spec": SPEC, "gaps": GAPS}, auto=True, max_rounds=1)
    assert run.refused == []
    assert run.worked | found.worked == every_task("spec-refinement")
    assert run.file("specs/picture-desk_draft.md").startswith("# Picture Desk\n")


def test_brainstorm(copy: Copy, tmp_path: Path) -> None:
    project = tmp_path / "reminders"
    project.mkdir()
    who = ["-c", "user.name=Ann", "-c", "user.email=ann@example.org"]
    for words in (["init", "-q"], [*who, "commit", "-q", "--allow-empty", "-m", "Nothing yet"]):
        subprocess.run(["git", *words], cwd=project, check=True)
    given = {"description": "Reminders that are kept", "project": str(project)}
    run = copy("brainstorm", given, coder="", can_execute=True)
    wanted = [
        "Agree — questions, approaches, design",
        "Done",
        "Choose",
        "Approve",
        "Build it",
        "Take it as it is",
        "Finish",
    ]
    while run.state.status == "waiting":
        assert not run.refused, run.point.prompt
        run.decide(next(label for label in wanted if label in run.offered))
    assert (run.refused, run.state.status) == ([], "completed")
    assert run.worked >= every_task("brainstorm") - {("reassess", "brainstormer")}  # there is one batch


def test_only_the_short_patterns_are_left_out() -> None:
    played = {"scenario-planning", "market-entry", "spec-refinement", "brainstorm"}
    assert set(packaged()) == _PATTERNS | played | {"job"}  # its agents write with tools; its contract has an example
