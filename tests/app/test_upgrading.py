"""A run goes on with another workflow: what fits and what does not, and that all that was done stays as it was."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from tests.acceptance.support.stage import Stage

from reconvene.app import measures, queries, round_tries, session
from reconvene.app.upgrading import DoesNotFit, Fitting, fit, upgrade
from reconvene.app.views import ledger as ledgers
from reconvene.app.views.workflow_changes import changes, line
from reconvene.core import kit_finder
from reconvene.core.definition.bindings import Binding
from reconvene.core.facts.commands import Abort, BindAgents, Rollback
from reconvene.core.facts.events import AttemptEnded, CheckpointOpened, ClaimJudged, StepStarted, WorkflowUpgraded
from reconvene.core.facts.evolve import fold
from reconvene.errors import Refused, StaleDecision
from reconvene.wire.workflow_file import parse_workflow

FLOW = """
name: w
inputs: {topic: {type: text, default: ferries}}
agents:
  a: {prompt: Write badly.}
  b: {prompt: Review.}
  c: {prompt: Never asked yet.}
phases:
  - id: draft
    agents: [a]
    output: draft
    rounds: {max: 3}
    checkpoint:
      prompt: "Is the draft good?"
      options:
        - {label: Go on, then: continue}
        - {label: Again, remark: optional, then: again}
  - id: review
    agents: [b]
    output: review
    checkpoint:
      options:
        - {label: Done, then: continue}
        - {label: Back, then: {goto: draft}}
  - id: publish
    agents: [c]
    checkpoint: {approval_required: true}
