"""The decision page without a browser: what forms send, what is kept, what is refused."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from reconvene.core.facts import commands as c
from reconvene.core.facts.commands import SetLimits
from reconvene.wire.workflow_file import parse_workflow
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


def _hidden(html: str, name: str) -> str:
    found = re.search(rf'name="{name}" value="([^"]*)"', html)
    assert found, name
    return found[1]


def _sent(html: str, **more: str) -> dict[str, str]:
    hidden = ("version", "checkpoint", "page", "draft", "noted", "seq")
    return {**{name: _hidden(html, name) for name in hidden}, "words": "", **more}


def test_a_plain_form_decides_and_leads_to_a_receipt(made: Ground, browser: TestClient) -> None:
    run = made.parked()
    html = browser.get(f"/runs/{run}/decide").text
    answer = browser.post(f"/runs/{run}/decide", data=_sent(html, option="Go on", **{"field:severity": "high"}))
    assert answer.status_code == 303
    receipt = browser.get(answer.headers["location"]).text
    assert "Recorded: Go on" in receipt
    taken = made.state(run).record.decisions[1]
    assert (taken.option, taken.by, taken.door) == ("Go on", ANN, "browser")


def test_nobody_is_told_of_no_open_remarks_above_those_that_are(made: Ground, browser: TestClient) -> None:
    run = made.parked()
    assert "no open remarks" in browser.get(f"/runs/{run}/decide").text
    made.engine.submit(run, c.AddRemark(c.RemarkIn("Shorter, please."), "bob"))
    html = browser.get(f"/runs/{run}/decide").text
    assert "1 remark, 1 open" in html
    assert "no open remarks" not in html


def test_who_is_here_can_sign_out_from_every_page(made: Ground, browser: TestClient) -> None:
    run = made.parked()
    for path in ("/", f"/runs/{run}", f"/runs/{run}/decide", "/figures"):
        page = browser.get(path).text
        assert '<form method="post" action="/leave"><button class="btn">Sign out</button></form>' in page
    assert browser.post("/leave").headers["location"] == "/enter"


def test_approved_with_a_note_the_note_is_a_remark(made: Ground, browser: TestClient) -> None:
    run = made.parked()
    html = browser.get(f"/runs/{run}/decide").text
    browser.post(f"/runs/{run}/notes", data=_sent(html, words="correction: Revenue is 900, not 850."))
    html = browser.get(f"/runs/{run}/decide").text
    assert "<del>850</del>" in html
    assert "selected>correction</option>" in html
    browser.post(f"/runs/{run}/decide", data=_sent(html, option="Go on", words="And say who pays."))
    said = [(one.kind, one.text) for one in made.state(run).record.remarks.values()]
    assert said == [("correction", "Revenue is 900, not 850."), ("comment", "And say who pays.")]


def test_a_note_can_be_read_as_something_else_or_dropped(made: Ground, browser: TestClient) -> None:
    run = made.parked()
    html = browser.get(f"/runs/{run}/decide").text
    browser.post(f"/runs/{run}/notes", data=_sent(html, words="The board meets in May."))
    browser.post(f"/runs/{run}/notes/n1", data=_sent(html, **{"kind n1": "new context", "do": "change n1"}))
    assert "selected>new context</option>" in browser.get(f"/runs/{run}/decide").text
    browser.post(f"/runs/{run}/notes/n1", data=_sent(html, do="drop n1"))
    assert 'class="note"' not in browser.get(f"/runs/{run}/decide").text
    assert not made.state(run).record.remarks


def test_notes_are_sent_at_once_where_the_person_says_so(made: Ground, browser: TestClient) -> None:
    run = made.parked()
    html = browser.get(f"/runs/{run}/decide").text
    browser.post(f"/runs/{run}/notes", data=_sent(html, words="The board meets in May."))
    html = browser.get(f"/runs/{run}/decide").text
    browser.post(f"/runs/{run}/say", data=_sent(html, words=""))
    assert [one.text for one in made.state(run).record.remarks.values()] == ["The board meets in May."]
    assert 'class="note"' not in browser.get(f"/runs/{run}/decide").text


def test_a_remark_on_a_line_is_about_the_version_that_was_shown(made: Ground, browser: TestClient) -> None:
    run = made.parked()
    digest = made.state(run).world.files["draft.md"].digest
    html = browser.get(f"/runs/{run}/decide?on=draft.md&of={digest}&line=3").text
    about = {"path": "draft.md", "path_version": digest, "first": "3", "last": ""}
    assert ">draft.md:3</code>" in html
    browser.post(f"/runs/{run}/decide", data=_sent(html, option="Once more", words="Which year?", **about))
    (said,) = made.state(run).record.remarks.values()
    assert said.lines == "draft.md:3"


def test_a_rendered_document_has_line_numbers_as_written(made: Ground, browser: TestClient) -> None:
    run = made.parked()
    assert '&amp;as=written">as written</button>' in browser.get(f"/runs/{run}/decide").text
    html = browser.get(f"/runs/{run}/decide?file=draft.md&as=written").text
    assert '<td class="says" data-line="3">Revenue is 850.</td>' in html
    button = re.search(r'formaction="([^"]*line=3)">3</button>', html)
    assert button
    answer = browser.post(button[1].replace("&amp;", "&"), data=_sent(html, words="typed"))
    about = browser.get(answer.headers["location"]).text
    assert ">draft.md:3</code>" in about
    assert ">typed</textarea>" in about
    assert 'data-line="3"' in about, "the lines stay in view"


def test_a_stale_page_says_what_changed_keeps_what_was_typed_and_decides_anyway(
    made: Ground, browser: TestClient
) -> None:
    run = made.parked()
    html = browser.get(f"/runs/{run}/decide").text
    made.engine.submit(run, c.AddRemark(c.RemarkIn("Our bank agreed to a waiver."), "ben"))
    typed = _sent(html, option="Go on", words="Mind the covenant.", **{"field:count": "7"})
    answer = browser.post(f"/runs/{run}/decide", data=typed)
    assert answer.status_code == 409
    assert "This page is out of date." in answer.text
    assert "Our bank agreed to a waiver." in answer.text
    assert ">Mind the covenant.</textarea>" in answer.text
    assert ">7</textarea>" in answer.text
    assert not made.state(run).record.decisions
    again = {**typed, "anyway": _hidden(answer.text, "anyway"), "version": _hidden(html, "version")}
    assert browser.post(f"/runs/{run}/decide", data=again).status_code == 303
    assert made.state(run).record.decisions[1].since


def test_what_does_not_fit_is_said_and_what_was_typed_is_kept(made: Ground, browser: TestClient) -> None:
    run = made.parked()
    html = browser.get(f"/runs/{run}/decide").text
    wrong = browser.post(f"/runs/{run}/decide", data=_sent(html, option="Go on", words="w", **{"field:count": "many"}))
    assert wrong.status_code == 422
    assert "Not recorded." in wrong.text
    assert ">many</textarea>" in wrong.text
    assert "The answer to “How many?” must be a number" in wrong.text
    assert '<a href="#field-count">Go to it</a>' in wrong.text
    assert 'aria-invalid="true"' in wrong.text
    nothing = browser.post(f"/runs/{run}/decide", data=_sent(html, words="w"))
    assert "choose an option first" in nothing.text
    silent = browser.post(f"/runs/{run}/decide", data=_sent(html, option="Once more"))
    assert "needs your words" in silent.text
    assert not made.state(run).record.decisions


def test_whoever_may_only_read_or_remark_cannot_decide(made: Ground) -> None:
    run = made.parked()
    with made.serving() as client:
        for role in ("viewer", "reviewer"):
            client.headers.update(made.person(role, role, cookie=True))  # type: ignore[arg-type]
            html = client.get(f"/runs/{run}/decide").text
            assert 'id="record"' not in html
            assert ("your-words" in html) == (role == "reviewer")
            answer = client.post(f"/runs/{run}/decide", data=_sent(html, option="Go on"), follow_redirects=False)
            assert answer.status_code == 403
            assert "takes the role decider" in answer.text
    assert not made.state(run).record.decisions


def test_looking_decides_nothing(made: Ground, browser: TestClient) -> None:
    run = made.parked()
    for path in ("decide", "decide?option=Go+on", "decided/C1", "version", "say", "notes", "calls", "read"):
        browser.get(f"/runs/{run}/{path}")
    assert not made.state(run).record.decisions
    assert not made.state(run).record.remarks


def test_a_page_of_somebody_else_cannot_send_a_form(made: Ground, browser: TestClient) -> None:
    run = made.parked()
    html = browser.get(f"/runs/{run}/decide").text
    sent = _sent(html, option="Go on")
    for origin in ("https://example.org", "null"):
        answer = browser.post(f"/runs/{run}/decide", data=sent, headers={"origin": origin})
        assert answer.status_code == 403
    assert not made.state(run).record.decisions


def test_ticks_fall_when_the_file_changes(made: Ground, browser: TestClient) -> None:
    run = made.parked()
    digest = made.state(run).world.files["draft.md"].digest
    browser.post(f"/runs/{run}/viewed", data={"view": f"+ {digest} draft.md"})
    assert "1 of 1 viewed" in browser.get(f"/runs/{run}/decide").text
    (Path(made.state(run).workspace) / "draft.md").write_text("# Other\n", encoding="utf-8")
    made.engine.scan(run, by="ben", door="test")
    assert "0 of 1 viewed" in browser.get(f"/runs/{run}/decide").text


def test_marked_as_read_nothing_is_new(made: Ground, browser: TestClient) -> None:
    run = made.parked()
    assert "New to you" in browser.get(f"/runs/{run}/decide").text
    browser.post(f"/runs/{run}/read")
    assert "Nothing changed since you marked it as read" in browser.get(f"/runs/{run}/decide").text


def test_what_is_put_off_comes_back_with_news(made: Ground, browser: TestClient) -> None:
    run = made.parked()
    browser.post(f"/runs/{run}/snooze", data={"for": "1d"})
    assert "Nothing waits for you." in browser.get("/").text
    assert run in browser.get("/?show=snoozed").text
    made.engine.submit(run, c.AddRemark(c.RemarkIn("Look at this."), "ben"))
    assert run in browser.get("/").text


def test_the_inbox_finds_words_and_goes_on_where_a_page_ends(made: Ground, browser: TestClient) -> None:
    runs = [made.parked() for _ in range(23)]
    first = browser.get("/").text
    assert "More than 20 runs wait." in first
    after = re.search(r'rel="next" href="/\?after=([^"&]+)"', first)
    assert after
    second = browser.get(f"/?after={after[1]}").text
    assert sum(f'id="{run}"' in first for run in runs) == 20
    assert sum(f'id="{run}"' in second for run in runs) == 3
    assert "Nothing here fits." in browser.get("/?q=unheard-of").text
    assert f'id="{runs[0]}"' in browser.get(f"/?q={runs[0]}").text


def test_a_run_that_does_not_wait_says_so(made: Ground, browser: TestClient) -> None:
    run = made.parked()
    html = browser.get(f"/runs/{run}/decide").text
    browser.post(f"/runs/{run}/decide", data=_sent(html, option="Stop"))
    assert "Nothing waits for a decision here." in browser.get(f"/runs/{run}/decide").text
    again = browser.post(f"/runs/{run}/decide", data=_sent(html, option="Go on"))
    assert again.status_code == 409
    assert "Not recorded." in again.text


def test_there_is_no_such_run(browser: TestClient) -> None:
    nothing = browser.get("/runs/nobody-1/decide")
    assert nothing.status_code == 404
    assert "/api/" not in nothing.text
    assert 'href="/runs"' in nothing.text
    assert HOST in str(browser.base_url)


def test_approving_may_set_what_the_run_may_cost(made: Ground, browser: TestClient) -> None:
    run = made.parked()
    html = browser.get(f"/runs/{run}/decide").text
    wrong = browser.post(f"/runs/{run}/decide", data=_sent(html, option="Go on", limits="0", cost_limit="much"))
    assert (wrong.status_code, "is no amount in USD" in wrong.text) == (422, True)
    assert not made.state(run).record.decisions
    stale = _sent(html, option="Go on", limits="0", cost_limit="1", version="0000000000000000")
    assert browser.post(f"/runs/{run}/decide", data=stale).status_code == 409
    assert made.state(run).record.ceiling == 0  # what is refused sets nothing
    browser.post(f"/runs/{run}/decide", data=_sent(html, option="Go on", limits="0", cost_limit="$2.50"))
    assert made.state(run).record.ceiling == 2.5
    assert made.state(run).record.decisions[1].option == "Go on"


def test_a_page_takes_back_no_limit_that_somebody_set_meanwhile(made: Ground, browser: TestClient) -> None:
    """It sends the field whether or not anything was typed into it."""
    run = made.parked()
    html = browser.get(f"/runs/{run}/decide").text
    made.engine.submit(run, SetLimits(5.0, (), "Olga"))
    typed = _sent(html, option="Go on", limits="0", cost_limit="3")
    browser.post(f"/runs/{run}/draft", data=typed)
    assert _limit_in(browser.get(f"/runs/{run}/decide").text) == "3", "what was typed there is a draft, too"
    refused = browser.post(f"/runs/{run}/decide", data=typed)
    assert (refused.status_code, "somebody changed the limits meanwhile" in refused.text) == (422, True)
    zero = browser.post(f"/runs/{run}/decide", data=_sent(html, option="Go on", limits="0", cost_limit="0"))
    assert (zero.status_code, "with 0 nothing could run" in zero.text) == (422, True)
    browser.post(f"/runs/{run}/decide", data=_sent(html, option="Go on", limits="0", cost_limit=""))
    state = made.state(run)
    assert (state.record.decisions[1].option, state.record.ceiling) == ("Go on", 5.0)


def _limit_in(html: str) -> str:
    found = re.search(r'name="cost_limit"[^>]* value="([^"]*)"', html)
    return found[1] if found else ""


TWICE = """
name: twice
agents: {writer: {}}
phases:
  - id: draft
    rounds: {max: 5}
    agents: [writer]
    checkpoint:
      question: Good?
      fields: [{id: pick, type: choice, options: [a, b], prompt: Which?}]
      options:
        - {label: Redo, fields: [{id: reason, type: text, prompt: Why?, required: true}], then: again}
        - {label: Drop, fields: [{id: reason, type: text, prompt: Why?, required: true}], then: {end: dropped}}
