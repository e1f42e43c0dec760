"""Long lists come page by page: runs, events and remarks, each from a cursor on."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from commands import Command, Done

FLOW = "name: flow\nagents: {a: {command: [echo, done]}}\nphases: [{id: p, agents: [a], checkpoint: {prompt: Good?}}]\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "flow.yaml").write_text(FLOW, encoding="utf-8")
    return tmp_path


@pytest.fixture
def five(reconvene: Command, folder: Path) -> list[str]:
    """Runs, as they are listed."""
    for _ in range(5):
        assert reconvene("run", "flow.yaml", "--no-input").code == 3
    return [str(row["run"]) for row in reconvene("runs", "--json").objects]


def rest(done: Done) -> list[str]:
    """The words of the command that shows the next page; none after the last."""
    told = re.search(r"there are more: (reconvene .*)", done.err)
    return shlex.split(told[1])[1:] if told else []


@pytest.mark.parametrize("words", [("inbox",), ("runs",), ("runs", "--status", "waiting")], ids=" ".join)
def test_pages_of_runs_put_together_are_the_list(words: tuple[str, ...], five: list[str], reconvene: Command) -> None:
    pages, command = [], [*words, "--limit", "2"]
    while command:
        done = reconvene(*command, "--json")
        pages.append([row["run"] for row in done.objects])
        command = rest(done)
    assert pages == [five[:2], five[2:4], five[4:]]


def test_a_page_for_people_says_how_to_go_on(five: list[str], reconvene: Command) -> None:
    for name in ("inbox", "runs"):
        done = reconvene(name, "--limit", "3")
        assert [run in done.out for run in five] == [True, True, True, False, False]
        assert five[3] in reconvene(*rest(done)).out
    assert rest(reconvene("runs")) == rest(reconvene("runs", "--limit", "5")) == []


def test_a_run_that_moves_meanwhile_hides_no_other(five: list[str], reconvene: Command) -> None:
    following = rest(reconvene("runs", "--limit", "2"))
    assert reconvene("remark", five[4], "a word").code == 0
    assert reconvene("remark", five[0], "a word").code == 0
    following = rest(page := reconvene(*following, "--json"))
    assert [row["run"] for row in page.objects] == five[2:4]
    assert [row["run"] for row in reconvene(*following, "--json").objects] == five[4:]


def test_a_cursor_of_an_older_release_is_understood(five: list[str], reconvene: Command) -> None:
    rows = reconvene("runs", "--after", f"2026-03-01T09:00:00.000Z/{five[2]}", "--json").objects
    assert [row["run"] for row in rows] == five[3:]


@pytest.mark.parametrize("cursor", ["flow-9", "2026-03-01T09:00:00.000Z/flow-9", "/", "%"])
def test_what_is_no_cursor_is_refused(cursor: str, five: list[str], reconvene: Command) -> None:
    for name in ("runs", "inbox"):
        done = reconvene(name, "--after", cursor)
        assert done.code == 64
        assert f"{cursor!r} is no cursor of this list" in done.err


@pytest.mark.parametrize("option", ["--limit", "--after"])
@pytest.mark.parametrize("number", [str(2**31), "99999999999999999999"])
def test_a_number_that_nobody_can_mean_is_wrong_usage(
    option: str, number: str, five: list[str], reconvene: Command
) -> None:
    for words in (("log", five[0]), *((("runs",), ("inbox",)) if option == "--limit" else ())):
        done = reconvene(*words, option, number)
        assert (done.code, "bug" in done.err) == (64, False), words


def test_events_come_in_pages_and_follow_their_numbers(five: list[str], reconvene: Command) -> None:
    def numbers(*words: str) -> list[int]:
        return [json.loads(line)["seq"] for line in reconvene("log", five[0], *words, "--json").out.splitlines()]

    every = numbers()
    assert every == list(range(1, len(every) + 1))
    assert numbers("--limit", "3") == [1, 2, 3]
    assert numbers("--limit", "3", "--after", "3") == [4, 5, 6]
    assert numbers("--after", str(every[-2])) == every[-1:]


def test_remarks_come_in_pages(five: list[str], reconvene: Command) -> None:
    for text in ("one", "two", "three"):
        reconvene("remark", five[0], text)

    def texts(*words: str) -> list[object]:
        remarks = reconvene("ledger", five[0], *words, "--json").object["remarks"]
        assert isinstance(remarks, list)
        return [remark["text"] for remark in remarks]

    assert texts("--limit", "2") == ["one", "two"]
    assert texts("--limit", "2", "--after", "FB-002") == ["three"]
    assert texts("--open", "--after", "FB-001") == ["two", "three"]
    refused = reconvene("ledger", five[0], "--after", "FB-009")
    assert refused.code == 64
    assert "there is no remark 'FB-009' here" in refused.err
