"""Model agents against a real HTTP server on loopback that speaks the OpenAI protocol. No provider is ever called."""

from __future__ import annotations

import asyncio
import json
import socket
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from reconvene.adapters.agents import Agents
from reconvene.adapters.agents.as_answer import ReplyError
from reconvene.core.definition.workflow import Agent
from reconvene.errors import AgentError
from reconvene.ports import Answer, Assignment, Progress
from reconvene.testing.openai_server import Call, Drop, Fail, Hang, OpenAIServer, Raw, Say

KEY = "sk-test-0123456789"
ENVIRON = {"OPENAI_API_KEY": KEY, "OTHER_PASSWORD": "hunter2-hunter2"}
SCORE = {
    "type": "object",
    "properties": {"score": {"type": "number"}, "why": {"type": "string"}},
    "required": ["score"],
}


def assign(
    server: OpenAIServer | None,
    *,
    model: str = "openai:gpt-4o-mini",
    prompt: str = "Say something.",
    writes: tuple[str, ...] = (),
    schema: object = None,
    timeout: float = 120.0,
    **options: object,
) -> Assignment:
    if server is not None:
        options.setdefault("base_url", server.url)
    agent = Agent(name="economist", kind="model", model=model, timeout=timeout, options=options)
    return Assignment("run-1", "R1/0/economist", 1, agent, prompt, {}, writes, schema)


def ask(assignment: Assignment, heard: list[Progress] | None = None, environ: Mapping[str, str] = ENVIRON) -> Answer:
    listener = heard.append if heard is not None else lambda _: None
    return asyncio.run(Agents("/nowhere", environ).run(assignment, listener))


def fails(assignment: Assignment, environ: Mapping[str, str] = ENVIRON) -> AgentError:
    with pytest.raises(AgentError) as caught:
        ask(assignment, environ=environ)
    return caught.value


@pytest.mark.parametrize("stream", [True, False])
def test_a_model_answers_with_usage_and_cost(stream: bool) -> None:
    heard: list[Progress] = []
    with OpenAIServer(Say("Growth is 3 %. " * 40, input_tokens=1000, output_tokens=500)) as server:
        answer = ask(assign(server, stream=stream, temperature=0.5, max_tokens=900, seed=7), heard)
    assert answer.text == "Growth is 3 %. " * 40
    assert not answer.has_value
    assert (answer.usage.input_tokens, answer.usage.output_tokens, answer.usage.requests) == (1000, 500, 1)
    assert answer.usage.model == "openai:gpt-4o-mini"
    assert answer.usage.cost == pytest.approx(1000 * 0.15e-6 + 500 * 0.60e-6)
    body = server.requests[0].body
    assert body["model"] == "gpt-4o-mini"
    assert body["temperature"] == 0.5
    assert body["seed"] == 7
    assert 900 in (body.get("max_tokens"), body.get("max_completion_tokens"))
    assert bool(body.get("stream")) is stream
    assert server.requests[0].prompt == "Say something.\n"
    assert heard[-1] == Progress("run-1", "R1/0/economist", "economist", "tokens", tokens=500)
    assert len(heard) > 1 or not stream
    assert "".join(one.detail for one in heard if one.what == "text") == (answer.text if stream else "")


def test_a_model_that_nobody_has_a_price_for_costs_nothing() -> None:
    with OpenAIServer(Say("hello")) as server:
        assert ask(assign(server, model="my-own-model:8b")).usage.cost == 0.0
        assert ask(assign(server, model="auto")).usage.cost == 0.0
    assert server.requests[0].body["model"] == "my-own-model:8b"


def test_request_and_reply_are_kept_as_sent_with_keys_blanked() -> None:
    with OpenAIServer(Say("You said hunter2-hunter2.")) as server:
        answer = ask(assign(server, prompt=f"My password is hunter2-hunter2, my key {KEY}."))
    assert server.requests[0].headers["authorization"] == f"Bearer {KEY}"
    request = json.loads(answer.request)
    assert request["url"] == server.url + "/chat/completions"
    assert request["body"]["messages"][0]["content"] == "My password is [redacted], my key [redacted].\n"
    assert b"hunter2" not in answer.request + answer.reply
    assert KEY.encode() not in answer.request + answer.reply
    assert b"data: [DONE]" in answer.reply


def test_the_key_comes_from_the_named_variable() -> None:
    with OpenAIServer(Say("x")) as server:
        ask(assign(server, api_key_env="MY_KEY"), environ={"MY_KEY": "my-own-key-123", "OPENAI_API_KEY": KEY})
        ask(assign(server), environ={})
    assert server.requests[0].headers["authorization"] == "Bearer my-own-key-123"
    assert server.requests[1].headers["authorization"] == "Bearer none"


def test_openai_base_url_in_the_environment_is_respected() -> None:
    with OpenAIServer(Say("from there")) as server:
        assert ask(assign(None), environ={"OPENAI_BASE_URL": server.url}).text == "from there"


