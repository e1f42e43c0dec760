"""What scripts read stays: every key that `--json` of a command has printed is there, with the type it had."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from reconvene.doors.cli.main import COMMANDS

from . import watching
from .shapes import COMMAND, HOMES, missing, of_commands, of_home, shape, written
from .watching import LISTS

if TYPE_CHECKING:
    from commands import Command


def lost(name: str, now: dict[str, object]) -> list[str]:
    then = written().get(name, {})
    assert set(now) == set(then), f"write it down: {COMMAND}"
    return [f"{words}{what}" for words, printed in then.items() for what in missing(printed, now[words])]


@pytest.mark.parametrize("name", HOMES)
def test_what_looks_at_a_run_prints_what_it_has_always_printed(name: str, folder: Path, reconvene: Command) -> None:
    assert lost(name, of_home(name, folder, reconvene)) == []


def test_what_does_something_prints_what_it_has_always_printed(folder: Path, reconvene: Command) -> None:
    assert lost("commands", of_commands(folder, reconvene)) == []


def test_every_command_is_written_down_here_or_in_rendered() -> None:
    called = {words.split()[0] for rows in written().values() for words in rows}
    assert set(COMMANDS) - called - {*LISTS, *watching.COMMANDS} == {
        *("schema", "demo", "completion"),  # not ours alone
        *("ask", "chat", "cite", "comments", "mcp", "replan", "review", "search", "talk", "worker"),  # with own tests
        *("people", "assign", "limit", "tick", "serve", "notify", "backup", "restore", "compare"),  # likewise
    }


def test_a_key_that_is_gone_and_one_of_another_type_are_found() -> None:
    then = shape({"a": 1, "b": [{"c": "x"}, {"c": "x", "d": None}], "e": {}})
    assert list(missing(then, shape({"a": 2.5, "b": [{"d": None, "c": ""}, {"c": "y"}], "e": {"new": 1}}))) == []
    assert list(missing(then, shape({"a": "1", "b": [{"c": "x"}], "e": {}}))) == [
        '.a: "int" became "str"', '.b[]: nothing is like {"c": "str", "d": "null"}',
    ]  # fmt: skip
    assert list(missing(then, shape({"b": [{"c": "x"}, {"c": "", "d": None}, {}], "e": {}}))) == [
        ".a is gone", ".b[]: {} is like nothing before",
    ]  # fmt: skip
