"""From "provider:model" and an agent's options to something that can be asked. Everything about providers is here.

Imports the model library when it is imported itself: only `model` may import it, and only when a model agent works.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit

os.environ.setdefault("PYDANTIC_AI_NO_BANNER", "1")

import httpx2
from pydantic_ai.models import Model, create_async_httpx2_client, infer_model

from reconvene.adapters.agents.auto import ollama_url
from reconvene.adapters.agents.libraries import install_line
from reconvene.adapters.agents.model_names import Wrong, unknown_provider, wrong_address, wrong_key, wrong_with
from reconvene.adapters.agents.token_limits import Limits
from reconvene.adapters.agents.wiretap import Wiretap
from reconvene.core.definition.workflow import Agent
from reconvene.errors import AgentError, Outcome

if TYPE_CHECKING:
    from pydantic_ai.providers import Provider

# The library looks for tags of thinking only where one is a piece of its own; `thinking` finds all of them.
_NO_TAGS = ("\0think", "\0/think")
# servers that speak the OpenAI protocol, where they listen unless NAME_BASE_URL says otherwise
LOCAL = {
    "lmstudio": "http://localhost:1234/v1",
    "llamacpp": "http://localhost:8080/v1",
    "vllm": "http://localhost:8000/v1",
}
_OPENAI = ("openai", "openai-chat", "openai-responses")
_KEYS = {"google": "GOOGLE_API_KEY", "openai-chat": "OPENAI_API_KEY", "openai-responses": "OPENAI_API_KEY"}


class Connection(NamedTuple):
    """A model that is ready to be asked, and what is needed to talk about it."""

    model: Model
    client: httpx2.AsyncClient
    tap: Wiretap
    provider: str  # "" = unknown, an OpenAI-compatible server
    name: str  # "provider:model" as the person knows it
    url: str  # where it is reached, "" = the provider's own place
    key_name: str  # the environment variable that holds its key
    custom: bool  # an OpenAI-compatible server of the person's own
    connect_timeout: float  # seconds
    one_text: bool  # its protocol has one text in a reply, whatever came in between

    @property
    def begun(self) -> bool:
        """Whether anything of an answer has come."""
        return self.tap.status == 200 and any(self.tap.replies)


def connect(agent: Agent, environ: Mapping[str, str], limits: Limits) -> Connection:
    """AgentError (not retryable) where that cannot be done: unknown model, no key, library not installed."""
    provider, name = _split(agent.model)
    base_url = str(agent.options.get("base_url") or "")
    _require_right(wrong_with(agent.model, base_url), "not_found" if provider else "usage")
    _require_right(wrong_address("base_url", base_url))
    base_url = base_url or _said_address(provider, environ)
    key_name = str(agent.options.get("api_key_env") or _KEYS.get(provider) or f"{provider or 'openai'}_api_key".upper())
    key = _key(environ, key_name, provider)
    _require_right(wrong_key(key_name, key), "authentication")
    tap = Wiretap()
    client = _client(base_url, limits)
    tap.attach(client)
    custom = bool(base_url) and provider not in ("anthropic", "google", "ollama")
    if custom:
        model = _compatible(provider, name, agent.model, base_url, key or "none", client)
    else:
        model = _hosted(agent.model, provider, base_url, key, key_name, client)
    if key:
        tap.secrets.add(key)
    model.profile["thinking_tags"] = _NO_TAGS
    # by name: the class may be one whose library is not installed
    one_text = any(kind.__name__ == "OpenAIChatModel" for kind in type(model).__mro__)
    return Connection(model, client, tap, provider, agent.model, base_url, key_name, custom, limits.connect, one_text)


def own_server(provider: str, environ: Mapping[str, str]) -> Provider[Any] | None:
    """A server that speaks the protocol of OpenAI and that the environment names, or that listens here; None where the
    provider is one that the library knows. AgentError where the address is none."""
    address = _said_address(provider, environ)
    if not address:
        return None
    from pydantic_ai.providers.openai_compatible import OpenAICompatibleProvider

    key = _key(environ, _KEYS.get(provider) or f"{provider}_api_key".upper(), provider) or "none"
    return OpenAICompatibleProvider(
        "openai-compatible", base_url=address, api_key=key, http_client=_client(address, Limits())
    )


def _said_address(provider: str, environ: Mapping[str, str]) -> str:
    """Where the environment says that a provider is; "" = at its own place."""
    if provider in _OPENAI:
        _require_right(wrong_address("OPENAI_BASE_URL", environ.get("OPENAI_BASE_URL", "")))
        return _foreign(environ.get("OPENAI_BASE_URL", ""))
    if provider == "ollama":
        return ollama_url(environ)
    if provider in LOCAL:
        address = environ.get(f"{provider.upper()}_BASE_URL") or LOCAL[provider]
        _require_right(wrong_address(f"{provider.upper()}_BASE_URL", address))
        return address
    return ""


def _require_right(wrong: Wrong | None, outcome: Outcome = "usage") -> None:
    if wrong is not None:
        problem, hint = wrong.sentences
        raise AgentError(problem, hint=hint, outcome=outcome)


def _split(model: str) -> tuple[str, str]:
    provider, colon, name = model.partition(":")
    return (provider, name) if colon else ("", model)


def _foreign(url: str) -> str:
    """OPENAI_BASE_URL, unless it only names OpenAI itself."""
    return "" if urlsplit(url).hostname in (None, "api.openai.com") else url


def _key(environ: Mapping[str, str], key_name: str, provider: str) -> str:
    if provider == "google" and key_name == "GOOGLE_API_KEY":
        return environ.get("GOOGLE_API_KEY") or environ.get("GEMINI_API_KEY", "")
    return environ.get(key_name, "")


def _client(base_url: str, limits: Limits) -> httpx2.AsyncClient:
    timeout = httpx2.Timeout(limits.total, connect=limits.connect)

    async def connect_in_time(request: httpx2.Request) -> None:
        # the providers' libraries replace a client's limits by one number for all of them
        request.extensions["timeout"] = {**request.extensions.get("timeout", {}), "connect": limits.connect}

    if urlsplit(base_url).hostname in ("localhost", "127.0.0.1", "::1"):
        # a proxy cannot reach this machine's own servers
        client = httpx2.AsyncClient(timeout=timeout, trust_env=False)
    else:
        client = create_async_httpx2_client(timeout=timeout)
    hooks = client.event_hooks
    hooks["request"].append(connect_in_time)
    client.event_hooks = hooks
    return client


def _compatible(provider: str, name: str, spelled: str, url: str, key: str, client: httpx2.AsyncClient) -> Model:
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai_compatible import OpenAICompatibleProvider

    # "llama3:8b" is a model's whole name on a server of one's own, "openai:gpt-5" is not
    known = provider in (*_OPENAI, *LOCAL, "litellm", "openrouter")
    backend = OpenAICompatibleProvider("openai-compatible", base_url=url, api_key=key, http_client=client)
    return OpenAIChatModel(name if known else spelled, provider=backend)


def _hosted(model: str, provider: str, url: str, key: str, key_name: str, client: httpx2.AsyncClient) -> Model:
    from pydantic_ai.exceptions import UserError

    def factory(kind: str) -> Provider[Any]:
        return _provider(kind, url, key, client)

    try:
        return infer_model(model, factory)
    except ImportError as error:
        hint = f"Install it: {install_line(f'pydantic-ai-slim[{provider}]')}"
        raise AgentError(f"The library for {model!r} is not installed.", hint=hint, outcome="usage") from error
    except ValueError as error:
        problem, hint = unknown_provider(model).sentences
        raise AgentError(problem, hint=hint, outcome="not_found") from error
    except UserError as error:
        if not key and "API_KEY" in error.message.upper():
            hint = f"Set {key_name}, or choose another model. `reconvene doctor` shows what this machine has."
            problem = f"There is no key for {model!r}: {key_name} is not set."
            raise AgentError(problem, hint=hint, outcome="authentication") from None
        raise AgentError(f"The model {model!r} cannot be used: {error.message}", outcome="usage") from error


def _provider(kind: str, url: str, key: str, client: httpx2.AsyncClient) -> Provider[Any]:
    """Known kinds get our client, so that what they send and receive is kept; others come as they are."""
    from pydantic_ai.providers import infer_provider

    match kind:
        case "openai" | "openai-chat" | "openai-responses":
            from pydantic_ai.providers.openai import OpenAIProvider

            return OpenAIProvider(api_key=key or None, http_client=client)
        case "anthropic":
            from pydantic_ai.providers.anthropic import AnthropicProvider

            return AnthropicProvider(api_key=key or None, base_url=url or None, http_client=client)
        case "google":
            from pydantic_ai.providers.google import GoogleProvider

            return GoogleProvider(api_key=key or None, base_url=url or None, http_client=client)
        case "ollama":
            from pydantic_ai.providers.ollama import OllamaProvider

            return OllamaProvider(base_url=url, api_key=key or None, http_client=client)
        case _:
            return infer_provider(kind)
