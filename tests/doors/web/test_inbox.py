"""A line of the inbox: where the run is in the workflow's words, the fact that matters, and handing it over."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from reconvene.desk_ports import Snooze
from reconvene.doors.http.callers import Caller
from reconvene.doors.web.waiting_runs import Waiting, Wanted, inbox
from reconvene.people_ports import Person
from reconvene.people_wiring import open_people
from reconvene.testing.scripted import ScriptedAgents
from reconvene.wire.workflow_file import parse_workflow
from reconvene.wiring import open_engine
from served_home import FLOW, Ground, ground


@pytest.fixture
def made(tmp_path: Path) -> Iterator[Ground]:
    with ground(tmp_path) as found:
        yield found


@pytest.fixture
def browser(made: Ground) -> Iterator[TestClient]:
    with made.serving() as client:
        client.headers.update(made.person("ann", "admin", cookie=True))
        client.follow_redirects = False
        yield client


def _row(made: Ground, prompt: str) -> Waiting:
    said = {"text": "Debt is five times the earnings.", "files": {"draft.md": "# Draft\n"}}
    engine = open_engine(made.home, runner=ScriptedAgents({}, default=said))
    flow = FLOW.replace("prompt: Read draft.md.", f"prompt: |\n{prompt}").replace(
        "agents: [writer]", "steps: [{agents: [writer], output: found}]", 1
    )
    engine.drive_sync(engine.start(parse_workflow(flow.replace("- id: draft", "- id: draft\n    title: Write it", 1))))
    engine.log.close()
    none: dict[str, Snooze] = {}
    (row,) = inbox(made.engine, Caller("ann"), Wanted(), none, "2026-11-17T00:00:00.000Z").rest
    return row


@pytest.mark.parametrize(
    "before",
    [
        "## Focal question",
        "**Focal question**",
        "Here is what they found:",
        "Session progress: Round 2 of max 10",
        "---",
    ],
)
def test_the_fact_is_no_heading_and_nothing_that_only_leads_on(made: Ground, before: str) -> None:
    row = _row(made, f"        {before}\n\n        {{{{ context.found }}}}\n")
    assert (row.fact, row.quoted) == ("Debt is five times the earnings.", True)
    assert row.where == "Write it, round 1"


def test_what_agents_found_counts_before_what_the_workflow_says(made: Ground) -> None:
    row = _row(made, "        Read all of it before you decide.\n\n        {{ context.found }}\n")
    assert row.fact == "Debt is five times the earnings."


def test_where_agents_wrote_nothing_there_the_workflow_speaks(made: Ground) -> None:
    row = _row(made, "        Read all of it before you decide.\n")
    assert (row.fact, row.quoted) == ("Read all of it before you decide.", False)


def test_it_is_handed_over_in_the_inbox_to_people_there_are(made: Ground, browser: TestClient) -> None:
    run = made.parked()
    assert "hand over" not in browser.get("/").text, "nobody else is there"
    people = open_people(made.home)
    for one in (Person("ann", "admin"), Person("ben", "decider", ("finance",)), Person("vic", "viewer")):
        people.add(one)
    people.close()
    html = browser.get("/").text
    for one in ("ann", "ben", "team:finance"):
        assert f'<option value="{one}">' in html
    assert '<option value="vic">' not in html
    done = browser.post(f"/runs/{run}/hand-over", data={"who": "team:finance", "back": "/"})
    assert (done.status_code, done.headers["location"]) == (303, "/")
    assert made.state(run).world.pending.who == ("team:finance",)


@pytest.mark.parametrize("who", ["ghost", "team:nope", "vic"])
def test_nothing_is_handed_over_to_nobody(made: Ground, browser: TestClient, who: str) -> None:
    run = made.parked()
    people = open_people(made.home)
    people.add(Person("ann", "admin"))
    people.add(Person("vic", "viewer"))
    people.close()
    assert browser.post(f"/runs/{run}/hand-over", data={"who": who}).status_code == 422
    assert made.state(run).world.pending.who == ()


def test_without_people_one_cannot_lock_oneself_out(made: Ground, browser: TestClient) -> None:
    run = made.parked()
    assert "there is nobody to hand it over to" in browser.get(f"/runs/{run}/decide").text
    refused = browser.post(f"/runs/{run}/hand-over", data={"who": "ghost"})
    assert (refused.status_code, "nobody to hand it over to" in refused.text) == (422, True)
    assert made.state(run).world.pending.who == ()


def test_without_people_what_waits_for_somebody_else_can_be_taken(made: Ground, browser: TestClient) -> None:
    made.workflow = parse_workflow(FLOW.replace("question: Is the draft good?", "question: Good?\n      who: [eve]"))
    run = made.parked()
    assert "Decide it yourself" in browser.get(f"/runs/{run}/decide").text
    assert browser.post(f"/runs/{run}/hand-over", data={"who": "ann"}).status_code == 303
    assert made.state(run).world.pending.who == ("ann",)
