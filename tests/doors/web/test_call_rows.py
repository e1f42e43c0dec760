"""Rows of calls that wait: what is typed there is a draft, too, and what cannot be typed is not offered to be."""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path

import pytest
from starlette.datastructures import FormData
from starlette.testclient import TestClient
from tests.browser.furnished import CALLS, STOPS, furnish, wait_at_a_call
from tests.browser.serving import engine_of
from tests.doors.web.conftest import Desk, Sit
from tests.doors.web.test_drafts import Tab

from reconvene.app import measures, outlook, queries
from reconvene.doors.http.refusals import WrongField
from reconvene.doors.web.calls_view import Argument, CallView, answered, only_changed
from reconvene.doors.web.calls_view import _shown as shown_arguments


@pytest.fixture
def waiting(tmp_path: Path, sit: Sit) -> Desk:
    """A run of which a call waits."""
    folder = tmp_path / "calls"
    home = furnish(folder, tuple(stop for stop in STOPS if stop.workflow == "job"))
    wait_at_a_call(folder, home)
    return sit(home)


def test_what_is_typed_in_the_rows_is_kept_and_the_receipt_says_what_was_decided_of_each(waiting: Desk) -> None:
    _what_follows_is_estimated_and_what_stays_done_is_said(waiting)
    client: TestClient = waiting.client
    client.headers["origin"] = str(client.base_url).rstrip("/")
    client.follow_redirects = False
    tab = Tab(client, CALLS)
    (call,) = re.findall(r'name="call:(call\d+)" value="later"', tab.html)
    changed = next(name for name in tab.form if name.startswith(f"arg:{call}:"))
    original = tab.form[changed]
    typed = {f"call:{call}": "refuse", f"words:{call}": "Because it deletes everything", changed: "echo mine"}
    tab.typed(**typed, words="In the box").press("draft", code=200)
    again = Tab(client, CALLS)
    assert {name: again.form[name] for name in typed} == typed
    again.typed(option="Approve").press("decide", code=422)
    assert "the row of this one says something else" in again.text
    again.typed(**{f"words:{call}": ""}).press("calls", code=422)
    assert "say why it is refused" in again.text
    assert "_words" not in again.text
    again.typed(**{f"words:{call}": "Because it\ndeletes everything", changed: original}).press("calls")
    assert "is refused" in again.text
    assert "Because it\ndeletes everything" in unescape(again.html)
    assert re.search(r"wants \w+", again.text)
    assert Tab(client, CALLS).left == ["In the box"]


def _what_follows_is_estimated_and_what_stays_done_is_said(waiting: Desk) -> None:
    engine = engine_of(waiting.home)
    point = queries.standing(engine, CALLS).checkpoint
    assert point is not None
    shown = outlook.with_outlook(engine, CALLS, point, measures.review(engine, CALLS))
    engine.log.close()
    takes = {one.label: one.takes.agents if one.takes else None for one in shown.options}
    assert takes == {
        "Approve": ("worker",), "Refuse": ("worker",), "Decide each call": ("worker",), "Go on without it": ("worker",),
        "Stop the run": (),
    }  # fmt: skip
    assert [one.label for one in shown.options if "stays done" in one.final] == ["Approve", "Decide each call"]
    html = waiting.get(f"/runs/{CALLS}/decide")
    row = html.partition("Decide each call</a>")[2].partition("</div>")[0]
    assert "1 agent call" in row or "minute" in row
    head = html.partition("the others go on")[2].partition("</small>")[0]
    assert "minute" in head


def test_a_character_that_a_form_cannot_show_is_written_out_and_stays_in_the_call() -> None:
    hidden = "rm a \u202e # b\\c\nnext"
    (argument,) = shown_arguments({"command": hidden})
    assert argument.escaped == "rm a \\u202e # b\\\\c\nnext"
    (plain,) = shown_arguments({"command": "wc -w a\\b"})
    assert plain.escaped == ""
    call = CallView("call1", "dev", "run_command", "", "", True, False, [argument, Argument("most", "3", None, False)])
    assert answered([call], FormData({"call:call1": "approve", "arg:call1:most": "3"})) == {"call1": ("approve", "")}
    ruling, words = answered([call], FormData({"call:call1": "approve", "arg:call1:most": "4"}))["call1"]
    assert (ruling, "\u202e" in words) == ("change", True)


def test_only_what_a_person_changed_is_their_draft() -> None:
    call = CallView("call1", "dev", "run_command", "", "", True, False, [Argument("command", "a\r\nb")])
    given = {"arg:call1:command": "a\nb", "call:call1": "later", "words:call1": "no", "severity": "high"}
    assert only_changed([call], given) == {"words:call1": "no", "severity": "high"}


@pytest.mark.parametrize("typed", [{"words:call1": "why?"}, {"arg:call1:command": "wc -l"}])
def test_what_was_written_for_a_call_that_is_left_waiting_is_not_thrown_away(typed: dict[str, str]) -> None:
    call = CallView("call1", "dev", "run_command", "", "", True, False, [Argument("command", "wc -w")])
    form = {"call:call1": "later", "words:call1": "", "arg:call1:command": "wc -w"}
    assert answered([call], FormData(form)) == {"call1": ("later", "")}
    with pytest.raises(WrongField, match="leave waiting"):
        answered([call], FormData({**form, **typed}))
