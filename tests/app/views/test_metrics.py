"""Success measures, time and cost from the log; the estimate of another round."""

from __future__ import annotations

import json

import pytest

from reconvene.app.views import targets
from reconvene.app.views.encoding import encoded
from reconvene.app.views.estimates import Task, estimate
from reconvene.app.views.ledger import ledger
from reconvene.app.views.metrics import Metrics, PhaseRounds, RoundTime, aggregate, measure
from reconvene.core.definition.workflow import Again, Continue, Goto, Move
from reconvene.core.facts import commands as c
from reconvene.core.facts import events as e
from reconvene.testing.play import Play
from reconvene.wire.workflow_file import parse_workflow


def at(minutes: float) -> str:
    """So many minutes after midnight."""
    seconds = round(minutes * 60)
    return f"2026-01-01T{seconds // 3600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}.000Z"


def begin(minute: float, serial: int = 1, *agents: str, extra: bool = False, phase: str = "p") -> list[e.AnyEvent]:
    return [
        e.RoundStarted(at=at(minute), serial=serial, phase=phase, scope=f"{phase}#1", n=serial, extra=extra),
        e.StepStarted(at=at(minute), serial=serial, step=0, tasks=tuple(e.TaskStart(agent) for agent in agents or "a")),
    ]


def ended(minute: float, task: str, usage: e.Usage | None = None, verdict: str = "accepted") -> e.AttemptEnded:
    then = "done" if verdict == "accepted" else "retry"
    return e.AttemptEnded(
        at=at(minute),
        task=task,
        attempt=1,
        verdict=verdict,
        then=then,
        usage=usage or e.Usage(),  # type: ignore[arg-type]
    )


def closed(minute: float, serial: int = 1, *paths: str) -> list[e.AnyEvent]:
    files = tuple(e.FileOut(path, "d" * 32) for path in paths)
    return [
        e.StepClosed(at=at(minute), serial=serial, step=0, files=files),
        e.RoundClosed(at=at(minute), serial=serial, n=serial, phase="p", scope="p#1", last=True),
    ]


def opened(minute: float, serial: int = 1, *, attention: bool = False) -> e.CheckpointOpened:
    return e.CheckpointOpened(
        at=at(minute), id=f"C{serial}", number=serial, phase="p", scope="p#1", serial=serial, prompt="?", options=(),
        attention=attention,
    )  # fmt: skip


def decided(minute: float, move: Move, serial: int = 1, *, attention: bool = False) -> e.DecisionRecorded:
    return e.DecisionRecorded(
        at=at(minute), checkpoint=f"C{serial}", number=serial, phase="p", scope="p#1", serial=serial, option="x",
        decision="x", move=move, attention=attention,
    )  # fmt: skip


STARTED = e.RunStarted(at=at(0), run="run-1", workflow="w", name="small")


# --- time ---


def test_time_belongs_to_the_agents_or_to_the_person() -> None:
    found = measure([STARTED, *begin(0), *closed(10), opened(11), decided(41, Again()), *begin(41, 2), opened(46, 2)])
    assert found.rounds == (RoundTime("run-1", "p", 1, 11.0), RoundTime("run-1", "p", 2, 5.0))
    assert found.wait_minutes == 16.0
    assert found.review_minutes == (30.0, 0.0)
    assert found.minutes_per_round == 8.0


def test_pauses_takeovers_and_attention_are_not_the_agents_time() -> None:
    doubt = ended(300, "R1/0/a", verdict="doubt")
    found = measure(
        [
            STARTED,
            *begin(0),
            e.Paused(at=at(2)),
            e.Resumed(at=at(100)),
            opened(104, attention=True),
            decided(150, Continue(), attention=True),
            doubt,
            e.TasksClaimed(at=at(310), tasks=("R1/0/a",), claim="x"),
            *closed(315),
            opened(316),
        ]
    )
    assert [round_.minutes for round_ in found.rounds] == [2 + 4 + 6]
    assert (found.paused_minutes, found.idle_minutes, found.review_minutes) == (98.0, 160.0, (46.0, 0.0))
    assert found.decisions == 0


