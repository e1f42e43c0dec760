"""Servers that speak the OpenAI protocol: found by name, sent the schema, and asked in words where they refuse it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from datetime import date, timedelta
from pathlib import Path

import pytest

from reconvene.adapters.agents import Agents, schema_support
from reconvene.core.definition.workflow import Agent
from reconvene.errors import AgentError
from reconvene.ports import Answer, Assignment
from reconvene.testing.openai_server import Fail, OpenAIServer, Reply, Say, Seen

SCORE = {"type": "object", "properties": {"score": {"type": "number"}}, "required": ["score"]}
NOT_HERE = "'response_format' of type 'json_schema' is not supported"


@pytest.fixture(autouse=True)
def fresh() -> Iterator[None]:
    schema_support.forget()
    yield
    schema_support.forget()


def ask(model: str, environ: dict[str, str] | None = None, **options: object) -> Answer:
    agent = Agent(name="a", model=model, timeout=120.0, options=options)
    work = Assignment("r", "R1/0/a", 1, agent, "How good?", {}, (), SCORE)
    return asyncio.run(Agents("/nowhere", environ or {}).run(work, lambda _: None))


def refusing(status: int, message: str) -> OpenAIServer:
    def reply(seen: Seen) -> Reply:
        return Fail(status, message) if "response_format" in seen.body else Say('{"score": 2}')

    return OpenAIServer(reply)


def sent_schema(server: OpenAIServer) -> list[bool]:
    return ["response_format" in request.body for request in server.requests]


@pytest.mark.parametrize("provider", ["lmstudio", "llamacpp", "vllm"])
def test_a_local_server_is_found_by_its_name_and_gets_the_schema(provider: str) -> None:
    with OpenAIServer(Say('{"score": 2}')) as server:
        answer = ask(f"{provider}:qwen3:8b", {f"{provider.upper()}_BASE_URL": server.url})
        assert ask(f"{provider}:qwen3:8b", base_url=server.url).value == {"score": 2}
    assert answer.value == {"score": 2}
    assert {request.body["model"] for request in server.requests} == {"qwen3:8b"}
    assert sent_schema(server) == [True, True]


@pytest.mark.parametrize(("provider", "port"), [("lmstudio", 1234), ("llamacpp", 8080), ("vllm", 8000)])
def test_its_usual_port_is_known(provider: str, port: int) -> None:
    from reconvene.adapters.agents.providers import LOCAL

    assert LOCAL[provider] == f"http://localhost:{port}/v1"


def test_where_nobody_answers_the_message_says_how_to_point_elsewhere() -> None:
    with pytest.raises(AgentError) as caught:
        ask("lmstudio:qwen3", {"LMSTUDIO_BASE_URL": "http://127.0.0.1:9/v1"})
    assert "LMSTUDIO_BASE_URL" in caught.value.hint
    assert "http://127.0.0.1:9/v1" in caught.value.message


@pytest.mark.parametrize(
    ("model", "environ", "options", "outcome"),
    [
        ("lmstudio:m", {"LMSTUDIO_BASE_URL": "localhost:1234/v1"}, {}, "usage"),
        ("openai:m", {"OPENAI_BASE_URL": "localhost:1234", "OPENAI_API_KEY": "k"}, {}, "usage"),
        ("openai:m", {"OPENAI_API_KEY": "k"}, {"base_url": "127.0.0.1/v1"}, "usage"),
        ("openai:m", {"OPENAI_API_KEY": "“k”"}, {}, "authentication"),
        ("anthropic:m", {"ANTHROPIC_API_KEY": "k\n"}, {}, "authentication"),
    ],
)
def test_what_could_never_be_reached_is_not_waited_for(
    model: str, environ: dict[str, str], options: dict[str, object], outcome: str
) -> None:
    with pytest.raises(AgentError) as caught:
        ask(model, environ, **options)
    assert caught.value.outcome == outcome
    assert not caught.value.retryable
    assert "export" in caught.value.hint or "http://" in caught.value.hint


@pytest.mark.parametrize(
    ("status", "message"), [(400, NOT_HERE), (500, NOT_HERE), (422, "extra fields not permitted"), (501, "no")]
)
def test_a_server_that_refuses_the_schema_is_asked_in_words_and_then_always(status: int, message: str) -> None:
    with refusing(status, message) as server:
        first = ask("openai:small", {"OPENAI_API_KEY": "k"}, base_url=server.url)
        second = ask("openai:small", {"OPENAI_API_KEY": "k"}, base_url=server.url)
    assert first.value == second.value == {"score": 2}
    assert sent_schema(server) == [True, False, False]
    assert first.usage.requests == 2
    assert all('"score"' in request.prompt for request in server.requests)


def test_a_server_that_took_a_schema_is_not_doubted_for_another_error() -> None:
    with OpenAIServer(Say('{"score": 2}'), Fail(400, "no such option: top_q"), Say('{"score": 3}')) as server:
        ask("vllm:small", base_url=server.url)
        with pytest.raises(AgentError, match="top_q"):
            ask("vllm:small", base_url=server.url)
        assert ask("vllm:small", base_url=server.url).value == {"score": 3}
    assert sent_schema(server) == [True, True, True]


def test_one_schema_that_it_cannot_read_does_not_make_it_a_server_without() -> None:
    replies = (Say('{"score": 1}'), Fail(400, "failed to parse grammar"), Say('{"score": 2}'), Say('{"score": 3}'))
    with OpenAIServer(*replies) as server:
        values = [ask("llamacpp:small", base_url=server.url).value for _ in range(3)]
    assert values == [{"score": 1}, {"score": 2}, {"score": 3}]
    assert sent_schema(server) == [True, True, False, True]


def test_an_error_that_is_not_about_the_schema_is_told_as_it_is_and_nothing_is_remembered() -> None:
    with OpenAIServer(Fail(400, "the model is not loaded")) as server:
        with pytest.raises(AgentError, match="not loaded"):
            ask("lmstudio:small", base_url=server.url)
        assert schema_support.takes(server.url, "lmstudio:small") is None
    with OpenAIServer(Fail(401, "bad key")) as server:
        with pytest.raises(AgentError) as caught:
            ask("lmstudio:small", base_url=server.url)
        assert caught.value.outcome == "authentication"
    assert sent_schema(server) == [True]


def test_it_is_kept_for_other_processes_until_it_is_forgotten(tmp_path: Path) -> None:
    file = str(tmp_path / "servers")
    work = Assignment("r", "R1/0/a", 1, Agent(name="a", model="vllm:small", timeout=120.0), "How good?", {}, (), SCORE)

    def again() -> None:
        schema_support.forget()  # as a new process
        asyncio.run(Agents("/nowhere", environ, servers=file).run(work, lambda _: None))

    with refusing(400, NOT_HERE) as server:
        environ = {"VLLM_BASE_URL": server.url.replace("//", "//ann:secret@")}
        again()
        again()
        assert sent_schema(server) == [True, False, False]
        (line,) = schema_support.kept(file)
        assert (line.address, line.takes) == (server.url, False)
        assert "secret" not in Path(file).read_text()
        assert schema_support.forget(file)
        again()
        assert sent_schema(server)[3:] == [True, False]


def test_a_refusal_counts_for_a_month_and_a_yes_for_ever(tmp_path: Path) -> None:
    file = tmp_path / "servers"
    day = {name: (date.today() - timedelta(days=days)).isoformat() for name, days in (("old", 40), ("new", 3))}
    lines = (
        f"http://a/v1\tm\tno\t{day['old']}",
        f"http://b/v1\tm\tno\t{day['new']}",
        f"http://c\tm\tyes\t{day['old']}",
    )
    file.write_text("\n".join((*lines, "not a line", "http://d\tm\tmaybe\t2026-01-01", "")))
    with schema_support.kept_in(str(file)):
        found = [schema_support.takes(url, "m") for url in ("http://a/v1", "http://b/v1", "http://c", "http://d")]
    assert found == [None, False, True, None]


def test_what_the_agent_says_about_its_output_is_not_second_guessed() -> None:
    with refusing(400, NOT_HERE) as server:
        with pytest.raises(AgentError):
            ask("vllm:small", base_url=server.url, output="native")
        assert ask("vllm:small", base_url=server.url, output="prompted").value == {"score": 2}
    assert sent_schema(server) == [True, False]
