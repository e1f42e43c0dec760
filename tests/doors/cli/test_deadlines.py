"""Deadlines of checkpoints, played at the command line: reminder, escalation, the option that is taken.

The clock is set by the test: nobody sleeps.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from commands import Command
from reconvene.language.times import later
from reconvene.settings import system_user
from reconvene.surroundings import SystemClock

RUN = "pay-1"
START = "2026-03-01T09:00:00.000Z"
FLOW = """\
name: pay
agents:
  writer: {command: ["sh", "-c", "cat >/dev/null; echo '# Plan'"]}
phases:
  - id: plan
    agents: [writer]
    rounds: {max: 3}
    checkpoint:
      question: Shall we pay?
      within: 2d
      remind: 8h
LATE
      options:
        - {label: Approve}
        - {label: Again, then: again}
        - {label: Reject, then: {end: rejected, status: aborted}}
  - id: pay
    agents: [writer]
"""
HOUR = 3600.0
DAY = 24 * HOUR


class Time:
    def __init__(self) -> None:
        self.now = START

    def pass_(self, seconds: float) -> None:
        self.now = later(self.now, seconds)


@pytest.fixture
def time(monkeypatch: pytest.MonkeyPatch) -> Time:
    made = Time()
    monkeypatch.setattr(SystemClock, "now", lambda _: made.now)
    return made


@pytest.fixture
def start(folder: Path, reconvene: Command, time: Time) -> Command:
    """A run whose checkpoint says this of being late."""

    def started(*lines: str, flow: str = FLOW) -> None:
        (folder / "pay.yaml").write_text(flow.replace("LATE", "\n".join(f"      {line}" for line in lines)))
        done = reconvene("run", "pay.yaml", "--no-input")
        assert done.code == 3, done.err

    return started  # type: ignore[return-value]


def events(reconvene: Command, *kinds: str, run: str = RUN) -> list[dict[str, object]]:
    log = [json.loads(line) for line in reconvene("log", run, "--json").out.splitlines()]
    return [one for one in log if one["type"] in kinds]


OF_TIME = ("CheckpointReminded", "CheckpointEscalated", "CheckpointOverdue", "DecisionRecorded")


def told(reconvene: Command) -> list[str]:
    return [str(one["type"]) for one in events(reconvene, *OF_TIME)]


def test_the_stop_and_the_inbox_tell_the_deadline(start: Command, reconvene: Command) -> None:
    start("late: {option: Reject}")
    assert "to be decided until 2026-03-03 09:00 UTC; then “Reject” is taken" in reconvene("show", RUN).out
    assert "until 2026-03-03 09:00: Shall we pay?" in reconvene("inbox").out
    assert reconvene("tick").out == "nothing is due\n"


def test_people_are_reminded_once(start: Command, reconvene: Command, time: Time) -> None:
    start()
    time.pass_(2 * DAY - 8 * HOUR - 1)
    assert json.loads(reconvene("tick", "--json").out) == []
    time.pass_(1)
    (done,) = reconvene("tick", "--json").objects
    assert (done["run"], done["what"], done["deadline"]) == (RUN, "reminded", "2026-03-03T09:00:00.000Z")
    assert reconvene("tick").out == "nothing is due\n"
    assert told(reconvene) == ["CheckpointReminded"]


def test_a_deadline_without_more_is_told_once_and_the_run_waits_on(
    start: Command, reconvene: Command, time: Time
) -> None:
    start()
    time.pass_(2 * DAY)
    assert "late since 2026-03-03 09:00 UTC, and still waiting" in reconvene("tick").out
    assert reconvene("tick").out == "nothing is due\n"
    assert "late since" in reconvene("inbox").out
    assert reconvene("decide", RUN, "--option", "Approve").code == 0
    assert told(reconvene) == ["CheckpointOverdue", "DecisionRecorded"]


def test_a_late_option_is_taken_by_the_deadline_and_is_nobodys(start: Command, reconvene: Command, time: Time) -> None:
    start("late: {option: Approve}")
    time.pass_(2 * DAY)
    done = reconvene("tick")
    assert (done.code, "the deadline took 'Approve'" in done.out) == (0, True)
    assert f"resume {RUN}" in done.out
    (decision,) = events(reconvene, "DecisionRecorded")
    assert (decision["by"], decision["late"], decision["door"]) == ("the deadline", True, "deadline")
    assert "user" not in decision
    shown = reconvene("show", RUN, "--json").object
    (row,) = shown["decisions"]  # type: ignore[misc]
    assert (row["by"], row["deadline"], row.get("proved", False)) == ("the deadline", True, False)
    assert shown["status"] == "running", "nothing was driven"
    assert reconvene("verify", RUN).code == 0
    assert reconvene("resume", RUN, "--no-input").code == 0
    assert reconvene("verify", RUN).code == 0


def test_when_both_are_past_nobody_is_reminded_any_more(start: Command, reconvene: Command, time: Time) -> None:
    """The home was down for a week."""
    start("late: {option: Reject}")
    time.pass_(9 * DAY)
    done = reconvene("tick")
    assert "the deadline took 'Reject'" in done.out
    assert "resume" not in done.out, "it has ended"
    assert told(reconvene) == ["DecisionRecorded"]
    assert reconvene("show", RUN, "--json").object["status"] == "aborted"


def test_a_clock_that_went_back_does_nothing_twice_and_nothing_early(
    start: Command, reconvene: Command, time: Time
) -> None:
    start()
    time.pass_(1.8 * DAY)
    reconvene("tick")
    time.now = START
    assert reconvene("tick").out == "nothing is due\n"
    reconvene("remark", RUN, "Say more.")
    time.pass_(1.9 * DAY)
    assert reconvene("tick").out == "nothing is due\n"
    time.pass_(DAY)
    reconvene("tick")
    assert told(reconvene) == ["CheckpointReminded", "CheckpointOverdue"]


def test_a_pause_does_not_stop_the_clock_and_no_agent_works(start: Command, reconvene: Command, time: Time) -> None:
    start("late: {option: Approve}")
    reconvene("pause", RUN)
    time.pass_(3 * DAY)
    assert "the deadline took" in reconvene("tick").out
    assert reconvene("show", RUN, "--json").object["status"] == "paused"
    assert reconvene("worker", "--once").code == 0
    assert reconvene("show", RUN, "--json").object["status"] == "paused"
    assert reconvene("resume", RUN, "--no-input").code == 0


def test_another_round_has_another_deadline(start: Command, reconvene: Command, time: Time) -> None:
    start("late: {option: Reject}")
    time.pass_(1.5 * DAY)
    assert reconvene("decide", RUN, "--option", "Again").code == 3
    time.pass_(1 * DAY)
    assert reconvene("tick").out == "nothing is due\n"
    point = reconvene("show", RUN, "--json").object["checkpoint"]
    assert isinstance(point, dict)
    assert point["deadline"] == later(START, 3.5 * DAY)
    assert reconvene("rollback", RUN, "--latest").code == 3
    again = reconvene("show", RUN, "--json").object["checkpoint"]
    assert isinstance(again, dict)
    assert again["deadline"] == later(START, 4.5 * DAY)


def test_a_reopened_and_a_forked_checkpoint_has_a_new_deadline(start: Command, reconvene: Command, time: Time) -> None:
    start("late: {option: Reject}")
    head = len(reconvene("log", RUN, "--json").out.splitlines())
    time.pass_(3 * DAY)
    assert "the deadline took" in reconvene("tick").out
    assert reconvene("fork", RUN, "--at", str(head)).code == 0
    assert reconvene("reopen", RUN, "--no-drive").code in (0, 3)
    assert reconvene("tick").out == "nothing is due\n"
    for run in (RUN, f"{RUN}-fork-1"):
        point = reconvene("show", run, "--json").object["checkpoint"]
        assert isinstance(point, dict)
        assert point["deadline"] == later(START, 5 * DAY)
    time.pass_(2 * DAY)
    assert reconvene("tick").out.count("the deadline took 'Reject'") == 2
    assert reconvene("verify").code == 0


def test_a_worker_does_what_is_due_and_drives_on(start: Command, reconvene: Command, time: Time) -> None:
    start("late: {option: Approve}")
    time.pass_(1.8 * DAY)
    done = reconvene("worker", "--once")
    assert "reminded" in done.out + done.err
    assert told(reconvene) == ["CheckpointReminded"]
    assert len(events(reconvene, "TasksClaimed")) == 1, "nobody drove it for that"
    time.pass_(DAY)
    done = reconvene("worker", "--once", "--json")
    assert '"what":"decided"' in done.out.replace(" ", "")
    assert reconvene("show", RUN, "--json").object["status"] == "completed"
    assert reconvene("verify", RUN).code == 0


def test_an_escalation_lets_others_decide_as_well(start: Command, reconvene: Command, time: Time) -> None:
    me = system_user()
    start("who: [ada]", f"late: {{who: [{me}, team:board]}}")
    assert reconvene("decide", RUN, "--option", "Approve").code == 64
    assert f"then {me} or team board may decide as well" in reconvene("show", RUN).out
    time.pass_(2 * DAY)
    assert f"{me} or team board may decide as well" in reconvene("tick").out
    shown = reconvene("show", RUN)
    assert f"waits for ada, {me} or team board" in shown.out
    assert reconvene("decide", RUN, "--option", "Approve").code == 0
    assert told(reconvene) == ["CheckpointEscalated", "DecisionRecorded"]


def test_an_option_that_cannot_be_taken_then_is_not(start: Command, reconvene: Command, time: Time) -> None:
    flow = FLOW.replace("{label: Reject,", "{label: Reject, when: 'false', why_not: not today,")
    start("late: {option: Reject}", flow=flow)
    time.pass_(2 * DAY)
    assert "'Reject' cannot be taken: not today" in reconvene("tick").out
    assert reconvene("tick").out == "nothing is due\n"
    assert told(reconvene) == ["CheckpointOverdue"]


def test_nobody_is_called_the_deadline(start: Command, reconvene: Command) -> None:
    start()
    assert reconvene("remark", RUN, "Say more.", "--by", "The Deadline").code == 64


def test_a_decision_that_a_deadline_never_took_is_found(
    start: Command, reconvene: Command, folder: Path, time: Time
) -> None:
    """Whoever writes one into the log, as if it were the deadline's, before its time."""
    from contextlib import closing

    from reconvene.core.definition.workflow import Continue
    from reconvene.core.facts.events import DecisionRecorded
    from reconvene.ports import Append
    from reconvene.wiring import open_log

    start("late: {option: Approve}")
    forged = DecisionRecorded(
        at=START, checkpoint="C1", number=1, phase="plan", scope="plan", serial=1, option="Approve",
        decision="continue", move=Continue(), by="the deadline", door="deadline", late=True,
    )  # fmt: skip
    with closing(open_log(folder / ".reconvene")) as log:
        log.append(RUN, log.head(RUN), Append([forged]))
    done = reconvene("verify", RUN)
    assert (done.code, "no deadline has taken" in done.out + done.err) == (1, True)


