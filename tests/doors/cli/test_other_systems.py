"""Where Python lacks what only Unix has: commands that need no home work, the others say so. Docs: installing.md."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

WITHOUT = """
import sys
for name in ("fcntl", "resource", "termios"):
    sys.modules[name] = None
from reconvene.doors.cli.main import run
sys.exit(run(sys.argv[1:]))
"""


def typed(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT, *words], cwd=folder, capture_output=True, stdin=subprocess.DEVNULL, text=True
    )
    assert "Traceback" not in done.stderr
    return done


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    text = "name: short\nagents: {writer: {command: [date]}}\nphases: [{id: all, agents: [writer]}]\n"
    (tmp_path / "short.yaml").write_text(text, encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize("words", ["schema", "workflows", "--help", "check short.yaml"])
def test_what_opens_no_home_works(words: str, folder: Path) -> None:
    assert typed(folder, *words.split()).returncode == 0


@pytest.mark.parametrize("words", ["run short.yaml --no-input", "runs", "demo market-entry"])
def test_what_opens_a_home_says_that_it_does_not_work_here(words: str, folder: Path) -> None:
    home = folder / ".reconvene"
    home.mkdir()
    if words == "runs":  # without a store there is nothing to open
        (home / "reconvene.db").touch()
    done = typed(folder, *words.split())
    assert done.returncode == 1
    assert "does not work on this system" in done.stderr
    assert "WSL 2" in done.stderr
    assert "bug" not in done.stderr


def test_another_module_that_is_missing_is_a_bug_still(folder: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT.replace('"fcntl"', '"sqlite3"'), "run", "short.yaml"],
        cwd=folder,
        env={**os.environ, "TMPDIR": str(folder)},
        capture_output=True,
        stdin=subprocess.DEVNULL,
        text=True,
    )
    assert done.returncode == 1
    assert "bug in reconvene" in done.stderr
