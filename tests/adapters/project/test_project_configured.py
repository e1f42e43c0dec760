"""What the person's own repository configures as programs never runs, whatever the engine looks at there."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.adapters.project.support import Driven, everything, git

from reconvene.adapters.project import uncommitted
from reconvene.adapters.project.repository import find

Begin = Callable[..., Driven]

WORK = """
name: work
inputs: {project: {type: project, required: true}}
agents:
  scout: {survey: project, prompt: ferry}
  coder: {command: ["sh", "-c", "echo 1 >> ferry.py; echo done"], retries: 0}
  reader: {command: ["sh", "-c", "cat ferry.py"], retries: 0}
phases:
  - {id: look, agents: [scout], output: survey}
  - {id: code, agents: [coder], place: project}
  - {id: read, agents: [reader], place: project.read, reads: [project.diff]}
"""
HOOKS = "pre-commit post-commit post-checkout post-index-change reference-transaction update pre-auto-gc".split()


@pytest.fixture
def trapped(project: Path, tmp_path: Path) -> tuple[Path, Path]:
    """The project, with every setting that names a program set to one that leaves a trace; and that trace."""
    trap, bait = tmp_path / "sprung", tmp_path / "bait.sh"
    bait.write_text(f"#!/bin/sh\necho \"$0 $*\" >> '{trap}'\ncat\n")
    bait.chmod(0o755)
    (project / ".gitattributes").write_text("* filter=evil diff=evil merge=evil\n")
    git(project, "add", "-A")
    git(project, "commit", "-q", "-m", "Attributes")
    hooks = project / ".git" / "hooks"
    hooks.mkdir(exist_ok=True)
    for name in HOOKS:
        (hooks / name).write_bytes(bait.read_bytes())
        (hooks / name).chmod(0o755)
    included = tmp_path / "included"
    included.write_text(f'[filter "evil"]\n\tclean = {bait}\n[core]\n\tfsmonitor = {bait}\n')
    run = str(bait)
    for key in (
        "filter.evil.clean", "filter.evil.smudge", "filter.evil.process", "diff.evil.textconv", "diff.evil.command",
        "diff.external", "merge.evil.driver", "core.fsmonitor", "core.pager", "core.editor", "core.sshCommand",
        "core.askPass", "gpg.program", "credential.helper", "sequence.editor", "uploadpack.packObjectsHook",
    ):  # fmt: skip
        git(project, "config", key, run)
    git(project, "config", "include.path", str(included))
    git(project, "config", "log.showSignature", "true")
    git(project, "config", "alias.ls-files", f"!{run}")
    for file in project.glob("*"):  # known to the index with another time: git has to look into it
        if file.is_file():
            os.utime(file, (1, 1))
    trap.unlink(missing_ok=True)
    return project, trap


def test_nothing_that_the_project_configures_runs_while_agents_look_and_work(begin: Begin, trapped: tuple[Path, Path]):
    project, trap = trapped
    (project / "ferry.py").write_text("# not committed\n")
    before = everything(project, but=(".git/objects", ".git/refs", ".git/logs"))
    run = begin(WORK, project)
    assert run.on().status == "completed"
    assert not trap.exists(), trap.read_text()
    (opened,) = run.events("ProjectOpened")
    assert opened.uncommitted == 1
    assert everything(project, but=(".git/objects", ".git/refs", ".git/logs")) == before


def test_the_trap_springs_where_git_itself_looks(trapped: tuple[Path, Path]):
    project, trap = trapped
    git(project, "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "status")
    assert "bait.sh" in trap.read_text()


def test_what_is_not_committed_is_named_whatever_it_is(project: Path):
    assert uncommitted.names(find(str(project), os.environ), os.environ) == []
    (project / "ferry.py").write_text("changed\n")
    (project / "new").mkdir()
    (project / "new" / "ünder way.txt").write_text("new\n")
    (project / "a.log").write_text("ignored\n")
    (project / "run.sh").unlink()
    git(project, "mv", "README.md", "READ.md")
    assert uncommitted.names(find(str(project), os.environ), os.environ) == [
        "READ.md", "README.md", "ferry.py", "new/ünder way.txt", "run.sh"
    ]  # fmt: skip


@pytest.mark.parametrize("split", [False, True])
def test_line_endings_of_the_person_are_no_change(project: Path, split: bool):
    git(project, "config", "core.autocrlf", "true")
    if split:
        git(project, "update-index", "--split-index")
    (project / "ferry.py").write_bytes(b"def leaves(hour):\r\n    return hour % 2 == 0\r\n")
    assert uncommitted.names(find(str(project), os.environ), os.environ) == []


def test_what_is_not_committed_becomes_a_commit_and_nothing_else_changes(project: Path):
    (project / "ferry.py").write_text("changed\n")
    (project / "new.txt").write_text("new\n")
    (project / "run.sh").unlink()
    git(project, "add", "new.txt")
    before = everything(project, but=(".git/objects",))
    commit = uncommitted.as_commit(find(str(project), os.environ), os.environ)
    assert everything(project, but=(".git/objects",)) == before
    assert git(project, "rev-parse", f"{commit}^") == git(project, "rev-parse", "HEAD")
    assert git(project, "diff", "--name-status", "HEAD", commit) == "M\tferry.py\nA\tnew.txt\nD\trun.sh"
    assert git(project, "show", f"{commit}:ferry.py") == "changed"
