"""Several people at one checkpoint, each at another door: approvers who disagree, one who is handed it over, a
reminder, those who may decide once it is late, and the option that the deadline takes.

Every part is played three times, so that each door has each role once.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import quote

import httpx2 as httpx
import pytest
from playwright.sync_api import Browser, Page
from tests.browser.serving import Served, engine_of, served

from commands import call
from reconvene.app.lapsing import lapse
from reconvene.core.facts import events as e
from reconvene.language.times import later
from reconvene.people_ports import Person
from reconvene.people_wiring import open_people
from reconvene.surroundings import SystemClock
from reconvene.testing.scripted import ScriptedAgents
from reconvene.wire.workflow_file import parse_workflow
from reconvene.wiring import open_engine

DAY = 86_400.0
_PAY = """
name: pay
agents: {writer: {}}
phases:
  - id: plan
    rounds: {max: 3}
    agents: [writer]
    checkpoint:
      question: Shall we pay?
      WHO
      options:
        - {label: Approve, needs: NEEDS, remark: optional}
        - {label: Reject, needs: NEEDS, then: {end: rejected}}
"""
_TOGETHER = _PAY.replace("WHO", "who: [ada, 'team:finance']").replace("NEEDS", "2")
_FOR_ADA = _PAY.replace("NEEDS", "1").replace("WHO", "who: [ada]\n      within: 2d\n      remind: 8h\n      LATE")
_ESCALATES = _FOR_ADA.replace("LATE", "late: {who: ['team:finance']}")
_LAPSES = _FOR_ADA.replace("LATE", "late: {option: Reject}")
_HANDED = _PAY.replace("NEEDS", "1").replace("WHO", "who: [ada]")
LATE = {"browser": "the deadline passed", "rest": '"late": true', "command": "late since"}
_PEOPLE = (Person("root", "admin"), Person("ada", "decider"), Person("bob", "decider", ("finance",)))


class Clock:
    """Later than it is by what a test says."""

    def __init__(self) -> None:
        self.ahead = 0.0


@pytest.fixture(scope="module")
def offices(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, str]]:
    """A home with people, and their tokens."""
    home = tmp_path_factory.mktemp("together") / "home"
    with ThreadPoolExecutor(1) as beside:  # a browser may be open in this thread, and its loop with it
        beside.submit(_begin, home).result()
    people = open_people(str(home))
    now = SystemClock().now()
    for person in _PEOPLE:
        people.add(person)
    tokens = {one.name: people.issue(one.name, "test", now, later(now, 30 * DAY))[1] for one in _PEOPLE}
    people.close()
    return home, tokens


def _begin(home: Path) -> None:
    """Three runs of each, at their checkpoint."""
    engine = open_engine(str(home), runner=ScriptedAgents({}, default="done"))
    for name, flow in (("together", _TOGETHER), ("escalates", _ESCALATES), ("lapses", _LAPSES), ("handed", _HANDED)):
        for _ in range(3):
            engine.drive_sync(engine.start(parse_workflow(flow.replace("name: pay", f"name: {name}")), by="root"))
    engine.log.close()


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made, real = Clock(), SystemClock.now
    monkeypatch.setattr(SystemClock, "now", lambda self: later(real(self), made.ahead))
    return made


class Doors:
    """People with their tokens at a browser, the API and the command line. Nothing is driven."""

    def __init__(self, at: Served, tokens: dict[str, str], chromium: Browser) -> None:
        self._at, self._tokens, self._chromium = at, tokens, chromium
        self._pages: dict[str, Page] = {}
        self._client = httpx.Client(base_url=f"{at.url}/api/v1", timeout=60)

    def close(self) -> None:
        self._client.close()
        for page in self._pages.values():
            page.context.close()

    def shown(self, door: str, name: str, run: str) -> str:
        """What is told of the checkpoint, or of the run."""
        if door == "browser":
            return self._page(name, run).inner_text("body")
        if door == "rest":
            return self._ask(name, "GET", f"/runs/{run}").text
        return self._command(name, "show", run)

    def decide(self, door: str, name: str, run: str, option: str) -> str:
        """On what is shown to them now; what they are told."""
        if door == "browser":
            page = self._page(name, run)
            page.locator("label.opt", has_text=option).click()
            with page.expect_navigation():
                page.locator("#record").click()
            return page.inner_text("body")
        if door == "rest":
            version = self._ask(name, "GET", f"/runs/{run}/checkpoint").headers["etag"]
            return self._ask(name, "POST", f"/runs/{run}/decision", {"option": option}, version).text
        self._command(name, "show", run)
        return self._command(name, "decide", run, "--option", option, "--no-drive")

    def version(self, run: str) -> str:
        return self._ask("root", "GET", f"/runs/{run}/checkpoint").headers["etag"]

    def too_late(self, door: str, name: str, run: str, version: str) -> str:
        """What somebody is told who decides on what they saw before."""
        if door == "browser":
            self._page(name, run)
            form = {"option": "Approve", "version": version.strip('"'), "checkpoint": "C1"}
            asks = self._pages[name].request
            return asks.post(f"{self._at.url}/runs/{run}/decide", form=form, headers={"origin": self._at.url}).text()
        if door == "rest":
            return self._ask(name, "POST", f"/runs/{run}/decision", {"option": "Approve"}, version).text
        return self._command(name, "decide", run, "--option", "Approve", "--no-drive")

    def may(self, door: str, name: str, run: str) -> bool:
        """Whether they are let decide. At the command line and by the API it is tried, so nobody asks who may."""
        if door == "browser":
            return self._page(name, run).locator("#record").count() == 1
        if door == "rest":
            body = {"option": "Approve"}
            return self._ask(name, "POST", f"/runs/{run}/decision", body, self.version(run)).status_code != 403
        return "waits for" not in self.decide(door, name, run, "Approve").partition("hint")[0]

    def hand_over(self, door: str, name: str, run: str, to: str) -> None:
        if door == "browser":
            page = self._page(name, run)
            page.locator("summary", has_text="Hand over").click()
            page.locator("form[action$='/hand-over'] [name=who]").fill(to)
            with page.expect_navigation():
                page.locator("form[action$='/hand-over'] button").click()
        elif door == "rest":
            version = self._ask(name, "GET", f"/runs/{run}/checkpoint").headers["etag"]
            assert self._ask(name, "PUT", f"/runs/{run}/assignees", {"who": [to]}, version).status_code == 200
        else:
            self._command(name, "assign", run, to)

    def _page(self, name: str, run: str) -> Page:
        if name not in self._pages:
            page = self._pages[name] = self._chromium.new_context().new_page()
            page.goto(self._at.url)
            page.get_by_label("Your token").fill(self._tokens[name])
            page.get_by_role("button", name="Enter").click()
            page.wait_for_load_state()
        page = self._pages[name]
        page.goto(f"{self._at.url}/runs/{quote(run)}/decide")
        return page

    def _ask(self, name: str, method: str, path: str, body: object = None, version: str = "") -> httpx.Response:
        headers = {"authorization": f"Bearer {self._tokens[name]}"} | ({"if-match": version} if version else {})
        return self._client.request(method, path, json=body, headers=headers)

    def _command(self, name: str, *words: str) -> str:
        home = self._at.home
        done = call(*words, cwd=home.parent, RECONVENE_HOME=str(home), RECONVENE_TOKEN=self._tokens[name])
        return done.out + done.err


@pytest.fixture(scope="module")
def doors(offices: tuple[Path, dict[str, str]], chromium: Browser) -> Iterator[Doors]:
    home, tokens = offices
    with served(home, people=open_people(str(home))) as at:
        made = Doors(at, tokens, chromium)
        yield made
        made.close()


def told(home: Path, run: str) -> list[e.AnyEvent]:
    """What happened to its checkpoint."""
    kinds = (e.CheckpointReminded, e.CheckpointEscalated, e.DecisionRecorded)
    engine = engine_of(home)
    try:
        return [event for _, event in engine.log.read(run) if isinstance(event, kinds)]
    finally:
        engine.log.close()


def pass_the_time(home: Path, run: str) -> None:
    """As a server, a worker or `tick` does, for one run."""
    engine = engine_of(home)
    lapse(engine, run)
    engine.log.close()


AT = (("browser", "rest", "command"), ("rest", "command", "browser"), ("command", "browser", "rest"))


@pytest.mark.parametrize(("first", "second", "looks"), AT)
def test_approvers_who_disagree_decide_nothing_until_they_agree(
    doors: Doors, offices: tuple[Path, dict[str, str]], first: str, second: str, looks: str
) -> None:
    run = f"together-{AT.index((first, second, looks)) + 1}"
    doors.decide(first, "ada", run, "Approve")
    assert told(offices[0], run) == []
    doors.decide(second, "bob", run, "Reject")
    assert told(offices[0], run) == []
    for door in AT[0]:
        for name in ("ada", "bob"):
            shown = doors.shown(door, name, run)
            assert all(part in shown for part in ("ada", "Approve", "bob", "Reject")), (door, name)
    assert "differ" in doors.shown("command", "ada", run)
    assert "differ" in doors.shown("browser", "ada", run)
    doors.decide(looks, "bob", run, "Approve")
    (decision,) = told(offices[0], run)
    assert isinstance(decision, e.DecisionRecorded)
    assert (decision.option, decision.approved, decision.user) == ("Approve", ("ada", "bob"), "bob")


@pytest.mark.parametrize("door", AT[0])
def test_one_is_reminded_and_once_it_is_late_others_may_decide_too(
    doors: Doors, offices: tuple[Path, dict[str, str]], clock: Clock, door: str
) -> None:
    run = f"escalates-{AT[0].index(door) + 1}"
    assert not doors.may(door, "bob", run)
    clock.ahead = 2 * DAY - 7 * 3600
    pass_the_time(offices[0], run)
    assert [type(one) for one in told(offices[0], run)] == [e.CheckpointReminded]
    assert not doors.may(door, "bob", run), "a reminder lets nobody else decide"
    assert "finance" in doors.shown(door, "ada", run), "who may decide from then on"
    clock.ahead = 2 * DAY
    pass_the_time(offices[0], run)
    assert LATE[door] in doors.shown(door, "bob", run)
    doors.decide(door, "bob", run, "Approve")
    escalated, decision = told(offices[0], run)[1:]
    assert isinstance(escalated, e.CheckpointEscalated)
    assert isinstance(decision, e.DecisionRecorded)
    assert (decision.option, decision.user) == ("Approve", "bob")


@pytest.mark.parametrize("door", AT[0])
def test_the_option_of_the_deadline_is_taken_by_nobody_and_everybody_is_told(
    doors: Doors, offices: tuple[Path, dict[str, str]], clock: Clock, door: str
) -> None:
    run = f"lapses-{AT[0].index(door) + 1}"
    assert "Reject" in doors.shown(door, "ada", run)
    before = doors.version(run)
    clock.ahead = 2 * DAY
    pass_the_time(offices[0], run)
    (decision,) = told(offices[0], run)
    assert isinstance(decision, e.DecisionRecorded)
    assert (decision.option, decision.late, decision.user) == ("Reject", True, "")
    assert "the deadline" in doors.too_late(door, "ada", run, before)
    assert len(told(offices[0], run)) == 1


@pytest.mark.parametrize("door", AT[0])
def test_who_is_handed_it_over_decides_and_nobody_else(
    doors: Doors, offices: tuple[Path, dict[str, str]], door: str
) -> None:
    run = f"handed-{AT[0].index(door) + 1}"
    assert not doors.may(door, "bob", run)
    doors.hand_over(door, "ada", run, "bob")
    assert not doors.may(door, "ada", run)
    doors.decide(door, "bob", run, "Approve")
    (decision,) = told(offices[0], run)
    assert isinstance(decision, e.DecisionRecorded)
    assert (decision.option, decision.user) == ("Approve", "bob")
