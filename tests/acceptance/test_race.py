"""Two real processes want the same thing at the same moment: exactly one gets it, and the other is told."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from support.fuse import noted

from forks import Forks
from reconvene.adapters.git import GitHistory
from reconvene.adapters.sqlite import SqliteLog
from reconvene.adapters.workspace import FolderWorkspace
from reconvene.app.engine import Engine
from reconvene.app.verifying import verify
from reconvene.core.facts.commands import AnswerCheckpoint, Pause
from reconvene.core.facts.events import (
    AttemptEnded,
    DecisionRecorded,
    RemarkAdded,
    RunEnded,
    RunReopened,
    WorkflowUpgraded,
)
from reconvene.errors import UserError
from reconvene.surroundings import SystemClock
from reconvene.testing.scripted import ScriptedAgents
from reconvene.wire.workflow_file import parse_workflow

RUNS = 200


def race(forks: Forks, what: str, **arguments: object) -> list[list[str]]:
    """The same work in two processes that start each piece of it together."""
    outcomes: list[list[str]] = []
    for ended in forks.run(*((f"support.racing:{what}", {"me": me, **arguments}) for me in (0, 1))):
        assert isinstance(ended.answer, list), ended.error
        outcomes.append(ended.answer)
    return outcomes


def test_of_two_decisions_and_of_two_resumes_exactly_one_wins(forks: Forks, tmp_path: Path) -> None:
    home = str(tmp_path / "home")
    runs = forks.one("support.racing:prepare", home=home, runs=RUNS).answer
    assert isinstance(runs, list)
    log = SqliteLog(tmp_path / "home" / "reconvene.db")

    left, right = race(forks, "decide", home=home, runs=runs)
    for run, by_left, by_right in zip(runs, left, right, strict=True):
        assert (by_left == "") != (by_right == "")
        taken = "Left" if by_left == "" else "Right"
        assert f"was decided already: '{taken}'" in by_left + by_right
        assert [e.option for _, e in log.read(run) if isinstance(e, DecisionRecorded)] == [taken]

    first, second = race(forks, "resume", home=home, runs=runs)
    for run, by_first, by_second in zip(runs, first, second, strict=True):
        assert (by_first == "") != (by_second == "")
        assert by_first + by_second == f"Another process is driving run {run}."
        events = [event for _, event in log.read(run)]
        assert [e.status for e in events if isinstance(e, RunEnded)] == ["completed"]
        assert Counter(e.task for e in events if isinstance(e, AttemptEnded)) == {"R1/0/a": 1, "R2/0/b": 1}
    assert sorted(noted(f"{home}/calls.txt")) == sorted(f"{run} R2/0/b#1" for run in runs)
    assert not [looked for run in runs if not (looked := verify(log, run)).sound]
    log.close()


@pytest.mark.torture
def test_of_an_upgrade_and_a_decision_one_wins_and_of_two_reopenings_one_does(forks: Forks, tmp_path: Path) -> None:
    home = str(tmp_path / "home")
    runs = forks.one("support.racing:prepare", home=home, runs=100).answer
    assert isinstance(runs, list)
    log = SqliteLog(tmp_path / "home" / "reconvene.db")

    mends, decides = race(forks, "upgrade_or_decide", home=home, runs=runs)
    for run, mended, decided in zip(runs, mends, decides, strict=True):
        assert (mended == "") != (decided == ""), (mended, decided)
        found = [type(e) for _, e in log.read(run) if isinstance(e, WorkflowUpgraded | DecisionRecorded)]
        assert found == [WorkflowUpgraded if mended == "" else DecisionRecorded]

    assert not forks.one("support.racing:abort_all", home=home, runs=runs).error
    left, right = race(forks, "reopen_both", home=home, runs=runs)
    for run, by_left, by_right in zip(runs, left, right, strict=True):
        assert (by_left == "") != (by_right == ""), (by_left, by_right)
        assert "only a run that has ended is reopened" in by_left + by_right
        events = [event for _, event in log.read(run)]
        winner = 0 if by_left == "" else 1
        assert [e.by for e in events if isinstance(e, RunReopened)] == [f"person {winner}"]
        assert [e.text for e in events if isinstance(e, RemarkAdded)] == [f"by {winner}"]
    assert not [looked for run in runs if not (looked := verify(log, run)).sound]
    log.close()


def test_remarks_of_two_people_at_the_same_moment_are_all_kept(forks: Forks, tmp_path: Path) -> None:
    home = str(tmp_path / "home")
    runs = forks.one("support.racing:prepare", home=home, runs=1).answer
    assert isinstance(runs, list)
    run: str = runs[0]
    race(forks, "remark", home=home, run=run, count=100)
    log = SqliteLog(tmp_path / "home" / "reconvene.db")
    remarks = [event for _, event in log.read(run) if isinstance(event, RemarkAdded)]
    assert verify(log, run).sound
    log.close()
    assert {remark.text for remark in remarks} == {f"{me}: remark {n}" for me in (0, 1) for n in range(100)}
    assert [remark.number for remark in remarks] == list(range(1, 201))


def test_runs_started_at_the_same_moment_get_ids_of_their_own(forks: Forks, tmp_path: Path) -> None:
    one, two = race(forks, "start", home=str(tmp_path), count=50)
    assert {*one, *two} == {f"race-{number}" for number in range(1, 101)}


class Meddled(FolderWorkspace):
    """Calls somebody in while the driver, which has just opened a checkpoint, still writes its files."""

    meddle = staticmethod(lambda: None)

    def write(self, files: Mapping[str, bytes | None], known: Mapping[str, str]) -> None:
        super().write(files, known)
        if "draft.md" in files:
            Meddled.meddle()


TWO_PHASES = """
name: w
agents: {a: {}, b: {}}
phases:
  - {id: one, agents: [a], checkpoint: {show_files: [draft.md], options: [{label: Go on, then: continue}]}}
  - {id: two, agents: [b]}
