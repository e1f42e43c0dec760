"""Where people must act, or a run is over, a message is left for each destination, in the same append as the event."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from reconvene.app.engine import Engine
from reconvene.core.facts.commands import Abort, AnswerCheckpoint
from reconvene.errors import AgentError
from reconvene.message_ports import Notice, Queued, Routes
from reconvene.testing.scripted import Reply, ScriptedAgents
from reconvene.wire.workflow_file import parse_workflow
from reconvene.wiring import open_engine

ASKED = """
name: asked
agents: {a: {retries: 0}}
phases:
  - id: first
    agents: [a]
    output: said
    checkpoint:
      prompt: "{{ context.said }}"
      question: "Is it {{ context.said }}?"
      options: [{label: Continue}]
  - {id: second, agents: [a], checkpoint: {approval_required: true}}
"""
SPLIT = """
name: split
inputs: {description: {type: text, required: true}}
agents: {scout: {}, worker: {}}
phases:
  - id: triage
    when: "inputs.description === 'all of it'"
    agents: [scout]
    output: triage
    checkpoint:
      options: [{label: Split, start: {workflow: split, each: context.triage.pieces}, then: {end: split}}]
  - {id: work, agents: [worker]}
"""


def engine_of(home: Path, routes: Routes, **replies: Reply) -> Engine:
    engine = open_engine(home, runner=ScriptedAgents(replies, default="an output"))
    engine.log.routes = lambda: routes
    return engine


def driven(engine: Engine, text: str = ASKED, by: str = "ann", notify: tuple[str, ...] = (), **inputs: object) -> str:
    run = engine.start(parse_workflow(text), inputs, by=by, notify=notify)
    asyncio.run(engine.drive(run))
    return run


def told(engine: Engine) -> list[tuple[str, str, str]]:
    """To whom, what, of which run; in order."""
    rows = [one.message for one in reversed(engine.log.messages())]
    return [(one.to, one.notice.kind, one.notice.run) for one in rows]


def newest(engine: Engine) -> Notice:
    found: Queued = engine.log.messages(1)[0]
    return found.message.notice


def test_a_checkpoint_and_an_end_are_told_to_every_destination(tmp_path: Path) -> None:
    engine = engine_of(tmp_path, Routes(("chat", "mail")))
    run = driven(engine)
    assert told(engine) == [("chat", "waiting", run), ("mail", "waiting", run)]
    found = newest(engine)
    assert (found.asks, found.checkpoint, found.phase) == ("Is it an output?", "C1", "first")
    assert found.seq == engine.log.head(run)
    assert found.since == found.at
    engine.submit(run, AnswerCheckpoint("", "Continue"))
    asyncio.run(engine.drive(run))
    engine.submit(run, AnswerCheckpoint("", "Continue"))
    asyncio.run(engine.drive(run))
    assert [kind for to, kind, _ in told(engine) if to == "chat"] == ["waiting", "waiting", "ended"]
    assert newest(engine).asks == "completed"


def test_what_an_agent_wrote_is_one_line_without_signs_that_act_and_cut(tmp_path: Path) -> None:
    hostile = "\x1b]0;owned\x07fine\u202e\nsecond line " + "x" * 500_000
    engine = engine_of(tmp_path, Routes(("chat",)), a=hostile)
    driven(engine)
    asks = newest(engine).asks
    assert asks.startswith("Is it fine second line xxx")
    assert len(asks) <= 300
    assert "\x1b" not in asks
    assert "\u202e" not in asks


def test_trouble_that_only_a_person_can_settle_and_a_failure_are_told_as_such(tmp_path: Path) -> None:
    engine = engine_of(tmp_path, Routes(("chat",)), a=AgentError("it broke", retryable=False))
    run = driven(engine)
    assert told(engine) == [("chat", "attention", run)]
    engine.submit(run, AnswerCheckpoint("", "Stop the run"))
    asyncio.run(engine.drive(run))
    assert [kind for _, kind, _ in told(engine)][-1] in ("failed", "ended")


def test_a_run_that_somebody_aborts_has_ended(tmp_path: Path) -> None:
    engine = engine_of(tmp_path, Routes(("chat",)))
    run = driven(engine)
    engine.submit(run, Abort(by="ann"))
    assert told(engine)[-1] == ("chat", "ended", run)
    assert newest(engine).asks.startswith("aborted")


@pytest.mark.parametrize(
    ("routes", "receivers"),
    [
        (Routes(), []),
        (Routes(workflows={"asked": ("strategy",), "other": ("x",)}), ["strategy"]),
        (Routes(people={"ann": ("ann-mail",), "bob": ("bob-mail",)}), ["ann-mail"]),
        (Routes(("chat",), {"ann": ("chat",)}, {"asked": ("chat", "log")}), ["chat", "log"]),
        (Routes(("chat", "pager"), kinds={"pager": frozenset({"failed"})}), ["chat"]),
    ],
)
def test_a_destination_is_told_once_by_what_the_settings_say(
    tmp_path: Path, routes: Routes, receivers: list[str]
) -> None:
    engine = engine_of(tmp_path, routes)
    driven(engine)
    assert [to for to, _, _ in told(engine)] == receivers


def test_who_follows_one_run_is_told_of_that_run_and_of_its_pieces(tmp_path: Path) -> None:
    pieces = {"pieces": [{"id": "a", "title": "a"}]}
    engine = engine_of(tmp_path, Routes(), scout={"value": pieces, "text": "{}"})
    driven(engine)
    assert told(engine) == []
    run = driven(engine, SPLIT, notify=("phone",), description="all of it")
    engine.submit(run, AnswerCheckpoint("", "Split"))
    asyncio.run(engine.drive(run))
    piece = next(row.run for row in engine.log.index() if row.run.startswith(f"{run}."))
    asyncio.run(engine.drive(piece))
    assert told(engine) == [("phone", "waiting", run), ("phone", "ended", run), ("phone", "ended", piece)]


def test_a_fork_tells_nothing_of_what_happened_before_it(tmp_path: Path) -> None:
    engine = engine_of(tmp_path, Routes(("chat",)))
    run = driven(engine)
    before = told(engine)
    engine.fork(run, engine.log.head(run))
    assert told(engine) == before
