"""A box at one level of the sandbox; the test is skipped where that level does not work."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from reconvene.adapters.box import Boxes
from reconvene.adapters.sandbox import Sandboxes, levels


@contextmanager
def boxed(level: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Boxes]:
    if level == "landlock":  # a bubblewrap that is installed and does not work
        (tmp_path / "broken").mkdir()
        (tmp_path / "broken" / "bwrap").write_text("#!/bin/sh\nexit 1\n")
        (tmp_path / "broken" / "bwrap").chmod(0o755)
        monkeypatch.setenv("PATH", f"{tmp_path / 'broken'}{os.pathsep}{os.environ['PATH']}")
    found = levels.find(os.environ)
    if level not in (found.name, "off"):
        pytest.skip(f"{level} does not work here: {'; '.join(found.lacks)}")
    sandbox = Sandboxes(f"{tmp_path}.at-{level}", os.environ, list, "off" if level == "off" else "auto")
    yield Boxes(sandbox)
    sandbox.close()
