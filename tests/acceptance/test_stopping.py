"""Pause, pause --now, abort, rollback, fork: whatever is under way then ends cleanly, and nothing done is lost."""

from __future__ import annotations

import asyncio
import os
import shutil
from pathlib import Path

import pytest
from support.stage import Stage

from hasty import until
from processes import has_ended
from reconvene.app import queries
from reconvene.core.facts.commands import Abort, Claim, Command, Pause, RemarkIn, Rollback
from reconvene.core.facts.events import FilesEdited, LateOutputArchived, RunEnded, StepStarted
from reconvene.errors import UserError
from reconvene.ports import Assignment
from reconvene.wire.workflow_file import parse_workflow

TEAM = """
name: w
limits: {concurrency: 1}
agents: {a: {retries: 1, gate: [{min_chars: 4}]}, b: {retries: 0}}
phases:
  - {id: work, agents: [a, b]}
"""


def say_elsewhere(stage: Stage, command: Command) -> None:
    """As another process would."""
    elsewhere = stage.other()
    elsewhere.engine.submit(stage.run, command)
    elsewhere.engine.log.close()


# --- pause ---


def test_a_pause_lets_the_agent_at_work_finish_and_starts_nobody_new(tmp_path: Path) -> None:
    async def meanwhile(assignment: Assignment) -> str:
        say_elsewhere(stage, Pause("ann"))
        await until(lambda: stage.verdicts("R1/0/b"))  # b had not begun: the pause is felt there first
        return "done"

    stage = Stage(tmp_path, TEAM, {"a": meanwhile, "b": "done"})
    assert stage.drive().status == "paused"
    assert stage.verdicts("R1/0/a") == ["accepted"]
    assert stage.verdicts("R1/0/b") == ["cancelled"]
    assert [call.agent.name for call in stage.agents.calls] == ["a"]
    assert stage.drive().status == "completed"
    assert stage.verdicts("R1/0/b") == ["cancelled", "accepted"]
    assert [call.agent.name for call in stage.agents.calls] == ["a", "b"]


def test_work_sent_back_during_a_pause_is_tried_again_after_it_and_is_not_in_doubt(tmp_path: Path) -> None:
    async def meanwhile(assignment: Assignment) -> str:
        say_elsewhere(stage, Pause("ann"))
        await until(lambda: stage.verdicts("R1/0/b"))
        return "no"

    stage = Stage(tmp_path, TEAM, {"a": [meanwhile, "done"], "b": "done"})
    assert stage.drive().status == "paused"
    assert stage.drive().status == "completed"
    assert stage.verdicts("R1/0/a") == ["rejected", "accepted"]


@pytest.mark.parametrize("elsewhere", [True, False], ids=["by another process", "by the driving process"])
def test_a_pause_now_cancels_without_counting_it_as_a_failure(tmp_path: Path, elsewhere: bool) -> None:
    async def meanwhile(assignment: Assignment) -> str:
        if elsewhere:
            say_elsewhere(stage, Pause("ann", now=True))
        else:
            stage.engine.request_pause(stage.run, now=True)
        await asyncio.sleep(600)
        return "never"

    stage = Stage(tmp_path, TEAM.replace("concurrency: 1", "concurrency: 2"), {"a": "done", "b": [meanwhile, "done"]})
    assert stage.drive().status == "paused"
    assert stage.verdicts("R1/0/a") == ["accepted"]
    assert stage.verdicts("R1/0/b") == ["cancelled"]
    assert stage.drive().status == "completed"  # b has no retries, and needed none
    assert stage.verdicts("R1/0/b") == ["cancelled", "accepted"]


def test_a_pause_now_ends_the_whole_process_group_of_a_command(tmp_path: Path) -> None:
    pids, flag = tmp_path / "pids", tmp_path / "flag"
    script = f"test -e {flag} && exit 0; touch {flag}; sleep 300 & echo $! $$ >{pids}; wait"
    text = f"""
name: w
agents: {{a: {{command: [sh, -c, "{script}"], retries: 0}}}}
phases: [{{id: work, agents: [a]}}]
"""
    stage = Stage(tmp_path / "home", text)

    async def pause_when_it_works() -> str:
        async with asyncio.TaskGroup() as group:
            driving = group.create_task(stage.engine.drive(stage.run))
            await until(lambda: pids.exists() and len(pids.read_text().split()) == 2)
            stage.engine.request_pause(stage.run, now=True)
            return (await driving).status

    assert asyncio.run(pause_when_it_works()) == "paused"
    for pid in pids.read_text().split():
        assert has_ended(int(pid))
    assert stage.drive().status == "completed"


