"""Nothing that a workflow says holds the engine up or gets out of its cage: all of `support.hostile`, each case in a
process of its own kind, so that a hang is a failure here and not a suite that never ends."""

from __future__ import annotations

import json
import os
import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from support.hostile import SECRET, corpus, limit

HERE = Path(__file__).parent
CASES = corpus()
PATIENCE = 300  # seconds for one case on the busiest machine; whoever needs more hangs
SLACK = 10  # of a processor: a helper is started for each case, which a busy machine makes dearer
INSIDE = ("<class", "<function", "<built-in", "<bound", "<module", " object at 0x", "site-packages", "/usr/lib")
SHARES = 8


def test_there_are_more_than_five_hundred_cases_and_no_two_are_the_same() -> None:
    assert len([case for case in CASES if case.kind in ("condition", "template")]) > 500
    assert len(set(CASES)) == len(CASES)


def outcomes(folder: Path, numbers: Sequence[int]) -> Iterator[dict[str, object]]:
    """One process tries these one after the other. One that says nothing for too long is killed, and its case hangs."""
    (folder / "secret.txt").write_text(SECRET)
    command = [sys.executable, "-m", "support.hostile", str(folder), *map(str, numbers)]
    process = subprocess.Popen(command, cwd=HERE, stdout=subprocess.PIPE, text=True, start_new_session=True)
    lines: queue.Queue[str] = queue.Queue()
    assert process.stdout is not None
    stdout = process.stdout
    reader = threading.Thread(target=lambda: [*map(lines.put, stdout), lines.put("")])
    reader.start()
    try:
        for number in numbers:
            try:
                line = lines.get(timeout=PATIENCE)
            except queue.Empty:
                raise AssertionError(f"hangs: {CASES[number]}") from None
            assert line, f"the process broke down at {CASES[number]}"
            found: dict[str, object] = json.loads(line)
            assert found["number"] == number
            yield found
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        reader.join()


def tried(folder: Path, numbers: Sequence[int]) -> None:
    for found in outcomes(folder, numbers):
        case, said, seconds = CASES[int(str(found["number"]))], str(found["said"]), float(str(found["seconds"]))
        assert seconds < limit(case) + SLACK, f"took {seconds:.2f} s of {limit(case):.2f}: {case}"
        assert SECRET not in said, case
        assert not [sign for sign in INSIDE if sign in said], (case, said)
    assert [path.name for path in folder.iterdir()] == ["secret.txt"]


@pytest.mark.parametrize("share", range(2))
def test_some_hostile_cases_of_every_family_end_in_time_and_stay_inside(tmp_path: Path, share: int) -> None:
    quick = range(0, len(CASES), 47)  # the first is `String.raw({raw: {length: 1e9}})`
    tried(tmp_path, quick[share::2])


@pytest.mark.torture
@pytest.mark.parametrize("share", range(SHARES))
def test_every_hostile_case_ends_in_time_and_stays_inside(tmp_path: Path, share: int) -> None:
    tried(tmp_path, range(share, len(CASES), SHARES))
