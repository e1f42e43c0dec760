"""Whether a text names a model that could be asked, "provider:name". Knows the providers' names, imports no library."""

from __future__ import annotations

import re
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


_ADDRESS = re.compile(r"https?://[^\s/]", re.IGNORECASE)


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


def wrong_address(name: str, url: str) -> Wrong | None:
    """Of a base_url, or of the variable `name` that holds one. It would never be reached, however long one waits."""
    if not url or _ADDRESS.match(url):
        return None
    return Wrong(f"{name} is {url!r}: an address begins with http:// or https://.", f"Write http://{url}")


def wrong_key(name: str, key: str) -> Wrong | None:
    """Of the variable `name` that holds a key. What is wrong is told without the key."""
    odd = next((letter for letter in key if not letter.isascii() or not letter.isprintable() or letter == " "), "")
    if not odd:
        return None
    what = f"{name} holds {odd!r}, which no key has."
    return Wrong(what, f"Set it anew, in plain quotes and without spaces around it: export {name}='…'")
