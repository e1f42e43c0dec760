"""What agents are done by, and what of it is not there: of the file, of the machine, and notes."""

from __future__ import annotations

import inspect
import os
from collections.abc import Mapping
from pathlib import Path

import pytest

from reconvene.adapters.agents import auto, libraries
from reconvene.adapters.agents.model_names import PROVIDERS
from reconvene.adapters.agents.preflight import Lack, Way, lacks, unpriced, ways
from reconvene.wire.reach import reachable
from reconvene.wire.workflow_file import parse_workflow

FLOW = """
name: w
settings: {{coder: {{type: text, default: ""}}, build: {{type: bool, default: false}}}}
agents:
{agents}
phases:
  - {{id: one, agents: [{names}]}}
"""


@pytest.fixture(autouse=True)
def alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(auto, "probe_ollama", lambda url: None)
    monkeypatch.setattr(libraries, "missing", lambda model, url="": "")


def looked(agents: Mapping[str, str], beside: str = "", **environ: str) -> tuple[list[Way], list[Lack]]:
    written = "\n".join(f"  {name}: {agent}" for name, agent in agents.items())
    workflow = parse_workflow(FLOW.format(agents=written, names=", ".join(agents)))
    around = {"PATH": os.environ["PATH"], **environ}
    fixed: dict[str, dict[str, object]] = {"settings": {"coder": environ.get("CODER", "")}, "inputs": {}}
    found, without = ways(workflow, reachable(workflow), fixed, around, (), beside)
    return found, [*without, *(lack for way in found for lack in lacks(way, around))]


def told(agent: str, beside: str = "", **environ: str) -> list[tuple[str, str, str]]:
    return [(lack.level, lack.problem, lack.hint) for lack in looked({"a": agent}, beside, **environ)[1]]


def test_agents_that_share_a_model_or_a_command_are_one_way() -> None:
    model, command = '{model: "openai:gpt-5.4"}', "{command: [cat]}"
    found, _ = looked({"a": model, "b": command, "c": model, "d": command, "e": '{model: "openai:gpt-5.5"}'})
    assert [(way.kind, way.name, way.who) for way in found] == [
        ("model", "openai:gpt-5.4", ("a", "c")),
        ("command", "cat", ("b", "d")),
        ("model", "openai:gpt-5.5", ("e",)),
    ]


@pytest.mark.parametrize(
    ("agent", "variables", "missing"),
    [
        ('{model: "anthropic:x"}', {}, "ANTHROPIC_API_KEY"),
        ('{model: "anthropic:x"}', {"ANTHROPIC_API_KEY": "k"}, ""),
        ('{model: "google:x"}', {}, "GOOGLE_API_KEY or GEMINI_API_KEY"),
        ('{model: "google:x"}', {"GEMINI_API_KEY": "k"}, ""),
        ('{model: "openai:x"}', {"OPENAI_BASE_URL": "http://127.0.0.1:1/v1"}, ""),
        ('{model: "openai:x"}', {"OPENAI_BASE_URL": "https://api.openai.com/v1"}, "OPENAI_API_KEY"),
        ('{model: "openai:x", options: {base_url: "http://127.0.0.1:1/v1"}}', {}, ""),
        ('{model: "openai:x", options: {api_key_env: WORK_KEY}}', {"OPENAI_API_KEY": "k"}, "WORK_KEY"),
        ('{model: "bedrock:x"}', {}, ""),
    ],
)
def test_a_key_is_looked_for_where_the_model_needs_one(agent: str, variables: dict[str, str], missing: str) -> None:
    found = [problem for level, problem, _ in told(agent, **variables) if level == "machine"]
    assert [problem.rpartition(": ")[2] for problem in found] == ([f"{missing} is not set"] if missing else [])


def test_a_key_that_a_server_of_ones_own_may_not_need_is_a_note() -> None:
    agent = '{model: "openai:x", options: {base_url: "http://127.0.0.1:1/v1", api_key_env: WORK_KEY}}'
    assert told(agent) == [
        ("note", "WORK_KEY is not set; openai:x at http://127.0.0.1:1/v1 is asked without a key", "export WORK_KEY=…")
    ]


def test_a_library_comes_before_a_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(libraries, "missing", lambda model, url="": "reconvene[openai]")
    ((level, problem, hint),) = told('{model: "openai:gpt-5.4"}')
    assert (level, problem) == ("machine", "the library for openai:gpt-5.4 is not installed")
    assert hint.startswith("install it: ")


def test_ollama_that_does_not_run_or_lacks_the_model_is_a_note(monkeypatch: pytest.MonkeyPatch) -> None:
    assert [(level, hint) for level, _, hint in told('{model: "ollama:qwen3"}')] == [("note", "start it: ollama serve")]
    monkeypatch.setattr(auto, "probe_ollama", lambda url: ["qwen3:latest"])
    assert told('{model: "ollama:qwen3"}') == []
    assert [hint for _, _, hint in told('{model: "ollama:llama3.2"}')] == ["ollama pull llama3.2"]


def test_auto_without_anything_says_what_would_do(monkeypatch: pytest.MonkeyPatch) -> None:
    ((level, problem, hint),) = told("{}", PATH="/nowhere")
    assert level == "machine"
    assert problem.startswith("no model was found on this machine")
    assert "export ANTHROPIC_API_KEY=…" in hint


def test_auto_is_looked_at_as_what_it_picks() -> None:
    found, lacking = looked({"a": "{}", "b": "{}"}, ANTHROPIC_API_KEY="k")
    assert [(way.name, way.who, way.why) for way in found] == [
        ("anthropic:claude-sonnet-5", ("a", "b"), "ANTHROPIC_API_KEY is set")
    ]
    assert lacking == []


