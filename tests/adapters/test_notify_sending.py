"""Messages are sent in a process that is ended when its time is up, and no reason names the address."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import hmac
import os
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from posts import PostServer
from reconvene.adapters.notify import ChildSender, sending
from reconvene.adapters.notify.send_child import without_address
from reconvene.adapters.notify.webhook_signing import headers, key_of
from reconvene.message_ports import Destination, Letter

SECRET = "whsec_" + base64.b64encode(b"a secret of twenty-four b").decode()
LETTERS = [Letter(f"msg_{n}", "waiting", "a title", f"text {n}", f'{{"n": {n}}}'.encode()) for n in range(3)]


def send(destination: Destination, *letters: Letter, answer: float = 30.0, batch: float = 60.0) -> list[str]:
    sender = ChildSender(dict(os.environ), answer, batch)
    return asyncio.run(sender.send(destination, letters or LETTERS[:1]))


def webhook(server: PostServer, path: str = "/hook/t0ken-in-the-path") -> Destination:
    return Destination("hook", f"http://{server.at}{path}", secret=SECRET)


def test_a_webhook_is_posted_with_its_id_and_a_signature_over_time_and_body() -> None:
    with PostServer() as server:
        assert send(webhook(server), *LETTERS) == ["", "", ""]
    assert server.ids == ["msg_0", "msg_1", "msg_2"]
    for one in server.posted:
        head = one.headers
        signed = f"{head['webhook-id']}.{head['webhook-timestamp']}.".encode() + one.body
        made = base64.b64encode(hmac.digest(b"a secret of twenty-four b", signed, hashlib.sha256)).decode()
        assert head["webhook-signature"] == f"v1,{made}"
        assert head["content-type"] == "application/json"


def test_the_example_of_the_documents_tells_what_is_genuine() -> None:
    page = (Path(__file__).resolve().parents[2] / "docs" / "messages.md").read_text(encoding="utf-8")
    (example,) = re.findall(r"^```python\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    names: dict[str, Any] = {}
    exec(example, names)
    key = b"a secret of twenty-four b"
    with PostServer() as server:
        send(webhook(server))
    (one,) = server.posted
    assert names["is_genuine"](one.headers, one.body, key)
    assert not names["is_genuine"](one.headers, one.body + b" ", key)
    assert not names["is_genuine"](one.headers, one.body, b"another")
    old = str(int(one.headers["webhook-timestamp"]) - 600)
    assert not names["is_genuine"](headers(SECRET, "msg_0", int(old), one.body), one.body, key)


def test_a_secret_that_is_no_base64_counts_as_it_is() -> None:
    assert key_of("whsec_not base64!") == b"whsec_not base64!"
    assert key_of("plain") == b"plain"
    assert headers("plain", "a", 1, b"x") != headers("other", "a", 1, b"x")


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (500, "it answers 500"),
        (404, "it answers 404"),
        ("redirect", "it answers 307, a redirect, which is not followed"),
        ("close", "it cannot be reached: Remote end closed connection without response"),
    ],
)
def test_a_webhook_that_fails_says_how(answer: int | str, why: str) -> None:
    with PostServer(answer) as server:
        assert send(webhook(server)) == [why]
    assert [one.path for one in server.posted] == ["/hook/t0ken-in-the-path"]


def test_a_webhook_that_never_answers_is_left() -> None:
    with PostServer("hang") as server:
        assert send(webhook(server), answer=0.2) == ["no answer within 0.2 s"]


def test_one_that_answers_byte_by_byte_for_ever_is_ended_with_its_process() -> None:
    with PostServer("slow") as server:
        assert send(webhook(server), answer=30.0, batch=2.0) == ["no answer within 2 s"]


def test_nobody_listens() -> None:
    with PostServer() as server:
        gone = webhook(server)
    (why,) = send(gone)
    assert why.startswith("it cannot be reached:")


def test_after_the_first_that_fails_no_more_are_tried() -> None:
    with PostServer(200, 500, 200) as server:
        assert send(webhook(server), *LETTERS) == ["", "it answers 500"]
    assert server.ids == ["msg_0", "msg_1"]


def test_what_was_sent_before_the_time_was_up_counts() -> None:
    with PostServer(200, "slow") as server:
        results = send(webhook(server), *LETTERS, answer=30.0, batch=4.0)
    assert results[-1] == "no answer within 4 s"
    assert len(results) - 1 in (len(server.ids) - 1, len(server.ids))
    assert not any(results[:-1])


def test_apprise_sends_the_text_as_it_is() -> None:
    hostile = Letter("msg_9", "failed", "t", "1 < 2 & *bold* \\n {{ x }} :smile:\nsecond line", b"{}")
    with PostServer() as server:
        assert send(Destination("chat", f"json://{server.at}/t0ken"), hostile) == [""]
    (posted,) = server.posted
    assert posted.object["title"] == "t"
    assert posted.object["message"] == hostile.text
    assert posted.object["type"] == "failure"


@pytest.mark.parametrize("answer", [500, "redirect", "close"])
def test_apprise_says_why_it_failed_without_the_address(answer: int | str) -> None:
    with PostServer(answer) as server:
        (why,) = send(Destination("chat", f"json://user:hunter22@{server.at}/t0ken-in-the-path?+X-Key=k3y-of-mine"))
    assert why
    assert not [part for part in ("hunter22", "t0ken", "k3y-of-mine") if part in why]
    assert [one.path for one in server.posted] == ["/t0ken-in-the-path"]


def test_an_address_that_apprise_does_not_know_is_told() -> None:
    (why,) = send(Destination("chat", "nosuchservice://t0ken-in-the-path"))
    assert why == "Apprise does not know this address; a webhook has a secret"


@settings(max_examples=30)
@given(some.text(alphabet="abcdefgh/?&=:@", min_size=4, max_size=20), some.text(min_size=8, max_size=20))
def test_no_reason_names_a_part_of_an_address(path: str, secret: str) -> None:
    url = f"https://user:pa55word@host.example/{path}"
    told = without_address(f"failed for {url} with {secret} (pa55word) at /{path}", url, secret)
    assert "pa55word" not in told
    assert url not in told
    assert secret.strip() not in told or len(secret.strip()) < 4


def test_a_part_of_an_address_blanks_no_longer_word() -> None:
    told = without_address("it answers 302, a redirect, which is not followed: /redir", "https://host.example/redir")
    assert told == "it answers 302, a redirect, which is not followed: […]"


def test_a_destination_shows_no_address() -> None:
    assert repr(Destination("chat", "slack://t0ken", secret="s3cret")) == "<Destination chat (webhook)>"


def test_without_apprise_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sending, "find_spec", lambda name: None)
    assert send(Destination("chat", "json://x")) == ["Apprise is not installed: pip install 'reconvene[notify]'"]
