"""Terminals, scripts and files of answers decide the same runs at the same moment, or too late.

Whatever they do, the log shows: nobody's decision is on a version that was not shown to them, or that somebody else
changed since, and no checkpoint is decided twice.
"""

from __future__ import annotations

import os
import random
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from commands import call
from forks import Forks
from reconvene.adapters.sqlite import SqliteLog
from reconvene.core.facts import events as e
from reconvene.core.facts.evolve import evolve
from reconvene.core.facts.state import EMPTY, RunState
from reconvene.core.person.checkpoint import current_digest
from reconvene.core.shown.drafts import ENGINE
from reconvene.wiring import showings
from terminals import ENTER, Terminal, ending

FLOW = """\
name: flow
agents: {writer: {command: [sh, -c, 'cat >/dev/null; echo text > draft.md; echo done']}}
phases:
- id: one
  agents: [writer]
  checkpoint: {show_files: [draft.md], options: [{label: Go on, then: continue}, {label: Stop, then: {end: stopped}}]}
- id: two
  agents: [writer]
  checkpoint: {show_files: [draft.md], options: [{label: Go on, then: continue}, {label: Stop, then: {end: stopped}}]}
- id: three
  agents: [writer]
  checkpoint: {show_files: [draft.md], options: [{label: Go on, then: continue}, {label: Stop, then: {end: stopped}}]}
"""
ANSWERS = "- {option: Go on}\n- {option: Go on}\n"
Lines = list[list[str]]


class Race(NamedTuple):
    before: Lines  # what happens after the first stop was shown to Ada, and before the race
    sides: tuple[Lines, ...]  # each a process of its own
    most: int = 3  # decisions
    fewest: int = 0


class Ground:
    """Runs in one home, each parked at its first checkpoint, which was shown to Ada and to Bob."""

    def __init__(self, folder: Path, forks: Forks) -> None:
        self.folder = folder
        self.home = folder / ".reconvene"
        self._forks = forks
        self._made = 0
        (folder / "flow.yaml").write_text(FLOW, encoding="utf-8")
        (folder / "answers.yaml").write_text(ANSWERS, encoding="utf-8")

    def parked(self) -> str:
        self._made += 1
        run = f"flow-{self._made}"
        for words in (("run", "flow.yaml", "--no-input", "--by", "Ada"), ("show", run, "--by", "Bob")):
            assert call(*words, cwd=self.folder).code in (0, 3)
        return run

    def version(self, run: str) -> str:
        return showings(self.home).of(run)[0].version

    def at_once(self, *sides: Lines) -> list[list[list[object]]]:
        calls = [("support.deciders:script", {"folder": str(self.folder), "lines": lines}) for lines in sides]
        answers: list[list[list[object]]] = []
        for ended in self._forks.run(*calls):
            assert isinstance(ended.answer, list), ended.error
            answers.append(ended.answer)
        return answers


@pytest.fixture
def ground(memory: Path, forks: Forks, monkeypatch: pytest.MonkeyPatch) -> Ground:
    monkeypatch.setenv("RECONVENE_HOME", str(memory / ".reconvene"))
    return Ground(memory, forks)


def decide(run: str, by: str, *more: str, option: str = "Go on") -> list[str]:
    return ["decide", run, "--option", option, "--by", by, *more]


def remark(run: str, by: str) -> list[str]:
    return ["remark", run, f"{by} has something to say", "--by", by]


def edited(run: str, by: str) -> Lines:
    return [["write", f".reconvene/runs/{run}/draft.md", f"text of {by}\n"], ["resume", run, "--no-input", "--by", by]]


def two_people(run: str, at: str) -> Race:
    sides = ([decide(run, "Ada")], [decide(run, "Bob", option="Stop")])
    return Race([], sides, most=1, fewest=1)


def the_same_line(run: str, at: str) -> Race:
    return Race([], ([decide(run, "Ada")],) * 3, most=1, fewest=1)


def the_same_line_with_its_version(run: str, at: str) -> Race:
    return Race([], ([decide(run, "Ada", "--at", at)] * 2,) * 2, most=1, fewest=1)


def a_script_run_twice(run: str, at: str) -> Race:
    return Race([], ([decide(run, "Ada"), decide(run, "Ada"), decide(run, "Ada")],) * 2, most=1, fewest=1)


def a_remark_meanwhile(run: str, at: str) -> Race:
    return Race([], ([decide(run, "Ada")], [remark(run, "Bob")]), most=1)


def an_edit_meanwhile(run: str, at: str) -> Race:
    return Race([], ([decide(run, "Ada", "--at", at)], edited(run, "Bob")), most=1)


def a_remark_before(run: str, at: str) -> Race:
    return Race([remark(run, "Bob")], ([decide(run, "Ada")], [decide(run, "Ada", "--at", at)]), most=0)


def an_edit_before(run: str, at: str) -> Race:
    return Race(edited(run, "Bob"), ([decide(run, "Ada")], [decide(run, "Ada", "--at", at)]), most=0)


