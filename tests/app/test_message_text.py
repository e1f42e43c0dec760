"""A message says what is asked, since when and where to look; what agents wrote in it is plain text."""

from __future__ import annotations

import json

import pytest

from reconvene.app.message_text import letter
from reconvene.message_ports import Message, Notice

ASKED = Notice(
    "waiting", "plan-1", "job", 12, "2026-03-01T09:30:00.000Z", "Is the plan ready?", "plan", "", "C2",
    "2026-03-01T09:30:00.000Z", "2026-03-03T09:30:00.000Z", ("ada", "team:finance"),
)  # fmt: skip


def test_a_message_says_what_is_asked_since_when_until_when_and_where_to_look() -> None:
    written = letter(Message("msg_1", "chat", ASKED), url="https://runs.example/", still=True)
    assert written.title == "plan-1 waits for a decision"
    assert written.text.splitlines() == [
        "Is the plan ready?",
        "Workflow: job, plan",
        "For: ada, team:finance",
        "Waits since: 2026-03-01 09:30 UTC",
        "Deadline: 2026-03-03 09:30 UTC",
        "Look at it: reconvene show plan-1",
        "https://runs.example/runs/plan-1/decide",
        "Message msg_1",
    ]


def test_a_program_gets_the_same_as_json() -> None:
    told = json.loads(letter(Message("msg_1", "hook", ASKED), url="https://runs.example", still=True).data)
    assert told["id"] == "msg_1"
    assert (told["run"], told["seq"], told["checkpoint"], told["open"]) == ("plan-1", 12, "C2", True)
    assert told["url"] == "https://runs.example/runs/plan-1/decide"
    over = json.loads(letter(Message("msg_1", "hook", ASKED), url="https://runs.example", still=False).data)
    ended = letter(Message("msg_1", "hook", ASKED._replace(kind="ended")), url="https://runs.example", still=True)
    assert over["url"] == json.loads(ended.data)["url"] == "https://runs.example/runs/plan-1", "nothing is asked there"


def test_a_message_that_comes_late_says_that_it_has_been_decided() -> None:
    late = letter(Message("msg_1", "chat", ASKED), url="", still=False)
    assert "This has been decided since." in late.text
    assert "https://" not in late.text
    assert json.loads(late.data)["open"] is False


@pytest.mark.parametrize(
    "words",
    [
        "<img src=x onerror=alert(1)>",
        "<!channel> <@U123> @everyone",
        "[Approve now](https://evil.example/approve)",
        "![x](https://evil.example/p.png)",
        "`code` <https://evil.example|Approve>",
        "javascript://evil.example/%0aalert(1)",
        "mail me: a@evil.example",
    ],
)
def test_what_agents_wrote_is_neither_markup_nor_a_link_nor_a_mention(words: str) -> None:
    hostile = ASKED._replace(asks=words, phase=words, title=words)
    text = letter(Message("msg_1", "chat", hostile), url="", still=True).text
    assert not [sign for sign in ("<", ">", "`", "](", "://", "@e", "@U") if sign in text]


def test_a_run_with_a_strange_name_cannot_lead_elsewhere() -> None:
    odd = ASKED._replace(run="../../decide?option=Approve&x='; rm -rf /")
    written = letter(Message("msg_1", "chat", odd), url="https://runs.example", still=True)
    assert "https://runs.example/runs/..%2F..%2Fdecide%3Foption%3DApprove%26x%3D" in written.text
    assert "reconvene show '../../decide?option=Approve&x='\"'\"'; rm -rf /'" in written.text


def test_a_deadline_is_near_or_has_passed_or_took_a_decision() -> None:
    near = ASKED._replace(kind="deadline")
    past = near._replace(at="2026-03-03T09:30:00.000Z")
    took = near._replace(asks="Nobody decided in time, and the deadline took: Reject", deadline="", who=())
    titles = [letter(Message("m", "chat", one), url="", still=False).title for one in (near, past, took)]
    assert titles == ["plan-1: the deadline is near", *["plan-1: the deadline has passed"] * 2]
    assert "decided since" not in letter(Message("m", "chat", took), url="", still=False).text
