"""What a person types is theirs until they send or drop it: when others decide, in two tabs, on the way to another part
of the page. And what is recorded is what the page showed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path

import pytest
from starlette.testclient import TestClient
from tests.doors.web.conftest import Parsed

from reconvene.core.facts import commands as c
from reconvene.doors.web.drafted_decisions import MOST_NOTES
from served_home import HOST, Ground, ground

ANN = "ann"


@pytest.fixture
def made(tmp_path: Path) -> Iterator[Ground]:
    with ground(tmp_path) as found:
        yield found


@pytest.fixture
def browser(made: Ground) -> Iterator[TestClient]:
    with made.serving() as client:
        client.headers.update(made.person(ANN, "decider", cookie=True))
        client.follow_redirects = False
        yield client


class Tab:
    """A page of the decision as a browser without JavaScript has it: what stands in its form is what it sends."""

    def __init__(self, browser: TestClient, run: str, at: str = "") -> None:
        self._browser, self.run = browser, run
        self.read(browser.get(f"/runs/{run}/decide{at}").text)

    def read(self, html: str) -> None:
        self.html, self.text = html, Parsed(html).text
        self.form = {}
        for tag, own in Parsed(html).elements:
            if tag == "input" and own.get("type") == "hidden" and own.get("name"):
                self.form[own["name"]] = own.get("value", "")
            if tag == "input" and own.get("type") in ("radio", "checkbox") and "checked" in own:
                self.form[own["name"]] = own["value"]
        for attributes, inner in re.findall(r"<textarea([^>]*)>([^<]*)</textarea>", html):
            if name := re.search(r'name="([^"]*)"', attributes):
                self.form[unescape(name[1])] = unescape(inner.removeprefix("\n"))
        for name, inner in re.findall(r'<select[^>]* name="([^"]*)"[^>]*>(.*?)</select>', html, re.S):
            found = re.search(r'<option(?: value="([^"]*)")? selected>([^<]*)', inner)
            self.form[name] = unescape((found[1] if found[1] is not None else found[2]) if found else "")

    @property
    def box(self) -> str:
        return self.form["words"]

    @property
    def notes(self) -> list[str]:
        return [value for name, value in self.form.items() if name.startswith("text ")]

    @property
    def left(self) -> list[str]:
        """What is shown as not sent."""
        found = re.findall(r'id="left-[^"]*" rows="1" readonly>([^<]*)</textarea>', self.html)
        return [unescape(one) for one in found]

    def press(self, where: str, code: int = 303, **more: str) -> Tab:
        """All that stands there is sent; the page that follows is read."""
        answer = self._browser.post(f"/runs/{self.run}/{where}", data={**self.form, **more})
        assert answer.status_code == code, answer.text[:2000]
        html = self._browser.get(answer.headers["location"]).text if code == 303 else answer.text
        if 'id="decision"' in html or "not_waiting" in html:
            self.read(html)
        else:
            self.html, self.text = html, Parsed(html).text
        return self

    def typed(self, **fields: str) -> Tab:
        self.form |= fields
        return self


def others_decide(made: Ground, run: str, option: str, *words: str) -> None:
    """Somebody else, at another door; the agents then work."""
    said = tuple(c.RemarkIn(one) for one in words)
    made.engine.submit(run, c.AnswerCheckpoint("", option, remarks=said, by="ben"))
    made.drive(run)


def said(made: Ground, run: str) -> list[str]:
    return [one.text for one in made.state(run).record.remarks.values() if one.by == ANN]


# --- somebody else decides ---


def test_what_was_typed_for_a_checkpoint_that_others_decided_stays_and_is_taken_over_with_a_click(
    made: Ground, browser: TestClient
) -> None:
    run = made.parked()
    tab = Tab(browser, run)
    tab.typed(words="A pending note.").press("notes")
    tab.typed(words="Half a sentence", option="Stop", **{"field:count": "7"}).press("draft", code=200)
    others_decide(made, run, "Once more", "Not yet.")
    tab = Tab(browser, run)
    assert "You wrote this for “Is the draft good?”. It was not sent." in tab.text
    assert "You had chosen “Stop”. It was not recorded." in tab.text
    assert tab.left == ["Half a sentence", "A pending note.", "7"]
    assert (tab.box, tab.notes) == ("", [])
    assert not said(made, run)
    tab.press("left/C1", do="take words").press("left/C1", do="take count").press("left/C1", do="drop n1")
    assert (tab.left, tab.notes, tab.form["field:count"]) == ([], ["Half a sentence"], "7")
    assert "You wrote this for" not in tab.text


def test_a_stale_page_that_is_sent_after_the_run_went_on_loses_neither_words_nor_notes(
    made: Ground, browser: TestClient
) -> None:
    run = made.parked()
    tab = Tab(browser, run)
    tab.typed(words="A pending note.").press("notes")
    others_decide(made, run, "Once more", "Not yet.")
    tab.typed(words="Words of the box", option="Go on").press("decide", code=409)
    assert "ben chose “Once more”." in tab.text
    assert tab.left == ["Words of the box", "A pending note."]
    assert 'name="anyway"' not in tab.html
    assert "option" not in tab.form
    assert len(made.state(run).record.decisions) == 1
    tab.press("left/C1", do="send n1")
    assert said(made, run) == ["A pending note."]
    assert Tab(browser, run).left == ["Words of the box"]


def test_what_was_typed_for_a_run_that_others_ended_can_be_copied_dropped_or_reopens_it(
    made: Ground, browser: TestClient
) -> None:
    run = made.parked()
    tab = Tab(browser, run).typed(words="Do not stop: the bank agreed.", option="Go on")
    others_decide(made, run, "Stop")
    tab.press("decide", code=409)
    assert "Nothing waits for a decision here." in tab.text
    assert tab.left == ["Do not stop: the bank agreed."]
    assert 'value="send words"' not in tab.html
    tab.press("left/C1", do="reopen all")
    assert made.state(run).status != "completed"
    assert said(made, run) == ["Do not stop: the bank agreed."]
    assert Tab(browser, run).left == []


def test_an_empty_draft_and_what_fields_begin_with_are_nothing_that_was_typed(
    made: Ground, browser: TestClient
) -> None:
    run = made.parked()
    Tab(browser, run).press("draft", code=200)
    others_decide(made, run, "Once more", "Not yet.")
    assert 'id="left"' not in Tab(browser, run).html


def test_nobody_sees_what_somebody_else_typed(made: Ground, browser: TestClient) -> None:
    run = made.parked()
    Tab(browser, run).typed(words="Mine alone").press("draft", code=200)
    others_decide(made, run, "Once more", "Not yet.")
    browser.headers.update(made.person("ben", "decider", cookie=True))
    assert "Mine alone" not in Tab(browser, run).html
    browser.post(f"/runs/{run}/left/C1", data={"do": "send words"})
    assert [one.text for one in made.state(run).record.remarks.values()] == ["Not yet."]


# --- two tabs ---


def test_what_is_typed_in_one_tab_does_not_overwrite_what_is_typed_in_another(
    made: Ground, browser: TestClient
) -> None:
    run = made.parked()
    one, two = Tab(browser, run), Tab(browser, run)
    one.typed(words="tab one words").press("draft", code=200)
    answer = browser.post(f"/runs/{run}/draft", data={**two.form, "words": "tab two words"}).json()
    assert answer["elsewhere"] == "tab one words"
    browser.post(f"/runs/{run}/draft", data={**two.form, "words": "tab two words, and more"})
    again = Tab(browser, run)
    assert again.box == "tab one words"
    assert again.left == ["tab two words, and more"]
    assert "You typed this in another tab." in again.text
    again.press(f"left/C1~{two.form['page']}", do="take words")
    assert (again.left, again.notes, again.box) == ([], ["tab two words, and more"], "tab one words")


def test_a_tab_goes_on_typing_over_its_own_words(made: Ground, browser: TestClient) -> None:
    run = made.parked()
    tab = Tab(browser, run)
    for words in ("a", "ab", "abc", "ab"):
        answer = browser.post(f"/runs/{run}/draft", data={**tab.form, "words": words}).json()
        tab.form["draft"] = str(answer["draft"])
        assert answer["elsewhere"] == ""
    again = Tab(browser, run)
    assert (again.box, again.left) == ("ab", [])


def test_answers_that_another_tab_gave_are_not_overwritten_either(made: Ground, browser: TestClient) -> None:
    run = made.parked()
    one, two = Tab(browser, run), Tab(browser, run)
    one.typed(**{"field:count": "7"}).press("draft", code=200)
    two.typed(**{"field:count": "8"}).press("draft", code=200)
    again = Tab(browser, run)
    assert (again.form["field:count"], again.left) == ("7", ["8"])
    again.press(f"left/C1~{two.form['page']}", do="take count")
    assert (again.form["field:count"], again.left) == ("8", [])


def test_a_decision_takes_the_words_of_its_own_tab_and_leaves_those_of_the_other(
    made: Ground, browser: TestClient
) -> None:
    run = made.parked()
    one, two = Tab(browser, run), Tab(browser, run)
    one.typed(words="tab one words").press("draft", code=200)
    two.typed(words="tab two words", option="Go on").press("decide")
    assert "Recorded: Go on" in two.text
    assert said(made, run) == ["tab two words"]
    made.drive(run)
    assert Tab(browser, run).left == ["tab one words"]


def test_a_note_that_the_page_did_not_show_is_not_recorded_with_its_decision(made: Ground, browser: TestClient) -> None:
    run = made.parked()
    one, two = Tab(browser, run), Tab(browser, run)
    two.typed(words="Note of tab two").press("notes")
    one.typed(words="Typed in tab one", option="Go on").press("decide", code=409)
    assert "you changed them in another tab" in one.text
    assert not made.state(run).record.decisions
    assert (one.notes, one.box, one.form["option"]) == (["Note of tab two"], "Typed in tab one", "Go on")
    one.press("decide")
    assert said(made, run) == ["Note of tab two", "Typed in tab one"]


def test_a_note_that_another_tab_dropped_is_told_before_anything_is_recorded(made: Ground, browser: TestClient) -> None:
    run = made.parked()
    one = Tab(browser, run).typed(words="To be dropped").press("notes")
    Tab(browser, run).press("notes/n1", do="drop n1")
    for where in ("decide", "say"):
        one.typed(option="Go on", noted="1").press(where, code=409 if where == "decide" else 422)
        assert one.notes == []
    assert not made.state(run).record.decisions
    assert not said(made, run)


def test_the_button_counts_what_goes_with_the_decision(made: Ground, browser: TestClient) -> None:
    run = made.parked()
    tab = Tab(browser, run).typed(words="One").press("notes").typed(words="Two").press("notes")
    assert "Record the chosen option, with 2 notes" in tab.text
    assert "Goes with 2 notes, and with what stands in the box" in tab.text


# --- notes ---


def test_words_kind_weight_and_addressee_of_a_note_can_be_changed_before_it_is_sent(
    made: Ground, browser: TestClient
) -> None:
    run = made.parked()
    tab = Tab(browser, run).typed(words="The board meets in May.").press("notes")
    changed = {"text n1": "The board meets in June.\nNot in May.", "kind n1": "correction", "target n1": "writer"}
    tab.typed(**changed).press("notes/n1", do="change n1")
    assert tab.form["level n1"] == "minor"  # as a correction without figures is read
    tab.typed(**{"level n1": "major"}).press("notes/n1", do="change n1")
    assert tab.notes == ["The board meets in June.\nNot in May."]
    assert (tab.form["kind n1"], tab.form["level n1"], tab.form["target n1"]) == ("correction", "major", "writer")
    tab.typed(option="Go on").press("decide")
    (one,) = made.state(run).record.remarks.values()
    assert (one.text, one.kind, one.level) == ("The board meets in June.\nNot in May.", "correction", "major")
    assert (one.target, one.reason) == ("writer", "ann weighs it so")
    assert "The board meets in June.\nNot in May.</q>" in tab.html


def test_what_stands_in_a_note_is_recorded_even_where_nobody_pressed_change(made: Ground, browser: TestClient) -> None:
    run = made.parked()
    tab = Tab(browser, run).typed(words="The board meets in May.").press("notes")
    tab.typed(option="Go on", **{"text n1": "The board meets in July."}).press("decide")
    assert said(made, run) == ["The board meets in July."]


def test_a_note_is_recorded_as_it_was_read_back(made: Ground, browser: TestClient) -> None:
    run = made.parked()
    tab = Tab(browser, run).typed(words="Net debt is $400M, not $440M").press("notes")
    assert tab.form["kind n1"] == "correction"
    assert "<del>$440M</del>" in tab.html
    tab.typed(option="Go on", words="Revenue is 900, not 850").press("decide")
    found = [(one.kind, one.was, one.now) for one in made.state(run).record.remarks.values()]
    assert found == [("correction", "$440M", "$400M"), ("correction", "850", "900")]


def test_a_kind_that_is_typed_before_the_text_is_no_part_of_it(made: Ground, browser: TestClient) -> None:
    run = made.parked()
    tab = Tab(browser, run).typed(words="correction: use SEPA, not SWIFT").press("notes")
    for kind in ("comment", "correction"):
        tab.typed(**{"kind n1": kind}).press("notes/n1", do="change n1")
    tab.typed(option="Go on").press("decide")
    (one,) = made.state(run).record.remarks.values()
    assert (one.kind, one.text) == ("correction", "use SEPA, not SWIFT")


def test_the_hundred_and_first_note_is_refused_and_what_was_typed_stays(made: Ground, browser: TestClient) -> None:
    run = made.parked()
    tab = Tab(browser, run)
    for number in range(MOST_NOTES):
        browser.post(f"/runs/{run}/notes", data={**tab.form, "words": f"note {number}"})
    tab = Tab(browser, run).typed(words="one too many").press("notes", code=422)
    assert "There are 100 notes already." in tab.text
    assert (tab.box, len(tab.notes)) == ("one too many", MOST_NOTES)


# --- said at once ---


def test_what_is_sent_at_once_is_read_back_and_can_be_read_otherwise(made: Ground, browser: TestClient) -> None:
    run = made.parked()
    tab = Tab(browser, run).typed(words="Revenue is 900, not 850.").press("say")
    assert "Said, and on record" in tab.text
    assert "<del>850</del> → <ins>900</ins>" in tab.html
    assert "selected>correction</option>" in tab.html
    otherwise = {"kind": "new context", "level": "major", "target": "writer", "ids": "FB-001"}
    answer = browser.post(f"/runs/{run}/remarks/FB-001", data=otherwise)
    html = browser.get(answer.headers["location"]).text
    assert "selected>new context</option>" in html
    (one,) = made.state(run).record.remarks.values()
    assert (one.kind, one.level, one.target) == ("new context", "major", "writer")
    assert Tab(browser, run).box == ""


def test_what_is_said_to_agents_at_work_has_a_receipt_too(made: Ground, browser: TestClient) -> None:
    run = made.parked()
    made.engine.submit(run, c.AnswerCheckpoint("", "Once more", remarks=(c.RemarkIn("Not yet."),), by="ben"))
    assert "Agents work." in browser.get(f"/runs/{run}/decide").text
    answer = browser.post(f"/runs/{run}/say", data={"words": "Mind the covenant."})
    assert "Mind the covenant.</q>" in browser.get(answer.headers["location"]).text
    assert said(made, run) == ["Mind the covenant."]
    assert Tab(browser, run).left == []


def test_what_is_typed_while_agents_work_is_there_again_when_one_looks_again(made: Ground, browser: TestClient) -> None:
    run = made.parked()
    made.engine.submit(run, c.AnswerCheckpoint("", "Once more", remarks=(c.RemarkIn("Not yet."),), by="ben"))
    browser.post(f"/runs/{run}/draft?go=on", data={"words": "Mind the covenant."})
    assert "You wrote this for those at work. It was not sent." in Tab(browser, run).text
    made.drive(run)
    browser.post(f"/runs/{run}/draft?go=on", data={"words": "And the bank."})  # from a page that slept
    tab = Tab(browser, run)
    assert (tab.left, tab.box) == (["Mind the covenant."], "And the bank.")
    assert tab.press("left/work", do="take words").notes == ["Mind the covenant."]


# --- without JavaScript ---


def test_on_the_way_to_another_part_of_the_page_everything_typed_is_kept(made: Ground, browser: TestClient) -> None:
    run = made.parked()
    digest = made.state(run).world.files["draft.md"].digest
    ways = {
        "viewed": {"view": f"+ {digest} draft.md"},
        "read": {},
        "draft?file=draft.md": {},
        f"draft?on=draft.md&of={digest}&line=3": {},
        "draft?ids=FB-001": {},
    }
    for number, (where, more) in enumerate(ways.items()):
        typed = {"words": f"half typed {number}", "option": "Stop", "field:count": str(number)}
        Tab(browser, run).typed(**typed).press(where, **more)
        again = Tab(browser, run)
        assert {name: again.form[name] for name in typed} == typed, where
    assert "1 of 1 viewed" in again.text


def test_every_button_of_the_page_sends_all_that_stands_on_it(made: Ground, browser: TestClient) -> None:
    run = made.parked()
    tab = Tab(browser, run).typed(words="a").press("notes")
    buttons = [own for tag, own in Parsed(tab.html).elements if tag == "button" and own.get("type") != "button"]
    inside = re.findall(r"<form[^>]*>(.*?)</form>", tab.html, re.S)
    alone = {name for one in inside for name in re.findall(r"<button[^>]*>([^<]*)", one)}
    assert alone <= {"Light / dark", "Sign out", "Hand over", "Ask", ""}, alone
    assert sum(own.get("form") == "decision" for own in buttons) > 5


def test_a_viewer_may_look_at_files_and_tick_them(made: Ground, browser: TestClient) -> None:
    run = made.parked()
    browser.headers.update(made.person("vic", "viewer", cookie=True))
    html = browser.get(f"/runs/{run}/decide").text
    assert browser.post(f"/runs/{run}/draft?file=draft.md", data={"page": "x"}).status_code == 303
    assert browser.post(f"/runs/{run}/draft", data={"words": "w"}).status_code == 403
    assert 'formaction="' in html


# --- receipts ---


def test_a_receipt_lists_the_notes_one_by_one_and_the_answers_by_their_questions(
    made: Ground, browser: TestClient
) -> None:
    run = made.parked()
    tab = Tab(browser, run).typed(words="First line.\nSecond line.").press("notes")
    tab.typed(option="Go on", words="Another note.", **{"field:severity": "high", "field:count": "7"}).press("decide")
    assert "With 2 notes" in tab.text
    notes = re.findall(r'<q class="lines">([^<]*)</q>', tab.html)
    assert notes == ["First line.\nSecond line.", "Another note."]
    assert "How severe? high" in tab.text
    assert "How many? 7" in tab.text


def test_an_option_that_is_only_a_draft_is_marked_as_one(made: Ground, browser: TestClient) -> None:
    run = made.parked()
    assert "your draft" not in Tab(browser, run).text
    Tab(browser, run).typed(option="Stop").press("draft", code=200)
    assert "Stop your draft" in Tab(browser, run).text


# --- live ---


def test_a_page_that_is_out_of_date_is_told_what_happened_in_words(made: Ground, browser: TestClient) -> None:
    run = made.parked()
    tab = Tab(browser, run)
    asked = {"version": tab.form["version"], "seq": tab.form["seq"]}
    assert browser.get(f"/runs/{run}/version", params=asked).json()["told"] == []
    made.engine.submit(run, c.AddRemark(c.RemarkIn("Our bank agreed to a waiver."), "ben"))
    told = browser.get(f"/runs/{run}/version", params=asked).json()["told"]
    assert told == ["ben said: “Our bank agreed to a waiver.”"]
    others_decide(made, run, "Once more", "Say which bank.")
    told = browser.get(f"/runs/{run}/version", params=asked).json()["told"]
    assert told[:3] == [
        "ben chose “Once more”.",
        "ben said: “Our bank agreed to a waiver.”",
        "ben said: “Say which bank.”",
    ]
    assert "writer worked." in told
    assert HOST in str(browser.base_url)
