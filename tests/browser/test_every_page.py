"""Every page, wide and narrow, light and dark: it opens without an error, and axe-core finds nothing."""

from __future__ import annotations

import pytest
from tests.browser.conftest import NARROW, WIDE, Open, look, violations

PAGES = {
    "inbox": "/",
    "scenario": "/runs/SCENARIO-2026-001/decide",
    "spec": "/runs/SPEC-2026-001/decide",
    "job": "/runs/job-1/decide",
    "market": "/runs/market-entry-1/decide",
    "brainstorm": "/runs/brainstorm-1/decide",
}


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("size", [WIDE, NARROW], ids=["wide", "narrow"])
@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_sound(open_page: Open, name: str, size: tuple[int, int], dark: bool) -> None:
    page = open_page(PAGES[name], size=size, dark=dark)
    told: list[str] = []
    page.on("console", lambda message: told.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: told.append(str(error)))
    page.reload()
    look(page, f"{name}-{size[0]}-{'dark' if dark else 'light'}")
    assert told == []
    assert violations(page) == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), "it can be moved sideways"
