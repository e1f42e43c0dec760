"""W3: pause, exit, resume in a fresh process: a decision is given and the run driven to its next checkpoint.

Timed twice: inside the process, from loaded code to the next checkpoint; and whole, from starting the interpreter to
its end, beside an interpreter that only imports asyncio, sqlite3 and json. "Loaded code" is taken literally: a first
process reports what it imported on the way, the measured ones import that before their clock starts. The last row is
the real command, `reconvene decide`, which also brings the git history up to date.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from bench import floors, ours
from bench import peer_langgraph as langgraph
from bench.children import BARE, environment, reconvene, timed
from bench.harness import FLOOR, LANGGRAPH, OURS, ROOT, Contender, Options, Row, medians, ratio

TITLE = "pause, exit, resume in a fresh process"
KINDS = (OURS, FLOOR, LANGGRAPH)
PYTHON, DECIDE = "python", "decide"
TARGETS = {(OURS, LANGGRAPH): 0.75, (OURS, PYTHON): 2.0, (DECIDE, PYTHON): 2.5}
THREAD = "run"


class Report(NamedTuple):
    """What bench.w3_child prints."""

    seconds: float
    loaded: list[str]


def measure(options: Options) -> list[Row]:
    with options.scratch() as folder:
        fresh = (folder / str(number) for number in itertools.count())
        kinds = [kind for kind in KINDS if kind in options.sides]
        preload = {kind: _child(kind, _parked(kind, fresh)).loaded for kind in kinds}
        samples = options.samples(15, 5)
        inside = medians({kind: _inside(kind, fresh, preload[kind]) for kind in kinds}, samples, 1000)
        processes: dict[str, Contender] = {kind: _whole(kind, fresh) for kind in kinds}
        processes[PYTHON] = lambda: timed(BARE, environment())
        if OURS in kinds:
            processes[DECIDE] = _decide(fresh)
        whole = medians(processes, samples, 1000, warm=1)
    return [
        _row("loaded code → next checkpoint", inside, OURS, LANGGRAPH),
        _row("the same, with interpreter start", whole, OURS, PYTHON),
        _row("reconvene decide, git history too", whole, DECIDE, PYTHON),
    ]


def _row(what: str, found: dict[str, float], who: str, beside: str) -> Row:
    same_work = who == OURS  # the command does more than the floor and the peers
    return Row(
        workload="W3",
        what=what,
        unit="ms",
        ours=found.get(who),
        floor=found.get(FLOOR) if same_work else None,
        peers=found if same_work else {},
        score=ratio(found.get(who), found.get(beside)),
        target=TARGETS[who, beside],
        of="× LangGraph" if beside == LANGGRAPH else f"× python, {found[beside]:.0f} ms",
    )


def _parked(kind: str, fresh: Iterator[Path]) -> tuple[str, str]:
    """A run that waits at its first checkpoint, left behind by whoever parked it: (place, run)."""
    place = next(fresh)
    match kind:
        case "ours":
            with ours.opened(place) as engine:
                return str(place), asyncio.run(ours.park(engine, ours.workflow(ours.REVIEW)))
        case "langgraph":
            keeper = langgraph.saver(place)
            langgraph.park(langgraph.review_graph(keeper), THREAD)
            keeper.conn.close()
        case _:
            connection = floors.connect(place)
            floors.commit(connection, 5)
            connection.close()
    return str(place), THREAD


def _inside(kind: str, fresh: Iterator[Path], preload: list[str]) -> Contender:
    return lambda: _child(kind, _parked(kind, fresh), preload).seconds


def _whole(kind: str, fresh: Iterator[Path]) -> Contender:
    def once() -> float:
        place, run = _parked(kind, fresh)
        return timed([sys.executable, "-m", "bench.w3_child", kind, place, run], environment())

    return once


def _decide(fresh: Iterator[Path]) -> Contender:
    def once() -> float:
        place, run = _parked(OURS, fresh)
        words = ["decide", run, "--option", "Continue", "--latest", "--by", "bench", "--json"]
        return timed([*reconvene(), "--home", place, *words], environment(), 3)

    return once


def _child(kind: str, parked: tuple[str, str], preload: list[str] | None = None) -> Report:
    command = [sys.executable, "-m", "bench.w3_child", kind, *parked, json.dumps(preload or [])]
    done = subprocess.run(command, cwd=ROOT, env=environment(), capture_output=True)
    assert done.returncode == 0, done.stderr.decode()
    return Report(**json.loads(done.stdout))
