"""The store and the agents fail in every way there is: each time one clear message, and nothing is lost."""

from __future__ import annotations

import asyncio
import random
import sqlite3
from pathlib import Path

import pytest
from support.stage import Stage

from forks import Forks
from hasty import HastyLoop, turns, until
from processes import has_ended
from reconvene.adapters.sqlite import SqliteLog
from reconvene.core.facts.commands import AddRemark, RemarkIn
from reconvene.core.facts.events import AttemptEnded, RemarkAdded
from reconvene.errors import AgentError, StoreError
from reconvene.ports import Assignment, Progress

ONE = """
name: w
agents: {a: {retries: 1}}
phases:
  - {id: work, agents: [a], output: {name: result, file: result.md}}
"""


def command(script: str, more: str = "") -> str:
    """A workflow whose only agent is this shell script."""
    return f"""
name: w
agents: {{a: {{command: [sh, -c, "{script}"], retries: 1{more}}}}}
phases:
  - {{id: work, agents: [a], output: {{name: result, file: result.md}}}}
"""


# --- the store ---


def test_a_full_disk_stops_the_run_with_a_clear_message_and_loses_nothing(forks: Forks, tmp_path: Path) -> None:
    home = tmp_path / "home"
    ended = forks.one("support.failing:fill_the_disk", home=str(home))
    assert isinstance(ended.answer, dict), ended.error
    assert "cannot grow: the disk is full" in ended.answer["message"] or "the disk reported" in ended.answer["message"]
    assert "reconvene doctor looks whether all that was recorded before is whole" in ended.answer["hint"]
    before = SqliteLog(home / "reconvene.db").read("w-1")
    assert len(before) == ended.answer["seq"]

    ended = forks.one("support.failing:carry_on", home=str(home))
    assert isinstance(ended.answer, dict), ended.error
    assert ended.answer["status"] == "completed"
    after = SqliteLog(home / "reconvene.db").read("w-1")
    assert after[: len(before)] == before
    assert [e.verdict for _, e in after if isinstance(e, AttemptEnded)] == ["accepted", "doubt", "accepted"]


def test_a_process_that_met_a_full_disk_records_what_was_finished_when_there_is_room_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RECONVENE_STORE_WAIT", "0")
    incompressible = random.Random(1).randbytes(200_000).hex()
    stage = Stage(tmp_path, ONE, {"a": incompressible})
    connection = stage.engine.log._connection  # type: ignore[attr-defined]
    (pages,) = connection.execute("PRAGMA page_count").fetchone()
    connection.execute(f"PRAGMA max_page_count={pages}")
    with pytest.raises(StoreError, match="the disk is full") as refusal:
        stage.drive()
    kept = tmp_path / "finished" / stage.run
    assert f"What a finished is not on record. It is kept in {kept}." in refusal.value.hint
    assert kept.stat().st_mode & 0o77 == 0
    connection.execute("PRAGMA max_page_count=1000000")
    assert stage.drive().status == "completed"
    assert stage.verdicts("R1/0/a") == ["accepted"]
    assert [call.attempt for call in stage.agents.calls] == [1]
    assert stage.read("result.md").strip() == incompressible
    assert not kept.exists()


def impatient(stage: Stage) -> None:
    """Waits a moment for a locked database, not the usual ten seconds."""
    stage.engine.log._connection.execute("PRAGMA busy_timeout=50")  # type: ignore[attr-defined]


