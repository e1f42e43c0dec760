"""One crash, or several, then a resume to the end: and everything that must hold afterwards."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from forks import Forks
from reconvene.adapters.git import GitHistory
from reconvene.adapters.sqlite import SqliteLog
from reconvene.app.verifying import verify
from reconvene.core.facts.events import AnyEvent
from support.crashing import RUN
from support.fuse import noted
from support.shape import attempts, shape, tasks

PLAY = "support.crashing:play"


class Cast(NamedTuple):
    """Who plays: how many agents at the same time, and how fast each of them is."""

    agents: int = 3
    seed: int = 0

    def asdict(self) -> dict[str, object]:
        return self._asdict()


class Story(NamedTuple):
    """What is left of a run: its log, its files and its history."""

    events: list[AnyEvent]
    files: dict[str, bytes]
    commits: list[str]  # subjects


def read_log(home: Path) -> list[AnyEvent]:
    log = SqliteLog(home / "reconvene.db")
    try:
        return [event for _, event in log.read(RUN)]
    finally:
        log.close()


def read_story(home: Path) -> Story:
    root = home / "runs" / RUN
    files = {str(path.relative_to(root)): path.read_bytes() for path in root.rglob("*") if path.is_file()}
    commits = [commit.subject for _, commit in GitHistory(str(home / "history.git")).commits(RUN)]
    return Story(read_log(home), files, commits)


def untroubled(forks: Forks, home: Path, cast: Cast, play: str = PLAY) -> Story:
    """The run as it goes when nobody kills it."""
    ended = forks.one(play, home=str(home), **cast.asdict())
    assert not ended.error, ended.error
    return read_story(home)


def survive(
    forks: Forks, home: Path, cast: Cast, crashes: Sequence[tuple[str, int]], expected: Story, play: str = PLAY
) -> int:
    """Kill at each of these in turn, then let it end. Answers how many of the crashes happened; cleans up behind it."""
    happened = 0
    for place, at in crashes:
        before = read_log(home) if (home / "reconvene.db").exists() else []
        ended = forks.one(play, home=str(home), place=place, at=at, **cast.asdict())
        assert ended.killed or not ended.error, ended.error
        happened += ended.killed
        _nothing_lost(home, before)
    _resume(forks, home, cast, play)
    _same_story(home, expected)
    shutil.rmtree(home)
    return happened


def _nothing_lost(home: Path, before: list[AnyEvent]) -> None:
    if not (home / "reconvene.db").exists():
        assert not noted(str(home / "acknowledged.txt"))
        return
    now = read_log(home)
    assert now[: len(before)] == before
    acknowledged = max((int(seq) for seq in noted(str(home / "acknowledged.txt"))), default=0)
    assert len(now) >= acknowledged
    if now:
        _fits_together(home)


def _fits_together(home: Path) -> None:
    """Chain, contents, the row in the list of runs, the cached state, and the history as far as it goes."""
    log = SqliteLog(home / "reconvene.db")
    try:
        found = verify(log, RUN, GitHistory(str(home / "history.git")))
        assert found.misfit is None
        assert found.unchained == 0
    finally:
        log.close()


def _resume(forks: Forks, home: Path, cast: Cast, play: str) -> None:
    before = read_log(home) if (home / "reconvene.db").exists() else []
    called = noted(str(home / "calls.txt"))
    recorded = attempts(before, "accepted")
    ended = forks.one(play, home=str(home), **cast.asdict())
    assert not ended.error, ended.error
    assert isinstance(ended.answer, dict)
    assert ended.answer["status"] == "completed"
    after = read_log(home)
    assert after[: len(before)] == before
    calls = noted(str(home / "calls.txt"))
    assert len(calls) == len(set(calls)), "an attempt was called twice"
    assert not tasks(calls[len(called) :]) & tasks(recorded), "a recorded call was made again"
    unrecorded = set(calls) - attempts(after, "accepted")
    assert unrecorded <= attempts(after, "doubt"), "a call in doubt is not on record as such"


def _same_story(home: Path, expected: Story) -> None:
    story = read_story(home)
    assert shape(story.events) == shape(expected.events)
    assert story.files == expected.files
    assert story.commits == expected.commits
    assert not os.listdir(home / "processes"), "the dead still hold leases"
    _fits_together(home)
