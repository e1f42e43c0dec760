"""The application over the in-memory log and scripted agents: snapshots, ids, inputs, forks, late comers."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from reconvene.adapters.git import GitHistory
from reconvene.adapters.sqlite import SqliteLog
from reconvene.adapters.workspace import FolderWorkspace
from reconvene.app import queries, session
from reconvene.app.engine import Engine
from reconvene.app.session import Session
from reconvene.core.facts.commands import Abort, AddRemark, AnswerCheckpoint, RemarkIn
from reconvene.core.facts.evolve import fold
from reconvene.errors import Refused, StoreError, UserError
from reconvene.surroundings import SystemClock
from reconvene.testing.memory import MemoryLog
from reconvene.testing.scripted import ScriptedAgents
from reconvene.wire.event_json import VERSION
from reconvene.wire.snapshot_json import snapshot_key
from reconvene.wire.workflow_file import parse_workflow

TWO = """
name: two
inputs: {topic: {type: text, required: true}, size: {type: number, default: 3}}
settings: {deep: {type: bool, default: "inputs.size > 2"}}
agents: {a: {}, b: {}}
phases:
  - {id: p, agents: [a, b], output: x, checkpoint: {approval_required: true}}
  - {id: q, agents: [a], checkpoint: {approval_required: true}}
"""


def engine(tmp_path: Path, **replies: object) -> Engine:
    runner = ScriptedAgents(replies, default="an output")

    def workspace_for(run: str, folder: str) -> FolderWorkspace:
        return FolderWorkspace(folder, str(tmp_path / "manifests" / f"{run}.json"))

    def history_for() -> GitHistory:
        return GitHistory(str(tmp_path / "history.git"))

    return Engine(MemoryLog(), SystemClock(), runner, workspace_for, history_for, str(tmp_path / "home"))


def drive(machine: Engine, run: str) -> str:
    return asyncio.run(machine.drive(run)).status


def test_a_run_goes_from_checkpoint_to_checkpoint(tmp_path: Path):
    machine = engine(tmp_path)
    run = machine.start(parse_workflow(TWO), {"topic": "ferries"}, by="ann")
    assert run == "two-1"
    assert drive(machine, run) == "waiting"
    summary = queries.summary(machine, run)
    assert (summary.phase, summary.round, summary.status) == ("p", 1, "waiting")
    machine.submit(run, AnswerCheckpoint("", "Continue", by="ann"))
    assert drive(machine, run) == "waiting"
    machine.submit(run, AnswerCheckpoint("", "Continue", by="ann"))
    assert drive(machine, run) == "completed"
    assert queries.show(machine, run).context["settings"] == {"deep": True}


def test_run_ids_count_up_and_a_unique_beginning_is_enough(tmp_path: Path):
    machine = engine(tmp_path)
    workflow = parse_workflow(TWO)
    runs = [machine.start(workflow, {"topic": "x"}) for _ in range(11)]
    assert runs == [f"two-{n}" for n in range(1, 12)]
    assert machine.find("two-11") == "two-11"
    with pytest.raises(UserError, match="may be"):
        machine.find("two")
    with pytest.raises(UserError, match="There is no run 'tow-1'"):
        machine.find("tow-1")


@pytest.mark.parametrize(
    ("inputs", "message"),
    [({}, "needs the input topic"), ({"topic": "x", "sise": 1}, "no input 'sise'")],
)
def test_bad_inputs_are_refused_before_anything_is_written(tmp_path: Path, inputs: dict[str, object], message: str):
    machine = engine(tmp_path)
    with pytest.raises(UserError, match=message):
        machine.start(parse_workflow(TWO), inputs)
    assert machine.log.index() == []


LONG = f"""
name: long
limits: {{rounds: 1000, calls: 1000}}
agents: {{a: {{}}}}
phases:
  - {{id: p, agents: [a], output: x, rounds: {{plan: [{", ".join(f"r{n}" for n in range(150))}]}}}}
  - {{id: q, agents: [a], checkpoint: {{approval_required: true}}}}
