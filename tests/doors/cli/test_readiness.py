"""What a workflow finds on this machine: `check` looks, `run` and `resume` refuse before anything is recorded, and
`doctor WORKFLOW` makes one call each."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from commands import Command
from reconvene.adapters.sandbox import levels
from reconvene.testing.openai_server import OpenAIServer, Say

FLOW = """\
name: flow
agents:
  writer: {writer}
  reviewer: {reviewer}
  idle: {{command: [no-such-idler]}}
phases:
  - {{id: draft, agents: [writer], checkpoint: {{approval_required: true}}}}
  - {{id: review, agents: [reviewer]}}
  - {{id: never, when: "false", agents: [writer]}}
"""
SAYS_OK = '{command: [sh, -c, "cat >/dev/null; echo OK"]}'


def there_is_a_sandbox() -> bool:
    return levels.find(os.environ).name != "none"


def write(folder: Path, writer: str = SAYS_OK, reviewer: str = SAYS_OK) -> None:
    (folder / "flow.yaml").write_text(FLOW.format(writer=writer, reviewer=reviewer), encoding="utf-8")


def test_check_says_what_this_machine_lacks_and_the_file_is_valid(reconvene: Command, folder: Path) -> None:
    write(folder, reviewer="{command: [no-such-program]}")
    done = reconvene("check", "flow.yaml")
    assert done.code == 0
    valid, _, *here, last = done.out.splitlines()
    assert valid == "flow.yaml is a valid workflow (flow: 3 phases, 3 agents)"
    assert here[:4] == [
        "on this machine",
        "  ✓ cat >/dev/null; echo OK (writer)",
        "  ✗ flow.yaml:4: there is no program 'no-such-program' on PATH (agent reviewer)",
        "      install no-such-program, or put it on PATH; command -v no-such-program then says where it is",
    ]
    assert last == "the file is right; a run starts here once this is there"
    assert reconvene("check", "flow.yaml", "--here").code == 1


def test_check_for_a_script_keeps_the_file_and_the_machine_apart(reconvene: Command, folder: Path) -> None:
    write(folder, reviewer="{command: [no-such-program]}")
    found = reconvene("check", "flow.yaml", "--json").object
    assert (found["ok"], found["problems"]) == (True, [])
    here = found["here"]
    assert isinstance(here, dict)
    assert here["ok"] is False
    (lack,) = here["lacks"]
    assert (lack["level"], lack["agents"], lack["line"]) == ("machine", ["reviewer"], 4)


def test_agents_that_no_run_comes_to_are_not_looked_at(reconvene: Command, folder: Path) -> None:
    write(folder)
    done = reconvene("check", "flow.yaml", "--here")
    assert done.code == 0
    assert "no-such-idler" not in done.out
    assert done.out.endswith("one tiny real call to each: reconvene doctor flow.yaml\n")


@pytest.mark.parametrize("command", ["run", "new"])
def test_a_run_does_not_start_where_a_later_agent_cannot_work(reconvene: Command, folder: Path, command: str) -> None:
    write(folder, reviewer="{command: [no-such-program]}")
    done = reconvene(command, "flow.yaml")
    assert done.code == 64
    assert done.err.startswith("error: flow.yaml:4: there is no program 'no-such-program' on PATH (agent reviewer)\n")
    assert not (folder / ".reconvene").exists()


def test_everything_that_lacks_is_said_at_once(reconvene: Command, folder: Path) -> None:
    write(folder, '{model: "opnai:x"}', '{python: "nowhere:work"}')
    done = reconvene("run", "flow.yaml")
    assert done.err.splitlines() == [
        "error: agents of this workflow cannot work here; nothing was started",
        "flow.yaml:3: there is no provider 'opnai' (agent writer)",
        "  did you mean openai:x?",
        "flow.yaml:4: there is no Python module 'nowhere' (agent reviewer)",
        "  put nowhere.py beside the workflow, or install it beside reconvene",
        "hint: look again: reconvene check flow.yaml; start all the same: --anyway",
    ]


def test_a_function_in_a_module_beside_the_workflow_is_found(reconvene: Command, folder: Path) -> None:
    (folder / "mine.py").write_text("def work(assignment): return 'done'\n", encoding="utf-8")
    write(folder, '{python: "mine:work"}')
    assert reconvene("check", "flow.yaml", "--here").code == 0
    write(folder, '{python: "mine:wrok"}')
    done = reconvene("run", "flow.yaml")
    assert done.err == (
        "error: flow.yaml:3: the module 'mine' has no function 'wrok' (agent writer)\nhint: did you mean mine:work?\n"
    )


def test_a_person_may_start_all_the_same(reconvene: Command, folder: Path) -> None:
    write(folder, reviewer="{command: [no-such-program]}")
    assert reconvene("run", "flow.yaml", "--anyway").code == 3


def test_resume_refuses_while_the_agent_whose_turn_it_is_cannot_work(reconvene: Command, folder: Path) -> None:
    tool = folder / "tool"
    tool.write_text("#!/bin/sh\necho done\n", encoding="utf-8")
    tool.chmod(0o755)
    write(folder, writer=f'{{command: ["{tool}"]}}')
    assert reconvene("new", "flow.yaml").code == 0
    tool.chmod(0o644)
    before = reconvene("log", "flow-1").out
    done = reconvene("resume", "flow-1")
    assert done.code == 64
    assert done.err == f"error: flow.yaml:3: {tool} may not be executed (agent writer)\nhint: chmod +x {tool}\n"
    assert reconvene("log", "flow-1").out == before
    tool.chmod(0o755)
    assert reconvene("resume", "flow-1").code == 3


@pytest.mark.parametrize("words", [("decide", "flow-1", "--option", "Continue"), ("resume", "--answers", "yes.yaml")])
def test_a_decision_is_on_record_before_it_is_said_what_the_next_agent_lacks(
    reconvene: Command, folder: Path, words: tuple[str, ...]
) -> None:
    (folder / "yes.yaml").write_text("- Continue\n", encoding="utf-8")
    write(folder, reviewer='{model: "anthropic:claude-sonnet-5"}')
    assert reconvene("run", "flow.yaml", ANTHROPIC_API_KEY="none").code == 3
    done = reconvene(*words)
    assert done.code == 3
    assert (
        "what you decided is recorded, and no agent was asked yet:\n"
        "flow.yaml:4: there is no key for anthropic:claude-sonnet-5: ANTHROPIC_API_KEY is not set (agent reviewer)\n"
        "hint: export ANTHROPIC_API_KEY=…\n"
    ) in done.err
    assert "flow-1 is running at draft, round 1 (nobody is driving it)" in done.out
    assert done.out.endswith("continue with:\n  reconvene resume flow-1\n")
    shown = reconvene("show", "flow-1", "--json").object
    decisions, failures = shown["decisions"], shown["failures"]
    assert isinstance(decisions, list)
    assert (len(decisions), failures) == (1, [])
    assert reconvene("resume", "flow-1", "--agent", "reviewer=sh -c 'cat >/dev/null; echo fine'").code == 0


def test_nobody_is_in_doubt_whether_an_agent_has_acted_that_was_not_asked(reconvene: Command, folder: Path) -> None:
    tool = folder / "tool"
    tool.write_text("#!/bin/sh\ncat >/dev/null; echo done\n", encoding="utf-8")
    write(folder, reviewer=f'{{command: ["{tool}"], effects: true}}')
    tool.chmod(0o755)
    assert reconvene("run", "flow.yaml").code == 3
    tool.chmod(0o644)
    assert "no agent was asked yet" in reconvene("decide", "--option", "Continue", "--latest").err
    tool.chmod(0o755)
    assert reconvene("resume", "flow-1").code == 0
    assert "verdict=doubt" not in reconvene("log", "flow-1").out


def test_a_round_that_is_undone_is_not_begun_anew_where_its_agent_cannot_work(reconvene: Command, folder: Path) -> None:
    tool = folder / "tool"
    tool.write_text("#!/bin/sh\necho done\n", encoding="utf-8")
    tool.chmod(0o755)
    write(folder, writer=f'{{command: ["{tool}"]}}')
    assert reconvene("run", "flow.yaml").code == 3
    tool.chmod(0o644)
    done = reconvene("rollback", "--json")
    assert (done.code, done.object["status"], done.object["driven"]) == (3, "running", False)
    assert f"flow.yaml:3: {tool} may not be executed (agent writer)\nhint: chmod +x {tool}" in done.err
    tool.chmod(0o755)
    assert reconvene("resume").code == 3


def test_check_looks_at_the_agents_that_a_run_would_have(reconvene: Command, folder: Path) -> None:
    write(folder, reviewer="{command: [no-such-program]}")
    (folder / "reconvene.toml").write_text("[agents]\nreviewer = \"sh -c 'echo OK'\"\n", encoding="utf-8")
    assert reconvene("check", "flow.yaml", "--here").code == 0
    done = reconvene("check", "flow.yaml", "--agent", "writer=no-such-writer")
    assert "\n  ✗ there is no program 'no-such-writer' on PATH (agent writer)\n" in done.out  # and no line of the file


# --- doctor WORKFLOW ---


def test_doctor_calls_whom_the_command_line_and_accepted_settings_name(reconvene: Command, folder: Path) -> None:
    write(folder, "{command: [no-such-writer]}", "{command: [no-such-program]}")
    (folder / "reconvene.toml").write_text("[agents]\nreviewer = \"sh -c 'echo OK'\"\n", encoding="utf-8")
    refused = reconvene("doctor", "flow.yaml", "--agent", "writer=sh -c 'echo OK'")
    assert refused.code == 64
    digest = refused.err.split("reconvene accept ")[1].split()[0]
    assert reconvene("accept", digest).code == 0
    done = reconvene("doctor", "flow.yaml", "--agent", "writer=sh -c 'echo OK'")
    assert (done.code, done.out.count("✓")) == (0, 1)
    assert reconvene("doctor", "--agent", "writer=cat").code == 64


def test_doctor_calls_each_model_and_program_once(reconvene: Command, folder: Path) -> None:
    with OpenAIServer(Say("OK")) as server:
        model = f'{{model: "openai:gpt-4o-mini", options: {{base_url: "{server.url}"}}}}'
        write(folder, SAYS_OK, model)
        done = reconvene("doctor", "flow.yaml")
        assert len(server.requests) == 1
        assert "Reply with the word OK" in server.requests[0].prompt
    assert done.code == 0, done.out
    assert done.out.startswith("2 real calls that ask for the word OK: at most 60 s, and 200 tokens of a model; ")
    (row,) = [line for line in done.out.splitlines() if "gpt-4o-mini" in line and line.startswith("✓")]
    assert row.split()[-2] == "18"  # tokens
    assert row.split()[-1] == "<$0.0001"
    assert not (folder / ".reconvene").exists()


def test_doctor_shows_who_shares_a_call_and_what_failed(reconvene: Command, folder: Path) -> None:
    failing = '{command: [sh, -c, "echo no account >&2; exit 3"]}'
    write(folder, failing, failing)
    done = reconvene("doctor", "flow.yaml")
    assert done.code == 1
    assert "writer, reviewer" in done.out
    assert "failed with exit code 3: no account" in done.out
    assert done.out.endswith("\nlook again: reconvene doctor flow.yaml\n")


def test_doctor_for_a_script(reconvene: Command, folder: Path) -> None:
    write(folder, SAYS_OK, "{command: [no-such-program]}")
    done = reconvene("doctor", "flow.yaml", "--json")
    assert done.code == 1
    assert done.object["ok"] is False
    calls = done.object["calls"]
    assert isinstance(calls, list)
    assert [(one["agents"], one["ok"], one["called"], one["reply"]) for one in calls] == [
        (["writer"], True, True, "OK"),
        (["reviewer"], False, False, ""),
    ]


def test_doctor_calls_nobody_who_has_effects_and_no_function(reconvene: Command, folder: Path) -> None:
    (folder / "called").unlink(missing_ok=True)
    write(folder, f"{{effects: true, command: [touch, '{folder / 'called'}']}}", '{python: "json:loads"}')
    done = reconvene("doctor", "flow.yaml")
    assert done.code == 0
    assert not (folder / "called").exists()
    assert "it has effects, so it is not called to try it out" in done.out
    assert "a function is not called to try it out" in done.out


def test_doctor_says_what_is_known_of_servers_and_forgets_it(reconvene: Command, folder: Path) -> None:
    write(folder)
    assert reconvene("run", "flow.yaml").code == 3
    (folder / ".reconvene" / "servers").write_text("http://127.0.0.1:9/v1\tqwen3\tyes\t2026-11-16\n", encoding="utf-8")
    assert "✓ qwen3" in reconvene("doctor").out
    assert "takes a JSON schema at http://127.0.0.1:9/v1 (2026-11-16)" in reconvene("doctor").out
    done = reconvene("doctor", "--forget")
    assert "what servers can do is forgotten" in done.err
    assert "qwen3" not in done.out
    assert "nothing was known" in reconvene("doctor", "--forget").err


def test_check_warns_of_an_agents_words_in_a_role_and_the_file_is_valid(reconvene: Command, folder: Path) -> None:
    write(folder)
    text = (folder / "flow.yaml").read_text(encoding="utf-8")
    text = text.replace("agents: [writer], checkpoint", "agents: [writer], output: page, checkpoint")
    text = text.replace("{command: [sh", '{prompt: "Mind {{ context.page }}", command: [sh', 2)
    (folder / "flow.yaml").write_text(text, encoding="utf-8")
    done = reconvene("check", "flow.yaml")
    assert done.code == 0
    assert "warning: flow.yaml:3: the role of writer takes in {{ context.page }}" in done.out
    (first, second) = reconvene("check", "flow.yaml", "--json").object["warnings"]
    assert (first["line"], second["line"]) == (3, 4)


def test_a_function_that_cannot_be_called_is_told_with_both_lines(reconvene: Command, folder: Path) -> None:
    (folder / "mine.py").write_text("text = 'You write.'\ndef work():\n    return 'done'\n", encoding="utf-8")
    write(folder, writer='{python: "mine:text"}', reviewer='{python: "mine:work"}')
    done = reconvene("check", "flow.yaml", "--here")
    assert done.code == 1
    assert "✗ flow.yaml:3: mine:text is a text (mine.py, line 1), and no function (agent writer)" in done.out
    assert "✗ flow.yaml:4: mine:work (mine.py, line 2) has no parameter for what it is given" in done.out
    assert "write it as: def work(assignment): … that returns text" in done.out
    assert reconvene("run", "flow.yaml", "--no-input").code == 64


@pytest.fixture
def hidden_script() -> Iterator[str]:
    """A script where temporary files lie: no sandbox shows it to a command that does not name it."""
    with tempfile.TemporaryDirectory(dir="/tmp") as place:
        path = Path(place) / "work.sh"
        path.write_text("cat > /dev/null; echo done\n", encoding="utf-8")
        yield str(path)


@pytest.mark.skipif(not there_is_a_sandbox(), reason="nothing is hidden without a sandbox")
def test_a_script_that_the_sandbox_hides_is_told_before_a_run(
    reconvene: Command, folder: Path, hidden_script: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("RECONVENE_SANDBOX")
    write(folder, writer=f'{{command: "sh {hidden_script}"}}', reviewer=f'{{command: [sh, "{hidden_script}"]}}')
    done = reconvene("check", "flow.yaml", "--here")
    assert done.code == 1
    assert f"✗ flow.yaml:3: the sandbox hides {hidden_script} (agent writer)" in done.out
    assert f'name it as a word of its own: command: ["sh", "{hidden_script}"]' in " ".join(done.out.split())
    assert "flow.yaml:4" not in done.out
    write(folder, writer=f'{{command: "sh {hidden_script}", sandbox: off}}')
    assert reconvene("check", "flow.yaml", "--here").code == 0
    write(folder, writer=f'{{command: "test -e {hidden_script} || echo none"}}')
    done = reconvene("check", "flow.yaml", "--here")
    assert (done.code, f"– flow.yaml:3: the sandbox hides {hidden_script}" in done.out) == (0, True)


def test_a_script_that_is_not_there_is_told_before_a_run(reconvene: Command, folder: Path) -> None:
    write(folder, writer='{command: "sh /nowhere/work.sh"}', reviewer="{command: [python3, /nowhere/work.py]}")
    done = reconvene("check", "flow.yaml", "--here")
    assert done.code == 1
    assert "✗ flow.yaml:3: there is no file /nowhere/work.sh (agent writer)" in done.out
    assert "✗ flow.yaml:4: there is no file /nowhere/work.py (agent reviewer)" in done.out
