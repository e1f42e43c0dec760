"""Deciding in a real browser: without JavaScript by plain forms, with it by keys, with what is typed kept."""

from __future__ import annotations

import re

from playwright.sync_api import expect
from tests.browser.conftest import NARROW, Open
from tests.browser.serving import Served, engine_of

from reconvene.core.facts import commands as c


def _decided(server: Served, run: str) -> list[tuple[str, str]]:
    engine = engine_of(server.home)
    try:
        return [(one.option, one.feedback) for one in engine.load(run).record.decisions.values()]
    finally:
        engine.log.close()


def test_one_reads_comments_and_decides_without_javascript(open_page: Open, server: Served) -> None:
    page = open_page("/", scripts=False, size=NARROW)
    page.get_by_role("link", name="All tests passing?").first.click()
    page.goto(f"{server.url}/runs/quality-gate-2/decide")
    page.locator("#say").fill("An expired cart must be refused.")
    page.get_by_role("button", name="Add, and read it back").click()
    expect(page.locator(".note textarea")).to_have_value("An expired cart must be refused.")
    page.get_by_text("Yes, continue", exact=True).click()
    page.locator(".bar .main").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Recorded: Yes, continue")
    assert _decided(server, "quality-gate-2") == [("Yes, continue", "An expired cart must be refused.")]


