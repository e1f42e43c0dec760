"""Whether a text names a model that could be asked, "provider:name". Knows the providers' names, imports no library."""

from __future__ import annotations

from typing import NamedTuple

from reconvene.language.closest import closest

# What can be asked through the model library, and what speaks the protocol of OpenAI.
PROVIDERS = frozenset(
    "alibaba anthropic azure bedrock cerebras cohere crusoe deepseek fireworks gateway github github-copilot google "
    "google-cloud google-gla google-vertex groq heroku huggingface litellm llamacpp lmstudio meta mistral moonshotai "
    "nebius ollama openai openai-chat openai-responses openrouter ovhcloud sambanova snowflake together vercel vllm "
    "xai zai".split()
)
_USUAL = "openai:…, anthropic:…, google:…, ollama:…"


class Wrong(NamedTuple):
    message: str
    hint: str


def wrong_with(model: str, base_url: str = "") -> Wrong | None:
    """`base_url`: a server of one's own, which has names of its own."""
    provider, colon, name = model.partition(":")
    if model == "auto" or base_url:
        return None
    if not colon:
        return Wrong(
            f"{model!r} does not say which provider to ask.",
            f"Write provider:name ({_USUAL}), auto, or give `base_url` for a server that speaks the OpenAI protocol.",
        )
    if provider.partition("/")[0] not in PROVIDERS:
        near = closest(provider, sorted(PROVIDERS), 1)
        meant = f"Did you mean {near[0]}:{name}? " if near else ""
        return Wrong(f"There is no provider {provider!r} (in {model}).", f"{meant}Usual ones are {_USUAL}")
    if not name.strip() or name != name.strip():
        return Wrong(f"{model!r} does not name a model of {provider}.", f"Write it as in {provider}:NAME.")
    return None
