"""What the tests with processes to kill stand on: a server that forks them, and a quick place for what they write."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.forks import Forks


@pytest.fixture
def forks() -> Iterator[Forks]:
    with Forks() as server:
        yield server


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Path]:
    """In memory where that can be had: a killed process loses nothing that it wrote, to whatever kind of disk."""
    place = Path("/dev/shm")
    if not (place.is_dir() and os.access(place, os.W_OK)):
        yield tmp_path
        return
    with tempfile.TemporaryDirectory(dir=place, prefix="reconvene-") as made:
        yield Path(made)
