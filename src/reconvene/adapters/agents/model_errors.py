"""What went wrong with a model: which outcome, in words, and what to do. Imports the model library.

Every message names the model and where it is reached; what prompts may say about it (`for_agents`) names neither.
"""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime

from pydantic_ai import exceptions as problems

from reconvene.adapters.agents import retry_after
from reconvene.adapters.agents.model_reply import FILTER_HINT
from reconvene.adapters.agents.network_words import PROXY_LOGIN, trouble
from reconvene.adapters.agents.providers import LOCAL, Connection
from reconvene.adapters.agents.wiretap import MAX_REPLY
from reconvene.errors import AgentError, Outcome

_FILTERED = re.compile(r"content_filter|content_policy|moderation|flagged", re.IGNORECASE)
_TOO_LONG = re.compile(
    r"context (?:size|length|window)|exceed_context_size|(?:prompt|input) is too long|too many (?:input )?tokens",
    re.IGNORECASE,
)
_MEMORY = re.compile(r"requires more (?:system )?memory|out of memory", re.IGNORECASE)
_FOR_AGENTS: dict[Outcome, str] = {
    "transport": "The model could not be reached, or did not answer.",
    "cut": "The reply broke off before its end.",
    "authentication": "The provider did not accept the key.",
    "quota": "The account with the provider is used up.",
    "not_found": "The provider does not know the model.",
    "too_long": "The prompt is longer than the model can read.",
    "usage": "The provider refused the request.",
    "filter": "A content filter of the provider stopped it.",
    "empty": "The model replied with nothing.",
    "other": "The model failed.",
}


def explain(connection: Connection, error: Exception) -> AgentError:
    tap, name, where = connection.tap, connection.name, _where(connection)
    if tap.flooded:
        return failure("other", f"{name} sent more than {MAX_REPLY // (1024 * 1024)} MB and was cut off.")
    if 300 <= tap.status < 400:
        return _redirected(connection)
    match error:
        case problems.ModelQuotaExceededError():
            hint = "Top up the account or raise its limit, or choose another model."
            return failure("quota", f"{name}{where}: the account is used up ({_said(error)}).", hint)
        case problems.ModelContextWindowExceededError():
            return _too_long(connection, _said(error))
        case problems.ModelHTTPError():
            return _http(connection, error, error.status_code)
        case problems.ModelConnectionError():
            return _network(connection, error)
        case problems.ModelAuthenticationError():
            return _http(connection, error, 401)
        case problems.ModelNotFoundError():
            return _http(connection, error, 404)
        case problems.ModelRateLimitError():
            return _http(connection, error, 429)
        case problems.ModelUnavailableError() | problems.ModelServerError():
            return _http(connection, error, 503)
        case problems.ModelRequestRejectedError():
            return _http(connection, error, 400)
        case problems.ModelAPIError(in_stream=True):
            return _asked(connection, error, f"{name}{where} failed in the middle of its reply: {_said(error)}")
        case problems.ContentFilterError():
            return failure("filter", f"A content filter of {name} stopped it: {_short(error.message)}.", FILTER_HINT)
        case problems.UserError():
            return failure("usage", f"{name} cannot be asked this way: {error.message}", "Check the agent's options.")
        case _ if 200 <= tap.status < 300:
            return _unreadable(connection, error)
        case _:
            said = _short(f"{type(error).__name__}: {error}")
            return failure("other", f"{name}{where} failed: {said}.")


def failure(outcome: Outcome, message: str, hint: str = "", wait: float = 0.0) -> AgentError:
    told = _FOR_AGENTS.get(outcome, "")
    if outcome in ("transport", "cut", "empty"):
        hint = hint or "It usually passes. If it stays so, check the server, or choose another model."
    return AgentError(message, hint=hint, outcome=outcome, retry_after=wait, for_agents=told)


