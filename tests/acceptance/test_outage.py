"""An outage in the middle of each packaged workflow: the same files, ledger, decisions, calls and rounds as without.

What the recorded agents say goes over a real connection: each is asked as a model, at a server on loopback that answers
with what the recording has. Once with an engine, by a person who takes what leads on; once at the command line, with
the decisions that come with the workflow.
"""

from __future__ import annotations

import asyncio
import json
import re
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest
from msgspec.structs import replace
from tests.golden.driving import answered

from commands import Done, call
from exploring import part
from reconvene.adapters.agents import Agents, recorded
from reconvene.adapters.agents.asking import whole
from reconvene.app.backoff import USUAL, Patience
from reconvene.app.engine import Engine
from reconvene.core.definition.workflow import Agent
from reconvene.core.facts.events import AttemptEnded, ProviderFailed
from reconvene.core.facts.ids import digest_of
from reconvene.core.facts.state import RunState
from reconvene.doors.cli.playing import filled_in
from reconvene.ports import Answer, Assignment, Listener
from reconvene.sandboxing import sandbox_for
from reconvene.testing.openai_server import Calls, Fail, OpenAIServer, Reply, Say, Seen, Wire
from reconvene.tool_ports import ToolInfo
from reconvene.tool_wiring import LateToolboxes
from reconvene.wire.packaged import packaged
from reconvene.wire.recordings import recording
from reconvene.wire.yaml_reader import plain, read_yaml
from reconvene.wiring import open_engine

AT_FULL_SPEED = {"RECONVENE_DEMO_SPEED": "0"}
QUICK = Patience(0.01, 0.05, 60.0)
AT_ONCE = Patience(0.0, 0.0, 0.0)
BROKEN: tuple[Reply, ...] = (Fail(503), Wire(status=0, end="reset"), Fail(429), Wire(status=0, end="close"), Fail(500))
ALL = sorted(packaged())
LARGE = ("brainstorm", "job", "scenario-planning", "spec-refinement")
_SMALL = [name if name not in LARGE else pytest.param(name, marks=pytest.mark.torture) for name in ALL]


class OverTheWire:
    """Asks the server for what a recorded agent says, as any model is asked. `made`: as `Agents` is."""

    def __init__(self, url: str, *made: object) -> None:
        self._agents = Agents(*made)  # type: ignore[arg-type]
        self._url = url
        self.replies: dict[str, Callable[[Seen], Reply]] = {}  # by the name of the model

    async def run(self, assignment: Assignment, listener: Listener) -> Answer:
        if assignment.agent.kind != "recorded":
            return await self._agents.run(assignment, listener)
        name = digest_of(f"{assignment.task}#{assignment.attempt}".encode())[:12]
        agent = replace(assignment.agent, kind="model", model=f"openai:{name}", options={"base_url": self._url})
        asked = assignment._replace(agent=agent)
        if assignment.agent.tools and assignment.turns is not None:
            self.replies[name] = Script(assignment, assignment.turns.so_far().before)
            return await self._agents.run(asked, listener)
        answer = await self._agents.run(assignment, listener)
        if assignment.folder:
            return answer  # it works in a project
        said = Say(_as_reply(assignment, answer))
        self.replies[name] = lambda seen: said
        given = await self._agents.run(asked, listener)
        return given._replace(value=answer.value, has_value=answer.has_value)

    async def tools(self, assignment: Assignment) -> tuple[ToolInfo, ...]:
        return await self._agents.tools(assignment)

    def reply(self, seen: Seen) -> Reply:
        return self.replies[str(seen.body["model"])](seen)

    async def window(self, agent: Agent) -> int:
        return 0

    async def close(self) -> None:
        await self._agents.close()


class Script:
    """What a model says that makes the calls of a recorded agent, and answers as it does. `before`: earlier turns."""

    def __init__(self, assignment: Assignment, before: int) -> None:
        self._work = whole(assignment)._replace(writes=())
        self._played = recorded.found(self._work)
        turns = self._played.entry.get("calls") or []
        assert isinstance(turns, list)
        self._turns: list[list[dict[str, object]]] = [one if isinstance(one, list) else [one] for one in turns]
        self._before = before

    def __call__(self, seen: Seen) -> Reply:
        messages = seen.body["messages"]
        assert isinstance(messages, list)
        turn = sum(message["role"] == "assistant" for message in messages) - self._before
        made = [call for calls in self._turns[:turn] for call in calls]
        told = [str(message["content"]) for message in messages if message["role"] == "tool"]
        results = {str(call["as"]): text for call, text in zip(made, told[-len(made) :]) if "as" in call}
        if turn < len(self._turns):
            return Calls(tuple(self._called(call, results) for call in self._turns[turn]))
        answer = asyncio.run(recorded.answered(self._played, self._work, lambda _: None, AT_FULL_SPEED, results))
        return Say(_as_reply(self._work, answer))

    def _called(self, call: dict[str, object], results: dict[str, str]) -> tuple[str, str]:
        (tool,) = (key for key in call if key != "as")
        return tool, json.dumps(recorded.arguments(self._played, self._work, results, call[tool]))


