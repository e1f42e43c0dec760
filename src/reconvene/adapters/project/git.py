"""Runs git so that nothing but git itself runs: no hook, filter, monitor, pager, alias, helper or remote.

Every call names its repository. What agents leave in a worktree (attributes, nested repositories, a `.git` of their
own) is content here, never configuration. Knows processes and bytes; nothing of runs or agents.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import threading
from collections.abc import Mapping, Sequence

from reconvene.errors import AgentError

_SECONDS = 600.0
_KEPT = ("PATH", "HOME", "XDG_CONFIG_HOME", "TMPDIR", "USER", "LOGNAME")
_FIXED = {
    "LC_ALL": "C",
    "GIT_ALLOW_PROTOCOL": "none",
    "GIT_ASKPASS": "false",
    "GIT_EDITOR": "false",
    "GIT_LITERAL_PATHSPECS": "1",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_OPTIONAL_LOCKS": "0",  # looking at the person's repository must not rewrite its index
    "GIT_PAGER": "cat",
    "GIT_TERMINAL_PROMPT": "0",
}
# Without the person's own configuration: for the engine's repositories, where nobody else has a say.
ALONE = {"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull}
_SETTINGS = (
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.attributesFile=/dev/null",
    "core.pager=cat",
    "core.sshCommand=false",
    "core.untrackedCache=false",
    "credential.helper=",
    "gc.auto=0",
    "log.showSignature=false",
    "maintenance.auto=false",
    "protocol.allow=never",
    "submodule.recurse=false",
)


class GitFailed(AgentError):
    """git said no. The message is its own."""


def signed(name: str, email: str) -> dict[str, str]:
    """The variables that say whose a commit is."""
    both = (("NAME", name), ("EMAIL", email))
    return {f"GIT_{role}_{part}": text for role in ("AUTHOR", "COMMITTER") for part, text in both}


def environment(environ: Mapping[str, str], variables: Mapping[str, str]) -> dict[str, str]:
    return {name: environ[name] for name in _KEPT if name in environ} | _FIXED | dict(variables)


def arguments(*words: str) -> list[str]:
    return ["git", "--no-pager", *(part for setting in _SETTINGS for part in ("-c", setting)), *words]


class Git:
    """git, bound to one repository by `variables` (GIT_DIR and the like) or by the folder it is started in."""

    def __init__(self, environ: Mapping[str, str], folder: str, variables: Mapping[str, str] | None = None) -> None:
        self._environ = environ
        self._folder = folder
        self._variables = dict(variables or {})

    def with_(self, **variables: str) -> Git:
        return Git(self._environ, self._folder, {**self._variables, **variables})

    def at(self, folder: str) -> Git:
        """The same, started in this folder."""
        return Git(self._environ, folder, self._variables)

    def do(self, *words: str, stdin: bytes = b"") -> bytes:
        """What it prints; GitFailed where it fails."""
        done = self._run(words, stdin)
        if done.returncode:
            raise GitFailed(f"`git {words[0]}` failed: {_said(done.stderr) or f'exit code {done.returncode}'}")
        return done.stdout

    def outcome(self, *words: str) -> tuple[bytes, int]:
        """What it prints, and its exit code, where that says more than whether it failed."""
        done = self._run(words, b"")
        return done.stdout, done.returncode

    def _run(self, words: Sequence[str], stdin: bytes) -> subprocess.CompletedProcess[bytes]:
        try:
            return subprocess.run(
                arguments(*words),
                cwd=self._folder,
                env=environment(self._environ, self._variables),
                input=stdin,
                capture_output=True,
                timeout=_SECONDS,
                check=False,
            )
        except FileNotFoundError:
            raise _missing(self._folder) from None
        except subprocess.TimeoutExpired:
            raise GitFailed(f"`git {words[0]}` did not end within {_SECONDS:g} s.") from None

    def text(self, *words: str, stdin: bytes = b"") -> str:
        return self.do(*words, stdin=stdin).decode("utf-8", "surrogateescape").removesuffix("\n")

    def maybe(self, *words: str) -> str:
        """What it prints, "" where it fails."""
        try:
            return self.text(*words)
        except GitFailed:
            return ""

    def names(self, *words: str) -> list[str]:
        """What it prints as a list that ends each name with a zero byte."""
        found = self.do(*words).decode("utf-8", "surrogateescape")
        return [name for name in found.split("\0") if name]

    def start_of(self, size: int, *words: str, seconds: float = _SECONDS) -> tuple[str, bool]:
        """The first `size` bytes it prints, and whether that was all. For output that may have any length."""
        data, whole = self.first_bytes(size, *words, seconds=seconds)
        return data.decode("utf-8", "replace"), whole

    def first_bytes(self, size: int, *words: str, seconds: float = _SECONDS) -> tuple[bytes, bool]:
        """The same as bytes. What takes longer is ended, and is not all."""
        try:
            process = subprocess.Popen(
                arguments(*words),
                cwd=self._folder,
                env=environment(self._environ, self._variables),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
            )
        except FileNotFoundError:
            raise _missing(self._folder) from None
        assert process.stdout is not None
        late = threading.Event()

        def end() -> None:
            late.set()
            process.kill()

        clock = threading.Timer(seconds, end)
        clock.start()
        with process:
            data = process.stdout.read(size + 1)
            clock.cancel()
            with contextlib.suppress(OSError):
                process.kill()
        return data[:size], len(data) <= size and not late.is_set()


def _said(stderr: bytes) -> str:
    lines = [line for line in stderr.decode("utf-8", "replace").splitlines() if line.strip()]
    return "; ".join(lines[:3])[:500]


def _missing(folder: str) -> AgentError:
    if not os.path.isdir(folder):
        problem = f"The folder {folder} is not there any more."
        return AgentError(problem, hint="Put it back, or start a new run.", retryable=False)
    return AgentError(
        "git is not installed, or not on PATH.", hint="Install git, then: reconvene resume", retryable=False
    )
