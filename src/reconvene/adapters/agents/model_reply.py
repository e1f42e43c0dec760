"""From a model's response to what it said: whole, without its thinking, or the reason why that is no answer.

A reply counts only if its provider says why it ended. OpenAI-compatible servers, Anthropic, Google and Ollama all send
a reason with the last piece of a stream. For some of them the library makes up "stop" where it is missing, but
`provider_details` holds what was really sent.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from reconvene.adapters.agents.as_answer import Interpreted, as_json, check_value, interpret, only_thought, parse_value
from reconvene.adapters.agents.thinking import without_thinking
from reconvene.errors import AgentError
from reconvene.ports import Assignment

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelResponse

ANSWER_TOOL = "answer"
FILTER_HINT = "Say it in other words, leave out what the filter takes exception to, or choose another model."
# Reasons that say that it is not whole.
_UNFINISHED = frozenset(
    {"OTHER", "FINISH_REASON_UNSPECIFIED", "CONTINUATION", "pause_turn", "abort", "cancelled", "error", "failed"}
)
_WRONG_CALL = frozenset({"UNEXPECTED_TOOL_CALL", "MALFORMED_FUNCTION_CALL"})


def read(assignment: Assignment, response: ModelResponse, *, streamed: bool, one_text: bool) -> Interpreted:
    """`streamed`: it came piece by piece. `one_text`: its protocol has one text, whatever came in between."""
    from pydantic_ai.messages import ToolCallPart

    split = without_thinking(_text(response, one_text))
    thought = split.thought or bool(response.thinking)
    _must_be_whole(response, split.text, thought, streamed)
    for part in response.parts:
        if isinstance(part, ToolCallPart):
            return _called(assignment, part.tool_name, part.args, split.text)
    if not split.text.strip():
        raise _nothing(thought)
    return interpret(assignment, split.text)


def must_be_whole(response: ModelResponse, *, streamed: bool) -> None:
    """AgentError where its provider does not say that it is, whatever it holds."""
    split = without_thinking(response.text or "")
    _must_be_whole(response, split.text, split.thought or bool(response.thinking), streamed)


def _text(response: ModelResponse, one_text: bool) -> str:
    from pydantic_ai.messages import TextPart

    if one_text:
        return "".join(part.content for part in response.parts if isinstance(part, TextPart))
    return response.text or ""


def _must_be_whole(response: ModelResponse, text: str, thought: bool, streamed: bool) -> None:
    details = response.provider_details or {}
    reason = str(details.get("finish_reason") or "")
    if "refusal" in details or reason == "refusal":
        raise refused(str(details.get("refusal") or text))
    if response.finish_reason == "length" and reason not in _UNFINISHED:
        raise too_short(reason, text, thought)
    if response.finish_reason == "content_filter":
        raise filtered(details, reason, text)
    if reason in _WRONG_CALL:
        raise _unasked("a tool", text)
    if response.finish_reason == "error":
        raise AgentError(f"The model ended with an error ({reason or 'not named'}).", said=text)
    if reason in _UNFINISHED or (streamed and not reason):
        raise AgentError(
            "The reply broke off: the provider does not say that it is whole.",
            hint="Another try usually helps. For a server that never gives a finish reason, write `stream: false` into "
            "the agent's options.",
            outcome="cut",
            said=text,
            for_agents="The reply broke off before its end.",
        )


def refused(words: str) -> AgentError:
    said = f": {' '.join(words.split())[:300]}" if words.strip() else ""
    return AgentError(
        f"The model refused to answer{said.rstrip('.')}.",
        hint="Change what is asked, or choose another model.",
        outcome="refusal",
        said=words,
    )


def too_short(reason: str, text: str, thought: bool) -> AgentError:
    hint = "Raise `max_tokens` in the agent's options, or ask for less."
    what = "the model reached its limit of output tokens"
    if reason == "model_context_window_exceeded":
        what, hint = "the model's context window is full", "Let it read less, or choose a larger context window."
    elif thought and not text.strip():
        what += " while it was still thinking"
        hint = "Raise `max_tokens` in the agent's options, or let it think less."
    return AgentError(
        f"The reply was cut short: {what}.",
        hint=hint,
        outcome="length",
        said=text,
        for_agents="The reply was longer than it may be, and was cut off. Write less, and come to an end.",
    )


def filtered(details: dict[str, object], reason: str, text: str) -> AgentError:
    blocked = details.get("block_reason")
    why = str(blocked or ("" if reason == "content_filter" else reason))
    what = "the prompt" if blocked else "the reply"
    message = f"The provider's content filter stopped {what}{f' ({why})' if why else ''}."
    return AgentError(message, hint=FILTER_HINT, outcome="filter", said=text)


def _nothing(thought: bool) -> AgentError:
    if not thought:
        return AgentError("The model replied with nothing.", hint="Another try usually helps.", outcome="empty")
    return only_thought("model", "replied with")


def _called(assignment: Assignment, tool: str, arguments: object, text: str) -> Interpreted:
    """The arguments as the model gave them; the library's own reading would mend what is broken."""
    if assignment.schema is None or tool != ANSWER_TOOL:
        raise _unasked(repr(tool), text)
    if not isinstance(arguments, str):
        return Interpreted(as_json(arguments), check_value(assignment.schema, arguments), True, {}, ())
    return Interpreted(arguments, parse_value(assignment.schema, arguments), True, {}, ())


def _unasked(tool: str, text: str) -> AgentError:
    return AgentError(
        f"The model called {tool}, but it was given no such tool. The answer should be text.",
        hint="Another try may help. Some models are trained to call tools: another one may do better.",
        outcome="tool_call",
        said=text,
    )
