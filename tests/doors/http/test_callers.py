"""Who is let in: the holder of the link while nobody is set up, people with their tokens from then on."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator, MutableMapping
from contextlib import closing
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from reconvene.desk_ports import Desk
from reconvene.desk_wiring import open_desk
from reconvene.doors.http import callers as module
from reconvene.doors.http import live
from reconvene.doors.http.callers import COOKIE, Callers
from reconvene.doors.web.app import application
from reconvene.people_ports import People, Person
from reconvene.people_wiring import open_people
from served_home import HOST, Ground, ground, service_of

_THEN, _LATER = "2026-01-01T00:00:00.000Z", "2099-01-01T00:00:00.000Z"


@pytest.fixture
def made(tmp_path: Path) -> Iterator[Ground]:
    with ground(tmp_path) as one:
        yield one


@pytest.fixture
def desk(made: Ground) -> Iterator[Desk]:
    with closing(open_desk(made.home)) as one:
        yield one


@pytest.fixture(autouse=True)
def _always_looked_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_FRESH", 0.0)


def served(made: Ground, callers: Callers) -> TestClient:
    return TestClient(application(service_of(made), callers, [HOST]), f"http://{HOST}", follow_redirects=False)


class Set:
    """People whose store is opened by the server's own thread."""

    def __init__(self, made: Ground, desk: Desk) -> None:
        self.here: People = open_people(made.home)
        self.callers = Callers("Olga", desk, open_people(made.home))


@pytest.fixture
def people(made: Ground, desk: Desk) -> Set:
    return Set(made, desk)


def test_the_link_admits_its_owner_and_the_session_outlasts_the_server(made: Ground, desk: Desk) -> None:
    first = Callers("Olga", desk)
    with served(made, first) as client:
        assert client.get("/").status_code == 401
        assert client.get("/enter?token=wrong").status_code == 403
        entered = client.get(f"/enter?token={first.link}")
        assert (entered.status_code, entered.headers["location"]) == (303, "/")
        told = entered.headers["set-cookie"].lower()
        assert "httponly" in told
        assert "samesite=lax" in told
        session = client.cookies[COOKIE]
        assert client.get("/api/v1/me").json() == {"name": "Olga", "role": "admin", "teams": []}
    with served(made, Callers("Olga", desk)) as client:  # another start, another link
        client.cookies.set(COOKIE, session)
        assert client.get("/api/v1/me").json()["name"] == "Olga"
        assert client.get("/api/v1/me", headers={"authorization": f"Bearer {first.link}"}).status_code == 401
        assert client.post("/leave", headers={"origin": f"http://{HOST}"}).status_code == 303
        client.cookies.set(COOKIE, session)
        assert client.get("/api/v1/me").status_code == 401


def test_a_ticket_is_good_once(made: Ground) -> None:
    callers = Callers("Olga")
    ticket = callers.ticket()
    assert callers.admit(ticket)
    assert not callers.admit(ticket)


def test_a_session_that_somebody_else_planted_is_not_kept(made: Ground) -> None:
    callers = Callers("Olga")
    with served(made, callers) as client:
        client.cookies.set(COOKIE, "planted.link")
        client.get(f"/enter?token={callers.link}")
        values = [cookie.value for cookie in client.cookies.jar if cookie.name == COOKIE]
        assert all(value == "planted.link" or value not in ("", "planted.link") for value in values)
        client.cookies.clear()
        client.cookies.set(COOKIE, "planted.link")
        assert client.get("/api/v1/me").status_code == 401


