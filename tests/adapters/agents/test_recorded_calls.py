"""Recorded agents with tools: the calls are really made, their results count, and one may wait for a person."""

from __future__ import annotations

import asyncio
from pathlib import Path

from reconvene.app.engine import Engine
from reconvene.app.views.tool_calls import Call, calls
from reconvene.core.facts.commands import AnswerCheckpoint, RemarkIn
from reconvene.core.facts.events import AttemptEnded, ModelTurned
from reconvene.core.facts.state import RunState
from reconvene.wire.workflow_file import load_workflow
from reconvene.wiring import open_engine

FLOW = """
name: w
agents:
  clerk:
    recorded: team
    tools: [files, shell: {ask: always}]
    retries: 1
    gate: {if: "/did not count/.test(output.text)"}
phases:
  - {id: count, agents: [clerk], output: counted}
"""
TEAM = """
facts: {lines: {find: '(\\d+) list', in: results.count, as: number, default: 0}}
entries:
  - attempt: 1
    calls: [{write_file: {path: list.txt, text: "one\\n"}}]
    says: "I did not count."
  - calls:
      - - {write_file: {path: list.txt, text: "one\\ntwo\\nthree\\n"}}
        - {write_file: {path: ../out.txt, text: no}}
        - {no_such_tool: {}, as: none}
      - {run_command: {command: "wc -l list.txt"}, as: count}
      - {read_file: {path: list.txt}, as: again}
    says: "{{ facts.lines | int }} lines, {{ results.again | length > 10 }}; {{ results.none }} {{ results.count }}"
"""


def started(folder: Path) -> tuple[Engine, str]:
    (folder / "recorded").mkdir()
    (folder / "recorded" / "team.yaml").write_text(TEAM, encoding="utf-8")
    (folder / "w.yaml").write_text(FLOW, encoding="utf-8")
    engine = open_engine(folder / "home")
    return engine, engine.start(load_workflow(folder / "w.yaml"), by="ann")


def drive(engine: Engine, run: str) -> RunState:
    return asyncio.run(engine.drive(run))


def made(engine: Engine, run: str) -> list[Call]:
    return calls((event for _, event in engine.log.read(run)), engine.log.artefact)


def decide(home: Path, run: str, option: str, *said: str) -> tuple[Engine, RunState]:
    """As another process does."""
    engine = open_engine(home)
    engine.submit(run, AnswerCheckpoint("", option, remarks=tuple(map(RemarkIn, said)), by="bob"))
    return engine, drive(engine, run)


def output(engine: Engine, run: str) -> str:
    ended = [event for _, event in engine.log.read(run) if isinstance(event, AttemptEnded)]
    assert ended[-1].recorded
    assert ended[-1].output is not None
    return engine.log.artefact(ended[-1].output.digest).decode()


def test_calls_are_made_results_are_seen_and_one_waits_for_a_person(tmp_path: Path) -> None:
    engine, run = started(tmp_path)
    state = drive(engine, run)
    assert state.world.open is not None
    assert "wc -l list.txt" in state.world.open.prompt
    assert [(one.tool, one.state, one.recorded) for one in made(engine, run)] == [
        ("write_file", "done", True),  # the first attempt, which the gate sends back
        ("write_file", "done", True),
        ("write_file", "failed", True),
        ("no_such_tool", "failed", True),
        ("run_command", "waits", True),
    ]
    assert not (tmp_path / "out.txt").exists()
    engine, state = decide(tmp_path / "home", run, "Approve", "go ahead")
    assert state.status == "completed"
    said = output(engine, run)
    assert said.startswith("3 lines, true; There is no tool 'no_such_tool'")
    assert "go ahead" in said
    assert (Path(state.workspace) / "list.txt").read_text() == "one\ntwo\nthree\n"
    turns = [event for _, event in engine.log.read(run) if isinstance(event, ModelTurned)]
    assert {turn.usage.model for turn in turns} == {"recorded"}
    assert [turn.attempt for turn in turns] == [1, 2, 2, 2]


def test_a_call_that_is_refused_is_not_made_and_the_recording_goes_on(tmp_path: Path) -> None:
    engine, run = started(tmp_path)
    drive(engine, run)
    engine, _ = decide(tmp_path / "home", run, "Refuse", "no commands here")
    assert "A person refused this call: no commands here" in output(engine, run)


def test_a_recording_that_is_written_wrongly_says_so(tmp_path: Path) -> None:
    for calls_, told in (("{a: 1}", "a list of turns"), ("[{a: {}, b: {}}]", "one tool and its arguments")):
        folder = tmp_path / told[:3].strip()
        folder.mkdir()
        engine, run = started(folder)
        (folder / "recorded" / "team.yaml").write_text(f"entries: [{{calls: {calls_}, says: x}}]", encoding="utf-8")
        run = engine.start(load_workflow(folder / "w.yaml"), by="ann")
        state = drive(engine, run)
        assert state.world.open is not None
        assert told in state.world.open.prompt