def test_a_round_without_a_checkpoint_ends_where_the_next_begins_and_a_round_under_way_is_not_counted() -> None:
    found = measure([STARTED, *begin(0), *closed(7), *begin(7, 2)])
    assert [round_.minutes for round_ in found.rounds] == [7.0]
    assert found.phases == (PhaseRounds("run-1", "p#1", 2, 0),)


def test_a_clock_that_was_set_back_takes_no_time_away() -> None:
    assert measure([STARTED, *begin(10), opened(5)]).wait_minutes == 0.0


# --- rounds and decisions ---


def test_extra_rounds_are_told_apart_and_a_rerun_is_another_round() -> None:
    found = measure(
        [
            STARTED,
            *begin(0),
            opened(1),
            decided(2, Again()),
            *begin(2, 2, extra=True),
            opened(3, 2),
            decided(4, Goto("p", rerun=True), 2),
            *begin(4, 3),
            opened(5, 3),
            decided(6, Goto("o"), 3),
            decided(7, Continue(), 3),
        ]
    )
    assert found.phases == (PhaseRounds("run-1", "p#1", 2, 1),)
    assert (found.decisions, found.iterations, found.iteration_rate) == (4, 2, 0.5)
    assert found.to_approval == (3,)


def test_the_items_of_a_phase_count_by_themselves() -> None:
    def item(minute: float, key: str, serial: int) -> list[e.AnyEvent]:
        started = e.ItemStarted(at=at(minute), scope="p#1", key=key, index=0, item=e.Ref("x"))
        done = e.ItemDone(at=at(minute), scope="p#1", key=key)
        return [started, *begin(minute, serial), *closed(minute, serial), done]

    found = measure([STARTED, *item(0, "x", 1), *item(1, "y", 2)])
    assert [phase.place for phase in found.phases] == ["p#1[x]", "p#1[y]"]
    assert found.rounds_per_phase == 1.0


def test_a_rollback_without_a_decision_is_another_round_and_takes_its_files_back() -> None:
    events = [
        STARTED,
        *begin(0),
        *closed(1, 1, "a.md"),
        opened(2),
        e.RoundUndone(at=at(3), serial=1, phase="p", scope="p#1", n=1),
        *begin(3, 2),
        *closed(4, 2, "b.md"),
        opened(5, 2),
        decided(6, Continue(), 2),
        e.PhaseClosed(at=at(6), phase="p", scope="p#1"),
    ]
    found = measure(events)
    assert (found.decisions, found.iterations, found.deliverables) == (2, 1, 1)


# --- cost ---


def test_every_attempt_costs_and_accepted_deliverables_share_it() -> None:
    usage = e.Usage(input_tokens=100, output_tokens=20, cost=0.5)
    events = [
        STARTED,
        *begin(0),
        ended(1, "R1/0/a", usage, "rejected"),
        ended(2, "R1/0/a", usage),
        e.LateOutputArchived(at=at(2), task="R1/0/b", attempt=1, usage=usage),
        *closed(3, 1, "a.md", "b.md"),
    ]
    assert measure(events).cost_per_deliverable is None  # nothing is accepted yet
    found = measure([*events, e.PhaseClosed(at=at(4), phase="p", scope="p#1")])
    assert (found.tasks, found.attempts, found.input_tokens, found.output_tokens, found.cost) == (1, 3, 300, 60, 1.5)
    assert (found.deliverables, found.cost_per_deliverable) == (2, 0.75)


# --- targets ---


@pytest.mark.parametrize(
    ("rounds", "judgement", "say"),
    [
        ([1, 2, 3], "ok", ""),
        ([3, 3], "off target", ""),
        ([3, 4], "warning", "Checkpoints may be too granular"),
        ([], "unknown", ""),
    ],
)
def test_rounds_per_phase_are_judged_by_their_average(rounds: list[int], judgement: str, say: str) -> None:
    found = targets.rounds_per_phase(rounds)
    assert (found.judgement, found.say, found.measured) == (judgement, say, len(rounds))


