"""An agent that is a model, any provider's, through pydantic-ai: one request per attempt, nothing retried in secret.

The library is imported when the first model agent works. Retries, gates and limits belong to the engine; here a failure
only becomes an AgentError that says whether, and when, another attempt can help.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Literal, cast

from reconvene.adapters.agents import asking, libraries, prompt_cache, schema_support, token_limits
from reconvene.adapters.agents.as_answer import ReplyError
from reconvene.adapters.agents.model_reply import ANSWER_TOOL, read
from reconvene.adapters.agents.prompt_cache import Beginnings
from reconvene.adapters.agents.token_limits import Limits
from reconvene.core.facts.events import Usage
from reconvene.errors import AgentError
from reconvene.ports import Answer, Assignment, Listener, Progress
from reconvene.prompts.compact_schema import compact
from reconvene.secrets import redact, redact_text

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelMessage, ModelRequest, ModelResponse
    from pydantic_ai.models import ModelRequestParameters
    from pydantic_ai.settings import ModelSettings

    from reconvene.adapters.agents.providers import Connection

Mode = Literal["text", "native", "tool", "prompted"]
_OURS = frozenset({"base_url", "api_key_env", "output", "stream", "recording", "window", *token_limits.NAMES})
_CHARS_PER_TOKEN = 4
_TELL_EVERY = 20  # tokens


async def run(
    assignment: Assignment, listener: Listener, environ: Mapping[str, str], beginnings: Beginnings | None = None
) -> Answer:
    """`beginnings`: what agents that work at the same time share of their prompts."""
    began = time.monotonic()
    limits = token_limits.limits(assignment.agent)
    # the import takes a second or more: in a thread, so that other agents go on
    connection = await asyncio.to_thread(connect, assignment, environ, limits)
    async with connection.client:
        mode = form_mode(assignment, connection)
        request = first_request(assignment, connection, mode)
        response: ModelResponse | None = None
        try:
            async with (beginnings or Beginnings()).turn(assignment, connection.provider) as reply_begins:
                asked = _asked_once(assignment, connection, _noticing(listener, reply_begins), mode, limits)
                response = await within(limits, asked, connection)
            answer = read(assignment, response, streamed=streamed(assignment), one_text=connection.one_text)
        except Exception as error:
            failure = explained(assignment, connection, error)
            usage = used(connection, response, began)
            sent, got = captured(connection, request, response, environ)
            raise ReplyError(
                redact_text(failure.message, environ, connection.tap.secrets),
                hint=redact_text(failure.hint, environ, connection.tap.secrets),
                outcome=failure.outcome,
                retryable=failure.retryable,
                retry_after=failure.retry_after,
                said=redact_text(failure.said, environ, connection.tap.secrets),
                for_agents=redact_text(failure.for_agents, environ, connection.tap.secrets),
                usage=usage,
                request=sent,
                reply=got,
            ) from error
    usage = used(connection, response, began)
    sent, got = captured(connection, request, response, environ)
    _tell(assignment, listener, usage.output_tokens)
    return Answer(answer.text, answer.value, answer.has_value, answer.files, answer.ignored, usage, sent, got)


def connect(assignment: Assignment, environ: Mapping[str, str], limits: Limits) -> Connection:
    agent = assignment.agent
    if lacks := libraries.missing(agent.model, str(agent.options.get("base_url") or "")):
        hint = f"Install it: {libraries.install_line(lacks)}"
        raise AgentError(f"The library for {agent.model!r} is not installed.", hint=hint, outcome="usage")
    from reconvene.adapters.agents import providers

    return providers.connect(agent, environ, limits)


def form_mode(assignment: Assignment, connection: Connection) -> Mode:
    """How the contract is enforced. A server of one's own is sent it unless it is known to refuse that."""
    if assignment.schema is None:
        return "text"
    is_object = isinstance(assignment.schema, dict) and assignment.schema.get("type") == "object"
    if assignment.writes or not is_object:
        return "prompted"
    wanted = assignment.agent.options.get("output")
    if wanted in ("native", "tool", "prompted"):
        return wanted
    if connection.custom:
        return "prompted" if schema_support.takes(connection.url, connection.name) is False else "native"
    profile = connection.model.profile
    if connection.provider == "ollama" and profile.get("supports_json_schema_output"):
        return "native"
    return cast(Mode, profile.get("default_structured_output_mode", "tool"))


