"""Which pager shows long text, and none where there is none to take."""

from __future__ import annotations

from pathlib import Path

import pytest

from reconvene.doors.cli import pager
from reconvene.doors.cli.text import columns, fitted, folded, table


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("less", "mine"):
        (tmp_path / name).write_text("#!/bin/sh\nexec cat\n")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    return tmp_path


@pytest.mark.parametrize(
    ("environ", "words"),
    [
        ({}, ["less"]),
        ({"PAGER": "mine -x 'a b'"}, ["mine", "-x", "a b"]),
        ({"PAGER": ""}, []),
        ({"PAGER": "cat"}, []),
        ({"PAGER": "missing"}, []),
        ({"PAGER": "mine '"}, []),
    ],
)
def test_the_persons_own_pager_is_taken_else_less(environ: dict[str, str], words: list[str], programs: Path) -> None:
    assert pager.pager(environ) == [*(str(programs / word) for word in words[:1]), *words[1:]]


def test_without_less_there_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert pager.pager({}) == []


def test_in_a_pipe_it_is_printed_plain(capsys: pytest.CaptureFixture[str]) -> None:
    pager.show("\x1b[31mred\x1b[0m " + "word " * 60)
    assert capsys.readouterr().out == "red " + "word " * 60 + "\n"


def test_wide_characters_take_two_columns() -> None:
    assert [columns(text) for text in ("ab", "接口", "e\u0301", "🍎", "")] == [2, 4, 1, 2, 0]
    assert [fitted("接口设计", width) for width in (8, 7, 4)] == ["接口设计", "接口设…", "接…"]
    lines = list(table([("接口", "x"), ("ab", "y")], ("RUN", "Q"), 40))
    assert lines == ["RUN   Q", "接口  x", "ab    y"]


def test_what_stands_behind_a_bar_stays_there_when_it_is_folded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "30")
    theirs = f"│ an agent wrote this and then a little more\n│ {'x' * 40}"
    lines = folded(f"{theirs}\nours, and also rather a long line").split("\n")
    assert [line.startswith("│ ") for line in lines] == [True] * 4 + [False] * 2
    assert max(map(columns, lines)) < 30