@pytest.mark.parametrize(
    ("minutes", "judgement"), [([10.0, 19.0], "ok"), ([20.0], "off target"), ([5.0, 31.0], "failure"), ([], "unknown")]
)
def test_one_round_over_half_an_hour_is_a_failure(minutes: list[float], judgement: str) -> None:
    assert targets.minutes_per_round(minutes).judgement == judgement


@pytest.mark.parametrize(
    ("iterations", "decisions", "judgement", "say"),
    [
        (0, 10, "warning", "Too low: checkpoints may be unnecessary overhead"),
        (1, 10, "off target", ""),
        (2, 10, "ok", ""),
        (3, 10, "ok", ""),
        (5, 10, "off target", ""),
        (6, 10, "warning", "Too high: initial context gathering may be insufficient"),
        (0, 0, "unknown", ""),
    ],
)
def test_the_iteration_rate_warns_at_both_ends(iterations: int, decisions: int, judgement: str, say: str) -> None:
    found = targets.iteration_rate(iterations, decisions)
    assert (found.judgement, found.say) == (judgement, say)
    assert found.target == "20–30% of checkpoints"


@pytest.mark.parametrize(
    ("answer", "expected", "judgement"),
    [
        (True, ("yes",), "ok"),
        ("Yes, everything", ("yes",), "ok"),
        ("no", ("no",), "failure"),
        ("mostly", ("partly",), "failure"),
        (False, ("no",), "failure"),
        (None, (), "unknown"),
        ("", (), "unknown"),
    ],
)
def test_completeness_is_what_the_person_says(answer: object, expected: tuple[str, ...], judgement: str) -> None:
    found = measure([STARTED], completeness=answer)
    assert found.completeness == expected
    assert found.success[0].judgement == judgement


# --- several runs, people and scripts ---


def test_several_runs_are_measured_as_one() -> None:
    one = measure([STARTED, *begin(0), opened(10), decided(11, Continue())], completeness="yes")
    two = measure([STARTED, *begin(0), opened(20), decided(30, Again())], completeness="no")
    both = aggregate([one, two])
    assert both.minutes_per_round == 15.0
    assert both.iteration_rate == 0.5
    assert both.success[0].shown == "1 of 2 yes"
    assert len(both.runs) == 2
    assert aggregate([]) == Metrics()


def test_the_chart_is_plain_text_with_the_target_on_the_same_scale() -> None:
    found = measure([STARTED, *begin(0), opened(10), decided(11, Again()), *begin(11, 2), opened(51, 2)])
    lines = found.lines(40)
    assert lines[2].startswith("✗ minutes per round 25.0 (target < 20; n = 2): The person waited more than 30 minutes")
    bars = [line for line in lines if "█" in line]
    assert [line.count("█") for line in bars] == [5, 20]
    target = next(line for line in lines if "│" in line)
    assert target.index("│") == bars[1].index("█") + 9  # 20 of 40 minutes: half of the longest bar
    assert all(len(line) <= 40 for line in (*bars, target))


def test_an_empty_log_is_measured_too() -> None:
    found = measure([])
    assert found.lines()[0] == "· completeness not asked yet (target “yes, they captured everything”; n = 0)"
    assert json.loads(encoded(found.shown()))["iteration_rate"] is None


# --- played ---

WORKFLOW = """
name: small
agents: {a: {}, b: {}, mod: {}}
phases:
  - id: p
    rounds: {max: 3}
    steps:
      - {agents: [a, b], output: findings}
      - {agents: [mod], output: synthesis}
    checkpoint:
      options:
        - {label: Next, then: continue}
        - {label: More, then: again}
"""