WRONG = {
    "late: {option: Reject, who: [ada]}": "either 'who' or 'option'",
    "late: {}": "either 'who' or 'option'",
    "late: {option: Rejct}": "did you mean",
    "late: {option: Words}": "needs a person's words",
    "late: {option: Asks}": "needs an answer to 'why'",
    "late: {option: Two}": "needs 2 people",
    "late: {option: Back}": "takes a round back",
    "who: [two words]": "neither the name of a person nor a team",
    "who: ['team:']": "neither the name of a person nor a team",
}


@pytest.mark.parametrize("line", WRONG)
def test_what_a_deadline_cannot_do_is_said_by_check(line: str, folder: Path, reconvene: Command) -> None:
    more = """\
        - {label: Words, remark: required}
        - {label: Asks, fields: [{id: why, required: true}]}
        - {label: Two, needs: 2}
        - {label: Back, undo: true, then: again}
  - id: pay
"""
    flow = FLOW.replace("LATE", f"      {line}").replace("  - id: pay\n", more)
    (folder / "pay.yaml").write_text(flow, encoding="utf-8")
    done = reconvene("check", "pay.yaml")
    assert done.code == 64
    assert WRONG[line] in done.out + done.err, done.out + done.err


@pytest.mark.parametrize(
    ("was", "now", "why"),
    [
        ("within: 2d", "status: open", "needs 'within'"),
        ("remind: 8h", "remind: 3d", "not shorter than 'within'"),
        ("within: 2d", "within: soon", "is not a duration"),
        ("{label: Approve}", "{label: Approve, needs: 0}", "needs"),
    ],
)
def test_times_that_do_not_fit_are_said_by_check(
    was: str, now: str, why: str, folder: Path, reconvene: Command
) -> None:
    (folder / "pay.yaml").write_text(FLOW.replace("LATE\n", "").replace(was, now), encoding="utf-8")
    done = reconvene("check", "pay.yaml")
    assert (done.code, why in done.out + done.err) == (64, True), done.out + done.err


def test_names_that_are_too_few_are_said_by_check(folder: Path, reconvene: Command) -> None:
    flow = FLOW.replace("LATE", "      who: [ada]").replace("{label: Approve}", "{label: Approve, needs: 2}")
    (folder / "pay.yaml").write_text(flow, encoding="utf-8")
    done = reconvene("check", "pay.yaml")
    assert (done.code, "needs 2 people, and 'who' names 1" in done.out + done.err) == (64, True)


def test_a_deadline_in_more_than_ten_years_is_refused(folder: Path, reconvene: Command) -> None:
    (folder / "pay.yaml").write_text(FLOW.replace("LATE", "").replace("within: 2d", "within: 999999999w"))
    done = reconvene("check", "pay.yaml")
    assert done.code == 64
    assert "'within' is longer than ten years" in done.err + done.out