def test_no_single_key_decides_and_the_button_says_what_is_recorded(open_page: Open, server: Served) -> None:
    page = open_page("/runs/quality-gate-3/decide")
    expect(page.locator("#do")).to_have_text("Choose an option")
    expect(page.locator("#record")).to_be_disabled()
    for key in "123456789jkrwc?":
        page.keyboard.press(key)
        page.keyboard.press("Escape")
        page.locator("body").click(position={"x": 2, "y": 2})
    assert _decided(server, "quality-gate-3") == []
    page.keyboard.press("1")
    expect(page.locator("#do")).to_have_text("Yes, continue")
    page.keyboard.press("r")
    with page.expect_response("**/draft"):
        page.keyboard.type("Mind the cart.")
    expect(page.locator("#do")).to_have_text("Yes, continue, with 1 note")
    page.reload()
    expect(page.locator("#say")).to_have_value("Mind the cart.")
    page.locator("#say").press("Control+Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("Recorded: Yes, continue")
    assert _decided(server, "quality-gate-3") == [("Yes, continue", "Mind the cart.")]


def test_text_that_is_selected_can_be_remarked_on(open_page: Open) -> None:
    page = open_page("/runs/job-1/decide?file=plan.md")
    page.locator(".doc p").first.scroll_into_view_if_needed()
    page.evaluate(
        """() => { const range = document.createRange(); range.selectNodeContents(document.querySelector(".doc p"));
        getSelection().addRange(range); document.dispatchEvent(new Event("mouseup")); }"""
    )
    page.get_by_role("toolbar").get_by_role("button", name="Replace").click()
    assert "Replace “" in page.locator("#say").input_value()
    assert page.locator("#note-path").input_value() == "plan.md"
    assert int(page.locator("#note-first").input_value()) > 0


def test_a_page_that_is_out_of_date_says_so_and_keeps_what_was_typed(open_page: Open, server: Served) -> None:
    page = open_page("/runs/quality-gate-4/decide")
    page.keyboard.press("1")
    page.locator("#say").fill("Mind the cart.")
    engine = engine_of(server.home)
    engine.submit("quality-gate-4", c.AddRemark(c.RemarkIn("Our bank agreed."), "ben"))
    engine.log.close()
    page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    expect(page.locator("#stale")).to_be_visible()
    expect(page.locator("#stale")).to_contain_text("ben said: “Our bank agreed.”")
    expect(page.locator("#record")).to_be_disabled()
    expect(page.locator("#say")).to_have_value("Mind the cart.")


def test_the_inbox_is_walked_with_keys(open_page: Open) -> None:
    page = open_page("/")
    page.keyboard.press("j")
    page.keyboard.press("j")
    page.keyboard.press("k")
    first = page.locator("[data-step]").first
    expect(first).to_be_focused()
    page.keyboard.press("/")
    expect(page.locator("#search")).to_be_focused()
    page.keyboard.press("Escape")
    first.focus()
    page.keyboard.press("Enter")
    page.wait_for_url("**/decide")


def test_light_and_dark_are_kept(open_page: Open) -> None:
    for scripts in (True, False):
        page = open_page("/", scripts=scripts)
        page.get_by_role("button", name="Light / dark").click()
        page.goto(page.url)
        assert page.locator("html").get_attribute("data-theme") == "dark"


def test_a_word_is_remarked_on_in_its_own_line_and_two_documents_are_not_one(open_page: Open) -> None:
    page = open_page("/runs/job-1/decide?file=plan.md")
    chosen = page.evaluate(
        """() => {
          const mark = document.querySelector(".doc p [data-at]"), text = mark.nextSibling;
          const range = document.createRange();
          range.setStart(text, 1), range.setEnd(text, 4);
          getSelection().addRange(range); document.dispatchEvent(new Event("mouseup"));
          return mark.dataset.at;
        }"""
    )
    page.get_by_role("toolbar").get_by_role("button", name="Comment").click()
    assert page.locator("#note-first").input_value() == chosen
    page.goto(page.url.partition("?")[0])
    page.evaluate(
        """() => {
          const docs = document.querySelectorAll(".doc p"), range = document.createRange();
          range.setStart(docs[0], 0), range.setEnd(docs[docs.length - 1], 1);
          getSelection().removeAllRanges(), getSelection().addRange(range);
          document.dispatchEvent(new Event("mouseup"));
        }"""
    )
    expect(page.locator(".mark-menu")).to_have_text("To remark on text, select it within one document.")


def test_an_option_that_is_chosen_by_a_key_is_shown_whole(open_page: Open) -> None:
    page = open_page("/runs/crowded-1/decide")
    page.keyboard.press("9")
    more, foot = page.locator(".more:visible").bounding_box(), page.locator(".foot").bounding_box()
    assert more is not None
    assert foot is not None
    assert more["y"] + more["height"] <= foot["y"] + 1


def test_what_is_typed_to_the_companion_decides_nothing(open_page: Open, server: Served) -> None:
    page = open_page("/runs/quality-gate-4/decide")
    page.keyboard.press("1")
    page.get_by_text("Ask the companion").click()
    page.locator("#beside-question").fill("What was tested?")
    with page.expect_response("**/companion", timeout=60_000):
        page.locator("#beside-question").press("Control+Enter")
    assert _decided(server, "quality-gate-4") == []
    expect(page.locator(".talked")).to_contain_text("What was tested?", timeout=30_000)


def test_enter_on_an_option_leads_to_the_button_and_marks_nothing_as_read(open_page: Open, server: Served) -> None:
    page = open_page("/runs/quality-gate-4/decide")
    page.keyboard.press("1")
    page.keyboard.press("Enter")
    expect(page.locator("#record")).to_be_focused()
    assert page.url.endswith("/decide")
    assert _decided(server, "quality-gate-4") == []
    plain = open_page("/runs/quality-gate-4/decide", scripts=False)
    plain.locator("input[name=option]").first.check()
    plain.locator("input[name=option]").first.press("Enter")
    expect(plain.get_by_role("button", name="Mark as read")).to_have_count(1)
    assert _decided(server, "quality-gate-4") == []


def test_two_passages_become_two_notes_each_on_its_own_lines(open_page: Open) -> None:
    page = open_page("/runs/job-1/decide?file=plan.md")
    for number, word in ((0, "Comment"), (1, "Delete")):
        page.evaluate(
            """number => { const range = document.createRange();
            range.selectNodeContents(document.querySelectorAll(".doc [data-line]")[number * 2]);
            getSelection().removeAllRanges(); getSelection().addRange(range);
            document.dispatchEvent(new Event("mouseup")); }""",
            number,
        )
        page.get_by_role("button", name=word, exact=True).click()
    expect(page.locator(".note")).to_have_count(1)
    expect(page.locator("#say")).to_have_value(re.compile("^Delete “"))
    page.locator("#add").click()
    expect(page.locator(".note")).to_have_count(2)
    places = page.locator(".note .id").all_inner_texts()
    assert len(set(places)) == 2
    for left in (1, 0):
        page.get_by_role("button", name="Drop").last.click()
        expect(page.locator(".note")).to_have_count(left)


def test_what_is_selected_is_quoted_whole_and_ends_in_its_own_line(open_page: Open) -> None:
    """Three clicks select a paragraph up to the first letter of the next one."""
    page = open_page("/runs/job-1/decide?file=plan.md")
    first = page.locator(".doc p").first
    first.click(click_count=3)
    page.get_by_role("button", name="Delete", exact=True).click()
    said = " ".join(first.inner_text().split())
    expect(page.locator("#say")).to_have_value(f"Delete “{said}”.")
    lines = (first.get_attribute("data-line") or "").split("-")
    places = page.locator("#note-first").input_value(), page.locator("#note-last").input_value()
    assert (places[0], places[1]) == (lines[0], lines[-1])