def test_ollama_is_found_where_the_environment_says() -> None:
    with OpenAIServer(Say("from ollama")) as server:
        answer = ask(assign(None, model="ollama:llama3"), environ={"OLLAMA_BASE_URL": server.url})
    assert answer.text == "from ollama"
    assert answer.usage.cost == 0.0
    assert server.requests[0].body["model"] == "llama3"


def test_ollama_enforces_a_contract_itself() -> None:
    with OpenAIServer(Say('{"score": 2}')) as server:
        answer = ask(assign(None, model="ollama:llama3", schema=SCORE), environ={"OLLAMA_BASE_URL": server.url})
    assert answer.value == {"score": 2}
    assert server.requests[0].body["response_format"]["type"] == "json_schema"  # type: ignore[index]


@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize(
    ("output", "reply"),
    [
        ("prompted", Say('Sure:\n```json\n{"score": 4.5}\n```')),
        ("native", Say('{"score": 4.5}')),
        ("tool", Call('{"score": 4.5}')),
        ("tool", Say('{"score": 4.5}')),
        ("", Say('{"score": 4.5}')),
    ],
)
def test_a_contract_is_kept_in_every_way_of_asking(output: str, reply: Say | Call, stream: bool) -> None:
    with OpenAIServer(reply) as server:
        answer = ask(assign(server, schema=SCORE, output=output, stream=stream))
    assert answer.has_value
    assert answer.value == {"score": 4.5}
    body = server.requests[0].body
    assert ("tools" in body) is (output == "tool")
    assert ("response_format" in body) is (output in ("native", ""))
    assert ('"score"' in server.requests[0].prompt) is (output != "tool")


def test_a_contract_for_a_list_works_as_well() -> None:
    with OpenAIServer(Say('[{"a": 1}]')) as server:
        assert ask(assign(server, schema={"type": "array"}, output="native")).value == [{"a": 1}]


@pytest.mark.parametrize(
    ("reply", "says"),
    [
        (Say('{"why": "no score"}'), "'score' is missing"),
        (Say('{"score": "high"}'), "score should be a number, not text"),
        (Say('{"score": 4'), "no valid JSON"),
        (Say("I cannot."), "holds no JSON"),
        (Say("  "), "replied with nothing"),
        (Call('{"score": '), "should be JSON"),
        (Call('{"score": []}'), "score should be a number, not a list"),
        (Say('{"score": 1}', finish="length"), "cut short"),
    ],
)
def test_a_reply_that_breaks_its_contract_is_sent_back_with_the_reason(reply: Say | Call, says: str) -> None:
    with OpenAIServer(reply) as server:
        error = fails(assign(server, schema=SCORE, output="tool" if isinstance(reply, Call) else "prompted"))
    assert says in error.message
    assert error.retryable
    assert len(server.requests) == 1
    assert isinstance(error, ReplyError)
    assert error.usage.requests == 1
    assert error.usage.input_tokens == 11
    assert error.request
    assert error.reply


@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize("body", [b"", b"<html>oops</html>", b'{"choices": []}', b'{"a": ', b"data: {oops\n\n", b"[]"])
def test_a_malformed_answer_of_the_server_is_an_agent_error(body: bytes, stream: bool) -> None:
    kind = "text/event-stream" if stream else "application/json"
    with OpenAIServer(Raw(body, kind)) as server:
        error = fails(assign(server, stream=stream))
    assert error.retryable
    assert error.message
    assert len(server.requests) == 1


def test_too_many_requests_tells_how_long_to_wait() -> None:
    with OpenAIServer(Fail(429, "slow down", retry_after=7), Say("now")) as server:
        error = fails(assign(server))
        assert ask(assign(server)).text == "now"
    assert error.retryable
    assert error.wait == 7.0
    assert "slow down" in error.message
    assert "7 s" in error.message
    assert len(server.requests) == 2


@pytest.mark.parametrize("status", [500, 502, 503, 529])
def test_a_failing_server_is_worth_another_attempt_but_not_in_secret(status: int) -> None:
    with OpenAIServer(Fail(status, "on fire")) as server:
        error = fails(assign(server))
    assert error.retryable
    assert str(status) in error.message
    assert "on fire" in error.message
    assert len(server.requests) == 1
    assert isinstance(error, ReplyError)
    assert error.usage.requests == 1


@pytest.mark.parametrize(
    ("status", "hint"), [(401, "OPENAI_API_KEY"), (403, "OPENAI_API_KEY"), (404, "base_url"), (400, ""), (422, "")]
)
def test_a_refusal_is_final_and_hints_at_the_cause(status: int, hint: str) -> None:
    with OpenAIServer(Fail(status, f"no, {KEY} will not do")) as server:
        error = fails(assign(server))
    assert not error.retryable
    assert hint in error.hint
    assert KEY not in error.message
    assert len(server.requests) == 1


def test_a_hang_ends_at_the_timeout() -> None:
    with OpenAIServer(Hang()) as server:
        error = fails(assign(server, timeout=0.5))
        assert "no answer within 0.5 s" in error.message
        assert server.url in error.message
    assert error.retryable


