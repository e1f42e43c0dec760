"""Which library a model needs, whether it is installed, and the line that installs it on this machine.

The package comes without the providers' libraries; its extras `openai`, `anthropic` and `google` bring them, `models`
all three. Imports none of them: it only looks whether they are there.
"""

from __future__ import annotations

import os
import sys
from importlib.util import find_spec
from shlex import quote

EXTRAS = ("openai", "anthropic", "google")
_LIBRARY = "pydantic_ai"  # what all of them are asked through

_GOOGLE = ("google", "google-gla", "google-vertex", "google-cloud")
_MODULES = {"openai": "openai", "anthropic": "anthropic", "google": "google.genai"}
# These have a library of their own that no extra brings. All other providers speak the protocol of OpenAI.
_OTHERS = {
    "bedrock": "boto3",
    "cohere": "cohere",
    "groq": "groq",
    "huggingface": "huggingface_hub",
    "mistral": "mistralai",
    "xai": "xai_sdk",
}


def missing(model: str, base_url: str = "") -> str:
    """What has to be installed to ask this model ("provider:name"), as pip names it; "" = nothing."""
    provider, colon, _ = model.partition(":")
    provider = provider if colon else ""
    if provider in _OTHERS and not base_url:
        there = installed(_LIBRARY) and installed(_OTHERS[provider])
        return "" if there else f"pydantic-ai-slim[{provider}]"
    extra = "google" if provider in _GOOGLE else provider if provider == "anthropic" else "openai"
    return "" if installed(_LIBRARY) and installed(_MODULES[extra]) else f"reconvene[{extra}]"


def all_installed() -> bool:
    """Whether everything that the extras bring is there."""
    return installed(_LIBRARY) and all(map(installed, _MODULES.values()))


def installed(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except (ImportError, ValueError):
        return False


def install_line(requirement: str) -> str:
    """The command that installs this where the running Python finds it."""
    ours = requirement.startswith("reconvene[")
    checkout = _checkout() if ours else ""
    if checkout and os.path.realpath(sys.prefix) == os.path.join(os.path.realpath(checkout), ".venv"):
        return "make models" if os.getcwd() == checkout else f"make -C {quote(checkout)} models"
    what = f"-e '{checkout}{requirement.removeprefix('reconvene')}'" if checkout else f"'{requirement}'"
    active = sys.prefix == sys.base_prefix or os.environ.get("VIRTUAL_ENV", "") == sys.prefix
    if installed("pip"):
        return f"{'pip' if active else f'{quote(sys.executable)} -m pip'} install {what}"
    from shutil import which

    python = quote(sys.executable)
    if which("uv"):
        return f"uv pip install {'' if active else f'--python {python} '}{what}"
    return f"{python} -m ensurepip && {python} -m pip install {what}"


def _checkout() -> str:
    """The folder that the package is installed from as it lies there; "" where it was copied."""
    import json
    from importlib.metadata import PackageNotFoundError, distribution
    from urllib.parse import urlsplit
    from urllib.request import url2pathname

    try:
        told = json.loads(distribution("reconvene").read_text("direct_url.json") or "{}")
    except (PackageNotFoundError, OSError, ValueError):
        return ""
    if not told.get("dir_info", {}).get("editable"):
        return ""
    return url2pathname(urlsplit(told["url"]).path)
