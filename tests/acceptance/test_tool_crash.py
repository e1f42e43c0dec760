"""kill -9 at any moment of a loop over tools: no call with effects twice without a question, no turn asked again."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.fuse import noted
from support.tool_crashing import ROUNDS, RUN

from exploring import part
from reconvene.core.facts.events import AttemptEnded, CallRuled, CallsDeferred, ModelTurned
from reconvene.testing.openai_server import Calls, OpenAIServer, Reply, Say, Seen
from reconvene.wiring import open_log

_HERE = Path(__file__).resolve().parent
PLACES = ("before append", "after append", "before ask", "after ask", "before pay", "after pay", "before note")
_KILLED = 9


def model(seen: Seen) -> Reply:
    """Notes and pays, round after round: what it says follows from what it was sent."""
    messages = seen.body["messages"]
    assert isinstance(messages, list)
    done = sum(message.get("role") == "assistant" for message in messages)
    if done == ROUNDS:
        return Say("All is paid.")
    return Calls((("note", json.dumps({"text": f"note {done}"})), ("pay", json.dumps({"text": f"pay {done}"}))))


class Nursery:
    """Forks a player for each request."""

    def __init__(self) -> None:
        paths = os.pathsep.join([str(_HERE), str(_HERE.parent)])
        self._process = subprocess.Popen(
            [sys.executable, "-m", "support.tool_crashing"],
            env={**os.environ, "PYTHONPATH": paths},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def play(self, home: Path, url: str, place: str = "", at: int = 0) -> str:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps([str(home), url, place, at]) + "\n")
        self._process.stdin.flush()
        return str(json.loads(self._process.stdout.readline()))

    def close(self) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait(timeout=60)
        self._process.stdout.close()


@pytest.fixture(scope="module")
def nursery() -> Iterator[Nursery]:
    made = Nursery()
    yield made
    made.close()


def survive(nursery: Nursery, home: Path, crashes: list[tuple[str, int]]) -> int:
    """Killed at these moments, one after the other, then left alone. How often it was killed."""
    with OpenAIServer(model) as server:
        killed = sum(nursery.play(home, server.url, place, at) == f"ended {_KILLED}" for place, at in crashes)
        assert nursery.play(home, server.url) == "completed"
        asked = len(server.requests)
    events = [event for _, event in open_log(home).read(RUN)]
    turns = [event for event in events if isinstance(event, ModelTurned)]
    assert [turn.turn for turn in turns] == list(range(1, ROUNDS + 2))
    assert asked - len(turns) <= killed  # only what was not on record may be asked again
    assert [event.attempt for event in events if isinstance(event, AttemptEnded)] == [1]
    paid = Counter(noted(f"{home}.paid"))
    assert set(paid) == {f"pay {number}" for number in range(ROUNDS)}
    in_doubt = [event for event in events if isinstance(event, CallsDeferred) and event.doubt]
    doubted = Counter(call for event in in_doubt for call in event.calls)
    asked_again = Counter(event.call for event in events if isinstance(event, CallRuled))
    for number in range(ROUNDS):
        call = f"{number + 1}.2"
        assert paid[f"pay {number}"] <= 1 + doubted[call]
        assert asked_again[call] >= doubted[call]
    log = open_log(home)
    (end,) = [event for event in events if isinstance(event, AttemptEnded)]
    (file,) = end.files
    assert log.artefact(file.digest).decode() == "".join(f"note {number}\n" for number in range(ROUNDS))
    return killed


@pytest.mark.parametrize("step", [5, pytest.param(1, marks=pytest.mark.torture)], ids=["some", "every"])
@pytest.mark.parametrize("place", part(PLACES, 6))
def test_a_loop_killed_at_any_moment_goes_on_where_its_record_ends(
    nursery: Nursery, tmp_path: Path, place: str, step: int
) -> None:
    at, step = 1, step if place.endswith("append") else 1  # appends are many
    while survive(nursery, tmp_path / f"home{at}", [(place, at)]):
        at += step
    assert at > ROUNDS


@pytest.mark.torture
def test_a_loop_killed_twice_in_the_same_call_asks_twice(nursery: Nursery, tmp_path: Path) -> None:
    assert survive(nursery, tmp_path / "home", [("after pay", 1), ("after pay", 1), ("before pay", 1)]) == 3


@pytest.mark.torture
def test_a_loop_killed_again_and_again(nursery: Nursery, tmp_path: Path) -> None:
    chance = random.Random(int(os.environ.get("SEED", "0")))  # others every time; `make torture` says which
    for number in range(100):
        crashes = [(chance.choice(PLACES), chance.randint(1, 6)) for _ in range(chance.randint(1, 6))]
        survive(nursery, tmp_path / f"home{number}", crashes)
