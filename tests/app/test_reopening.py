"""A run that has ended is taken up again: where it goes on, with which remarks, and what is added to its limits."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from tests.acceptance.support.stage import Stage

from reconvene.app import commits, measures, queries, session
from reconvene.app.reopening import reopen
from reconvene.app.upgrading import fit, upgrade
from reconvene.core.facts.commands import Abort, DropQueued, RemarkIn, Reopen, Rollback
from reconvene.core.facts.events import DecisionRecorded, RunEnded, RunReopened, Usage
from reconvene.core.facts.evolve import fold
from reconvene.errors import Refused
from reconvene.ports import Answer
from reconvene.testing.scripted import Reply
from reconvene.wire.workflow_file import parse_workflow

FLOW = """
name: w
agents: {a: {}, b: {}, c: {}}
phases:
  - id: draft
    agents: [a]
    output: draft
    rounds: {max: 2}
    checkpoint:
      options:
        - {label: Go on, then: continue}
        - {label: Again, remark: optional, recommend: feedback.major, then: again}
        - {label: Give up, then: {end: given up, status: failed}}
  - id: review
    agents: [b]
    checkpoint:
      options:
        - {label: Done, then: continue}
        - {label: Again, then: again}
    rounds: {max: 3}
  - {id: publish, agents: [c]}
