"""A toolbox over whatever keeps programs in on this machine."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from tool_bench import Bench

from reconvene.adapters.sandbox import levels


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    """Programs are kept in as on anybody's machine."""
    person = tmp_path / "person"
    person.mkdir()
    made = Bench(tmp_path, "auto", {"PATH": os.environ["PATH"], "HOME": str(person), "LC_ALL": "C.UTF-8"})
    yield made
    made.sandbox.close()


@pytest.fixture
def bubblewrap(bench: Bench) -> Bench:
    found = levels.find(bench.environ)
    if found.name != "bubblewrap":
        pytest.skip(f"bubblewrap does not work here: {'; '.join(found.lacks)}")
    return bench
