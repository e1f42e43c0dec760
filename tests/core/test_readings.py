"""A remark is read again, or taken back: the last reading counts everywhere, the words stay as they were said."""

from __future__ import annotations

import pytest

from reconvene.app.views.difference import difference
from reconvene.app.views.ledger import ledger
from reconvene.app.views.projections import in_full
from reconvene.core.facts import commands as c
from reconvene.core.facts import events as e
from reconvene.core.facts.actors import Actor
from reconvene.core.facts.evolve import fold
from reconvene.core.run.plan import RunTask
from reconvene.core.shown import on_record, scope
from reconvene.errors import Forbidden, Refused
from reconvene.prompts.context import shown
from reconvene.testing.play import Play
from reconvene.wire.event_json import decode_batch, encode_batch
from reconvene.wire.snapshot_json import decode_state, encode_state
from reconvene.wire.workflow_file import parse_workflow

FLOW = """
name: council
agents: {economist: {remit: money}, engineer: {remit: machines}}
phases:
  - id: views
    rounds: {max: 5}
    agents: [economist, engineer]
    checkpoint:
      options:
        - {label: Go on, then: continue}
        - {label: Again, recommend: feedback.major, then: again}
"""


@pytest.fixture
def play() -> Play:
    found = Play(parse_workflow(FLOW))
    found.finish_all()
    return found


def say(play: Play, text: str, kind: str = "comment") -> None:
    play.do(c.AddRemark(c.RemarkIn(text, kind), by="ann"))


def prompt(play: Play, agent: str = "economist") -> str:
    task = next(one.task for one in play.effects() if isinstance(one, RunTask) and one.agent == agent)
    return shown(play.state, play.book, task).prompt


def feedback(play: Play) -> dict[str, object]:
    found = scope.build(play.state, play.book, frozenset({"feedback"}))["feedback"]
    assert isinstance(found, dict)
    return found


def recommended(play: Play) -> list[str]:
    point = play.state.world.open
    return [option.label for option in point.options if option.recommend] if point else []


def test_the_last_reading_counts_for_weight_prompts_and_views(play: Play) -> None:
    say(play, "Debt is $150M, not $100M")
    assert (feedback(play)["major"], recommended(play)) == (True, ["Again"])  # the rules read the figures
    on_record.remark_views(play.state, play.book)  # and were asked for them before
    play.do(c.ReadRemark("FB-001", "clarification", "engineer", level="minor", reason="known", model="m:1"))
    (view,) = on_record.remark_views(play.state, play.book)
    assert (view["kind"], view["target"], view["level"], view["reason"], view["read_by"]) == (
        "clarification", "engineer", "minor", "known", "m:1",
    )  # fmt: skip
    assert (feedback(play)["major"], recommended(play)) == (False, [])
    play.do(c.ReadRemark("FB-001", kind="correction", by="ben"))
    (read,) = on_record.views_of(play.state, on_record.remarks_here(play.state))
    assert (read["kind"], read["level"], read["read_by"], read["by"]) == ("correction", "major", "ben", "ann")
    play.decide("Again")
    assert "- [FB-001] **Correction to engineer:** Debt is $150M, not $100M" in prompt(play)
    assert [row["level"] for row in on_record.decision_rows(play.state)] == ["major"]


def test_a_reading_after_it_was_delivered_reaches_the_next_prompt(play: Play) -> None:
    say(play, "The plant is old")
    play.decide("Again")
    assert "**Comment:** The plant is old" in prompt(play)
    play.do(c.ReadRemark("FB-001", kind="missing factor"))
    play.finish_all()
    play.decide("Again")
    assert "**Missing factor:** The plant is old" in prompt(play)


def test_the_same_reading_twice_is_one_event_and_the_same_remark_stays_one(play: Play) -> None:
    say(play, "The plant is old")
    command = c.ReadRemark("FB-001", kind="clarification", by="ann")
    assert [type(event) for event in play.do(command)] == [e.RemarkRead]
    assert play.do(command) == []
    say(play, "The plant is old")
    say(play, "The plant is old", "clarification")
    assert len(play.state.record.remarks) == 1


