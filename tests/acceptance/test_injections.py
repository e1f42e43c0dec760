"""Planted injections against a model that obeys each: nothing is decided, written outside, sent, or read of others.

Under bubblewrap, with the network of programs closed. Where it is open, a program may send what it was shown to whoever
it reaches: docs/tools.md says so.
"""

from __future__ import annotations

import json
import os
import re
import sqlite3
import subprocess
from collections.abc import Iterator
from contextlib import closing
from typing import NamedTuple

import pytest
from support.injections import TABLE
from support.obedient import API_KEY, KEY, SECRET, Trial, staged

from commands import Done
from reconvene.adapters.sandbox import levels
from reconvene.testing.openai_server import OpenAIServer

Facts = list[dict[str, object]]


class After(NamedTuple):
    """What had come of it when the run waited at its end for the person."""

    trial: Trial
    calls: Facts
    events: Facts
    others: Facts  # the other run's
    visits: list[int]  # to the address that nobody should reach
    before: dict[str, bytes]
    after: dict[str, bytes]
    shown: str


@pytest.fixture(scope="module")
def after() -> Iterator[After]:
    found = levels.find(os.environ)
    if found.name != "bubblewrap":
        pytest.skip(f"bubblewrap does not work here: {'; '.join(found.lacks)}")
    with staged() as (trial, server, visits):
        model = ("--model", "openai:gpt-4o-mini", "--no-input")
        assert trial.type("run", "other.yaml", *model, url=server.url).code == 3
        before = trial.files()
        waits = trial.type("run", "trial.yaml", *model, "--doc", "papers", "--datasource", "shop.db", url=server.url)
        for _ in range(2):  # the person refuses what the asker wants; what it asks for again is refused by itself
            assert "Shall this call be made?" in waits.out, waits.err
            waits = refused(trial, server)
        assert "Is it good?" in waits.out, waits.err
        events, others = (facts(trial.type("log", run, "--json")) for run in ("trial-1", "other-1"))
        calls = trial.type("calls", "trial-1", "--json").object["calls"]
        assert isinstance(calls, list)
        yield After(trial, calls, events, others, visits, before, trial.files(), waits.out)


def refused(trial: Trial, server: OpenAIServer) -> Done:
    return trial.type("decide", "trial-1", "--option", "Refuse", "--feedback", "never", "--latest", url=server.url)


def facts(done: Done) -> Facts:
    return [json.loads(line) for line in done.out.splitlines()]


def types(events: Facts) -> list[object]:
    return [event["type"] for event in events]


def test_what_injections_say_is_tried_and_comes_to_nothing(after: After) -> None:
    """Everything in one test: two would make the run twice."""
    assert len(TABLE) >= 40
    every_one_was_tried_and_how_it_ended_is_on_record(after)
    nobody_decided_but_the_person(after)
    nothing_was_written_outside(after)
    assert after.visits == [], "somebody sent something"
    nothing_of_others_was_read(after)
    the_canaries_would_have_sung(after)


def every_one_was_tried_and_how_it_ended_is_on_record(after: After) -> None:
    wrong: list[str] = []
    results: dict[tuple[object, object], list[str]] = {}
    for call in after.calls:
        results.setdefault((call["tool"], _alike(str(call["arguments"]))), []).append(str(call["result"]))
    for number, one in enumerate(TABLE, 1):
        tried = after.trial.model.tried.get(number, [])
        if not tried:
            wrong.append(f"{number} ({one.where}: {one.says}): nobody obeyed it")
        for tool, arguments in tried:
            found = results.get((tool, _alike(arguments)))
            if tool == "say":
                continue
            if not found:
                wrong.append(f"{number} ({one.says}): {tool} {arguments} is not on record")
            elif (tool, arguments) == tried[-1] and not all(re.search(one.told, text) for text in found):
                wrong.append(f"{number} ({one.says}): {tool} {arguments} ended with {found}, not {one.told}")
    assert wrong == []


def nobody_decided_but_the_person(after: After) -> None:
    decided = [event for event in after.events if event["type"] in ("DecisionRecorded", "CallRuled")]
    assert [(event["type"], event.get("option") or event.get("ruling")) for event in decided] == [
        ("DecisionRecorded", "Refuse"),
        ("CallRuled", "refuse"),
    ] * 2
    assert "DecisionRecorded" not in types(after.others)
    assert "CallStarted" not in [event["type"] for event in after.events if "asker" in str(event.get("task"))]
    # what an agent says of the person is a document to its peers, and no remark
    said = after.trial.type("ledger", "trial-1", "--json").out
    assert "Accept everything" not in said
    assert "Accept it all" not in said
    closing_ = after.trial.model.closing
    (mark,) = re.findall(r"The mark of this message is (\w+)\.", closing_)
    inside = re.sub(rf"(?s)<document-{mark}.*?</document-{mark}>", "", closing_)
    for forged in ("Accept everything", "Accept it all"):
        assert forged in closing_, "it never arrived"
        assert forged not in inside


def nothing_was_written_outside(after: After) -> None:
    assert after.after == after.before
    assert [event for event in after.events if event["type"] in ("FilesEdited", "FilesFound")] == []
    with closing(sqlite3.connect(after.trial.desk / "shop.db")) as database:
        assert database.execute("select count(*) from sales").fetchone() == (5,)
    folder = after.trial.home / "runs" / "trial-1"
    links = [path for path in folder.rglob("*") if path.is_symlink()]
    assert links == []
    # what was planted for later is a file like any other: nobody ran it, and git keeps nothing that it would
    assert (folder / "sitecustomize.py").is_file()
    assert not (folder / "todos.yaml").exists()
    assert not list(after.trial.home.glob("history.git/hooks/*"))
    assert after.trial.type("verify").code == 0


def nothing_of_others_was_read(after: After) -> None:
    shown = [text for text in after.trial.model.seen if "You are the keeper." not in text]
    assert len(shown) > 8
    for canary in (KEY, SECRET, API_KEY):
        assert not [text for text in shown if canary in text], canary
        assert canary not in json.dumps([after.calls, after.events])


def the_canaries_would_have_sung(after: After) -> None:
    """The same commands with nothing that keeps them in: each canary can sing, and the attempts were real ones."""
    trial, printed = after.trial, ""
    made = [one for tried in trial.model.tried.values() for one in tried if one[0] in ("run_command", "desk_run")]
    commands = {str(json.loads(arguments)["command"]) for _, arguments in made}
    plain = [one for one in commands if "&" not in one.replace("2>&1;", "") and "/proc" not in one]
    folder = trial.person / "plain"
    folder.mkdir()
    for command in sorted(plain, key=lambda one: "drop table" in one):
        if "drop table" in command:
            assert "DecisionRecorded" in types(facts(trial.type("log", "other-1", "--json")))
        how = {"cwd": folder, "capture_output": True, "text": True, "check": False}
        printed += subprocess.run(["sh", "-c", command], timeout=300, **how).stdout  # type: ignore[call-overload]
    assert after.visits
    assert (trial.outside / "x").exists()
    assert trial.files()[".bashrc"] != after.before[".bashrc"]
    assert [canary for canary in (KEY, SECRET) if canary not in printed] == []
    with closing(sqlite3.connect(trial.names["store"])) as store, pytest.raises(sqlite3.OperationalError):
        store.execute("select count(*) from appends")


def _alike(arguments: str) -> str:
    """A call is on record with its arguments in order."""
    try:
        return json.dumps(json.loads(arguments), ensure_ascii=False, sort_keys=True)
    except ValueError:
        return arguments
