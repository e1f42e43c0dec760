"""A server that is killed, whatever it is at: what it acknowledged is on record, and nothing was done twice."""

from __future__ import annotations

import json
import os
import queue
import random
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx2 as httpx
import pytest

from reconvene.app import queries
from reconvene.core.facts import events as e
from reconvene.desk_wiring import open_desk
from reconvene.settings import system_user
from served_home import Ground, ground

_RUNS = 3  # decided at the same time
SAID = {"remarks": [{"text": "shorter"}]}


@pytest.fixture
def made(memory: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Ground]:
    monkeypatch.setenv("RECONVENE_HOME", str(memory / "home"))
    with ground(memory) as one:
        yield one


def started(made: Ground) -> tuple[subprocess.Popen[bytes], dict[str, Any]]:
    command = [sys.executable, "-m", "reconvene.doors.cli", "serve", "--json", "--port", "0", "--no-drive"]
    process = subprocess.Popen(command, cwd=made.folder, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    assert process.stdout is not None
    return process, json.loads(process.stdout.readline())


def killed_at(made: Ground, moment: int) -> None:
    """After so many answers the server is killed, while the other requests are under way."""
    runs = {run: _version(made, run) for run in (made.parked() for _ in range(_RUNS))}
    process, told = started(made)
    answers: queue.Queue[str] = queue.Queue()
    acknowledged: dict[str, list[str]] = {run: [] for run in runs}
    headers = {"authorization": f"Bearer {told['token']}"}
    meet = threading.Barrier(_RUNS + 1)

    def person(run: str) -> None:
        """Says something twice, uploads, decides. Each is acknowledged or not."""
        steps: list[tuple[str, str, dict[str, Any]]] = [
            ("said", f"/api/v1/runs/{run}/remarks", {"json": SAID, "headers": key_of(run, "s")}),
            ("uploaded", "/api/v1/uploads", {"files": {"file": (f"{run}.txt", run.encode())}}),
            (
                "decided",
                f"/api/v1/runs/{run}/decision",
                {"json": {"option": "Once more"}, "headers": {"if-match": f'"{runs[run]}"', **key_of(run, "d")}},
            ),
        ]
        meet.wait(120)
        try:
            with httpx.Client(base_url=told["url"], headers=headers, timeout=60) as client:
                for name, path, what in steps:
                    answer = client.post(path, **what)
                    assert answer.status_code in (200, 201), answer.text
                    acknowledged[run].append(name)
                    answers.put(name)
        except httpx.HTTPError:
            return  # the server is gone

    with ThreadPoolExecutor(_RUNS) as threads:
        asked = [threads.submit(person, run) for run in runs]
        meet.wait(120)
        for _ in range(moment):
            answers.get(timeout=120)
        process.kill()  # this test's own server
        process.communicate()
        for one in asked:
            one.result()
    _all_is_there(made, acknowledged)
    _sent_again(made, runs)


def key_of(run: str, what: str) -> dict[str, str]:
    return {"idempotency-key": f"{run}-{what}"}


def _sent_again(made: Ground, runs: dict[str, str]) -> None:
    """To the next server, with the same keys: each has its effect, once, whether or not it had it before."""
    owner = made.person(system_user())
    with made.serving() as client:
        for run, version in runs.items():
            said = client.post(f"/api/v1/runs/{run}/remarks", json=SAID, headers={**owner, **key_of(run, "s")})
            assert (said.status_code, len(said.json()["remarks"])) == (201, 1), said.text
            headers = {**owner, **key_of(run, "d"), "if-match": f'"{version}"'}
            done = client.post(f"/api/v1/runs/{run}/decision", json={"option": "Once more"}, headers=headers)
            assert done.status_code == 200, done.text
    for run in runs:
        events = [event for _, event in made.engine.log.read(run)]
        for kind in (e.RemarkAdded, e.DecisionRecorded):
            assert sum(isinstance(event, kind) for event in events) == 1


def _version(made: Ground, run: str) -> str:
    point = queries.standing(made.engine, run).checkpoint
    assert point is not None
    return point.digest


def _all_is_there(made: Ground, acknowledged: dict[str, list[str]]) -> None:
    desk = open_desk(made.home)
    for run, names in acknowledged.items():
        events = [event for _, event in made.engine.log.read(run)]
        said = [event for event in events if isinstance(event, e.RemarkAdded)]
        decided = [event for event in events if isinstance(event, e.DecisionRecorded)]
        assert len(said) <= 1
        assert len(decided) <= 1
        if "said" in names:
            assert said
        if "uploaded" in names:
            owner = said[0].by
            assert [one for one in desk.uploads(owner) if one.name == f"{run}.txt"]
        if "decided" in names:
            assert decided
            made.engine.drive_sync(run)
            assert made.engine.load(run).status == "waiting"
    desk.close()


@pytest.mark.parametrize("moment", range(10))
def test_nothing_that_a_killed_server_acknowledged_is_lost(made: Ground, moment: int) -> None:
    killed_at(made, moment % (3 * _RUNS))


@pytest.mark.torture
@pytest.mark.parametrize("part", range(20))
def test_nothing_is_lost_at_three_hundred_moments(made: Ground, part: int) -> None:
    """In parts: all of them in one test would take longer than a test may."""
    chance = random.Random(int(os.environ.get("SEED", "0")) * 100 + part)
    for _ in range(15):
        killed_at(made, chance.randrange(3 * _RUNS + 1))