"""


def stage(tmp_path: Path, text: str = FLOW, **replies: Reply) -> Stage:
    found = Stage(tmp_path / "home", text, {**{name: f"said by {name}" for name in "abc"}, **replies})
    found.drive()
    return found


def ended(tmp_path: Path, text: str = FLOW) -> Stage:
    at = stage(tmp_path, text)
    at.decide("Go on", "keep the ferries")
    at.decide("Done")
    assert at.state.status == "completed"
    return at


def taken_up(at: Stage, phase: str = "", *said: str, rerun: bool = False, **grants: float) -> None:
    remarks = tuple(map(RemarkIn, said))
    named = {name.replace("_", "."): more for name, more in grants.items()}
    reopen(at.engine, at.run, phase, rerun=rerun, grants=named, remarks=remarks, by="ann", door="test")
    at.drive()


def test_at_a_phase_its_checkpoint_opens_anew_and_nothing_works_before_the_person_decides(tmp_path: Path) -> None:
    at = ended(tmp_path)
    calls = len(at.agents.calls)
    taken_up(at, "draft", "Revenue is $900M, not $850M")
    assert (at.state.status, at.point.phase) == ("waiting", "draft")
    assert len(at.agents.calls) == calls
    (event,) = at.events(RunReopened)
    assert (event.status, event.outcome, event.phase, event.by) == ("completed", "completed", "draft", "ann")
    assert [one.checkpoint for one in at.state.record.remarks.values()] == ["C1", at.point.id]
    assert len(at.events(DecisionRecorded)) == 2, "what was decided stays"


def test_rounds_go_on_counting_and_agents_are_shown_what_was_said(tmp_path: Path) -> None:
    at = ended(tmp_path)
    taken_up(at, "draft", "Revenue is $900M")
    at.decide("Again")
    assert at.state.world.top.round is not None
    assert (at.state.world.top.round.n, at.state.world.top.round.serial) == (2, 4)
    asked = at.agents.of("a")[-1].prompt
    assert "Revenue is $900M" in asked
    assert "keep the ferries" in asked
    at.decide("Go on")
    assert at.point.phase == "review", "what lies behind is done anew, because something changed"
    at.decide("Done")
    assert at.state.status == "completed"
    assert [event.status for event in at.events(RunEnded)] == ["completed", "completed"]


def test_without_a_phase_the_last_checkpoint_opens_and_what_follows_it_is_not_done_first(tmp_path: Path) -> None:
    at = ended(tmp_path)
    taken_up(at, "", "in colour")
    assert at.point.phase == "review"
    assert [call.agent.name for call in at.agents.calls] == ["a", "b", "c"]
    at.decide("Again")
    assert "in colour" in at.agents.calls[-1].prompt


def test_where_nobody_was_asked_the_last_phase_is_done_anew(tmp_path: Path) -> None:
    text = "name: w\nagents: {a: {}, b: {}}\nphases: [{id: one, agents: [a]}, {id: two, agents: [b]}]\n"
    at = stage(tmp_path, text)
    assert at.state.status == "completed"
    taken_up(at, "", "in colour")
    assert [call.agent.name for call in at.agents.calls] == ["a", "b", "b"]
    assert "in colour" in at.agents.calls[-1].prompt
    assert at.state.status == "completed"
    assert at.state.world.counts["two"] == 2


def test_a_workflow_may_name_the_phase_at_which_its_runs_are_taken_up(tmp_path: Path) -> None:
    at = ended(tmp_path, FLOW.replace("agents: {a", "reopen: review\nagents: {a"))
    taken_up(at)
    assert at.point.phase == "review"


def test_a_phase_can_be_done_anew_instead_of_asking(tmp_path: Path) -> None:
    at = ended(tmp_path)
    taken_up(at, "draft", "anew", rerun=True)
    assert (at.point.phase, at.point.scope) == ("draft", "draft#2")
    assert "anew" in at.agents.of("a")[-1].prompt


def test_a_run_that_a_decision_ended_asks_that_question_again(tmp_path: Path) -> None:
    at = stage(tmp_path)
    at.decide("Give up")
    assert at.state.status == "failed"
    taken_up(at, "", "let us try")
    assert (at.point.phase, at.state.outcome) == ("draft", "")
    at.decide("Go on")
    assert at.point.phase == "review"


def test_a_run_that_was_aborted_at_a_checkpoint_asks_again(tmp_path: Path) -> None:
    at = stage(tmp_path)
    at.engine.submit(at.run, Abort("ann"))
    taken_up(at)
    assert at.point.phase == "draft"
    at.decide("Go on")
    assert at.point.phase == "review"


def test_a_run_that_was_aborted_in_the_middle_goes_on_there(tmp_path: Path) -> None:
    at = Stage(tmp_path / "home", FLOW, {"a": "said by a"})
    at.engine.submit(at.run, Abort("ann"))
    assert at.agents.calls == []
    taken_up(at)
    assert at.point.phase == "draft"
    assert len(at.agents.calls) == 1


def test_a_run_that_a_check_failed_does_the_phase_anew(tmp_path: Path) -> None:
    rule = """{if: "context.review != 'ok'", then: {end: bad, status: failed}, say: not ok}"""
    text = FLOW.replace("  - id: review\n", f"  - id: review\n    output: review\n    check: {{rules: [{rule}]}}\n")
    at = Stage(tmp_path / "home", text, {"a": "said by a", "b": ["wrong", "ok"], "c": "said by c"})
    at.drive()
    at.decide("Go on")
    assert (at.state.status, at.state.why) == ("failed", "not ok")
    taken_up(at, "", "say ok")
    assert at.point.phase == "review"
    assert "say ok" in at.agents.of("b")[-1].prompt
    assert at.point.scope == "review#2"


def test_only_what_has_ended_is_reopened_and_only_once(tmp_path: Path) -> None:
    at = stage(tmp_path)
    with pytest.raises(Refused, match="is waiting: only a run that has ended is reopened"):
        taken_up(at)
    at.engine.submit(at.run, Abort("ann"))
    taken_up(at)
    with pytest.raises(Refused, match="is waiting"):
        taken_up(at)


def test_of_two_that_reopen_at_the_same_time_one_does(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    at = ended(tmp_path)
    other = at.other()
    submit = other.engine.submit

    def late(*arguments: object, **named: object) -> object:
        taken_up(at, "draft", "first")
        return submit(*arguments, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(other.engine, "submit", late)
    with pytest.raises(Refused, match="only a run that has ended"):
        reopen(other.engine, at.run, "review", remarks=(RemarkIn("second"),))
    assert [event.phase for event in at.events(RunReopened)] == ["draft"]
    assert [one.text for one in at.state.record.remarks.values()] == ["keep the ferries", "first"]


def test_where_it_goes_on_was_settled_for_this_end_and_no_other(tmp_path: Path) -> None:
    at = ended(tmp_path)
    taken_up(at, "draft")
    at.engine.submit(at.run, Abort("ann"))
    with pytest.raises(Refused, match="only a run that has ended"):
        at.engine.submit(at.run, Reopen(before=0, phase="draft", visit=0))


def test_the_talk_tells_that_the_person_came_back(tmp_path: Path) -> None:
    at = ended(tmp_path, FLOW.replace("    output: draft\n", "    output: draft\n    reads: [conversation]\n"))
    taken_up(at, "draft", "one thing more")
    told = [(one.kind, one.who, one.text) for one in queries.talk(at.engine, at.run)]
    assert ("back", "ann", "came back from the end") in told
    assert told[-1] == ("remark", "ann", "one thing more")


@pytest.mark.parametrize(
    ("phase", "message", "hint"),
    [("reviw", "has no phase 'reviw'", "Did you mean review?"), ("publish", "has not come to publish yet", "where it")],
)
def test_a_phase_that_is_not_there_or_not_reached_is_refused(
    tmp_path: Path, phase: str, message: str, hint: str
) -> None:
    at = stage(tmp_path)
    at.engine.submit(at.run, Abort("ann"))
    with pytest.raises(Refused, match=message) as caught:
        taken_up(at, phase)
    assert hint in caught.value.hint


NESTED = """
name: w
agents: {a: {}, b: {}}
phases:
  - id: group
    phases:
      - {id: quiet, agents: [a]}
      - {id: asked, agents: [b], checkpoint: {approval_required: true}}
