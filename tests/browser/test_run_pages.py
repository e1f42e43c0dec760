"""Pages of runs in a browser: sound in both widths and both themes, live, and the same without JavaScript."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page
from tests.browser.conftest import NARROW, WIDE, Open, look, violations

RUN = "/runs/SCENARIO-2026-001"
PAGES = {
    "runs": "/runs",
    "run": RUN,
    "run-then": f"{RUN}?as_of=20",
    "run-of-groups": "/runs/brainstorm-1",
    "files": f"{RUN}/files",
    "file": f"{RUN}/file?path=scenario_context.md",
    "file-source": f"{RUN}/file?path=metadata.json",
    "file-diff": f"{RUN}/file?path=scenario_context.md&as=diff",
    "work": f"{RUN}/work",
    "attempt": f"{RUN}/attempt?task=R2/0/economist&attempt=1",
    "talk": "/runs/brainstorm-1/talk",
    "ledger": f"{RUN}/ledger",
    "gaps": "/runs/SPEC-2026-001/gaps?gap=GAP-FLOW-001",
    "calls": "/runs/job-1/calls",
    "comments": f"{RUN}/comments",
    "events": f"{RUN}/events",
    "compare": "/runs/job-1-fork-1/compare?file=workspace.md",
    "companion": f"{RUN}/companion",
    "queue": "/queue",
    "choose": "/new",
    "new": "/new?workflow=job",
    "figures": "/figures",
}


@pytest.mark.parametrize("name", PAGES)
def test_a_page_of_runs_is_sound_in_both_widths_and_both_themes(open_page: Open, name: str) -> None:
    page, told = open_page("/runs"), list[str]()
    page.on("console", lambda message: told.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: told.append(str(error)))
    page.goto(page.url.removesuffix("/runs") + PAGES[name])
    for size in (WIDE, NARROW):
        page.set_viewport_size({"width": size[0], "height": size[1]})
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), f"{size}: it can be moved sideways"
        for dark in (False, True):
            page.emulate_media(color_scheme="dark" if dark else "light")
            look(page, f"{name}-{size[0]}-{'dark' if dark else 'light'}")
            if (size is WIDE) != dark:
                assert violations(page) == [], (size, dark)
    assert told == []


def test_the_companion_answers_beside_a_page_and_opens_with_a_key(open_page: Open) -> None:
    page = open_page("/runs/quality-gate-1/files")
    page.keyboard.press("c")
    page.fill("#beside-question", "What phase is it on?")
    page.click(".beside button")
    page.wait_for_selector(".beside .chat .it")

    assert "What phase is it on?" in page.inner_text(".beside .chat")
    assert page.url.endswith("/files")
    assert violations(page) == []


def test_what_is_typed_while_the_companion_answers_stays_and_it_covers_nothing(open_page: Open) -> None:
    page = open_page("/runs/quality-gate-1")
    page.click(".beside summary")
    page.route("**/companion", lambda route: (page.wait_for_timeout(700), route.continue_()))
    page.fill("#beside-question", "What phase is it on?")
    page.click(".beside button")
    page.fill("#beside-question", "And which files are there?")
    page.wait_for_selector(".beside .chat .it")
    page.wait_for_selector(".beside .told:empty", state="attached")
    assert page.input_value("#beside-question") == "And which files are there?"
    legend, panel = page.locator("#h-wf + small").bounding_box(), page.locator(".beside .companion").bounding_box()
    assert legend is not None
    assert panel is not None
    assert legend["x"] + legend["width"] <= panel["x"]
    look(page, "companion-beside")


def test_a_question_and_a_fork_need_no_javascript(open_page: Open) -> None:
    page = open_page("/runs/quality-gate-1", scripts=False)
    page.click(".beside summary")
    page.fill("#beside-question", "Which files are there?")
    page.click(".beside button")
    assert page.url.endswith("/runs/quality-gate-1/companion#last")

    page.goto(page.url.partition("/companion")[0])
    page.click("text=Fork from here")
    assert "/runs/quality-gate-1-fork-" in page.url


def test_a_page_follows_its_run(open_page: Open) -> None:
    """Somebody else says something; nobody loads the page again."""
    page = open_page("/runs/review-before-changes-1")
    other = open_page("/runs/review-before-changes-1", scripts=False)
    other.click("text=Abort …")
    other.fill("[name=why]", "comment: it is not needed any more")
    with page.expect_response(lambda answer: answer.url.endswith("/now")):
        other.click("text=Abort this run")
    page.wait_for_selector("h1:has-text('aborted')")

    assert "it is not needed any more" in page.inner_text("main")


def _drop(page: Page, place: str, name: str, text: str) -> None:
    page.evaluate(
        """([place, name, text]) => {
          const given = new DataTransfer();
          given.items.add(new File([text], name, {type: "text/markdown"}));
          document.querySelector(place).dispatchEvent(new DragEvent("drop", {dataTransfer: given, bubbles: true}));
        }""",
        [place, name, text],
    )


def test_a_file_is_given_by_drop_and_looked_at_before_the_start(open_page: Open) -> None:
    page = open_page("/new?workflow=spec-refinement")
    _drop(page, "[data-drop]", "dropped.md", "# A spec\n")
    page.click("text=Look whether everything is there")

    assert "dropped.md" in page.inner_text("form.withtalk")
    assert "nothing was started yet" in page.inner_text("main")


def test_the_conversation_before_a_run_needs_no_new_page_and_keeps_what_was_typed(open_page: Open) -> None:
    page = open_page("/new?workflow=brainstorm")
    page.fill("[name='input.description']", "Trim the names")
    page.fill("[name=question]", "What do you need?")
    page.click("button[value=ask]")
    page.wait_for_selector(".chat .it")

    assert page.input_value("[name='input.description']") == "Trim the names"
    assert page.input_value("[name=draft]").startswith("draft")