def test_a_drive_that_is_cancelled_gives_the_run_back_and_its_calls_are_in_doubt(tmp_path: Path) -> None:
    async def meanwhile(assignment: Assignment) -> str:
        await asyncio.sleep(600)
        return "never"

    async def cancel_when_it_works() -> None:
        driving = asyncio.create_task(stage.engine.drive(stage.run))
        await until(lambda: stage.agents.calls)
        driving.cancel()
        with pytest.raises(asyncio.CancelledError):
            await driving

    stage = Stage(tmp_path, TEAM, {"a": [meanwhile, "done"], "b": "done"})
    asyncio.run(cancel_when_it_works())
    assert stage.other().drive().status == "completed"
    assert stage.verdicts("R1/0/a") == ["doubt", "accepted"]


def test_many_runs_driven_by_one_process_do_not_get_into_each_others_way(tmp_path: Path) -> None:
    async def answer(assignment: Assignment) -> dict[str, object]:
        await asyncio.sleep(0)
        return {"text": f"about {assignment.run}", "files": {"own.md": f"{assignment.run}\n"}}

    stage = Stage(tmp_path, TEAM.replace("agents: [a, b]}", "agents: [a]}"), {"a": answer})
    runs = [stage.run, *(stage.engine.start(parse_workflow(stage.text)) for _ in range(19))]

    async def drive_all() -> list[str]:
        states = await asyncio.gather(*(stage.engine.drive(run) for run in runs))
        return [state.status for state in states]

    assert asyncio.run(drive_all()) == ["completed"] * 20
    for run in runs:
        assert stage.other(run=run).read("own.md") == f"{run}\n"


# --- abort, and what comes too late ---


def test_an_abort_by_another_process_stops_the_agents_at_work(tmp_path: Path) -> None:
    async def meanwhile(assignment: Assignment) -> str:
        say_elsewhere(stage, Abort("ann", remarks=(RemarkIn("wrong question"),)))
        await asyncio.sleep(600)
        return "never"

    stage = Stage(tmp_path, TEAM, {"a": meanwhile, "b": "done"})
    state = stage.drive()
    assert state.status == "aborted"
    assert [ended.by for ended in stage.events(RunEnded)] == ["ann"]
    assert len(stage.agents.calls) == 1
    assert state.record.remarks[1].text == "wrong question"
    assert stage.drive().status == "aborted"


def test_an_output_that_comes_too_late_is_kept_and_counted_and_changes_nothing(tmp_path: Path) -> None:
    def meanwhile(assignment: Assignment) -> dict[str, object]:
        say_elsewhere(stage, Abort("ann"))
        return {"text": "what it cost to say", "files": {"late.md": "late\n"}}

    stage = Stage(tmp_path, TEAM, {"a": meanwhile, "b": "done"})
    state = stage.drive()
    assert state.status == "aborted"
    late = next(event for event in stage.events(LateOutputArchived) if event.task == "R1/0/a")
    assert late.output is not None
    assert stage.kept(late.output.digest) == "what it cost to say"
    assert not (stage.folder / "late.md").exists()
    assert not state.world.files
    assert "what it cost to say" in [row.text for row in queries.late(stage.engine, stage.run)]


def test_the_answer_of_an_attempt_that_another_driver_took_for_dead_is_kept_and_shown(tmp_path: Path) -> None:
    def meanwhile(assignment: Assignment) -> str:
        if assignment.attempt == 1:
            say_elsewhere(stage, Claim("bob"))
        return f"answer {assignment.attempt}"

    stage = Stage(tmp_path, TEAM, {"a": meanwhile, "b": "done"})
    assert stage.drive().status == "completed"
    assert stage.verdicts("R1/0/a") == ["doubt", "accepted"]
    told = queries.show(stage.engine, stage.run).late
    assert ("R1/0/a", 1, "answer 1") in [(row.task, row.attempt, row.text) for row in told]


# --- rollback ---

DRAFTS = """
name: w
agents: {first: {}, a: {}}
phases:
  - {id: one, agents: [first]}
  - id: two
    agents: [a]
    output: answer
    checkpoint: {show_files: [text.md], options: [{label: Go on, then: continue}]}
"""


def wrote(**files: str) -> dict[str, object]:
    return {"text": "done", "files": {f"{name}.md": text for name, text in files.items()}}


def at_the_checkpoint(tmp_path: Path) -> Stage:
    tries = [wrote(text="first try\n", extra="x\n"), wrote(text="second try\n")]
    stage = Stage(tmp_path, DRAFTS, {"first": wrote(text="before\n"), "a": tries})
    stage.drive()
    assert stage.read("text.md") == "first try\n"
    return stage