def _http(connection: Connection, error: problems.ModelAPIError, status: int) -> AgentError:
    name, where, said = connection.name, _where(connection), _said(error)
    codes = f"{error.provider_error_code} {error.provider_error_type} {said}"
    if status < 500 and status != 429 and _FILTERED.search(codes):
        return failure("filter", f"{name}{where} filtered the prompt ({status}): {said}.", FILTER_HINT)
    if status == 413 or (status in (400, 422, 500) and _TOO_LONG.search(codes)):
        return _too_long(connection, said)
    if _MEMORY.search(said):
        hint = "Choose a smaller model, or free memory on that machine."
        return failure("usage", f"{name}{where} does not fit into memory ({status}): {said}.", hint)
    if status == 407:
        return failure("authentication", f"Cannot reach {name}{where}: {PROXY_LOGIN.what}.", PROXY_LOGIN.hint)
    if status in (401, 403):
        return _not_allowed(connection, status, said)
    if status == 404:
        return _not_found(connection, error, said)
    if status == 429:
        return _asked(connection, error, f"{name}{where} has too many requests (429): {said}", limited=True)
    if status >= 500 or status in retry_after.PASSING:
        return _asked(connection, error, f"{name}{where} failed ({status}): {said}")
    return failure("usage", f"{name}{where} refused the request ({status}): {said}.", "Check the agent's options.")


def _asked(connection: Connection, error: problems.ModelAPIError, what: str, *, limited: bool = False) -> AgentError:
    """The provider is busy or broken: it passes, and it may say when."""
    body = error.body if isinstance(error.body, str) else json.dumps(error.body, default=str)
    wait = retry_after.asked(connection.tap.headers, body, datetime.now(UTC), limited=limited)
    if not wait.seconds and error.retry_after:
        wait = retry_after.bounded(error.retry_after)
    hint = "It usually passes. If it stays so, look at the provider's status page, or choose another model."
    if limited:
        hint = "It passes. Fewer agents at the same time help, or a higher limit of the account."
    after = f"; {wait}" if wait.seconds else ""
    return failure("transport", f"{what}{after}.", hint, wait.seconds)


def _network(connection: Connection, error: problems.ModelConnectionError) -> AgentError:
    name, where = connection.name, _where(connection)
    found = trouble(error, connection.url, _start(connection))
    if found.login:
        return failure("authentication", f"Cannot reach {name}{where}: {found.what}.", found.hint)
    if connection.tap.status == 200 and any(connection.tap.replies):
        return failure("cut", f"The reply of {name}{where} is not whole: {found.what}.", found.hint)
    if isinstance(error, problems.ModelTimeoutError):
        if error.phase == "connect":
            what = f"no connection within {connection.connect_timeout:g} s"
            return failure("transport", f"Cannot reach {name}{where}: {what}.", found.hint)
        hint = "Raise the agent's `timeout`."
        return failure("transport", f"{name}{where} gave no answer in time.", hint)
    if error.phase in ("read", "write"):
        return failure("transport", f"The connection to {name}{where} broke: {found.what}.", found.hint)
    return failure("transport", f"Cannot reach {name}{where}: {found.what}.", found.hint)


def _start(connection: Connection) -> str:
    if connection.provider == "ollama":
        return "Is it running? Start it with `ollama serve`, or say where it is with OLLAMA_BASE_URL."
    if connection.provider in LOCAL:
        return f"Is its server running? Start it, or say where it is with {connection.provider.upper()}_BASE_URL."
    return ""


def _not_allowed(connection: Connection, status: int, said: str) -> AgentError:
    name, where = connection.name, _where(connection)
    hint = f"Check the key in {connection.key_name}"
    hint += f", and that it belongs to {connection.url}." if connection.url else "."
    what = "did not accept the key" if status == 401 else "does not allow this with this key"
    return failure("authentication", f"{name}{where} {what} ({status}): {said}.", hint)


