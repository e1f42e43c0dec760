"""Commands at a real pseudo-terminal: started, ended, and never left running. Knows no workflow and no question."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

pexpect = pytest.importorskip("pexpect")

UP, DOWN, ENTER = "\x1b[A", "\x1b[B", "\r"
Terminal = Callable[..., "pexpect.spawn[str]"]

# What the machine of the person who runs the tests may say, and the tests must not depend on.
_UNSET = ("NO_COLOR", "COLUMNS", "LINES", "EDITOR", "VISUAL")
_SET = {"TERM": "xterm-256color", "PROMPT_TOOLKIT_NO_CPR": "1"}


@contextmanager
def terminals(folder: Path) -> Iterator[Terminal]:
    """Start the command in a pseudo-terminal; whatever is still running at the end is ended."""
    started = []

    def start(*words: str, size: tuple[int, int] = (50, 100), **environment: str) -> pexpect.spawn[str]:
        kept = {name: value for name, value in os.environ.items() if name not in _UNSET}
        child = pexpect.spawn(
            sys.executable,
            ["-m", "reconvene.doors.cli", *words],
            cwd=str(folder),
            env={**kept, **_SET, **environment},
            dimensions=size,
            encoding="utf-8",
            timeout=120,
        )
        started.append(child)
        return child

    try:
        yield start
    finally:
        for child in started:
            child.close(force=True)


def answer(child: pexpect.spawn[str], question: str, keys: str) -> None:
    child.expect(question)
    child.send(keys)


def ending(child: pexpect.spawn[str]) -> int:
    """The exit code, once all has been said."""
    child.expect(pexpect.EOF)
    child.wait()
    assert child.exitstatus is not None, child.before
    return int(child.exitstatus)
