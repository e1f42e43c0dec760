"""`reconvene --server URL`: the commands print what they print in the home itself, and exit the same."""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

from commands import Command
from reconvene.settings import own_folder
from served_home import Ground, ground, on_a_port


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ground]:
    with ground(tmp_path_factory.mktemp("at-server")) as one:
        yield one


@pytest.fixture(scope="module")
def url(made: Ground) -> Iterator[str]:
    with on_a_port(made) as (url, _):
        yield url


@pytest.fixture
def ada(made: Ground, monkeypatch: pytest.MonkeyPatch) -> None:
    token = made.person("ada")["authorization"].removeprefix("Bearer ")
    monkeypatch.setenv("RECONVENE_TOKEN", token)


@pytest.mark.usefixtures("ada")
def test_a_checkpoint_is_found_looked_at_remarked_on_and_decided(made: Ground, url: str, reconvene: Command) -> None:
    run = made.parked()
    listed = reconvene("--server", url, "inbox")
    assert run in listed.out
    assert f"--server {url} decide {run}" in listed.out
    rows = reconvene("--server", url, "inbox", "--json").objects
    assert run in [row["run"] for row in rows]
    unseen = reconvene("--server", url, "decide", run, "--option", "Go on")
    assert unseen.code == 64
    assert "show" in unseen.err
    shown = reconvene("--server", url, "show", run)
    assert "Is the draft good?" in shown.out
    assert "draft.md" in shown.out
    said = reconvene("--server", url, "remark", run, "correction: Revenue is 900, not 850")
    assert "850 → 900" in said.out
    decided = reconvene("--server", url, "decide", run, "--option", "go", "--field", "count=3", "--json")
    assert decided.code == 0, decided.err
    assert decided.object["run"] == run
    decision = next(iter(made.state(run).record.decisions.values()))
    assert (decision.option, decision.by, decision.since) == ("Go on", "ada", ("FB-001",))
    again = reconvene("--server", url, "decide", run, "--option", "go", "--field", "count=3")
    assert "already" in again.out
    assert "whoever drives there goes on with it" in again.out
    assert "nobody is driving" not in again.out, "a server takes it up within a second"


@pytest.mark.usefixtures("ada")
def test_show_and_its_json_are_those_of_the_home(made: Ground, url: str, reconvene: Command) -> None:
    run = made.parked()
    there, here = (
        reconvene(*where, "show", run, "--json").object for where in (("--server", url), ("--home", made.home))
    )
    assert there == here
    texts = [reconvene(*where, "show", run).out for where in (("--server", url), ("--home", made.home))]
    assert texts[0].replace(f"--server {url}", "").split("continue with")[0] == texts[1].split("continue with")[0]


@pytest.mark.usefixtures("ada")
def test_a_decision_on_what_somebody_else_changed_is_refused_with_the_way_on(
    made: Ground, url: str, reconvene: Command
) -> None:
    run = made.parked()
    reconvene("--server", url, "show", run)
    reconvene("--home", made.home, "remark", run, "Bob knows better", "--by", "Bob")
    refused = reconvene("--server", url, "decide", run, "--option", "Go on")
    assert refused.code == 64
    assert "Bob knows better" in refused.err
    again = next(line for line in refused.err.splitlines() if "--at" in line).split("--at ")[1]
    assert reconvene("--server", url, "decide", run, "--option", "Go on", "--at", again).code == 0


@pytest.mark.usefixtures("ada")
def test_the_way_on_from_a_refusal_has_the_words_and_answers_of_the_person(
    made: Ground, url: str, reconvene: Command
) -> None:
    run = made.parked()
    reconvene("--server", url, "show", run)
    reconvene("--home", made.home, "remark", run, "Bob knows better", "--by", "Bob")
    given = ("--option", "Once more", "--field", "count=3", "--feedback", "it's my words")
    refused = reconvene("--server", url, "decide", run, *given)
    offered = next(line for line in refused.err.splitlines() if "--at" in line).split("reconvene ", 1)[1]
    done = reconvene(*shlex.split(offered))
    assert done.code == 0, done.err
    assert "it's my words" in [one.text for one in made.state(run).record.remarks.values()]
    assert "3" in str(made.state(run).record.decisions)


@pytest.mark.usefixtures("ada")
@pytest.mark.parametrize(
    ("words", "told", "hint"),
    [
        (("show", "nope-1"), "There is no run 'nope-1'", "--server {url} inbox"),
        (("decide", "{run}", "--option", "Nope"), "error: option 'Nope'", ""),
        (("decide", "{run}", "--option", "Once more"), "needs your words", "--feedback"),
        (("decide", "{run}", "--option", "Go on", "--field", "nope=1"), "'nope'", "severity, count"),
        (("decide", "{run}", "--option", "Go on", "--latest"), "not for servers", "--server {url} show {run}"),
    ],
)
def test_hints_name_what_works_with_a_server(
    made: Ground, url: str, reconvene: Command, words: tuple[str, ...], told: str, hint: str
) -> None:
    run = made.parked()
    reconvene("--server", url, "show", run)
    done = reconvene("--server", url, *(word.format(run=run) for word in words))
    assert done.code == 64
    assert told in done.err
    assert hint.format(url=url, run=run) in done.err
    assert "/api/v1" not in done.err


@pytest.mark.usefixtures("ada")
def test_what_a_server_is_not_asked_is_offered_for_the_place_where_the_home_is(
    made: Ground, url: str, reconvene: Command
) -> None:
    run = made.parked()
    reconvene("--home", made.home, "abort", run)
    ended = reconvene("--server", url, "show", run).out + reconvene("--server", url, "remark", run, "late").err
    assert "reopen" in ended
    assert f"--server {url} reopen" not in ended
    assert "where the home is" in ended


def test_a_token_lies_in_a_file_that_others_cannot_read(made: Ground, url: str, reconvene: Command) -> None:
    none = reconvene("--server", url, "inbox")
    assert none.code == 64
    assert "there is no token" in none.err
    file = Path(own_folder(), "token")
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(made.person("ada")["authorization"].removeprefix("Bearer ") + "\n")
    os.chmod(file, 0o644)
    assert "others can read" in reconvene("--server", url, "inbox").err
    os.chmod(file, 0o600)
    assert reconvene("--server", url, "inbox").code == 0


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--server", "http://runs.example.org", "inbox"), "unencrypted"),
        (("--server", "runs.example.org", "inbox"), "no address"),
        (("--server", "http://127.0.0.1:1", "inbox"), "cannot be reached"),
        (("--server", "http://127.0.0.1:1", "abort", "x"), "not asked of a server"),
    ],
)
@pytest.mark.usefixtures("ada")
def test_what_cannot_be_asked_is_said(reconvene: Command, words: tuple[str, ...], told: str) -> None:
    done = reconvene(*words)
    assert done.code in (1, 64)
    assert told in done.err


def test_a_wrong_token_and_another_role_are_told_apart(
    made: Ground, url: str, reconvene: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = made.parked()
    monkeypatch.setenv("RECONVENE_TOKEN", "nonsense")
    assert "does not know who you are" in reconvene("--server", url, "inbox").err
    monkeypatch.setenv("RECONVENE_TOKEN", made.person("vera", "viewer")["authorization"].removeprefix("Bearer "))
    reconvene("--server", url, "show", run)
    refused = reconvene("--server", url, "decide", run, "--option", "Go on", "--json")
    assert refused.code == 64
    assert "role" in json.loads(refused.err)["error"]
