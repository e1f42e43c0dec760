"""`model: auto`: use what this machine has, say what that is, and explain what to do where there is nothing.

The order: `RECONVENE_MODEL`, a provider's key in the environment, a local Ollama, an installed command-line agent. What
lacks only its library comes last: nothing else may be there, and then a line that installs it is the best answer.
Imports no model library: it only looks whether one is there.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Literal, NamedTuple

from reconvene.adapters.agents.libraries import install_line, missing
from reconvene.adapters.agents.presets import PRESETS
from reconvene.errors import AgentError

OLLAMA_URL = "http://localhost:11434/v1"
_PROBE_SECONDS = 0.3

Which = Callable[[str], str | None]
Probe = Callable[[str], list[str] | None]


class Picked(NamedTuple):
    kind: Literal["model", "command"]
    model: str
    command: tuple[str, ...]
    why: str

    @property
    def name(self) -> str:
        return self.model if self.kind == "model" else " ".join(part or "''" for part in self.command)


class _Provider(NamedTuple):
    key: str
    model: str


_PROVIDERS = (
    _Provider("ANTHROPIC_API_KEY", "anthropic:claude-sonnet-5"),
    _Provider("OPENAI_API_KEY", "openai:gpt-5.4"),
    _Provider("GOOGLE_API_KEY", "google:gemini-flash-latest"),
    _Provider("GEMINI_API_KEY", "google:gemini-flash-latest"),
    _Provider("MISTRAL_API_KEY", "mistral:mistral-large-latest"),
    _Provider("GROQ_API_KEY", "groq:llama-3.3-70b-versatile"),
)

# by their bare names: `presets` says how each works
PROGRAMS = ("claude", "codex", "gemini")


def coder(environ: Mapping[str, str], which: Which | None = None) -> str:
    """An installed coding agent, "" where there is none."""
    which = which or _finder(environ)
    return next((program for program in PROGRAMS if which(program)), "")


def probe_ollama(base_url: str) -> list[str] | None:
    """The models of an Ollama server, None where nobody answers within a moment."""
    address = base_url.rstrip("/").removesuffix("/v1") + "/api/tags"
    import urllib.request

    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(address, timeout=_PROBE_SECONDS) as response:
            models = json.load(response).get("models", [])
        return [str(model["name"]) for model in models]
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return None


def ollama_url(environ: Mapping[str, str]) -> str:
    """Where Ollama is: OLLAMA_BASE_URL, Ollama's own OLLAMA_HOST, or its usual port."""
    if url := environ.get("OLLAMA_BASE_URL"):
        return url
    if host := environ.get("OLLAMA_HOST"):
        host = host if "://" in host else f"http://{host}"
        host = host.replace("//0.0.0.0", "//127.0.0.1")
        return host.rstrip("/") + ("" if host.count(":") > 1 else ":11434") + "/v1"
    return OLLAMA_URL


def pick(environ: Mapping[str, str], which: Which | None = None, probe_ollama: Probe = probe_ollama) -> Picked | None:
    """The best this machine offers, None where it offers nothing. Programs are looked for on the environment's PATH."""
    which = which or _finder(environ)
    if model := environ.get("RECONVENE_MODEL", "").strip():
        if model.startswith("command:"):
            return Picked("command", "", tuple(model.removeprefix("command:").split()), "RECONVENE_MODEL says so")
        if model != "auto":
            return Picked("model", model, (), "RECONVENE_MODEL says so")
    keys = [Picked("model", one.model, (), f"{one.key} is set") for one in _PROVIDERS if environ.get(one.key)]
    url = ollama_url(environ)
    models = probe_ollama(url) if all(missing(one.model) for one in keys) else None
    local = [Picked("model", f"ollama:{_chatty(models)}", (), f"Ollama is running at {url}")] if models else []
    ready = [one for one in (*keys, *local) if not missing(one.model)]
    programs = (Picked("command", "", (one,), f"{one} is installed") for one in PROGRAMS if which(one))
    return next(iter(ready), None) or next(programs, None) or next(iter((*keys, *local)), None)


def _finder(environ: Mapping[str, str]) -> Which:
    from shutil import which

    return lambda program: which(program, path=environ.get("PATH", ""))


def _chatty(models: list[str]) -> str:
    """The first model that is not only for embeddings."""
    return next((name for name in models if "embed" not in name), models[0])


def nothing_found() -> AgentError:
    keys = "ANTHROPIC_API_KEY, OPENAI_API_KEY or GOOGLE_API_KEY"
    programs = ", ".join(PROGRAMS)
    return AgentError(
        "`model: auto` found nothing to use on this machine: no provider key is set, no Ollama is running, and none of "
        f"the command-line agents {programs} is installed.",
        hint=f"Any one of these is enough: set {keys}; start Ollama (`ollama serve`, `ollama pull llama3.2`); "
        "install one of those command-line agents; set RECONVENE_MODEL=provider:model; or write `command: [...]` "
        "for the agent.",
        outcome="usage",
    )


def describe(
    environ: Mapping[str, str], which: Which | None = None, probe_ollama: Probe = probe_ollama
) -> list[tuple[str, bool, str]]:
    """What `auto` would look at, one line each: (name, there, detail). The first line is what it would pick."""
    which = which or _finder(environ)
    picked = pick(environ, which, probe_ollama)
    lines = [
        ("model auto", True, f"{picked.name} ({picked.why})")
        if picked
        else ("model auto", False, nothing_found().hint),
    ]
    for provider in _PROVIDERS:
        there, lacks = bool(environ.get(provider.key)), missing(provider.model)
        absent = f"set, but its library is not installed: {install_line(lacks)}" if there else "not set"
        lines.append((provider.key, there and not lacks, provider.model if there and not lacks else absent))
    url = ollama_url(environ)
    models = probe_ollama(url)
    if models is None:
        lines.append(("Ollama", False, f"nobody answers at {url}"))
    else:
        lacks = missing("ollama:")
        told = ", ".join(models[:5]) if models else "running, but it has no model yet"
        told += f"; its library is not installed: {install_line(lacks)}" if lacks else ""
        lines.append(("Ollama", bool(models) and not lacks, told))
    for program in PRESETS:
        found = which(program)
        lines.append((program, bool(found), found or "not installed"))
    return lines