"""


def stage(tmp_path: Path, text: str = FLOW) -> Stage:
    found = Stage(tmp_path / "home", text, {name: f"said by {name}" for name in "abcd"})
    found.drive()
    return found


def with_workflow(at: Stage, text: str, **given: object) -> Fitting:
    return fit(at.engine, at.run, parse_workflow(text), given, named="w.yaml", by="ann", door="test")


def upgraded(at: Stage, text: str, **given: object) -> None:
    upgrade(at.engine, with_workflow(at, text, **given))


def told(at: Stage) -> dict[str, object]:
    """All that people read of what is over."""
    state = at.state
    return {
        "rounds": round_tries.rounds(at.engine, at.run),
        "attempts": queries.attempts(at.engine, at.run),
        "ledger": [(one.id, one.text, one.status) for one in measures.ledger(at.engine, at.run).entries],
        "decisions": dict(state.record.decisions),
        "remarks": dict(state.record.remarks),
        "spent": dict(state.record.spent),
        "files": queries.files(at.engine, at.run),
    }


GOOD = FLOW.replace("Write badly.", "Write well.")


def test_the_next_round_is_asked_with_the_new_prompt_and_what_is_over_stays(tmp_path: Path) -> None:
    at = stage(tmp_path)
    at.decide("Again", "shorter")
    before = told(at)
    opened = at.point
    upgraded(at, GOOD)
    assert told(at) == before
    assert (at.point.id, at.point.prompt, at.point.phase) != (opened.id, opened.prompt, opened.phase)
    assert at.point.id == "C3"
    at.decide("Again", "warmer")
    prompts = [call.prompt for call in at.agents.of("a")]
    assert [("Write badly." in one, "Write well." in one) for one in prompts] == [(True, False)] * 2 + [(False, True)]
    assert "shorter" in prompts[-1]
    assert at.state.world.top.round is not None
    assert at.state.world.top.round.n == 3


def test_the_event_holds_both_digests_and_who(tmp_path: Path) -> None:
    at = stage(tmp_path)
    before = at.state.workflow
    upgraded(at, GOOD)
    (event,) = at.events(WorkflowUpgraded)
    assert (event.before, event.workflow, event.rounds, event.by) == (before, at.state.workflow, 1, "ann")
    assert before != at.state.workflow
    assert queries.summary(at.engine, at.run).pinned == at.state.workflow
    assert [one.before for one in queries.show(at.engine, at.run).upgrades] == [before]


def test_a_decision_on_what_was_shown_before_is_stale(tmp_path: Path) -> None:
    at = stage(tmp_path)
    shown, digest = at.point.id, queries.summary(at.engine, at.run).checkpoint.digest  # type: ignore[union-attr]
    upgraded(at, GOOD)
    with pytest.raises(StaleDecision):
        at.answer("Go on", checkpoint=shown)
    with pytest.raises(StaleDecision):
        at.answer("Go on", digest=digest)
    at.answer("Go on", digest=queries.summary(at.engine, at.run).checkpoint.digest)  # type: ignore[union-attr]


def test_a_round_that_is_rolled_back_is_done_with_the_new_workflow(tmp_path: Path) -> None:
    at = stage(tmp_path)
    upgraded(at, GOOD)
    at.engine.submit(at.run, Rollback(by="ann"))
    at.drive()
    assert "Write well." in at.agents.of("a")[-1].prompt
    assert at.state.status == "waiting"


def test_the_same_workflow_once_more_changes_nothing(tmp_path: Path) -> None:
    at = stage(tmp_path)
    upgraded(at, GOOD)
    seq = at.state.seq
    found = with_workflow(at, GOOD)
    assert found.is_same
    upgrade(at.engine, found)
    assert at.state.seq == seq


def test_of_two_that_were_compared_at_the_same_time_one_is_taken(tmp_path: Path) -> None:
    at = stage(tmp_path)
    other = at.other()
    mine, theirs = with_workflow(at, GOOD), with_workflow(other, FLOW.replace("Review.", "Review well."))
    upgrade(at.engine, mine)
    with pytest.raises(StaleDecision, match="moved on"):
        upgrade(other.engine, theirs)
    assert [event.workflow for event in at.events(WorkflowUpgraded)] == [mine.command.pinned.digest]


def test_a_process_that_knew_the_workflow_before_reads_on_with_the_new_one(tmp_path: Path) -> None:
    at = stage(tmp_path)
    other = at.other()
    assert other.point.prompt == "Is the draft good?"
    upgraded(at, GOOD.replace("Is the draft good?", "Is it good now?"))
    assert other.point.prompt == "Is it good now?"
    other.decide("Again")
    assert "Write well." in at.agents.of("a")[-1].prompt


def test_what_was_decided_meanwhile_is_not_overtaken(tmp_path: Path) -> None:
    at = stage(tmp_path)
    found = with_workflow(at, GOOD)
    at.decide("Go on")
    with pytest.raises(StaleDecision):
        upgrade(at.engine, found)
    assert at.events(WorkflowUpgraded) == []


def test_the_log_folds_to_the_same_state_with_and_without_snapshots(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session, "due_after", lambda state: 0)
    monkeypatch.setattr(session, "FEWEST_EVENTS", 0)
    at = stage(tmp_path)
    at.decide("Again")
    upgraded(at, GOOD)
    at.decide("Go on")
    other = at.other()
    assert other.state == fold(event for _, event in at.engine.log.read(at.run))
    assert other.engine.session(at.run).book.workflow.agents["a"].prompt.strip() == "Write well."


def test_phases_may_come_and_go_ahead_and_the_run_finds_its_place(tmp_path: Path) -> None:
    at = stage(tmp_path)
    at.decide("Go on")
    text = FLOW.replace("  - id: draft\n", "  - {id: early, agents: [c]}\n  - id: draft\n")
    text = text.replace("  - id: publish\n", "  - {id: polish, agents: [a]}\n  - id: publish\n")
    found = with_workflow(at, text)
    assert found.passed == ("early",)
    upgrade(at.engine, found)
    at.decide("Done")
    assert [event.serial for event in at.events(StepStarted)] == [1, 2, 3, 4]
    assert at.state.world.top.phase == "publish"
    assert dict(at.state.world.counts) == {"draft": 1, "review": 1, "polish": 1, "publish": 1}
    at.decide("Continue")
    assert at.state.status == "completed"


def test_a_round_that_is_rolled_back_finds_its_place_among_other_phases(tmp_path: Path) -> None:
    at = stage(tmp_path)
    at.decide("Go on")
    upgraded(at, GOOD.replace("  - id: draft\n", "  - {id: early, agents: [c]}\n  - id: draft\n"))
    at.engine.submit(at.run, Rollback(by="ann"))
    at.drive()
    assert at.point.phase == "review"
    at.decide("Done")
    assert at.point.phase == "publish"
    assert dict(at.state.world.counts) == {"draft": 1, "review": 1, "publish": 1}


def test_one_goes_back_to_an_earlier_checkpoint_as_it_is_in_the_new_workflow(tmp_path: Path) -> None:
    at = stage(tmp_path)
    at.decide("Go on")
    text = GOOD.replace("  - id: draft\n", "  - {id: early, agents: [c]}\n  - id: draft\n")
    upgraded(at, text.replace("Is the draft good?", "And now?"))
    at.decide("Back")
    assert (at.point.phase, at.point.prompt) == ("draft", "And now?")
    at.decide("Go on", "this is new")
    assert at.state.world.top.phase == "review", "phases after it are entered, those before it are not"
    assert "early" not in at.state.world.counts


def test_bindings_hold_on_where_the_agent_is_there(tmp_path: Path) -> None:
    at = stage(tmp_path)
    bindings = (Binding("b", model="test:one"), Binding("c", model="test:two"), Binding("a", command=("cat",)))
    at.engine.submit(at.run, BindAgents(bindings, "ann"))
    text = FLOW.replace("  c: {prompt: Never asked yet.}\n", "").replace("agents: [c]", "agents: [a]")
    found = with_workflow(at, text)
    assert found.command.unbound == ("c",)
    upgrade(at.engine, found)
    assert sorted(at.state.record.bindings) == ["a", "b"]


def test_an_agent_that_is_gone_is_still_read(tmp_path: Path) -> None:
    text = FLOW.replace("    agents: [a]\n    output: draft", "    agents: [a, d]\n    output: draft")
    at = stage(tmp_path, text.replace("  a: {prompt", "  d: {prompt: More.}\n  a: {prompt"))
    before = told(at)
    upgraded(at, FLOW)
    assert told(at) == before
    assert [one.agent for one in queries.wrote(at.engine, at.run, "d")] == ["d"]
    queries.show(at.engine, at.run)
    at.decide("Go on")
    assert at.state.world.top.phase == "review"


def test_what_was_written_before_is_judged_with_the_kits_of_then(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    at = stage(tmp_path)
    upgraded(at, FLOW.replace("name: w\n", "name: w\nkits: [reading]\n"))
    at.decide("Again", "more")
    asked: list[tuple[str, ...]] = []
    judge = kit_finder.judge
    monkeypatch.setattr(kit_finder, "judge", lambda kits=(): asked.append(kits) or judge(kits))
    measures.ledger(at.engine, at.run)
    assert asked == [], "verdicts are on record, and are not made anew"
    before = [
        msgspec.structs.replace(event, judged=0) if isinstance(event, AttemptEnded) else event
        for _, event in at.engine.log.read(at.run)
        if not isinstance(event, ClaimJudged)
    ]  # as a release wrote it that recorded none
    last = at.state.record.upgrades[0].rounds
    ledgers.ledger(before, lambda _: "", ("reading",), [(last, ())])
    assert asked == [(), ("reading",)], "round 1, and round 2"


def test_new_inputs_get_their_default_or_are_given_and_old_ones_stay(tmp_path: Path) -> None:
    at = stage(tmp_path)
    inputs = "{topic: {type: text, default: other}, size: {type: number, default: 3}}"
    upgraded(at, FLOW.replace("{topic: {type: text, default: ferries}}", inputs))
    assert queries.show(at.engine, at.run).context["inputs"] == {"topic": "ferries", "size": 3}  # type: ignore[index]
    needs = FLOW.replace("{topic: {type: text, default: ferries}}", "{who: {type: text, required: true}}")
    with pytest.raises(Exception, match="needs the input who"):
        with_workflow(at, needs)
    upgraded(at, needs, who="Ada")
    assert queries.show(at.engine, at.run).context["inputs"]["who"] == "Ada"  # type: ignore[index]
    with pytest.raises(Refused, match="given 'who' at its start"):
        with_workflow(at, needs + "# again\n", who="Bob")


def test_a_fork_from_before_an_upgrade_has_the_workflow_of_then(tmp_path: Path) -> None:
    at = stage(tmp_path)
    first = at.seqs(CheckpointOpened)[0]
    more = GOOD.replace("  c: {prompt", "  e: {prompt: Extra.}\n  c: {prompt")
    upgraded(at, more.replace("agents: [c]", "agents: [c, e]"))
    at.engine.submit(at.run, BindAgents((Binding("e", model="test:one"), Binding("b", model="test:two")), "ann"))
    early, late = (at.other(run=at.engine.fork(at.run, seq)) for seq in (first, 0))
    assert sorted(early.state.record.bindings) == ["b"], "there is no e in it"
    early.decide("Again")
    assert "Write badly." in at.agents.of("a")[-1].prompt
    late.decide("Again")
    assert "Write well." in at.agents.of("a")[-1].prompt
    assert late.state.record.upgrades


# --- stops that a mistake in the workflow caused ---


def test_a_broken_expression_is_evaluated_anew_and_the_run_goes_on_by_itself(tmp_path: Path) -> None:
    broken = FLOW.replace("  - id: review\n", "  - id: review\n    when: 'context.draft.nothing.there'\n")
    at = stage(tmp_path, broken)
    at.decide("Go on")
    assert at.point.attention
    upgraded(at, broken.replace("context.draft.nothing.there", "true"))
    at.drive()
    assert (at.point.attention, at.point.phase) == (False, "review")
    assert len(at.state.record.decisions) == 1


def test_a_broken_expression_that_is_still_broken_is_asked_anew(tmp_path: Path) -> None:
    broken = FLOW.replace("  - id: review\n", "  - id: review\n    when: 'context.draft.nothing.there'\n")
    at = stage(tmp_path, broken)
    at.decide("Go on")
    opened = at.point.id
    upgraded(at, broken.replace("Review.", "Review well."))
    assert at.point.attention
    assert at.point.id != opened


def test_a_prompt_that_cannot_be_filled_in_is_mended_and_tried_again(tmp_path: Path) -> None:
    broken = FLOW.replace("prompt: Review.", "prompt: 'Review {{ context.draft.titel | upper }}'")
    at = stage(tmp_path, broken)
    at.decide("Go on", "keep this")
    assert at.point.attention
    assert at.agents.of("b") == []
    upgraded(at, FLOW)
    assert at.point.attention, "what came of the step is still to be settled"
    at.decide("Try again")
    assert at.point.phase == "review"
    assert "Review." in at.agents.of("b")[0].prompt
    assert [one.option for one in at.state.record.decisions.values()] == ["Go on", "Try again"]


def test_a_limit_that_the_new_workflow_raises_does_not_stop_the_run_any_more(tmp_path: Path) -> None:
    at = stage(tmp_path, FLOW.replace("inputs:", "limits: {calls: 1}\ninputs:"))
    at.decide("Go on")
    assert "limit calls" in at.point.prompt
    upgraded(at, FLOW.replace("inputs:", "limits: {calls: 9}\ninputs:"))
    at.drive()
    assert (at.point.attention, at.point.phase) == (False, "review")


# --- what does not fit ---


def misfit(at: Stage, text: str) -> DoesNotFit:
    with pytest.raises(DoesNotFit) as caught:
        with_workflow(at, text)
    assert at.events(WorkflowUpgraded) == []
    return caught.value


def test_a_phase_on_record_that_is_gone_is_named_and_a_fork_offered_where_it_fits(tmp_path: Path) -> None:
    at = stage(tmp_path)
    at.decide("Go on")
    error = misfit(at, FLOW.replace("id: review", "id: reading"))
    (problem,) = error.problems
    assert problem.message == "there is no phase 'review'; on record: 1 round"
    first = at.seqs(CheckpointOpened)[0]
    assert error.fork == first
    assert f"reconvene fork {at.run} --at {first}; then: reconvene upgrade {at.run}-fork-1 --to w.yaml" in error.hint
    fork = at.other(run=at.engine.fork(at.run, error.fork))
    upgraded(fork, FLOW.replace("id: review", "id: reading"))
    fork.decide("Go on")
    assert fork.point.phase == "reading"


def test_where_no_checkpoint_fits_one_starts_anew(tmp_path: Path) -> None:
    at = stage(tmp_path)
    error = misfit(at, FLOW.replace("id: draft", "id: sketch").replace("goto: draft", "goto: sketch"))
    assert error.fork == 0
    assert "reconvene run w.yaml" in error.hint


_ASKED = """\
    checkpoint:
      prompt: "Is the draft good?"
      options:
        - {label: Go on, then: continue}
        - {label: Again, remark: optional, then: again}