def _as_reply(assignment: Assignment, answer: Answer) -> str:
    if assignment.schema is not None and answer.has_value:
        return json.dumps(answer.value)
    if len(assignment.writes) == 1 and assignment.writes[0] in answer.files:
        return answer.files[assignment.writes[0]].decode()
    blocks = [f'<file path="{path}">\n{data.decode()}\n</file>' for path, data in answer.files.items()]
    return "\n\n".join([answer.text or "done", *blocks])


class Outage:
    """Begins with a request and ends after so many further ones, or so many seconds."""

    def __init__(self, first: int = 0, requests: int = 0, seconds: float = 0.0) -> None:
        self._first, self._requests, self._seconds = first, requests, seconds
        self._lock = threading.Lock()
        self._began = 0.0
        self.seen = 0
        self.failed = 0

    def broken(self) -> Reply | None:
        with self._lock:
            self.seen += 1
            if not self._first or self.seen < self._first:
                return None
            self._began = self._began or time.monotonic()
            over = self.failed >= self._requests and time.monotonic() - self._began >= self._seconds
            if over:
                return None
            self.failed += 1
            return BROKEN[self.failed % len(BROKEN)]


class Played(NamedTuple):
    """What is compared, and how it came about."""

    status: str
    outcome: str
    files: dict[str, str]
    outputs: dict[str, str]
    decisions: list[tuple[str, str, int]]
    rounds: dict[str, int]
    calls: dict[str, int]
    attempts: list[tuple[str, int, str]]


# times, durations, and commits, which depend on the time
_TIME = re.compile(
    r"\b[0-9a-f]{7,40}\b|\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d)?(?:\.\d+)?Z?)?|\b\d+(?:\.\d+)? ?(?:s|seconds|min)\b"
)


def _masked(data: bytes, *places: Path) -> str:
    text = data.decode(errors="replace")
    for place in places:
        text = text.replace(str(place), "PLACE")
    return re.sub(r'("(?:seconds|duration)[^"]*": )[\d.]+', r"\1N", _TIME.sub("TIME", text))


def play(folder: Path, name: str, outage: Outage, patience: Patience) -> tuple[Played, list[ProviderFailed], int]:
    folder.mkdir()
    played = recording(packaged()[name], {})
    home = folder / "home"
    inputs = filled_in(str(home), played, {})
    runner: OverTheWire

    def reply(seen: Seen) -> Reply:
        return outage.broken() or runner.reply(seen)

    with OpenAIServer(reply) as server:
        environ = {"OPENAI_API_KEY": "test", "PATH": "/usr/bin:/bin", **AT_FULL_SPEED}
        sandbox = sandbox_for(lambda: [str(home)], environ, str(home))
        toolboxes = LateToolboxes(sandbox, environ, lambda: [str(home)])
        runner = OverTheWire(server.url, sandbox, environ, None, "", toolboxes)
        engine = open_engine(home, runner=runner)
        engine._patience = patience
        run = engine.start(played.workflow, inputs, settings=played.case.settings, by="ann")
        parked = 0
        with asyncio.Runner() as loop:
            state = loop.run(engine.drive(run))
            while not state.ended:
                if state.awaits is not None:
                    parked += 1
                    state = loop.run(engine.drive(run, at_once=True))
                else:
                    engine.submit(run, answered(state))
                    state = loop.run(engine.drive(run))
            faults = [event for _, event in engine.log.read(run) if isinstance(event, ProviderFailed)]
            result = _played(engine, state, folder)
            loop.run(engine.close())
    return result, faults, parked


def _played(engine: Engine, state: RunState, folder: Path) -> Played:
    read = engine.log.artefact
    ends = [event for _, event in engine.log.read(state.run) if isinstance(event, AttemptEnded)]
    attempts = sorted((event.task, event.attempt, event.verdict) for event in ends)
    files = {path: _masked(read(version.digest), folder) for path, version in state.world.files.items()}
    record = state.record
    decided = [(one.phase, one.option, one.serial) for one in (record.decisions[n] for n in sorted(record.decisions))]
    outputs = {key: _masked(read(value.output.digest), folder) for key, value in state.world.outputs.items()}
    rounds = dict(state.world.rounds)
    return Played(state.status, state.outcome, files, outputs, decided, rounds, dict(record.calls), attempts)