"""


def open_meddled(home: Path, agents: ScriptedAgents) -> Engine:
    def workspace_for(run: str, folder: str) -> FolderWorkspace:
        return Meddled(folder, str(home / "manifests" / f"{run}.json"))

    def history_for() -> GitHistory:
        return GitHistory(str(home / "history.git"))

    return Engine(SqliteLog(home / "reconvene.db"), SystemClock(), agents, workspace_for, history_for, str(home))


@pytest.mark.parametrize("then_pause", [False, True])
def test_a_decision_taken_while_the_last_driver_tidies_up_is_carried_out_by_it(
    tmp_path: Path, then_pause: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever decides then is refused the lease; without somebody to go on, the run would stand still unnoticed."""
    agents = ScriptedAgents({"a": {"text": "done", "files": {"draft.md": "a draft\n"}}, "b": "done"})
    driving, deciding = open_meddled(tmp_path, agents), open_meddled(tmp_path, agents)
    run = driving.start(parse_workflow(TWO_PHASES))
    refusals: list[str] = []

    def decide() -> None:
        deciding.submit(run, AnswerCheckpoint("C1", "Go on"))
        if then_pause:
            deciding.submit(run, Pause())
        with pytest.raises(UserError) as refusal:
            deciding.drive_sync(run)
        refusals.append(refusal.value.message)

    with ThreadPoolExecutor(1) as elsewhere:
        monkeypatch.setattr(Meddled, "meddle", staticmethod(lambda: elsewhere.submit(decide).result(timeout=300)))
        state = driving.drive_sync(run)
    assert refusals == [f"Another process is driving run {run}."]
    assert state.status == ("paused" if then_pause else "completed")
    assert len(agents.of("b")) == (0 if then_pause else 1)
    driving.log.close()
    deciding.log.close()
