"""What the engine finds out in a project by itself: the ground, the tests in the agents' tree, the change."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.adapters.project.support import Driven, everything, git

from reconvene.adapters.project import surveys
from reconvene.adapters.sandbox import levels
from reconvene.core.facts.state import RunState

Begin = Callable[..., Driven]

MEASURED = """
name: measured
inputs: {project: {type: project, required: true}}
agents:
  coder: {command: ["sh", "-c", %s], retries: 0}
  tester: {survey: tests, timeout: 5, prompt: '{{ {"test": %s, "setup": %s, "before": context.before} | json }}'}
  differ: {survey: change, prompt: '{"since": "run"}'}
phases:
  - {id: before, agents: [tester], output: before}
  - {id: code, agents: [coder], place: project}
  - {id: after, agents: [tester], output: after}
  - {id: change, agents: [differ], output: change}
"""


def measured(coder: str, test: str, setup: str = "") -> str:
    return MEASURED % (json.dumps(coder), json.dumps(test).replace("'", "''"), json.dumps(setup))


def value(run: Driven, name: str) -> dict[str, object]:
    state: RunState = run.state
    found = run.engine.session(run.run).book.load(state.world.values[f":{name}"].ref)
    assert isinstance(found, dict)
    return found


@pytest.mark.skipif(
    levels.find(os.environ).name == "none", reason="NOTHING HERE KEEPS A COMMAND FROM WRITING ELSEWHERE"
)
def test_what_is_ignored_and_needed_is_lent_and_cannot_be_changed(
    begin: Begin, project: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("RECONVENE_SANDBOX", "auto")
    (project / ".gitignore").write_text("node_modules/\n")
    git(project, "commit", "-qam", "Ignore")
    (project / "node_modules").mkdir()
    (project / "node_modules" / "left-pad.js").write_text("module.exports = 1\n")
    before = everything(project, but=(".git/",))
    test = "cat node_modules/left-pad.js && ! touch node_modules/mine 2>/dev/null"
    run = begin(measured("cat node_modules/left-pad.js > seen.js; touch node_modules/evil; true", test), project)
    assert run.on().status == "completed"
    assert value(run, "after")["verdict"] == "passed", value(run, "after")["output"]
    assert [file["path"] for file in value(run, "change")["files"]] == ["seen.js"]  # type: ignore[union-attr, index]
    assert everything(project, but=(".git/",)) == before


def test_a_setup_is_made_once_and_anew_when_what_it_is_made_of_changes(begin: Begin, project: Path):
    (project / ".gitignore").write_text("made/\n")
    (project / "requirements.txt").write_text("one\n")
    git(project, "add", "-A")
    git(project, "commit", "-qm", "Requirements")
    setup = "mkdir -p made && echo x >> made/times"
    run = begin(measured("echo two >> requirements.txt", "wc -l < made/times", setup), project)
    assert run.on().status == "completed"
    assert (str(value(run, "before")["output"]).strip(), str(value(run, "after")["output"]).strip()) == ("1", "2")


def test_what_does_not_end_or_cannot_be_set_up_is_not_run(begin: Begin, project: Path):
    run = begin(measured("echo 1 > one", "echo begun; sleep 60"), project)
    assert run.on().status == "completed"
    found = value(run, "after")
    assert (found["verdict"], found["ok"]) == ("not run", False)
    assert "did not end within 5 s" in str(found["line"])
    other = begin(measured("echo 1 > one", "true", "echo no network; exit 3"), project)
    other.on()
    assert "the set-up failed" in str(value(other, "after")["line"])
    assert "no network" in str(value(other, "after")["output"])


def test_a_flake_is_called_one(begin: Begin, project: Path):
    (project / ".gitignore").write_text("*.log\n")
    git(project, "commit", "-qam", "Ignore")
    # fails once, the first time that it meets the coder's file
    test = "test ! -e one || test -e seen.log || { touch seen.log; exit 1; }"
    run = begin(measured("echo 1 > one", test), project)
    assert run.on().status == "completed"
    found = value(run, "after")
    assert (found["verdict"], found["flaky"]) == ("passed", ["exit code 1"])
    assert "flaky" in str(found["line"])


def test_the_ground_names_what_stands_in_the_way(project: Path, tmp_path: Path):
    (project / ".gitattributes").write_text("*.psd filter=lfs diff=lfs merge=lfs -text\n")
    (project / "Makefile").write_text("check:\n\ttrue\n")
    git(project, "add", "-A")
    git(project, "commit", "-qm", "More")
    (project / "ferry.py").write_text("changed\n")
    found = surveys.ground(str(project), os.environ)
    assert (found["git"], found["uncommitted"], found["lfs"]) == (True, ["ferry.py"], ["*.psd"])
    assert found["test"] == "make check"
    plain = tmp_path / "plain"
    plain.mkdir()
    nothing = surveys.ground(str(plain), os.environ)
    assert nothing["git"] is False
    assert "git -C" in str(nothing["mend"])
