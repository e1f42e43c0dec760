"""Everything that providers do wrong, played by a real server on loopback: what becomes of it, and what is said."""

from __future__ import annotations

import asyncio
import json
import re
import socket
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple, get_args

import pytest

from reconvene.adapters.agents import Agents
from reconvene.adapters.agents.as_answer import ReplyError
from reconvene.adapters.agents.token_limits import NAMES, Limits
from reconvene.core.definition.workflow import Agent
from reconvene.errors import RETRYABLE, AgentError, Outcome
from reconvene.ports import Answer, Assignment
from reconvene.testing.openai_server import OpenAIServer, Raw, Reply, Say, Wire
from reconvene.testing.provider_faults import (
    ANTHROPIC,
    FAULTS,
    GOOGLE,
    RESPONSES,
    deaf_port,
    play,
    refused_port,
    self_signed,
    tool_call,
)

KEY = "sk-test-0123456789"
ENVIRON = {"OPENAI_API_KEY": KEY, "ANTHROPIC_API_KEY": KEY, "GOOGLE_API_KEY": KEY}
SCORE = {"type": "object", "properties": {"score": {"type": "number"}}, "required": ["score"]}
SHORT = {"stall before headers": "first_token_timeout", "stall before the first token": "first_token_timeout"}


class Fails(NamedTuple):
    outcome: Outcome
    says: str
    hint: str = ""
    after: float = 0.0


