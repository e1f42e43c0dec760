"""What is typed on the decision page, in a real browser: it is kept when one leaves at once, when the server is away,
in two tabs, and when text is selected."""

from __future__ import annotations

from playwright.sync_api import Page, expect
from tests.browser.conftest import Open, look, violations
from tests.browser.serving import Served, engine_of

from reconvene.core.facts import commands as c

_SELECT = """word => { const walk = document.createTreeWalker(document.querySelector(".doc"), NodeFilter.SHOW_TEXT);
for (let node; (node = walk.nextNode());) { const at = node.data.indexOf(word); if (at < 0) continue;
const range = document.createRange(); range.setStart(node, at); range.setEnd(node, at + word.length);
node.parentElement.scrollIntoView({block: "center"}); getSelection().removeAllRanges(); getSelection().addRange(range);
document.dispatchEvent(new Event("mouseup")); return; } }"""


def _typed(page: Page, words: str) -> None:
    """And kept: the server has it."""
    with page.expect_response("**/draft"):
        page.locator("#say").fill(words)


def test_text_that_is_selected_is_remarked_on_where_one_reads_and_typed_words_stay(open_page: Open) -> None:
    page = open_page("/runs/job-1/decide?file=plan.md")
    _typed(page, "A half-written remark")
    page.evaluate(_SELECT, "order")
    before = page.evaluate("scrollY")
    page.get_by_role("toolbar").get_by_role("button", name="Replace").click()
    page.keyboard.type("booking")
    expect(page.locator("#say")).to_have_value("A half-written remark\nReplace “order” with “booking”.")
    expect(page.locator("#about")).to_contain_text("plan.md:")
    expect(page.locator("#say")).to_be_in_viewport()
    assert abs(page.evaluate("scrollY") - before) < 200
    found = page.locator(".note").count()
    page.locator("#add").click()
    expect(page.locator(".note")).to_have_count(found + 1)
    expect(page.locator(".note textarea").last).to_have_value("A half-written remark\nReplace “order” with “booking”.")
    page.wait_for_function("before => Math.abs(scrollY - before) < 200", arg=before)
    page.get_by_role("button", name="Drop").last.click()
    expect(page.locator(".note")).to_have_count(found)


def test_what_was_typed_and_not_sent_looks_well_and_is_taken_over(open_page: Open, server: Served) -> None:
    page = open_page("/runs/quality-gate-8/decide")
    _typed(page, "Half a sentence for the tests")
    page.locator("#add").click()
    expect(page.locator(".note")).to_have_count(1)
    _typed(page, "And what stands in the box")
    engine = engine_of(server.home)
    engine.submit("quality-gate-8", c.AnswerCheckpoint("", "Yes, continue", by="ben"))
    engine.log.close()
    page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    expect(page.locator("#stale")).to_contain_text("ben chose “Yes, continue”.")
    page.get_by_role("link", name="Read the new version").click()
    expect(page.locator("#left")).to_contain_text("You wrote this for “All tests passing?”. It was not sent.")
    expect(page.locator("#left textarea")).to_have_count(2)
    look(page, "not-sent")
    page.locator("#left").get_by_role("button", name="Send now").first.click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Said, and on record")
    look(page, "said")
    assert violations(page) == []
    page.get_by_role("link", name="Back to the decision").click()
    expect(page.locator("#left textarea")).to_have_count(1)
    assert violations(page) == []


def test_words_that_are_typed_before_the_script_is_there_are_kept(open_page: Open, server: Served) -> None:
    page = open_page("/runs/quality-gate-5/decide")
    page.route("**/decision.js*", lambda route: (page.locator("#say").fill("typed early"), route.continue_()))
    with page.expect_response("**/draft"):
        page.reload()
    expect(page.locator("#saved")).to_have_text("Draft saved.")
    page.unroute_all()
    page.reload()
    expect(page.locator("#say")).to_have_value("typed early")
    _typed(page, "")


def test_the_box_beside_the_text_that_one_reads_has_nothing_against_it(open_page: Open) -> None:
    page = open_page("/runs/job-1/decide?file=plan.md")
    page.evaluate(_SELECT, "order")
    page.get_by_role("toolbar").get_by_role("button", name="Comment").click()
    look(page, "docked")
    assert violations(page) == []


