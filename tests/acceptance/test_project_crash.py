"""kill -9 while an agent works in the person's project: the rest is done on a clean worktree, and nothing is asked."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from processes import has_ended
from reconvene.wiring import open_engine

# The kill meets the first attempt at half its work. It ends with the engine, so nobody is left to go on with the rest.
WORKFLOW = """
name: change
inputs: {project: {type: project, default: "."}}
agents:
  coder:
    retries: 0
    command:
      - sh
      - -c
      - |
        if [ $RECONVENE_ATTEMPT = 1 ]; then
          exec > /dev/null 2>&1
          echo half > half.py
          echo $$ > '%(reached)s'
          cat '%(go)s' > /dev/null
          echo late > "$RECONVENE_WORKDIR/late.py"
        else
          echo whole > whole.py
        fi
phases:
  - {id: code, agents: [coder], place: project}
"""


def git(folder: Path, *words: str) -> str:
    return subprocess.run(["git", *words], cwd=folder, capture_output=True, text=True, check=True).stdout.strip()


def heard(pipe: str) -> bytes:
    """What is written into a named pipe; b"" where nobody ever does."""
    handle = os.open(pipe, os.O_RDWR)
    try:
        ready, _, _ = select.select([handle], [], [], 300)
        return os.read(handle, 1000) if ready else b""
    finally:
        os.close(handle)


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for key, value in (("user.name", "Ada"), ("user.email", "ada@example.org")):
        monkeypatch.setenv(f"GIT_CONFIG_KEY_{key == 'user.email':d}", key)
        monkeypatch.setenv(f"GIT_CONFIG_VALUE_{key == 'user.email':d}", value)
    monkeypatch.setenv("GIT_CONFIG_COUNT", "2")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    folder = tmp_path / "project"
    folder.mkdir()
    git(folder, "init", "-q")
    (folder / "a.txt").write_text("a\n")
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "Start")
    return folder


def test_a_killed_process_leaves_nothing_of_its_attempt_on_the_branch(project: Path, tmp_path: Path) -> None:
    pipes = {name: str(tmp_path / name) for name in ("reached", "go")}
    for path in pipes.values():
        os.mkfifo(path)
    (tmp_path / "change.yaml").write_text(WORKFLOW % pipes)
    command = [sys.executable, "-m", "reconvene.doors.cli"]
    before = git(project, "status", "--porcelain"), git(project, "rev-parse", "HEAD")
    first = subprocess.Popen(
        [*command, "run", str(tmp_path / "change.yaml"), "--input", f"project={project}", "--no-input"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        agent = int(heard(pipes["reached"]))
    finally:
        first.send_signal(signal.SIGKILL)
        first.wait()
    while not has_ended(agent):  # bounded by the limit of every test
        select.select([], [], [], 0.01)
    assert git(project, "branch", "--list", "reconvene/*") == ""
    second = subprocess.run([*command, "resume", "change-1", "--no-input"], capture_output=True, text=True, timeout=300)
    assert second.returncode == 0, second.stderr
    assert git(project, "ls-tree", "--name-only", "reconvene/change-1").split() == ["a.txt", "whole.py"]
    assert (git(project, "status", "--porcelain"), git(project, "rev-parse", "HEAD")) == before
    events = [event for _, event in open_engine(tmp_path / ".reconvene").log.read("change-1")]
    verdicts = [event.verdict for event in events if type(event).__name__ == "AttemptEnded"]
    assert verdicts == ["doubt", "accepted"]
    assert "CheckpointOpened" not in {type(event).__name__ for event in events}


def test_a_branch_that_a_crash_left_behind_the_log_is_brought_there(project: Path, tmp_path: Path) -> None:
    """The log was written, the branch was not: as if the process had died between the two."""
    (tmp_path / "change.yaml").write_text(
        WORKFLOW.partition("    command:")[0]
        + '    command: ["sh", "-c", "echo 1 > one"]\n'
        + "phases:\n  - {id: code, agents: [coder], place: project, checkpoint: true}\n"
    )
    command = [sys.executable, "-m", "reconvene.doors.cli"]
    parked = subprocess.run(
        [*command, "run", str(tmp_path / "change.yaml"), "--input", f"project={project}", "--no-input"],
        capture_output=True,
        timeout=300,
    )
    assert parked.returncode == 3
    git(project, "update-ref", "-d", "refs/heads/reconvene/change-1")
    subprocess.run([*command, "resume", "change-1", "--no-input"], capture_output=True, timeout=300)
    assert git(project, "show", "reconvene/change-1:one") == "1"
