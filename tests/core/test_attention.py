"""Trouble, checks, gates, doubt: what only a person can settle, and what an agent is told. Rules 3, 6, 9 and 11."""

from __future__ import annotations

import re

import pytest

from reconvene.core.facts import commands as c
from reconvene.core.run.plan import RunCheck, RunTask
from reconvene.errors import Refused
from reconvene.prompts.context import shown
from reconvene.testing.play import Play
from reconvene.wire.workflow_file import parse_workflow


def play(text: str, **inputs: object) -> Play:
    return Play(parse_workflow(text), inputs)


ONE = """
name: n
agents: {a: {retries: 1}, b: {retries: 0}}
phases: [{id: p, agents: [a, b], output: x}, {id: q, agents: [a]}]
"""


def test_a_step_goes_on_as_partial_when_somebody_delivered():
    game = play(ONE)
    game.fail("b")
    game.finish("a")
    assert game.phase == "q"
    closed = next(e for e in game.log if type(e).__name__ == "StepClosed")
    assert closed.missing == ("b",)


def test_a_step_wholly_missing_asks_and_try_again_opens_every_task_anew():
    game = play(ONE)
    game.fail("b")
    game.fail("a")
    game.fail("a", "really broken")
    point = game.state.world.open
    assert point.attention
    assert "really broken" in point.prompt
    assert game.labels == ["Try again", "Go on without it", "Try again with another model", "Stop the run"]
    game.decide("Try again")
    assert game.working() == ["a", "b"]


def test_whoever_tries_again_is_shown_what_the_person_said_with_it():
    game = play(ONE)
    game.fail("b")
    game.fail("a", retryable=False)
    game.decide("Try again", "Use blue paint")
    assert "- [FB-001] **Comment:** Use blue paint" in shown(game.state, game.book, "R1/0/a").prompt


def test_going_on_without_a_missing_step_leaves_its_value_null():
    game = play(ONE)
    game.fail("a", retryable=False)
    game.fail("b")
    game.decide("Go on without it")
    assert game.phase == "q"
    assert game.context()["x"] is None


def test_stopping_at_an_attention_checkpoint_aborts():
    game = play(ONE)
    game.fail("a", retryable=False)
    game.fail("b")
    game.decide("Stop the run", "enough")
    assert game.state.status == "aborted"
    assert game.context()["checkpoints"] == [], "attention is not one of the seed's checkpoints"


WHEN = (
    "name: n\nagents: {a: {}}\nphases: [{id: p, agents: [a], output: x}, {id: q, when: 'context.x.y.z', agents: [a]}]\n"
)


@pytest.mark.parametrize(("label", "runs"), [("Count it as true", True), ("Count it as false", False)])
def test_a_failed_when_is_never_guessed(label: str, runs: bool):
    game = play(WHEN)
    game.finish("a", "text")
    assert "`context.x.y.z`" in game.state.world.open.prompt
    game.decide(label)
    assert (game.phase == "q") is runs
    assert (game.state.status == "completed") is not runs


def test_a_failed_checkpoint_condition_is_recorded_and_skips_the_checkpoint():
    game = play(
        "name: n\nagents: {a: {}}\nphases: [{id: p, agents: [a], checkpoint: {condition: 'context.feature.such', "
        "approval_required: true}}]\n"
    )
    game.finish("a")
    assert game.state.status == "completed"
    assert "cannot read" in game.state.record.errors[0].message.lower()
    (passed,) = game.state.record.passed_over
    assert (passed.phase, passed.n, passed.before) == ("p", 1, 0)
    assert "condition" not in passed.why
    assert "cannot read" in passed.why.lower()


def test_a_condition_that_runs_out_of_time_is_asked():
    game = play(
        "name: n\nagents: {a: {}}\nphases: [{id: p, agents: [a], checkpoint: {condition: "
        "'(() => { while (true) {} })()', approval_required: true}}]\n"
    )
    game.finish("a")
    assert game.labels == ["Continue", "Abort"]


