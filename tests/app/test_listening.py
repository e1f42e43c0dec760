"""A model's reading of feedback: taken when it keeps every word, never trusted to lose one."""

from __future__ import annotations

import asyncio

import pytest

from reconvene.adapters.agents import Agents
from reconvene.app.model_reader import Heard, hear
from reconvene.testing.openai_server import Fail, OpenAIServer, Say
from reconvene.testing.scripted import ScriptedAgents

TEXT = "Debt is $150M, not $100M. Good work."


def row(text: str, kind: str = "correction") -> dict[str, object]:
    return {"text": text, "kind": kind, "significance": "major", "reason": "half as much again"}


def asked(reply: object) -> Heard:
    return asyncio.run(hear(TEXT, ("economist",), ScriptedAgents({"listener": reply}), "openai:some"))


def test_without_a_model_the_rules_stand():
    heard = asyncio.run(hear(TEXT, (), ScriptedAgents({}), ""))
    assert heard.entries[0].remark.kind == "correction"
    assert heard.entries[0].model == ""


def test_a_models_reading_is_taken_with_its_opinion():
    heard = asked({"value": {"remarks": [row("Debt is $150M, not $100M."), row("Good work.", "comment")]}})
    assert [entry.remark.kind for entry in heard.entries] == ["correction", "comment"]
    assert {(entry.model, entry.level) for entry in heard.entries} == {("openai:some", "major")}
    assert heard.note == "read by openai:some"


def test_a_reading_that_loses_words_is_not_taken():
    heard = asked({"value": {"remarks": [row("Debt is $150M.")]}})
    assert "lost some of your words" in heard.note
    assert "not $100M" in heard.entries[0].remark.text


def test_a_model_that_fails_leaves_the_rules_and_says_so():
    with OpenAIServer(Fail(500)) as server:
        agents = Agents("/nonexistent", {"OPENAI_API_KEY": "test", "OPENAI_BASE_URL": server.url})
        heard = asyncio.run(hear(TEXT, (), agents, "openai:some"))
    assert "could not be asked" in heard.note
    assert heard.entries[0].remark.kind == "correction"


def test_a_real_reply_over_http_is_understood():
    import json

    said = json.dumps({"remarks": [row("Debt is $150M, not $100M. Good work.")]})
    with OpenAIServer(Say(said)) as server:
        agents = Agents("/nonexistent", {"OPENAI_API_KEY": "test", "OPENAI_BASE_URL": server.url})
        heard = asyncio.run(hear(TEXT, (), agents, "openai:some"))
    assert heard.note == "read by openai:some"
    assert heard.entries[0].reason == "half as much again"


def test_a_door_asks_the_configured_model_and_can_tell_who_read_it(monkeypatch: pytest.MonkeyPatch):
    import json

    from reconvene.doors.shared.remarks import understood, understood_better

    said = json.dumps({"remarks": [row(TEXT)]})
    with OpenAIServer(Say(said)) as server:
        monkeypatch.setenv("RECONVENE_FEEDBACK_MODEL", "openai:some")
        monkeypatch.setenv("OPENAI_API_KEY", "test")
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        rules = understood(TEXT, ("economist",))
        assert not server.requests
        found = understood_better(TEXT, ("economist",), rules)
    assert [entry.level for entry in found.entries] == ["major"]
    assert found.note == "read by openai:some"
