"""Runs as a whole over the API: searched, verified, exported, imported, upgraded, deleted; and who the people are."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from reconvene.app.tombstones import left_of
from reconvene.doors.cli.common import Call
from reconvene.doors.cli.server_starts import ServerStarts
from reconvene.doors.http.callers import Callers
from reconvene.doors.http.service import Service
from reconvene.doors.web.app import application
from reconvene.home import find
from reconvene.people_wiring import open_people
from served_home import FLOW, HOST, Ground, ground, service_of

API = "/api/v1"


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Ground]:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "flow.yaml").write_text(FLOW.replace("agents: {writer: {}}", 'agents: {writer: {command: "cat"}}'))
    with ground(tmp_path) as one:
        yield one


@pytest.fixture
def client(made: Ground) -> Iterator[TestClient]:
    with serving(made) as client:
        yield client


def serving(made: Ground) -> TestClient:
    starts = ServerStarts(Call(find(made.home), False, by="Olga"), ("flow.yaml",))
    service = Service(service_of(made)._open_engine, made.home, lambda *_: None, lambda: None, starts)
    callers = Callers("Olga")
    callers.find = made.find  # type: ignore[method-assign]
    return TestClient(application(service, callers, [HOST]), f"http://{HOST}")


def test_passages_are_found_and_opened_as_they_are_cited(made: Ground, client: TestClient) -> None:
    run, vera = made.parked(), made.person("vera", "viewer")
    query = {"query": "Revenue", "kinds": "files", "text_only": "true"}
    told = client.get(f"{API}/runs/{run}/search", params=query, headers=vera).json()
    assert "Revenue is 850" in told["found"][0]["text"]
    opened = client.get(f"{API}/runs/{run}/cite", params={"what": told["found"][0]["cite"]}, headers=vera).json()
    assert "Revenue is 850" in opened["text"]
    for path, field in (("search", "query"), ("search?query=a&kinds=x", "kinds"), ("cite?what=nowhere:1", "what")):
        refused = client.get(f"{API}/runs/{run}/{path}", headers=vera)
        assert (refused.status_code, refused.json()["field"]) == (422, field)


def test_a_run_is_exported_and_taken_in_elsewhere(made: Ground, client: TestClient, tmp_path: Path) -> None:
    run, ada = made.parked(), made.person("ada")
    assert client.get(f"{API}/runs/{run}/verify", headers=ada).json()["sound"]
    file = client.get(f"{API}/runs/{run}/export", headers=made.person("vera", "viewer"))
    assert (file.status_code, file.headers["content-type"]) == (200, "application/zip")
    with ground(tmp_path / "other") as other, serving(other) as there:
        refused = there.post(f"{API}/import", files={"file": ("a.zip", b"no zip")}, headers=other.person("ada"))
        assert (refused.status_code, refused.json()["field"]) == (422, "file")
        assert str(tmp_path) not in refused.text
        assert "/tmp" not in refused.text
        sent = {"file": ("a.zip", file.content)}
        vera = there.post(f"{API}/import", files=sent, headers=other.person("vera", "viewer"))
        assert vera.status_code == 403
        taken = there.post(f"{API}/import", files=sent, headers=other.person("ada"))
        assert (taken.json()["run"], taken.json()["already"]) == (run, False)
        assert there.post(f"{API}/import", files=sent, headers=other.person("ada")).json()["already"]
        again = there.post(f"{API}/import?name=theirs-1", files=sent, headers=other.person("ada")).json()
        assert again["run"] == "theirs-1"
        shown = there.get(f"{API}/runs/{run}", headers=other.person("ada")).json()
        assert shown["checkpoint"]["question"] == "Is the draft good?"


def test_only_an_admin_deletes_a_run_and_it_is_gone_then(made: Ground, client: TestClient) -> None:
    run = made.parked()
    assert client.delete(f"{API}/runs/{run}", headers=made.person("ada")).status_code == 403
    told = client.delete(f"{API}/runs/{run}", headers=made.person("root", "admin"))
    assert (told.status_code, told.json()["by"]) == (200, "root")
    assert left_of(made.engine.log, run) is not None
    for path in ("", "/checkpoint", "/events", "/stream", "/export"):
        gone = client.get(f"{API}/runs/{run}{path}", headers=made.person("ada"))
        assert (gone.status_code, "was deleted" in gone.json()["detail"]) == (404, True)
    assert client.delete(f"{API}/runs/{run}", headers=made.person("root", "admin")).status_code == 200
    assert client.delete(f"{API}/runs/nope-1", headers=made.person("root", "admin")).status_code == 404


def test_a_run_goes_on_with_a_mended_workflow_that_may_be_started_here(made: Ground, client: TestClient) -> None:
    run, ada, address = made.parked(), made.person("ada"), ""
    address = f"{API}/runs/{run}/upgrade"
    before = made.state(run).workflow
    tried = client.post(address, json={"workflow": "flow", "dry_run": True}, headers=ada).json()
    assert tried["dry_run"]
    assert [one["what"] for one in tried["changes"]]
    assert made.state(run).workflow == before
    done = client.post(address, json={"workflow": "flow"}, headers=ada)
    assert done.status_code == 200, done.text
    assert made.state(run).workflow == done.json()["workflow"] != before
    for body, field in (
        ({"workflow": "../flow.yaml"}, "workflow"),
        ({"workflow": "market-entry"}, "workflow"),
        ({"workflow": "flow", "inputs": {"brief": "/etc/passwd"}}, "inputs.brief"),
    ):
        refused = client.post(address, json=body, headers=ada)
        assert (refused.status_code, refused.json()["field"]) == (422, field), refused.text
    assert client.post(address, json={"workflow": "flow"}, headers=made.person("rev", "reviewer")).status_code == 403


def test_an_admin_says_who_the_people_are(made: Ground, client: TestClient) -> None:
    root = made.person("root", "admin")
    added = client.post(f"{API}/people", json={"name": "ada", "role": "admin"}, headers=root)
    assert (added.status_code, added.json()["role"]) == (201, "admin")
    alike = client.post(f"{API}/people", json={"name": "Ada", "role": "viewer"}, headers=root)
    assert (alike.status_code, alike.json()["field"]) == (422, "name")
    client.post(f"{API}/people", json={"name": "bob", "role": "viewer", "teams": ["finance"]}, headers=root)
    changed = client.patch(f"{API}/people/bob", json={"role": "decider"}, headers=root).json()
    assert (changed["role"], changed["teams"]) == ("decider", ["finance"])
    made_ = client.post(f"{API}/people/bob/tokens", json={"expires": "1d", "label": "laptop"}, headers=root).json()
    people = open_people(made.home)
    admitted = people.by_token(made_["token"], made_["made"])
    assert admitted is not None
    assert admitted.name == "bob"
    listed = client.get(f"{API}/people", headers=root).json()["people"]
    assert [(one["name"], [each["token"] for each in one["tokens"]]) for one in listed] == [("ada", []), ("bob", [""])]
    assert client.delete(f"{API}/tokens/{made_['id']}", headers=root).json()["revoked"]
    assert people.by_token(made_["token"], made_["made"]) is None
    last = client.delete(f"{API}/people/ada", headers=root)
    assert (last.status_code, "no admin left" in last.json()["detail"]) == (422, True)
    assert client.delete(f"{API}/people/bob", headers=root).status_code == 200
    people.close()


@pytest.mark.parametrize("role", ["viewer", "reviewer", "decider"])
def test_nobody_else_sees_or_changes_the_people(made: Ground, client: TestClient, role: str) -> None:
    who = made.person(role, role)  # type: ignore[arg-type]
    asked = [
        client.get(f"{API}/people", headers=who),
        client.post(f"{API}/people", json={"name": "eve", "role": "admin"}, headers=who),
        client.patch(f"{API}/people/eve", json={"role": "admin"}, headers=who),
        client.post(f"{API}/people/{role}/tokens", json={}, headers=who),
        client.delete(f"{API}/people/eve", headers=who),
        client.delete(f"{API}/tokens/1f0c9a1b", headers=who),
    ]
    assert [one.status_code for one in asked] == [403] * len(asked)
    assert not open_people(made.home).everyone()
