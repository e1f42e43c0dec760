"""`upgrade` and `reopen` as they are typed: what is said, what is refused, and with which words."""

from __future__ import annotations

from pathlib import Path

import pytest

from commands import Command
from reconvene.settings import system_user

FLOW = """\
name: flow
agents:
  writer: {command: [sh, -c, "cat; echo written"], prompt: Write.}
  reader: {command: [sh, -c, "cat; echo read"]}
phases:
  - id: draft
    agents: [writer]
    rounds: {max: 2}
    checkpoint:
      options:
        - {label: Accept, then: continue}
        - {label: Again, remark: optional, then: again}
        - {label: Stop, then: {end: stopped, status: failed}}
  - id: read
    agents: [reader]
    checkpoint: {approval_required: true}
"""


@pytest.fixture
def flow(tmp_path: Path, reconvene: Command) -> Path:
    """A workflow, and a run of it that waits at its first checkpoint."""
    file = tmp_path / "flow.yaml"
    file.write_text(FLOW, encoding="utf-8")
    assert reconvene("run", "flow.yaml", "--no-input").code == 3
    return file


def test_a_dry_run_says_what_would_change_and_changes_nothing(flow: Path, reconvene: Command) -> None:
    log = reconvene("log", "flow-1").out
    flow.write_text(FLOW.replace("Write.", "Write well."), encoding="utf-8")
    code, out, _ = reconvene("upgrade", "flow-1", "--to", "flow.yaml", "--dry-run")
    assert code == 0
    assert "  agent writer, prompt: Write. → Write well.\n" in out
    assert out.endswith("nothing was changed (--dry-run)\n")
    told = reconvene("upgrade", "flow-1", "--to", "flow.yaml", "--dry-run", "--json").object
    row = {"what": "agent writer, prompt", "how": "changed", "was": "Write.", "now": "Write well."}
    assert (told["run"], told["changes"], told["dry_run"]) == ("flow-1", [row], True)
    assert reconvene("log", "flow-1").out == log


def test_an_upgrade_says_what_changed_how_to_do_the_round_anew_and_where_the_run_stands(
    flow: Path, reconvene: Command
) -> None:
    flow.write_text(FLOW.replace("Write.", "Write well."), encoding="utf-8")
    code, out, err = reconvene("upgrade", "flow-1", "--to", "flow.yaml", "--by", "Ada")
    assert (code, err) == (3, "")
    assert "agent writer, prompt: Write. → Write well." in out
    how = next(line for line in out.splitlines() if "to do it anew: " in line).partition("reconvene ")[2].split()
    assert how[:3] == ["rollback", "flow-1", "--at"]
    assert "flow-1 is waiting at draft, round 1" in out
    assert reconvene(*how).code == 3
    assert "Write well." in reconvene("output", "flow-1", "writer").out
    assert "from round 2 on: workflow " in reconvene("show", "flow-1").out
    assert f"(Ada [claimed by {system_user()}])" in reconvene("show", "flow-1").out


def test_the_same_file_again_says_so(flow: Path, reconvene: Command) -> None:
    code, out, err = reconvene("upgrade", "flow-1", "--to", "flow.yaml")
    assert code == 3
    assert "flow-1 goes on with this workflow already: there is nothing to change" in err
    assert "flow-1 is waiting at draft" in out


def test_what_does_not_fit_is_said_with_file_line_and_record_and_a_fork_is_offered(
    flow: Path, reconvene: Command
) -> None:
    assert reconvene("decide", "flow-1", "--option", "Accept").code == 3
    flow.write_text(FLOW.replace("id: read\n", "id: reading\n"), encoding="utf-8")
    code, _, err = reconvene("upgrade", "flow-1", "--to", "flow.yaml")
    assert code == 64
    assert "error: flow.yaml: there is no phase 'read'; on record: 1 round\n" in err
    command, then = err.split("Fork the run there: reconvene ")[1].strip().split("; then: reconvene ")
    assert reconvene(*command.split()).code == 0
    assert reconvene(*then.split()).code == 3
    assert "flow-1-fork-1 is waiting at reading" in reconvene("decide", "flow-1-fork-1", "--option", "Accept").out