def test_once_people_are_set_up_only_their_tokens_admit(made: Ground, people: Set) -> None:
    with served(made, people.callers) as client:
        client.get(f"/enter?token={people.callers.link}")
        assert client.get("/api/v1/me").status_code == 200
        people.here.add(Person("ada", "admin"))
        people.here.add(Person("bob", "reviewer", ("finance",)))
        assert client.get("/api/v1/me").status_code == 401, "a session of the link has ended"
        assert client.get(f"/enter?token={people.callers.link}").status_code == 401
        _, token = people.here.issue("bob", "laptop", _THEN, _LATER)
        bearer = {"authorization": f"Bearer {token}"}
        client.cookies.clear()
        assert client.get("/api/v1/me", headers=bearer).json() == {
            "name": "bob", "role": "reviewer", "teams": ["finance"],
        }  # fmt: skip
        assert client.get(f"/enter?token={token}").status_code == 401, "a token of a person stands in no address"
        page = client.post("/enter", data={"token": token})
        assert page.status_code == 303
        assert token not in client.cookies[COOKIE]
        assert client.get("/api/v1/me").json()["name"] == "bob"
        assert client.post("/enter", data={"token": "wrong"}).status_code == 403


def test_who_must_enter_first_comes_to_the_page_that_they_wanted_and_never_to_another_server(
    made: Ground, people: Set
) -> None:
    people.here.add(Person("ada", "admin"))
    _, token = people.here.issue("ada", "laptop", _THEN, _LATER)
    with served(made, people.callers) as client:
        asked = client.get("/runs/payment-1/decide?file=a.md").text
        assert 'name="to" value="/runs/payment-1/decide?file=a.md"' in asked
        wrong = client.post("/enter", data={"token": "wrong", "to": "/runs/payment-1/decide"}).text
        assert 'name="to" value="/runs/payment-1/decide"' in wrong
        entered = client.post("/enter", data={"token": token, "to": "/runs/payment-1/decide?file=a.md"})
        assert entered.headers["location"] == "/runs/payment-1/decide?file=a.md"
        for to in (
            "//evil.example",
            "https://evil.example",
            "/\\evil.example",
            "\\\\evil.example",
            "/\t/evil.example",
            "",
        ):
            client.cookies.clear()
            assert client.post("/enter", data={"token": token, "to": to}).headers["location"] == "/", to
        client.cookies.clear()
        assert 'name="to" value="/"' in client.post("/runs/payment-1/abort").text, (
            "what changes something is not repeated"
        )


def test_revoking_a_token_ends_what_was_opened_with_it(made: Ground, people: Set) -> None:
    people.here.add(Person("ada", "admin"))
    known, token = people.here.issue("ada", "laptop", _THEN, _LATER)
    _, other = people.here.issue("ada", "phone", _THEN, _LATER)
    with served(made, people.callers) as client:
        client.post("/enter", data={"token": token})
        assert client.get("/api/v1/me").status_code == 200
        people.here.revoke(known.id, "2026-11-17T00:00:00.000Z")
        assert client.get("/api/v1/me").status_code == 401
        client.cookies.clear()
        assert client.get("/api/v1/me", headers={"authorization": f"Bearer {token}"}).status_code == 401
        assert client.get("/api/v1/me", headers={"authorization": f"Bearer {other}"}).status_code == 200


