"""Runs are started with what was uploaded or sent, and with what the settings name; never with a path of the server."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from reconvene.doors.cli.common import Call
from reconvene.doors.cli.server_starts import ServerStarts
from reconvene.doors.http.callers import Callers
from reconvene.doors.http.service import Service
from reconvene.doors.web.app import application
from reconvene.home import find
from served_home import HOST, Ground, ground, service_of

FLOW = """
name: given
inputs:
  brief: {type: file, required: true}
  brief_name: {type: text}
  notes: {type: files}
  papers: {type: documents}
  data: {type: sources}
  repo: {type: project}
  count: {type: number}
  sure: {type: bool}
settings: {tone: {type: text, default: plain}}
agents: {writer: {command: "cat"}}
phases: [{id: draft, agents: [writer]}]
"""
SECRET = "a word that only lies on the server's disk"


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Ground]:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "given.yaml").write_text(FLOW)
    (tmp_path / "secret.md").write_text(SECRET)
    (tmp_path / "project").mkdir()
    with closing(sqlite3.connect(tmp_path / "sales.sqlite")) as base:
        base.execute("CREATE TABLE sales (year INTEGER)")
        base.commit()
    settings = '[sources]\nsales = "sales.sqlite"\n[projects]\nshop = "project"\n'
    (tmp_path / "reconvene.toml").write_text(settings)
    with ground(tmp_path) as one:
        yield one


@pytest.fixture
def client(made: Ground) -> Iterator[TestClient]:
    plain = service_of(made)
    starts = ServerStarts(Call(find(made.home), False, by="Olga"), ("given.yaml",))
    service = Service(plain._open_engine, made.home, lambda *_: None, lambda: None, starts)
    callers = Callers("Olga")
    callers.find = made.find  # type: ignore[method-assign]
    with TestClient(application(service, callers, [HOST]), f"http://{HOST}", headers=made.person("ada")) as client:
        yield client


def uploaded(client: TestClient, name: str, data: bytes) -> dict[str, str]:
    return {"upload": client.post("/api/v1/uploads", files={"file": (name, data)}).json()["digest"]}


def start(client: TestClient, **inputs: object) -> tuple[int, dict[str, Any]]:
    found = client.post("/api/v1/runs", json={"workflow": "given", "inputs": inputs})
    return found.status_code, found.json()


def test_a_run_is_given_uploads_texts_and_what_the_settings_name(made: Ground, client: TestClient) -> None:
    status, told = start(
        client,
        brief=uploaded(client, "brief.md", b"# The brief\n"),
        notes=[{"name": "a.txt", "text": "one"}, uploaded(client, "b.txt", b"two")],
        papers=[uploaded(client, "paper.md", b"# A paper\n\nIts words.\n")],
        data=["sales"],
        repo="shop",
        count="3",
        sure=True,
    )
    assert status == 201, told
    session = made.engine.session(told["run"])
    given = session.book.object(session.state.inputs)
    assert (given["brief"], given["brief_name"]) == ("# The brief\n", "brief")
    assert given["notes"] == [{"name": "a.txt", "text": "one"}, {"name": "b.txt", "text": "two"}]
    assert (given["count"], given["sure"]) == (3, True)
    papers, data = given["papers"], given["data"]
    assert isinstance(papers, list)
    assert isinstance(data, list)
    assert papers[0]["name"] == "paper.md"
    assert data[0]["name"] == "sales"
    assert given["repo"] == str(made.folder / "project")
    assert [one["run"] for one in client.get("/api/v1/uploads").json()["uploads"]] == [told["run"]] * 3


@pytest.mark.parametrize(
    "path", ["secret.md", "@secret.md", "./secret.md", "../secret.md", "/etc/passwd", "file:///etc/passwd"]
)
@pytest.mark.parametrize("name", ["brief", "notes", "papers", "data", "repo"])
def test_no_path_of_the_servers_disk_is_read(made: Ground, client: TestClient, name: str, path: str) -> None:
    good = {"brief": {"text": "x"}}
    whole = path.replace("secret.md", str(made.folder / "secret.md"))
    for value in (path, whole, [path], {"upload": path}, {"path": path}, [{"upload": whole}], {"name": path}):
        status, told = start(client, **{**good, name: value})
        assert status == 422, value
        assert told["field"] == f"inputs.{name}"
        assert SECRET not in str(told)
    assert not made.engine.log.heads()


@pytest.mark.parametrize(
    ("inputs", "field"),
    [
        ({}, "inputs.brief"),
        ({"brief": {"text": "x"}, "nothing": 1}, "inputs.nothing"),
        ({"brief": {"text": "x"}, "count": "many"}, "inputs.count"),
        ({"brief": {"text": "x"}, "sure": 3}, "inputs.sure"),
    ],
)
def test_what_does_not_fit_is_named_and_nothing_is_begun(
    made: Ground, client: TestClient, inputs: dict[str, object], field: str
) -> None:
    status, told = start(client, **inputs)
    assert (status, told["field"]) == (422, field)
    assert not made.engine.log.heads()


def test_another_persons_upload_is_not_there(made: Ground, client: TestClient) -> None:
    other = client.post("/api/v1/uploads", files={"file": ("a.md", b"theirs")}, headers=made.person("bob")).json()
    status, told = start(client, brief={"upload": other["digest"]})
    assert (status, told["field"]) == (422, "inputs.brief")


def test_an_unknown_workflow_setting_or_program_is_refused(made: Ground, client: TestClient) -> None:
    body: dict[str, Any] = {"workflow": "given", "inputs": {"brief": {"text": "x"}}}
    for more, field in (
        ({"workflow": "secret.md"}, "workflow"),
        ({"workflow": "../given.yaml"}, "workflow"),
        ({"settings": {"colour": "red"}}, "settings.colour"),
        ({"models": {"writer": "sh -c 'touch evil'"}}, ""),
    ):
        found = client.post("/api/v1/runs", json={**body, **more})
        assert found.status_code == 422, found.text
        assert found.json().get("field", "") == field
    assert not (made.folder / "evil").exists()
    assert client.post("/api/v1/runs", json={**body, "settings": {"tone": "dry"}}).status_code == 201


def test_what_may_be_started_is_told_with_its_inputs(client: TestClient) -> None:
    shown = client.get("/api/v1/workflows/given").json()
    assert [one["name"] for one in shown["inputs"] if one["required"]] == ["brief"]
    assert shown["sources"] == ["sales"]
    assert client.get("/api/v1/workflows/given.yaml").status_code == 404


def test_settings_of_a_project_name_nothing_outside_of_it(made: Ground, client: TestClient) -> None:
    (made.folder / "reconvene.toml").write_text('[sources]\npasswords = "/etc/passwd"\n')
    status, told = start(client, brief={"text": "x"}, data=["passwords"])
    assert status == 422
    assert "not below" in told["detail"]
