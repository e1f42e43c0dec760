"""Vectors from a provider: what is sent to a real server on loopback, and what is said where it fails."""

from __future__ import annotations

import asyncio
import json

import numpy as np
import pytest

from reconvene.adapters.agents.embedding import ProviderVectors
from reconvene.search_ports import Unembedded
from reconvene.testing.openai_server import Fail, OpenAIServer, Reply, Seen, Wire

JSON = (("content-type", "application/json"),)
MODEL = "openai:text-embedding-3-small"


def embeds(seen: Seen) -> Reply:
    """A vector of a text: its length, and how many blanks it has."""
    texts = seen.body["input"]
    assert isinstance(texts, list)
    rows = [
        {"object": "embedding", "index": at, "embedding": [float(len(text)), float(text.count(" "))]}
        for at, text in enumerate(texts)
    ]
    usage = {"prompt_tokens": 1, "total_tokens": 1}
    whole = {"object": "list", "data": rows, "model": seen.body["model"], "usage": usage}
    return Wire((json.dumps(whole).encode(),), headers=JSON)


def vectors(server: OpenAIServer, **environ: str) -> ProviderVectors:
    said = {"OPENAI_BASE_URL": server.url, "OPENAI_API_KEY": "sk-loopback", **environ}
    return ProviderVectors(MODEL, said, lambda text: text.replace("hunter2", "[secret]"))


def test_texts_go_to_the_provider_and_its_vectors_come_back_at_length_one():
    with OpenAIServer(embeds) as server:
        made = vectors(server).embed(["four", "a b c"])
        asked = vectors(server).embed(["four"], query=True)
    assert [np.frombuffer(one, np.float32).tolist() for one in made] == [
        [1.0, 0.0],
        pytest.approx([5 / 29**0.5, 2 / 29**0.5]),
    ]
    assert asked == made[:1]
    assert server.requests[0].path == "/v1/embeddings"
    assert server.requests[0].body["model"] == "text-embedding-3-small"
    assert server.requests[0].headers["authorization"] == "Bearer sk-loopback"


def test_secrets_are_taken_out_before_anything_is_sent_and_empty_texts_have_no_vector():
    with OpenAIServer(embeds) as server:
        made = vectors(server).embed(["the password is hunter2", "  "])
    assert server.requests[0].body["input"] == ["the password is [secret]", "-"]
    assert made[1] == b""


def test_it_can_be_asked_from_within_an_event_loop():
    async def inside() -> list[bytes]:
        return vectors(server).embed(["four"])

    with OpenAIServer(embeds) as server:
        assert asyncio.run(inside())


def test_a_local_server_is_asked_by_its_own_name_without_a_key():
    with OpenAIServer(embeds) as server:
        made = ProviderVectors("ollama:nomic-embed-text", {"OLLAMA_BASE_URL": server.url}, str).embed(["four"])
    assert len(made) == 1
    assert server.requests[0].body["model"] == "nomic-embed-text"


NOTHING = b'{"object": "list", "data": [], "model": "m", "usage": {"prompt_tokens": 1, "total_tokens": 1}}'


@pytest.mark.parametrize("reply", [Fail(401, "no such key"), Wire((NOTHING,), headers=JSON), Wire((b"<html>",))])
def test_what_fails_is_said_with_the_name_of_the_model(reply: Reply):
    with OpenAIServer(reply) as server, pytest.raises(Unembedded, match=MODEL) as raised:
        vectors(server).embed(["four"])
    assert "\n" not in str(raised.value)


def test_a_provider_that_there_is_not_is_said():
    with pytest.raises(Unembedded, match="nobody:nothing"):
        ProviderVectors("nobody:nothing", {}, str).embed(["four"])