def test_a_when_that_runs_out_of_time_asks_true_or_false():
    game = play("name: n\nagents: {a: {}}\nphases: [{id: p, when: '(() => { while (true) {} })()', agents: [a]}]\n")
    assert game.labels == ["Count it as true", "Count it as false", "Try again", "Stop the run"]


EFFECTS = "name: n\nagents: {a: {effects: true}, b: {}}\nphases: [{id: p, agents: [a, b]}]\n"


def test_after_a_lost_process_a_plain_agent_runs_again_and_one_with_effects_waits_for_the_person():
    game = play(EFFECTS)
    game.do(c.Claim(), "another driver")
    verdicts = [(e.task, e.verdict, e.then) for e in game.log if type(e).__name__ == "AttemptEnded"]
    assert verdicts == [("R1/0/a", "doubt", "ask"), ("R1/0/b", "doubt", "retry")]
    assert game.effects() == [RunTask("R1/0/b", "b", 2)]
    game.finish("b")
    assert "may have acted already" in game.state.world.open.prompt
    game.decide("Try again")
    assert game.effects() == [RunTask("R1/0/a", "a", 2)]


@pytest.mark.parametrize("how", [{"failed": True}, {"cancelled": True}], ids=["failed", "cancelled"])
@pytest.mark.parametrize(("begun", "then"), [(True, "ask"), (False, "retry")])
def test_one_with_effects_that_was_begun_is_not_begun_again_without_a_question(how, begun, then):
    game = play(EFFECTS)
    game.finish("b")
    game.do(c.RecordAttempt("R1/0/a", 1, begun=begun, why="it broke", **how))
    assert [e.then for e in game.log if type(e).__name__ == "AttemptEnded"][-1] == then
    if begun:
        assert "a may have acted already: it broke" in game.state.world.open.prompt
        assert game.labels == ["Go on without it", "Try again", "Stop the run"]


ACTING = (
    "name: n\nagents: {a: {effects: true, gate: {min_chars: 9}}}\n"
    "phases: [{id: p, agents: [a], output: r, rounds: {max: 3}, checkpoint: {question: Well?, options: ["
    "{label: Done, then: continue}, {label: More, then: again}, {label: Anew, then: {goto: p, rerun: true}},"
    " {label: Undo, then: again, undo: true}]}}]\n"
)


def test_a_rejected_output_of_one_with_effects_is_asked_about_and_can_be_taken_as_it_is():
    game = play(ACTING)
    game.finish("a", "short")
    assert game.effects() == []
    assert "the output of a is not accepted: EMPTY_OUTPUT" in game.state.world.open.prompt
    assert "> short" in game.state.world.open.prompt
    assert game.labels == ["Take the output as it is", "Go on without it", "Try again", "Stop the run"]
    game.decide("Take the output as it is")
    assert game.labels[0] == "Done"
    assert game.context()["r"] == "short"


def test_one_with_effects_whose_output_was_rejected_is_begun_again_on_a_persons_word_and_told_why():
    game = play(ACTING)
    game.finish("a", "short")
    game.decide("Try again")
    assert game.effects() == [RunTask("R1/0/a", "a", 2)]
    task = game.state.world.top.round.open.tasks["a"]
    assert "EMPTY_OUTPUT" in task.reason
    assert task.rejected is not None
    assert game.state.record.decisions[1].acts == ("a",)
    game.finish("a", "long enough")
    assert game.labels[0] == "Done"


def test_one_with_effects_whose_output_was_rejected_is_gone_without():
    game = play(ACTING)
    game.finish("a", "short")
    game.decide("Go on without it")
    assert game.labels[0] == "Done"
    assert game.context()["r"] is None


