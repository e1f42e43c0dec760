"""A small git project of a person, with things in it that must not change, and an engine to work on it."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.adapters.project.support import Driven, git

from reconvene.ports import AgentRunner
from reconvene.wire.workflow_file import parse_workflow
from reconvene.wiring import open_engine


@pytest.fixture(autouse=True)
def _own_account(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An account with a name in its git configuration, and nothing else."""
    account = tmp_path / "account"
    account.mkdir()
    known = "[user]\n\tname = Ada\n\temail = ada@example.org\n[init]\n\tdefaultBranch = main\n"
    (account / ".gitconfig").write_text(known)
    monkeypatch.setenv("HOME", str(account))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    monkeypatch.setenv("XDG_STATE_HOME", str(account / "state"))
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(name)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """With spaces in its path, two commits, a stash, and uncommitted work of the person."""
    folder = tmp_path / "my project"
    folder.mkdir()
    git(folder, "init", "-q")
    (folder / "README.md").write_text("# Ferry times\n\nTells when the ferry leaves.\n")
    (folder / "ferry.py").write_text("def leaves(hour):\n    return hour % 2 == 0\n")
    (folder / ".gitignore").write_text("*.log\ncache/\n")
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "Start")
    (folder / "run.sh").write_text("#!/bin/sh\necho hi\n")
    (folder / "run.sh").chmod(0o755)
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "A script")
    (folder / "ferry.py").write_text("stashed\n")
    git(folder, "stash", "-q")
    return folder


@pytest.fixture
def begin(tmp_path: Path) -> Callable[..., Driven]:
    """begin(workflow text, project, runner=…, home=…) → a run on record."""

    def start(
        text: str,
        folder: Path,
        *,
        runner: AgentRunner | None = None,
        home: Path | None = None,
        settings: dict[str, object] | None = None,
        **inputs: object,
    ) -> Driven:
        engine = open_engine(home or tmp_path / "state home", runner=runner)
        run = engine.start(parse_workflow(text), {"project": str(folder), **inputs}, settings=settings, by="ann")
        return Driven(engine, run)

    return start
