"""A model is told its contract once: by the provider where that tells it, in words elsewhere, and compactly."""

from __future__ import annotations

import asyncio
import json
from contextlib import suppress

import pytest

from reconvene.adapters.agents import Agents
from reconvene.core.definition.workflow import Agent
from reconvene.errors import AgentError
from reconvene.ports import Assignment
from reconvene.testing.openai_server import OpenAIServer, Reply, Say
from reconvene.testing.provider_faults import ANTHROPIC, GOOGLE, RESPONSES

SCHEMA = {
    "title": "Of no use to a model",
    "type": "object",
    "properties": {"weight_of_the_ship": {"type": "number"}},
    "required": ["weight_of_the_ship"],
    "additionalProperties": False,
}
KEYS = {"OPENAI_API_KEY": "k", "ANTHROPIC_API_KEY": "k", "GOOGLE_API_KEY": "k"}


def sent(model: str, reply: Reply, monkeypatch: pytest.MonkeyPatch, url: str = "", **more: object) -> tuple[str, str]:
    """The request, and of it the words."""
    with OpenAIServer(reply) as server:
        options: dict[str, object] = {}
        if model.startswith("openai:gpt-5"):
            monkeypatch.setenv("OPENAI_BASE_URL", server.url)  # for the library: to us it is OpenAI itself
        else:
            options = {"base_url": server.url if url == "v1" else server.url.removesuffix("/v1")}
        agent = Agent("a", model=model, options={**options, **more})
        work = Assignment("r", "R1/0/a", 1, agent, "Weigh it.\n", {}, (), SCHEMA, system="Rules.")
        with suppress(AgentError):
            asyncio.run(Agents("unused", KEYS).run(work, lambda _: None))
    body = server.requests[0].body
    words = [body.get(name) for name in ("system", "instructions", "messages", "input", "contents")]
    return json.dumps(body), json.dumps(words)


@pytest.mark.parametrize("output", ["native", "tool"])
@pytest.mark.parametrize(
    ("model", "reply"),
    [
        ("openai:gpt-5", RESPONSES["fine"]),
        ("anthropic:claude-sonnet-5", ANTHROPIC["fine"]),
        ("google:gemini-2.5-flash", GOOGLE["fine"]),
    ],
)
def test_a_provider_that_tells_the_model_is_given_no_words_about_it(
    model: str, reply: Reply, output: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    body, words = sent(model, reply, monkeypatch, output=output)
    assert "weight_of_the_ship" in body
    assert "weight_of_the_ship" not in words
    assert "Weigh it." in words


@pytest.mark.parametrize("model", ["openai:gpt-4o-mini", "ollama:qwen3", "vllm:own"])
def test_a_server_of_ones_own_holds_the_form_and_is_told_it_in_words_once(
    model: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    body, words = sent(model, Say('{"weight_of_the_ship": 3}'), monkeypatch, "v1")
    assert "weight_of_the_ship" in body.replace(words[1:-1], "")
    assert words.count("valid against this JSON Schema") == 1
    assert words.count("weight_of_the_ship") == 2, "among the properties, and as required"
    assert "Of no use to a model" not in words
