"""Hostile text in a real browser: no script runs, nobody else is asked, and nothing is even tried and stopped."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

import pytest
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, Request
from tests.browser.hostile import COUNT, as_file_name, payloads
from tests.browser.poisoned import FIELDS, addresses, poison, raw_addresses
from tests.browser.serving import Served, engine_of, served

from reconvene.testing.openai_server import Calls, OpenAIServer, Say
from reconvene.testing.scripted import ScriptedAgents
from reconvene.wire.workflow_file import parse_workflow
from reconvene.wiring import open_engine

_ALL = "name: all\nagents: {writer: {}}\nphases: [{id: a, agents: [writer], checkpoint: {}}]\n"
T = TypeVar("T")
_STEP = 5  # payloads of which one test of the torture puts each into every field


class Watched:
    """A browser that notes what a page must not do."""

    def __init__(self, browser: Browser, at: Served) -> None:
        self.at = at
        self.noticed: list[str] = []
        self._context: BrowserContext = browser.new_context()
        self.page: Page = self._context.new_page()
        self._context.on("request", self._asked)
        self.page.on("dialog", lambda one: (self.noticed.append(f"dialog {one.message}"), one.dismiss()))
        self.page.on("console", self._told)
        self.page.on("pageerror", lambda error: self.noticed.append(str(error)))
        self.page.goto(f"{at.url}/enter?token={at.token}")

    def _asked(self, one: Request) -> None:
        if not one.url.startswith(self.at.url):
            self.noticed.append(f"asked {one.url}")

    def _told(self, one: ConsoleMessage) -> None:
        if one.type == "error" and not one.location["url"].endswith("/favicon.ico"):  # of what is no page of ours
            self.noticed.append(one.text)

    def open(self, path: str) -> None:
        self.page.goto(self.at.url + path, wait_until="load")
        for selector in ("details", ".says a", ".chip"):  # what a person would open and point at
            for found in self.page.query_selector_all(selector)[:3]:
                if found.is_visible():
                    found.hover(timeout=2000, force=True)
        pwned = self.page.evaluate("document.documentElement.dataset.pwned || ''")
        here = self.page.url.startswith(self.at.url)
        assert (pwned, here, self.noticed) == ("", True, []), path

    def close(self) -> None:
        self._context.close()


@contextmanager
def _watched(browser: Browser, home: Path) -> Iterator[Watched]:
    with served(home) as at:
        found = Watched(browser, at)
        yield found
        found.close()


def _elsewhere(work: Callable[..., T], *given: object) -> T:
    """In a thread of its own: Playwright has this one."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(work, *given).result()


def _all_at_once(home: Path) -> str:
    """A run with all of them in files of four sorts, and in the arguments of tools."""
    texts = [one.encode("utf-8", "replace").decode() for one in payloads()]
    whole = "\n\n".join(texts)
    files: dict[str, object] = {f"all{ending}": whole for ending in (".md", ".html", ".svg", ".txt", ".js")}
    files |= {f"named/{as_file_name(one, '.md')}": "x" for one in texts[::5]}
    agents = ScriptedAgents({"writer": {"text": whole, "files": files}})
    engine = open_engine(str(home), runner=agents, say=lambda *_: None)
    run = engine.start(parse_workflow(_ALL), by="ann")
    engine.drive_sync(run)
    engine.log.close()
    return run


def _called(home: Path) -> str:
    """A run whose agent wrote files with a tool: names and contents are arguments, on record."""
    import json

    texts = [one.encode("utf-8", "replace").decode() for one in payloads()]
    turns = [
        Calls(
            tuple(("write_file", json.dumps({"path": as_file_name(one, ".md"), "text": one})) for one in texts[at::5])
        )
        for at in range(5)
    ]
    with OpenAIServer(*turns, Say("Done.")) as server:
        agent = f'{{model: "openai:gpt-4o-mini", options: {{base_url: "{server.url}"}}, tools: [files]}}'
        flow = f"name: called\nagents: {{writer: {agent}}}\nphases: [{{id: a, agents: [writer], checkpoint: {{}}}}]\n"
        engine = open_engine(str(home), say=lambda *_: None)
        run = engine.start(parse_workflow(flow), by="ann")
        engine.drive_sync(run)
        engine.log.close()
    return run


@pytest.mark.torture
def test_no_script_runs_and_nobody_is_asked_on_any_page(chromium: Browser, tmp_path: Path) -> None:
    """One run with a payload in each field, one with all of them in its files."""
    home = tmp_path / "home"
    one = _elsewhere(poison, home, 11 * FIELDS)
    every = _elsewhere(_all_at_once, home)
    engine = engine_of(home)
    with _watched(chromium, home) as watched:
        for at in ("/", "/runs", *addresses(engine, one.run), *raw_addresses(engine, one.run)):
            watched.open(at)
        some = [at for at in addresses(engine, every) if "named" not in at]
        for at in (*some, *(at for at in raw_addresses(engine, every) if "path=all" in at)):
            watched.open(at)
    engine.log.close()


@pytest.mark.torture
def test_arguments_of_tools_are_text(chromium: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    home = tmp_path / "home"
    run = _elsewhere(_called, home)
    with _watched(chromium, home) as watched:
        for at in (f"/runs/{run}/calls", f"/runs/{run}/files", f"/runs/{run}/events"):
            watched.open(at)
        watched.open(f"/runs/{run}/calls")
        assert "evil.test" in watched.page.content()


@pytest.mark.torture
@pytest.mark.parametrize("first", range(0, COUNT, _STEP))
def test_each_of_them_in_each_field_does_nothing(chromium: Browser, tmp_path: Path, first: int) -> None:
    home = tmp_path / "home"
    made = [_elsewhere(poison, home, number) for number in range(first, first + _STEP)]
    engine = engine_of(home)
    with _watched(chromium, home) as watched:
        for one in made:
            for at in (*addresses(engine, one.run), *raw_addresses(engine, one.run)):
                watched.open(at)
    engine.log.close()