@pytest.mark.parametrize(("label", "acts"), [("Done", ()), ("More", ("a",)), ("Anew", ("a",)), ("Undo", ("a",))])
def test_a_decision_records_which_agents_with_effects_act_again(label, acts):
    game = play(ACTING)
    game.finish("a", "long enough")
    game.decide(label)
    assert game.state.record.decisions[1].acts == acts


def test_a_rollback_is_refused_until_the_person_was_told_who_acts_again():
    game = play(ACTING)
    game.finish("a", "long enough")
    with pytest.raises(Refused, match="a acts on the world, and would act again"):
        game.do(c.Rollback(by="ann"))
    game.do(c.Rollback(by="ann", told=("a",)))
    assert game.working() == ["a"]
    assert [e.acts for e in game.log if type(e).__name__ == "RoundUndone"] == [("a",)]


def test_a_check_that_would_have_one_with_effects_act_again_asks():
    game = play(
        "name: n\nagents: {a: {effects: true}}\nphases: [{id: p, agents: [a], output: r, check: {max: 3, rules: ["
        "{if: true, then: retry, say: thin}]}}]\n"
    )
    game.finish("a")
    assert game.effects() == []
    assert "thin. The check would have p done again, and a acts on the world" in game.state.world.open.prompt
    assert game.labels == ["Go on without it", "Try again", "Stop the run"]
    game.decide("Try again")
    assert game.working() == ["a"]
    game.finish("a")
    game.decide("Go on without it")
    assert game.state.ended == "completed"
    assert len(game.state.record.gap_checks) == 1


def test_a_conflict_between_agents_with_effects_does_not_suggest_to_run_them_again():
    game = play("name: n\nagents: {a: {effects: true}, b: {}}\nphases: [{id: q, agents: [a, b]}]\n")
    game.finish("a", files={"f.md": "from a"})
    game.finish("b", files={"f.md": "from b"})
    assert game.labels[:2] == ["Go on without it", "Try again"]


def test_to_wait_settles_nothing_and_the_same_is_asked_again():
    game = play(EFFECTS)
    game.do(c.Claim(running={"R1/0/a": "process 7", "R1/0/b": "process 8"}), "another driver")
    game.finish("b")
    assert "a is still at work: process 7." in game.state.world.open.prompt
    assert "process 8" not in game.state.world.open.prompt
    assert game.labels == ["Wait until it has ended", "Go on without it", "Try again", "Stop the run"]
    game.decide("Wait until it has ended")
    assert game.effects() == []
    assert "a may have acted already" in game.state.world.open.prompt
    assert game.labels == ["Go on without it", "Try again", "Stop the run"]
    game.decide("Go on without it")
    assert game.state.ended == "completed"


def test_unclaimed_tasks_are_claimed_without_doubt():
    game = play(
        "name: n\nagents: {a: {effects: true}}\nphases: [{id: p, agents: [a], checkpoint: {approval_required: true}},"
        " {id: q, agents: [a]}]\n"
    )
    game.finish("a")
    game.do(c.AnswerCheckpoint("", "Continue", by="ann"), claim="")
    game.do(c.Claim(), "later driver")
    assert game.state.world.open is None
    assert game.working() == ["a"]


CONFLICT = "name: n\nagents: {a: {}, b: {}}\nphases: [{id: p, agents: [a]}, {id: q, agents: [a, b]}]\n"


def at_conflict() -> Play:
    game = play(CONFLICT)
    game.finish("a", files={"f.md": "before"})
    game.finish("a", files={"f.md": "from a", "only-a.md": "a"})
    game.finish("b", files={"f.md": "from b"})
    assert "changed f.md differently" in game.state.world.open.prompt
    return game


def content(game: Play, path: str) -> str:
    return game.book.text(game.state.world.files[path].digest)


def test_two_agents_writing_the_same_file_is_a_reported_conflict_and_the_text_before_stays():
    game = at_conflict()
    assert game.labels == ["Try again", "Go on without it", "Use a's version", "Use b's version", "Stop the run"]
    game.decide("Go on without it")
    assert content(game, "f.md") == "before"
    assert content(game, "only-a.md") == "a"


