"""Settings at the start of a run: what is set, the environment, the machine, settings before; then fixed."""

from __future__ import annotations

import stat
from collections.abc import Mapping
from pathlib import Path

import pytest

from reconvene.adapters.workspace import FolderWorkspace
from reconvene.app.engine import Engine
from reconvene.errors import UserError
from reconvene.surroundings import Machine, SystemClock
from reconvene.testing.memory import MemoryLog
from reconvene.testing.scripted import ScriptedAgents
from reconvene.wire.workflow_file import parse_workflow

WORKFLOW = """
name: coding
inputs: {project: {type: project, default: "."}}
settings:
  coder: {type: text, env: RECONVENE_CODER, expr: "machine.coder"}
  depth: {type: number, env: DEPTH, default: 2}
  able: {type: bool, default: "settings.coder != '' || machine.model"}
agents: {a: {}}
phases: [{id: p, agents: [a]}]
"""


class Around:
    def __init__(self, variables: Mapping[str, str], machine: Mapping[str, object]) -> None:
        self.asked = 0
        self._variables = variables
        self._machine = machine

    def variable(self, name: str) -> str:
        return self._variables.get(name, "")

    def machine(self) -> Mapping[str, object]:
        self.asked += 1
        return self._machine


class Started:
    """A run on record, with what was pinned for it."""

    def __init__(self, around: Around | None, text: str = "") -> None:
        def nowhere() -> None:
            raise AssertionError("not used here")

        def unused(run: str, folder: str) -> FolderWorkspace:
            return FolderWorkspace(folder, "/no/such/manifest.json")

        engine = Engine(
            MemoryLog(), SystemClock(), ScriptedAgents({}), unused, nowhere, "/no/such/home", surroundings=around
        )
        self._engine = engine
        self._workflow = parse_workflow(text or WORKFLOW)

    def settings(self, **given: object) -> dict[str, object]:
        session = self._engine.session(self._engine.start(self._workflow, settings=given))
        return session.book.object(session.state.settings)

    def inputs(self, **given: object) -> dict[str, object]:
        session = self._engine.session(self._engine.start(self._workflow, given))
        return session.book.object(session.state.inputs)


NOTHING = {"model": False, "git": True, "coder": ""}


@pytest.mark.parametrize(
    ("given", "variables", "machine", "coder", "able"),
    [
        ({}, {}, NOTHING, "", False),
        ({}, {}, {**NOTHING, "model": True}, "", True),
        ({}, {}, {**NOTHING, "coder": "claude -p"}, "claude -p", True),
        ({}, {"RECONVENE_CODER": "mine"}, {**NOTHING, "coder": "claude -p"}, "mine", True),
        ({"coder": "set"}, {"RECONVENE_CODER": "mine"}, NOTHING, "set", True),
        ({"able": False}, {"RECONVENE_CODER": "mine"}, NOTHING, "mine", False),
    ],
)
def test_what_is_set_comes_first_then_the_environment_then_the_machine(
    given: dict[str, object], variables: dict[str, str], machine: dict[str, object], coder: str, able: bool
):
    chosen = Started(Around(variables, machine)).settings(**given)
    assert (chosen["coder"], chosen["able"], chosen["depth"]) == (coder, able, 2)


def test_without_surroundings_the_machine_has_nothing():
    assert Started(None).settings()["able"] is False


def test_the_machine_is_not_looked_at_where_nobody_asks():
    around = Around({"RECONVENE_CODER": "x"}, NOTHING)
    text = WORKFLOW.replace('expr: "machine.coder"', 'default: ""').replace("|| machine.model", "")
    assert Started(around, text).settings()["able"] is True
    assert around.asked == 0


def test_a_variable_has_the_type_of_its_setting():
    assert Started(Around({"DEPTH": "7"}, NOTHING)).settings()["depth"] == 7
    with pytest.raises(UserError, match="DEPTH is 'deep'") as caught:
        Started(Around({"DEPTH": "deep"}, NOTHING)).settings()
    assert caught.value.hint == "unset DEPTH"


def test_the_real_machine_knows_its_programs(tmp_path: Path):
    for name in ("git", "codex"):
        program = tmp_path / name
        program.write_text("#!/bin/sh\n")
        program.chmod(program.stat().st_mode | stat.S_IXUSR)
    machine = Machine({"PATH": str(tmp_path), "RECONVENE_MODEL": "ollama:x"}).machine()
    assert machine == {"model": True, "git": True, "coder": "codex"}
    assert Machine({"PATH": "", "OLLAMA_HOST": "127.0.0.1:1"}).machine() == {"model": False, "git": False, "coder": ""}


def test_a_project_is_kept_as_an_absolute_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sub").mkdir()
    assert Started(None).inputs() == {"project": str(tmp_path)}
    assert Started(None).inputs(project="sub") == {"project": str(tmp_path / "sub")}
    (tmp_path / "file").write_text("")
    for wrong in ("file", "nowhere", 7):
        with pytest.raises(UserError, match="there is no folder"):
            Started(None).inputs(project=wrong)
