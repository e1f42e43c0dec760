"""The git history: every round, decision and edit is a commit, always the same one, and nothing planted is ever run."""

from __future__ import annotations

import shutil
import stat
import subprocess
from pathlib import Path

from support.stage import Stage

from reconvene.core.facts.commands import Rollback
from reconvene.ports import Assignment

TEXT = """
name: w
agents: {writer: {}, reader: {}}
phases:
  - id: draft
    rounds: {max: 3}
    agents: [writer]
    checkpoint:
      show_files: [text.md]
      options: [{label: Go on, then: continue}, {label: Once more, remark: optional, then: again}]
  - {id: read, agents: [reader]}
"""


def writer(assignment: Assignment) -> dict[str, object]:
    before = assignment.files.get("text.md", b"").decode()
    return {"text": "done", "files": {"text.md": f"{before}line {assignment.round}\n"}}


def git(stage: Stage, *arguments: str) -> str:
    """Plain git, as people read it."""
    command = ["git", f"--git-dir={stage.home / 'history.git'}", *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def played(tmp_path: Path) -> Stage:
    stage = Stage(tmp_path, TEXT, {"writer": writer, "reader": "read"})
    stage.drive()
    stage.engine.commit_history(stage.run)
    stage.write("text.md", "line 1, better\n")
    stage.decide("Once more", "shorter please")
    stage.engine.commit_history(stage.run)
    stage.engine.submit(stage.run, Rollback(by="ann"))
    stage.drive()
    assert stage.decide("Go on").status == "completed"
    stage.engine.commit_history(stage.run)
    return stage


def test_every_round_phase_decision_edit_and_undo_is_a_commit_with_trailers(tmp_path: Path) -> None:
    stage = played(tmp_path)
    subjects = git(stage, "log", "--reverse", "--format=%an: %s", stage.run).splitlines()
    assert subjects == [
        "Reconvene: draft: round 1",
        "ann: Edited text.md",
        "ann: draft: Once more",
        "Reconvene: draft: round 2",
        "ann: draft: round 2 undone",
        "Reconvene: draft: round 2",
        "ann: draft: Go on",
        "Reconvene: draft#1: done",
        "Reconvene: read: round 1",
        "Reconvene: read#1: done",
        "Reconvene: Run completed",
    ]
    trailers = [
        dict(line.split(": ", 1) for line in block.strip().splitlines())
        for block in git(stage, "log", "--reverse", "--format=%(trailers)%x00", stage.run).split("\0")
        if block.strip()
    ]
    assert all(trailer["Reconvene-Run"] == stage.run for trailer in trailers)
    assert (trailers[0]["Phase"], trailers[0]["Round"]) == ("draft", "1")
    assert trailers[1]["Edit"] == "text.md"
    assert trailers[2]["Decision"] == "again"
    assert "shorter please" in git(stage, "log", "--format=%b", stage.run)


def test_each_commit_holds_the_files_as_they_were_then(tmp_path: Path) -> None:
    stage = played(tmp_path)
    ids = git(stage, "log", "--reverse", "--format=%H", stage.run).split()
    texts = [git(stage, "show", f"{commit}:text.md") for commit in ids]
    one, edited = "line 1\n", "line 1, better\n"
    two = edited + "line 2\n"
    assert texts == [one, edited, edited, two, edited, *[two] * 6]
    assert git(stage, "diff", ids[0], ids[1]).splitlines()[-2:] == ["-line 1", "+line 1, better"]


def test_a_history_that_was_deleted_is_made_again_with_the_same_ids(tmp_path: Path) -> None:
    stage = played(tmp_path)
    before = git(stage, "log", "--format=%H %T", stage.run)
    refs = git(stage, "show-ref")
    assert f"refs/reconvene/{stage.run}/phases/read-1" in refs
    shutil.rmtree(tmp_path / "history.git")
    other = stage.other()
    other.engine.commit_history(stage.run)
    assert git(stage, "log", "--format=%H %T", stage.run) == before
    assert git(stage, "show-ref") == refs
    assert git(stage, "fsck", "--strict") == ""


def test_a_fork_has_a_branch_of_its_own_and_leaves_the_sources_as_it_is(tmp_path: Path) -> None:
    stage = played(tmp_path)
    before = git(stage, "rev-parse", stage.run)
    fork = stage.other(run=stage.engine.fork(stage.run, 12, by="ann"))
    state = fork.drive()
    while state.status == "waiting":
        state = fork.decide("Go on")
    fork.engine.commit_history(fork.run)
    assert git(stage, "rev-parse", stage.run) == before
    assert "read: round 1" in git(stage, "log", "--format=%s", fork.run)


def test_hooks_filters_and_attributes_in_a_workspace_are_never_run(tmp_path: Path) -> None:
    def hostile(assignment: Assignment) -> dict[str, object]:
        trap = f"#!/bin/sh\ntouch {tmp_path}/trapped\ncat\n"
        planted = {f".git/hooks/{hook}": trap for hook in ("pre-commit", "post-commit", "reference-transaction")}
        attributes = "*.md filter=trap text eol=crlf\n"
        config = (
            f'[filter "trap"]\n clean = {tmp_path}/trap\n smudge = {tmp_path}/trap\n[core]\n hooksPath = {tmp_path}\n'
        )
        files = {**planted, ".gitattributes": attributes, ".git/config": config, "text.md": "a\r\nb\n", "trap.sh": trap}
        return {"text": "done", "files": files}

    trap = tmp_path / "trap"
    trap.write_text(f"#!/bin/sh\ntouch {tmp_path}/trapped\ncat\n")
    trap.chmod(trap.stat().st_mode | stat.S_IXUSR)
    stage = Stage(tmp_path / "home", TEXT, {"writer": hostile, "reader": "read"})
    stage.drive()
    # What no agent is allowed to write, a person may still have lying there.
    hooks = stage.folder / ".git" / "hooks"
    hooks.mkdir(parents=True, exist_ok=True)
    shutil.copy(trap, hooks / "post-commit")
    stage.write("more.md", "mine\r\n")
    stage.decide("Go on")
    stage.engine.commit_history(stage.run)
    assert not (tmp_path / "trapped").exists()
    ids = git(stage, "log", "--format=%H", stage.run).split()
    assert git_bytes(stage, f"{ids[0]}:text.md") == b"a\r\nb\n"
    assert git_bytes(stage, f"{ids[0]}:more.md") == b"mine\r\n"
    tree = git(stage, "ls-tree", "-r", "--name-only", ids[0]).splitlines()
    assert not any(path.startswith(".git/") for path in tree)


def git_bytes(stage: Stage, name: str) -> bytes:
    command = ["git", f"--git-dir={stage.home / 'history.git'}", "cat-file", "blob", name]
    return subprocess.run(command, check=True, capture_output=True).stdout