"""
_LOOP = "    agents: [a]\n    output: draft\n    each: {of: '[{id: 1}]'}\n"


@pytest.mark.parametrize(
    ("old", "new", "line", "message"),
    [
        (_ASKED, "", 9, "phase 'draft' has no checkpoint; on record: checkpoint C1 is open there"),
        ("    agents: [a]\n    output: draft\n", _LOOP, 9, "phase 'draft' has steps of its own, once for each 'id'"),
        ("type: text", "type: number", 0, "the input 'topic' is a number; on record: it is a text"),
    ],
)
def test_what_does_not_fit_is_said_with_its_line(tmp_path: Path, old: str, new: str, line: int, message: str) -> None:
    at = stage(tmp_path)
    assert old in FLOW
    text = FLOW.replace(old, new).replace(", default: ferries", "")
    text = text if "has no checkpoint" not in message else text.replace("goto: draft", "goto: previous")
    found = misfit(at, text).problems
    assert [one for one in found if one.message.startswith(message) and one.line == line], found


def test_phases_on_record_keep_their_order(tmp_path: Path) -> None:
    at = stage(tmp_path)
    at.decide("Go on")
    head, draft, rest = FLOW.partition("  - id: draft\n")
    body, review, publish = rest.partition("  - id: review\n")
    swapped = head + review + publish.partition("  - id: publish\n")[0] + draft + body
    (problem,) = misfit(at, swapped).problems
    assert problem.message == "the phases come in the order review, draft; on record: the order draft, review"


STEPS = """
name: w
agents: {a: {}, b: {}}
phases:
  - id: work
    steps:
      - {agents: [a], output: one}
      - {agents: [b], output: two}
    checkpoint: {approval_required: true}
