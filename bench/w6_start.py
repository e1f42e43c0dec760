"""W6: how long the command line takes to answer, beside a Python that imports three modules of its own library."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from bench import ours
from bench.children import BARE, environment, reconvene, timed
from bench.harness import BURR, FLOOR, LANGGRAPH, OURS, Contender, Options, Row, medians, ratio

TITLE = "start of the command line"
TARGET = 2.0
WAITING = 20
LANGGRAPH_IMPORTS = "import langgraph.graph, langgraph.checkpoint.sqlite"
BURR_IMPORTS = "import burr.core, burr.core.persistence"


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
    surroundings = environment(RECONVENE_HOME=str(folder / "home"))
    contenders: dict[str, Contender] = {
        OURS: lambda: timed([*reconvene(), *arguments], surroundings),
        FLOOR: lambda: timed(BARE, surroundings),
        LANGGRAPH: lambda: timed([sys.executable, "-c", LANGGRAPH_IMPORTS], surroundings),
        BURR: lambda: timed([sys.executable, "-c", BURR_IMPORTS], surroundings),
    }
    found = medians(options.chosen(contenders), options.samples(21, 7), 1000, warm=1)
    return Row(
        workload="W6",
        what=what,
        unit="ms",
        ours=found.get(OURS),
        floor=found.get(FLOOR),
        peers=found,
        score=ratio(found.get(OURS), found.get(FLOOR)),
        target=TARGET,
        of="× python",
    )