def _same_with_an_outage(tmp_path: Path, name: str, patience: Patience, seconds: float = 0.0) -> int:
    whole = Outage()
    without, no_faults, _ = play(tmp_path / "without", name, whole, patience)
    assert no_faults == []
    outage = Outage(max(2, whole.seen // 2), 7, seconds)
    found, faults, parked = play(tmp_path / "with", name, outage, patience)
    assert len(faults) == outage.failed >= 7
    assert found == without
    return parked


@pytest.mark.parametrize("name", part(ALL, 4))
def test_an_outage_in_which_it_parks_changes_nothing(tmp_path: Path, name: str):
    assert _same_with_an_outage(tmp_path, name, AT_ONCE) > 0


@pytest.mark.parametrize("name", _SMALL)
def test_an_outage_that_it_waits_for_changes_nothing(tmp_path: Path, name: str):
    assert _same_with_an_outage(tmp_path, name, QUICK) == 0


@pytest.mark.torture
@pytest.mark.parametrize("name", ALL)
def test_twenty_seconds_without_a_provider_change_nothing(tmp_path: Path, name: str):
    assert _same_with_an_outage(tmp_path, name, USUAL, seconds=20.0) == 0


# --- at the command line, with decisions from a file ---


class Typed(NamedTuple):
    """What a person finds in the end."""

    code: int
    shown: list[str]
    ledger: list[str]
    files: dict[str, str]
    decisions: list[object]


class Line:
    """A person who types `run` once, and `resume` as often as the provider makes it necessary."""

    def __init__(self, folder: Path, name: str, words: list[str], outage: Outage) -> None:
        folder.mkdir()
        self._folder, self._name, self._words, self._outage = folder, name, words, outage
        file = recording(packaged()[name], {}).case.file
        answers = [] if words else plain(read_yaml(file.read_text(), file.name))
        assert isinstance(answers, list)
        self._answers: list[object] = answers
        self._runner: OverTheWire | None = None
        self.parked = 0

    def play(self, monkeypatch: pytest.MonkeyPatch) -> Typed:
        with OpenAIServer(self._reply) as server, monkeypatch.context() as patched:

            def agents(*made: object) -> OverTheWire:
                self._runner = OverTheWire(server.url, *made)
                return self._runner

            patched.setattr("reconvene.adapters.agents.Agents", agents)
            done = self._answering("run", self._name, "--recorded", *self._words, left=self._answers)
            while done.object.get("reason") == "provider":
                run = str(done.object["run"])
                assert (done.code, done.object["status"], done.object["checkpoint"]) == (3, "waiting", None)
                self.parked += 1
                # the decisions that are on record are those that were used up
                taken = len(self._decisions(run)) + self._rulings(run)
                done = self._answering("resume", run, "--now", left=self._answers[taken:])
        return self._found(done)

    def _reply(self, seen: Seen) -> Reply:
        assert self._runner is not None
        return self._outage.broken() or self._runner.reply(seen)

    def _answering(self, *words: str, left: list[object]) -> Done:
        (self._folder / "left.yaml").write_text(json.dumps(left))
        return self._typed(*words, "--answers", "left.yaml")

    def _typed(self, *words: str) -> Done:
        surroundings = {"RECONVENE_PROVIDER_WAIT": "0", "OPENAI_API_KEY": "test", **AT_FULL_SPEED}
        return call(*words, "--json", cwd=self._folder, RECONVENE_HOME=None, **surroundings)

    def _decisions(self, run: str) -> list[dict[str, object]]:
        found = self._typed("show", run).object["decisions"]
        assert isinstance(found, list)
        return found

    def _rulings(self, run: str) -> int:
        """How often a person was asked about calls of tools; here about one call at a time."""
        calls = self._typed("calls", run).object["calls"]
        assert isinstance(calls, list)
        return sum(bool(one["ruling"]) for one in calls)

    def _found(self, done: Done) -> Typed:
        run = str(done.object["run"])
        shown = self._typed("show", run).object
        ledger = json.dumps(self._typed("ledger", run).json, indent=1)
        folder = self._folder / ".reconvene" / "runs" / run  # of what is recorded, whatever the workflow says
        files = {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*") if file.is_file()}
        kept = _without(shown, _ITS_OWN)
        return Typed(
            done.code,
            _masked(json.dumps(kept, sort_keys=True, indent=1).replace("\\n", "\n").encode(), self._folder).split("\n"),
            sorted(_masked(ledger.encode(), self._folder).split("\n")),  # who answers first in a step is chance
            {path: _masked(data, self._folder) for path, data in files.items()},
            [(one["phase"], one["option"]) for one in self._decisions(run)],
        )


_ITS_OWN = {"failures", "takes"}  # those of the provider are told; what an option takes is measured on this machine


def _without(value: object, names: set[str]) -> object:
    if isinstance(value, list):
        return [_without(one, names) for one in value]
    if isinstance(value, dict):
        return {key: _without(one, names) for key, one in value.items() if key not in names}
    return value


@pytest.mark.parametrize(
    ("name", "words"),
    [
        *part([(name, []) for name in ALL if name not in LARGE], 3),
        *(pytest.param(name, [], marks=pytest.mark.torture) for name in LARGE),
        ("spec-refinement", ["--auto"]),
    ],
)
def test_a_run_that_parked_in_an_outage_takes_the_same_decisions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, words: list[str]
):
    whole = Outage()
    first = Line(tmp_path / "well", name, words, whole)
    without = first.play(monkeypatch)
    second = Line(tmp_path / "down", name, words, Outage(max(2, whole.seen // 2), 7))
    found = second.play(monkeypatch)
    assert (first.parked, second.parked > 0) == (0, True)
    assert found == without
