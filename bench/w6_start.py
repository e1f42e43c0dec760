"""W6: how long the command line takes to answer, beside a Python that imports three modules of its own library."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from bench import ours
from bench.harness import FLOOR, OURS, PEER, Contender, Options, Row, medians, ratio

TITLE = "start of the command line"
TARGET = 2.0
WAITING = 20
BASE = "import asyncio, sqlite3, json"
PEER_IMPORT = "import langgraph.graph, langgraph.checkpoint.sqlite"


def measure(options: Options) -> list[Row]:
    with options.scratch() as folder:
        if OURS in options.sides:
            _fill(folder / "home")
        rows = [
            _one(options, folder, "reconvene --help", ["--help"]),
            _one(options, folder, "reconvene inbox", ["inbox"]),
        ]
    return rows


def _fill(home: Path) -> None:
    async def parked() -> None:
        for _ in range(WAITING):
            await ours.park(engine, made)

    made = ours.workflow(ours.REVIEW)
    with ours.opened(home) as engine:
        asyncio.run(parked())


def _one(options: Options, folder: Path, what: str, arguments: list[str]) -> Row:
    environment = {**os.environ, "RECONVENE_HOME": str(folder / "home")}
    contenders: dict[str, Contender] = {
        OURS: _timed([*_reconvene(), *arguments], environment),
        FLOOR: _timed([sys.executable, "-c", BASE], environment),
        PEER: _timed([sys.executable, "-c", PEER_IMPORT], environment),
    }
    found = medians(options.chosen(contenders), options.samples(21, 7), 1000)
    return Row(
        workload="W6",
        what=what,
        unit="ms",
        ours=found.get(OURS),
        floor=found.get(FLOOR),
        peer=found.get(PEER),
        score=ratio(found.get(OURS), found.get(FLOOR)),
        target=TARGET,
        of="× python",
    )


def _reconvene() -> list[str]:
    """The installed command where there is one, as people call it."""
    script = Path(sys.executable).parent / "reconvene"
    return [str(script)] if script.exists() else [sys.executable, "-m", "reconvene.doors.cli.main"]


def _timed(command: list[str], environment: dict[str, str]) -> Callable[[], float]:
    def once() -> float:
        begun = time.perf_counter()
        done = subprocess.run(command, env=environment, capture_output=True, stdin=subprocess.DEVNULL)
        taken = time.perf_counter() - begun
        assert done.returncode == 0, done.stderr.decode()
        return taken

    return once
