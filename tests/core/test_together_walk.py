"""Any sequence of choices, remarks, hand-overs and deadlines, by people under any names: what needs n people is never
decided by fewer.

The model is a list of who chose what last, kept by the test from what the people did, and not from what the log says.
"""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

from exploring import TIMES
from reconvene.app.views.open_checkpoints import approvals
from reconvene.core.facts import commands as c
from reconvene.core.facts import events as e
from reconvene.core.facts.actors import Actor
from reconvene.core.facts.evolve import fold
from reconvene.core.person import approving
from reconvene.core.person.checkpoint import current_digest
from reconvene.core.shown import drafts
from reconvene.errors import Forbidden, Refused, StaleDecision
from reconvene.language.times import later
from reconvene.testing.play import Play
from reconvene.wire.snapshot_json import decode_state, encode_state
from reconvene.wire.workflow_file import parse_workflow

NEEDS = {"Approve": 3, "Reject": 2, "Ask": 1}
WORKFLOW = """
name: pay
agents: {w: {}}
phases:
  - id: plan
    agents: [w]
    rounds: {max: 50}
    checkpoint:
      who: [ada, bob, "team:finance"]
      within: 1d
      late: {who: [eve]}
      fields: [{id: sum, type: number}]
      options:
        - {label: Approve, needs: 3, remark: optional, fields: [{id: why, type: text}]}
        - {label: Reject, needs: 2, then: {end: rejected}}
        - {label: Ask, then: again, remark: optional}
"""
PEOPLE = {
    "ada": Actor("ada", "decider"),
    "bob": Actor("bob", "decider"),
    "cyd": Actor("cyd", "decider", ("finance", "legal")),
    "dan": Actor("dan", "decider", ("finance",)),
    "eve": Actor("eve", "decider"),
    "rex": Actor("rex", "reviewer", ("finance",)),
    "adm": Actor("adm", "admin"),
    "": Actor(),
}
NAMES = st.sampled_from(sorted(PEOPLE))
CLAIMED = st.sampled_from(["", "ada", "bob", "cyd", "dan", "eve", "adm"])
ANSWERS = st.sampled_from([{}, {"sum": 1}, {"sum": 2}])
WORDS = st.sampled_from(["", "", "Mind the fees.", "No."])


