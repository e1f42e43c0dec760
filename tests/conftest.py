"""The ground every test stands on: no real provider, no state outside the test's own folder, the same every time.

How to write a test that is cheap and steady:

- A command: the fixture `reconvene("run", "flow.yaml")` calls the command line in the test's own process, in `folder`,
  and gives exit code, output and errors (tests/commands.py). It costs milliseconds; a process costs half a second.
- A process of its own: `forks.command("run", …)`, or `forks.one("module:function", …)`. Where its interpreter, its
  imports or its death are the point: `commands.process`.
- A terminal: the fixture `terminal("resume", size=(24, 80))` forks the command at a pseudo-terminal.
- Below the command line: `Stage` (tests/acceptance/support), `sit` and `start` (tests/workflows), or the core alone.
- Waiting: never for a time, always for an event (a pipe that an agent opens, a file, a prompt on the screen). A bound
  is for failures only: minutes. An agent that is to be at work "meanwhile" blocks on a pipe until it is told.
- Chance: hypothesis and `random.Random(seed)` only. `make test` explores the same examples every time and keeps their
  number small; `make torture` explores others, many more, and prints how to repeat a failure.
"""

from __future__ import annotations

import functools
import os
import signal
import tempfile
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

if TYPE_CHECKING:
    from xdist.remote import Producer
    from xdist.scheduler import LoadScopeScheduling

    from commands import Command
    from forks import Forks
    from terminals import Terminal

# At import, so that module-level code and session fixtures are covered too: a test must never spend somebody's money,
# nor depend on the account, the terminal or the git hook that it is started from.
_OF_SOMEBODY = ("_API_KEY", "RECONVENE_", "GIT_", "OLLAMA_", "OPENAI_")
_OF_A_TERMINAL = ("NO_COLOR", "COLUMNS", "LINES", "EDITOR", "VISUAL")
for _name in list(os.environ):
    if _name.endswith(_OF_SOMEBODY) or _name.startswith(_OF_SOMEBODY) or _name in _OF_A_TERMINAL:
        del os.environ[_name]
os.environ["PYDANTIC_AI_NO_BANNER"] = "1"
_CONFIG = tempfile.TemporaryDirectory(prefix="reconvene-config-")
os.environ["XDG_CONFIG_HOME"] = _CONFIG.name
# A shell starts what it runs in the background with Ctrl-C ignored, and so would be every process of a test.
signal.signal(signal.SIGINT, signal.default_int_handler)
for _number in (signal.SIGTERM, signal.SIGHUP):
    signal.signal(_number, signal.SIG_DFL)

# Fixed: the same examples every time, and nothing remembered from one run to the next.
settings.register_profile("fixed", deadline=None, max_examples=100, derandomize=True, database=None)
settings.register_profile(
    "torture", deadline=None, max_examples=3_000, print_blob=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "fixed"))

_LONGEST = 9 * settings().max_examples  # seconds that one test may take: reached only by one that hangs


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> LoadScopeScheduling:
    """Which tests one worker takes together, in the order of the tree: those of a file, so that what they share is made
    once, and all tests of pages, which share a server and a browser."""
    from xdist.scheduler import LoadScopeScheduling

    class Together(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return "tests/browser" if nodeid.startswith("tests/browser/") else nodeid.partition("::")[0]

    config.option.loadscopereorder = False
    return Together(config, log)


@pytest.fixture(autouse=True)
def _own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """State goes to this test's folder, also in the processes it starts; recorded agents answer at once, and
    nobody waits for a provider for long."""
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("RECONVENE_HOME", str(tmp_path / ".reconvene"))
    monkeypatch.setenv("XDG_CONFIG_HOME", f"{tmp_path}.config")
    monkeypatch.setenv("XDG_STATE_HOME", f"{tmp_path}.state")
    # Agents of tests tell the test what they do, through pipes and files of its own. Tests of the sandbox turn it on.
    monkeypatch.setenv("RECONVENE_SANDBOX", "off")
    monkeypatch.setenv("RECONVENE_DEMO_SPEED", "0")
    monkeypatch.setenv("RECONVENE_PROVIDER_WAIT", "1")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    """A test that waits for what never happens fails, with the line where it waits."""

    def hangs(_number: int, _frame: FrameType | None) -> None:
        pytest.fail(f"not done after {_LONGEST} seconds")

    before = signal.signal(signal.SIGALRM, hangs)
    signal.alarm(_LONGEST)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Where commands are started; test modules that need files there put their own in its place."""
    return tmp_path


@pytest.fixture
def reconvene(folder: Path) -> Command:
    """`reconvene("run", "flow.yaml")`: the command in this process, in the folder; see tests/commands.py."""
    from commands import call

    return functools.partial(call, cwd=folder)


@pytest.fixture(scope="session")
def forks() -> Iterator[Forks]:
    """`forks.one("module:function", home="…")`: that call in a process of its own; see tests/forks.py."""
    from forks import Forks

    with Forks() as server:
        yield server


@pytest.fixture
def terminal(folder: Path, forks: Forks) -> Iterator[Terminal]:
    """`terminal("run", "flow.yaml", size=(24, 80), NO_COLOR="1")`: the command at a pseudo-terminal, in the folder."""
    from terminals import terminals  # skips the test where there are no pseudo-terminals

    with terminals(folder, forks) as start:
        yield start
