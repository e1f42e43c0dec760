"""`model: auto` on machines that have this or that."""

from __future__ import annotations

import asyncio
import os
import stat
from pathlib import Path

import pytest

from reconvene.adapters.agents import Agents, auto
from reconvene.core.definition.workflow import Agent
from reconvene.errors import AgentError
from reconvene.ports import Assignment
from reconvene.testing.openai_server import OpenAIServer, Say

NOBODY = {"OLLAMA_BASE_URL": "http://127.0.0.1:9/v1"}  # the discard port: nobody listens there


@pytest.fixture(autouse=True)
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """A busy machine may take longer than the moment that a person is made to wait."""
    monkeypatch.setattr(auto, "_PROBE_SECONDS", 60.0)


def nothing_installed(program: str) -> None:
    return None


def no_ollama(url: str) -> None:
    return None


def pick(
    environ: dict[str, str], *, installed: tuple[str, ...] = (), ollama: list[str] | None = None
) -> auto.Picked | None:
    return auto.pick(environ, lambda name: f"/bin/{name}" if name in installed else None, lambda url: ollama)


def assign(**rest: object) -> Assignment:
    agent = Agent(name="writer", kind="model", timeout=120.0)
    return Assignment("r", "R1/0/writer", 1, agent, "Write.", {}, (), None)._replace(**rest)  # type: ignore[arg-type]


def test_a_provider_key_is_preferred_to_local_things() -> None:
    picked = pick({"ANTHROPIC_API_KEY": "k", "OPENAI_API_KEY": "k"}, installed=("claude",), ollama=["llama3"])
    assert picked is not None
    assert picked.model.startswith("anthropic:")
    assert picked.why == "ANTHROPIC_API_KEY is set"
    openai, google = pick({"OPENAI_API_KEY": "k"}), pick({"GEMINI_API_KEY": "k"})
    assert openai is not None
    assert openai.model.startswith("openai:")
    assert google is not None
    assert google.model.startswith("google:")


def test_an_empty_key_does_not_count() -> None:
    assert pick({"OPENAI_API_KEY": ""}) is None


