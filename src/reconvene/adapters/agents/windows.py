"""How many tokens a model can take, prompt and reply together: what the workflow says, else what is publicly known."""

from __future__ import annotations

from functools import cache

from reconvene.core.definition.workflow import Agent

# Servers of one's own: how much they can take is a matter of how they were started.
_OWN_SERVERS = ("ollama", "lmstudio", "llamacpp", "vllm")


def window_of(agent: Agent, picked: str = "") -> int:
    """0 = not known. `picked`: the model that `auto` stands for. `options: {window: 32000}` counts before all."""
    stated = agent.options.get("window")
    if isinstance(stated, int) and stated > 0:
        return stated
    if agent.kind != "model" or agent.options.get("base_url"):
        return 0
    return _public(picked if agent.model == "auto" else agent.model)


@cache
def _public(model: str) -> int:
    provider, _, name = model.partition(":")
    if not name or provider in _OWN_SERVERS:
        return 0
    try:
        from genai_prices.data_snapshot import get_snapshot

        _, found = get_snapshot().find_provider_model(name, None, provider.partition("-")[0], None)
        return found.context_window or 0
    except Exception:  # a model that the list does not know, or no list
        return 0