"""


def test_two_options_may_ask_for_fields_of_one_name(made: Ground, browser: TestClient) -> None:
    run = made.engine.start(parse_workflow(TWICE), by="Olga")
    made.drive(run)
    html = browser.get(f"/runs/{run}/decide").text
    filled = {"field:1|reason": "not this", "field:2|reason": "Nobody needs it.", "field:pick": "b"}
    answer = browser.post(f"/runs/{run}/decide", data=_sent(html, option="Drop", **filled))
    assert answer.status_code == 303, answer.text
    taken = made.state(run).record.decisions[1]
    assert json.loads(made.engine.log.artefact(taken.fields)) == {"pick": "b", "reason": "Nobody needs it."}


def test_what_was_typed_comes_back_where_one_may_no_longer_say_it(made: Ground, browser: TestClient) -> None:
    """A role can be lowered while a page is open."""
    run = made.parked()
    sent = _sent(browser.get(f"/runs/{run}/decide").text, option="Go on", words="Mind the cart.")
    refused = browser.post(f"/runs/{run}/decide", data=sent, headers=made.person("vera", "viewer", cookie=True))
    assert (refused.status_code, ">Mind the cart.</textarea>" in refused.text) == (403, True)


def test_the_ledger_settles_replaces_and_takes_back_where_one_reads_it(made: Ground, browser: TestClient) -> None:
    run = made.parked()
    for text in ("Name the carrier.", "Say when.", "Debt is 150M."):
        made.engine.submit(run, c.AddRemark(c.RemarkIn(text), ANN))
    at = f"/runs/{run}/ledger"
    assert all(f'aria-label="{word} FB-001"' in browser.get(at).text for word in ("Settle", "Withdraw", "Replace"))
    for remark, sent in (
        ("FB-001", {"do": "settle"}),
        ("FB-002", {"do": "withdraw"}),
        ("FB-003", {"do": "replace", "text": "Debt is 155M."}),
        ("FB-004", {"do": "replace", "text": "  "}),
    ):
        answer = browser.post(f"{at}/{remark}", data=sent)
        assert (answer.status_code, answer.headers["location"]) == (303, f"{at}#{remark}")
    record = made.state(run).record
    assert (set(record.settled), set(record.withdrawn), dict(record.replaced)) == ({1}, {2, 3}, {3: "FB-004"})
    page = browser.get(at).text
    assert re.search(f">{ANN}[^<]* says that it is answered.", page)
    assert 'aria-label="Settle FB-001"' not in page
    assert '>replaced</span> by <a href="#FB-004">' in page
    browser.headers.update(made.person("eve", "viewer", cookie=True))
    assert 'value="settle"' not in browser.get(at).text
    assert browser.post(f"{at}/FB-004", data={"do": "settle"}).status_code == 403