def test_a_played_run_gives_every_measure() -> None:
    game = Play(parse_workflow(WORKFLOW))
    game.finish_all()
    game.decide("More", "Revenue is $900M, not $850M", "Shorter")
    game.finish("a", "Revenue is $900M [FB-001]")
    game.finish_all()
    game.decide("Next")
    found = measure(game.log, ledger(game.log, lambda ref: game.blobs[ref.digest].decode()), "yes")
    row = json.loads(encoded(found.shown()))
    assert found.phases == (PhaseRounds("run-1", "p#1", 1, 1),)
    assert (found.iteration_rate, found.rounds_to_approval, found.ledger_closure) == (0.5, 2.0, 0.5)
    assert (found.tasks, found.remarks, found.open_remarks) == (6, 2, 1)
    assert [reading["judgement"] for reading in row["success"]] == ["ok", "ok", "ok", "off target"]
    assert "remarks 2, 50% proved or declined, 1 open" in found.lines()


# --- estimates ---


def test_a_parallel_step_takes_as_long_as_its_slowest_and_steps_follow_one_another() -> None:
    measured = {"a": [Task(60, 1000, 0.1)], "b": [Task(300, 2000, 0.2)], "mod": [Task(120, 500, 0.05)]}
    assert estimate(measured, ["a", "b"]).minutes == 5.0
    found = estimate(measured, [["a", "b"], ["mod"]])
    assert (found.minutes, found.calls, found.tokens, found.cost) == (7.0, 3, 3500, 0.35)
    assert (found.measurements, found.basis) == (3, "from 3 measured tasks of this run")
    assert (
        found.line() == "about 7 min, 3 agent calls, about 3500 tokens, about $0.35 (from 3 measured tasks of this run)"
    )


def test_fewer_places_than_agents_make_a_step_longer() -> None:
    measured = {name: [Task(60)] for name in "abcd"}
    assert estimate(measured, list("abcd")).minutes == 1.0
    assert estimate(measured, list("abcd"), concurrency=2).minutes == 2.0


def test_only_the_last_tasks_of_an_agent_count_and_one_slow_one_does_not_spoil_them() -> None:
    measured = {"a": [Task(9000), Task(60), Task(600), Task(60)]}
    assert estimate(measured, ["a"]).minutes == 1.0
    assert estimate(measured, ["a"]).measurements == 3


def test_an_agent_not_yet_measured_counts_as_the_runs_median_and_that_is_said() -> None:
    measured = {"a": [Task(60)], "b": [Task(120)], "c": [Task(600)]}
    found = estimate(measured, ["a", "new"])
    assert found.minutes == 2.0
    assert found.unmeasured == ("new",)
    assert found.basis == "from 1 measured task of this run; new as the run's median"


def test_nothing_measured_is_not_a_number() -> None:
    found = estimate([], ["a", "b"])
    assert (found.minutes, found.tokens, found.cost, found.calls, found.measurements) == (None, None, None, 2, 0)
    assert found.line() == "2 agent calls; nothing is measured in this run yet"
    assert json.loads(encoded(found))["minutes"] is None


def test_retries_are_part_of_a_task_and_what_was_in_doubt_is_not_measured() -> None:
    usage = e.Usage(seconds=60, input_tokens=10, cost=0.1)
    events = [
        *begin(0, 1, "a", "b"),
        ended(1, "R1/0/a", usage, "rejected"),
        ended(2, "R1/0/a", usage),
        ended(600, "R1/0/b", verdict="doubt"),
        ended(603, "R1/0/b"),
    ]
    found = estimate(events, ["a"])
    assert (found.minutes, found.tokens, found.cost, found.measurements) == (2.0, 20, 0.2, 1)
    assert estimate(events, ["b"]).minutes == 3.0  # no seconds given: by the times in the log


def test_an_estimate_comes_from_a_played_run() -> None:
    game = Play(parse_workflow(WORKFLOW))
    for agent, seconds in (("a", 120.0), ("b", 240.0), ("mod", 60.0)):
        given = game.output(agent)
        usage = e.Usage(seconds=seconds, input_tokens=1000, output_tokens=200)
        game.do(c.RecordAttempt(given.task, given.attempt, output=given.output, usage=usage))
    found = estimate(game.log, [["a", "b"], ["mod"]])
    assert (found.minutes, found.calls, found.tokens, found.cost) == (5.0, 3, 3600, None)
