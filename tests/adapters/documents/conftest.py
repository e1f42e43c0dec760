"""A reader of documents in a real box, at the best level that works on this machine."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from reconvene.adapters.box import Boxes
from reconvene.adapters.documents import DocumentReader
from reconvene.adapters.sandbox import Sandboxes


@pytest.fixture
def box(tmp_path: Path) -> Iterator[Boxes]:
    sandbox = Sandboxes(f"{tmp_path}.attempts", os.environ, list)
    yield Boxes(sandbox)
    sandbox.close()


@pytest.fixture
def reader(box: Boxes) -> DocumentReader:
    return DocumentReader(box)
