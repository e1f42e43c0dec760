"""A project of the person on the command line: given, warned about, shown, handed over, tidied up."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

WORKFLOW = """
name: change
inputs: {project: {type: project, default: "."}}
settings:
  coder: {type: text, env: RECONVENE_CODER}
  able: {type: bool, default: "settings.coder != '' && machine.git"}
agents:
  coder: {command: "{{ settings.coder }}"}
phases:
  - {id: code, when: "settings.able", agents: [coder], place: project, checkpoint: true}
"""


def git(folder: Path, *words: str) -> str:
    return subprocess.run(["git", *words], cwd=folder, capture_output=True, text=True, check=True).stdout.strip()


@pytest.fixture
def project(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(folder / "state"))
    monkeypatch.setenv("RECONVENE_CODER", "sh -c 'echo \"$0\" > said.txt' 'two words'")
    made = folder / "my project"
    made.mkdir()
    git(made, "init", "-q")
    git(made, "config", "user.name", "Ada")
    git(made, "config", "user.email", "ada@example.org")
    (made / "a.txt").write_text("a\n")
    git(made, "add", "-A")
    git(made, "commit", "-qm", "Start")
    (folder / "change.yaml").write_text(WORKFLOW)
    return made


def test_a_run_in_the_current_folder_warns_and_ends_with_the_command_that_merges(
    reconvene: Callable[..., object], project: Path, folder: Path
):
    (project / "a.txt").write_text("changed\n")
    parked = reconvene("run", str(folder / "change.yaml"), cwd=project)
    assert parked.code == 3, parked.err
    assert "1 uncommitted change; agents start from the last commit" in parked.err
    assert f"project    {project}, branch reconvene/change-1" in reconvene("show", "change-1", cwd=project).out
    ended = reconvene("decide", "change-1", "--option", "Continue", cwd=project)
    commit = git(project, "rev-parse", "reconvene/change-1")
    merge = f"git -C '{project}' merge {commit[:12]}"
    assert ended.code == 0
    assert merge in ended.out
    assert merge in reconvene("show", "change-1", cwd=project).out
    assert git(project, "show", "reconvene/change-1:said.txt") == "two words"
    subprocess.run(merge, shell=True, check=True, capture_output=True)
    assert (project / "said.txt").read_text() == "two words\n"
    assert (project / "a.txt").read_text() == "changed\n"


def test_the_stop_names_the_commit_and_its_files_and_what_others_put_on_the_branch(
    reconvene: Callable[..., object], project: Path, folder: Path
):
    parked = reconvene("run", str(folder / "change.yaml"), cwd=project)
    commit = git(project, "rev-parse", "reconvene/change-1")
    named = f"in the project: commit {commit[:12]}: said.txt"
    assert named in parked.out
    assert "did not make" not in parked.out
    assert named in reconvene("files", "change-1", cwd=project).out
    assert "+two words" in reconvene("diff", "change-1", cwd=project).out
    git(project, "worktree", "add", "-q", str(folder / "tree"), "reconvene/change-1")
    (folder / "tree" / "evil.txt").write_text("evil\n")
    git(folder / "tree", "add", "-A")
    git(folder / "tree", "commit", "-qm", "Evil")
    told = f"holds 1 commit that this run did not make (it stands at {git(folder / 'tree', 'rev-parse', 'HEAD')[:12]})"
    shown = reconvene("show", "change-1", cwd=project).out
    assert told in shown
    assert named in shown
    ended = reconvene("decide", "change-1", "--option", "Continue", cwd=project)
    assert told in ended.err
    assert f"git -C '{project}' merge {commit[:12]}\n" in ended.out


def test_a_folder_that_is_not_there_is_refused_at_the_start(
    reconvene: Callable[..., object], project: Path, folder: Path
):
    refused = reconvene("run", "change.yaml", "--input", "project=nowhere")
    assert refused.code == 64
    assert "there is no folder 'nowhere'" in refused.err
    assert "--input project=FOLDER" in refused.err


def test_without_a_coder_the_step_is_not_begun(
    reconvene: Callable[..., object], project: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("RECONVENE_CODER", "")
    done = reconvene("run", "change.yaml", "--input", f"project={project}")
    assert done.code == 0, done.err
    assert git(project, "branch", "--list", "reconvene/*") == ""


def test_what_is_set_outranks_the_environment(reconvene: Callable[..., object], project: Path, folder: Path):
    done = reconvene("run", "change.yaml", "--input", f"project={project}", "--set", "coder=touch 'x y.txt'")
    assert done.code == 3, done.err
    assert git(project, "show", "--name-only", "--format=", "reconvene/change-1") == "x y.txt"


def worktrees() -> Path:
    (found,) = Path(os.environ["XDG_STATE_HOME"], "reconvene").glob("projects-*")
    return found


def test_a_run_that_is_stopped_leaves_its_branch_and_no_worktree(
    reconvene: Callable[..., object], project: Path, folder: Path
):
    reconvene("run", "change.yaml", "--input", f"project={project}")
    places = worktrees()
    assert [place.name for place in places.iterdir()] == ["change-1"]
    assert reconvene("abort", "change-1").code in (0, 2)
    assert not places.exists()
    assert git(project, "show", "reconvene/change-1:said.txt") == "two words"


def test_doctor_removes_worktrees_of_runs_that_are_over_and_no_others(
    reconvene: Callable[..., object], project: Path, folder: Path
):
    reconvene("run", "change.yaml", "--input", f"project={project}")
    left = worktrees() / "change-0"
    left.mkdir()
    (left / "run").write_text("change-0")
    assert "removed those of change-0; in use by change-1" in reconvene("doctor").out
    assert not left.exists()
    assert reconvene("decide", "change-1", "--option", "Continue").code == 0