def test_figures_and_weight_follow_from_a_persons_correction(play: Play) -> None:
    say(play, "The debt is far higher")
    assert play.state.record.remarks[1].level == "minor"
    play.do(c.ReadRemark("FB-001", kind="correction", was="$100M", now="$150M", by="ann"))
    remark = play.state.record.remarks[1]
    assert (remark.was, remark.now, remark.level) == ("$100M", "$150M", "major")
    assert "50 %" in remark.reason
    play.decide("Again")
    assert "- was $100M, is $150M [FB-001]: The debt is far higher" in prompt(play)


def test_what_is_taken_back_is_shown_to_nobody_and_can_be_said_again(play: Play) -> None:
    say(play, "Forget this")
    say(play, "Keep this")
    play.do(c.WithdrawRemark("FB-001", by="ann"))
    assert play.do(c.WithdrawRemark("FB-001", by="ann")) == []
    assert (feedback(play)["count"], [row["id"] for row in feedback(play)["all"]]) == (1, ["FB-002"])  # type: ignore[attr-defined]
    assert [remark.id for remark in on_record.remarks_here(play.state)] == ["FB-002"]
    say(play, "Forget this")
    assert [remark.id for remark in on_record.remarks_here(play.state)] == ["FB-002", "FB-003"]
    play.do(c.WithdrawRemark("FB-003", by="ann"))
    play.decide("Again")
    assert "Keep this" in prompt(play)
    assert "Forget this" not in prompt(play)
    task = next(one.task for one in play.effects() if isinstance(one, RunTask))
    assert [row["id"] for row in shown(play.state, play.book, task).remarks] == ["FB-002"]
    assert [row["remarks"] for row in on_record.decision_rows(play.state)] == [["FB-002"]]


def test_what_an_agent_was_shown_can_be_taken_back_and_the_agent_is_told(play: Play) -> None:
    say(play, "The plant is old")
    play.decide("Again")
    assert "FB-001" in prompt(play)
    play.do(c.WithdrawRemark("FB-001", by="ann"))
    play.finish_all()
    play.decide("Again")
    assert "- [FB-001] was taken back: it does not hold any more." in prompt(play)
    assert "The plant is old" not in prompt(play)


def test_a_remark_takes_the_place_of_another_and_agents_that_saw_it_are_told(play: Play) -> None:
    say(play, "The plant is old")
    play.decide("Again")
    play.finish_all()
    play.do(c.AddRemark(c.RemarkIn("The plant is new", replaces="fb-001"), by="ann"))
    assert dict(play.state.record.replaced) == {1: "FB-002"}
    play.decide("Again")
    assert "- [FB-001] was replaced by [FB-002]: it does not hold any more." in prompt(play)
    assert "The plant is old" not in prompt(play)
    assert "The plant is new" in prompt(play)
    lines = ledger(play.log, lambda ref: "").lines()
    assert "FB-001 – replaced by FB-002 · comment: The plant is old" in lines
    with pytest.raises(Refused, match=r"FB-001 was replaced by FB-002: there is nothing to replace"):
        play.do(c.AddRemark(c.RemarkIn("The plant is newer", replaces="FB-001"), by="ann"))


def test_a_person_settles_a_remark_once_and_also_after_the_end(play: Play) -> None:
    say(play, "The plant is old")
    play.do(c.Abort("ann"))
    assert [type(event).__name__ for event in play.do(c.SettleRemark("FB-001", by="ann"))] == ["RemarkSettled"]
    assert play.do(c.SettleRemark("FB-001", by="ann")) == []
    assert ledger(play.log, lambda ref: "").entries[0].status == "addressed"


