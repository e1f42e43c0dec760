"""What a form says of the calls that wait."""

from __future__ import annotations

import json

import pytest
from starlette.datastructures import FormData

from reconvene.doors.http.refusals import WrongField
from reconvene.doors.web.calls_view import Argument, CallView, answered, writes_among_several

CALL = CallView(
    "call1",
    "dev",
    "run_command",
    "",
    "",
    True,
    False,
    [Argument("command", "wc -w a\nwc -w b"), Argument("most", "3", None, False)],
)


def sent(answer: str, command: str, **more: str) -> dict[str, tuple[str, str]]:
    form = {"call:call1": answer, "arg:call1:command": command, "arg:call1:most": "3", **more}
    return answered([CALL], FormData(form))


def test_what_stands_on_the_page_is_what_is_made() -> None:
    assert sent("approve", "wc -w a\r\nwc -w b") == {"call1": ("approve", "")}
    answer, words = sent("approve", "echo mine")["call1"]
    assert (answer, json.loads(words)) == ("change", {"command": "echo mine", "most": 3})


def test_a_changed_call_is_not_allowed_for_ever() -> None:
    with pytest.raises(WrongField, match="was changed"):
        sent("always", "echo mine")
    assert sent("always", "wc -w a\nwc -w b") == {"call1": ("always", "")}


def test_what_has_no_answer_keeps_waiting_whatever_was_typed() -> None:
    assert answered([CALL], FormData({"arg:call1:command": "echo mine"})) == {"call1": ("later", "")}
    assert sent("refuse", "echo mine", **{"words:call1": "no"}) == {"call1": ("refuse", "no")}


def test_all_at_once_is_not_offered_while_one_of_several_writes() -> None:
    assert not writes_among_several([CALL])
    assert writes_among_several([CALL, CALL])
