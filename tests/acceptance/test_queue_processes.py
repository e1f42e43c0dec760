"""The queue among real processes: two at once never take the same run, and kill -9 anywhere loses and doubles none."""

from __future__ import annotations

import shutil
from collections import Counter
from pathlib import Path

import pytest
from support.fuse import noted
from support.queueing import PARENT

from exploring import part
from forks import Forks
from reconvene.adapters.sqlite import SqliteLog
from reconvene.core.facts.events import (
    AttemptEnded,
    ChildrenQueued,
    ChildStarted,
    QueueLeft,
    RemarkAdded,
    RunEnded,
    RunStarted,
)

PIECES = 3
# Where the process dies, and how often at least each place is passed between the decision and the end of the queue.
PLACES = {"before append": 13, "after append": 13, "acknowledged": 13, "call": PIECES}


def prepared(forks: Forks, home: Path, pieces: int) -> Path:
    ended = forks.one("support.queueing:prepare", home=str(home), pieces=pieces)
    assert ended.answer == PARENT, ended.error
    return home


def names(pieces: int) -> list[str]:
    return [f"{PARENT}.p{number:02d}" for number in range(1, pieces + 1)]


def check_whole(home: Path, pieces: int) -> None:
    """Every piece there once, begun once, ended once, with all that was said; nothing twice but what was in doubt."""
    log = SqliteLog(home / ".reconvene" / "reconvene.db")
    parent = [event for _, event in log.read(PARENT)]
    assert [len(event.children) for event in parent if isinstance(event, ChildrenQueued)] == [pieces]
    assert [event.run for event in parent if isinstance(event, ChildStarted)] == names(pieces)
    assert sorted(row.run for row in log.index()) == [PARENT, *names(pieces)]
    for run in names(pieces):
        events = [event for _, event in log.read(run)]
        counts = Counter(type(event) for event in events)
        assert (counts[RunStarted], counts[QueueLeft], counts[RunEnded]) == (1, 1, 1)
        said = [(event.text, event.by, event.origin) for event in events if isinstance(event, RemarkAdded)]
        assert said == [
            ("Revenue is $900M, not $850M", "ann", f"{PARENT} FB-001"),
            ("shorter please", "bob", f"{PARENT} FB-002"),
        ]
        verdicts = [event.verdict for event in events if isinstance(event, AttemptEnded)]
        assert verdicts.count("accepted") == 1
        assert set(verdicts) <= {"accepted", "doubt"}
    log.close()


@pytest.mark.parametrize("processes", part([2, 3], 2))
def test_processes_that_work_the_queue_off_together_share_it_out(forks: Forks, memory: Path, processes: int) -> None:
    pieces = 12
    home = prepared(forks, memory / "home", pieces)
    assert forks.one("support.queueing:split", home=str(home)).answer == 0
    call = ("support.queueing:work_off", {"home": str(home), "processes": processes})
    ended = forks.run(*[call] * processes)
    shares = []
    for one in ended:
        assert isinstance(one.answer, list), one.error
        shares.append(one.answer)
    assert all(shares), "each of them was at work while the others were"
    assert sorted(run for share in shares for run in share) == names(pieces)
    calls = Counter(line.split()[0] for line in noted(str(home / "calls.txt")))
    assert calls == dict.fromkeys(names(pieces), 1)
    check_whole(home, pieces)


@pytest.mark.parametrize("place", part(PLACES, 2))
def test_a_split_killed_at_any_boundary_loses_no_piece_and_makes_none_twice(
    forks: Forks, memory: Path, place: str
) -> None:
    # Renamed: a copy goes on only where the original is gone.
    before = prepared(forks, memory / "original", PIECES).rename(memory / "before")
    crashes = 0
    while True:
        home = memory / f"crash{crashes + 1}"
        shutil.copytree(before, home)
        died = forks.one("support.queueing:play", home=str(home), place=place, at=crashes + 1)
        if not died.killed:
            assert not died.error, died.error
            break
        crashes += 1
        again = forks.one("support.queueing:play", home=str(home))
        assert not again.error, again.error
        check_whole(home, PIECES)
        shutil.rmtree(home)
    check_whole(home, PIECES)
    assert crashes >= PLACES[place]