def test_the_person_may_choose_one_version_of_a_conflict():
    game = at_conflict()
    game.decide("Use b's version")
    assert content(game, "f.md") == "from b"


def test_the_same_text_from_two_agents_is_no_conflict():
    game = play(CONFLICT)
    game.finish("a")
    game.finish("a", files={"f.md": "same"})
    game.finish("b", files={"f.md": "same"})
    assert game.state.status == "completed"


def test_a_persons_edit_wins_over_an_agents_write_of_the_same_step():
    game = play("name: n\nagents: {a: {}}\nphases: [{id: p, agents: [a]}]\n")
    mine = game.keep(b"mine")
    game.do(c.RecordEdits((c.EditIn("f.md", mine, 4, game.keep(b"diff"), "+1"),), by="ann"))
    game.finish("a", files={"f.md": "theirs"})
    assert "a and you changed f.md differently" in game.state.world.open.prompt
    game.decide("Go on without it")
    assert content(game, "f.md") == "mine"


RULES = """
name: gaps
agents: {a: {}, helper: {}}
phases:
  - id: p
    rounds: {max: 3}
    agents: [a]
    output: x
    gap_check:
      max: 2
      criteria:
        - {condition: "context.x.bad", action: retry, message: "x is bad"}
        - {condition: "context.x.thin", action: spawn_additional, agents: [helper], message: "x is thin"}
        - {condition: "context.x.odd", action: escalate, message: "x is odd"}
        - {condition: "context.x.wrong", action: abort, message: "x is wrong"}
  - {id: q, agents: [a]}
"""


def test_a_gap_check_retries_the_phase_and_records_it():
    game = play(RULES)
    game.finish("a", value={"bad": True})
    assert game.working() == ["a"]
    game.finish("a", value={})
    assert game.phase == "q"
    context = game.context()
    assert context["phases"]["iteration_counts"]["p"] == 2
    (check,) = context["gap_checks"]
    assert (check["action"], check["message"], check["count"]) == ("retry", "x is bad", 1)


def test_a_gap_check_over_its_max_asks_and_names_the_limit():
    game = play(RULES)
    for _ in range(3):
        game.finish("a", value={"bad": True})
    assert "limit check.max (2) of p" in game.state.world.open.prompt
    game.decide("Go on without it")
    assert game.phase == "q"


def test_a_gap_check_spawns_additional_agents_in_an_extra_round():
    game = play(RULES)
    game.finish("a", value={"thin": True})
    assert game.working() == ["helper"]
    game.finish("helper", value={})
    assert game.phase == "q"


def test_a_gap_check_escalates_to_the_person():
    game = play(RULES)
    game.finish("a", value={"odd": True})
    assert "x is odd" in game.state.world.open.prompt
    game.decide("Try again")
    assert game.working() == ["a"]


def test_a_gap_check_aborts_as_failed():
    game = play(RULES)
    game.finish("a", value={"wrong": True})
    assert game.state.status == "failed"
    assert game.state.why == "x is wrong"


SCRIPT = "name: n\nagents: {a: {}}\nphases: [{id: p, agents: [a], check: {script: [check]}}, {id: q, agents: [a]}]\n"


@pytest.mark.parametrize(("action", "phase"), [("", "q"), ("retry", "p")])
def test_a_check_script_is_an_effect_whose_verdict_moves_the_run(action: str, phase: str):
    game = play(SCRIPT)
    game.finish("a")
    assert game.effects() == [RunCheck(1)]
    game.do(c.RecordCheck(1, action, say="why"))
    assert game.phase == phase
    assert game.working() == ["a"]
    assert game.do(c.RecordCheck(1, action, say="why")) == []