def test_a_file_with_problems_is_refused_as_by_check(flow: Path, reconvene: Command) -> None:
    flow.write_text(FLOW.replace("agents: [reader]", "agents: [raeder]"), encoding="utf-8")
    code, _, err = reconvene("upgrade", "flow-1", "--to", "flow.yaml")
    assert code == 64
    assert "flow.yaml:15: " in err
    assert "reader" in err


def test_an_agent_that_cannot_work_here_is_said_before_anything_is_changed(flow: Path, reconvene: Command) -> None:
    flow.write_text(FLOW.replace('[sh, -c, "cat; echo read"]', "[no-such-program]"), encoding="utf-8")
    done = reconvene("upgrade", "flow-1", "--to", "flow.yaml")
    assert done.code == 64
    assert "no-such-program" in done.err
    assert "WorkflowUpgraded" not in reconvene("log", "flow-1").out
    assert reconvene("upgrade", "flow-1", "--to", "flow.yaml", "--anyway").code == 3


def test_a_run_that_failed_says_how_it_is_taken_up_and_is(flow: Path, reconvene: Command) -> None:
    done = reconvene("decide", "flow-1", "--option", "Stop")
    assert done.code == 1
    assert "take it up again with: reconvene reopen flow-1\n" in done.out
    said = ("--feedback", "correction: it is 5, not 4")
    code, out, err = reconvene("reopen", "flow-1", *said, "--grant", "rounds.draft=1")
    assert code == 3
    assert "run flow-1 is taken up again" in err
    assert "flow-1 is waiting at draft, round 1" in out
    assert "reopened at draft after it was failed, rounds.draft +1" in reconvene("show", "flow-1").out
    for n in (2, 3):
        assert f"waiting at draft, round {n}" in reconvene("decide", "flow-1", "--latest", "--option", "Again").out
    assert "it is 5, not 4" in reconvene("output", "flow-1", "writer").out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--grant", "calls"), "--grant 'calls' does not say how much is added to which limit"),
        (("--grant", "calls=many"), "--grant 'calls=many' does not say how much"),
        (("--grant", "cals=3"), "flow has no limit 'cals'"),
        (("--phase", "drift"), "flow has no phase 'drift'"),
    ],
)
def test_what_cannot_be_meant_is_refused_and_the_run_stays_ended(
    flow: Path, reconvene: Command, words: tuple[str, ...], message: str
) -> None:
    assert reconvene("abort", "flow-1").code == 2
    done = reconvene("reopen", "flow-1", *words)
    assert done.code == 64
    assert message in done.err
    assert "RunReopened" not in reconvene("log", "flow-1").out


def test_an_open_run_is_not_reopened(flow: Path, reconvene: Command) -> None:
    done = reconvene("reopen", "flow-1")
    assert done.code == 64
    assert "Run flow-1 is waiting: only a run that has ended is reopened." in done.err


def test_a_completed_run_is_upgraded_and_then_taken_up(flow: Path, reconvene: Command) -> None:
    reconvene("decide", "flow-1", "--option", "Accept")
    assert reconvene("decide", "flow-1", "--latest", "--option", "Continue").code == 0
    flow.write_text(FLOW + "  - {id: more, agents: [writer]}\n", encoding="utf-8")
    code, out, _ = reconvene("upgrade", "flow-1", "--to", "flow.yaml")
    assert code == 0
    assert "new: phase more" in out
    assert "take it up again with: reconvene reopen flow-1" in out
    assert "flow-1 is waiting at read" in reconvene("reopen", "flow-1").out
    assert reconvene("decide", "flow-1", "--option", "Continue").code == 0
    assert " more " in reconvene("rounds", "flow-1").out


def test_no_secret_gets_into_the_log_with_a_mended_workflow_or_a_remark(
    flow: Path, reconvene: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WRITER_KEY", "k-0123456789abcdef")
    flow.write_text(FLOW.replace("Write.", "Write k-0123456789abcdef."), encoding="utf-8")
    done = reconvene("upgrade", "flow-1", "--to", "flow.yaml")
    assert done.code == 64
    assert "holds the value of WRITER_KEY" in done.err
    assert reconvene("abort", "flow-1").code == 2
    assert reconvene("reopen", "flow-1", "--feedback", "use k-0123456789abcdef").code == 3
    assert "k-0123456789abcdef" not in reconvene("log", "flow-1").out