OUTCOMES: Mapping[str, Fails | str] = {  # what is said, where it is an answer
    "fine": "fine",
    "429": Fails("transport", "too many requests (429): slow down.", "It passes"),
    "429 retry-after": Fails("transport", "it asks to wait 7 s", "It passes", 7.0),
    "429 retry-after date": Fails("transport", "days (taken as 24 h)", "It passes", 86_400.0),
    "429 retry-after-ms": Fails("transport", "it asks to wait 1.5 s", "It passes", 1.5),
    "429 ratelimit reset": Fails("transport", "it asks to wait 90 s", "It passes", 90.0),
    "429 absurd": Fails("transport", "it asks to wait 1157 days (taken as 24 h)", "It passes", 86_400.0),
    "500": Fails("transport", "failed (500): on fire", "status page"),
    "502 page": Fails("transport", "failed (502): 502 Bad Gateway.", "status page"),
    "503": Fails("transport", "failed (503): be right back", "status page"),
    "503 retry-after": Fails("transport", "it asks to wait 3 s", "status page", 3.0),
    "504": Fails("transport", "failed (504)", "status page"),
    "529": Fails("transport", "failed (529): Overloaded", "status page"),
    "408": Fails("transport", "failed (408)", "status page"),
    "reset before headers": Fails("transport", "broke: the connection was reset", "usually passes"),
    "closed before headers": Fails("transport", "closed the connection without an answer", "usually passes"),
    "reset in the middle": Fails("cut", "not whole: the connection was reset", "usually passes"),
    "closed in the middle": Fails("cut", "closed the connection in the middle", "usually passes"),
    "stall before headers": Fails("transport", "sent no token within 0.3 s", "first_token_timeout"),
    "stall before the first token": Fails("transport", "sent no token within 0.3 s", "first_token_timeout"),
    "stall in between": Fails("transport", "fell silent: no token for 0.3 s", "token_timeout"),
    "slow drip": "abcdef",
    "no finish reason": Fails("cut", "does not say that it is whole", "stream: false"),
    "no finish reason, no [DONE]": Fails("cut", "does not say that it is whole", "stream: false"),
    "[DONE] missing": "Growth is 3 %.",
    "half a chunk": Fails("cut", "closed the connection in the middle", "usually passes"),
    "invalid JSON chunk": Fails("cut", "is broken", "usually passes"),
    "error in the stream": Fails("transport", "engine died", "status page"),
    "rate limit in the stream": Fails("transport", "too many requests (429): too many tokens", "It passes"),
    "wrong content type": Fails("transport", "answered with text/html, not as a model does", "base_url"),
    "an answer in one piece": Fails("usage", "answered in one piece, where a stream was asked for", "`stream: false`"),
    "gzip garbage": Fails("cut", "compressed data that cannot be read", "proxy"),
    "nothing at all": Fails("cut", "an empty reply", "usually passes"),
    "redirect": Fails("usage", "redirects to http://127.0.0.1:9/login (302)", "base_url"),
    "empty choices": Fails("cut", "does not say that it is whole", "stream: false"),
    "empty content": Fails("empty", "replied with nothing", "Another try"),
    "only blanks": Fails("empty", "replied with nothing", "Another try"),
    "401": Fails("authentication", "did not accept the key (401)", "OPENAI_API_KEY"),
    "403": Fails("authentication", "does not allow this with this key (403): Your country", "OPENAI_API_KEY"),
    "404 model": Fails("not_found", "was not found (404)", "Check the model's name"),
    "404 ollama": Fails("not_found", "try pulling it first", "`ollama pull qwen9`"),
    "400 context length": Fails("too_long", "The prompt is too long", "larger context window"),
    "400 llama.cpp context": Fails("too_long", "The prompt is too long", "larger context window"),
    "413": Fails("too_long", "The prompt is too long", "larger context window"),
    "402": Fails("quota", "the account is used up (Payment required)", "Top up"),
    "429 insufficient quota": Fails("quota", "the account is used up (You exceeded", "Top up"),
    "400 bad request": Fails("usage", "refused the request (400): Unsupported value", "options"),
    "400 content policy": Fails("filter", "filtered the prompt (400)", "in other words"),
    "content filter": Fails("filter", "content filter stopped the reply", "in other words"),
    "length": Fails("length", "reached its limit of output tokens", "max_tokens"),
    "refusal": Fails("refusal", "refused to answer: I cannot help with that.", "Change what is asked"),
    "unasked tool call": Fails("tool_call", "called 'search', but it was given no such tool", "another one"),
    "think tags": "It is 3.",
    "think tags split": "It is 3.",
    "think tag never opened": "It is 3.",
    "think tag never closed": Fails("empty", "only thought", "think less"),
    "thinking tags": "It is 3.",
    "reasoning tags": "It is 3.",
    "only thinking": Fails("empty", "only thought", "think less"),
    "reasoning_content": "It is 3.",
    "reasoning field": "It is 3.",
    "only reasoning_content": Fails("empty", "only thought", "think less"),
    "draft, then final": '{"score": 3}',
    "thought JSON, then final": '{"score": 3}',
    "broken JSON": Fails("form", "should be JSON"),
    "JSON of another form": Fails("form", "'score' is missing"),
}
OF_ANTHROPIC: Mapping[str, Fails | str] = {
    "fine": "fine",
    "no finish reason": Fails("cut", "does not say that it is whole", "stream: false"),
    "closed in the middle": Fails("cut", "closed the connection in the middle", "usually passes"),
    "stall in between": Fails("transport", "fell silent: no token for 0.3 s", "token_timeout"),
    "length": Fails("length", "limit of output tokens", "max_tokens"),
    "refusal": Fails("refusal", "The model refused to answer.", "Change what is asked"),
    "thinking": "It is 3.",
    "error in the stream": Fails("transport", "Overloaded", "status page"),
    "529": Fails("transport", "failed (529): Overloaded", "status page"),
}
OF_RESPONSES: Mapping[str, Fails | str] = {
    "fine": "Growth is 3 %.",
    "no finish reason": Fails("cut", "does not say that it is whole", "stream: false"),
    "closed in the middle": Fails("cut", "closed the connection in the middle", "usually passes"),
    "length": Fails("length", "limit of output tokens", "max_tokens"),
    "error in the stream": Fails("transport", "engine died", "status page"),
    "refusal": Fails("refusal", "refused to answer: I cannot.", "Change what is asked"),
}
OF_GOOGLE: Mapping[str, Fails | str] = {
    "fine": "fine",
    "no finish reason": Fails("cut", "does not say that it is whole", "stream: false"),
    "closed in the middle": Fails("cut", "closed the connection in the middle", "usually passes"),
    "stall in between": Fails("transport", "fell silent: no token for 0.3 s", "token_timeout"),
    "length": Fails("length", "limit of output tokens", "max_tokens"),
    "content filter": Fails("filter", "stopped the reply (SAFETY)", "in other words"),
    "prompt blocked": Fails("filter", "stopped the prompt (PROHIBITED_CONTENT)", "in other words"),
    "thinking": "It is 3.",
    "429": Fails("transport", "it asks to wait 34 s", "It passes", 34.0),
}


