"""Commands at a real pseudo-terminal: started, ended, and never left running. Knows no workflow and no question."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from forks import Forks

pexpect = pytest.importorskip("pexpect")
from ptyprocess import PtyProcess  # noqa: E402

UP, DOWN, ENTER = "\x1b[A", "\x1b[B", "\r"
CLEAR = "\x15"  # Ctrl-U: what stands in the line goes
# A prompt that is about to draw itself: before it, the terminal itself would act upon Ctrl-C and Ctrl-U.
ASKING = r"\x1b\[\?2004h"
Terminal = Callable[..., "pexpect.spawn[str]"]

# What the machine of the person who runs the tests may say, and the tests must not depend on.
_UNSET = ("NO_COLOR", "COLUMNS", "LINES", "EDITOR", "VISUAL")
_SET = {"TERM": "xterm-256color", "PROMPT_TOOLKIT_NO_CPR": "1"}
_LONGEST = 300  # seconds for what a test expects to see: reached only where it never comes


class _Forked(PtyProcess):
    """A process of the fork server at its terminal: the server is its parent, so the server knows how it ended."""

    forks: Forks

    def isalive(self) -> bool:
        return not self.terminated and not self._ended(wait=self.flag_eof)

    def wait(self) -> int | None:
        while not self.terminated:
            self._ended(wait=True)
        return self.exitstatus

    def terminate(self, force: bool = False) -> bool:
        if self.isalive():
            self.kill(signal.SIGKILL)
            self.wait()
        return True

    def close(self, force: bool = True) -> None:
        """At once: the terminal goes away, and with it whoever is still there."""
        if not self.closed:
            self.closed = True
            self.fileobj.close()
            self.terminate(force)
            self.fd = -1

    def _ended(self, *, wait: bool) -> bool:
        status = self.forks.status(self.pid, wait=wait)
        if status is None:
            return False
        self.status, self.terminated = status, True
        self.exitstatus = os.WEXITSTATUS(status) if os.WIFEXITED(status) else None
        self.signalstatus = os.WTERMSIG(status) if os.WIFSIGNALED(status) else None
        return True


class _Spawn(pexpect.spawn):  # type: ignore[misc]
    """`pexpect.spawn` of a forked command instead of an executed one."""

    def __init__(self, forks: Forks, words: list[str], **how: object) -> None:
        self._forks, self._words = forks, words
        super().__init__(sys.executable, words, **how)

    def _spawnpty(self, _args: list[bytes], **how: object) -> PtyProcess:
        made = _Forked(*self._forks.terminal(self._words, how["dimensions"], how["cwd"], how["env"]))  # type: ignore[arg-type]
        made.forks = self._forks
        return made


@contextmanager
def terminals(folder: Path, forks: Forks) -> Iterator[Terminal]:
    """Start the command in a pseudo-terminal; whatever is still running at the end is ended."""
    started = []

    def start(*words: str, size: tuple[int, int] = (50, 100), **environment: str) -> pexpect.spawn[str]:
        kept = {name: value for name, value in os.environ.items() if name not in _UNSET}
        child = _Spawn(
            forks,
            list(words),
            cwd=str(folder),
            env={**kept, **_SET, **environment},
            dimensions=size,
            encoding="utf-8",
            timeout=_LONGEST,
        )
        child.delaybeforesend = None  # a test waits until it sees what it answers
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
