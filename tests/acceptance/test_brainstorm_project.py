"""Brainstorm end to end: the person's own coding command really changes a project, through two batches, on a branch."""

from __future__ import annotations

import asyncio
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

import reconvene
from reconvene.adapters.agents import Agents
from reconvene.app import queries
from reconvene.core.definition.workflow import Agent
from reconvene.core.facts.commands import AnswerCheckpoint
from reconvene.core.facts.state import RunState
from reconvene.ports import Answer, Assignment, Listener
from reconvene.testing.scripted import ScriptedAgents
from reconvene.wire.workflow_file import load_workflow
from reconvene.wiring import open_engine

WORKFLOW = Path(reconvene.__file__).parent / "workflows" / "brainstorm"

GREET = """\
def greet(name):
    return f"Hello, {name}."
"""
TEST_GREET = """\
import unittest

import greet


class Greeting(unittest.TestCase):
    def test_a_greeting_names_whom_it_greets(self):
        self.assertEqual(greet.greet("Ann"), "Hello, Ann.")


if __name__ == "__main__":
    unittest.main()
"""

# A coding agent as people have them: the task on standard input, the project as its folder, words on standard output.
CODER = """\
import pathlib, re, subprocess, sys

prompt = sys.stdin.read()
task = re.search(r"The task: “.*?” \\(`(.*?)`\\)", prompt)[1]
here = pathlib.Path(".")
code = here / "greet.py"
if task == "bye":
    code.write_text(code.read_text() + "\\n\\ndef bye(name):\\n    return f\\"Bye, {name}.\\"\\n")
elif task == "shout":
    assert "def bye" in code.read_text(), "the batch before this one is not there"
    body = "return greet(name).upper()" if "sent back" in prompt else "return greet(name)"
    old = code.read_text().partition("\\n\\ndef shout")[0]
    code.write_text(old + "\\n\\ndef shout(name):\\n    " + body + "\\n")
(here / f"test_{task}.py").write_text(
    "import unittest\\n\\nimport greet\\n\\n\\nclass It(unittest.TestCase):\\n    def test_it(self):\\n"
    + {"bye": "        self.assertEqual(greet.bye('Ann'), 'Bye, Ann.')\\n",
       "shout": "        self.assertIn('ANN', greet.shout('Ann').upper())\\n"}[task]
)
done = subprocess.run([sys.executable, "-m", "unittest"], capture_output=True, text=True)
print(f"{task} is done. unittest: {done.returncode}")
sys.exit(done.returncode)
"""


class Mixed:
    """The talk is scripted; commands run as they do for anybody."""

    def __init__(self, scripted: ScriptedAgents, scratch: Path) -> None:
        self.scripted = scripted
        self._real = Agents(str(scratch), dict(os.environ))

    async def run(self, assignment: Assignment, listener: Listener) -> Answer:
        runner = self._real if assignment.agent.kind == "command" else self.scripted
        return await runner.run(assignment, listener)

    async def window(self, agent: Agent) -> int:
        return 0

    async def close(self) -> None:
        await self._real.close()


def git(folder: Path, *words: str) -> str:
    return subprocess.run(["git", *words], cwd=folder, check=True, capture_output=True, text=True).stdout.strip()


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "my project"
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main")
    git(folder, "config", "user.name", "Ann")
    git(folder, "config", "user.email", "ann@example.org")
    (folder / "greet.py").write_text(GREET, encoding="utf-8")
    (folder / "test_greet.py").write_text(TEST_GREET, encoding="utf-8")
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "Greetings")
    (folder / "greet.py").write_text(GREET + "# being changed by hand\n", encoding="utf-8")
    (folder / "scratch.txt").write_text("not in git\n", encoding="utf-8")
    return folder


def task(name: str) -> dict[str, object]:
    return {
        "id": name,
        "title": f"Add {name}",
        "description": f"greet.py gets {name}(name).",
        "files": ["greet.py", f"test_{name}.py"],
        "tests": ["python -m unittest"],
        "acceptance": [f"{name}(name) is there and tested"],
    }


BATCHES = [
    {"id": "farewell", "title": "Farewell", "description": "Say goodbye."},
    {"id": "loud", "title": "Loud", "description": "Say it loudly.", "depends_on": ["farewell"]},
]


