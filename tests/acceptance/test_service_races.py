"""Browser, API, command line and deadline decide the same checkpoints at once: one wins, and everybody is told."""

from __future__ import annotations

import os
import random
import threading
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path
from urllib.parse import quote

import httpx2 as httpx
import pytest

from forks import Forks
from reconvene.app import queries
from reconvene.app.lapsing import lapse
from reconvene.core.facts import events as e
from reconvene.wire.workflow_file import parse_workflow
from reconvene.wiring import open_engine
from served_home import Ground, ground, on_a_port

FLOW = """
name: flow
agents: {writer: {}}
phases:
  - id: draft
    agents: [writer]
    checkpoint:
      question: Is it good?
      within: 1h
      late: {option: Wait}
      options:
        - {label: Browser, then: continue}
        - {label: Rest, then: continue}
        - {label: Terminal, then: continue}
        - {label: Wait, then: continue}
  - {id: report, agents: [writer]}
"""


_APART = 0.4  # seconds: about what a command takes on a busy machine


class Yesterday:
    """The clock with which runs are begun, so that their deadline has passed."""

    def now(self) -> str:
        return (datetime.now(UTC) - timedelta(days=1)).isoformat(timespec="milliseconds").replace("+00:00", "Z")


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Ground]:
    monkeypatch.setenv("RECONVENE_HOME", str(tmp_path / "home"))
    with ground(tmp_path) as one:
        one.workflow = parse_workflow(FLOW)
        yield one


def parked(made: Ground, number: int) -> dict[str, str]:
    """So many runs, each with the version of its checkpoint."""
    from reconvene.testing.scripted import ScriptedAgents

    engine = open_engine(made.home, runner=ScriptedAgents({}, default="done"))
    for part in (engine, engine.new, engine._sessions):
        part._clock = Yesterday()  # type: ignore[attr-defined]
    found: dict[str, str] = {}
    for _ in range(number):
        run = engine.start(made.workflow, by="Olga")
        engine.drive_sync(run)
        point = queries.standing(engine, run).checkpoint
        assert point is not None
        found[run] = point.digest
    engine.log.close()
    return found


def raced(made: Ground, forks: Forks, number: int) -> Counter[str]:
    """Who won how often."""
    runs = parked(made, number)
    gate, chance = made.folder / "gate", random.Random(0)
    os.mkfifo(gate)
    opened = os.open(gate, os.O_RDWR)  # the terminal is another process: a byte for each run lets it begin
    meet = threading.Barrier(3, lambda: os.write(opened, b"."))
    late = {run: [chance.choice((0.0, chance.uniform(0, _APART))) for _ in range(3)] for run in runs}

    def begin(run: str, who: int) -> None:
        """All at the same moment, but for a hair: else it would always be the same one who is first."""
        meet.wait(120)
        threading.Event().wait(late[run][who])

    with on_a_port(made) as (url, _), ThreadPoolExecutor(4) as threads:
        cookie, token = made.person("Bea", cookie=True), made.person("Rita")
        cookie = {**cookie, "origin": url}

        def browser() -> dict[str, int]:
            told: dict[str, int] = {}
            with httpx.Client(base_url=url, headers=cookie, timeout=120) as client:
                for run, version in runs.items():
                    begin(run, 0)
                    form = {"option": "Browser", "version": version, "checkpoint": "C1"}
                    answer = client.post(f"/runs/{quote(run)}/decide", data=form)
                    told[run] = answer.status_code
                    if answer.status_code != 303:
                        assert "decided" in answer.text or "since" in answer.text
            return told

        def rest() -> dict[str, int]:
            told: dict[str, int] = {}
            with httpx.Client(base_url=url, headers=token, timeout=120) as client:
                for run, version in runs.items():
                    begin(run, 1)
                    answer = client.post(
                        f"/api/v1/runs/{run}/decision", json={"option": "Rest"}, headers={"if-match": f'"{version}"'}
                    )
                    told[run] = answer.status_code
                    if answer.status_code != 200:
                        assert "decided already" in answer.json()["detail"]
            return told

        def deadline() -> dict[str, int]:
            engine, told = open_engine(made.home), dict[str, int]()
            try:
                for run in runs:
                    begin(run, 2)
                    told[run] = sum(one.what == "decided" for one in lapse(engine, run))
            finally:
                engine.log.close()
            return told

        def terminal() -> dict[str, int]:
            lines = [
                ["decide", run, "--option", "Terminal", "--at", version, "--by", "Tom", "--no-drive"]
                for run, version in runs.items()
            ]
            script = ("support.deciders:script", {"folder": str(made.folder), "lines": lines, "gate": str(gate)})
            (ended,) = forks.run(script)
            assert isinstance(ended.answer, list), ended.error
            for code, _, err in ended.answer:
                assert code == 0 or "decided already" in err, err
            return {run: code for run, (code, *_) in zip(runs, ended.answer)}

        sides = [threads.submit(side) for side in (browser, rest, deadline, terminal)]
        by_browser, by_rest, by_deadline, by_terminal = (side.result() for side in sides)
    os.close(opened)
    won: Counter[str] = Counter()
    for run in runs:
        taken = [event for _, event in made.engine.log.read(run) if isinstance(event, e.DecisionRecorded)]
        assert len(taken) == 1, run
        told = {
            "Browser": by_browser[run] == 303, "Rest": by_rest[run] == 200, "Terminal": by_terminal[run] == 0,
            "Wait": by_deadline[run] == 1,
        }  # fmt: skip
        assert [who for who, good in told.items() if good] == [taken[0].option], run
        won[taken[0].option] += 1
    return won


@pytest.mark.parametrize("races", [20, pytest.param(1000, marks=pytest.mark.torture)])
def test_of_all_who_decide_at_once_one_wins_and_everybody_is_told(made: Ground, forks: Forks, races: int) -> None:
    won = raced(made, forks, races)
    print(f"{races} races: {dict(won)}")
    assert won.total() == races
    assert len(won) > 1, "they did not meet"
