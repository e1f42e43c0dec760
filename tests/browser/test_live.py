"""Pages that change by themselves: what waits comes into the inbox, a receipt and a page of a run at work go on."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from playwright.sync_api import Browser, expect
from tests.browser.conftest import Open
from tests.browser.serving import Served, served

from reconvene.app.engine import Engine
from reconvene.core.facts import commands as c
from reconvene.testing.scripted import ScriptedAgents
from reconvene.wire.workflow_file import parse_workflow
from reconvene.wiring import open_engine
from served_home import FLOW

Do = Callable[[Callable[[Engine], object]], object]


@pytest.fixture(scope="module")
def at(tmp_path_factory: pytest.TempPathFactory, chromium: Browser) -> Iterator[Served]:
    with served(tmp_path_factory.mktemp("live") / "home") as found:
        yield found


@pytest.fixture
def do(at: Served) -> Do:
    """Something that another process does to the home. (The browser has an event loop in this thread.)"""

    def done(work: Callable[[Engine], object]) -> object:
        def beside() -> object:
            engine = open_engine(
                str(at.home), runner=ScriptedAgents({}, default={"text": "d", "files": {"draft.md": "#"}})
            )
            try:
                return work(engine)
            finally:
                engine.log.close()

        with ThreadPoolExecutor(1) as thread:
            return thread.submit(beside).result()

    return done


def _parked(engine: Engine) -> str:
    run = engine.start(parse_workflow(FLOW), by="ann")
    engine.drive_sync(run)
    return run


def _go_on(run: str) -> Callable[[Engine], object]:
    """Decided, and not driven."""

    def decided(engine: Engine) -> object:
        point = engine.load(run).world.open
        assert point is not None
        return engine.submit(run, c.AnswerCheckpoint(point.id, "Go on", by="ann"))

    return decided


def test_what_waits_comes_into_the_inbox_and_what_is_decided_leaves_it(open_page: Open, at: Served, do: Do) -> None:
    page = open_page("/", at=at)
    expect(page.get_by_role("heading", level=1)).to_have_text("Nothing waits for you.")
    run = str(do(_parked))
    expect(page.locator(f"#{run}")).to_be_visible()
    page.keyboard.press("j")
    other = str(do(_parked))
    expect(page.locator(f"#{other}")).to_be_visible()
    expect(page.locator(f"#{run} a")).to_be_focused()
    do(_go_on(run))
    expect(page.locator(f"#{run}")).to_have_count(0)


def test_a_receipt_tells_where_the_run_waits_next(open_page: Open, at: Served, do: Do) -> None:
    run = str(do(_parked))
    page = open_page(f"/runs/{run}/decide", at=at)
    page.get_by_text("Go on", exact=True).click()
    page.locator("#record").click()
    expect(page.locator("#live")).to_contain_text("The run goes on within a second.")
    do(lambda engine: engine.drive_sync(run))
    expect(page.locator("#live")).to_contain_text("The run waits again: Publish?")


def test_a_page_of_a_run_at_work_becomes_the_decision_and_loses_no_words(open_page: Open, at: Served, do: Do) -> None:
    run = str(do(_parked))
    do(_go_on(run))
    page, other = open_page(f"/runs/{run}/decide", at=at), open_page(f"/runs/{run}/decide", at=at)
    expect(page.get_by_role("heading", level=1)).to_have_text("Agents work.")
    other.locator("#say").fill("Mind the covenant.")
    do(lambda engine: engine.drive_sync(run))
    expect(page.get_by_role("heading", level=1)).to_have_text("Publish?")
    expect(other.locator("#arrived")).to_be_visible()
    expect(other.locator("#say")).to_have_value("Mind the covenant.")


def test_a_decision_page_hears_at_once_that_it_is_out_of_date(open_page: Open, at: Served, do: Do) -> None:
    run = str(do(_parked))
    page = open_page(f"/runs/{run}/decide", at=at)
    page.locator("#say").fill("Mind the covenant.")
    do(lambda engine: engine.submit(run, c.AddRemark(c.RemarkIn("Which bank?"), "eve")))
    expect(page.locator("#stale")).to_be_visible(timeout=5_000)  # well before the next look, which comes after 15 s
    expect(page.locator("#stale-told")).to_contain_text("Which bank?")
    expect(page.locator("#say")).to_have_value("Mind the covenant.")


def test_without_javascript_it_is_said_that_one_must_look_again(open_page: Open, at: Served) -> None:
    assert "Look again" in open_page("/", at=at, scripts=False).inner_text("main")
