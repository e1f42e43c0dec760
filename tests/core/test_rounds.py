"""Rounds, steps, limits, undo: rules 8–10, 14, 15, 18, 20, 21 and 28."""

from __future__ import annotations

import pytest

from reconvene.core.facts import commands as c
from reconvene.errors import Refused
from reconvene.testing.play import Play
from reconvene.wire.workflow_file import parse_workflow


def play(text: str, **inputs: object) -> Play:
    return Play(parse_workflow(text), inputs)


def names(game: Play) -> list[str]:
    return [f"{e.name}{e.n}" for e in game.log if type(e).__name__ == "RoundStarted"]


PLANNED = """
name: planned
agents: {a: {}, b: {}, mod: {}}
groups: {both: [a, b]}
phases:
  - id: p
    rounds: {plan: [isolated, convergence], max: 3}
    steps:
      - {agents: both, output: findings}
      - {agents: [mod], output: synthesis}
    checkpoint:
      options:
        - {label: Next, then: continue}
        - label: More
          fields: [{id: who, type: agents}]
          then: again
"""


def one_round(game: Play) -> None:
    while game.working():
        game.finish(game.working()[0])


def test_an_extra_round_takes_no_place_in_the_plan_and_the_planned_ones_still_run():
    game = play(PLANNED)
    one_round(game)
    game.decide("More")
    one_round(game)
    game.decide("Next")
    one_round(game)
    assert names(game) == ["isolated1", "extra2", "convergence3"]
    game.decide("Next")
    assert game.state.status == "completed"


def test_again_is_offered_only_while_it_and_the_planned_rounds_fit():
    game = play(PLANNED)
    one_round(game)
    game.decide("More")
    one_round(game)
    assert "More" not in game.labels
    with pytest.raises(Refused, match=r"limit rounds.max \(3\) of p"):
        game.decide("More")


def test_an_extra_round_for_chosen_agents_runs_only_them_and_then_the_other_steps():
    game = play(PLANNED)
    one_round(game)
    game.decide("More", fields={"who": ["b"]})
    assert game.working() == ["b"]
    game.finish("b")
    assert game.working() == ["mod"]


def test_an_agent_that_always_takes_part_is_in_every_extra_round_of_its_step():
    game = play(PLANNED.replace("a: {}", "a: {always: true}"))
    one_round(game)
    game.decide("More", fields={"who": ["b"]})
    assert game.working() == ["a", "b"]
    one_round(game)
    game.decide("Next")
    one_round(game)
    assert names(game) == ["isolated1", "extra2", "convergence3"]


def test_a_step_runs_in_the_rounds_that_it_names():
    game = play(
        PLANNED.replace("{agents: both, output: findings}", "{agents: [a], on: isolated}").replace(
            "{agents: [mod], output: synthesis}", "{agents: [b], on: [convergence, extra]}"
        )
    )
    assert game.working() == ["a"]
    one_round(game)
    game.decide("More")
    assert game.working() == ["b"]
    one_round(game)
    game.decide("Next")
    assert game.working() == ["b"]


def test_unknown_chosen_agents_are_refused():
    game = play(PLANNED)
    one_round(game)
    with pytest.raises(Refused, match="unknown agents zed"):
        game.decide("More", fields={"who": "zed"})


def test_a_step_waits_for_the_step_before_it_and_merges_in_declared_order():
    game = play(PLANNED)
    assert game.working() == ["a", "b"]
    game.finish("b", "from b")
    assert game.working() == ["a"]
    game.finish("a", "from a")
    assert game.working() == ["mod"]
    assert game.context()["findings"] == {"a": "from a", "b": "from b"}


UNTIL = """
name: until
agents: {a: {}}
phases:
  - id: p
    rounds: {until: "context.done.yes", max: 4}
    agents: [a]
    output: done
"""


def test_until_ends_the_rounds_and_max_bounds_them():
    game = play(UNTIL)
    game.finish("a", value={"yes": False})
    game.finish("a", value={"yes": True})
    assert game.state.status == "completed"
    assert [e.ended_by for e in game.log if type(e).__name__ == "RoundClosed"] == ["", "until"]
    game = play(UNTIL)
    for _ in range(4):
        game.finish("a", value={"yes": False})
    assert [e.ended_by for e in game.log if type(e).__name__ == "PhaseClosed"] == ["limit"]


def test_a_decision_that_makes_until_true_ends_the_rounds():
    text = UNTIL + "    checkpoint: {options: [{label: Enough, set: {done.yes: true}, then: continue}]}\n"
    game = play(text)
    game.finish("a", value={"yes": False, "kept": 1})
    game.decide("Enough")
    assert game.state.status == "completed"
    assert game.context()["done"] == {"yes": True, "kept": 1}


UNDO = """
name: undo
limits: {undo: 2}
agents: {a: {}}
phases:
  - id: p
    rounds: {plan: [one, two], max: 3, undo: 2}
    agents: [a]
    output: value
    checkpoint:
      options:
        - {label: Next, then: continue}
        - {label: Redo, undo: true, then: again, fields: [{id: reason, type: text, required: true, into: redo.reason}]}
        - {label: Drop, undo: true, then: continue}
"""


def test_undo_restores_the_world_runs_the_round_again_and_loses_no_remark():
    game = play(UNDO)
    game.finish("a", "first", files={"f.md": "one"})
    game.decide("Next", "remember this")
    before = game.state.world.files
    game.finish("a", "second", files={"f.md": "two", "g.md": "new"})
    game.decide("Redo", "it was bad", fields={"reason": "too vague"})
    assert game.state.world.files == before
    context = game.context()
    assert context["value"] == "first"
    assert context["redo"] == {"reason": "too vague"}
    assert game.working() == ["a"]
    assert [remark.text for remark in game.state.record.remarks.values()] == ["remember this", "it was bad"]
    assert names(game) == ["one1", "two2", "two2"]
    assert [e.serial for e in game.log if type(e).__name__ == "RoundStarted"] == [1, 2, 3]


