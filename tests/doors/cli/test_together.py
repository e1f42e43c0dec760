"""Checkpoints that wait for named people, and options that need several: played at the command line, with tokens."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from commands import Command, Done
from reconvene.app.views.audit import entries
from reconvene.settings import system_user
from reconvene.wiring import open_engine

RUN = "pay-1"
FLOW = """\
name: pay
agents:
  writer: {command: ["sh", "-c", "cat >/dev/null; echo '# Plan'"]}
phases:
  - id: plan
    rounds: {max: 3}
    agents: [writer]
    checkpoint:
      question: Shall we pay?
      who: [ada, "team:finance"]
      options:
        - {label: Approve, needs: 2, remark: optional}
        - {label: Pay, needs: 2, fields: [{id: amount, required: true}]}
        - {label: Reject, needs: 2, then: {end: rejected}}
        - {label: Ask, then: again, remark: optional}
"""


class Home:
    """A home in which ada (no team), bob and cyd (finance) decide, dan decides and is in no team, and root is admin."""

    def __init__(self, reconvene: Command) -> None:
        self.reconvene = reconvene
        self.tokens: dict[str, str] = {}
        reconvene("people", "add", "root", "--role", "admin", "--account", system_user())
        for name, *teams in (("ada",), ("bob", "--team", "finance"), ("cyd", "--team", "finance"), ("dan",)):
            reconvene("people", "add", name, "--role", "decider", *teams)
        reconvene("people", "add", "rex", "--role", "reviewer", "--team", "finance")

    def by(self, name: str, *words: str) -> Done:
        return self.reconvene(*words, RECONVENE_TOKEN=self.token(name))

    def token(self, name: str) -> str:
        if name not in self.tokens:
            made = self.reconvene("people", "token", name, "--json").object
            self.tokens[name] = str(made["token"])
        return self.tokens[name]

    def decide(self, name: str, option: str, *more: str) -> Done:
        """On what is shown to them now."""
        self.by(name, "show", RUN)
        return self.by(name, "decide", RUN, "--option", option, *more)

    @property
    def point(self) -> dict[str, object]:
        found = self.reconvene("show", RUN, "--json").object["checkpoint"]
        assert isinstance(found, dict)
        return found

    def events(self, kind: str) -> list[dict[str, object]]:
        log = [json.loads(line) for line in self.reconvene("log", RUN, "--json").out.splitlines()]
        return [one for one in log if one["type"] == kind]


@pytest.fixture
def home(folder: Path, reconvene: Command) -> Iterator[Home]:
    (folder / "pay.yaml").write_text(FLOW, encoding="utf-8")
    assert reconvene("run", "pay.yaml", "--no-input").code == 3
    made = Home(reconvene)
    yield made
    looked = reconvene("verify", RUN)
    assert looked.code == 0, looked.out


def test_the_stop_says_whom_it_waits_for_and_how_many_it_needs(home: Home) -> None:
    shown = home.reconvene("show", RUN).out
    assert "waits for ada or team finance" in shown
    assert "“Approve” needs 2 people" in shown
    assert "for ada or team finance" in home.reconvene("inbox").out
    assert home.point["who"] == ["ada", "team:finance"]


def test_what_an_option_takes_is_told_whoever_may_choose_it(home: Home) -> None:
    options = home.point["options"]
    assert isinstance(options, list)
    ask = next(one for one in options if one["label"] == "Ask")
    assert (ask["takes"]["agents"], ask["takes"]["calls"]) == (["writer"], 1)


def test_who_is_not_named_cannot_decide_and_is_told_what_to_do(home: Home) -> None:
    for name in ("dan", "root"):
        refused = home.decide(name, "Ask")
        assert (refused.code, "waits for ada or team finance" in refused.err) == (64, True)
        assert f"assign {RUN} {name} NAME" in refused.err, "an option needs two"
    refused = home.decide("rex", "Ask")
    assert "takes the role decider" in refused.err, "to be in the team is not enough"
    for words in (("rollback", RUN, "--latest"),):
        assert home.by("dan", *words).code == 64
    assert home.events("DecisionRecorded") == []


def test_the_first_of_two_decides_nothing_and_the_second_does(home: Home) -> None:
    first = home.decide("ada", "Approve", "--feedback", "Mind the fees.")
    assert (first.code, "1 of 2: ada chose Approve" in first.out) == (3, True), first.err
    assert home.events("DecisionRecorded") == []
    second = home.decide("bob", "Approve")
    assert second.code == 0, second.err
    (decision,) = home.events("DecisionRecorded")
    assert (decision["approved"], decision["user"]) == (["ada", "bob"], "bob")
    assert "with ada" in home.reconvene("show", RUN).out


def test_the_notes_of_the_first_reach_the_second_before_they_decide_and_the_count_stands(home: Home) -> None:
    home.by("bob", "show", RUN)
    home.decide("ada", "Approve", "--feedback", "Mind the fees.")
    refused = home.by("bob", "decide", RUN, "--option", "Approve")
    assert (refused.code, "Mind the fees." in refused.err) == (64, True), "he had not seen it"
    assert "1 of 2: ada chose Approve" in home.by("bob", "show", RUN).out
    assert home.by("bob", "decide", RUN, "--option", "Approve").code == 0


def test_what_the_first_answered_is_shown_and_the_second_decides_on_it(home: Home) -> None:
    home.by("bob", "show", RUN)
    home.decide("ada", "Pay", "--field", "amount=1000000")
    refused = home.by("bob", "decide", RUN, "--option", "Pay")
    assert (refused.code, "ada chose “Pay” with amount: 1000000" in refused.err) == (64, True)
    missing = home.by("cyd", "decide", RUN, "--option", "Pay", "--latest")
    assert (missing.code, "needs an answer first" in missing.err) == (64, True), "nothing was shown to cyd"
    assert "1 of 2: ada (amount: 1000000) chose Pay" in home.by("bob", "show", RUN).out
    home.decide("cyd", "Pay", "--field", "amount=2")
    shown = home.by("bob", "show", RUN).out
    assert "they chose differently (amount: 1000000 by ada, 2 by cyd)" in shown
    assert home.decide("ada", "Pay").code == 3, "she keeps her own"
    assert home.decide("ada", "Pay", "--field", "amount=2").code == 0
    assert "amount: 2" in home.reconvene("show", RUN).out
    (decision,) = home.events("DecisionRecorded")
    assert decision["approved"] == ["cyd", "ada"]


def test_who_was_removed_or_demoted_since_does_not_count(home: Home) -> None:
    home.decide("cyd", "Approve")
    home.reconvene("people", "change", "cyd", "--role", "viewer")
    assert "cyd chose Approve, and may not decide any more: it does not count" in home.by("bob", "show", RUN).out
    assert home.decide("bob", "Approve").code == 3
    home.reconvene("people", "remove", "bob")
    assert home.decide("ada", "Approve").code == 3
    assert home.events("DecisionRecorded") == []
    home.reconvene("people", "change", "cyd", "--role", "decider")
    assert home.decide("cyd", "Approve").code == 0


def test_somebody_new_of_a_removed_name_has_chosen_nothing_and_chooses_themselves(home: Home) -> None:
    home.decide("cyd", "Approve")
    home.reconvene("people", "remove", "cyd")
    home.reconvene("people", "add", "cyd", "--role", "decider", "--team", "finance")
    del home.tokens["cyd"]
    assert "cyd chose Approve, and may not decide any more: it does not count" in home.by("bob", "show", RUN).out
    assert home.decide("bob", "Approve").code == 3
    assert home.events("DecisionRecorded") == []
    assert home.decide("cyd", "Approve").code == 0, "their own choice, the same as that of who had the name"
    (decision,) = home.events("DecisionRecorded")
    assert decision["approved"] == ["bob", "cyd"]


def test_what_an_approver_said_is_taken_back_by_nobody_while_it_counts(home: Home) -> None:
    home.decide("ada", "Approve", "--feedback", "Only without VAT.")
    for name, why in (("rex", "FB-001 is ada's"), ("ada", "goes with what ada chose")):
        refused = home.by(name, "remark", RUN, "--withdraw", "FB-001")
        assert (refused.code, why in refused.err) == (64, True), refused.err
    home.by("rex", "remark", RUN, "Wait.")
    assert home.by("rex", "remark", RUN, "--withdraw", "FB-002").code == 0
    for words in (("show", RUN), ("ledger", RUN)):
        assert " by rex" in home.reconvene(*words).out


def test_what_an_approver_said_before_goes_with_the_approval(home: Home) -> None:
    """At a terminal one says something first and chooses then: it is the same as a note."""
    home.by("bob", "show", RUN)
    assert home.decide("cyd", "Approve").code == 3
    home.by("ada", "remark", RUN, "Mind the fees.")
    assert home.decide("bob", "Reject").code == 3, "he has seen it now"
    assert home.decide("ada", "Reject").code in (0, 1, 2), "and chose as she does"


def test_a_remark_after_ones_own_approval_starts_the_count_again_until_one_approves_anew(home: Home) -> None:
    home.decide("ada", "Approve")
    home.by("ada", "remark", RUN, "Or rather not?")
    assert home.decide("bob", "Approve").code == 3
    assert home.decide("ada", "Approve").code == 0
    (decision,) = home.events("DecisionRecorded")
    assert decision["approved"] == ["bob", "ada"]


def test_two_who_disagree_decide_nothing_and_both_see_it(home: Home) -> None:
    home.decide("ada", "Approve")
    done = home.decide("bob", "Reject")
    assert done.code == 3
    for name in ("ada", "bob"):
        shown = home.by(name, "show", RUN).out
        assert "1 of 2: ada chose Approve" in shown
        assert "1 of 2: bob chose Reject" in shown
        assert "they chose differently" in shown
    assert home.events("DecisionRecorded") == []
    assert home.decide("cyd", "Reject").code in (0, 1, 2)
    assert [one["option"] for one in home.events("DecisionRecorded")] == ["Reject"]


def test_who_changes_their_mind_is_counted_once(home: Home) -> None:
    home.decide("ada", "Approve")
    home.decide("ada", "Reject")
    approvals = home.point["approvals"]
    assert isinstance(approvals, list)
    assert [(one["user"], one["option"]) for one in approvals] == [("ada", "Reject")]
    assert home.decide("bob", "Approve").code == 3
    assert home.decide("ada", "Approve").code == 0


def test_one_person_under_two_names_is_one_person(home: Home) -> None:
    home.decide("ada", "Approve")
    for name in ("bob", "Bob", "someone"):
        done = home.by("ada", "decide", RUN, "--option", "Approve", "--latest", "--by", name)
        assert done.code in (0, 3)
    assert home.events("DecisionRecorded") == [], "a claimed name is no proof"


def test_the_same_again_changes_nothing_and_says_so(home: Home) -> None:
    home.decide("ada", "Approve")
    again = home.decide("ada", "Approve")
    assert (again.code, "nothing was done again" in again.err) == (3, True)
    assert len(home.events("ApprovalRecorded")) == 1


def test_what_is_changed_after_an_approval_starts_the_count_again(home: Home) -> None:
    home.decide("ada", "Approve")
    home.by("rex", "remark", RUN, "The price is another.")
    assert "before something was changed here" in home.by("bob", "show", RUN).out
    assert home.decide("bob", "Approve").code == 3
    assert home.decide("ada", "Approve").code == 0


def test_an_approval_of_what_is_stale_is_refused(home: Home) -> None:
    home.by("ada", "show", RUN)
    home.by("rex", "remark", RUN, "The price is another.")
    refused = home.by("ada", "decide", RUN, "--option", "Approve")
    assert (refused.code, "The price is another." in refused.err) == (64, True)
    assert home.events("ApprovalRecorded") == []


def test_an_option_that_needs_one_is_decided_by_one(home: Home) -> None:
    home.decide("ada", "Approve")
    assert home.decide("bob", "Ask", "--feedback", "Why?").code == 3
    assert [one["option"] for one in home.events("DecisionRecorded")] == ["Ask"]
    assert "approvals" not in home.point, "another round is another checkpoint"


def test_an_admin_hands_a_checkpoint_over_and_so_does_who_may_decide(home: Home) -> None:
    home.decide("ada", "Approve")
    assert home.by("dan", "assign", RUN, "dan", "ada").code == 64
    few = home.reconvene("assign", RUN, "dan")
    assert (few.code, "needs 2 different people" in few.err) == (64, True)
    done = home.reconvene("assign", RUN, "dan", "bob")
    assert (done.code, "waits for dan or bob" in done.out) == (0, True), done.err
    assert "handed over" in home.reconvene("show", RUN).out
    assert home.decide("ada", "Approve").code == 64
    assert home.decide("bob", "Approve").code == 3, "what was chosen before does not count"
    assert home.by("bob", "assign", RUN, "team:finance").code == 0
    assert [one["who"] for one in home.events("CheckpointAssigned")] == [["dan", "bob"], ["team:finance"]]


@pytest.mark.parametrize("who", ["nobody", "rex", "team:sales", "team:", "two words"])
def test_nobody_is_assigned_who_could_not_decide(who: str, home: Home) -> None:
    assert home.reconvene("assign", RUN, "ada", who).code == 64
    assert home.events("CheckpointAssigned") == []


def test_the_inbox_tells_what_waits_for_me(home: Home) -> None:
    assert RUN in home.by("ada", "inbox", "--mine").out
    assert RUN in home.by("bob", "inbox", "--mine", "--json").out
    for name in ("dan", "rex", "root"):
        assert RUN not in home.by(name, "inbox", "--mine").out
    home.decide("ada", "Approve")
    assert RUN not in home.by("ada", "inbox", "--mine").out, "it waits for others"
    assert RUN in home.by("cyd", "inbox", "--mine").out


def test_an_agent_cannot_approve(home: Home) -> None:
    words = ("decide", RUN, "--option", "Approve", "--latest")
    refused = home.reconvene(*words, RECONVENE_TOKEN=home.token("ada"), RECONVENE_TASK="R1/0/writer")
    assert (refused.code, "an agent of a run is at work" in refused.err) == (64, True)
    assert home.events("ApprovalRecorded") == []


def test_a_fork_asks_the_same_people(home: Home) -> None:
    head = len(home.reconvene("log", RUN, "--json").out.splitlines())
    home.by("dan", "fork", RUN, "--at", str(head))
    refused = home.by("dan", "decide", f"{RUN}-fork-1", "--option", "Ask", "--latest")
    assert (refused.code, "waits for ada or team finance" in refused.err) == (64, True)


def test_the_audit_and_the_history_tell_who_approved(home: Home, folder: Path) -> None:
    home.decide("ada", "Approve")
    home.decide("bob", "Approve")
    engine = open_engine(folder / ".reconvene")
    with closing(engine.log):
        told = [one.text for one in entries(engine.log.read(RUN), engine.log.artefact)]
    assert "ada chose 'Approve' at C1; it needs others as well" in told
    assert any(one.startswith("bob decided 'Approve' at C1 (plan), with ada") for one in told)
    history = subprocess.run(
        ["git", "--git-dir", str(folder / ".reconvene/history.git"), "log", "--all"], capture_output=True, check=True
    )
    assert b"Approved-By: ada, bob" in history.stdout


def test_without_people_a_name_is_that_of_an_account(folder: Path, reconvene: Command) -> None:
    flow = FLOW.replace('[ada, "team:finance"]', f"[{system_user()}]").replace(", needs: 2", "")
    (folder / "pay.yaml").write_text(flow, encoding="utf-8")
    reconvene("run", "pay.yaml", "--no-input")
    assert reconvene("decide", RUN, "--option", "Approve").code == 0


def test_without_people_nobody_is_in_a_team(folder: Path, reconvene: Command) -> None:
    (folder / "pay.yaml").write_text(FLOW, encoding="utf-8")
    reconvene("run", "pay.yaml", "--no-input")
    refused = reconvene("decide", RUN, "--option", "Ask", "--by", "ada")
    assert (refused.code, "waits for ada or team finance" in refused.err) == (64, True)
    assert reconvene("assign", RUN, system_user(), "ada").code == 0, "whoever owns the home may hand it over"
    assert reconvene("decide", RUN, "--option", "Ask", "--latest").code == 3


def test_before_a_run_starts_it_is_said_who_could_not_decide_it(folder: Path, reconvene: Command) -> None:
    (folder / "pay.yaml").write_text(FLOW, encoding="utf-8")
    assert "waits for certain people, and nobody is set up here" in reconvene("new", "pay.yaml").err
    reconvene("people", "add", system_user(), "--role", "admin")
    reconvene("people", "add", "ada", "--role", "decider")
    assert "checkpoints wait for team finance, who cannot decide here" in reconvene("new", "pay.yaml").err
    reconvene("people", "add", "bob", "--role", "decider", "--team", "finance")
    assert "cannot decide" not in reconvene("new", "pay.yaml").err


def test_a_worker_of_an_account_that_is_nobodys_works_and_leaves(folder: Path, reconvene: Command) -> None:
    """It does what is due, and decides nothing."""
    (folder / "pay.yaml").write_text(FLOW, encoding="utf-8")
    assert reconvene("new", "pay.yaml").code == 0
    reconvene("people", "add", "ada", "--role", "admin", "--account", "elsewhere")
    assert reconvene("resume", RUN, "--no-input").code == 64
    assert reconvene("worker", "--once").code == 0
    assert reconvene("show", RUN, "--json").object["status"] == "waiting"
    assert reconvene("decide", RUN, "--option", "Ask", "--latest").code == 64
    assert reconvene("verify", RUN).code == 0