def test_what_is_said_while_agents_work_is_weighed_at_the_next_checkpoint(play: Play) -> None:
    play.decide("Again")
    assert play.working()
    say(play, "The board approved the pivot to services yesterday", "strategic shift")
    remark = play.state.record.remarks[1]
    assert (remark.checkpoint, remark.working) == ("", True)
    play.finish_all()
    point = play.state.world.open
    assert point is not None
    assert point.weighs == ("FB-001",)
    assert on_record.remarks_here(play.state) == [remark]
    assert [option.label for option in point.options if option.recommend] == ["Again"]
    play.decide("Again")
    play.finish_all()
    assert on_record.remarks_here(play.state) == [], "once"


def test_readings_are_folded_stored_and_read_back(play: Play) -> None:
    say(play, "The plant is old")
    say(play, "Forget this")
    play.do(c.ReadRemark("FB-001", kind="missing factor", level="major", reason="r", model="m:1", door="test"))
    play.do(c.WithdrawRemark("FB-002", by="ann"))
    assert fold(decode_batch(encode_batch(play.log))) == play.state
    assert decode_state(encode_state(play.state)) == play.state
    assert play.state.record.remarks[1].text == "The plant is old"
    assert play.state.record.readings[1].reader == "model"
    assert dict(play.state.record.withdrawn) == {2: "ann"}


ANN = Actor("ann", "reviewer")


@pytest.mark.parametrize(
    ("actor", "by"),
    [(Actor("bob", "reviewer"), "ann"), (Actor("bob", "decider"), "bob"), (Actor(), "ann"), (Actor("bob"), "ann")],
)
def test_what_somebody_said_is_not_taken_back_by_others_under_any_name(play: Play, actor: Actor, by: str) -> None:
    play.do(c.AddRemark(c.RemarkIn("Never without tests", "comment"), by="ann"), actor=ANN)
    with pytest.raises(Forbidden, match="FB-001 is ann's"):
        play.do(c.WithdrawRemark("FB-001", by=by), actor=actor)
    assert not play.state.record.withdrawn


@pytest.mark.parametrize("actor", [ANN, Actor("root", "admin")])
def test_what_somebody_said_is_taken_back_by_them_or_an_admin(play: Play, actor: Actor) -> None:
    play.do(c.AddRemark(c.RemarkIn("Never without tests", "comment"), by="ann"), actor=ANN)
    play.do(c.WithdrawRemark("FB-001", by=actor.user), actor=actor)
    assert dict(play.state.record.withdrawn) == {1: actor.user}


def test_where_nobody_is_proved_the_same_name_takes_it_back(play: Play) -> None:
    say(play, "Forget this")
    with pytest.raises(Forbidden):
        play.do(c.WithdrawRemark("FB-001", by="bob"))
    play.do(c.WithdrawRemark("FB-001", by="ann"))
    assert dict(play.state.record.withdrawn) == {1: "ann"}


def test_what_was_taken_back_is_read_by_nobody_anew(play: Play) -> None:
    say(play, "Forget this")
    play.do(c.WithdrawRemark("FB-001", by="ann"))
    with pytest.raises(Refused, match="FB-001 was taken back by ann"):
        play.do(c.ReadRemark("FB-001", kind="correction", by="ann"))


def test_what_was_taken_back_is_shown_with_its_words_and_by_whom(play: Play) -> None:
    before = play.state
    say(play, "Forget this")
    said = play.state
    play.do(c.WithdrawRemark("FB-001", by="ann"))
    full = in_full(play.state, play.book)
    assert full.remarks == ()
    assert [(one.text, one.withdrawn) for one in full.withdrawn] == [("Forget this", "ann")]
    lines = ledger(play.log, lambda ref: "").lines()
    assert lines == ["No remarks stand.", "FB-001 – withdrawn by ann · comment: Forget this"]
    assert "FB-001 was taken back by ann (ann: Forget this)" in difference(said, play.state, play.book)
    assert any("Forget this" in line for line in difference(before, play.state, play.book))