"""


def test_inside_a_group_a_checkpoint_opens_and_work_names_the_group(tmp_path: Path) -> None:
    at = stage(tmp_path, NESTED)
    at.decide("Continue")
    assert at.state.status == "completed"
    with pytest.raises(Refused, match="it is a part of group, which is over"):
        taken_up(at, "quiet")
    taken_up(at, "group")
    assert at.point.phase == "asked"
    at.decide("Continue")
    taken_up(at, "group", rerun=True)
    assert at.point.scope == "group#2/asked#1"


# --- limits ---


def test_more_calls_are_granted_on_record(tmp_path: Path) -> None:
    at = stage(tmp_path, FLOW.replace("agents: {a", "limits: {calls: 1}\nagents: {a"))
    at.decide("Go on")
    at.decide("Stop the run")
    assert at.state.status == "aborted"
    taken_up(at)
    assert "limit calls" in at.point.prompt, "nothing is granted silently"
    at.decide("Stop the run")
    taken_up(at, calls=5)
    assert (at.point.phase, at.point.attention) == ("review", False)
    assert at.events(RunReopened)[-1].grants == {"calls": 5}
    assert queries.show(at.engine, at.run).reopened[-1].grants == {"calls": 5}


def test_a_limit_that_was_gone_on_without_is_asked_anew(tmp_path: Path) -> None:
    at = stage(tmp_path, FLOW.replace("agents: {a", "limits: {rounds: 2}\nagents: {a"))
    at.decide("Go on")
    at.decide("Done")
    at.decide("Go on without it")
    assert at.state.status == "completed"
    taken_up(at, "publish", rerun=True)
    assert "limit rounds" in at.point.prompt
    at.decide("Stop the run")
    taken_up(at, rounds=1)
    assert at.state.status == "completed"
    assert at.agents.calls[-1].agent.name == "c"


def test_what_was_ruled_on_a_limit_does_not_rule_after_the_end(tmp_path: Path) -> None:
    at = stage(tmp_path, FLOW.replace("agents: {a", "limits: {rounds: 1}\nagents: {a"))
    at.decide("Again")
    for _ in range(3):  # another round of draft, then review and publish
        at.decide("Go on without it")
    assert at.state.status == "completed"
    taken_up(at, "draft")
    at.decide("Again")
    assert "limit rounds (1 per run) is reached before draft" in at.point.prompt


def test_a_phase_is_granted_another_round(tmp_path: Path) -> None:
    at = stage(tmp_path)
    at.decide("Again")
    assert "Again" not in at.labels
    at.engine.submit(at.run, Abort("ann"))
    taken_up(at, rounds_draft=1)
    assert "Again" in at.labels
    at.decide("Again")
    assert at.state.world.top.round is not None
    assert at.state.world.top.round.n == 3
    assert "Again" not in at.labels


def test_dollars_are_granted_to_a_limit_of_cost(tmp_path: Path) -> None:
    usage = Usage(model="m", requests=1, cost=2.0)
    dear = Answer("dear", None, False, {}, (), usage, b"", b"")
    text = FLOW.replace("agents: {a", "limits: {cost: 1.0}\nagents: {a")
    at = stage(tmp_path, text, a=dear, b=dear, c=dear)
    at.decide("Go on")
    assert "limit cost" in at.point.prompt
    at.decide("Stop the run")
    taken_up(at, cost=1.5)
    assert at.point.phase == "review"
    (budget,) = queries.show(at.engine, at.run).usage.budgets
    assert (budget.cost, budget.allowed) == (4.0, 2.5)
    at.decide("Done")
    assert "limit cost" in at.point.prompt


HELD = """
name: w
limits: {cost: 1.0, concurrency: 1}
agents: {a: {}, b: {}}
phases: [{id: work, agents: [a, b], checkpoint: {approval_required: true}}]
"""


def held(tmp_path: Path) -> Stage:
    """One agent has spent it all, and the other has not begun."""
    dear = Answer("dear", None, False, {}, (), Usage(model="m", requests=1, cost=2.0), b"", b"")
    at = stage(tmp_path, HELD, a=dear, b=dear)
    assert "b has not begun" in at.point.prompt
    return at


def test_tasks_that_a_limit_of_cost_held_back_begin_after_a_grant(tmp_path: Path) -> None:
    at = held(tmp_path)
    at.decide("Stop the run")
    taken_up(at)
    assert "b has not begun" in at.point.prompt
    at.decide("Stop the run")
    taken_up(at, cost=2)
    assert [call.agent.name for call in at.agents.calls] == ["a", "b"]
    assert not at.point.attention


def test_tasks_that_a_limit_of_cost_held_back_begin_where_a_new_workflow_allows_more(tmp_path: Path) -> None:
    at = held(tmp_path)
    upgrade(at.engine, fit(at.engine, at.run, parse_workflow(HELD.replace("cost: 1.0", "cost: 9.0"))))
    at.drive()
    assert [call.agent.name for call in at.agents.calls] == ["a", "b"]
    assert not at.point.attention


@pytest.mark.parametrize(
    ("grants", "message"),
    [
        ({"calls": 0.0}, "0 cannot be added"), ({"calls": 1.5}, "1.5 cannot be added"),
        ({"cost": 3.0}, "has no limit 'cost'"), ({"rounds.nothing": 1.0}, "has no limit 'rounds.nothing'"),
        ({"calls": float("nan")}, "cannot be added"), ({"calls": -1.0}, "cannot be added"),
    ],
)  # fmt: skip
def test_what_cannot_be_granted_is_refused(tmp_path: Path, grants: dict[str, float], message: str) -> None:
    at = ended(tmp_path)
    with pytest.raises(Refused, match=message):
        reopen(at.engine, at.run, grants=grants)
    assert at.state.status == "completed"


# --- what else there is of a run ---


def test_the_log_folds_to_the_same_state_with_and_without_snapshots(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session, "due_after", lambda state: 0)
    monkeypatch.setattr(session, "FEWEST_EVENTS", 0)
    at = ended(tmp_path, FLOW.replace("agents: {a", "limits: {cost: 1.0}\nagents: {a"))
    taken_up(at, "draft", "more", cost=2.5, calls=3)
    at.decide("Again")
    other = at.other()
    assert other.state == fold(event for _, event in at.engine.log.read(at.run))


def test_files_are_as_at_the_end_and_what_was_edited_since_is_the_persons(tmp_path: Path) -> None:
    wrote = {"text": "done", "files": {"draft.md": "first\n", "other.md": "same\n"}}
    at = Stage(tmp_path / "home", FLOW, {"a": wrote, "b": "said by b", "c": "said by c"})
    at.drive()
    at.decide("Go on")
    at.decide("Done")
    at.write("draft.md", "mine\n")
    taken_up(at, "draft")
    assert at.read("draft.md") == "mine\n"
    assert [one.text for one in at.state.record.remarks.values()] == ["Edited draft.md (+1 −1 lines)"]


def test_a_folder_that_is_gone_is_made_again(tmp_path: Path) -> None:
    wrote = {"text": "done", "files": {"draft.md": "first\n"}}
    at = Stage(tmp_path / "home", FLOW, {"a": wrote, "b": "said by b", "c": "said by c"})
    at.drive()
    at.decide("Go on")
    at.decide("Done")
    shutil.rmtree(at.folder)
    taken_up(at, "draft")
    assert at.read("draft.md") == "first\n"


def test_the_history_goes_on_and_is_the_same_however_it_caught_up(tmp_path: Path) -> None:
    at = ended(tmp_path)
    taken_up(at, "draft", "more")
    at.decide("Again")
    events = at.engine.log.read(at.run)
    whole = [commit.subject for commit in commits.commits(at.run, events)]
    assert "Run completed" in whole
    assert "Run reopened" in whole
    at.engine.commit_history(at.run)
    assert at.engine.history().last_seq(at.run) == [commit.seq for commit in commits.commits(at.run, events)][-1]


def test_a_fork_and_a_rollback_of_such_a_run(tmp_path: Path) -> None:
    at = ended(tmp_path)
    taken_up(at, "draft", "more")
    at.decide("Again")
    fork = at.other(run=at.engine.fork(at.run, by="ann"))
    at.engine.submit(at.run, Rollback(by="ann"))
    at.drive()
    assert at.state.record.undos == 1
    fork.drive()
    assert fork.point.phase == "draft"
    fork.decide("Go on")
    fork.decide("Done")
    assert fork.state.status == "completed"
    taken_up(fork, "draft")
    assert fork.point.phase == "draft"


def test_the_ledger_and_the_measures_tell_of_both_parts(tmp_path: Path) -> None:
    at = ended(tmp_path)
    taken_up(at, "draft", "more")
    at.decide("Again")
    assert [one.status for one in measures.ledger(at.engine, at.run).entries] == ["delivered", "delivered"]
    rounds = [(one.place, one.standard, one.extra) for one in measures.stats(at.engine, at.run).phases]
    assert rounds == [("draft#1", 1, 1), ("review#1", 1, 0), ("publish#1", 1, 0)]
    assert queries.show(at.engine, at.run).reopened[0].status == "completed"


def test_a_mended_workflow_can_be_taken_up_after_the_end(tmp_path: Path) -> None:
    at = ended(tmp_path)
    text = FLOW.replace("agents: {a: {}", "agents: {a: {prompt: Write well.}") + "  - {id: more, agents: [a]}\n"
    upgrade(at.engine, fit(at.engine, at.run, parse_workflow(text)))
    assert at.state.status == "completed"
    taken_up(at, "review")
    at.decide("Done")
    assert at.state.status == "completed"
    assert [call.agent.name for call in at.agents.calls] == ["a", "b", "c", "c", "a"], "what follows is done again"
    assert "Write well." in at.agents.calls[-1].prompt


def test_a_run_that_was_dropped_from_the_queue_begins(tmp_path: Path) -> None:
    text = """
name: w
inputs: {description: {type: text, default: it}, piece: {type: bool, default: false}}
agents: {a: {}}
phases:
  - id: triage
    when: "!inputs.piece"
    agents: [a]
    output: triage
    checkpoint:
      options: [{label: Split, start: {workflow: w, each: context.triage, inputs: {piece: "true"}}, then: {end: split}}]
  - {id: work, agents: [a]}
"""
    at = stage(tmp_path, text, a='[{"id": "one"}, {"id": "two"}]')
    at.decide("Split")
    (first, second) = queries.children_made(at.engine, at.run)
    at.engine.submit(first, DropQueued("ann"))
    child = at.other(run=first)
    taken_up(child)
    assert child.state.status == "completed"
    assert child.state.parent == at.run
    assert at.engine.load(second).status == "queued"
    taken_up(at)
    assert at.point.phase == "triage"
    at.decide("Split")
    assert queries.children_made(at.engine, at.run) == [first, second], "the same pieces are not started twice"
