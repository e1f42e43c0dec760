"""A quick place for what processes write that are to be killed."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Path]:
    """In memory where that can be had: a killed process loses nothing that it wrote, to whatever kind of disk."""
    place = Path("/dev/shm")
    if not (place.is_dir() and os.access(place, os.W_OK)):
        yield tmp_path
        return
    with tempfile.TemporaryDirectory(dir=place, prefix="reconvene-") as made:
        yield Path(made)
