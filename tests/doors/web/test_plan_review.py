"""A plan to review: its to-dos with how far they are, and what may be set with the approval."""

from __future__ import annotations

from pathlib import Path

from tests.browser.furnished import CALLS, STOPS, furnish, wait_at_a_call

from reconvene.app import record

from .conftest import Desk, Sit, engine


def test_to_dos_say_how_far_they_are_on_what_they_depend_and_which_commit_holds_them(tmp_path: Path, sit: Sit) -> None:
    home = furnish(tmp_path, tuple(stop for stop in STOPS if stop.workflow == "job"))
    wait_at_a_call(tmp_path, home)
    desk = sit(home)
    planned = desk.get("/runs/job-1/decide?file=todos.yaml")
    assert '<th scope="col">status</th><th scope="col">depends on</th><th scope="col">commit</th>' in planned
    assert "waits for count" in planned
    assert 'class="says">to do</td>' in planned

    working = desk.get(f"/runs/{CALLS}/decide?file=todos.yaml")
    opened = engine(home)
    commits = {dict(one.trailers).get("Item"): id for id, one in record.commits(opened, CALLS)}
    opened.log.close()
    assert f'class="says">done</td><td class="says"></td><td class="says">{commits["count"][:8]}</td>' in working
    assert 'class="says">at work</td><td class="says">count</td><td class="says"></td>' in working
    assert 'class="says">waits for check</td>' in working


def test_approving_may_set_what_the_run_may_cost_and_which_tools_ask(desk: Desk) -> None:
    html = desk.get("/runs/job-1/decide")
    assert 'name="cost_limit"' in html
    assert '<input type="checkbox" name="ask_first" value="files">' in html
