"""What every answer says to the browser, whichever address it is of; and that nothing of a page is unsafe."""

from __future__ import annotations

import re

from starlette.routing import BaseRoute, Mount, Route
from tests.browser.serving import engine_of, nothing
from tests.doors.web.conftest import Desk, Parsed

from reconvene.doors.http.callers import Callers
from reconvene.doors.http.service import Service
from reconvene.doors.web import pages


def _addresses(routes: list[BaseRoute], run: str) -> list[str]:
    found = list[str]()
    for route in routes:
        if isinstance(route, Route) and "GET" in (route.methods or ()):
            found.append(re.sub(r"\{run(?::\w+)?\}", run, re.sub(r"\{(?!run)[^}]*\}", "x", route.path)))
        assert isinstance(route, Route | Mount)
    return found


def test_every_answer_of_every_address_is_guarded(desk: Desk) -> None:
    service = Service(lambda: engine_of(desk.home), str(desk.home), nothing, nothing)
    every = [at for run in ("SCENARIO-2026-001", "none") for at in _addresses(pages.routes(service, Callers("x")), run)]
    assert "/runs/none/files" in every
    for at in [*every, "/static/style.css", "/static/runs.js", "/nowhere", "/runs/a%2F..%2F..%2Fx/files"]:
        answer = desk.client.get(at, follow_redirects=False)
        said = answer.headers
        assert answer.status_code < 500, at
        assert "unsafe" not in said["content-security-policy"], at
        assert "frame-ancestors 'none'" in said["content-security-policy"], at
        assert said["x-content-type-options"] == "nosniff", at
        assert said["x-frame-options"] == "DENY", at
        assert said["cache-control"].startswith(("no-store", "no-cache")), at


def test_no_page_has_a_script_or_a_style_of_its_own(desk: Desk) -> None:
    for at in ("/", "/runs", "/runs/SCENARIO-2026-001", "/new?workflow=job", "/figures", "/runs/SPEC-2026-001/gaps"):
        for tag, own in Parsed(desk.get(at)).elements:
            assert tag != "style", at
            assert "style" not in own, at
            assert tag != "script" or own["src"].startswith("/static/"), at


def test_who_has_not_entered_sees_nothing(desk: Desk) -> None:
    desk.client.cookies.clear()
    for at in ("/runs", "/runs/SCENARIO-2026-001", "/runs/SCENARIO-2026-001/raw?path=company.md", "/new", "/figures"):
        answer = desk.client.get(at)
        assert answer.status_code == 401, at
        assert "Aldermoor" not in answer.text, at