"""


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("agents: [a], output: one", "agents: [b], output: one", "step 1 of phase 'work' is for b"),
        ("agents: [b], output: two", "agents: [b, a], output: two", "step 2 of phase 'work' is for b, a"),
        ("{agents: [a], output: one}", "{agents: [a], output: uno}", "step 1 of phase 'work' gives 'uno'"),
        ("      - {agents: [b], output: two}\n", "", "phase 'work' has no step 2"),
    ],
)
def test_a_round_under_way_keeps_the_steps_that_have_begun(tmp_path: Path, old: str, new: str, message: str) -> None:
    at = Stage(tmp_path / "home", STEPS, {"a": "said by a"})
    at.drive()
    assert at.point.attention, "b gives nothing"
    problem, *_ = misfit(at, STEPS.replace(old, new)).problems
    assert problem.message.startswith(f"{message}; on record: step ")
    upgraded(at, STEPS.replace("output: two}", "output: two}\n      - {agents: [a], output: three}"))


EACH = """
name: w
agents: {a: {}, b: {}}
phases:
  - {id: list, agents: [a], output: items}
  - id: loop
    each: {of: context.items}
    phases:
      - {id: one, agents: [b], output: note, checkpoint: {approval_required: true}}
"""


def test_a_value_on_record_keeps_where_it_lives(tmp_path: Path) -> None:
    at = Stage(tmp_path / "home", EACH, {"a": '[{"id": "x"}, {"id": "y"}]', "b": "noted"})
    at.drive()
    assert at.point.scope == "loop#1[x]/one#1"
    elsewhere = EACH.replace("output: items}", "output: items}\n  - {id: more, agents: [b], output: note}")
    elsewhere = elsewhere.replace("- {id: one, agents: [b], output: note,", "- {id: one, agents: [b],")
    assert [one.message for one in misfit(at, elsewhere).problems] == [
        "'note' is one value of the whole run; on record: it has a value, and is one value for each item of 'loop'"
    ]
    upgraded(at, EACH.replace("[b], output: note", "[b, a], output: note"))
    at.decide("Continue")
    assert at.point.scope == "loop#1[y]/one#1"


NAMED = """
name: w
agents: {a: {}, b: {prompt: "Judge {{ context.essay }}."}}
phases:
  - {id: draft, agents: [a], output: essay, checkpoint: {approval_required: true}}
  - {id: judge, agents: [b], output: verdict, checkpoint: {approval_required: true}}
