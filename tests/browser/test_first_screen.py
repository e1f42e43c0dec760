"""The first screen can be read in half a minute, however much there is: its words are counted as they stand there."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page
from tests.browser.conftest import NARROW, WIDE, Open, look

RUNS = ("SCENARIO-2026-001", "SPEC-2026-001", "job-1", "market-entry-1", "brainstorm-1", "job-1-fork-1", "crowded-1")
_COUNT = """() => {
  const found = {large: 0, all: 0, small: []};
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walk.nextNode(); node; node = walk.nextNode()) {
    const holder = node.parentElement, style = getComputedStyle(holder);
    if (!holder.checkVisibility({visibilityProperty: true}) || holder.closest("script, style")) continue;
    const size = parseFloat(style.fontSize);
    for (const word of node.textContent.matchAll(/\\S+/g)) {
      const range = document.createRange();
      range.setStart(node, word.index), range.setEnd(node, word.index + word[0].length);
      const box = range.getBoundingClientRect();
      let top = 0, bottom = innerHeight;
      for (let at = holder; at; at = at.parentElement) {  // what must be scrolled to within a part is not on the screen
        if (getComputedStyle(at).overflowY === "visible" || at === document.body) continue;
        const part = at.getBoundingClientRect();
        top = Math.max(top, part.top), bottom = Math.min(bottom, part.bottom);
      }
      const foot = holder.closest(".rail") && !holder.closest(".foot") ? document.querySelector(".foot") : null;
      if (foot) bottom = Math.min(bottom, foot.getBoundingClientRect().top);
      if (!box.width || box.right < 0 || box.bottom <= top || box.top >= bottom) continue;
      found.all += 1;
      if (size >= 15) found.large += 1;
      if (size < 12) found.small.push(`${word[0]} ${size}`);
    }
  }
  return found;
}"""


def _words(page: Page) -> dict[str, object]:
    found: dict[str, object] = page.evaluate(_COUNT)
    return found


def _button_is_there(page: Page, name: str, size: tuple[int, int]) -> None:
    box = page.locator(name).bounding_box()
    assert box is not None
    assert box["y"] + box["height"] <= size[1]


@pytest.mark.parametrize("run", RUNS)
def test_the_first_screen_is_short_and_what_is_decided_can_be_reached_at_once(open_page: Open, run: str) -> None:
    page = open_page(f"/runs/{run}/decide", size=WIDE)
    wide = _words(page)
    look(page, f"first-{run}-wide")
    _button_is_there(page, "#record", WIDE)
    page.set_viewport_size({"width": NARROW[0], "height": NARROW[1]})
    narrow = _words(page)
    look(page, f"first-{run}-narrow")
    _button_is_there(page, ".bar .main", NARROW)
    assert (wide["small"], narrow["small"]) == ([], [])
    assert 0 < int(str(wide["large"])) <= 160, wide
    assert int(str(wide["all"])) <= 420, wide
    assert int(str(narrow["all"])) <= 200, narrow


def test_of_many_options_those_not_chosen_show_label_and_next_step(open_page: Open) -> None:
    page = open_page("/runs/crowded-1/decide")
    assert page.locator(".opt input").count() == 9
    assert page.locator(".opt .cost:visible").count() == 1
    page.locator(".opt").nth(1).click()
    assert page.locator(".opt .cost:visible").count() == 1
    assert page.locator(".more:visible").inner_text().count("Against:") == 1


def test_the_rest_is_counted_and_linked(open_page: Open) -> None:
    page = open_page("/runs/crowded-1/decide")
    assert "26 questions without an answer." in page.locator(".needs").inner_text()  # ben has answered one
    assert "Also" in page.locator(".also").inner_text()
    assert page.locator("#questions .ask-field").count() == 27
    assert "All of it (40,0" in page.locator("#to-read").inner_text()


def test_the_inbox_tells_which_call_waits(open_page: Open) -> None:
    row = open_page("/").locator("#job-1-fork-1")
    assert "call1: worker wants run_command" in row.inner_text()
    assert "1 tool call" in row.inner_text()


def test_was_and_is_can_be_read_on_a_phone(open_page: Open) -> None:
    """Also where a line is new, gone, or empty."""
    page = open_page("/runs/SPEC-2026-001/decide?file=status.md", size=NARROW)
    cells = page.locator(".diff td:not(.n):visible:not([colspan])")
    widths = [box["width"] for one in cells.all() if (box := one.bounding_box()) is not None]
    assert len(widths) > 5
    assert min(widths) > 250
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_on_a_phone_one_sees_who_one_is_and_reaches_theme_and_keys(open_page: Open) -> None:
    page = open_page("/", size=NARROW)
    assert not page.get_by_text("ann · admin").last.is_visible()
    page.get_by_label("Who you are").click()
    assert page.get_by_text("ann · admin").last.is_visible()
    page.get_by_role("button", name="Keys").click()
    assert page.locator("dialog#keys").is_visible()
    page.get_by_role("button", name="Close").click()
    page.get_by_role("button", name="Light / dark").click()
    assert page.locator("html").get_attribute("data-theme") == "dark"
