"""Known programs by their bare names: stand-ins print what the real ones print, real processes all of them.

With REAL_PROGRAMS=FOLDER the programs that are installed there are tried as well, without an account.
"""

from __future__ import annotations

import asyncio
import json
import os
import stat
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from reconvene.adapters.agents import Agents, presets
from reconvene.adapters.agents.as_answer import ReplyError
from reconvene.core.definition.workflow import Agent
from reconvene.ports import Answer, Assignment, Progress, ProjectWork

REAL = os.environ.get("REAL_PROGRAMS", "")

# as printed by claude 2.1.197, codex 0.166.0, gemini 0.61.0, opencode 1.18.33 and llm 0.36
CLAUDE = {
    "type": "result", "subtype": "success", "is_error": False, "api_error_status": None, "result": "Hello.",
    "total_cost_usd": 0.00545, "modelUsage": {"claude-opus-4-8": {"inputTokens": 1000}},
    "usage": {"input_tokens": 1000, "cache_creation_input_tokens": 20, "cache_read_input_tokens": 300,
              "output_tokens": 7},
}  # fmt: skip
GEMINI_KEYLESS = "When using Gemini API, you must specify the GEMINI_API_KEY environment variable.\n"
CLAUDE_OUT = {**CLAUDE, "is_error": True, "result": "Not logged in · Please run /login", "total_cost_usd": 0}
CODEX = """{"type":"thread.started","thread_id":"01a1"}
{"type":"turn.started"}
{"type":"error","message":"Reconnecting... 2/5 (stream disconnected before completion)"}
{"type":"item.completed","item":{"id":"item_0","type":"error","message":"Falling back from WebSockets to HTTPS."}}
{"type":"item.completed","item":{"id":"item_1","type":"agent_message","text":"I will look."}}
{"type":"item.completed","item":{"id":"item_2","type":"command_execution","command":"ls"}}
{"type":"item.completed","item":{"id":"item_3","type":"agent_message","text":"Hello."}}
{"type":"turn.completed","usage":{"input_tokens":100,"cached_input_tokens":40,"output_tokens":7}}
"""
CODEX_OUT = """{"type":"turn.started"}
{"type":"error","message":"Reconnecting... 5/5 (unexpected status 401 Unauthorized: , url: http://localhost/responses)"}
{"type":"error","message":"unexpected status 401 Unauthorized: Missing bearer, url: http://localhost/responses"}
{"type":"turn.failed","error":{"message":"unexpected status 401 Unauthorized: Missing bearer"}}
"""
GEMINI = {
    "session_id": "a4ff", "response": "Hello.",
    "stats": {"models": {"gemini-x": {"tokens": {"input": 60, "prompt": 100, "candidates": 7, "thoughts": 2}}}},
}  # fmt: skip
GEMINI_OUT = {
    "session_id": "41cb",
    "error": {
        "type": "Error", "code": 41, "message": "Please set an Auth method in your settings.json or specify one of "
        "the following environment variables before running: GEMINI_API_KEY, GOOGLE_GENAI_USE_VERTEXAI",
    },
}  # fmt: skip
OPENCODE = """{"type":"step_start","part":{"type":"step-start"}}
{"type":"text","part":{"type":"text","text":"I will look."}}
{"type":"tool_use","part":{"type":"tool","tool":"read"}}
{"type":"step_finish","part":{"tokens":{"input":40,"output":3,"reasoning":0,"cache":{"write":0,"read":10}},"cost":0.5}}
{"type":"text","part":{"type":"text","text":"Hello."}}
{"type":"step_finish","part":{"tokens":{"input":50,"output":4,"reasoning":0,"cache":{"write":0,"read":0}},"cost":0.25}}
"""
OPENCODE_OUT = '{"type":"error","error":{"name":"APIError","data":{"message":"invalid x-api-key","statusCode":401}}}\n'
LLM_OUT = "Error: No key found - add one using 'llm keys set openai' or set the OPENAI_API_KEY environment variable\n"


