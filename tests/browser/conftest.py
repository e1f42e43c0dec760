"""One server, one Chromium for all tests of pages; a fresh context of it for each.

Without a Chromium these tests are not run, and `make test` says so. Without axe-core only what it looks for is not
looked for.
"""

from __future__ import annotations

import asyncio
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright
from tests.browser.furnished import STOPS, TO_DECIDE, furnish, wait_at_a_call
from tests.browser.serving import Served, nothing, served

import hostile as hostile_text
from crowded import agents, crowded, others_act
from reconvene.wiring import open_engine

_NAMES = ("chromium", "chromium-browser", "google-chrome")
CHROMIUM = next((found for name in _NAMES if (found := shutil.which(name))), "")
AXE = Path(__file__).parents[2] / ".venv" / "axe" / "node_modules" / "axe-core" / "axe.min.js"
WIDE, NARROW = (1280, 800), (390, 844)
_SHOTS = os.environ.get("SHOTS", "")  # a folder: then every page that is looked at leaves a picture there

Open = Callable[..., Page]


@pytest.fixture(scope="session")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A test that changes a run has one of its own."""
    folder = tmp_path_factory.mktemp("cockpit")
    made = furnish(folder, STOPS + TO_DECIDE)
    wait_at_a_call(folder, made)
    engine = open_engine(str(made), say=nothing, runner=agents())
    others_act(engine, crowded(engine))
    asyncio.run(engine.close())
    engine = open_engine(str(made), say=nothing, runner=hostile_text.agents())
    hostile_text.hostile(engine)
    asyncio.run(engine.close())
    return made


@pytest.fixture(scope="session")
def server(home: Path) -> Iterator[Served]:
    with served(home) as found:
        yield found


@pytest.fixture(scope="package")
def chromium(server: Served) -> Iterator[Browser]:
    """After the home is made, and only as long as tests of this folder follow each other: Playwright keeps an event
    loop in this thread, and beside it no run can be driven."""
    if not CHROMIUM:
        pytest.skip("no Chromium was found: pages are not tried in a browser")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-dev-shm-usage"])
        yield browser
        browser.close()


@pytest.fixture
def open_page(chromium: Browser, server: Served) -> Iterator[Open]:
    """`open_page("/runs", size=NARROW, dark=True, scripts=False)`: entered, and there."""
    contexts: list[BrowserContext] = []

    def opened(
        path: str = "/", *, size: tuple[int, int] = WIDE, dark: bool = False, scripts: bool = True, at: Served = server
    ) -> Page:
        context = chromium.new_context(
            viewport={"width": size[0], "height": size[1]}, color_scheme="dark" if dark else "light",
            java_script_enabled=scripts,
        )  # fmt: skip
        contexts.append(context)
        page = context.new_page()
        page.goto(f"{at.url}/enter?token={at.token}")
        page.goto(at.url + path)
        return page

    yield opened
    for context in contexts:
        context.close()


def look(page: Page, name: str) -> None:
    """Leaves a picture for people to look at, where they asked for one."""
    if _SHOTS:
        Path(_SHOTS).mkdir(parents=True, exist_ok=True)
        page.screenshot(path=str(Path(_SHOTS) / f"{name}.png"))


def violations(page: Page) -> list[str]:
    """What axe-core finds: nothing is good enough. (It needs JavaScript.)"""
    if not AXE.is_file():
        pytest.skip("axe-core is not there (make axe): nobody looked at this page with it")
    page.evaluate(AXE.read_text(encoding="utf-8"))
    found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")
    return [f"{one['id']}: {one['nodes'][0]['html'][:200]}" for one in found["violations"]]
