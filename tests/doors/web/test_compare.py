"""Two runs beside each other, and a page that could not be made."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from reconvene.core.facts import commands as c
from reconvene.doors.http.callers import Callers
from reconvene.doors.web import inbox_pages
from reconvene.doors.web.app import application
from served_home import HOST, Ground, ground, service_of

from .conftest import Parsed


@pytest.fixture
def made(tmp_path: Path) -> Iterator[Ground]:
    with ground(tmp_path) as found:
        yield found


@pytest.fixture
def browser(made: Ground) -> Iterator[TestClient]:
    with made.serving() as client:
        client.headers.update(made.person("ann", "decider", cookie=True))
        yield client


def _decide(made: Ground, run: str, option: str) -> None:
    point = made.state(run).world.open
    assert point is not None
    made.engine.submit(run, c.AnswerCheckpoint(point.id, option, by="ann"))


def test_a_fork_is_compared_with_what_it_was_forked_from(made: Ground, browser: TestClient) -> None:
    run = made.parked()
    fork = made.engine.fork(run, at=made.engine.log.head(run), by="ann")
    made.drive(fork)
    (Path(made.state(fork).workspace) / "draft.md").write_text("# Draft\n\nRevenue is 900.\n", encoding="utf-8")
    made.engine.scan(fork, by="ann", door="test")
    _decide(made, run, "Go on")
    _decide(made, fork, "Stop")

    assert f'href="/runs/{fork}/compare?with={run}"' in browser.get(f"/runs/{fork}").text
    page = Parsed(browser.get(f"/runs/{fork}/compare").text).text
    assert f"Compared with {run}" in page
    assert f"{fork} was forked from {run}." in page
    assert "events are the same." in page
    assert "Go on Stop differs" in page
    assert page.index("Where they part") < page.index("Where they stand")
    assert "not shared: what came later in" in page
    assert "What people said" in page
    assert "since then: agents at work" in page
    assert "draft.md differs" in page
    html = browser.get(f"/runs/{fork}/compare?with={run}&file=draft.md").text
    assert "<del>850</del>" in html
    assert "<ins>900</ins>" in html


def test_two_runs_of_one_workflow_are_offered_and_compared(made: Ground, browser: TestClient) -> None:
    one, other = made.parked(), made.parked()
    assert f'<option value="{other}">' in browser.get(f"/runs/{one}/compare").text
    page = Parsed(browser.get(f"/runs/{one}/compare?with={other}").text).text
    assert "They have no event in common." in page
    assert "None differs." in page
    assert browser.get(f"/runs/{one}/compare?with=nobody-1").status_code == 404


def test_a_mistake_of_ours_is_a_page_that_leads_on(made: Ground, monkeypatch: pytest.MonkeyPatch) -> None:
    def breaks(*_given: object) -> None:
        raise RuntimeError("a secret of the server")

    monkeypatch.setattr(inbox_pages, "inbox", breaks)
    callers = Callers("Olga")
    callers.find = made.find  # type: ignore[method-assign]
    app = application(service_of(made), callers, [HOST])
    with TestClient(app, f"http://{HOST}", raise_server_exceptions=False) as client:
        client.headers.update(made.person("ann", "decider", cookie=True))
        answer = client.get("/")
    assert answer.status_code == 500
    assert "This page could not be made." in answer.text
    assert 'href="/runs"' in answer.text
    assert "secret" not in answer.text
    assert "content-security-policy" in answer.headers