def _not_found(connection: Connection, error: problems.ModelAPIError, said: str) -> AgentError:
    name, where = connection.name, _where(connection)
    pull = re.search(r'model "?\'?([^"\'\s]+)"?\'? not found', said)
    if pull and (connection.provider == "ollama" or "pull" in said):
        return failure("not_found", f"{name}{where} is not there (404): {said}.", f"Get it: `ollama pull {pull[1]}`.")
    suggested = getattr(error, "suggested_model_id", None)
    hint = f"Check the model's name in `model: {name}`." + (f" Did you mean {suggested}?" if suggested else "")
    if connection.url:
        hint += f" Check base_url too ({connection.url}): it usually ends in /v1."
    return failure("not_found", f"{name}{where} was not found (404): {said}.", hint)


def _too_long(connection: Connection, said: str) -> AgentError:
    hint = "Let it read less, or choose a model with a larger context window."
    if connection.url:
        hint = "Let it read less, choose another model, or start the server with a larger context window."
    return failure("too_long", f"The prompt is too long for {connection.name}{_where(connection)}: {said}.", hint)


def _redirected(connection: Connection) -> AgentError:
    tap = connection.tap
    to = f" to {tap.headers['location'].partition('?')[0]}" if tap.headers.get("location") else ""
    hint = "Write the address where the server really is into base_url; a page for logging in may be in between."
    return failure("usage", f"{connection.name}{_where(connection)} redirects{to} ({tap.status}).", hint)


def _unreadable(connection: Connection, error: Exception) -> AgentError:
    """It answered 200, and what it said is no answer of a model."""
    name, where, tap = connection.name, _where(connection), connection.tap
    body, kind = tap.reply().strip(), tap.headers.get("content-type", "").partition(";")[0].strip()
    if not body:
        return failure("cut", f"{name}{where} sent an empty reply.")
    if kind == "text/event-stream":
        return failure("cut", f"The reply of {name}{where} is broken: {_short(str(error))}.")
    try:
        document: object = json.loads(body)
    except ValueError:
        if kind.endswith("json"):
            return failure("cut", f"The reply of {name}{where} is not whole: {_short(str(error))}.")
        document = None
    match document:
        case {"error": said}:
            words = said.get("message") if isinstance(said, dict) else said
            return failure("transport", f"{name}{where} failed: {_short(str(words))}.")
        case {"choices": []} | {"candidates": []} | {"content": []}:
            return failure("empty", f"{name}{where} replied with nothing.")
        case {"choices": _} | {"candidates": _} | {"content": _} | {"output": _} if _for_a_stream(connection):
            hint = "Write `stream: false` into the agent's options: options: {stream: false}."
            return failure("usage", f"{name}{where} answered in one piece, where a stream was asked for.", hint)
        case _:
            what = f"it answered with {kind or 'something'}, not as a model does"
            return failure("transport", f"{name}{where}: {what}.", _page_hint(connection))


def _for_a_stream(connection: Connection) -> bool:
    """In most protocols the request says so, in Google's the address."""
    last = connection.tap.requests[-1] if connection.tap.requests else {}
    body = last.get("body")
    return (isinstance(body, dict) and body.get("stream") is True) or "stream" in str(last.get("url", ""))


def _page_hint(connection: Connection) -> str:
    if connection.url:
        return f"Check base_url ({connection.url}): it usually ends in /v1. A proxy in between may be at fault, too."
    return "A proxy or a page for logging in may be in between: check the network, and HTTPS_PROXY."


def _where(connection: Connection) -> str:
    return f" at {connection.url}" if connection.url else ""


def _said(error: problems.ModelAPIError) -> str:
    """The provider's own words, without the wrapping; of a web page, its title."""
    body = error.body
    if isinstance(body, dict):
        inner = body.get("error", body)
        message = inner.get("message") if isinstance(inner, dict) else inner
        if isinstance(message, str) and message:
            return _short(message)
    if not isinstance(body, str) or not body.strip():
        return _short(error.message)
    title = re.search(r"<title[^>]*>(.*?)</title>", body, re.IGNORECASE | re.DOTALL)
    return _short(title[1]) if title else _short(re.sub(r"<[^>]+>", " ", body) or body)


def _short(text: str) -> str:
    text = " ".join(text.split()).rstrip(".")
    return text if len(text) <= 300 else text[:299] + "…"