def decided_before(run: str, at: str) -> Race:
    before = [decide(run, "Bob")]
    sides = ([decide(run, "Ada")], [decide(run, "Ada", "--at", at)], [decide(run, "Bob")])
    return Race(before, sides, most=1, fewest=1)


def own_words_before(run: str, at: str) -> Race:
    before = [remark(run, "Ada"), *edited(run, "Ada")]
    return Race(before, ([decide(run, "Ada", "--at", at)], [remark(run, "Ada")]), most=1, fewest=1)


def files_of_answers(run: str, at: str) -> Race:
    return Race([], ([["resume", run, "--answers", "answers.yaml", "--by", "Ada"]],) * 2, most=3, fewest=1)


def a_file_and_a_script(run: str, at: str) -> Race:
    sides = ([["resume", run, "--answers", "answers.yaml", "--by", "Bob"]], [decide(run, "Ada"), remark(run, "Ada")])
    return Race([], sides, most=3, fewest=1)


def whatever_is_open(run: str, at: str) -> Race:
    sides = ([decide(run, "Ada", "--latest")], [decide(run, "Bob", "--latest", option="Stop")])
    return Race([], sides, most=2, fewest=1)


RACES: tuple[Callable[[str, str], Race], ...] = (
    two_people,
    the_same_line,
    the_same_line_with_its_version,
    a_script_run_twice,
    a_remark_meanwhile,
    an_edit_meanwhile,
    a_remark_before,
    an_edit_before,
    decided_before,
    own_words_before,
    files_of_answers,
    a_file_and_a_script,
    whatever_is_open,
)


def judge(ground: Ground, run: str, named: str) -> int:
    """That every decision on record is rightly there, by the log and by what was shown; how many there are."""
    log = SqliteLog(ground.home / "reconvene.db")
    events = [event for _, event in log.read(run)]
    log.close()
    shown = showings(ground.home).of(run)
    states, state = list[RunState](), EMPTY
    for event in events:
        state = evolve(state, event)
        states.append(state)
    decisions = Counter[str]()
    for at, event in enumerate(events):
        if not isinstance(event, e.DecisionRecorded):
            continue
        decisions[event.checkpoint] += 1
        if event.source:
            continue
        seen = {one.version for one in shown if one.to.name == event.by and not one.after_decide} | {named}
        assert event.digest in seen, "a decision on what nobody showed them"
        same = [number for number in range(at) if current_digest(states[number]) == event.digest]
        opened = states[same[-1]].world.open
        assert opened is not None
        assert opened.id == event.checkpoint
        for between in events[same[-1] + 1 : at]:
            assert not isinstance(between, e.CheckpointOpened | e.DecisionRecorded)
            if isinstance(between, e.RemarkAdded | e.FilesEdited | e.DraftSaved):
                assert between.by in (event.by, ENGINE), "a decision on what somebody else changed"
    assert set(decisions.values()) <= {1}, "a checkpoint was decided twice"
    return decisions.total()


@pytest.mark.parametrize("races", [5, pytest.param(440, marks=pytest.mark.torture)])
def test_scripts_and_files_decide_what_was_shown_and_nothing_twice(races: int, ground: Ground) -> None:
    chance = random.Random(os.environ.get("SEED", "1"))
    for number in range(races):
        kind = RACES[number] if number < len(RACES) else chance.choice(RACES)
        run = ground.parked()
        race = kind(run, ground.version(run)[:6])
        ground.at_once(race.before)
        sides = ground.at_once(*race.sides)
        made = judge(ground, run, ground.version(run))
        told = f"{kind.__name__}: {made} decisions; {sides}"
        assert race.fewest <= made <= race.most, told
        codes = {code for side in sides for code, *_ in side}
        assert codes <= {0, 2, 3, 64}, told


@pytest.mark.parametrize("races", [3, pytest.param(60, marks=pytest.mark.torture)])
def test_a_terminal_decides_what_is_on_its_screen(races: int, ground: Ground, terminal: Terminal) -> None:
    """Somebody else says something, or decides, before or while the person presses Enter."""
    chance = random.Random(os.environ.get("SEED", "1"))
    for number in range(races):
        run = ground.parked()
        child = terminal("resume", run, "--by", "Ada")
        child.expect("Use arrow keys")
        other = decide(run, "Bob", "--no-drive") if number % 3 == 2 else remark(run, "Bob")
        first = chance.random() < 0.7 or number == 0
        if first:
            ground.at_once([other])
        child.send(ENTER)
        if not first:
            ground.at_once([other])
        if first:
            child.expect(r"Bob \[claimed by \S+\] decided" if other[0] == "decide" else "Bob has something to say")
        child.expect("Use arrow keys")
        child.sendcontrol("c")
        assert ending(child) == 3
        made = judge(ground, run, "")
        assert made == (other[0] == "decide") if first else made <= 1
