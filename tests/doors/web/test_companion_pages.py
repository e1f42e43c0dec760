"""The companion beside a run: it answers, and only a person's click does what it proposes."""

from __future__ import annotations

import pytest
from tests.doors.web.conftest import HOST, Desk, Parsed, engine

from reconvene.app.views.companion_talk import Proposed, Said
from reconvene.companion.kept_talk import OfRun

RUN = "market-entry-1"
_FROM = {"origin": f"http://{HOST}"}


def propose(desk: Desk, *proposals: Proposed) -> None:
    opened = engine(desk.home)
    OfRun(opened, RUN).add(Said("companion", "As you like.", by="ann", door="browser", proposals=proposals))
    opened.log.close()


def test_a_question_is_answered_on_record_without_a_script(own_desk: Desk) -> None:
    assert own_desk.post(f"/runs/{RUN}/companion", question="What phase is it on?") == f"/runs/{RUN}/companion#last"
    page = Parsed(own_desk.get(f"/runs/{RUN}/companion"))

    assert "What phase is it on?" in page.text
    assert [one.role for one in OfRun(engine(own_desk.home), RUN).entries()] == ["person", "companion"]


def test_with_a_script_the_answer_comes_as_a_stream(own_desk: Desk) -> None:
    answer = own_desk.client.post(
        f"/runs/{RUN}/companion", data={"question": "What phase is it on?"},
        headers={**_FROM, "accept": "text/event-stream"},
    )  # fmt: skip

    assert answer.headers["content-type"].startswith("text/event-stream")
    assert "event: answer" in answer.text
    assert "What phase is it on?" in own_desk.get(f"/runs/{RUN}/companion/conversation")


def test_every_page_of_a_run_has_the_companion_beside_it(desk: Desk) -> None:
    for part in ("", "/files", "/work", "/talk", "/ledger", "/calls", "/comments", "/events"):
        forms = [own.get("action", "") for tag, own in Parsed(desk.get(f"/runs/{RUN}{part}")).elements if tag == "form"]
        assert f"/runs/{RUN}/companion" in forms


def test_a_draft_becomes_a_remark_only_by_a_click_and_in_the_persons_words(own_desk: Desk) -> None:
    propose(own_desk, Proposed("remark", "correction: Debt is 500, not 440"))
    own_desk.get(f"/runs/{RUN}/companion")
    assert not engine(own_desk.home).load(RUN).record.remarks

    own_desk.post(f"/runs/{RUN}/companion/carry-out", number="1", words="correction: Debt is 510, not 440")
    said = [one.text for one in engine(own_desk.home).load(RUN).record.remarks.values()]
    assert said == ["Debt is 510, not 440"]


def test_an_edit_is_applied_once_and_refused_where_the_file_has_changed(own_desk: Desk) -> None:
    opened = engine(own_desk.home)
    path, version = sorted(opened.load(RUN).world.files.items())[0]
    propose(
        own_desk,
        Proposed("edit", "shorter", path, before=version.digest, after="new\n"),
        Proposed("edit", "otherwise", path, before=version.digest, after="other\n"),
    )
    assert "+new" in own_desk.get(f"/runs/{RUN}/companion")

    own_desk.post(f"/runs/{RUN}/companion/carry-out", number="1")
    assert own_desk.get(f"/runs/{RUN}/raw?path={path}") == "new\n"
    refused = own_desk.post(f"/runs/{RUN}/companion/carry-out", 422, number="2")
    assert "has changed since this edit was proposed" in refused
    assert "no proposal 9" in own_desk.post(f"/runs/{RUN}/companion/carry-out", 404, number="9")


def test_an_empty_question_and_a_citation_of_nothing_are_told(own_desk: Desk) -> None:
    assert "the question is empty" in own_desk.post(f"/runs/{RUN}/companion", 422, question=" ")
    assert "is not found" in own_desk.get(f"/runs/{RUN}/cite?of=none.md:3", 404)


def test_what_a_model_looks_at_and_writes_is_told_while_it_works(
    own_desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    from reconvene.testing.openai_server import Calls, OpenAIServer, Say

    look = ("list_workspace_files", "{}")
    with OpenAIServer(Calls((look,)), Say("There are <b>two</b> files.")) as server:
        monkeypatch.setenv("OPENAI_API_KEY", "none")
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        monkeypatch.setenv("RECONVENE_COMPANION_MODEL", "openai:gpt-4o-mini")
        answer = own_desk.client.post(
            f"/runs/{RUN}/companion", data={"question": "Which files?"},
            headers={**_FROM, "accept": "text/event-stream"},
        )  # fmt: skip

    assert "list_workspace_files" in answer.text.partition("event: answer")[0]
    assert "There are &lt;b&gt;two&lt;/b&gt; files." in own_desk.get(f"/runs/{RUN}/companion")
