"""Whatever agents and people write, pages run none of it and ask nobody else for anything."""

from __future__ import annotations

from playwright.sync_api import expect
from tests.browser.conftest import Open, look
from tests.browser.serving import Served


def test_hostile_words_run_nothing_and_call_nobody(open_page: Open, server: Served) -> None:
    page = open_page("/")
    asked: list[str] = []
    told: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.on("dialog", lambda dialog: told.append(dialog.message))
    page.on("console", lambda message: told.append(message.text) if message.type == "error" else None)
    page.add_init_script("window.steal = () => { window.stolen = true; }")
    run = "/runs/hostile-1"
    files = ("report.md", "list.yaml", "%3Cimg%20src%3Dx%20onerror%3Dsteal()%3E.md", "a'%22b.html")
    paths = ["/", f"{run}/decide", f"{run}/decided/C1", "/?q=%3Cscript%3Esteal()%3C/script%3E", "/?show=fields"]
    paths += [f"{run}/decide?file={name}" for name in files] + [f"{run}/decide?on=%3Cscript%3E&line=1&of=x"]
    paths += [f"{run}/decide?file=report.md&as=is"]
    for path in paths:
        page.goto(server.url + path)
        page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true; })")
        assert page.evaluate("window.stolen") is None, path
        assert page.locator("img, iframe, object, embed, video, base, svg script, main style, main script").count() == 0
        named = page.evaluate("[...document.querySelectorAll('*')].flatMap(one => one.getAttributeNames())")
        assert not [name for name in named if name.startswith("on")], path
        links = page.evaluate("[...document.querySelectorAll('main a')].map(one => one.getAttribute('href'))")
        assert all(link.startswith(("/", "#", "https://", "http://", "mailto:")) for link in links), path
        look(page, "hostile-" + str(paths.index(path)))
    assert told == []
    assert [url for url in asked if not url.startswith(server.url)] == []


def test_hostile_words_in_a_draft_come_back_as_they_were_typed(open_page: Open) -> None:
    page = open_page("/runs/hostile-1/decide")
    typed = "</textarea><script>steal()</script> \u202e"
    page.locator("#say").fill(typed)
    page.get_by_role("button", name="Add, and read it back").click()
    expect(page.locator(".note textarea").first).to_have_value(typed)
    assert page.evaluate("window.stolen") is None
