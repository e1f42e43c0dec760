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
from reconvene.core.facts import commands as c
from reconvene.core.facts import events as e
from reconvene.core.facts.actors import Actor
from reconvene.core.facts.evolve import fold
from reconvene.core.person.checkpoint import current_digest
from reconvene.errors import Forbidden, Refused
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
        command = c.AnswerCheckpoint("", option, fields, remarks, digest, by, "test")
        before = len(self.play.state.record.decisions)
        try:
            events = self._do(command, PEOPLE[name])
        except Refused:
            return
        if NEEDS[option] > 1:
            self.chose[name] = (option, tuple(sorted(fields.items())))
        if len(self.play.state.record.decisions) > before:
            self._check_decided(name, option, events)

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
            assert decided.approved[-1] == decided.user == name
        self.chose.clear()
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


def test_what_is_not_answered_is_as_the_first_said() -> None:
    play = _open()
    play.do(c.AnswerCheckpoint("", "Reject", {"sum": 7}, by="ada"), actor=PEOPLE["ada"])
    play.do(c.AnswerCheckpoint("", "Reject", by="bob"), actor=PEOPLE["bob"])
    (decided,) = play.state.record.decisions.values()
    assert play.book.object(decided.fields) == {"sum": 7}


@pytest.mark.parametrize("who", ["", "rex", "eve", "adm"])
def test_who_is_nobody_or_not_asked_cannot_approve(who: str) -> None:
    play = _open()
    with pytest.raises(Forbidden):
        play.do(c.AnswerCheckpoint("", "Approve", by="ada"), actor=PEOPLE[who])
    assert play.state.world.pending.approvals == ()