def test_a_check_script_that_fails_asks_and_can_be_tried_again_or_passed_over():
    game = play(SCRIPT)
    game.finish("a")
    game.do(c.RecordCheck(1, error="exit 7"))
    assert "exit 7" in game.state.world.open.prompt
    game.decide("Try again")
    assert game.effects() == [RunCheck(1)]
    game.do(c.RecordCheck(1, error="exit 7"))
    game.decide("Go on without it")
    assert game.phase == "q"


GATED = """
name: gated
agents:
  a:
    retries: 2
    gate:
      - {min_chars: 10}
      - {headings: ["## Summary"]}
      - {if: "output.text.includes('???')", retry_with: "Finish it."}
phases: [{id: p, agents: [a], output: x}]
"""


def test_a_gate_sends_the_output_back_and_says_what_was_wrong():
    game = play(GATED)
    game.finish("a", "short")
    prompt = shown(game.state, game.book, "R1/0/a").prompt
    assert "EMPTY_OUTPUT" in prompt
    assert re.search(r"<rejected-\w+>\nshort\n</rejected-", prompt)
    game.finish("a", "long enough but no heading")
    assert "## Summary" in shown(game.state, game.book, "R1/0/a").prompt
    game.finish("a", "## Summary\nall of it, ??? the rest")
    assert game.state.world.open.attention, "retries are bounded"
    assert "Finish it." in game.state.world.open.prompt


def test_an_output_that_passes_its_gate_is_accepted():
    game = play(GATED)
    game.finish("a", "## Summary\nall of it")
    assert game.state.status == "completed"


def test_a_step_has_gates_of_its_own_after_those_of_the_agent():
    game = play(
        "name: n\nagents: {a: {retries: 5, gate: [{min_chars: 10}]}}\n"
        "phases: [{id: p, agents: [a], gate: [{headings: [Sum]}]}, {id: q, agents: [a]}]\n"
    )
    game.finish("a", "short")
    assert "EMPTY_OUTPUT" in shown(game.state, game.book, "R1/0/a").prompt
    game.finish("a", "long enough, no heading")
    assert "WRONG_FORMAT" in shown(game.state, game.book, "R1/0/a").prompt
    game.finish("a", "## Sum\nlong enough")
    assert game.phase == "q"
    game.finish("a", "long enough, no heading")
    assert game.state.status == "completed"


def test_what_a_step_asks_about_an_output_goes_with_the_assignment():
    game = play("name: n\nagents: {a: {gate: [{ask: One?}]}}\nphases: [{id: p, agents: [a], gate: {ask: Two?}}]\n")
    assert [gate.ask for gate in shown(game.state, game.book, "R1/0/a").agent.gates] == ["One?", "Two?"]


def test_a_schema_rejects_what_is_not_json_and_what_does_not_fit():
    game = play(
        "name: n\nagents: {a: {retries: 5, contract: {type: object, required: [level]}}}\n"
        "phases: [{id: p, agents: [a], output: x}]\n"
    )
    game.finish("a", "prose")
    assert "not JSON" in shown(game.state, game.book, "R1/0/a").prompt
    game.finish("a", value={"other": 1})
    assert "level" in shown(game.state, game.book, "R1/0/a").prompt
    game.finish("a", value={"level": "complex"})
    assert game.state.status == "completed"


def test_declared_files_must_be_written():
    game = play("name: n\nagents: {a: {retries: 0}}\nphases: [{id: p, agents: [a], writes: [plan.md]}]\n")
    game.finish("a")
    assert "FILE_MISSING: plan.md is not there. Write the file plan.md," in game.state.world.open.prompt
    game = play("name: n\nagents: {a: {retries: 0}}\nphases: [{id: p, agents: [a], writes: [a.md, b.md]}]\n")
    game.finish("a")
    assert "a.md, b.md are not there. Write the files a.md, b.md," in game.state.world.open.prompt


def test_options_of_an_attention_checkpoint_never_match_by_accident():
    game = play(ONE)
    game.fail("a", retryable=False)
    game.fail("b")
    with pytest.raises(Refused):
        game.decide("Continue")