def test_what_lacks_only_its_library_comes_after_everything_that_is_ready(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(auto, "missing", lambda model: "" if model.startswith("google:") else "reconvene[openai]")

    def picked(*keys: str, installed: tuple[str, ...] = (), ollama: list[str] | None = None) -> str:
        found = pick(dict.fromkeys(keys, "k"), installed=installed, ollama=ollama)
        return found.name if found else ""

    assert picked("ANTHROPIC_API_KEY", "GEMINI_API_KEY", ollama=["llama3"]).startswith("google:")
    assert picked("ANTHROPIC_API_KEY", installed=("claude",), ollama=["llama3"]) == "claude"
    assert picked("ANTHROPIC_API_KEY", ollama=["llama3"]).startswith("anthropic:")
    assert picked(ollama=["llama3"]) == "ollama:llama3"
    lines = auto.describe({"OPENAI_API_KEY": "k"}, nothing_installed, no_ollama)
    (line,) = [line for line in lines if line[0] == "OPENAI_API_KEY"]
    assert line[1] is False
    assert "its library is not installed: " in line[2]


def test_reconvene_model_wins_over_everything() -> None:
    picked = pick({"RECONVENE_MODEL": "mistral:large", "ANTHROPIC_API_KEY": "k"}, ollama=["x"])
    assert picked == auto.Picked("model", "mistral:large", (), "RECONVENE_MODEL says so")
    command = pick({"RECONVENE_MODEL": "command:my-agent --stdin"})
    assert command is not None
    assert command.command == ("my-agent", "--stdin")


def test_ollama_comes_before_command_line_agents() -> None:
    picked = pick({}, installed=("claude",), ollama=["nomic-embed-text", "llama3.2:3b"])
    assert picked is not None
    assert picked.model == "ollama:llama3.2:3b"
    empty = pick({}, installed=("codex",), ollama=[])
    assert empty is not None
    assert empty.command == ("codex",)


def test_where_ollama_is() -> None:
    assert auto.ollama_url({}) == "http://localhost:11434/v1"
    assert auto.ollama_url({"OLLAMA_HOST": "0.0.0.0"}) == "http://127.0.0.1:11434/v1"
    assert auto.ollama_url({"OLLAMA_HOST": "https://box:1234/"}) == "https://box:1234/v1"
    assert auto.ollama_url({"OLLAMA_BASE_URL": "http://x/v1", "OLLAMA_HOST": "y"}) == "http://x/v1"


def test_the_probe_asks_a_real_server_and_takes_no_answer_for_none() -> None:
    with OpenAIServer(models=("llama3",)) as server:
        assert auto.probe_ollama(server.url) == ["llama3"]
        assert auto.probe_ollama(server.url + "/elsewhere") is None
    assert auto.probe_ollama("http://127.0.0.1:9/v1") is None
    assert auto.probe_ollama("nonsense") is None


def test_nothing_at_all_explains_the_choices(tmp_path: Path) -> None:
    with pytest.raises(AgentError) as caught:
        asyncio.run(Agents(str(tmp_path), NOBODY | {"PATH": str(tmp_path)}).run(assign(), lambda _: None))
    error = caught.value
    assert not error.retryable
    for word in ("ANTHROPIC_API_KEY", "Ollama", "command-line agents", "RECONVENE_MODEL", "`command: [...]`"):
        assert word in error.hint


def test_it_says_once_what_it_picked() -> None:
    said: list[str] = []
    with OpenAIServer(Say("hello"), models=("tiny",)) as server:
        agents = Agents("/nowhere", {"OLLAMA_BASE_URL": server.url}, said.append)

        async def both() -> None:
            await asyncio.gather(*(agents.run(assign(), lambda _: None) for _ in range(3)))
            await agents.close()

        asyncio.run(both())
    assert said == [f"model auto → ollama:tiny (Ollama is running at {server.url})"]
    assert {request.body["model"] for request in server.requests} == {"tiny"}


def cli(folder: Path, script: str) -> dict[str, str]:
    program = folder / "claude"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    return NOBODY | {"PATH": f"{folder}{os.pathsep}{os.environ['PATH']}"}


def test_an_installed_command_line_agent_stands_in_for_a_model(tmp_path: Path) -> None:
    environ = cli(tmp_path, '[ "$1" = -p ] && cat')
    said: list[str] = []
    answer = asyncio.run(Agents(str(tmp_path / "s"), environ, said.append).run(assign(), lambda _: None))
    assert answer.text == "Write.\n"
    assert said == ["model auto → claude (claude is installed)"]


def test_a_stand_in_hands_over_files_and_values_like_a_model(tmp_path: Path) -> None:
    environ = cli(tmp_path, """printf '{"a": 1}\\n<file path="x.md">\\nX\\n</file>\\n'""")
    asked = assign(writes=("*.md",), schema={"type": "object"})
    answer = asyncio.run(Agents(str(tmp_path / "s"), environ).run(asked, lambda _: None))
    assert answer.files == {"x.md": b"X\n"}
    assert answer.value == {"a": 1}
    environ = cli(tmp_path, "echo wrote it; echo W > plan.md")
    answer = asyncio.run(Agents(str(tmp_path / "s"), environ).run(assign(writes=("plan.md",)), lambda _: None))
    assert answer.files == {"plan.md": b"W\n"}
    environ = cli(tmp_path, "echo '# Plan'")
    answer = asyncio.run(Agents(str(tmp_path / "s"), environ).run(assign(writes=("plan.md",)), lambda _: None))
    assert answer.files == {"plan.md": b"# Plan\n"}


def test_doctor_gets_a_line_for_everything() -> None:
    lines = auto.describe({"OPENAI_API_KEY": "k"}, nothing_installed, no_ollama)
    assert lines[0][:2] == ("model auto", True)
    there = {name: ok for name, ok, _ in lines}
    assert there["OPENAI_API_KEY"] is True
    assert there["ANTHROPIC_API_KEY"] is False
    assert there["Ollama"] is False
    assert there["claude"] is False
    assert "k" not in [detail for _, _, detail in lines]
    assert auto.describe({}, nothing_installed, no_ollama)[0][1] is False
