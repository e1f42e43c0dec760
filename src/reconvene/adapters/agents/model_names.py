"""Whether a text names a model that could be asked, "provider:name". Knows the providers' names, imports no library."""

from __future__ import annotations

from msgspec import Struct

from reconvene.language.closest import closest

# What can be asked through the model library, and what speaks the protocol of OpenAI.
PROVIDERS = frozenset(
    "alibaba anthropic azure azure-responses bedrock bedrock-mantle cerebras cohere crusoe deepseek fireworks gateway "
    "github github-copilot google google-cloud google-gla google-vertex groq heroku huggingface litellm llamacpp "
    "lmstudio meta mistral moonshotai nebius ollama openai openai-chat openai-chatgpt openai-codex openai-responses "
    "openrouter ovhcloud sambanova snowflake together vercel vllm xai zai".split()
)
# How names of well-known models begin, and whose they are; the others are likely to be of a server of one's own.
_WHOSE = {"gpt": "openai", "o1": "openai", "o3": "openai", "o4": "openai", "claude": "anthropic", "gem": "google"}


class Wrong(Struct, frozen=True):
    problem: str
    hint: str

    @property
    def sentences(self) -> tuple[str, str]:
        """Both, each as a sentence."""
        problem, hint = self.problem, self.hint
        return f"{problem[0].upper()}{problem[1:]}.", f"{hint[0].upper()}{hint[1:]}" + "." * (hint[-1] not in "?'")


def wrong_with(model: str, base_url: str = "") -> Wrong | None:
    """`base_url`: a server of one's own, which has names of its own."""
    provider, colon, name = model.partition(":")
    if model == "auto" or base_url:
        return None
    if not colon:
        whose = next((who for begins, who in _WHOSE.items() if model.lower().startswith(begins)), "ollama")
        return Wrong(f"the model {model!r} does not say which provider to ask", f"write {whose}:{model}")
    if provider.partition("/")[0] not in PROVIDERS:
        return unknown_provider(model)
    if not name.strip() or name != name.strip():
        return Wrong(f"{model!r} does not name a model of {provider}", f"write it as in {provider}:NAME")
    return None


def unknown_provider(model: str) -> Wrong:
    provider, _, name = model.partition(":")
    near = closest(provider, sorted(PROVIDERS), 1)
    usual = "usual ones are openai, anthropic, google and ollama; a server of your own is reached with `base_url`"
    return Wrong(f"there is no provider {provider!r}", f"did you mean {near[0]}:{name}?" if near else usual)


def wrong_address(name: str, url: str) -> Wrong | None:
    """Of a base_url, or of the variable `name` that holds one. It would never be reached, however long one waits."""
    if not url or url.lower().startswith(("http://", "https://")):
        return None
    return Wrong(f"the address in {name}, {url!r}, does not begin with http:// or https://", f"write http://{url}")


def wrong_key(name: str, key: str) -> Wrong | None:
    """Of the variable `name` that holds a key. What is wrong is told without the key."""
    around = key[:1] + key[-1:]  # in between, some write words where no key is needed
    odd = " " if " " in around else next((one for one in key if not one.isascii() or not one.isprintable()), "")
    if not odd:
        return None
    hint = f"set it anew, in plain quotes and without spaces around it: export {name}='…'"
    return Wrong(f"{name} holds {odd!r}, which no key has", hint)
