"""What the agents of a step share at the beginning of their prompts is cached where a provider wants to be told so."""

from __future__ import annotations

import asyncio
import json

import pytest

from reconvene.adapters.agents import Agents
from reconvene.adapters.agents.prompt_cache import Beginnings
from reconvene.core.definition.workflow import Agent
from reconvene.ports import Assignment
from reconvene.testing.openai_server import OpenAIServer, Say, Seen
from reconvene.testing.provider_faults import ANTHROPIC

SHARED = "<document-m>\n" + "All of us read this. " * 300 + "\n</document-m>"
CLAUDE, GPT = "anthropic:claude-sonnet-5", "openai:gpt-4o-mini"
ENVIRON = {"OPENAI_API_KEY": "sk-1", "ANTHROPIC_API_KEY": "sk-2"}


def assigned(server: OpenAIServer, name: str, model: str = CLAUDE, shared: str = SHARED, **more: object) -> Assignment:
    url = server.url.removesuffix("/v1") if model == CLAUDE else server.url
    agent = Agent(name, model=model, options={"base_url": url})
    prompt = f"{shared}\n\n<role-m>\nYou are {name}.\n</role-m>\n"
    given = Assignment("run-1", f"R1/0/{name}", 1, agent, prompt, {}, (), None, system="The rules.", shared=len(shared))
    return given._replace(**more)  # type: ignore[arg-type]


def ask(*every: Assignment) -> list[object]:
    async def all_of_them() -> list[object]:
        agents = Agents("unused", ENVIRON)
        return list(await asyncio.gather(*(agents.run(one, print) for one in every), return_exceptions=True))

    return asyncio.run(all_of_them())


def sent(seen: Seen) -> list[dict[str, object]]:
    (message,) = seen.body["messages"]  # type: ignore[misc]
    assert isinstance(message, dict)
    content = message["content"]
    return content if isinstance(content, list) else [{"text": content}]


def test_the_cached_part_ends_with_what_is_shared_and_nothing_is_lost() -> None:
    with OpenAIServer(ANTHROPIC["fine"]) as server:
        one = assigned(server, "ann")
        ask(one)
    first, rest = sent(server.requests[0])
    assert first["text"] == SHARED
    assert first["cache_control"] == {"type": "ephemeral", "ttl": "5m"}
    assert "cache_control" not in rest
    assert f"{first['text']}{rest['text']}" == one.prompt
    assert "The rules." in json.dumps(server.requests[0].body["system"])


@pytest.mark.parametrize("shared", ["Too short for any cache.", ""])
def test_what_is_short_or_nobodys_elses_is_sent_as_it_is(shared: str) -> None:
    with OpenAIServer(ANTHROPIC["fine"]) as server:
        one = assigned(server, "ann", shared=shared)
        ask(one)
    assert "cache_control" not in json.dumps(server.requests[0].body)
    assert [part["text"] for part in sent(server.requests[0])] == [one.prompt]


def test_who_works_alone_pays_for_no_cache() -> None:
    with OpenAIServer(ANTHROPIC["fine"]) as server:
        ask(assigned(server, "ann", shared=SHARED)._replace(shared=0))
    assert "cache_control" not in json.dumps(server.requests[0].body)


def test_providers_that_find_it_themselves_get_one_text() -> None:
    with OpenAIServer(Say("fine")) as server:
        one = assigned(server, "ann", GPT)
        ask(one)
    assert server.requests[0].body["messages"] == [
        {"role": "system", "content": "The rules."},
        {"role": "user", "content": one.prompt},
    ]


def test_the_agents_of_a_step_send_the_same_beginning() -> None:
    with OpenAIServer(ANTHROPIC["fine"]) as server:
        answers = ask(*(assigned(server, name) for name in ("ann", "ben", "cid", "dan")))
    assert [getattr(answer, "text", answer) for answer in answers] == ["fine"] * 4
    assert len({json.dumps([seen.body["system"], sent(seen)[0]]) for seen in server.requests}) == 1


def test_where_the_first_fails_the_others_go_on() -> None:
    with OpenAIServer(ANTHROPIC["529"], ANTHROPIC["fine"]) as server:
        answers = ask(*(assigned(server, name) for name in ("ann", "ben", "cid")))
    assert sorted(type(answer).__name__ for answer in answers) == ["Answer", "Answer", "ReplyError"]


def turns(*every: Assignment) -> list[str]:
    """What happens in which order where these begin at the same time."""
    happened: list[str] = []

    async def turn(beginnings: Beginnings, one: Assignment) -> None:
        async with beginnings.turn(one, one.agent.model.partition(":")[0]) as reply_begins:
            for what in (f"{one.agent.name} asks", f"{one.agent.name} is answered"):
                happened.append(what)
                for _ in range(20):
                    await asyncio.sleep(0)
                reply_begins()

    async def all_of_them() -> None:
        beginnings = Beginnings()
        await asyncio.gather(*(turn(beginnings, one) for one in every))

    asyncio.run(all_of_them())
    return happened


def test_the_others_wait_until_the_reply_to_the_first_has_begun() -> None:
    """A beginning that is still on its way into the cache helps nobody, and each would pay for putting it there."""
    with OpenAIServer() as server:
        three = [assigned(server, name) for name in ("ann", "ben", "cid")]
        assert turns(*three)[:4] == ["ann asks", "ann is answered", "ben asks", "cid asks"]


def test_nobody_waits_for_another_beginning_or_where_no_cache_is_told() -> None:
    with OpenAIServer() as server:
        assert turns(assigned(server, "ann"), assigned(server, "ben", shared=SHARED + "!"))[1] == "ben asks"
        assert turns(assigned(server, "ann", GPT), assigned(server, "ben", GPT))[1] == "ben asks"
