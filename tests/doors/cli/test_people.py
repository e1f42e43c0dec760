"""`reconvene people`: who may do what in a home. People act with their tokens, which prove who they are."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from commands import Command
from reconvene.settings import system_user

RUN = "two-step-1"


def token(reconvene: Command, name: str, *more: str, **environment: str) -> str:
    return str(reconvene("people", "token", name, *more, "--json", **environment).object["token"])


@pytest.fixture
def home(folder: Path, reconvene: Command) -> Path:
    """The account is the admin ada; vic, rex and dan have a role each; a run waits."""
    reconvene("run", "two-step.yaml", "--no-input")
    reconvene("people", "add", "ada", "--role", "admin", "--account", system_user())
    for name, role in (("vic", "viewer"), ("rex", "reviewer"), ("dan", "decider")):
        assert reconvene("people", "add", name, "--role", role, "--team", "finance").code == 0
    return folder / ".reconvene"


def test_without_people_everybody_may_do_everything(folder: Path, reconvene: Command) -> None:
    done = reconvene("people")
    assert (done.code, "nobody is set up" in done.out) == (0, True)
    assert f"people add {system_user()} --role admin" in done.out


def test_people_are_listed_with_what_they_may_do(home: Path, reconvene: Command) -> None:
    listed = reconvene("people").out
    assert ["vic", "viewer", "finance", "vic"] in [line.split() for line in listed.splitlines()]
    assert "you are ada, admin" in listed
    shown = reconvene("people", "--json").object
    assert shown["you"]["role"] == "admin"  # type: ignore[index]


def test_a_token_is_told_once_and_listed_without_it(home: Path, reconvene: Command) -> None:
    done = reconvene("people", "token", "dan", "--expires", "30d", "--label", "laptop")
    secret = done.out.strip()
    assert "not shown again" in done.err
    listed = reconvene("people")
    assert "laptop" in listed.out
    assert secret not in listed.out
    assert secret not in reconvene("people", "--json").out
    assert [secret.encode() in path.read_bytes() for path in home.glob("people.db*")] == [False]


# What each role may do, and the least that it takes.
ACTS = {
    "remark": (("remark", RUN, "Say more."), "reviewer"),
    "decide": (("decide", RUN, "--option", "Continue", "--latest", "--no-drive"), "decider"),
    "pause": (("pause", RUN), "decider"),
    "abort": (("abort", RUN), "decider"),
    "start": (("new", "two-step.yaml"), "decider"),
    "resume": (("resume", RUN, "--no-input"), "decider"),
    "fork": (("fork", RUN, "--at", "5"), "decider"),
    "rollback": (("rollback", RUN, "--latest"), "decider"),
    "delete": (("delete", RUN, "--yes"), "admin"),
    "people": (("people", "change", "vic", "--role", "admin"), "admin"),
    "token": (("people", "token", "vic"), "admin"),
}
RANK = ("viewer", "reviewer", "decider", "admin")
NAMES = {"viewer": "vic", "reviewer": "rex", "decider": "dan"}


@pytest.mark.parametrize("act", ACTS)
def test_each_act_takes_its_role(act: str, home: Path, reconvene: Command) -> None:
    words, least = ACTS[act]
    before = reconvene("log", RUN, "--json").out
    for role, name in NAMES.items():
        if RANK.index(role) < RANK.index(least):
            refused = reconvene(*words, RECONVENE_TOKEN=token(reconvene, name))
            assert (refused.code, f"takes the role {least}" in refused.err) == (64, True), refused.err
            assert f"people change {name} --role {least}" in refused.err
    assert reconvene("log", RUN, "--json").out == before
    allowed = next((name for role, name in NAMES.items() if role == least), "")
    done = reconvene(*words, **({"RECONVENE_TOKEN": token(reconvene, allowed)} if allowed else {}))
    assert "takes the role" not in done.err
    assert done.code in (0, 2, 3), done.err


def test_everybody_may_look(home: Path, reconvene: Command) -> None:
    held = token(reconvene, "vic")
    for words in (("show", RUN), ("inbox",), ("runs",), ("log", RUN), ("people",), ("ledger", RUN)):
        assert reconvene(*words, RECONVENE_TOKEN=held).code in (0, 3)


def test_who_holds_a_token_acts_as_its_person_and_it_is_signed_on_their_behalf(home: Path, reconvene: Command) -> None:
    held = token(reconvene, "dan")
    assert reconvene("decide", RUN, "--option", "Continue", "--latest", RECONVENE_TOKEN=held).code == 3
    shown = reconvene("show", RUN, "--json").object
    (decision,) = shown["decisions"]  # type: ignore[misc]
    assert (decision["by"], decision["user"], decision["proved"]) == ("dan", "dan", True)
    looked = reconvene("verify", RUN)
    assert (looked.code, "on behalf of dan" in looked.out) == (0, True)


def test_an_account_acts_as_the_person_who_has_it(home: Path, reconvene: Command) -> None:
    reconvene("remark", RUN, "Say more.")
    events = [json.loads(line) for line in reconvene("log", RUN, "--json").out.splitlines()]
    assert [(one["by"], one["user"]) for one in events if one["type"] == "RemarkAdded"] == [("ada", "ada")]
    assert reconvene("verify", RUN).code == 0


@pytest.mark.parametrize("how", ["revoked", "run out", "removed", "made up"])
def test_a_token_that_admits_nobody_is_refused(how: str, home: Path, reconvene: Command) -> None:
    held = token(reconvene, "dan", *(["--expires", "0.001s"] if how == "run out" else []))
    if how == "revoked":
        (one,) = [each for each in reconvene("people", "--json").object["people"] if each["name"] == "dan"]  # type: ignore[attr-defined]
        assert reconvene("people", "revoke", one["tokens"][0]["id"]).code == 0
    elif how == "removed":
        assert reconvene("people", "remove", "dan").code == 0
    elif how == "made up":
        held = f"rcv_{'0' * 64}"
    refused = reconvene("decide", RUN, "--option", "Continue", "--latest", RECONVENE_TOKEN=held)
    assert (refused.code, "admits nobody" in refused.err) == (64, True)
    assert reconvene("inbox", "--json").out.count(RUN) == 1


def test_an_account_that_is_nobodys_can_only_read(folder: Path, reconvene: Command) -> None:
    reconvene("run", "two-step.yaml", "--no-input")
    reconvene("people", "add", "ada", "--role", "admin", "--account", "somebody-else")
    refused = reconvene("remark", RUN, "Say more.")
    assert (refused.code, "none of the people" in refused.err) == (64, True)
    assert f"--account {system_user()}" in refused.err
    assert reconvene("show", RUN).code == 0
    assert reconvene("people", "add", "eve", "--role", "admin").code == 64


def test_while_there_is_no_admin_whoever_owns_the_home_is_one(folder: Path, reconvene: Command) -> None:
    reconvene("run", "two-step.yaml", "--no-input")
    done = reconvene("people", "add", "dan", "--role", "decider", "--account", "dans-account")
    assert "nobody is an admin yet" in done.err
    assert reconvene("remark", RUN, "Say more.").code == 0
    assert reconvene("people", "add", "ada", "--role", "admin", "--account", system_user()).code == 0


def test_the_last_admin_stays_while_others_are_there(home: Path, reconvene: Command) -> None:
    for words in (("remove", "ada"), ("change", "ada", "--role", "viewer")):
        refused = reconvene("people", *words)
        assert (refused.code, "no admin left" in refused.err) == (64, True)


def test_no_agent_says_who_the_people_are(home: Path, reconvene: Command) -> None:
    for words in (("add", "eve", "--role", "admin"), ("token", "ada"), ("change", "vic", "--role", "admin")):
        refused = reconvene("people", *words, RECONVENE_TASK="R1/0/writer")
        assert (refused.code, "an agent of a run is at work" in refused.err) == (64, True)
    assert "eve" not in reconvene("people").out


@pytest.mark.parametrize("name", ["", "two words", "team:finance", "a" * 100, "new\nline"])
def test_a_name_is_one_word(name: str, folder: Path, reconvene: Command) -> None:
    assert reconvene("people", "add", name, "--role", "viewer").code == 64


def test_the_owner_is_not_locked_out_by_a_lower_role_of_their_own(folder: Path, reconvene: Command) -> None:
    assert reconvene("people", "add", system_user(), "--role", "decider").code == 0
    assert reconvene("people", "add", "ada", "--role", "admin").code == 0
    assert reconvene("people", "add", "bob", "--role", "viewer").code != 0, "now there is an admin"