class Together(RuleBasedStateMachine):
    @initialize()
    def begin(self) -> None:
        self.play = Play(parse_workflow(WORKFLOW))
        self.play.finish("w")
        self.chose: dict[str, tuple[str, tuple[tuple[str, object], ...]]] = {}
        self.at = self.play.state.updated
        self.seen: dict[str, str] = {}
        self.meant: dict[str, dict[str, object]] = {}  # what each has answered themselves, or agreed to
        self.gone: set[str] = set()  # who may not decide any more

    def _do(self, command: c.Command, actor: Actor) -> list[e.AnyEvent]:
        self.at = later(self.at, 60)
        return self.play.do(command, actor=actor, at=self.at)

    @rule(name=NAMES)
    def look(self, name: str) -> None:
        self.seen[name] = current_digest(self.play.state)

    @rule(
        name=NAMES,
        by=CLAIMED,
        option=st.sampled_from(sorted(NEEDS)),
        fields=ANSWERS,
        words=WORDS,
        as_seen=st.booleans(),
    )
    def choose(self, name: str, by: str, option: str, fields: dict[str, object], words: str, as_seen: bool) -> None:
        if self.play.state.ended:
            return
        remarks = (c.RemarkIn(words),) if words else ()
        digest = self.seen.get(name, "") if as_seen else ""
        barred = approving.barred(self.play.state, self._person)
        command = c.AnswerCheckpoint("", option, fields, remarks, digest, by, "test", barred=barred)
        before = len(self.play.state.record.decisions)
        meant = self._meant(name, option, fields, saw=bool(digest))
        try:
            events = self._do(command, self._person(name))
        except Refused:
            return
        if NEEDS[option] > 1:
            self.chose[name] = (option, tuple(sorted(fields.items())))
            self.meant[name] = meant
        if len(self.play.state.record.decisions) > before:
            self._check_decided(name, option, events)

    def _person(self, name: str) -> Actor:
        return Actor(name, "viewer") if name in self.gone else PEOPLE[name]

    def _meant(self, name: str, option: str, fields: dict[str, object], *, saw: bool) -> dict[str, object]:
        """What this person stands for who chooses so: as they answer, as they answered, or as is shown to them."""
        state, book = self.play.state, self.play.book
        before = drafts.here(state, book)
        if self.chose.get(name, ("",))[0] == option:
            counts = name in {one.user for one in approving.counting(state)}
            return (self.meant[name] if counts else before) | fields
        shown = [one.answers for one in approvals(state, book, self._person) if one.counts and one.option == option]
        return before | (shown[0] if saw and shown else {}) | fields

    @rule(name=st.sampled_from(["ada", "cyd", "dan"]), gone=st.booleans())
    def change_people(self, name: str, gone: bool) -> None:
        self.gone = self.gone | {name} if gone else self.gone - {name}

    @rule(name=NAMES, number=st.integers(1, 4))
    def take_back(self, name: str, number: int) -> None:
        state = self.play.state
        remark = state.record.remarks.get(number)
        with_choice = any(remark.id in (*one.remarks, *one.notes) for one in approving.counting(state)) if remark else 0
        try:
            events = self._do(c.WithdrawRemark(f"FB-{number:03}", name, "test"), PEOPLE[name])
        except Refused:
            return
        assert remark is not None
        assert not events or (not with_choice and (remark.user == PEOPLE[name].user or name == "adm"))

    @rule(name=NAMES, by=CLAIMED)
    def insist(self, name: str, by: str) -> None:
        """The same once more, under any name."""
        if name in self.chose:
            option, fields = self.chose[name]
            self.choose(name, by, option, dict(fields), "", as_seen=False)

    def _check_decided(self, name: str, option: str, events: list[e.AnyEvent]) -> None:
        (decided,) = [event for event in events if isinstance(event, e.DecisionRecorded)]
        assert decided.option == option
        if NEEDS[option] > 1:
            really = {one for one, (chosen, _) in self.chose.items() if chosen == option}
            assert len(set(decided.approved)) == len(decided.approved) >= NEEDS[option]
            assert set(decided.approved) <= really
            assert "" not in decided.approved
            assert not self.gone & set(decided.approved)
            answers = self.play.book.object(decided.fields) if decided.fields else {}
            assert all(self.meant[one] == answers for one in decided.approved)
            assert decided.approved[-1] == decided.user == name
        self.chose.clear()
        self.meant.clear()
        if not self.play.state.ended:
            self.play.finish("w")

    @rule(name=NAMES, words=st.sampled_from(["Why?", "Too dear.", "Mind the fees."]))
    def remark(self, name: str, words: str) -> None:
        if self.play.state.ended:
            return
        try:
            self._do(c.AddRemark(c.RemarkIn(words), name, "test"), PEOPLE[name])
        except Refused:
            return

    @rule(name=NAMES, who=st.sampled_from([("ada", "bob", "dan"), ("team:legal",), ("eve",), ("team:finance", "eve")]))
    def hand_over(self, name: str, who: tuple[str, ...]) -> None:
        if self.play.state.ended:
            return
        try:
            events = self._do(c.Assign("", who, name, "test"), PEOPLE[name])
        except Refused:
            return
        if events:
            self.chose.clear()
            self.meant.clear()

    @rule(hours=st.sampled_from([1, 30]))
    def time_passes(self, hours: int) -> None:
        self.at = later(self.at, hours * 3600)
        if not self.play.state.ended:
            assert all(not isinstance(event, e.DecisionRecorded) for event in self._do(c.Lapse(), PEOPLE["adm"]))

    def teardown(self) -> None:
        """The log gives the state, and a snapshot keeps it."""
        assert fold(self.play.log) == self.play.state
        assert decode_state(encode_state(self.play.state)) == self.play.state

    @invariant()
    def approvals_are_of_different_proved_people(self) -> None:
        users = [one.user for one in self.play.state.world.pending.approvals]
        assert len(users) == len(set(users))
        assert "" not in users


def test_fewer_people_than_an_option_needs_never_decide_it() -> None:
    run_state_machine_as_test(
        Together,
        settings=settings(
            max_examples=40 * TIMES, stateful_step_count=30, deadline=None, suppress_health_check=list(HealthCheck)
        ),
    )


def _open() -> Play:
    play = Play(parse_workflow(WORKFLOW))
    play.finish("w")
    return play


def test_who_chooses_the_same_option_with_other_answers_chooses_something_else() -> None:
    play = _open()
    play.do(c.AnswerCheckpoint("", "Reject", {"sum": 1}, by="ada"), actor=PEOPLE["ada"])
    assert play.state.world.open is not None
    play.do(c.AnswerCheckpoint("", "Reject", {"sum": 2}, by="bob"), actor=PEOPLE["bob"])
    assert play.state.world.open is not None
    play.do(c.AnswerCheckpoint("", "Reject", {"sum": 1}, by="bob"), actor=PEOPLE["bob"])
    assert play.state.outcome == "rejected"


def _chooses(
    play: Play, name: str, option: str = "Reject", fields: dict[str, object] | None = None, *words: str, at: str = ""
) -> None:
    """`at`: the version that they name; "" = none."""
    remarks = tuple(map(c.RemarkIn, words))
    command = c.AnswerCheckpoint("", option, fields or {}, remarks, digest=at, by=name)
    play.do(command, actor=PEOPLE[name])


def _answered(play: Play) -> object:
    (decided,) = play.state.record.decisions.values()
    return play.book.object(decided.fields)