def test_a_dropped_connection_is_an_agent_error() -> None:
    with OpenAIServer(Drop(), Drop("The answer is")) as server:
        first = fails(assign(server))
        second = fails(assign(server))
    assert first.retryable
    assert second.retryable
    assert len(server.requests) == 2


def test_nobody_at_home_says_where_it_knocked() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound but not listening: refused for sure
        url = f"http://127.0.0.1:{taken.getsockname()[1]}/v1"
        error = fails(assign(None, base_url=url))
    assert url in error.message
    assert error.retryable
    assert "refused" in error.message.lower() or "connect" in error.message.lower()


def test_cancelling_ends_the_request() -> None:
    async def cancel() -> None:
        with OpenAIServer(Hang()) as server:
            task = asyncio.create_task(Agents("/nowhere", ENVIRON).run(assign(server), lambda _: None))
            assert await asyncio.to_thread(server.wait_for_requests, 1)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task

    asyncio.run(cancel())


def test_the_whole_reply_is_the_one_file_a_step_writes() -> None:
    with OpenAIServer(Say("# Plan\n\nGo.")) as server:
        answer = ask(assign(server, writes=("plan.md",)))
    assert answer.files == {"plan.md": b"# Plan\n\nGo.\n"}
    assert answer.text == "# Plan\n\nGo."


def test_several_files_come_in_blocks() -> None:
    reply = 'Here.\n<file path="a.md">\nA\n</file>\n<file path="../b.md">\nB\n</file>\n<file path="c.md">\nC\n</file>'
    with OpenAIServer(Say(reply)) as server:
        answer = ask(assign(server, writes=("a.md", "d/*.md")))
    assert answer.files == {"a.md": b"A\n"}
    assert answer.text == "Here."
    assert [line.partition(":")[0] for line in answer.ignored] == ["../b.md", "c.md"]
    assert "<file path=" in server.requests[0].prompt


def test_files_and_a_contract_go_together() -> None:
    reply = '{"score": 3}\n<file path="a.md">\nA\n</file>'
    with OpenAIServer(Say(reply)) as server:
        answer = ask(assign(server, writes=("*.md",), schema=SCORE))
    assert answer.files == {"a.md": b"A\n"}
    assert answer.value == {"score": 3}


@pytest.mark.parametrize(
    ("model", "says", "hint"),
    [
        ("openai:gpt-5", "OPENAI_API_KEY is not set", "doctor"),
        ("anthropic:claude-sonnet-5", "ANTHROPIC_API_KEY is not set", "doctor"),
        ("google:gemini-flash-latest", "GOOGLE_API_KEY is not set", "doctor"),
        ("nonsense:x", "no provider 'nonsense'", "base_url"),
        ("gpt-5", "which provider", "openai:"),
    ],
)
def test_a_model_that_cannot_be_asked_says_why(
    model: str, says: str, hint: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GOOGLE_API_KEY", "GEMINI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    error = fails(assign(None, model=model), environ={})
    assert not error.retryable
    assert says in error.message
    assert hint in error.hint


def test_hosted_providers_are_reached_with_our_own_client() -> None:
    """The other SDKs: a base_url of their own, one request, an honest error, nothing secret kept."""
    with OpenAIServer(Say("x")) as server:
        root = server.url.removesuffix("/v1")
        for model, name in (
            ("anthropic:claude-sonnet-5", "ANTHROPIC_API_KEY"),
            ("google:gemini-2.5-flash", "GOOGLE_API_KEY"),
        ):
            error = fails(assign(None, model=model, base_url=root), environ={name: "secret-key-123456"})
            assert "404" in error.message
            assert not error.retryable
            assert isinstance(error, ReplyError)
            assert b"Say something." in error.request
            assert b"secret-key-123456" not in error.request
    assert len(server.requests) == 2


def test_the_model_library_is_not_imported_before_a_model_works(tmp_path: Path) -> None:
    code = (
        "import sys, asyncio\n"
        "from reconvene.adapters.agents import Agents\n"
        "from reconvene.core.definition.workflow import Agent\n"
        "from reconvene.ports import Assignment\n"
        "agent = Agent(name='a', kind='command', command=('true',))\n"
        "asyncio.run(Agents(sys.argv[1], {'PATH': '/usr/bin:/bin'}).run(\n"
        "    Assignment('r', 'R1/0/a', 1, agent, '', {}, (), None), print))\n"
        "print([m for m in ('pydantic_ai', 'pydantic', 'httpx2', 'jsonschema', 'jinja2') if m in sys.modules])\n"
    )
    done = subprocess.run([sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True, check=False)
    assert done.stdout == "[]\n", done.stderr


def test_standing_rules_are_the_system_message_and_the_prompt_is_the_users() -> None:
    with OpenAIServer(Say("fine")) as server:
        answer = ask(assign(server)._replace(system="The rules."))
    roles = [(one["role"], one["content"]) for one in json.loads(answer.request)["body"]["messages"]]
    assert roles[0] == ("system", "The rules.")
    assert [role for role, _ in roles] == ["system", "user"]
    assert "The rules." not in roles[1][1]