def test_a_rollback_restores_files_and_values_and_runs_the_round_again(tmp_path: Path) -> None:
    stage = at_the_checkpoint(tmp_path)
    other = stage.other()
    other.engine.submit(stage.run, Rollback(by="ann", remarks=(RemarkIn("try harder"),)))
    assert not stage.state.world.values
    other.drive()
    first, second = stage.agents.of("a")
    assert first.files["text.md"] == second.files["text.md"] == b"before\n"
    assert "extra.md" not in second.files
    assert "try harder" in stage.asked("R3/0/a")
    assert stage.read("text.md") == "second try\n"
    assert not (stage.folder / "extra.md").exists()
    assert stage.decide("Go on").status == "completed"


def test_a_rollback_takes_a_persons_edit_back_from_the_file_but_not_from_the_record(tmp_path: Path) -> None:
    stage = at_the_checkpoint(tmp_path)
    stage.write("text.md", "first try, and a word of mine\n")
    other = stage.other()
    other.engine.submit(stage.run, Rollback(by="ann"))
    stage.drive()
    assert stage.agents.of("a")[1].files["text.md"] == b"before\n"
    assert "+first try, and a word of mine" in stage.asked("R3/0/a")
    assert len(stage.events(FilesEdited)) == 1
    assert stage.read("text.md") == "second try\n"


def test_a_rollback_after_a_crash_in_the_middle_of_writing_invents_no_edit(tmp_path: Path) -> None:
    """The files are on disk, but the process died before it noted that it had written them."""
    stage = Stage(tmp_path, DRAFTS, {"first": wrote(text="before\n"), "a": [keep_manifest, wrote(text="second try\n")]})
    stage.drive()
    manifest = tmp_path / "manifests" / f"{stage.run}.json"
    shutil.copy(manifest.with_suffix(".kept"), manifest)
    other = stage.other()
    other.engine.submit(stage.run, Rollback(by="ann"))
    other.drive()
    assert not stage.events(FilesEdited)
    assert stage.read("text.md") == "second try\n"


def keep_manifest(assignment: Assignment) -> dict[str, object]:
    manifest = Path(os.environ["RECONVENE_HOME"]).parent / "manifests" / f"{assignment.run}.json"
    shutil.copy(manifest, manifest.with_suffix(".kept"))
    return wrote(text="first try\n")


# --- fork ---

FORKED = """
name: w
agents: {a: {}, b: {}, c: {}}
checkpoints:
  ok: {show_files: [c.md], options: [{label: Go on, then: continue}]}
phases:
  - {id: one, rounds: {plan: [x, y]}, steps: [{agents: [a, b], output: notes}, {agents: [c]}], checkpoint: ok}
  - {id: two, steps: [{agents: [a, b], output: notes}, {agents: [c]}], checkpoint: ok}
"""


def scribe(assignment: Assignment) -> dict[str, object]:
    name = assignment.agent.name
    said = " ".join(remark["text"] for remark in assignment.remarks)
    return {"text": name, "files": {f"{name}.md": f"{name} {assignment.phase} {assignment.round} {said}\n"}}


def to_the_end(stage: Stage) -> dict[str, bytes]:
    state = stage.drive()
    while state.status == "waiting":
        state = stage.decide("Go on", *(["mind the gap"] if not state.record.remarks else []))
    assert state.status == "completed"
    return {path.name: path.read_bytes() for path in stage.folder.iterdir()}


@pytest.mark.torture
def test_a_run_can_be_forked_from_any_point_and_driven_to_its_own_end(tmp_path: Path) -> None:
    stage = Stage(tmp_path, FORKED, {"a": scribe, "b": scribe, "c": scribe})
    files = to_the_end(stage)
    head = stage.state.seq
    first = stage.seqs(StepStarted)[0]
    for seq in range(1, first):
        with pytest.raises(UserError, match="Nothing had been started"):
            stage.engine.fork(stage.run, seq, by="ann")
    for seq in range(first, head + 1):
        fork = stage.other(run=stage.engine.fork(stage.run, seq, by="ann"))
        assert fork.folder != stage.folder
        assert to_the_end(fork) == files
        assert stage.engine.log.head(stage.run) == head
        fork.engine.log.close()


def test_what_a_fork_does_to_its_files_leaves_the_source_alone(tmp_path: Path) -> None:
    stage = Stage(tmp_path, FORKED, {"a": scribe, "b": scribe, "c": scribe})
    stage.drive()
    fork = stage.other(run=stage.engine.fork(stage.run, by="ann"))
    fork.drive()
    assert fork.read("c.md") == stage.read("c.md")
    fork.write("c.md", "only here\n")
    fork.decide("Go on", digest="")
    assert "only here" in fork.asked("R2/0/a")
    stage.decide("Go on")
    assert "only here" not in stage.asked("R2/0/a")