def test_what_is_not_answered_is_as_the_first_said_where_that_was_shown() -> None:
    play = _open()
    before = current_digest(play.state)
    _chooses(play, "ada", fields={"sum": 7})
    assert current_digest(play.state) != before, "what she answered is part of what is shown"
    with pytest.raises(StaleDecision):
        _chooses(play, "bob", at=before)
    _chooses(play, "bob", at=current_digest(play.state))
    assert _answered(play) == {"sum": 7}


def test_nobody_is_recorded_with_answers_that_they_did_not_see() -> None:
    play = _open()
    _chooses(play, "ada", fields={"sum": 7})
    _chooses(play, "bob")
    assert play.state.world.open is not None, "he answered nothing, which is another choice"
    shown = approvals(play.state, play.book)
    assert [(one.user, one.answers) for one in shown] == [("ada", {"sum": 7}), ("bob", {})]


def test_who_chooses_again_without_answers_keeps_their_own() -> None:
    play = _open()
    _chooses(play, "ada", fields={"sum": 1})
    _chooses(play, "bob", fields={"sum": 2})
    _chooses(play, "ada", at=current_digest(play.state))
    assert play.state.world.open is not None
    assert [one.answers for one in approvals(play.state, play.book)] == [{"sum": 1}, {"sum": 2}]
    with pytest.raises(Refused, match=r"sum was answered differently: 1 \(ada\), 2 \(bob\)") as refused:
        _chooses(play, "cyd", at=current_digest(play.state))
    assert refused.value.field == "sum"
    _chooses(play, "cyd", fields={"sum": 2}, at=current_digest(play.state))
    assert _answered(play) == {"sum": 2}


def test_the_words_of_the_first_are_part_of_what_is_shown_and_the_choice_counts_on() -> None:
    play = _open()
    before = current_digest(play.state)
    _chooses(play, "ada", "Approve", {}, "Only without VAT.")
    with pytest.raises(StaleDecision):
        _chooses(play, "bob", "Approve", at=before)
    assert [one.counts for one in approvals(play.state)] == [True]
    _chooses(play, "bob", "Approve", at=current_digest(play.state))
    assert [one.counts for one in approvals(play.state)] == [True, True]


def test_words_with_a_choice_leave_it_counting_where_the_checkpoint_names_nobody() -> None:
    play = Play(parse_workflow(WORKFLOW.replace('who: [ada, bob, "team:finance"]', "").replace("within: 1d", "")
                               .replace("late: {who: [eve]}", "")))  # fmt: skip
    play.finish("w")
    _chooses(play, "ada", "Reject", {}, "Too dear.")
    assert [one.counts for one in approvals(play.state)] == [True]
    _chooses(play, "bob", at=current_digest(play.state))
    assert play.state.outcome == "rejected"


def test_what_goes_with_a_choice_that_counts_is_not_taken_back() -> None:
    play = _open()
    _chooses(play, "ada", "Approve", {}, "Only without VAT.")
    for name in ("ada", "adm"):
        with pytest.raises(Refused, match="goes with what ada chose"):
            play.do(c.WithdrawRemark("FB-001", by=name), actor=PEOPLE[name])
    play.do(c.AddRemark(c.RemarkIn("Wait."), "rex"), actor=PEOPLE["rex"])
    play.do(c.WithdrawRemark("FB-001", by="ada"), actor=PEOPLE["ada"])
    assert dict(play.state.record.withdrawn) == {1: "ada"}, "her choice does not count any more"


def test_a_choice_of_somebody_who_may_not_decide_any_more_does_not_count() -> None:
    play = _open()
    _chooses(play, "dan")
    now = {**PEOPLE, "dan": Actor("dan", "decider")}  # no longer in the team
    assert approving.barred(play.state, PEOPLE.__getitem__) == ()
    for changed in (Actor("dan", "decider"), Actor("dan", "viewer", ("finance",)), Actor("dan", "unknown")):
        assert approving.barred(play.state, lambda _, one=changed: one) == ("dan",)
    play.do(c.AnswerCheckpoint("", "Reject", by="bob", barred=("dan",)), actor=PEOPLE["bob"])
    assert play.state.world.open is not None
    told = [(one.user, one.counts, one.barred) for one in approvals(play.state, person=now.__getitem__)]
    assert told == [("dan", False, True), ("bob", True, False)]
    play.do(c.AnswerCheckpoint("", "Reject", by="ada", barred=("dan",)), actor=PEOPLE["ada"])
    (decided,) = play.state.record.decisions.values()
    assert decided.approved == ("bob", "ada")


def test_a_refusal_names_the_field() -> None:
    play = _open()
    for fields in ({"sum": "many"}, {"nothing": 1}):
        with pytest.raises(Refused) as refused:
            _chooses(play, "ada", fields=fields)
        assert refused.value.field == next(iter(fields))


@pytest.mark.parametrize("who", ["", "rex", "eve", "adm"])
def test_who_is_nobody_or_not_asked_cannot_approve(who: str) -> None:
    play = _open()
    with pytest.raises(Forbidden):
        play.do(c.AnswerCheckpoint("", "Approve", by="ada"), actor=PEOPLE[who])
    assert play.state.world.pending.approvals == ()
