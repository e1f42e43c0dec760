"""A run on its way, and the person in front of it; at each stop the whole folder can be kept as a golden home."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import sqlite3
import subprocess
import tempfile
from collections.abc import Callable, Mapping
from contextlib import closing
from functools import cache
from pathlib import Path

import yaml
from msgspec import to_builtins
from msgspec.structs import replace

from reconvene.app import queries
from reconvene.app.engine import Engine
from reconvene.app.views.encoding import plain
from reconvene.core.definition.workflow import Workflow
from reconvene.core.facts import commands as c
from reconvene.core.facts.events import CheckpointOpened
from reconvene.core.facts.state import RunState
from reconvene.errors import AgentError
from reconvene.kits.reading.feedback import parse_remark
from reconvene.ports import Answer, Assignment, Listener
from reconvene.wire.packaged import packaged
from reconvene.wire.workflow_file import load_workflow

from .archive import Home, lay_out, look
from .canonical import canonical
from .kinds import check
from .place import PLACE, OnlyRecorded, Ticks, environment, moved, open_golden

PERSON = "ann"
_PROJECT = "pantry"


class Troubled(OnlyRecorded):
    """Recorded agents, but what `meets` does comes first: it may raise, or end the process."""

    def __init__(self, folder: Path, meets: Callable[[Assignment], None]) -> None:
        super().__init__(folder)
        self._meets = meets

    async def run(self, assignment: Assignment, listener: Listener) -> Answer:
        self._meets(assignment)
        return await super().run(assignment, listener)


class Journey:
    """Works in the folder, or in PLACE, which nobody else may use meanwhile. `homes`: what was kept."""

    def __init__(self, name: str, release: str, folder: Path | None = None, clock: type[Ticks] = Ticks) -> None:
        self.name = name
        self.homes: dict[str, Home] = {}
        self.run = ""
        self._release = release
        self._new_clock = clock
        self._clock = clock()
        self._ticks: dict[str, int] = {}  # stop → the time at which it was kept
        self._engine: Engine | None = None
        self._folder = folder or Path(PLACE)

    # --- beginning ---

    def afresh(self) -> Journey:
        """An empty folder, as on the first day."""
        self.close()
        shutil.rmtree(self._folder)
        self._folder.mkdir(mode=0o700)
        self._clock = self._new_clock()
        return self

    def start(
        self,
        inputs: Mapping[str, object] | None = None,
        settings: Mapping[str, object] | None = None,
        *,
        recorded: bool = True,
        change: Callable[[Workflow], Workflow] = lambda workflow: workflow,
    ) -> Journey:
        """`recorded`: answered from the recording that comes with the workflow. False: as packaged, for models."""
        workflow = _loaded(self.name)
        if recorded:
            workflow = with_recording(workflow)
        given = {name: str(self._project()) for name, spec in workflow.inputs.items() if spec.type == "project"}
        run = self.engine.start(
            change(workflow), {**given, **(inputs or {})}, settings=settings, by=PERSON, door="golden"
        )
        self.run = run
        return self

    def material(self) -> dict[str, object]:
        """The documents of the recording, as they are read, and its database: a file in this folder."""
        from reconvene import materials

        recorded = folder_of(self.name) / "recorded"
        database = self._folder / "shop.db"
        if not database.exists():
            with closing(sqlite3.connect(database)) as made:
                made.executescript((recorded / "sources" / "shop.sql").read_text(encoding="utf-8"))
        documents = materials.documents(str(recorded / "documents"), environment(self._folder))
        source = {"name": "shop.db", "kind": "sqlite", "address": f"{PLACE}/shop.db"}
        return {"documents": to_builtins(documents), "sources": [source]}

    def packaged_inputs(self, *path: str) -> dict[str, object]:
        given = _yaml(self.name, *path, "inputs.yaml")
        return given if isinstance(given, dict) else {}

    def _project(self) -> Path:
        """The sample project of the recording, as a repository with one commit; the same bytes every time."""
        root = self._folder / _PROJECT
        files = _yaml(self.name, "recorded", "project.yaml")
        if root.exists() or not isinstance(files, dict):
            return root
        root.mkdir()
        for name, text in files.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text, encoding="utf-8")
        when = "2026-03-01T00:00:00Z"
        people = {f"GIT_{role}_{what}": value for role in ("AUTHOR", "COMMITTER") for what, value in _SIGNED.items()}
        environ = {**environment(self._folder), **people, "GIT_AUTHOR_DATE": when, "GIT_COMMITTER_DATE": when}
        environ |= {"GIT_CONFIG_NOSYSTEM": "1"}
        for words in (["init", "-q", "-b", "main", "--template="], ["add", "-A"], ["commit", "-q", "-m", "A pantry"]):
            subprocess.run(["git", *words], cwd=root, env=environ, check=True)
        return root

    # --- going on ---

    @property
    def engine(self) -> Engine:
        if self._engine is None:
            self._engine = open_golden(self._folder, self._clock)
        return self._engine

    def close(self) -> None:
        if self._engine is not None:
            asyncio.run(self._engine.close())
            self._engine = None

    @property
    def state(self) -> RunState:
        return self.engine.load(self.run)

    @property
    def point(self) -> CheckpointOpened:
        state = self.state
        assert state.world.open is not None, f"{self.run} is {state.status} {state.outcome}"
        return state.world.open

    def drive(self) -> Journey:
        self.engine.drive_sync(self.run)
        return self

    def decide(self, option: str, *said: str, drive: bool = True, **fields: object) -> Journey:
        remarks = tuple(parse_remark(text) for text in said)
        self.engine.submit(self.run, c.AnswerCheckpoint(self.point.id, option, fields, remarks, by=PERSON))
        return self.drive() if drive else self

    def unfinished(self, name: str) -> Journey:
        """A file in the person's project that they have not committed."""
        (self._folder / _PROJECT / name).write_text("What I am at.\n", encoding="utf-8")
        return self

    def say(self, text: str) -> Journey:
        self.engine.submit(self.run, c.AddRemark(parse_remark(text), by=PERSON))
        return self

    def draft(self, **fields: object) -> Journey:
        self.engine.submit(self.run, c.SaveDraft(self.point.id, fields, by=PERSON))
        return self

    def do(self, command: c.Command) -> Journey:
        self.engine.submit(self.run, command)
        return self

    def turn_to(self, piece: str) -> Journey:
        """On with the run that was started for this piece."""
        parent = self.run.partition(".")[0]
        self.run = self.engine.load(parent).record.children[piece].run
        return self

    def fork(self) -> Journey:
        self.run = self.engine.fork(self.run, by=PERSON)
        return self

    def edit(self, path: str, text: str) -> Journey:
        """What a person does in an editor; nobody has noticed it yet."""
        file = Path(moved(self.state.workspace, self._folder)) / path
        file.write_text(text, encoding="utf-8")
        return self

    # --- trouble ---

    def decide_failing(self, option: str, agent: str) -> Journey:
        return self.decide(option, drive=False).drive_failing(agent)

    def decide_pausing(self, option: str, agent: str) -> Journey:
        return self.decide(option, drive=False).drive_pausing(agent)

    def crash_after(self, option: str, agent: str, phase: str) -> Journey:
        return self.decide(option, drive=False).crash(agent, phase)

    def drive_failing(self, agent: str) -> Journey:
        """Drive, and every attempt of this agent fails."""

        def meets(assignment: Assignment) -> None:
            if assignment.agent.name == agent:
                raise AgentError("The provider does not answer.", retryable=False)

        return self._driven(meets)

    def drive_pausing(self, agent: str, *, now: bool = False) -> Journey:
        """Drive, and have the run pause when this agent is about to work."""

        def meets(assignment: Assignment) -> None:
            if assignment.agent.name == agent:
                engine.request_pause(self.run, now=now, by=PERSON, door="golden")

        self.close()
        engine = open_golden(self._folder, self._clock, Troubled(self._folder, meets))
        return self._to_stop(engine)

    def _driven(self, meets: Callable[[Assignment], None]) -> Journey:
        self.close()
        return self._to_stop(open_golden(self._folder, self._clock, Troubled(self._folder, meets)))

    def _to_stop(self, engine: Engine) -> Journey:
        engine.drive_sync(self.run)
        asyncio.run(engine.close())
        return self

    def crash(self, agent: str, phase: str, call: int = 1) -> Journey:
        """Drive in a process of its own, which is killed when this agent works in this phase for the nth time."""
        self.close()
        child = os.fork()
        if child == 0:
            self._die_driving(agent, phase, call)
        _, ended = os.waitpid(child, 0)
        assert os.WIFSIGNALED(ended), f"{self.name}: it was not killed, {agent} never worked in {phase}"
        assert os.WTERMSIG(ended) == signal.SIGKILL, ended
        self._clock.minutes += 24 * 60
        return self

    def _die_driving(self, agent: str, phase: str, call: int) -> None:
        calls = 0

        def meets(assignment: Assignment) -> None:
            nonlocal calls
            calls += assignment.agent.name == agent and assignment.phase == phase
            if calls == call:
                os.kill(os.getpid(), signal.SIGKILL)

        try:
            self._to_stop(open_golden(self._folder, self._clock, Troubled(self._folder, meets)))
        finally:
            os._exit(1)

    # --- keeping ---

    def keep(self, stop: str, *, history: bool = True) -> Journey:
        """The folder as it lies now: a golden home under this name."""
        assert stop not in self.homes, stop
        if self._engine is not None and history:
            self._engine.commit_history(self.run)
        self.close()
        files = look(self._folder)
        expected = read(files, self.run, self._release)
        check(stop, expected)
        self.homes[stop] = Home(files, expected)
        self._ticks[stop] = self._clock.minutes
        return self

    def back(self, stop: str) -> Journey:
        """As it was when this home was kept."""
        self.afresh()
        home = self.homes[stop]
        lay_out(home, self._folder)
        self.run = str(home.expected["run"])
        self._clock = self._new_clock(self._ticks[stop])
        return self