class Stand:
    """A program that notes how it was called, prints, and ends."""

    def __init__(self, folder: Path, name: str, out: str = "", err: str = "", code: int = 0, more: str = "") -> None:
        self.folder = folder
        self.note = folder / "called.json"
        program = folder / "bin" / name
        program.parent.mkdir(exist_ok=True)
        program.write_text(
            f"#!{sys.executable}\nimport json, os, sys\n"
            f"called = dict(argv=sys.argv[1:], env=dict(os.environ), stdin=sys.stdin.read(), files=sorted("
            f"os.path.relpath(os.path.join(at, name)) for at, _, names in os.walk('.') for name in names))\n"
            f"json.dump(called, open({str(self.note)!r}, 'w'))\n{more}\n"
            f"sys.stdout.write({out!r}); sys.stderr.write({err!r}); sys.exit({code})\n"
        )
        program.chmod(program.stat().st_mode | stat.S_IXUSR)
        self.environ = {"PATH": f"{program.parent}{os.pathsep}{os.environ['PATH']}", "HOME": str(folder)}

    def run(
        self, command: tuple[str, ...], environ: Mapping[str, str] | None = None, **rest: object
    ) -> tuple[Answer, list[Progress]]:
        heard: list[Progress] = []
        agents = Agents(str(self.folder / "scratch"), self.environ | (environ or {}))
        return asyncio.run(agents.run(assign(command, **rest), heard.append)), heard

    def fails(self, command: tuple[str, ...], environ: Mapping[str, str] | None = None, **rest: object) -> ReplyError:
        with pytest.raises(ReplyError) as caught:
            self.run(command, environ, **rest)
        return caught.value

    @property
    def called(self) -> dict[str, object]:
        found: dict[str, object] = json.loads(self.note.read_text())
        return found

    @property
    def env(self) -> dict[str, str]:
        found = self.called["env"]
        assert isinstance(found, dict)
        return found


def assign(command: tuple[str, ...], **rest: object) -> Assignment:
    agent = Agent(name="writer", kind="command", command=command, timeout=120.0)
    return Assignment("r", "R1/0/writer", 1, agent, "Do it.\n", {}, (), None)._replace(**rest)  # type: ignore[arg-type]


ANSWERS = [
    ("claude", json.dumps(CLAUDE), "", ("claude-opus-4-8", 1320, 7, 0.00545)),
    ("codex", CODEX, "WARNING: proceeding\n", ("", 100, 7, 0.0)),
    ("gemini", json.dumps(GEMINI, indent=2), "Ripgrep is not available.\n", ("gemini-x", 100, 9, 0.0)),
    ("opencode", OPENCODE, "", ("", 100, 7, 0.75)),
    ("llm", "Hello.\n", "Token usage: 1,100 input, 7 output\n", ("", 1100, 7, 0.0)),
]


@pytest.mark.parametrize(("name", "out", "err", "used"), ANSWERS, ids=[each[0] for each in ANSWERS])
@pytest.mark.parametrize("form", ["words", "line"])
def test_a_bare_name_gives_the_answer_and_what_it_cost(
    name: str, out: str, err: str, used: tuple[str, int, int, float], form: str, tmp_path: Path
) -> None:
    stand = Stand(tmp_path, name, out, err)
    answer, _ = stand.run((name,) if form == "words" else ("sh", "-c", name))
    assert answer.text.strip() == "Hello."
    usage = answer.usage
    assert (usage.model, usage.input_tokens, usage.output_tokens, usage.cost) == used
    assert stand.called["stdin"] == "Do it.\n"
    assert [name, *stand.called["argv"]] == list(presets.PRESETS[name].read)  # type: ignore[misc]
    assert json.loads(answer.request)["command"] == list(presets.PRESETS[name].read)


FAILURES = [
    ("claude", json.dumps(CLAUDE_OUT), "", 1, "Not logged in", "/login"),
    ("codex", CODEX_OUT, "", 1, "unexpected status 401 Unauthorized", "codex login"),
    ("gemini", "", json.dumps(GEMINI_OUT, indent=2), 41, "Please set an Auth method", "GEMINI_API_KEY"),
    ("gemini", "", GEMINI_KEYLESS, 41, "When using Gemini API, you must specify", "GEMINI_API_KEY"),
    ("opencode", OPENCODE_OUT, "", 1, "invalid x-api-key", "opencode auth login"),
    ("llm", "", LLM_OUT, 1, "Error: No key found", "llm keys set"),
]


@pytest.mark.parametrize(("name", "out", "err", "code", "said", "hint"), FAILURES, ids=[each[0] for each in FAILURES])
def test_who_is_not_logged_in_is_told_how_and_it_is_not_tried_again(
    name: str, out: str, err: str, code: int, said: str, hint: str, tmp_path: Path
) -> None:
    error = Stand(tmp_path, name, out, err, code).fails((name,))
    assert error.outcome == "authentication"
    assert not error.retryable
    assert f"failed with exit code {code}: {said}" in error.message
    assert hint in error.hint
    assert len(error.message) < 400
    line = Stand(tmp_path, name, out, err, code).fails(("sh", "-c", name))
    assert line.message == error.message


