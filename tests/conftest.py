"""The ground every test stands on: no real provider, no state outside the test's own folder, repeatable examples."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

if TYPE_CHECKING:
    from terminals import Terminal

# At import, so that module-level code and session fixtures are covered too: a test must never spend somebody's money.
for _name in [name for name in os.environ if name.endswith("_API_KEY")]:
    del os.environ[_name]
os.environ["PYDANTIC_AI_NO_BANNER"] = "1"

settings.register_profile("local", deadline=None, max_examples=100)
settings.register_profile("ci", deadline=None, max_examples=100, derandomize=True)
settings.load_profile("ci" if os.environ.get("CI", "").lower() == "true" else "local")


@pytest.fixture(autouse=True)
def _own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """State goes to this test's folder, also in the processes it starts; recorded agents answer at once."""
    monkeypatch.setenv("RECONVENE_HOME", str(tmp_path / ".reconvene"))
    monkeypatch.setenv("RECONVENE_DEMO_SPEED", "0")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Where commands are started; test modules that need files there put their own in its place."""
    return tmp_path


@pytest.fixture
def terminal(folder: Path) -> Iterator[Terminal]:
    """`terminal("run", "flow.yaml", size=(24, 80), NO_COLOR="1")`: the command at a pseudo-terminal, in the folder."""
    from terminals import terminals  # skips the test where there are no pseudo-terminals

    with terminals(folder) as start:
        yield start