def assign(url: str, model: str = "openai:gpt-4o-mini", schema: object = None, **options: object) -> Assignment:
    agent = Agent(name="economist", kind="model", model=model, timeout=120.0, options={"base_url": url, **options})
    return Assignment("run-1", "R1/0/economist", 1, agent, "Say something.", {}, (), schema)


def ask(assignment: Assignment) -> Answer:
    return asyncio.run(Agents("/nowhere", ENVIRON).run(assignment, lambda _: None))


def fails(assignment: Assignment) -> AgentError:
    with pytest.raises(AgentError) as caught:
        ask(assignment)
    return caught.value


def limits(name: str) -> dict[str, object]:
    """Small ones where silence is the point, so that nothing else is taken for it."""
    if name == "slow drip":
        return {"token_timeout": 2}
    return {SHORT.get(name, "token_timeout"): 0.3} if "stall" in name else {}


def check(assignment: Assignment, expected: Fails | str) -> None:
    if isinstance(expected, str):
        answer = ask(assignment)
        assert (json.dumps(answer.value) if answer.has_value else answer.text) == expected
        return
    error = fails(assignment)
    assert error.outcome == expected.outcome
    assert error.retryable == RETRYABLE[expected.outcome]
    assert expected.says in error.message
    assert expected.hint in error.hint
    assert bool(error.hint) is (expected.outcome != "form")
    assert error.retry_after == pytest.approx(expected.after)
    assert error.of_provider is (expected.outcome in ("transport", "cut"))
    assert_fit_for_prompts(error)
    assert isinstance(error, ReplyError)
    assert b"Say something." in error.request


def assert_fit_for_prompts(error: AgentError) -> None:
    assert error.for_agents
    assert not re.search(r"127\.0\.0\.1|localhost|https?:|:\d{4,5}|base_url|invalid", error.for_agents)
    assert KEY not in error.message + error.hint + error.for_agents


@pytest.mark.parametrize("name", FAULTS)
def test_each_fault_has_its_outcome_and_says_what_to_do(name: str) -> None:
    schema = SCORE if ("JSON" in name and "chunk" not in name) or "draft" in name else None
    with OpenAIServer(FAULTS[name]) as server:
        check(assign(server.url, schema=schema, **limits(name)), OUTCOMES[name])
        assert len(server.requests) == 1  # nothing is tried again in secret


@pytest.mark.parametrize(
    ("model", "name", "reply", "expected"),
    [
        *(("anthropic:claude-sonnet-5", name, reply, OF_ANTHROPIC[name]) for name, reply in ANTHROPIC.items()),
        *(("google:gemini-2.5-flash", name, reply, OF_GOOGLE[name]) for name, reply in GOOGLE.items()),
    ],
)
def test_the_other_protocols_fail_in_the_same_words(model: str, name: str, reply: Reply, expected: Fails | str) -> None:
    with OpenAIServer(reply) as server:
        check(assign(server.url.removesuffix("/v1"), model, **limits(name)), expected)
        assert len(server.requests) == 1


@pytest.mark.parametrize("name", RESPONSES)
def test_the_newer_protocol_of_openai_too(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with OpenAIServer(RESPONSES[name]) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)  # for the library: to us it is OpenAI itself
        check(assign("", "openai:gpt-5"), OF_RESPONSES[name])
    assert [seen.path for seen in server.requests] == ["/v1/responses"]


@pytest.mark.parametrize("name", ["no finish reason", "closed in the middle", "404 ollama", "think tags", "length"])
def test_ollama_is_no_exception(name: str) -> None:
    with OpenAIServer(FAULTS[name]) as server:
        check(assign(server.url, "ollama:qwen9"), OUTCOMES[name])


def test_after_a_reply_that_was_cut_off_the_agent_is_told_to_write_less() -> None:
    with OpenAIServer(FAULTS["length"]) as server:
        told = fails(assign(server.url)).for_agents
    assert "Write less" in told
    assert "max_tokens" not in told