def test_the_hint_comes_as_well_where_the_command_has_words_of_its_own(tmp_path: Path) -> None:
    stand = Stand(tmp_path, "claude", "Not logged in · Please run /login\n", code=1)
    error = stand.fails(("claude", "-p"))
    assert stand.called["argv"] == ["-p"]
    assert error.outcome == "authentication"
    assert "/login" in error.hint
    assert "Not logged in" in error.message


@pytest.mark.parametrize(
    ("said", "status", "outcome"),
    [
        ("API Error: Unable to connect to API (ConnectionRefused)", None, "transport"),
        ("API Error: Overloaded", 529, "transport"),
        ("Credit balance is too low", 400, "quota"),
        ("Prompt is too long", 400, "too_long"),
        ("Something else", None, "other"),
    ],
)
def test_what_the_program_says_of_its_provider_is_understood(
    said: str, status: int | None, outcome: str, tmp_path: Path
) -> None:
    printed = json.dumps({**CLAUDE, "is_error": True, "result": said, "api_error_status": status})
    error = Stand(tmp_path, "claude", printed, code=1).fails(("claude",))
    assert (error.outcome, said in error.message) == (outcome, True)
    assert (said in error.for_agents) is (outcome == "other")
    assert error.usage.cost == 0.00545


def test_an_error_with_exit_code_zero_is_an_error(tmp_path: Path) -> None:
    error = Stand(tmp_path, "claude", json.dumps({**CLAUDE_OUT, "result": "", "subtype": "error_max_turns"})).fails(
        ("claude",)
    )
    assert error.message.endswith("failed: error max turns")
    silent = {**CLAUDE, "is_error": False, "result": "", "subtype": "error_max_turns"}
    assert Stand(tmp_path, "claude", json.dumps(silent)).fails(("claude",)).message == error.message


def test_words_of_its_own_are_run_as_written_and_its_output_is_taken_as_it_is(tmp_path: Path) -> None:
    stand = Stand(tmp_path, "claude", "plain text\n")
    answer, _ = stand.run(("claude", "-p", "--model", "opus"))
    assert (stand.called["argv"], answer.text) == (["-p", "--model", "opus"], "plain text\n")
    answer, _ = stand.run(("sh", "-c", "claude -p | cat"))
    assert answer.text == "plain text\n"


def test_it_may_write_only_where_its_step_says_so(tmp_path: Path) -> None:
    stand = Stand(tmp_path, "claude", json.dumps(CLAUDE), more="open('plan.md', 'w').write('P')")
    answer, _ = stand.run(("claude",), writes=("plan.md",))
    assert answer.files == {"plan.md": b"P"}
    assert "acceptEdits" in stand.called["argv"]  # type: ignore[operator]
    assert "<file" not in str(stand.called["stdin"])
    work = ProjectWork("/project", place="project")
    worktree = tmp_path / "tree"
    worktree.mkdir()
    stand.run(("claude",), writes=("*",), folder=str(worktree), project=work)
    assert "acceptEdits" in stand.called["argv"]  # type: ignore[operator]
    stand.run(("claude",), writes=("*",), folder=str(worktree), project=work._replace(place="project.read"))
    assert "acceptEdits" not in stand.called["argv"]  # type: ignore[operator]


def test_what_opencode_may_do_is_said_in_a_variable(tmp_path: Path) -> None:
    stand = Stand(tmp_path, "opencode", OPENCODE)
    stand.run(("opencode",), {"OPENCODE_PERMISSION": '{"bash":"allow"}'})
    assert json.loads(stand.env["OPENCODE_PERMISSION"])["*"] == "deny"
    stand.run(("opencode",), writes=("a.md",))
    assert json.loads(stand.env["OPENCODE_PERMISSION"])["bash"] == "deny"


def test_a_program_without_tools_is_handed_the_files_and_hands_them_over_in_its_reply(tmp_path: Path) -> None:
    stand = Stand(tmp_path, "llm", '<file path="b.md">\nB\n</file>\n')
    files = {"in/a.md": b"A", "picture.png": b"\xff\x00"}
    answer, _ = stand.run(("llm",), files=files, writes=("*.md",))
    assert stand.called["argv"][-2:] == ["-f", "./in/a.md"]  # type: ignore[index]
    assert answer.files == {"b.md": b"B\n"}
    assert "<file path=" in str(stand.called["stdin"])


