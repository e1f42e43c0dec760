"""What the tests of the person's project share: git itself, a run to drive, and a look at a whole folder."""

from __future__ import annotations

import asyncio
import hashlib
import os
import subprocess
from pathlib import Path

from reconvene.app.engine import Engine
from reconvene.core.facts.state import RunState
from reconvene.ports import Progress


def git(folder: Path, *words: str) -> str:
    done = subprocess.run(["git", *words], cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def everything(folder: Path, *, but: tuple[str, ...] = ()) -> dict[str, str]:
    """Path → digest of every file, link and folder below, the git folder included."""
    found: dict[str, str] = {}
    for here, folders, names in os.walk(folder):
        for name in [*folders, *names]:
            path = Path(here, name)
            short = path.relative_to(folder).as_posix()
            if short.startswith(but):
                continue
            if path.is_symlink():
                found[short] = f"→ {os.readlink(path)}"
            elif path.is_file():
                found[short] = f"{path.stat().st_mode:o} {hashlib.sha256(path.read_bytes()).hexdigest()}"
            else:
                found[short] = "/"
    return found


class Driven:
    """One run, driven to its stops; what was told on the way is kept."""

    def __init__(self, engine: Engine, run: str) -> None:
        self.engine = engine
        self.run = run
        self.told: list[Progress] = []

    def on(self) -> RunState:
        return asyncio.run(self.engine.drive(self.run, self.told.append))

    @property
    def state(self) -> RunState:
        return self.engine.load(self.run)

    def events(self, kind: str) -> list[object]:
        return [event for _, event in self.engine.log.read(self.run) if type(event).__name__ == kind]

    def text(self, digest: str) -> str:
        return self.engine.log.artefact(digest).decode()