_SIGNED = {"NAME": "Ann", "EMAIL": "ann@example.com"}


def read(files: Mapping[str, tuple[int, bytes]], run: str, release: str) -> dict[str, object]:
    """What a home holds, as this code reads it, from a copy: the home itself must stay as it lies."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        lay_out(Home(files, {}), folder)
        engine = open_golden(folder, Ticks())
        try:
            runs = {row.run: stands(engine, row.run, release) for row in engine.log.index()}
        finally:
            asyncio.run(engine.close())
    return {"run": run, "runs": runs}


def stands(engine: Engine, run: str, release: str) -> dict[str, object]:
    """How a run stands: its folded state, its row in the lists of runs, and what people are shown of it."""
    row = engine.log.index_row(run)
    assert row is not None
    return {"state": canonical(engine.load(run), release), "row": row._asdict(), "shown": shown(engine, run)}


def shown(engine: Engine, run: str) -> object:
    """What people are shown of a run."""
    return plain(queries.show(engine, run))


def folder_of(name: str) -> Path:
    """Of a packaged workflow, or of the one that lies here."""
    known = packaged()
    return known[name].parent if name in known else Path(__file__).parent / name


@cache
def _loaded(name: str) -> Workflow:
    return load_workflow(folder_of(name))


def with_recording(workflow: Workflow) -> Workflow:
    """A workflow for models, answered from the recording that is packaged with it."""
    team = _yaml(workflow.name, "recorded", "team.yaml")
    if team is None or any(agent.kind == "recorded" for agent in workflow.agents.values()):
        return workflow
    agents = {
        name: agent if agent.kind == "survey" else replace(agent, kind="recorded", recorded="team", command_line="")
        for name, agent in workflow.agents.items()
    }
    return replace(workflow, agents=agents, recordings={"team": team})


def _yaml(name: str, *path: str) -> object:
    file = folder_of(name).joinpath(*path)
    return yaml.safe_load(file.read_text(encoding="utf-8")) if file.is_file() else None
