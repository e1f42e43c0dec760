"""Limits are settings: a settings file says them, and the environment counts before it."""

from __future__ import annotations

from pathlib import Path

import pytest

from commands import Command

FLOW = """name: big
agents:
  writer: {command: ["sh", "-c", "head -c 1500000 /dev/zero > a.bin; echo 1 | tee b.txt c.txt d.txt"]}
phases: [{id: a, agents: [writer], checkpoint: {}}]
"""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "big.yaml").write_text(FLOW)
    return tmp_path


def test_a_settings_file_says_how_much_is_taken_of_an_agent(reconvene: Command, here: Path) -> None:
    (here / "reconvene.toml").write_text("[limits]\nmax_file_mb = 1\nmax_files = 2\n")
    done = reconvene("run", "big.yaml", "--no-input")
    assert done.code == 3
    assert "larger than 1 MB" in done.out + done.err
    assert "more than 2 files" in done.out + done.err


def test_the_environment_counts_before_the_file(reconvene: Command, here: Path) -> None:
    (here / "reconvene.toml").write_text("[limits]\nmax_file_mb = 1\n")
    done = reconvene("run", "big.yaml", "--no-input", RECONVENE_MAX_FILE_MB="2")
    assert "larger than" not in done.out + done.err


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ("max_fils = 3", "there is no limit 'max_fils'"),
        ("max_files = 0", "'max_files' should be a whole number from 1 to 1000000"),
        ("provider_wait = true", "'provider_wait' should be a number of seconds from 0 to 86400"),
        ('store_wait = "1"', "'store_wait' should be a number of seconds"),
    ],
)
def test_what_is_no_limit_is_refused_at_its_line(reconvene: Command, here: Path, said: str, message: str) -> None:
    (here / "reconvene.toml").write_text(f"[limits]\n{said}\n")
    done = reconvene("run", "big.yaml", "--no-input")
    assert done.code == 64
    assert f"reconvene.toml:2: {message}" in done.err