"""


def test_a_long_run_is_loaded_from_a_snapshot_and_equals_the_fold_of_its_log(tmp_path: Path):
    machine = engine(tmp_path)
    run = machine.start(parse_workflow(LONG), {})
    assert drive(machine, run) == "waiting"
    whole = fold(event for _, event in machine.log.read(run))
    kept = machine.log.snapshot(run, snapshot_key(whole.workflow))
    assert kept is not None
    assert 0 < kept[0] < whole.seq
    assert machine.load(run) == whole


def test_a_snapshot_of_other_code_is_not_trusted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    machine = engine(tmp_path)
    run = machine.start(parse_workflow(LONG), {})
    drive(machine, run)
    monkeypatch.setattr("reconvene.wire.snapshot_json.EVOLVE_VERSION", 999)
    assert machine.load(run) == fold(event for _, event in machine.log.read(run))


def test_a_snapshot_that_cannot_be_read_is_not_used(tmp_path: Path):
    machine = engine(tmp_path)
    run = machine.start(parse_workflow(LONG), {})
    drive(machine, run)
    whole = fold(event for _, event in machine.log.read(run))
    for data in (b"", b"[]", b'{"seq": "twelve"}'):
        machine.log.save_snapshot(run, whole.seq - 1, snapshot_key(whole.workflow), data)
        assert machine.load(run) == whole


def test_no_event_of_a_newer_release_hides_behind_its_snapshot(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    machine = engine(tmp_path)
    machine.log = SqliteLog(tmp_path / "home" / "log.db")
    with monkeypatch.context() as newer:
        newer.setattr("reconvene.wire.event_json.VERSION", VERSION + 1)
        newer.setattr("reconvene.wire.snapshot_json.VERSION", VERSION + 1)
        run = machine.start(parse_workflow(LONG), {})
        drive(machine, run)
        seq = machine.load(run).seq
        kept = machine.log.snapshot(run, snapshot_key(machine.load(run).workflow))
        assert kept is not None
    with pytest.raises(StoreError, match=rf"log of run {run} has the format {VERSION + 1}"):
        Session.load(machine.log, SystemClock(), run)
    assert machine.log.head(run) == seq
    machine.log.close()


def test_a_session_that_fell_behind_handles_its_command_again_on_top(tmp_path: Path):
    machine = engine(tmp_path)
    run = machine.start(parse_workflow(TWO), {"topic": "x"})
    drive(machine, run)
    slow, quick = machine.session(run), machine.session(run)
    quick.submit([AddRemark(RemarkIn("first"), by="ann")])
    (error,) = slow.submit([AddRemark(RemarkIn("second"), by="bob")])
    assert error is None
    assert [remark.id for remark in queries.show(machine, run).remarks] == ["FB-001", "FB-002"]


def test_one_refused_command_does_not_keep_the_others_out(tmp_path: Path):
    machine = engine(tmp_path)
    run = machine.start(parse_workflow(TWO), {"topic": "x"})
    drive(machine, run)
    session: Session = machine.session(run)
    outcomes = session.submit([AnswerCheckpoint("", "Nope"), AddRemark(RemarkIn("still heard"))])
    assert isinstance(outcomes[0], Refused)
    assert outcomes[1] is None


def test_a_fork_shares_the_past_and_goes_its_own_way(tmp_path: Path):
    machine = engine(tmp_path)
    run = machine.start(parse_workflow(TWO), {"topic": "x"}, by="ann")
    drive(machine, run)
    machine.submit(run, AddRemark(RemarkIn("keep this"), by="ann"))
    at = machine.load(run).seq
    machine.submit(run, AnswerCheckpoint("", "Abort", by="ann"))
    fork = machine.fork(run, at, by="ann")
    assert fork == "two-1-fork-1"
    assert machine.load(fork).status == "waiting"
    machine.submit(fork, AnswerCheckpoint("", "Continue", by="ann"))
    assert drive(machine, fork) == "waiting"
    assert machine.load(run).status == "aborted"
    assert [remark.text for remark in queries.show(machine, fork).remarks] == ["keep this"]
    with pytest.raises(UserError, match="events 1 to"):
        machine.fork(run, 9999)


def test_the_pinned_workflow_is_what_runs_even_after_the_file_changed(tmp_path: Path):
    machine = engine(tmp_path)
    file = tmp_path / "two.yaml"
    file.write_text(TWO)
    run = machine.start(parse_workflow(file.read_text()), {"topic": "x"})
    file.write_text("not a workflow at all")
    assert drive(machine, run) == "waiting"


def test_a_prompt_that_cannot_be_filled_in_is_reported_and_never_sent_as_written(tmp_path: Path):
    machine = engine(tmp_path)
    text = (
        "name: n\ninputs: {topic: json}\nagents: {a: {prompt: 'About {{ inputs.topic.name }}.'}}\n"
        "phases: [{id: p, agents: [a]}]\n"
    )
    run = machine.start(parse_workflow(text), {"topic": {"nmae": "ferries"}})
    assert drive(machine, run) == "waiting"
    point = queries.summary(machine, run).checkpoint
    assert point is not None
    assert point.attention
    assert "the prompt of a cannot be filled in" in point.prompt
    ended = [event for event in queries.events(machine, run) if event.type == "AttemptEnded"]
    assert [event.facts["verdict"] for event in ended] == ["failed"]


def test_a_run_that_is_ended_while_nobody_drives_it_leaves_its_last_files(tmp_path: Path):
    workflow = parse_workflow(
        TWO + "files: [{path: state.md, template: \"{{ context.outcome or 'open' }}\\n\"}]\n", "two.yaml"
    )
    machine = engine(tmp_path)
    run = machine.start(workflow, {"topic": "ferries"}, by="ann")
    assert drive(machine, run) == "waiting"
    file = Path(machine.load(run).workspace) / "state.md"
    assert file.read_text(encoding="utf-8") == "open\n"
    machine.submit(run, Abort(by="ann"))
    assert file.read_text(encoding="utf-8") == "aborted\n"


def test_a_process_that_sees_many_workflows_keeps_the_last_few(tmp_path: Path):
    machine = engine(tmp_path)
    sources = [TWO.replace("name: two", f"name: two-{n}") for n in range(session._WORKFLOWS + 3)]
    runs = [machine.start(parse_workflow(source), {"topic": "ferries"}) for source in sources]
    for run in (*runs, runs[0]):
        assert Session.load(machine.log, SystemClock(), run).book.workflow.name == run.removesuffix("-1")
    assert len(session._BOOKS) == session._WORKFLOWS
    assert [workflow.name for workflow, _ in session._BOOKS.values()][-2:] == [runs[-1].removesuffix("-1"), "two-0"]