def _noticing(listener: Listener, begins: Callable[[], None]) -> Listener:
    """The listener, and what is to be done when the reply begins."""

    def tell(progress: Progress) -> None:
        begins()
        listener(progress)

    return tell


def first_request(assignment: Assignment, connection: Connection, mode: Mode) -> ModelRequest:
    from pydantic_ai.messages import CachePoint, ModelRequest, SystemPromptPart, UserPromptPart

    in_words = mode == "prompted" or (mode == "native" and not _tells(connection))
    asked = asking.compose(assignment, with_schema=in_words)
    rules = [SystemPromptPart(assignment.system)] if assignment.system else []
    end = prompt_cache.boundary(assignment, connection.provider)
    return ModelRequest([*rules, UserPromptPart([asked[:end], CachePoint(), asked[end:]] if end else asked)])


def _tells(connection: Connection) -> bool:
    """Whether the provider itself tells the model the contract that it is held to."""
    return not connection.custom and connection.provider != "ollama"


def form_parameters(assignment: Assignment, mode: Mode) -> ModelRequestParameters:
    from pydantic_ai.models import ModelRequestParameters
    from pydantic_ai.output import OutputObjectDefinition
    from pydantic_ai.tools import ToolDefinition

    if mode in ("text", "prompted"):
        return ModelRequestParameters()
    schema = compact(assignment.schema)
    assert isinstance(schema, dict)
    if mode == "native":
        described = OutputObjectDefinition(json_schema=schema, name=ANSWER_TOOL)
        return ModelRequestParameters(output_mode="native", output_object=described)
    tool = ToolDefinition(
        name=ANSWER_TOOL, parameters_json_schema=schema, description="Give your answer.", kind="output"
    )
    return ModelRequestParameters(output_mode="tool", output_tools=[tool], allow_text_output=False)


def _settings(assignment: Assignment, limits: Limits) -> ModelSettings:
    options = {name: value for name, value in assignment.agent.options.items() if name not in _OURS}
    return cast("ModelSettings", options | {"timeout": limits.total, "max_retries": 0})


def streamed(assignment: Assignment) -> bool:
    return assignment.agent.options.get("stream") is not False


async def within(limits: Limits, answer: Awaitable[ModelResponse], connection: Connection) -> ModelResponse:
    try:
        async with asyncio.timeout(limits.total) as deadline:
            return await answer
    except TimeoutError:
        if not deadline.expired():
            raise
        raise _too_slow(connection, limits.total) from None


def _too_slow(connection: Connection, limit: float) -> AgentError:
    where = f" at {connection.url}" if connection.url else ""
    if connection.begun:
        return AgentError(
            f"{connection.name}{where} was still writing after {limit:g} s.",
            hint="Raise the agent's `timeout`, or ask for less.",
            for_agents="The reply took too long. Write less.",
        )
    return AgentError(
        f"{connection.name}{where} gave no answer within {limit:g} s.",
        hint="Raise the agent's `timeout`.",
        outcome="transport",
        for_agents="The model did not answer in time.",
    )


async def _asked_once(
    assignment: Assignment, connection: Connection, listener: Listener, mode: Mode, limits: Limits
) -> ModelResponse:
    """The schema goes along; where a server of one's own refuses that, the same is asked in words."""
    request = first_request(assignment, connection, mode)
    uncertain = mode == "native" and connection.custom and not assignment.agent.options.get("output")
    try:
        response = await ask(assignment, connection, listener, [request], form_parameters(assignment, mode), limits)
    except Exception as error:
        said = f"{error} {getattr(error, 'body', '')}"
        at = (connection.url, connection.name)
        if not uncertain or not schema_support.may_be_refused(*at, connection.tap.status, said):
            raise
        words = first_request(assignment, connection, "prompted")
        response = await ask(assignment, connection, listener, [words], form_parameters(assignment, "prompted"), limits)
        schema_support.remember(*at, taken=False)
    else:
        if uncertain:
            schema_support.remember(connection.url, connection.name, taken=True)
    return response