def test_faults_can_be_played_in_a_row() -> None:
    with OpenAIServer(*play("503", "reset in the middle", "429 retry-after", "fine")) as server:
        seen = [fails(assign(server.url)).outcome for _ in range(3)]
        assert ask(assign(server.url)).text == "fine"
    assert seen == ["transport", "cut", "transport"]
    assert len(server.requests) == 4


def test_nobody_listens() -> None:
    with refused_port() as url:
        check_network(fails(assign(url)), "connection refused", "Is the server running, and is base_url right?")
        check_network(fails(assign(url, "ollama:qwen3")), "connection refused", "`ollama serve`")


def test_nobody_accepts() -> None:
    with deaf_port() as url:
        error = fails(assign(url, connect_timeout=0.3))
        check_network(error, "no connection within 0.3 s", "Is the server running")
        error = fails(assign(url.removesuffix("/v1"), "google:gemini-2.5-flash", connect_timeout=0.3))
        check_network(error, "no connection within 0.3 s", "Is the server running")


def test_a_certificate_that_nobody_trusts() -> None:
    with OpenAIServer(Say("fine"), tls=self_signed()) as server:
        error = fails(assign(server.url))
    check_network(error, "its certificate is not trusted (self-signed certificate)", "SSL_CERT_FILE")
    assert not server.requests


def test_no_tls_where_it_is_expected() -> None:
    with OpenAIServer(Say("fine")) as server:
        error = fails(assign(server.url.replace("http:", "https:")))
    check_network(error, "it does not speak TLS (https)", "http:// instead of https://")


@pytest.mark.parametrize(
    ("number", "says"), [(socket.EAI_NONAME, "name not found"), (socket.EAI_AGAIN, "no name server answers")]
)
def test_a_name_that_is_not_found(number: int, says: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def nobody(*_: object, **__: object) -> object:
        raise socket.gaierror(number, "no such name")

    monkeypatch.setattr(socket, "getaddrinfo", nobody)
    check_network(fails(assign("http://models.invalid/v1")), says, "base_url" if "name not" in says else "HTTPS_PROXY")


@pytest.mark.parametrize("scheme", ["http", "https"])
@pytest.mark.parametrize(
    ("status", "outcome", "says"),
    [(407, "authentication", "the proxy wants a name and a password"), (502, "transport", "502")],
)
def test_a_proxy_in_between(
    scheme: str, status: int, outcome: Outcome, says: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with OpenAIServer(Wire((b"no",), status, (("content-type", "text/plain"),))) as proxy:
        monkeypatch.setenv(f"{scheme}_proxy", proxy.url.removesuffix("/v1"))
        monkeypatch.setenv("no_proxy", "")
        error = fails(assign(f"{scheme}://models.invalid/v1"))
    if scheme == "https" and status != 407:
        says = "the proxy does not let it through"
    assert error.outcome == outcome
    assert says in error.message
    assert_fit_for_prompts(error)


def check_network(error: AgentError, says: str, hint: str) -> None:
    assert error.outcome == "transport"
    assert error.retryable
    assert says in error.message
    assert hint in error.hint
    assert_fit_for_prompts(error)


MENTIONS = "# Tags\n\nModels write <think> and </think>, or `<think>`:\n\n```\n<think>\nx\n</think>\n```\n"


@pytest.mark.parametrize("stream", [True, False])
def test_a_document_about_thinking_is_not_mutilated(stream: bool) -> None:
    with OpenAIServer(Say(MENTIONS), Say("<think>about tags</think>" + MENTIONS)) as server:
        assert ask(assign(server.url, stream=stream)).text == MENTIONS
        assert ask(assign(server.url, stream=stream)).text == MENTIONS.strip()


def completion(finish: str | None = "stop", **message: object) -> Raw:
    choice = {"index": 0, "message": {"role": "assistant", "content": None, **message}, "finish_reason": finish}
    body = {"id": "c1", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}
    return Raw(json.dumps(body).encode())


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        (completion(content="<think>maybe 4</think>It is 3."), "It is 3."),
        (completion(content="It is 3.", reasoning_content="maybe 4"), "It is 3."),
        (completion(None, content="It is 3."), "It is 3."),  # whole, since all of it came
        (completion(refusal="I cannot."), Fails("refusal", "I cannot.", "Change")),
        (completion("length", content="It"), Fails("length", "cut short", "max_tokens")),
        (completion(content=""), Fails("empty", "nothing", "Another try")),
    ],
)
def test_replies_in_one_piece_are_read_in_the_same_way(reply: Raw, expected: Fails | str) -> None:
    with OpenAIServer(reply) as server:
        check(assign(server.url, stream=False), expected)


