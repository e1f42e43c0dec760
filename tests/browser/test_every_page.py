"""Every page, wide and narrow, light and dark: it opens without an error, and axe-core finds nothing."""

from __future__ import annotations

import pytest
from tests.browser.conftest import NARROW, WIDE, Open, look, violations

PAGES = {
    "inbox": "/",
    "scenario": "/runs/SCENARIO-2026-001/decide",
    "spec": "/runs/SPEC-2026-001/decide",
    "plan": "/runs/job-1/decide",
    "market": "/runs/market-entry-1/decide",
    "brainstorm": "/runs/brainstorm-1/decide",
    "calls": "/runs/job-1-fork-1/decide",
    "receipt": "/runs/SPEC-2026-001/decided/C1",
    "missing": "/runs/nobody-1/decide",
}


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_sound(open_page: Open, name: str) -> None:
    page, told = open_page(""), list[str]()
    page.on("console", lambda message: told.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: told.append(str(error)))
    page.goto(page.url.removesuffix("/") + PAGES[name])
    assert [line for line in told if "404" not in line] == []
    for width, height in (WIDE, NARROW):
        page.set_viewport_size({"width": width, "height": height})
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), f"{width}: it can be moved sideways"
        for theme in ("light", "dark"):
            page.emulate_media(color_scheme="dark" if theme == "dark" else "light")
            look(page, f"{name}-{width}-{theme}")
            if (width == WIDE[0]) == (theme == "light"):
                assert violations(page) == [], (width, theme)