def test_words_that_are_typed_just_before_leaving_are_kept(open_page: Open, server: Served) -> None:
    page = open_page("/runs/quality-gate-5/decide")
    for number, leave in enumerate(("Viewed", "test-report.md", "Mark as read")):
        page.locator("#say").fill(f"typed {number}")
        with page.expect_navigation():
            page.get_by_role("button", name=leave).first.click()
        expect(page.locator("#say")).to_have_value(f"typed {number}")
    page.locator("#say").fill("by a link")
    page.get_by_role("link", name="Inbox").first.click()
    page.wait_for_url(f"{server.url}/")
    page.goto(f"{server.url}/runs/quality-gate-5/decide")
    expect(page.locator("#say")).to_have_value("by a link")
    page.locator("#say").fill("by the address")
    page.goto(f"{server.url}/runs")  # the page that is left sends it
    other = page.context.new_page()  # which knows nothing but what the server has
    for _ in range(30):
        other.goto(f"{server.url}/runs/quality-gate-5/decide")
        if other.locator("#say").input_value() == "by the address":
            break
    expect(other.locator("#say")).to_have_value("by the address")


def test_while_the_server_does_not_answer_nothing_is_sent_and_what_is_typed_stays(
    open_page: Open, server: Served
) -> None:
    page = open_page("/runs/quality-gate-5/decide")
    page.keyboard.press("1")
    _typed(page, "before")
    for path in ("draft", "version", "decide"):
        page.route(f"**/quality-gate-5/{path}*", lambda route: route.abort())
    page.locator("#say").fill("before, and typed while it was away")
    page.locator("#record").click()
    expect(page.locator("#do")).to_have_text("The server does not answer")
    expect(page.locator("#record")).to_be_disabled()
    expect(page.locator("#with")).to_contain_text("What you typed stays here.")
    page.unroute_all()
    page.goto(f"{server.url}/runs/quality-gate-5/decide")  # as after a restart
    expect(page.locator("#say")).to_have_value("before, and typed while it was away")
    expect(page.locator("#saved")).to_have_text("Draft saved.")
    assert page.evaluate("sessionStorage.length") == 0
    expect(page.locator("#record")).to_be_enabled()


def test_words_that_were_replaced_while_nobody_kept_them_do_not_come_back(open_page: Open) -> None:
    """A token that no longer holds: what is typed stays in the tab, and stands there again after entering anew."""
    page = open_page("/runs/quality-gate-6/decide")
    _typed(page, "First words")
    expect(page.locator("#saved")).to_have_text("Draft saved.")
    page.context.route("**/draft", lambda route: route.fulfill(status=401))
    page.add_init_script("navigator.sendBeacon = () => false")  # what is sent on leaving is not intercepted
    page.evaluate("navigator.sendBeacon = () => false")
    page.locator("#say").fill("Other words")
    expect(page.locator("#saved")).to_contain_text("your token no longer holds")
    page.reload()
    expect(page.locator("#say")).to_have_value("Other words")
    page.locator("#say").fill("")
    expect(page.locator("#saved")).to_contain_text("your token no longer holds")
    page.reload()
    expect(page.locator("#say")).to_have_value("")


def test_two_tabs_tell_each_other_and_overwrite_nothing(open_page: Open, server: Served) -> None:
    one = open_page("/runs/quality-gate-6/decide")
    two = one.context.new_page()
    two.goto(one.url)
    _typed(one, "tab one words")
    _typed(two, "tab two words")
    expect(two.locator("#elsewhere")).to_contain_text("tab one words")
    two.locator("#add").click()
    expect(two.locator(".note textarea")).to_have_value("tab two words")
    expect(two.locator("#say")).to_have_value("tab one words")
    one.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    expect(one.locator("#stale")).to_contain_text("You changed your notes in another tab.")
    expect(one.locator("#record")).to_be_disabled()
    two.keyboard.press("1")
    expect(two.locator("#do")).to_have_text("Yes, continue, with 2 notes")
    expect(two.locator("#with")).to_have_text("Goes with 2 notes, to every later agent.")
    two.locator("#record").click()
    expect(two.get_by_role("heading", level=1)).to_have_text("Recorded: Yes, continue")
    engine = engine_of(server.home)
    said = [remark.text for remark in engine.load("quality-gate-6").record.remarks.values()]
    engine.log.close()
    assert said == ["tab two words", "tab one words"]


def test_back_after_a_decision_fills_nothing_in_again(open_page: Open) -> None:
    page = open_page("/runs/quality-gate-7/decide")
    page.keyboard.press("r")
    page.keyboard.type("Mind the cart")
    page.keyboard.press("Escape")
    expect(page.locator("#say")).not_to_be_focused()
    page.locator("#say").evaluate("box => box.setSelectionRange(0, 0)")
    page.keyboard.press("r")
    page.keyboard.type(".")
    expect(page.locator("#say")).to_have_value("Mind the cart.")
    page.keyboard.press("Escape")
    page.keyboard.press("1")
    page.locator("#record").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Recorded: Yes, continue")
    page.go_back()
    expect(page.get_by_role("heading", level=1)).not_to_contain_text("Recorded")
    expect(page.locator("#left")).to_have_count(0)
    assert page.locator("textarea").evaluate_all("every => every.map(one => one.value).join('')") == ""
    assert page.locator("input[name=option]:checked").count() == 0