def test_thinking_between_two_pieces_of_text_does_not_break_them() -> None:
    pieces = [{"content": '{"sco'}, {"reasoning_content": "hm"}, {"content": 're": 3}'}]
    chunks = [{"index": 0, "delta": delta, "finish_reason": None} for delta in pieces]
    chunks.append({"index": 0, "delta": {}, "finish_reason": "stop"})
    wire = Wire(tuple(f"data: {json.dumps({'id': 'c', 'choices': [one]})}\n\n".encode() for one in chunks))
    with OpenAIServer(wire) as server:
        assert ask(assign(server.url, schema=SCORE)).value == {"score": 3}


def test_only_the_tool_that_was_offered_counts_as_an_answer() -> None:
    with OpenAIServer(Wire(tool_call("search", '{"score": 3}')), Wire(tool_call("answer", '{"score": 3}'))) as server:
        assert fails(assign(server.url, schema=SCORE, output="tool")).outcome == "tool_call"
        assert ask(assign(server.url, schema=SCORE, output="tool")).value == {"score": 3}


def test_what_was_said_before_a_break_can_be_read_by_the_person() -> None:
    with OpenAIServer(*play("no finish reason", "length")) as server:
        assert fails(assign(server.url)).said == "Growth is 3"
        assert fails(assign(server.url)).said == "Growth is"


def test_an_answer_that_never_ends_is_too_slow_and_no_fault_of_the_provider() -> None:
    with OpenAIServer(*play("fine", "stall in between")) as server:
        ask(assign(server.url))  # all that is imported late is there
        error = fails(assign(server.url, timeout=1))
    assert "was still writing after 1 s" in error.message
    assert not error.of_provider
    assert_fit_for_prompts(error)


@pytest.mark.parametrize("option", ["connect_timeout", "first_token_timeout", "token_timeout", "timeout"])
@pytest.mark.parametrize("value", ["soon", 0, -1, True, [1]])
def test_a_limit_that_is_none_is_refused(option: str, value: object) -> None:
    error = fails(assign("http://127.0.0.1:9/v1", **{option: value}))
    assert error.outcome == "usage"
    assert option in error.message


def test_limits_may_be_written_with_a_unit() -> None:
    with OpenAIServer(Say("fine")) as server:
        assert (
            ask(assign(server.url, first_token_timeout="20m", token_timeout="90s", connect_timeout="5s")).text == "fine"
        )


def test_every_outcome_is_in_the_table_and_every_fault_in_the_test() -> None:
    assert set(OUTCOMES) == set(FAULTS)
    assert set(OF_ANTHROPIC) == set(ANTHROPIC)
    assert set(OF_GOOGLE) == set(GOOGLE)
    assert set(OF_RESPONSES) == set(RESPONSES)
    assert len(FAULTS) >= 30
    played = {expected.outcome for expected in OUTCOMES.values() if isinstance(expected, Fails)}
    assert played == set(RETRYABLE) - {"other"}
    assert set(RETRYABLE) == set(get_args(Outcome))


def test_the_documents_list_every_outcome_and_every_limit() -> None:
    page = (Path(__file__).parents[3] / "docs" / "language.md").read_text()
    rows = dict(re.findall(r"^\| `(\w+)` \|[^|]+\| (yes|no|it depends) \|$", page, re.MULTILINE))
    assert rows == {each: "yes" if again else "no" for each, again in RETRYABLE.items()} | {"other": "it depends"}
    limits = Limits()
    for name, default in zip(NAMES, (limits.connect, limits.first_token, limits.token)):
        assert re.search(rf"^\| `{name}` \|.* default {default:g} \|$", page, re.MULTILINE)
