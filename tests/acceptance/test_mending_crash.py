"""kill -9 at every boundary of a run that is mended and taken up again: the story is the same."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.proof import Cast, read_log, survive, untroubled

from exploring import part
from forks import Forks
from reconvene.core.facts.events import RunReopened, WorkflowUpgraded

PLAY = "support.mended:play"
PLACES = {
    "before append": 20,
    "after append": 20,
    "acknowledged": 20,
    "call": 20,
    "return": 20,
    "before file": 20,
    "before manifest": 20,
    "files written": 15,
    "before branch": 1,
    "after branch": 1,
}


@pytest.mark.parametrize("place", part(PLACES, 9))
def test_a_mended_run_killed_at_any_boundary_resumes_to_the_same_end(forks: Forks, memory: Path, place: str) -> None:
    cast = Cast(agents=2)
    expected = untroubled(forks, memory / "untroubled", cast, PLAY)
    crashes = 0
    while survive(forks, memory / f"crash{crashes + 1}", cast, [(place, crashes + 1)], expected, PLAY):
        crashes += 1
    assert crashes >= PLACES[place]


def test_the_story_holds_an_upgrade_and_a_reopening_once(forks: Forks, memory: Path) -> None:
    untroubled(forks, memory / "untroubled", Cast(agents=2), PLAY)
    events = read_log(memory / "untroubled")
    assert [type(one) for one in events if isinstance(one, WorkflowUpgraded | RunReopened)] == [
        WorkflowUpgraded, RunReopened,
    ]  # fmt: skip