def test_a_locked_database_is_named_and_the_same_command_works_later(tmp_path: Path) -> None:
    stage = Stage(tmp_path, ONE, {"a": "done"})
    impatient(stage)
    other = sqlite3.connect(tmp_path / "reconvene.db", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    head = stage.engine.log.head(stage.run)
    for attempt in (stage.drive, lambda: stage.engine.submit(stage.run, AddRemark(RemarkIn("hello")))):
        with pytest.raises(StoreError, match="is locked: another program kept it busy") as refusal:
            attempt()
        assert "try again" in refusal.value.hint
    assert stage.engine.log.head(stage.run) == head
    other.execute("ROLLBACK")
    other.close()
    stage.engine.submit(stage.run, AddRemark(RemarkIn("hello")))
    assert stage.drive().status == "completed"
    assert [remark.text for remark in stage.events(RemarkAdded)] == ["hello"]


def locked_at_the_end(tmp_path: Path, *more: str) -> tuple[Stage, sqlite3.Connection]:
    """A run whose agent finishes while another program has the store locked."""

    def lock(assignment: Assignment) -> str:
        other.execute("BEGIN IMMEDIATE")
        return "done"

    stage = Stage(tmp_path, ONE, {"a": [lock, *more]})
    other = sqlite3.connect(tmp_path / "reconvene.db", isolation_level=None, check_same_thread=False)
    impatient(stage)
    return stage, other


def test_a_store_that_is_locked_when_an_agent_ends_is_waited_for(tmp_path: Path) -> None:
    stage, other = locked_at_the_end(tmp_path)
    told: list[Progress] = []

    def hear(progress: Progress) -> None:
        told.append(progress)
        if progress.what == "waiting":  # it is on disk by then, and not called done
            assert "done" not in [one.what for one in told]
            assert len([*(tmp_path / "finished" / stage.run).iterdir()]) == 1
            other.execute("ROLLBACK")

    state = asyncio.run(stage.engine.drive(stage.run, hear, by="ann", door="test"))
    assert state.status == "completed"
    assert [one.what for one in told] == ["started", "waiting", "done"]
    assert "is locked" in told[1].detail
    assert stage.verdicts("R1/0/a") == ["accepted"]
    assert not (tmp_path / "finished" / stage.run).exists()


def test_an_output_that_could_not_be_recorded_is_taken_up_by_the_next_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The lease could not be given back either; it must not shut its own holder out."""
    monkeypatch.setenv("RECONVENE_STORE_WAIT", "0")
    stage, other = locked_at_the_end(tmp_path)
    with pytest.raises(StoreError, match="is locked") as refusal:
        stage.drive()
    assert "reconvene resume w-1 records it; nobody is asked again" in refusal.value.hint
    other.execute("ROLLBACK")
    other.close()
    kept = [*(tmp_path / "finished" / stage.run).iterdir()]
    copy = kept[0].read_bytes()
    assert stage.drive().status == "completed"
    assert stage.verdicts("R1/0/a") == ["accepted"]
    assert [call.attempt for call in stage.agents.calls] == [1]

    kept[0].parent.mkdir()
    kept[0].write_bytes(copy)  # as if the process had been killed between the commit and the removal
    head = stage.engine.log.head(stage.run)
    assert stage.drive().status == "completed"
    assert stage.engine.log.head(stage.run) == head
    assert not kept[0].exists()
    assert stage.other().engine.log.acquire(stage.run, "somebody else")


def test_a_kept_output_that_is_torn_is_told_and_its_agent_asked_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RECONVENE_STORE_WAIT", "0")
    stage, other = locked_at_the_end(tmp_path, "again")
    with pytest.raises(StoreError):
        stage.drive()
    other.close()
    (kept,) = (tmp_path / "finished" / stage.run).iterdir()
    kept.write_bytes(kept.read_bytes()[:-1])
    told: list[Progress] = []
    asyncio.run(stage.engine.drive(stage.run, told.append, by="ann", door="test"))
    (said,) = [one.detail for one in told if one.what == "warning"]
    assert "it is damaged" in said
    assert said.endswith(".unusable")
    assert stage.verdicts("R1/0/a") == ["doubt", "accepted"]


def test_whoever_stops_while_the_store_is_waited_for_loses_nothing(tmp_path: Path) -> None:
    stage, other = locked_at_the_end(tmp_path)

    def stop(progress: Progress) -> None:
        if progress.what == "waiting":
            stage.engine.request_pause(stage.run, now=True, by="ann", door="test")

    with pytest.raises(StoreError, match="is locked"):
        asyncio.run(stage.engine.drive(stage.run, stop, by="ann", door="test"))
    other.close()
    assert stage.drive().status == "completed"
    assert [call.attempt for call in stage.agents.calls] == [1]


# --- agents ---


def test_a_killed_agent_is_tried_again_and_then_reported(tmp_path: Path) -> None:
    stage = Stage(tmp_path, command("kill -9 $$"))
    assert stage.drive().status == "waiting"
    assert stage.verdicts("R1/0/a") == ["failed", "failed"]
    assert "SIGKILL" in stage.attempts("R1/0/a")[0].why
    assert stage.point.attention
    assert "SIGKILL" in stage.point.prompt


def test_an_agent_that_floods_its_output_is_stopped_and_named(tmp_path: Path) -> None:
    stage = Stage(tmp_path, command("exec yes"))
    stage.drive()
    (first, second) = stage.attempts("R1/0/a")
    assert first.verdict == second.verdict == "failed"
    assert "more than" in first.why
    assert first.why in stage.point.prompt or second.why in stage.point.prompt


def test_an_agent_that_never_ends_is_stopped_with_everything_it_started(tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    script = f"sleep 3000 & echo $! $$ >>{pids}; echo at work; wait"
    stage = Stage(tmp_path / "home", command(script, ", timeout: 1h"))

    async def an_hour_after_each_start() -> None:
        loop = asyncio.get_running_loop()
        assert isinstance(loop, HastyLoop)
        heard: list[str] = []
        driving = asyncio.create_task(stage.engine.drive(stage.run, lambda progress: heard.append(progress.what)))
        for attempt in (1, 2):
            await until(lambda n=attempt: heard.count("output") == n)
            await turns(100)  # by then it waits for the agent's end
            loop.put_forward(3600)
        await driving

    with asyncio.Runner(loop_factory=HastyLoop) as runner:
        runner.run(an_hour_after_each_start())
    assert "did not end within 3600 s" in stage.attempts("R1/0/a")[0].why
    started = [int(pid) for pid in pids.read_text().split()]
    assert len(started) == 4
    assert all(has_ended(pid) for pid in started)


def test_an_agent_that_raises_anything_at_all_is_a_failed_attempt(tmp_path: Path) -> None:
    stage = Stage(tmp_path, ONE, {"a": [ZeroDivisionError("oh"), "done"]})
    assert stage.drive().status in ("completed", "waiting")
    assert "ZeroDivisionError" in stage.attempts("R1/0/a")[0].why


def test_a_failed_attempt_is_told_to_the_next_one(tmp_path: Path) -> None:
    stage = Stage(tmp_path, ONE, {"a": [AgentError("The line was cut."), "done"]})
    assert stage.drive().status == "completed"
    assert "The line was cut." not in stage.asked("R1/0/a", 1)
    assert "The line was cut." in stage.asked("R1/0/a", 2)


GATED = """
name: w
agents:
  a:
    retries: 2
    gate:
      - {min_chars: 10}
      - {headings: ["Summary"]}
      - {if: "output.text.includes('TODO')", retry_with: "Finish what is marked TODO."}
phases:
  - {id: work, agents: [a], output: {name: result, file: result.md}}
"""


def test_a_gate_sends_work_back_with_the_reason_and_accepts_what_is_put_right(tmp_path: Path) -> None:
    stage = Stage(tmp_path, GATED, {"a": ["short", "# Summary\n\nTODO and more", "# Summary\n\nall there is"]})
    assert stage.drive().status == "completed"
    assert stage.verdicts("R1/0/a") == ["rejected", "rejected", "accepted"]
    assert "sent back" not in stage.asked("R1/0/a", 1)
    second, third = stage.asked("R1/0/a", 2), stage.asked("R1/0/a", 3)
    assert stage.attempts("R1/0/a")[0].why in second
    assert "short" in second
    assert "Finish what is marked TODO." in third
    assert "TODO and more" in third
    assert stage.read("result.md") == "# Summary\n\nall there is"


def test_a_gate_gives_up_after_its_retries_and_keeps_every_rejected_output(tmp_path: Path) -> None:
    stage = Stage(tmp_path, GATED, {"a": "short"})
    assert stage.drive().status == "waiting"
    attempts = stage.attempts("R1/0/a")
    assert [attempt.then for attempt in attempts] == ["retry", "retry", "missing"]
    assert all(attempt.output and stage.kept(attempt.output.digest) == "short" for attempt in attempts)
    assert "no agent of this step gave an output" in stage.point.prompt
    assert attempts[-1].why in stage.point.prompt