@pytest.mark.parametrize(
    ("agent", "program"),
    [
        ("{command: [no-such-program, -p]}", "no-such-program"),
        ("{command: no-such-program exec -}", "no-such-program"),
        ("{command: 'echo hello'}", ""),
        ("{command: 'no-such-program | cat'}", ""),  # what a shell makes of it is not followed
        ("{command: 'X=1 no-such-program'}", ""),
        ("{command: 'if true; then echo; fi'}", ""),
        ("{command: [sh, -c, 'no-such-program || true']}", ""),
        ('{command: "{{ settings.coder }}"}', "another-program"),
    ],
)
def test_a_program_is_looked_for_on_the_path(agent: str, program: str) -> None:
    found = told(agent, CODER="another-program --fast")
    assert [problem for _, problem, _ in found] == ([f"there is no program {program!r} on PATH"] if program else [])


def test_a_command_that_is_not_settled_yet_is_passed_over() -> None:
    assert told('{command: "{{ settings.coder }}"}') == []


def test_a_program_at_a_path_must_be_one(tmp_path: Path) -> None:
    script = tmp_path / "x.sh"
    assert told(f"{{command: ['{script}']}}")[0][1:] == (
        f"there is no program {script}",
        "check the path, or correct `command:`",
    )
    script.write_text("")
    assert told(f"{{command: ['{script}']}}") == [("machine", f"{script} may not be executed", f"chmod +x {script}")]
    script.chmod(0o755)
    assert told(f"{{command: ['{script}']}}") == []
    assert told(f"{{command: ['{tmp_path}']}}")[0][1] == f"{tmp_path} is a folder, not a program"


def test_a_file_on_the_path_that_lacks_only_the_permission_is_found(tmp_path: Path) -> None:
    (tmp_path / "tool").write_text("")
    assert told("{command: [tool]}", PATH=str(tmp_path)) == [
        ("machine", f"{tmp_path / 'tool'} may not be executed", f"chmod +x {tmp_path / 'tool'}")
    ]


def test_a_script_beside_the_workflow_is_a_note_with_its_full_path(tmp_path: Path) -> None:
    (tmp_path / "score.py").write_text("")
    assert told("{command: [cat, score.py]}", str(tmp_path)) == [
        (
            "note",
            "score.py lies beside the workflow, and a command starts in a private folder",
            f"write its full path: {tmp_path / 'score.py'}",
        )
    ]
    assert told("{command: [cat, other.py]}", str(tmp_path)) == []


def test_the_script_of_a_check_is_looked_for_too() -> None:
    text = """
name: w
agents: {a: {command: [cat]}}
phases: [{id: one, agents: [a], check: {script: [no-such-check]}}]
"""
    workflow = parse_workflow(text)
    around = {"PATH": os.environ["PATH"]}
    found, _ = ways(workflow, reachable(workflow), {}, around)
    ((lack),) = [lack for way in found for lack in lacks(way, around)]
    assert (lack.whom, lack.line) == ("the check of one", 4)
    assert lack.problem == "there is no program 'no-such-check' on PATH"


def test_phases_that_the_settings_rule_out_need_nothing() -> None:
    text = """
name: w
settings: {build: {type: bool, default: false}}
agents: {a: {command: [cat]}, b: {command: [cat]}, c: {command: [cat]}}
phases:
  - {id: one, agents: [a]}
  - {id: two, when: "settings.build", phases: [{id: inner, agents: [b]}]}
  - {id: three, steps: [{agents: [c], when: "!settings.build"}]}
"""
    workflow = parse_workflow(text)
    assert reachable(workflow).agents == ("a", "b", "c")
    assert reachable(workflow, {"settings": {"build": False}, "inputs": {}}).agents == ("a", "c")
    assert reachable(workflow, {"settings": {"build": True}, "inputs": {}}).agents == ("a", "b")


def test_whoever_an_expression_may_name_is_reached() -> None:
    text = """
name: w
agents: {a: {command: [cat]}, b: {command: [cat]}}
phases: [{id: one, steps: [{agents: "['a']"}]}]
"""
    assert reachable(parse_workflow(text)).agents == ("a", "b")


def test_every_provider_that_we_know_is_one() -> None:
    source = inspect.getsource(pytest.importorskip("pydantic_ai.providers").infer_provider_class)
    ours = {"lmstudio", "llamacpp", "google-gla", "google-vertex", "gateway"}  # ours, older names, a prefix
    assert [name for name in PROVIDERS if name not in ours and f"'{name}'" not in source] == []


def test_a_model_without_a_price_is_not_bounded_by_a_limit_of_cost() -> None:
    pytest.importorskip("genai_prices")
    loops = '{model: "ollama:qwen3", tools: [files], loop: {cost: 1}}'
    agents = {"a": '{model: "openai:gpt-4o-mini"}', "b": '{model: "ollama:qwen3"}', "c": "{command: [cat]}", "d": loops}
    found, _ = looked(agents)

    def told(limited: bool, *loops: str) -> list[tuple[tuple[str, ...], str]]:
        lacks = unpriced(found, limited=limited, loops=loops)
        return [(lack.who, lack.problem) for lack in lacks if lack.level == "note"]

    said = "no price is known for ollama:qwen3, so"
    assert told(False, "a") == []
    assert told(True) == [(("b", "d"), f"{said} limits.cost does not bound it")]
    assert told(False, "d") == [(("b", "d"), f"{said} loop.cost does not bound it")]
    assert told(True, "d") == [(("b", "d"), f"{said} limits.cost and loop.cost do not bound it")]