def test_the_form_of_the_answer_is_asked_for_and_checked(tmp_path: Path) -> None:
    schema = {"type": "object", "properties": {"score": {"type": "integer"}}, "required": ["score"]}
    stand = Stand(tmp_path, "claude", json.dumps({**CLAUDE, "result": 'Here: {"score": 3}'}))
    answer, _ = stand.run(("claude",), schema=schema)
    assert answer.value == {"score": 3}
    assert '"score"' in str(stand.called["stdin"])
    stand = Stand(tmp_path, "claude", json.dumps(CLAUDE))
    assert stand.fails(("claude",), schema=schema).outcome == "form"


def test_it_sees_the_network_and_its_own_variables_and_no_others(tmp_path: Path) -> None:
    given = {
        "ANTHROPIC_API_KEY": "sk-ant-12345678", "CLAUDE_CODE_OAUTH_TOKEN": "tok-12345678", "AWS_REGION": "eu",
        "HTTPS_PROXY": "http://proxy", "NODE_EXTRA_CA_CERTS": "/ca.pem",
        "OPENAI_API_KEY": "sk-openai-1234", "GITHUB_TOKEN": "ghp_12345678", "SSH_AUTH_SOCK": "/x",
    }  # fmt: skip
    own = {"ANTHROPIC_API_KEY", "CLAUDE_CODE_OAUTH_TOKEN", "AWS_REGION", "HTTPS_PROXY", "NODE_EXTRA_CA_CERTS"}
    stand = Stand(tmp_path, "claude", json.dumps(CLAUDE))
    for command in (("claude",), ("claude", "-p"), ("sh", "-c", "claude -p --model opus")):
        stand.run(command, given)
        assert set(stand.env) & set(given) == own
    # a line with more than plain words may start anything
    stand.run(("sh", "-c", "claude -p; true"), given)
    assert set(stand.env) & set(given) == set()


def test_files_that_could_start_programs_are_not_handed_to_it(tmp_path: Path) -> None:
    stand = Stand(tmp_path, "claude", json.dumps(CLAUDE))
    files = {"a.md": b"A", ".claude/settings.json": b"{}", "deep/.Claude/settings.json": b"{}", ".mcp.json": b"{}"}
    _, heard = stand.run(("claude",), files=files)
    assert stand.called["files"] == ["a.md"]
    assert [each.detail for each in heard if each.what == "warning"] == [
        "claude was not given .claude/settings.json, .mcp.json, deep/.Claude/settings.json: it could start programs"
    ]


def test_events_are_shown_in_words_while_it_works(tmp_path: Path) -> None:
    _, heard = Stand(tmp_path, "codex", CODEX).run(("codex",))
    assert [each.detail for each in heard if each.what == "output"] == ["Hello."]
    _, heard = Stand(tmp_path, "claude", json.dumps(CLAUDE)).run(("claude",))
    assert [each for each in heard if each.what == "output"] == []


def test_every_preset_says_all_that_a_person_must_know() -> None:
    for name, each in presets.PRESETS.items():
        assert each.program == name == each.read[0]
        assert each.write[:1] in ((), (name,))
        assert all(folder.startswith("~/") for folder in each.folders)
        assert each.key
        assert each.login
        assert presets.preset((name,)) is each
        assert presets.preset((name, "--more")) is None
        assert presets.program((f"/usr/bin/{name}", "--more")) is each
    assert presets.preset(("sh", "-c", "claude && true")) is None
    assert presets.program(()) is None


@pytest.mark.parametrize("name", ["claude", "gemini", "llm"])
def test_the_real_program_without_an_account_says_how_to_log_in(name: str, tmp_path: Path) -> None:
    if not REAL or not (Path(REAL) / name).exists():
        pytest.skip("set REAL_PROGRAMS to the folder of the program")
    environ = {
        "PATH": f"{REAL}{os.pathsep}{os.environ['PATH']}", "HOME": str(tmp_path),
        "HTTPS_PROXY": "http://127.0.0.1:9", "HTTP_PROXY": "http://127.0.0.1:9",
    }  # fmt: skip
    with pytest.raises(ReplyError) as caught:
        asyncio.run(Agents(str(tmp_path / "s"), environ).run(assign((name,)), lambda _: None))
    assert caught.value.outcome == "authentication", caught.value.message
    assert presets.PRESETS[name].login in caught.value.hint
