"""The benchmark's own arithmetic: turns, medians, marks. What it measures is not measured here."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from bench.children import environment
from bench.harness import BURR, FLOOR, OURS, ROOT, Options, Row, as_json, interleave, medians, table


def noted(name: str, calls: list[str]) -> Callable[[], float]:
    def once() -> float:
        calls.append(name)
        return float(len(calls))

    return once


def test_contenders_take_turns_and_the_first_place_rotates() -> None:
    calls: list[str] = []
    taken = interleave({name: noted(name, calls) for name in "abc"}, 4)
    assert "".join(calls) == "abc" + "bca" + "cab" + "cba"
    assert {name: len(values) for name, values in taken.items()} == {"a": 4, "b": 4, "c": 4}


def test_a_warm_turn_is_not_counted() -> None:
    calls: list[str] = []
    taken = interleave({name: noted(name, calls) for name in "ab"}, 1, warm=1)
    assert "".join(calls) == "ab" + "ab"
    assert taken == {"a": [3.0], "b": [4.0]}


def test_children_may_write_bytecode_whatever_the_variable_here_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    assert "PYTHONDONTWRITEBYTECODE" not in environment()
    assert environment(RECONVENE_HOME="there")["RECONVENE_HOME"] == "there"


def test_medians_are_scaled_and_ignore_one_bad_sample() -> None:
    samples = iter([0.001, 9.0, 0.002])
    assert medians({"x": lambda: next(samples)}, 3, 1000) == {"x": 2.0}


def test_a_row_is_marked_by_its_own_score() -> None:
    row = Row(workload="W1", what="step", unit="ms", ours=3.0, floor=2.0, score=1.5, target=1.5)
    assert row.mark == "ok"
    assert Row(workload="W1", what="step", unit="ms", ours=3.1, floor=2.0, score=1.55, target=1.5).mark == "over"
    assert Row(workload="W1", what="step", unit="ms", ours=3.1).mark == ""


def test_the_table_shows_ratios_to_everybody_and_dashes_for_who_did_not_run() -> None:
    taken = {OURS: 3.0, FLOOR: 2.0, BURR: 12.0}
    row = Row("W1", "step", "ms", taken[OURS], taken[FLOOR], taken, score=1.5, target=1.6, of="× floor")
    last = table([row]).splitlines()[-1]
    assert last.split() == "W1 step 3 2 — 12 ms 1.5 — 0.25 1.5 ≤ 1.6 × floor ok".split()


def test_rows_as_json_carry_the_mark() -> None:
    (row,) = json.loads(as_json([Row(workload="W6", what="help", unit="ms", ours=5.0, score=5.0, target=1.0)]))
    assert (row["workload"], row["mark"]) == ("W6", "over")


def test_scratch_folders_are_removed_again(tmp_path: Path) -> None:
    with Options(folder=tmp_path).scratch() as folder:
        (folder / "log.db").write_bytes(b"x")
    assert list(tmp_path.iterdir()) == []


def test_an_unknown_workload_is_refused_with_the_ones_there_are(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "bench", "--only", "W99", "--dir", str(tmp_path)]
    refused = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert refused.returncode == 64
    assert "W9" in refused.stderr
    assert "W1" in refused.stderr