def test_a_stream_ends_with_the_right_of_who_listens(made: Ground, desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing else happens, nobody looks again by the clock: the revocation alone ends it."""
    monkeypatch.setattr(module, "_FRESH", 3600.0)
    monkeypatch.setattr(live, "_BEAT", 3600.0)
    run, people = made.parked(), open_people(made.home)
    people.add(Person("ada", "admin"))
    known, token = people.issue("ada", "", _THEN, _LATER)

    async def listen() -> list[bytes]:
        service = service_of(made)
        app = application(service, Callers("Olga", desk, open_people(made.home)), [HOST])
        told, going = list[bytes](), asyncio.Event()
        path = f"/api/v1/runs/{run}/stream"
        headers = [(b"host", HOST.encode()), (b"authorization", f"Bearer {token}".encode())]
        scope = {"type": "http", "method": "GET", "path": path, "raw_path": path.encode(), "query_string": b"",
                 "headers": headers, "scheme": "http", "http_version": "1.1", "client": ("127.0.0.1", 1),
                 "server": ("127.0.0.1", 7467), "root_path": ""}  # fmt: skip

        async def receive() -> dict[str, object]:
            await asyncio.Event().wait()
            return {}

        async def send(message: MutableMapping[str, Any]) -> None:
            told.append(message.get("body", b""))
            if b"CheckpointOpened" in told[-1]:
                going.set()

        serving = asyncio.create_task(app(scope, receive, send))
        await going.wait()
        people.revoke(known.id, _THEN)
        await asyncio.wait_for(serving, 60)
        await service.close()
        return told

    assert b"event: ended" in b"".join(asyncio.run(listen()))


def test_who_was_demoted_or_removed_a_moment_ago_changes_nothing(
    made: Ground, people: Set, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_FRESH", 3600.0)
    run = made.parked()
    for person in (Person("root", "admin"), Person("ada", "decider")):
        people.here.add(person)
    token = people.here.issue("ada", "", _THEN, _LATER)[1]
    with served(made, people.callers) as client:
        ada = {"authorization": f"Bearer {token}"}
        version = client.get(f"/api/v1/runs/{run}/checkpoint", headers=ada).headers["etag"]
        decide = {"headers": {**ada, "if-match": version}, "json": {"option": "Go on"}}
        people.here.change(Person("ada", "viewer"))
        assert client.post(f"/api/v1/runs/{run}/decision", **decide).status_code == 403
        people.here.remove("ada")
        assert client.post(f"/api/v1/runs/{run}/decision", **decide).status_code == 401
    assert not made.state(run).record.decisions


def test_a_changed_role_holds_at_once_and_a_removed_person_is_out(made: Ground, people: Set) -> None:
    people.here.add(Person("ada", "admin"))
    people.here.add(Person("bob", "decider"))
    _, token = people.here.issue("bob", "", _THEN, _LATER)
    bearer = {"authorization": f"Bearer {token}"}
    with served(made, people.callers) as client:
        assert client.get("/api/v1/me", headers=bearer).json()["role"] == "decider"
        people.here.change(Person("bob", "viewer"))
        assert client.get("/api/v1/me", headers=bearer).json()["role"] == "viewer"
        people.here.remove("bob")
        assert client.get("/api/v1/me", headers=bearer).status_code == 401


def test_what_people_do_is_on_record_as_proved(made: Ground, people: Set) -> None:
    people.here.add(Person("ada", "admin"))
    _, token = people.here.issue("ada", "", _THEN, _LATER)
    run = made.parked()
    headers = {"authorization": f"Bearer {token}"}
    with served(made, people.callers) as client:
        version = client.get(f"/api/v1/runs/{run}/checkpoint", headers=headers).headers["etag"]
        body = {"option": "Go on"}
        done = client.post(f"/api/v1/runs/{run}/decision", json=body, headers={**headers, "if-match": version})
        assert done.status_code == 200, done.text
        decision = client.get(f"/api/v1/runs/{run}", headers=headers).json()["decisions"][0]
    assert (decision["by"], decision["user"], decision["proved"]) == ("ada", "ada", True)


def test_two_tokens_at_once_a_basic_password_and_a_doubled_host_admit_nobody(made: Ground) -> None:
    callers = Callers("Olga")
    with served(made, callers) as client:
        good = ("authorization", f"Bearer {callers.link}")
        assert client.get("/api/v1/me", headers=[good]).status_code == 200
        assert client.get("/api/v1/me", headers=[good, good]).status_code == 401
        assert client.get("/api/v1/me", headers=[("authorization", f"Basic {callers.link}")]).status_code == 401
        assert client.get("/api/v1/me", headers=[good, ("host", HOST), ("host", HOST)]).status_code == 421


def test_every_answer_tells_the_browser_what_it_may_not_do(made: Ground) -> None:
    callers = Callers("Olga")
    with served(made, callers) as client:
        for path in ("/", "/enter", "/health", "/api/v1/inbox", "/nowhere", "/static/style.css"):
            headers = client.get(path).headers
            policy = headers["content-security-policy"]
            assert "unsafe" not in policy
            assert "frame-ancestors 'none'" in policy
            assert headers["x-frame-options"] == "DENY"
            assert headers["referrer-policy"] == "same-origin"


def test_a_session_is_unknown_at_once_after_it_was_left(
    made: Ground, people: Set, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_FRESH", 3600.0)  # who somebody is is not looked up again for an hour
    people.here.add(Person("ada", "decider"))
    _, token = people.here.issue("ada", "", _THEN, _LATER)
    with served(made, people.callers) as client:
        client.post("/enter", data={"token": token})
        session = client.cookies[COOKIE]
        assert client.get("/").status_code == 200
        client.post("/leave", headers={"origin": f"http://{HOST}"})
        client.cookies.set(COOKIE, session)
        assert client.get("/").status_code == 401


@pytest.mark.parametrize("enters", ["ada", "bob"])
def test_what_was_typed_when_the_token_was_revoked_is_there_again_once_the_same_person_enters(
    made: Ground, people: Set, enters: str
) -> None:
    for name in ("ada", "bob"):
        people.here.add(Person(name, "decider"))
    first, token = people.here.issue("ada", "", _THEN, _LATER)
    _, other = people.here.issue(enters, "", _THEN, _LATER)
    run, ours = made.parked(), {"origin": f"http://{HOST}"}
    with served(made, people.callers) as client:
        client.post("/enter", data={"token": token})
        shown = client.get(f"/runs/{run}/decide").text
        hidden = dict(re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)"', shown))
        people.here.revoke(first.id, _THEN)
        typed = {**hidden, "option": "Go on", "words": 'typed "words"\nof two lines', "field:count": "7"}
        refused = client.post(f"/runs/{run}/decide", data=typed, headers=ours)
        assert refused.status_code == 401
        assert "Your token no longer holds." in refused.text
        assert "Nothing was decided, and nothing was sent." in refused.text
        assert "of two lines</textarea>" in refused.text
        sent = re.findall(r'<input type="hidden" name="([^"]*)" value="([^"]*)"', refused.text)
        kept = {unescape(name): unescape(value) for name, value in sent if name != "back"}
        mistyped = client.post("/enter", data={**kept, "token": "wrong"})
        assert (mistyped.status_code, "of two lines</textarea>" in mistyped.text) == (403, True)
        entered = client.post("/enter", data={**kept, "token": other})
        shown = client.get(f"/runs/{run}/decide").text
        assert ("typed &#34;words&#34;\nof two lines</textarea>" in shown) == (enters == "ada")
        assert (">7</textarea>" in shown) == (enters == "ada")
        assert (entered.headers["location"] == f"/runs/{run}/decide") or enters == "bob"
    assert not made.state(run).record.decisions


def test_a_form_of_nobody_is_not_read(made: Ground, people: Set) -> None:
    people.here.add(Person("ada", "decider"))
    run, ours = made.parked(), {"origin": f"http://{HOST}"}
    with served(made, people.callers) as client:
        answer = client.post(f"/runs/{run}/decide", data={"words": "of a stranger"}, headers=ours)
        assert answer.status_code == 401
        assert "of a stranger" not in answer.text
        assert "no longer holds" not in answer.text
        big = client.post("/enter", data={"token": "x" * 5000})
        assert big.status_code == 413


def test_who_is_not_admitted_is_told_why(made: Ground, people: Set) -> None:
    with served(made, Callers("Olga")) as client:
        assert "Bearer TOKEN" in client.get("/api/v1/me").json()["detail"]
        assert "another after each start" in _why(client, "nonsense")
    for person in (Person("ada", "admin"), Person("bob", "viewer")):
        people.here.add(person)
    old = people.here.issue("ada", "", _THEN, _THEN)[1]
    gone, token = people.here.issue("ada", "", _THEN, _LATER)
    people.here.revoke(gone.id, "2026-02-03T04:05:06.000Z")
    removed = people.here.issue("bob", "", _THEN, _LATER)[1]
    people.here.remove("bob")
    with served(made, people.callers) as client:
        assert _why(client, old) == f"This token ran out at {_THEN}."
        assert _why(client, token) == "This token was revoked at 2026-02-03T04:05:06.000Z."
        for other in (removed, "rcv_nonsense"):
            assert "unknown here" in _why(client, other)


def _why(client: TestClient, token: str) -> str:
    told = client.get("/api/v1/me", headers={"authorization": f"Bearer {token}"})
    assert told.status_code == 401
    return str(told.json()["detail"])
