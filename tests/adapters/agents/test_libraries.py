"""Which library a model needs, and the line that installs it: for a copy, a checkout, a virtual environment, uv."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

from reconvene.adapters.agents import libraries


@pytest.fixture
def nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(libraries, "installed", lambda module: module == "pip")


@pytest.mark.usefixtures("nothing")
@pytest.mark.parametrize(
    ("model", "base_url", "needs"),
    [
        ("openai:gpt-5.4", "", "reconvene[openai]"),
        ("openai-responses:gpt-5.4", "", "reconvene[openai]"),
        ("ollama:qwen3", "", "reconvene[openai]"),
        ("openrouter:some/model", "", "reconvene[openai]"),
        ("llama3:8b", "http://localhost:8000/v1", "reconvene[openai]"),
        ("auto", "http://localhost:8000/v1", "reconvene[openai]"),
        ("mistral:7b", "http://localhost:8000/v1", "reconvene[openai]"),
        ("anthropic:claude-sonnet-5", "", "reconvene[anthropic]"),
        ("anthropic:claude-sonnet-5", "https://gateway.example/", "reconvene[anthropic]"),
        ("google:gemini-flash-latest", "", "reconvene[google]"),
        ("mistral:mistral-large-latest", "", "pydantic-ai-slim[mistral]"),
    ],
)
def test_every_model_needs_a_library(model: str, base_url: str, needs: str) -> None:
    assert libraries.missing(model, base_url) == needs


def test_with_all_extras_nothing_is_missing() -> None:
    assert libraries.all_installed()
    assert [libraries.missing(f"{provider}:x") for provider in ("openai", "ollama", "anthropic", "google")] == [""] * 4
    assert libraries.installed("no_such_library_here") is False
    assert libraries.installed("no_such_library_here.inside") is False


def line(
    monkeypatch: pytest.MonkeyPatch,
    checkout: str,
    prefix: str,
    *,
    active: bool,
    pip: bool,
    requirement: str = "",
    uv: bool = True,
) -> str:
    monkeypatch.setattr(shutil, "which", lambda program: f"/bin/{program}" if uv else None)
    monkeypatch.setattr(libraries, "_checkout", lambda: checkout)
    monkeypatch.setattr(libraries, "installed", lambda module: pip)
    monkeypatch.setattr(sys, "prefix", prefix)
    monkeypatch.setattr(sys, "executable", f"{prefix}/bin/python")
    monkeypatch.setenv("VIRTUAL_ENV", prefix if active else "")
    return libraries.install_line(requirement or "reconvene[openai]")


def test_the_line_installs_where_this_python_looks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    env, checkout = str(tmp_path / "env"), str(tmp_path / "checkout")
    assert line(monkeypatch, "", env, active=True, pip=True) == "pip install 'reconvene[openai]'"
    assert line(monkeypatch, "", env, active=False, pip=True) == f"{env}/bin/python -m pip install 'reconvene[openai]'"
    assert line(monkeypatch, "", env, active=True, pip=False) == "uv pip install 'reconvene[openai]'"
    assert line(monkeypatch, "", sys.base_prefix, active=False, pip=True) == "pip install 'reconvene[openai]'"
    told = line(monkeypatch, "", env, active=False, pip=False)
    assert told == f"uv pip install --python {env}/bin/python 'reconvene[openai]'"
    told = line(monkeypatch, "", env, active=True, pip=False, uv=False)
    assert told == f"{env}/bin/python -m ensurepip && {env}/bin/python -m pip install 'reconvene[openai]'"
    assert line(monkeypatch, checkout, env, active=True, pip=True) == f"pip install -e '{checkout}[openai]'"
    told = line(monkeypatch, checkout, env, active=True, pip=True, requirement="pydantic-ai-slim[groq]")
    assert told == "pip install 'pydantic-ai-slim[groq]'"


def test_in_the_environment_that_make_made_make_installs_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    checkout = tmp_path / "check out"
    (checkout / ".venv").mkdir(parents=True)
    for pip in (True, False):
        told = line(monkeypatch, str(checkout), str(checkout / ".venv"), active=True, pip=pip)
        assert told == f"make -C '{checkout}' models"
    monkeypatch.chdir(checkout)
    assert line(monkeypatch, str(checkout), str(checkout / ".venv"), active=False, pip=True) == "make models"
