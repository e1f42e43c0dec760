"""The engine in a simulated world: what holds whatever fails, that a seed replays exactly, and that it would be noticed
if the engine were broken."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from reconvene.ports import EventLog
from reconvene.testing.conformance import LogConformance
from reconvene.testing.simulation import simulate
from reconvene.testing.simulation.faults import KINDS
from reconvene.testing.simulation.simulated_agents import Outside, SimulatedAgents
from reconvene.testing.simulation.simulated_store import SimulatedStore
from reconvene.testing.simulation.simulated_world import World
from testing.mutants import MUTANTS

_CHUNK = 50
_HERE = range(0, 200, _CHUNK)  # in `make test`
_OTHERS = int(os.environ.get("SEED", "1")) * 10_000  # in `make torture`, others each time


def holds(first: int, count: int = _CHUNK) -> str:
    """Their traces."""
    traces: list[str] = []
    for seed in range(first, first + count):
        outcome = simulate(seed)
        traces += outcome.trace
        if outcome.wrong:
            said = "\n".join(outcome.wrong)
            pytest.fail(f"{said}\nto replay exactly this: .venv/bin/python -m reconvene.testing.simulation {seed}")
    return "\n".join(traces)


_STRUCK = {
    "crash": "killed at",
    "crash in a write": "which is not there",
    "power cut": "power cut",
    "failed write": "refused: a write",
    "unknown write": "said to have failed",
    "disk full": "the disk is full",
    "locked": "it is locked",
    "failed read": "a read failed",
    "failed file": "refused: write",
    "second driver": "which lives",
    "clock jump": "clock jumps",
}


@pytest.mark.parametrize("first", _HERE)
def test_whatever_fails_nothing_is_lost_or_done_twice_and_every_run_comes_to_its_end(first: int) -> None:
    traces = holds(first)
    assert _STRUCK.keys() <= KINDS.keys()
    if first == 0:  # rare kinds need not strike in each part
        assert [kind for kind, words in _STRUCK.items() if words not in traces] == []


@pytest.mark.torture
@pytest.mark.parametrize("chunk", range(100))
def test_ten_thousand_other_seeds_hold_as_well(chunk: int) -> None:
    holds(_OTHERS + 100 * chunk, 100)


def test_the_same_seed_gives_the_same_history_in_any_order_and_any_process() -> None:
    first = [simulate(seed).digest for seed in range(4)]
    assert [simulate(seed).digest for seed in reversed(range(4))] == first[::-1]
    assert len(set(first)) == 4
    code = "from reconvene.testing.simulation import simulate; print(*(simulate(seed).digest for seed in (2, 0)))"
    other = subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, "PYTHONHASHSEED": "77"}, capture_output=True, check=True
    )
    assert other.stdout.decode().split() == [first[2], first[0]]


# Of each, how many seeds it takes; those that take many are looked for by `make torture`.
_TAKES = {
    "appends_without_comparing": 7,
    "acknowledges_what_could_not_be_written": 1,
    "forgets_that_others_may_have_begun": 12,
    "begins_what_nobody_took_up": 200,
    "keeps_leases_that_a_locked_store_did_not_take_back": 9,
    "overlooks_what_people_wrote": 100,
    "tries_again_what_acted_and_failed": 4,
    "does_not_show_the_newest_remark": 1,
    "believes_the_clock": 9,
    "forgets_requests": 4,
    "tells_before_it_is_written": 1,
}
# Those that few seeds notice begin where one does. A change of the engine may shift that: `make torture` finds another.
_FROM = {"tries_again_what_acted_and_failed": 44, "forgets_requests": 21}


@pytest.mark.parametrize(
    "name", [name if _TAKES[name] <= 12 else pytest.param(name, marks=pytest.mark.torture) for name in MUTANTS]
)
def test_an_engine_that_is_broken_is_noticed(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    MUTANTS[name](monkeypatch)
    first = _FROM.get(name, 0)
    assert any(simulate(seed).wrong for seed in range(first, first + _TAKES[name]))


def test_one_seed_is_replayed_from_the_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    from reconvene.testing.simulation.__main__ import main

    assert main(["3"]) == 0
    told = capsys.readouterr().out
    assert "faults are over" in told
    assert "seed 3:" in told
    assert simulate(3).digest[:16] in told


class TestSimulatedStore(LogConformance):
    """Where nothing fails, it is a store as any other."""

    def setup_method(self) -> None:
        super().setup_method()
        self._world = World(0, lambda process: SimulatedAgents(process, Outside()))
        self._world.faults.over = True

    def make_log(self, folder: Path) -> EventLog:
        return SimulatedStore(self._world.disk, self._world.process("one"))

    def teardown_method(self) -> None:
        super().teardown_method()
        self._world.loop.close()