"""


def test_a_value_on_record_is_not_lost_without_a_word(tmp_path: Path) -> None:
    at = Stage(tmp_path / "home", NAMED, {"a": "An essay.", "b": "Fine."})
    at.drive()
    other = NAMED.replace("essay", "paper")
    refused = misfit(at, other)
    assert [one.message for one in refused.problems] == [
        "there is no value 'essay'; on record: it has one, which nothing would see any more"
    ]
    assert f"reconvene upgrade {at.run} --to w.yaml --drop essay" in refused.hint
    given_up = fit(at.engine, at.run, parse_workflow(other), drop=["essay", "nothing"], by="ann")
    upgrade(at.engine, given_up)
    (event,) = at.events(WorkflowUpgraded)
    assert event.dropped == ("essay",)
    back = fit(at.engine, at.run, parse_workflow(NAMED), by="ann")
    upgrade(at.engine, back)
    at.decide("Continue")
    assert "Judge An essay." in at.agents.of("b")[-1].prompt


def test_a_name_that_has_no_value_yet_may_go(tmp_path: Path) -> None:
    at = Stage(tmp_path / "home", NAMED, {"a": "An essay.", "b": "Fine."})
    at.drive()
    upgraded(at, NAMED.replace("verdict", "ruling"))


def test_it_is_refused_in_the_middle_of_work_and_possible_at_the_end(tmp_path: Path) -> None:
    at = Stage(tmp_path / "home", FLOW, {})
    with pytest.raises(Refused, match="at a checkpoint, or when the run has ended"):
        with_workflow(at, GOOD)
    at.engine.submit(at.run, Abort("ann"))
    upgraded(at, GOOD)
    assert at.state.ended == "aborted"
    assert at.state.record.upgrades


# --- the words ---


def test_changes_are_told_in_the_words_of_the_file() -> None:
    text = FLOW.replace("Write badly.", "|\n      Write well,\n      and short.\n  ")
    text = text.replace("{max: 3}", "{max: 4}").replace("  c: {prompt: Never asked yet.}\n", "  c: {}\n")
    text = text.replace("- {label: Go on, then: continue}", "- {label: On, then: continue}")
    text = text.replace("  a: {prompt: |", "  a:\n    prompt: |").replace("short.\n  }", "short.")
    found = changes(parse_workflow(FLOW), parse_workflow(text))
    assert [line(one) for one in found] == [
        "phase draft, rounds, max: 3 → 4",
        "gone: phase draft, checkpoint, option Go on",
        "new: phase draft, checkpoint, option On",
        "agent a, prompt: +2 −1 lines",
        "gone: agent c, prompt (was: Never asked yet.)",
    ]
    assert "+Write well," in found[3].diff
    assert msgspec.json.encode(found[0]) == b'{"what":"phase draft, rounds, max","how":"changed","was":"3","now":"4"}'