def brainstormer(work: Assignment) -> object:
    match work.phase:
        case "triage":
            level = {"level": "straightforward", "reasoning": "Two small functions.", "suggestedSkips": []}
            return {**level, "batches": BATCHES}
        case "outline":
            sections = [{"id": "words", "title": "Words", "covers": "what is said"}]
            return {"approach": "Plain functions", "why": "As the one that is there.", "sections": sections}
        case "design":
            return {"title": "Words", "approach": "Plain functions", "text": "Two functions beside the one there is."}
    return {"summary": "The farewell is there.", "batches": BATCHES}


def planner(work: Assignment) -> object:
    return {"summary": "One task.", "tasks": [task("bye" if "“Farewell”" in work.prompt else "shout")]}


def reviewer(work: Assignment) -> object:
    """Believes the change, not the words about it."""
    change = work.prompt.rpartition("### project.diff")[2]
    quiet = re.search(r"^\+ +return greet\(name\)$", change, re.MULTILINE)
    return {
        "verdict": "REVISE" if quiet else "APPROVE",
        "summary": "It is not loud." if quiet else "Good.",
        "checked": ["the diff"],
        "findings": [{"text": "shout does not shout", "where": "greet.py"}] if quiet else [],
    }


def snapshot(folder: Path) -> dict[str, bytes]:
    """Everything the person sees of their checkout: files, index, HEAD, configuration."""
    kept = ("index", "HEAD", "config", "refs/heads/main")
    found = {str(path.relative_to(folder)): path.read_bytes() for path in folder.glob("*") if path.is_file()}
    return found | {name: (folder / ".git" / name).read_bytes() for name in kept}


def test_a_command_changes_the_project_through_two_batches_on_a_branch_of_its_own(
    tmp_path: Path, project: Path
) -> None:
    script = tmp_path / "coder.py"
    script.write_text(CODER, encoding="utf-8")
    scripted = ScriptedAgents(
        {
            "brainstormer": brainstormer,
            "planner": planner,
            "plan_reviewer": reviewer,
            "specification": reviewer,
            "quality": reviewer,
        }
    )
    engine = open_engine(tmp_path / "home", runner=Mixed(scripted, tmp_path / "scratch"))
    before = snapshot(project)
    run = engine.start(
        load_workflow(WORKFLOW),
        {"description": "Say goodbye, and loudly.", "project": str(project)},
        settings={"coder": shlex.join([sys.executable, str(script)])},
        by="ann",
    )
    state: RunState = engine.drive_sync(run)
    taken = ["Leave them out", "Agree — quick design outline", "Approve", "Build it", "Continue to the next batch"]
    taken += ["Build it", "Finish"]
    for option in taken:
        point = state.world.open
        assert point is not None, state.status
        assert not point.attention, point.prompt
        if option == "Finish":  # the merge was tried, and what stands in its way is said
            assert "tried, without conflicts" in point.prompt
            assert "Commit them before you merge: greet.py" in point.prompt
        engine.submit(run, AnswerCheckpoint(point.id, option, {}, (), by="ann"))
        state = engine.drive_sync(run)
    assert state.status == "completed"
    assert snapshot(project) == before  # their checkout is as they left it

    branch = f"reconvene/{run}"
    assert branch in queries.file(engine, run, "summary.md").decode()
    subjects = git(project, "log", "--format=%s", f"main..{branch}").splitlines()
    assert subjects == ["Add shout", "Add shout", "Add bye"]  # the second batch was sent back once
    assert len(scripted.of("specification")) == len(scripted.of("quality")) == 3
    mine = tmp_path / "mine"
    git(tmp_path, "clone", "-q", "-b", branch, str(project), str(mine))
    tests = subprocess.run(
        [sys.executable, "-m", "unittest", "-v"], cwd=mine, capture_output=True, text=True, check=False
    )
    assert tests.returncode == 0, tests.stderr
    assert "Ran 3 tests" in tests.stderr
    assert ".upper()" in (mine / "greet.py").read_text(encoding="utf-8")
    assert "being changed by hand" not in (mine / "greet.py").read_text(encoding="utf-8")
    asyncio.run(engine.close())


def test_a_folder_without_git_is_told_before_anybody_works(tmp_path: Path):
    project = tmp_path / "plain folder"
    project.mkdir()
    said = subprocess.run(
        [sys.executable, "-m", "reconvene.doors.cli", "new", "brainstorm", "--anyway"]
        + ["--input", "description=Say hello", "--input", f"project={project}"],
        cwd=tmp_path,
        env={**os.environ, "RECONVENE_HOME": str(tmp_path / "home")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert said.returncode == 0, said.stderr
    assert "before it comes to building" in said.stderr
    assert f"git -C '{project}' init" in said.stderr