async def ask(
    assignment: Assignment,
    connection: Connection,
    listener: Listener,
    messages: list[ModelMessage],
    parameters: ModelRequestParameters,
    limits: Limits,
) -> ModelResponse:
    """One request. `messages`: all that it is sent, the newest last."""
    from pydantic_ai.direct import model_request, model_request_stream

    settings = _settings(assignment, limits)
    if not streamed(assignment):
        return await model_request(
            connection.model, messages, model_settings=settings, model_request_parameters=parameters
        )
    # Streaming shows progress, and long answers do not run into the idle limits of proxies and providers.
    characters = told = 0
    async with (
        _without_stalls(connection, limits) as token,
        model_request_stream(
            connection.model, messages, model_settings=settings, model_request_parameters=parameters
        ) as stream,
    ):
        async for event in stream:
            piece = _piece(event)
            if piece:
                token()
                listener(Progress(assignment.run, assignment.task, assignment.agent.name, "text", piece))
            characters += len(piece)
            if characters // _CHARS_PER_TOKEN >= told + _TELL_EVERY:
                told = characters // _CHARS_PER_TOKEN
                _tell(assignment, listener, told)
        return stream.get()


@asynccontextmanager
async def _without_stalls(connection: Connection, limits: Limits) -> AsyncIterator[Callable[[], None]]:
    """Ends what is done inside when no token comes for too long. It gives what to call with each token."""
    began = False

    def token() -> None:
        nonlocal began
        began = True
        if not stall.expired():
            stall.reschedule(loop.time() + limits.token if limits.token < limits.total else None)

    loop = asyncio.get_running_loop()
    try:
        # the total limit has its own message
        async with asyncio.timeout(limits.first_token if limits.first_token < limits.total else None) as stall:
            yield token
    except TimeoutError:
        if not stall.expired():
            raise
        raise _stalled(connection, limits, began) from None


def _stalled(connection: Connection, limits: Limits, began: bool) -> AgentError:
    where = f" at {connection.url}" if connection.url else ""
    if began:
        what = f"fell silent: no token for {limits.token:g} s in the middle of its reply"
        hint = "Raise `token_timeout` in the agent's options if this model makes such pauses."
    else:
        what = f"sent no token within {limits.first_token:g} s"
        hint = "A local model may still be loading. Raise `first_token_timeout` in the agent's options."
    return AgentError(
        f"{connection.name}{where} {what}.",
        hint=hint,
        outcome="transport",
        for_agents="The model did not answer in time.",
    )


def _piece(event: object) -> str:
    """What came with a streamed event."""
    piece = getattr(event, "delta", None) or getattr(event, "part", None)
    if type(event).__name__ == "PartEndEvent":
        return ""
    for name in ("content_delta", "content", "args_delta"):
        text = getattr(piece, name, None)
        if isinstance(text, str):
            return text
    return ""


def _tell(assignment: Assignment, listener: Listener, tokens: int) -> None:
    if tokens:
        listener(Progress(assignment.run, assignment.task, assignment.agent.name, "tokens", tokens=tokens))


def captured(
    connection: Connection, request: ModelRequest, response: ModelResponse | None, environ: Mapping[str, str]
) -> tuple[bytes, bytes]:
    """Request and reply as they went over the wire; as the library saw them where the wire cannot be tapped."""
    from pydantic_ai.messages import ModelMessagesTypeAdapter

    sent = connection.tap.request() or ModelMessagesTypeAdapter.dump_json([request])
    got = connection.tap.reply()
    if not got and response is not None:
        got = ModelMessagesTypeAdapter.dump_json([response])
    secrets = connection.tap.secrets
    return redact(sent, environ, secrets), redact(got, environ, secrets)


def used(connection: Connection, response: ModelResponse | None, began: float) -> Usage:
    seconds = round(time.monotonic() - began, 3)
    requests = len(connection.tap.requests)
    if response is None:
        return Usage(model=connection.name, requests=requests, seconds=seconds)
    return Usage(
        model=connection.name,
        input_tokens=response.usage.input_tokens,
        output_tokens=response.usage.output_tokens,
        requests=requests or 1,
        cost=_cost(connection, response),
        seconds=seconds,
    )


def _cost(connection: Connection, response: ModelResponse) -> float:
    """USD by the public price list, 0.0 where it does not know the model. A price must never fail an answer."""
    from genai_prices import calc_price

    try:
        if not connection.custom:
            return float(response.cost().total_price)
        if not connection.provider.startswith("openai"):
            return 0.0
        # behind a proxy, but named as OpenAI's own
        name = connection.name.partition(":")[2]
        return float(calc_price(response.usage, name, provider_id="openai").total_price)
    except Exception:
        return 0.0


def explained(assignment: Assignment, connection: Connection, error: Exception) -> AgentError:
    if isinstance(error, AgentError):
        return error
    from reconvene.adapters.agents.model_errors import explain

    return explain(connection, error)
