"""The recording of brainstorm: two cases that play to their end, and an answer for whatever way a person takes."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import yaml
from msgspec.structs import replace

from commands import call
from exploring import part
from reconvene.core.facts.commands import AnswerCheckpoint, RemarkIn
from reconvene.core.facts.events import AttemptEnded
from reconvene.core.facts.state import RunState
from reconvene.wire.workflow_file import load_workflow
from reconvene.wiring import new_project, open_engine

from .brainstorming import FOLDER

CASES = sorted(path.name for path in (FOLDER / "cases").iterdir())


def read(*path: str) -> object:
    return yaml.safe_load(FOLDER.joinpath(*path).read_text(encoding="utf-8"))


class Recorded:
    """A run on the recording, and a person who takes the first of the options they want that is there."""

    def __init__(self, home: Path, case: str) -> None:
        workflow = load_workflow(FOLDER)
        agents = {
            name: agent if agent.kind == "survey" else replace(agent, kind="recorded", recorded="team", command_line="")
            for name, agent in workflow.agents.items()
        }
        workflow = replace(workflow, agents=agents, recordings={"team": read("recorded", "team.yaml")})
        files = read("recorded", "project.yaml")
        assert isinstance(files, dict)
        given = read("cases", case, "inputs.yaml")
        assert isinstance(given, dict)
        self.project = Path(new_project(home, "pantry", files))
        self.engine = open_engine(home)
        inputs = {**given, "project": str(self.project)}
        self.run = self.engine.start(workflow, inputs, settings={"can_execute": True}, by="ann")
        self.state: RunState = self.engine.drive_sync(self.run)

    def take(self, *wanted: str, said: str = "", **fields: object) -> None:
        point = self.state.world.open
        assert point is not None, self.state.status
        assert not point.attention, point.prompt
        labels = [option.label for option in point.options if option.available]
        option = next((label for label in wanted if label in labels), None)
        assert option, f"none of {wanted} among {labels}"
        remarks = (RemarkIn(said),) if said else ()
        self.engine.submit(self.run, AnswerCheckpoint(point.id, option, fields, remarks, by="ann"))
        self.state = self.engine.drive_sync(self.run)

    def on_to_the_end(self) -> None:
        for _ in range(30):
            if self.state.status != "waiting":
                break
            self.take("Done", "Choose", "Approve", "Build it", "Continue to the next batch", "It is done", "Finish")
        assert self.state.status == "completed", self.state.status


Play = Callable[[str], Recorded]


@pytest.fixture
def play(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Play]:
    monkeypatch.setenv("RECONVENE_DEMO_SPEED", "0")
    played: list[Recorded] = []

    def start(case: str) -> Recorded:
        played.append(Recorded(tmp_path / f"home-{len(played)}", case))
        return played[-1]

    yield start
    for one in played:
        asyncio.run(one.engine.close())
        assert one.state.record.errors == ()


LEVELS = [
    "Override — complex", "Override — straightforward", "Skip to planning", "agree", "Override — needs exploration",
]  # fmt: skip


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("first", part(LEVELS))
def test_the_recording_answers_at_every_level(play: Play, case: str, first: str) -> None:
    one = play(case)
    assert one.state.world.open is not None
    labels = [option.label for option in one.state.world.open.options if option.available]
    one.take(first if first in labels else labels[0])
    one.on_to_the_end()


@pytest.mark.parametrize("case", part(CASES))
def test_the_recording_answers_whatever_is_discussed(play: Play, case: str) -> None:
    one = play(case)
    one.take("Discuss", said="Is that so?")
    one.take("Override — complex", "Agree — more questions, deeper design")
    one.take("Discuss", said="I do not understand the first one")
    one.take("Done")
    one.take("Discuss", said="And both together?")
    one.take("Choose", pick="Both, one after the other")
    one.take("Discuss", said="Why is that?")
    one.take("Revise", said="Name the file")
    point = one.state.world.open
    assert point is not None
    assert "Name the file" in point.prompt
    one.on_to_the_end()


def test_each_approach_has_a_design_of_its_own_that_keeps_what_was_said_and_answered(play: Play) -> None:
    one = play("2-complex")
    one.take("Agree — more questions, deeper design")
    one.take("Done", below="minus one", transport="sent by mail")
    one.take("Choose", pick="One file with a lock")
    for said in ("Say how long it waits", "And who is told"):
        one.take("Revise", said=said)
    assert one.state.world.open is not None
    text = one.state.world.open.prompt
    assert "pantry.lock" in text
    assert "sent by mail" in text
    assert "From our talk: Say how long it waits; And who is told" in text
    one.take("Approve")
    assert one.state.world.open is not None
    assert "the list says: minus one" in one.state.world.open.prompt


def test_two_wishes_at_once_are_split(play: Play) -> None:
    one = play("3-split")
    one.take("Split into separate runs", sure=True)
    assert (one.state.status, one.state.outcome) == ("completed", "split")
    assert sorted(run for run in one.engine.log.heads() if run != one.run) == [
        f"{one.run}.names",
        f"{one.run}.together",
    ]


def test_batches_of_ones_own_are_answered_too(play: Play) -> None:
    one = play("2-complex")
    one.take("Agree, with other batches", batches="Kitchen: what is there; Cellar")
    while one.state.world.top.phase != "plan_review":
        one.take("Done", "Choose", "Approve")
    one.take("Build it")
    assert one.state.world.open is not None
    assert not one.state.world.open.attention, one.state.world.open.prompt
    assert one.state.world.top.phase == "reassess"


def test_every_answer_says_that_it_is_recorded(play: Play) -> None:
    one = play("1-straightforward")
    one.take("Agree — quick design outline")
    one.on_to_the_end()
    ended = [event for _, event in one.engine.log.read(one.run) if isinstance(event, AttemptEnded)]
    looks = tuple(f"/{name}" for name in ("ground", "scout", "tester", "differ", "merger"))  # these are real
    assert all(event.recorded for event in ended if not event.task.endswith(looks))
    assert not any(event.recorded for event in ended if event.task.endswith(looks))


@pytest.mark.parametrize(("case", "tests"), [("straightforward", 5), ("complex", 9)])
def test_the_demo_plays_each_case_and_leaves_a_branch_whose_tests_pass(case: str, tests: int, tmp_path: Path) -> None:
    done = call("demo", "brainstorm", "--case", case, "--json", cwd=tmp_path)
    assert done.code == 0, done.err
    assert done.object["status"] == "completed"
    project, mine = tmp_path / ".reconvene" / "recorded" / "brainstorm-1", tmp_path / "mine"
    clone = ["git", "clone", "-q", "-b", f"reconvene/{done.object['run']}", str(project), str(mine)]
    subprocess.run(clone, check=True)
    ran = subprocess.run([sys.executable, "-m", "unittest"], cwd=mine, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    assert f"Ran {tests} tests" in ran.stderr
    assert "def plain" not in (project / "pantry.py").read_text(encoding="utf-8")


@pytest.mark.torture
def test_the_demo_tells_what_happens_and_which_command_it_stands_for(tmp_path: Path) -> None:
    done = call("demo", "brainstorm", "--case", "complex", cwd=tmp_path)
    assert done.code == 0, done.err
    for told in (
        "reconvene run brainstorm --recorded --input 'description=Let two people keep the pantry together.",
        "All agents but ground, scout, tester, differ and merger are recorded",
        "Batch 1, A journal of changes: done",
        "summary.md",
        "Another case of it: reconvene demo brainstorm --case straightforward",
    ):
        assert told in done.out
    assert "{%" not in done.out
