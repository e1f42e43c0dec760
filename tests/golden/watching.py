"""Sees what is rendered while golden homes go on, and while journeys are played anew."""

from __future__ import annotations

import asyncio
import json
import os
import tempfile
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import cast

from reconvene.app import as_sent
from reconvene.app.engine import Engine
from reconvene.core.facts.events import AttemptEnded
from reconvene.core.facts.state import RunState

from .archive import Home, lay_out, look
from .driving import end
from .homes import Golden
from .journey import Journey, shown
from .journeys import JOURNEYS
from .kinds import kind_of
from .place import HOME, PLACE, Still, Ticks, moved, open_golden
from .rendered import Rendered

YEARS_LATER = 1000 * 24 * 60  # minutes after the first home was kept
_HOUR = 60
WHOLE_WAY = 40  # decisions
COMMANDS = ("show", "ledger", "stats", "gaps", "rounds", "files", "diff")  # that read one run
LISTS = ("runs", "inbox", "queue")


def runs_in(golden: Golden) -> Mapping[str, Mapping[str, object]]:
    """Run → how it stood, in the words of the release that made the home."""
    return cast(Mapping[str, Mapping[str, object]], golden.home.expected["runs"])


def decisions(golden: Golden, way: str) -> int:
    return WHOLE_WAY if way == "through" or golden.stop == "new" else 1


def ways(golden: Golden) -> tuple[str, ...]:
    """The ways this home goes; a new one goes the whole way at once."""
    return ("told", "on") if golden.stop == "new" else ("told", "on", "through")


def seen(stop: str) -> bool:
    """Whether a journey looks at this stop: a crashed one would not be left as it lies."""
    return kind_of(stop) != "crashed"


def heads(engine: Engine) -> dict[str, int]:
    """Run → how long its log is."""
    return {row.run: engine.log.head(row.run) for row in engine.log.index()}


class Watch:
    """What the runs of a home render from now on.

    `shown/1` is what people are shown at the first stop, and so on; the last is how they find the run in the end.
    """

    def __init__(self, engine: Engine, folder: Path, clock: Ticks, seen: Mapping[str, int]) -> None:
        """`seen`: run → how far its log is known."""
        self.found: Rendered = {}
        self._engine, self._folder, self._clock, self._seen = engine, folder, clock, seen
        self._looks: Counter[str] = Counter()

    def end(self, run: str, most: int) -> RunState:
        state = end(self._engine, run, most, self._at_stop)
        self.look(run)
        return state

    def _at_stop(self, run: str) -> None:
        """Here a person looks, and an hour goes by."""
        self._shown(run)
        self._clock.minutes += _HOUR

    def look(self, run: str) -> None:
        """The files as they lie now, the prompts since, and what is shown."""
        engine, state = self._engine, self._engine.load(run)
        root = Path(moved(state.workspace, self._folder))
        for path in sorted(root.rglob("*")):
            if path.is_file():
                self._keep(f"{run}/files/{path.relative_to(root)}", path.read_bytes())
        for _, event in engine.log.read(run, self._seen.get(run, 0)):
            if isinstance(event, AttemptEnded) and (sent := as_sent.whole(event, engine.log.artefact)):
                self._keep(f"{run}/prompts/{event.task}#{event.attempt}", sent)
        self._shown(run)

    def _shown(self, run: str) -> None:
        self._looks[run] += 1
        text = json.dumps(shown(self._engine, run), sort_keys=True, ensure_ascii=False, indent=1)
        self._keep(f"{run}/shown/{self._looks[run]}", text.encode())

    def _keep(self, name: str, data: bytes) -> None:
        self.found[name] = data.decode("utf-8", "backslashreplace").replace(str(self._folder), PLACE)


def driven(golden: Golden, folder: Path, way: str) -> Rendered:
    """What the home renders when it goes on this way, or is only told of; it is laid out in the folder for it."""
    if way == "told":
        return told(golden, folder)
    lay_out(golden.home, folder)
    clock = Still(YEARS_LATER)
    engine = open_golden(folder, clock)
    watch = Watch(engine, folder, clock, heads(engine))
    for run in runs_in(golden):
        watch.end(run, decisions(golden, way))
    asyncio.run(engine.close())
    return watch.found


class _Replay(Journey):
    """A journey that keeps what is rendered at each stop, and not what the stop is known by."""

    def __init__(self, name: str, folder: Path) -> None:
        super().__init__(name, "", folder, Still)
        self.found: dict[str, Rendered] = {}
        self._seen: dict[str, int] = {}

    def afresh(self) -> Journey:
        self._seen = {}
        return super().afresh()

    def back(self, stop: str) -> Journey:
        super().back(stop)
        self._seen = heads(self.engine)
        return self

    def decide(self, option: str, *said: str, drive: bool = True, **fields: object) -> Journey:
        self._clock.minutes += _HOUR
        return super().decide(option, *said, drive=drive, **fields)

    def keep(self, stop: str, *, history: bool = True) -> Journey:
        self.homes[stop] = Home(look(self._folder), {"run": self.run})
        self._ticks[stop] = self._clock.minutes
        if seen(stop):
            watch = Watch(self.engine, self._folder, self._clock, self._seen)
            for run in heads(self.engine):
                watch.look(run)
            self.found[f"anew/{stop}"], self._seen = watch.found, heads(self.engine)
        return self


def played(workflow: str) -> dict[str, Rendered]:
    """`anew/stop` → what the packaged workflow of today renders on the way there.

    The folder's name always has the same length: files that name the person's project then have the same size.
    """
    with tempfile.TemporaryDirectory(dir=os.path.dirname(PLACE), prefix=os.path.basename(PLACE)) as folder:
        go = _Replay(workflow, Path(folder))
        try:
            JOURNEYS[workflow](go)
        finally:
            go.close()
    return go.found


def told(golden: Golden, folder: Path) -> Rendered:
    """What the commands that read a home give as JSON."""
    from commands import call

    lay_out(golden.home, folder)
    run = str(golden.home.expected["run"])
    found: Rendered = {}
    for words in (*((name,) for name in LISTS), *((name, run) for name in COMMANDS)):
        code, *told = call(*words, "--json", cwd=folder, RECONVENE_HOME=str(folder / HOME))
        out, err = (text.replace(str(folder), PLACE) for text in told)  # a home is where it lies now
        found[f"told/{words[0]}"] = json.dumps({"code": code, "out": out and json.loads(out), "err": err}, indent=1)
    return found
