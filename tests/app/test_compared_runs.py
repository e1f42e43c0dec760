"""A fork has what its run had at an event and nothing later; two runs side by side, where they part first."""

from __future__ import annotations

import asyncio

import pytest

from reconvene.app.compared_runs import compared
from reconvene.app.engine import Engine
from reconvene.app.views.shared_past import shared_past
from reconvene.core.definition.bindings import Binding
from reconvene.core.facts import commands as c
from reconvene.core.facts import events as e
from reconvene.core.facts.ids import digest_of
from reconvene.errors import UserError
from reconvene.testing.memory import MemoryLog
from reconvene.testing.memory_history import MemoryHistory
from reconvene.testing.memory_workspace import MemoryFolder, MemoryWorkspace
from reconvene.testing.scripted import ScriptedAgents
from reconvene.wire.workflow_file import parse_workflow

FLOW = """
name: plan
agents: {writer: {}, critic: {}}
phases:
  - id: draft
    steps: [{agents: [writer, critic], writes: ["*.md"]}]
    rounds: {max: 3}
    checkpoint:
      fields: [{id: budget, type: text}]
      options: [{label: Go}, {label: Again, then: again, remark: optional}]
  - {id: close, agents: [writer], checkpoint: true}
"""


class Clock:
    """Each look takes a second."""

    def __init__(self) -> None:
        self._looks = 0

    def now(self) -> str:
        self._looks += 1
        return f"2026-03-01T{self._looks // 3600:02d}:{self._looks // 60 % 60:02d}:{self._looks % 60:02d}.000Z"


def opened() -> Engine:
    folders: dict[str, MemoryFolder] = {}

    def answer(work: object) -> dict[str, object]:
        said = "; ".join(remark["text"] for remark in work.remarks) or "nothing new"  # type: ignore[attr-defined]
        name = work.agent.name  # type: ignore[attr-defined]
        return {"text": f"{name}: {said}.", "files": {f"{name}.md": f"{said}\n".encode()}}

    history = MemoryHistory()
    return Engine(
        MemoryLog(),
        Clock(),
        ScriptedAgents({}, default=answer),
        lambda run, folder: MemoryWorkspace(folder, folders.setdefault(folder, MemoryFolder())),
        lambda: history,
        "/simulated/project/.reconvene",
    )


def go(engine: Engine, run: str, option: str, *said: str) -> None:
    remarks = tuple(c.RemarkIn(text) for text in said)
    engine.submit(run, c.AnswerCheckpoint("", option, remarks=remarks, by="ann"))
    asyncio.run(engine.drive(run))


def parked(engine: Engine) -> str:
    run = engine.start(parse_workflow(FLOW), {}, by="ann")
    asyncio.run(engine.drive(run))
    return run


def test_a_fork_has_everything_up_to_its_event_and_nothing_after_it() -> None:
    engine = opened()
    run = parked(engine)
    engine.submit(run, c.AddRemark(c.RemarkIn("Early."), "ann"))
    point = engine.load(run).world.open
    assert point is not None
    engine.submit(run, c.SaveDraft(point.id, {"budget": "100"}, "ann"))
    at, then = engine.log.head(run), engine.load(run)
    data = b"changed later\n"
    edit = c.EditIn("writer.md", digest_of(data), len(data), digest_of(b""), "+1")
    engine.submit(run, c.RecordEdits((edit,), "ann"), {digest_of(data): data, digest_of(b""): b""})
    engine.submit(run, c.SaveDraft(point.id, {"budget": "999"}, "ann"))
    go(engine, run, "Again", "Late.")

    fork = engine.load(engine.fork(run, at, by="bob"))
    assert engine.log.read(fork.run)[:at] == engine.log.read(run)[:at]
    assert [type(event) for _, event in engine.log.read(fork.run, at)] == [e.Forked]
    assert fork.world.files == then.world.files
    assert fork.record.remarks == then.record.remarks
    assert fork.record.drafts == then.record.drafts
    assert fork.record.allowed == then.record.allowed
    assert fork.record.bindings == then.record.bindings
    assert fork.record.decisions == then.record.decisions
    past = shared_past(engine.log.read(fork.run), engine.log.head(run))
    assert past is not None
    assert (past.source, past.event, past.files, past.remarks, past.drafts) == (run, at, 2, 1, 1)
    assert past.later == engine.log.head(run) - at
    told = "\n".join(past.lines())
    assert "2 files, 1 remark, 0 decisions, 1 draft" in told
    assert f"not shared: what came later in {run}" in told


def test_who_carries_agents_out_is_the_one_thing_of_today_and_is_told() -> None:
    engine = opened()
    run = parked(engine)
    at = engine.log.head(run)
    engine.submit(run, c.BindAgents((Binding("writer", model="test:another"),), "ann"))
    fork = engine.fork(run, at)
    assert set(engine.load(fork).record.bindings) == {"writer"}
    past = shared_past(engine.log.read(fork), engine.log.head(run))
    assert past is not None
    assert "who carries out writer, as it is today" in "\n".join(past.lines())


def test_a_fork_at_an_event_in_the_middle_says_with_which_it_begins() -> None:
    engine = opened()
    run = parked(engine)
    closed = next(seq for seq, event in engine.log.read(run) if isinstance(event, e.StepClosed))
    past = shared_past(engine.log.read(engine.fork(run, closed)), engine.log.head(run))
    assert past is not None
    assert past.event < closed
    assert shared_past(engine.log.read(run), 0) is None


def test_two_ways_on_from_one_point_part_where_people_said_something_else() -> None:
    engine = opened()
    run = parked(engine)
    fork = engine.fork(run, engine.log.head(run), by="ann")
    go(engine, run, "Again", "Debt is 100.")
    go(engine, fork, "Again", "Debt is 150.")
    go(engine, run, "Go")
    found = compared(engine, run, fork)
    assert found.fork == fork
    assert found.first_here is not None
    assert found.first_there is not None
    assert (found.first_here.kind, found.first_here.words) == ("said", "Debt is 100.")
    assert (found.first_there.kind, found.first_there.words) == ("said", "Debt is 150.")
    assert [(one.here, one.there) for one in found.remarks] == [("Debt is 100.", ""), ("", "Debt is 150.")]
    assert [(one.here, one.there) for one in found.decided] == [("Again", "Again"), ("Go", "")]
    assert [one.same for one in found.outputs] == [True, True, False, False, False]
    assert {one.path for one in found.files} == {"writer.md", "critic.md"}
    assert found.took_here.own.calls == 3
    assert found.took_there.own.calls == 2
    assert found.took_here.whole.calls == 5
    assert found.took_there.own.people_minutes < 1


def test_runs_of_one_workflow_that_went_the_same_way_do_not_part_though_no_event_is_the_same() -> None:
    engine = opened()
    one, other = parked(engine), parked(engine)
    assert not compared(engine, one, other).part
    go(engine, other, "Go")
    found = compared(engine, one, other)
    assert found.shared == 0
    assert found.first_here is None
    assert found.first_there is not None
    assert found.first_there.words == "Go"
    with pytest.raises(UserError, match="with itself"):
        compared(engine, one, one)
