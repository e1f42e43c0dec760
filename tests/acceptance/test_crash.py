"""kill -9 at every boundary: nothing acknowledged is lost, nothing recorded is called again, the story is the same."""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest
from support.fuse import noted
from support.proof import PLAY, Cast, read_log, survive, untroubled
from support.shape import attempts

from exploring import part
from forks import Forks
from reconvene.core.facts.events import CheckpointOpened

# Where the process dies, and how often at least each place is passed in one run (outputs that arrive together share an
# append). Together more than 100.
PLACES = {
    "before append": 16,
    "after append": 16,
    "acknowledged": 16,
    "call": 20,
    "return": 20,
    "before file": 16,
    "before manifest": 16,
    "files written": 10,
    "before branch": 1,
    "after branch": 1,
}


@pytest.mark.parametrize("place", part(PLACES, 4))
def test_a_run_killed_at_any_boundary_resumes_to_the_same_end(forks: Forks, memory: Path, place: str) -> None:
    cast = Cast()
    expected = untroubled(forks, memory / "untroubled", cast)
    crashes = 0
    while survive(forks, memory / f"crash{crashes + 1}", cast, [(place, crashes + 1)], expected):
        crashes += 1
    assert crashes >= PLACES[place]


def test_a_run_killed_again_and_again_still_resumes_to_the_same_end(forks: Forks, memory: Path) -> None:
    cast = Cast(agents=4, seed=7)
    expected = untroubled(forks, memory / "untroubled", cast)
    crashes = [
        (place, at) for at in (1, 2, 4) for place in ("call", "after append", "before manifest", "before append")
    ]
    assert survive(forks, memory / "crash", cast, crashes, expected) == len(crashes)


@pytest.mark.parametrize("place", ["call", "return"])
@pytest.mark.parametrize(("ruling", "calls"), [("Try again", 2), ("Go on without it", 1)])
def test_an_agent_with_effects_that_may_have_acted_waits_for_the_person(
    forks: Forks, memory: Path, place: str, ruling: str, calls: int
) -> None:
    home = memory / "home"
    arguments = {"home": str(home), "effects": True}
    # The fourth call of the run is the editor's first: three agents have worked before it.
    assert forks.one(PLAY, place=place, at=4, **arguments).killed
    ended = forks.one(PLAY, **arguments)
    assert isinstance(ended.answer, dict), ended.error
    assert ended.answer["status"] == "waiting"
    events = read_log(home)
    opened = events[-1]
    assert isinstance(opened, CheckpointOpened)
    assert opened.attention
    assert "editor may have acted already" in opened.prompt
    assert attempts(events, "doubt") == {"R1/1/editor#1"}
    assert called(home, "R1/1/editor") == ["R1/1/editor#1"]

    ended = forks.one("support.crashing:rule", option=ruling, **arguments)
    assert isinstance(ended.answer, dict), ended.error
    assert ended.answer["status"] == "completed"
    assert len(called(home, "R1/1/editor")) == calls


def called(home: Path, task: str) -> list[str]:
    return [name for name in noted(str(home / "calls.txt")) if name.startswith(task)]


def test_a_long_run_killed_on_the_way_folds_to_the_same_state_with_and_without_snapshots(
    forks: Forks, memory: Path
) -> None:
    home = str(memory / "home")
    for at in (70, 30, 1):
        assert forks.one("support.crashing:play_long", home=home, place="after append", at=at).killed
    ended = forks.one("support.crashing:play_long", home=home)
    assert isinstance(ended.answer, dict), ended.error
    assert ended.answer["status"] == "completed"
    assert ended.answer["seq"] > 600
    assert ended.answer["same"] is True
    calls = noted(f"{home}/calls.txt")
    assert len(calls) == len(set(calls))


@pytest.mark.torture
@pytest.mark.parametrize("number", range(40))
def test_runs_killed_at_random_resume_to_the_same_end(forks: Forks, memory: Path, number: int) -> None:
    """40 casts, at least 50 crashes each: other numbers of agents, other speeds, one to three crashes in a row."""
    seed = int(os.environ.get("SEED", "0")) * 40 + number  # others every time; `make torture` says which
    chance = random.Random(seed)
    cast = Cast(agents=chance.randrange(2, 6), seed=seed)
    expected = untroubled(forks, memory / "untroubled", cast)
    crashes = 0
    while crashes < 50:
        places = chance.choices(list(PLACES), k=chance.randrange(1, 4))
        plan = [(place, chance.randrange(1, PLACES[place] + 5)) for place in places]
        crashes += survive(forks, memory / "crash", cast, plan, expected)