def test_a_dropped_round_counts_but_is_not_run_again():
    game = play(UNDO)
    game.finish("a", "first")
    game.decide("Drop")
    assert game.context()["value"] is None
    assert names(game) == ["one1", "two2"]


def test_undo_stops_at_its_limits_and_names_them():
    game = play(UNDO)
    for _ in range(2):
        game.finish("a")
        game.decide("Redo", fields={"reason": "again"})
    game.finish("a")
    with pytest.raises(Refused, match=r"limit rounds.undo \(2 per round\)"):
        game.decide("Redo", fields={"reason": "again"})
    game.decide("Next")
    game.finish("a")
    with pytest.raises(Refused, match=r"limit undo \(2 per run\)"):
        game.do(c.Rollback(by="ann"))


def test_a_required_field_of_an_option_must_be_answered():
    game = play(UNDO)
    game.finish("a")
    with pytest.raises(Refused, match="needs an answer first"):
        game.decide("Redo")


BUDGET = """
name: budget
limits: {calls: {both: 3}}
agents: {a: {}, b: {}, mod: {}}
groups: {both: [a, b]}
phases:
  - {id: p, steps: [{agents: both, output: x}, {agents: [mod]}]}
  - {id: q, steps: [{agents: both, output: x}, {agents: [mod]}]}
  - {id: r, steps: [{agents: both, output: x}]}
"""


def test_a_group_budget_leaves_agents_out_and_then_closes_phases_by_limit():
    game = play(BUDGET)
    one_round(game)
    assert game.state.status == "completed"
    steps = [e for e in game.log if type(e).__name__ == "StepStarted"]
    assert [e.unfunded for e in steps] == [(), (), ("b",), ()]
    assert steps[2].limit == "calls.both"
    assert [e.ended_by for e in game.log if type(e).__name__ == "PhaseClosed"] == ["plan", "plan", "limit"]


def test_the_runs_own_call_limit_asks_and_can_be_raised():
    game = play("name: n\nlimits: {calls: 1}\nagents: {a: {}}\nphases: [{id: p, agents: [a]}, {id: q, agents: [a]}]\n")
    game.finish("a")
    assert game.state.world.open.attention
    assert "limit calls (1 agent call)" in game.state.world.open.prompt
    game.decide("Raise the limit")
    assert game.working() == ["a"]


def test_the_round_limit_asks_and_going_on_without_it_closes_the_phase():
    game = play("name: n\nlimits: {rounds: 1}\nagents: {a: {}}\nphases: [{id: p, agents: [a]}, {id: q, agents: [a]}]\n")
    game.finish("a")
    assert "limit rounds (1 per run)" in game.state.world.open.prompt
    game.decide("Go on without it")
    assert game.state.status == "completed"


def test_a_paused_run_records_what_comes_in_and_starts_nothing():
    game = play("name: n\nagents: {a: {}}\nphases: [{id: p, agents: [a]}, {id: q, agents: [a]}]\n")
    command = game.output("a")
    game.do(c.Pause(by="ann"))
    game.do(command)
    assert game.state.status == "paused"
    assert game.effects() == []
    game.do(c.Resume(by="ann"))
    assert game.phase == "q"


def test_a_late_output_is_archived_and_changes_nothing():
    game = play("name: n\nagents: {a: {}, b: {}}\nphases: [{id: p, agents: [a, b]}]\n")
    command = game.output("a")
    game.do(c.Abort(by="ann"))
    world = game.state.world
    (event,) = game.do(command)
    assert type(event).__name__ == "LateOutputArchived"
    assert game.state.world == world


def test_group_phases_walk_their_children_every_round():
    text = """
name: nest
agents: {a: {}, b: {}}
phases:
  - id: outer
    rounds: {until: "context.stop.now", max: 5}
    phases:
      - {id: inner, agents: [a], output: stop}
      - {id: other, when: "!context.stop.now", agents: [b]}
"""
    game = play(text)
    game.finish("a", value={"now": False})
    game.finish("b")
    game.finish("a", value={"now": True})
    assert game.state.status == "completed"
    assert game.context()["phases"]["iteration_counts"] == {"inner": 2, "other": 1, "outer": 1}


def test_values_of_an_each_body_are_kept_per_item_and_survive_a_repeat():
    text = """
name: items
agents: {a: {}}
phases:
  - id: loop
    each: {of: "[{id: 'x'}, {id: 'y'}]", key: id}
    phases:
      - id: work
        agents: [a]
        output: result
        checkpoint:
          options:
            - {label: Ok, then: continue}
            - {label: Redo, then: {goto: work, rerun: true}}
"""
    game = play(text)
    game.finish("a", "rx")
    assert game.context()["result"] == "rx"
    game.decide("Redo")
    assert game.context()["result"] == "rx"
    game.finish("a", "rx2")
    game.decide("Ok")
    assert game.context()["result"] is None
    game.finish("a", "ry")
    assert {key: value.by for key, value in game.state.world.values.items()} == {
        "loop[x]:result": "a",
        "loop[y]:result": "a",
    }


def test_leave_ends_the_phase_and_drops_its_planned_rounds():
    text = PLANNED.replace(
        "- {label: Next, then: continue}", "- {label: Next, then: continue}\n        - {label: Skip, then: leave}"
    )
    game = play(text)
    one_round(game)
    game.decide("Skip")
    assert game.state.status == "completed"
    assert names(game) == ["isolated1"]
    assert game.context()["phases"]["ended"] == {"p": "left"}
