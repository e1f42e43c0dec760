"""What went wrong with a model, in words, and whether another attempt can help. Imports the model library."""

from __future__ import annotations

import os

from pydantic_ai import exceptions as problems

from reconvene.adapters.agents.providers import Connection
from reconvene.adapters.agents.wiretap import MAX_REPLY
from reconvene.errors import AgentError

_PASSING = frozenset({408, 409, 425, 429})


def explain(connection: Connection, error: Exception) -> AgentError:
    name, where = connection.name, _where(connection)
    if connection.tap.flooded:
        return AgentError(f"{name} sent more than {MAX_REPLY // (1024 * 1024)} MB and was cut off.")
    match error:
        case problems.ModelQuotaExceededError():
            return AgentError(
                f"{name} refused: the account's quota is used up ({_said(error)}).",
                hint="Top up the account, or choose another model.",
                retryable=False,
            )
        case problems.ModelHTTPError():
            return _http(connection, error)
        case problems.ModelTimeoutError():
            return AgentError(f"{name} gave no answer in time{where}.", hint="Raise the agent's `timeout`.")
        case problems.ModelConnectionError(phase="read" | "write"):
            return AgentError(f"The connection to {name}{where} broke: {_cause(error)}.")
        case problems.ModelConnectionError():
            return AgentError(f"Cannot reach {name}{where}: {_cause(error)}.", hint=_reach_hint(connection))
        case problems.ModelRequestRejectedError():
            return AgentError(f"{name} refused the request: {_said(error)}.", retryable=False)
        case problems.ModelAPIError():
            return AgentError(f"{name} failed{where}: {_said(error)}.", wait=error.retry_after or 0.0)
        case problems.UserError():
            return AgentError(f"{name} cannot be asked this way: {error.message}", retryable=False)
        case problems.UnexpectedModelBehavior():
            return AgentError(f"The reply of {name} cannot be read: {_short(error.message)}.")
        case _:
            return AgentError(
                f"The reply of {name}{where} cannot be read: {_short(f'{type(error).__name__}: {error}')}."
            )


def _http(connection: Connection, error: problems.ModelHTTPError) -> AgentError:
    name, where, status = connection.name, _where(connection), error.status_code
    said = _said(error)
    if status in (401, 403):
        hint = f"Check the key in {connection.key_name}"
        hint += f", and that it belongs to {connection.url}." if connection.url else "."
        return AgentError(f"{name}{where} did not accept the key ({status}): {said}.", hint=hint, retryable=False)
    if status == 404:
        guess = f" Did you mean {error.suggested_model_id}?" if error.suggested_model_id else ""
        hint = f"Check the model's name in `model: {name}`.{guess}"
        if connection.url:
            hint += f" Check base_url too ({connection.url}): it usually ends in /v1."
        return AgentError(f"{name}{where} was not found (404): {said}.", hint=hint, retryable=False)
    if status == 429:
        wait = error.retry_after or 0.0
        after = f"; it asks to wait {wait:g} s" if wait else ""
        return AgentError(f"{name}{where} has too many requests (429){after}: {said}.", wait=wait)
    if status >= 500 or status in _PASSING:
        return AgentError(f"{name}{where} failed ({status}): {said}.", wait=error.retry_after or 0.0)
    return AgentError(f"{name}{where} refused the request ({status}): {said}.", retryable=False)


def _where(connection: Connection) -> str:
    return f" at {connection.url}" if connection.url else ""


def _reach_hint(connection: Connection) -> str:
    if connection.provider == "ollama":
        return "Start it with `ollama serve`, or say where it is with OLLAMA_BASE_URL."
    if connection.url:
        return "Is the server running, and is base_url right?"
    return "Check the network, and HTTPS_PROXY if this machine needs a proxy."


def _said(error: problems.ModelAPIError) -> str:
    """The provider's own words, without the wrapping."""
    body = error.body
    if isinstance(body, dict):
        inner = body.get("error", body)
        message = inner.get("message") if isinstance(inner, dict) else inner
        if isinstance(message, str) and message:
            return _short(message)
    return _short(body) if isinstance(body, str) and body.strip() else _short(error.message)


def _cause(error: BaseException) -> str:
    """The innermost reason: "connection refused" says more than "connection error"."""
    seen = 0
    while (deeper := error.__cause__ or error.__context__) is not None and seen < 10:
        error, seen = deeper, seen + 1
    text = os.strerror(error.errno).lower() if isinstance(error, OSError) and error.errno else str(error)
    return _short(text or type(error).__name__)


def _short(text: str) -> str:
    text = " ".join(text.split()).rstrip(".")
    return text if len(text) <= 300 else text[:299] + "…"
