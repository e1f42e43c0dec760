"""A request is the same again when it is read: whether it is short or long, and whether it begins with the rules."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from reconvene.app import as_sent
from reconvene.core.facts.events import AttemptEnded

RULES = "Work well."
HEAD = f"{RULES}\n\n".encode()
LONG = b"word " * 1000


@pytest.mark.parametrize(
    ("request_", "stored", "in_event"),
    [
        (HEAD + b"Do it.\n", [HEAD], "Do it.\n"),
        (HEAD + LONG, [HEAD, LONG], ""),
        (HEAD, [HEAD], ""),
        (HEAD + b"\xff\xfe", [HEAD, b"\xff\xfe"], ""),
        (b"Do it.\n", [b"Do it.\n"], ""),
        (b'{"stdin": "Work well."}', [b'{"stdin": "Work well."}'], ""),
    ],
    ids=["short", "long", "rules alone", "no text", "without rules", "rules elsewhere"],
)
def test_it_is_the_same_again(request_: bytes, stored: list[bytes], in_event: str) -> None:
    sent = as_sent.kept(RULES, request_)
    assert list(sent.contents.values()) == stored
    assert sent.asked == in_event
    assert as_sent.whole(sent, sent.contents.__getitem__) == request_


def test_without_rules_it_is_kept_as_it_is() -> None:
    sent = as_sent.kept("", b"\n\nDo it.\n")
    assert as_sent.whole(sent, sent.contents.__getitem__) == b"\n\nDo it.\n"


def test_an_event_of_an_earlier_release_names_all_of_it() -> None:
    event = AttemptEnded(at="", task="R1/1/a", attempt=1, verdict="accepted", then="done", prompt="p")
    assert as_sent.whole(event, {"p": b"all"}.__getitem__) == b"all"
    assert as_sent.whole(replace(event, prompt=""), {}.__getitem__) == b""
