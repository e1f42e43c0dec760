"""What somebody does wrong in the first hour, and the message they get: where, what, and what to type next.

Every message names the file and the line where there is one. Wrong usage exits with 64 and records nothing; a failing
machine or server with 1; a run that needs a person with 3. Each message is written out in full, so that whoever changes
one reads it as a newcomer would.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import NamedTuple

import pytest

from commands import Command, call
from reconvene.testing.openai_server import Fail, OpenAIServer

TWO_STEP = """\
name: two-step
inputs: {brief: {type: file}}
agents:
  writer: {command: ["sh", "-c", "cat >/dev/null; echo '# Draft'"]}
  reviewer: {command: ["sh", "-c", "cat >/dev/null; echo reviewed"]}
phases:
  - id: draft
    agents: [writer]
    checkpoint: {approval_required: true}
  - id: review
    agents: [reviewer]
"""

ONE = """\
name: one
agents:
  writer: {agent}
phases: [{{id: draft, agents: [writer]}}]
"""

Change = Callable[[str], str]


class Mistake(NamedTuple):
    name: str
    words: str  # what is typed
    said: str  # all of stderr
    code: int = 64
    file: str = ""  # the workflow that is there under the name flow.yaml
    variables: dict[str, str | None] = {}  # noqa: RUF012
    first: tuple[str, ...] = ()  # typed before
    other: tuple[str, bytes] = ("", b"")  # another file that is there: its name, and what it holds


def changed(old: str, new: str) -> str:
    assert old in TWO_STEP
    return TWO_STEP.replace(old, new)


MISTAKES = [
    Mistake(
        "the name of the file is wrong",
        "run two-stp.yaml",
        "error: there is no file two-stp.yaml\nhint: did you mean two-step.yaml? reconvene run two-step.yaml\n",
    ),
    Mistake(
        "the name of a packaged workflow is misspelt",
        "run scenario-planing",
        "error: there is no file and no packaged workflow 'scenario-planing'\n"
        "hint: did you mean scenario-planning? reconvene run scenario-planning\n",
    ),
    Mistake(
        "no workflow is named",
        "run",
        "error: which workflow? name a file, or a packaged one\n"
        "hint: reconvene run two-step.yaml; see those: reconvene workflows\n",
    ),
    Mistake(
        "a folder is given for a workflow",
        "run docs",
        "error: docs is a folder without a workflow.yaml\nhint: name a workflow file; see the packaged ones: "
        "reconvene workflows\n",
    ),
    Mistake(
        "a line is not indented as it should be",
        "check flow.yaml",
        "error: flow.yaml:8: this is not valid YAML: this line is not indented as the lines above it need (keys of one "
        "entry begin in the same column, and what belongs to a key is indented below it)\n"
        "hint: correct this, then look again: reconvene check flow.yaml\n",
        file=changed("  - id: draft", " - id: draft"),
    ),
    Mistake(
        "a line is indented with a tab",
        "check flow.yaml",
        "error: flow.yaml:8: this is not valid YAML: there is a tab in the indentation (indent with spaces, YAML "
        "allows no tabs)\nhint: correct this, then look again: reconvene check flow.yaml\n",
        file=changed("    agents: [writer]", "\tagents: [writer]"),
    ),
    Mistake(
        "a key is missing",
        "run flow.yaml",
        "error: flow.yaml:1: the workflow needs 'phases' (the work, in order)\n"
        "hint: correct this, then look again: reconvene check flow.yaml\n",
        file=TWO_STEP.partition("phases:")[0],
    ),
    Mistake(
        "an agent is misspelt where it works",
        "run flow.yaml",
        "error: flow.yaml:8: there is no agent or group 'writter' (did you mean 'writer'?)\n"
        "hint: correct this, then look again: reconvene check flow.yaml\n",
        file=changed("agents: [writer]", "agents: [writter]"),
    ),
    Mistake(
        "a name in a template is misspelt",
        "run flow.yaml",
        "error: flow.yaml:3: 'prompt': 'inputs.breif' is not known (there are none: name it under inputs)\n"
        "hint: correct this, then look again: reconvene check flow.yaml\n",
        file=ONE.format(agent='{command: cat, prompt: "{% if 1 %}x{% else %}{{ inputs.breif | upper }}{% endif %}"}'),
    ),
    Mistake(
        "an input file is not there",
        "run two-step.yaml --input brief=breif.md",
        "error: 'brief': breif.md: there is no such file\nhint: did you mean brief.md?\n",
    ),
    Mistake(
        "a folder is given for a file",
        "run two-step.yaml --input brief=docs",
        "error: 'brief': docs is a folder, not a file\nhint: name a file in it: docs/notes.md\n",
    ),
    Mistake(
        "an input is misspelt",
        "run two-step.yaml --input breif=brief.md",
        "error: there is no input 'breif'\nhint: did you mean brief?\n",
    ),
    Mistake(
        "there is no key for the model",
        "run flow.yaml",
        "error: flow.yaml:3: there is no key for anthropic:claude-sonnet-5: ANTHROPIC_API_KEY is not set (agent "
        "writer)\nhint: export ANTHROPIC_API_KEY=…\n",
        file=ONE.format(agent='{model: "anthropic:claude-sonnet-5"}'),
    ),
    Mistake(
        "there is no model at all",
        "run spec-refinement --input spec=brief.md",
        "error: no model was found on this machine: no provider's key is set, no Ollama is running, and none of "
        "claude, codex and gemini is installed (agents engineer, reviewer, mediator)\n"
        "hint: any one is enough: export ANTHROPIC_API_KEY=… (or OPENAI_API_KEY, GOOGLE_API_KEY); ollama serve; "
        "install claude, codex or gemini\nor see it at work with what is recorded: reconvene demo spec-refinement\n",
        variables={"PATH": "/nowhere", "OLLAMA_BASE_URL": "http://127.0.0.1:9/v1"},
    ),
    Mistake(
        "the provider is misspelt",
        "check flow.yaml",
        "error: flow.yaml:3: agent writer: there is no provider 'antropic' (did you mean anthropic:claude-sonnet-5?)\n"
        "hint: correct this, then look again: reconvene check flow.yaml\n",
        file=ONE.format(agent='{model: "antropic:claude-sonnet-5"}'),
    ),
    Mistake(
        "the provider is left out",
        "run flow.yaml",
        "error: flow.yaml:3: the model 'gpt-5.4' does not say which provider to ask (agent writer)\n"
        "hint: write openai:gpt-5.4\n",
        file=ONE.format(agent="{model: gpt-5.4}"),
    ),
    Mistake(
        "an agent's program is not installed",
        "run flow.yaml",
        "error: flow.yaml:3: there is no program 'codexx' on PATH (agent writer)\n"
        "hint: install codexx, or put it on PATH; command -v codexx then says where it is\n",
        file=ONE.format(agent="{command: codexx exec -}"),
    ),
    Mistake(
        "a script may not be executed",
        "run flow.yaml",
        "error: flow.yaml:3: {here}/score.sh may not be executed (agent writer)\nhint: chmod +x {here}/score.sh\n",
        file=ONE.format(agent='{command: ["HERE/score.sh"]}'),
    ),
    Mistake(
        "a script is named from the workflow's folder",
        "run flow.yaml",
        "error: flow.yaml:3: ./score.sh is not found: a command starts in a private folder, not beside the workflow "
        "(agent writer)\nhint: write its full path: {here}/score.sh\n",
        file=ONE.format(agent="{command: ./score.sh}"),
    ),
    Mistake(
        "a Python function does not exist",
        "run flow.yaml",
        "error: flow.yaml:3: the module 'json' has no function 'laods' (agent writer)\n"
        "hint: did you mean json:loads?\n",
        file=ONE.format(agent='{python: "json:laods"}'),
    ),
    Mistake(
        "an option is misspelt",
        "decide two-step-1 --option Contnue",
        "error: option 'Contnue' is not offered here\n"
        "hint: did you mean “Continue”? the options are: 1. Continue; 2. Abort\n",
        first=("run two-step.yaml",),
    ),
    Mistake(
        "the id of a run is misspelt",
        "show two-stpe-1",
        "error: There is no run 'two-stpe-1'.\nhint: Did you mean two-step-1?\n",
        first=("run two-step.yaml",),
    ),
    Mistake(
        "a run that has ended is decided on",
        "decide two-step-1 --option Continue",
        "error: two-step-1 is completed; there is no checkpoint to decide\nhint: see: reconvene show two-step-1\n",
        first=("run two-step.yaml --answers answers.yaml",),
    ),
    Mistake(
        "the same decision is given again",
        "decide two-step-1 --option Continue",
        "you decided so already, “Continue” at checkpoint C1 (draft): nothing was done again\n",
        first=("run two-step.yaml", "decide two-step-1 --option Continue"),
        code=0,
    ),
    Mistake(
        "the home is another folder",
        "--home nowhere inbox",
        "error: there is no home nowhere: the folder does not exist\n"
        "hint: there is one near: reconvene --home .reconvene runs\n",
        first=("run two-step.yaml",),
    ),
    Mistake(
        "a command is misspelt",
        "chekc flow.yaml",
        "error: there is no command 'chekc'; did you mean check?\nhint: see: reconvene --help\n",
    ),
    Mistake(
        "a text with a comma has no quotes in a contract",
        "check flow.yaml",
        "error: flow.yaml:4: 'schema' is not a JSON Schema: 'two' stands there as a key with nothing behind it (a text "
        "with a comma stands in quotes)\nhint: correct this, then look again: reconvene check flow.yaml\n",
        file="name: one\nagents: {writer: {command: cat}}\nphases:\n"
        "  - {id: p, agents: [writer], output: {name: d, schema: {type: object, description: One, two}}}\n",
    ),
    # --- files that are not what they seem ---
    Mistake(
        "a quote is not closed, and another one comes",
        "check flow.yaml",
        "error: flow.yaml:1: this is not valid YAML: a quote that begins here ends only in line 4 (is a closing quote "
        "missing?)\nhint: correct this, then look again: reconvene check flow.yaml\n",
        file=changed("name: two-step", 'name: "two-step'),
    ),
    Mistake(
        "a quote is never closed",
        "check flow.yaml",
        "error: flow.yaml:3: this is not valid YAML: a quote that begins here never ends (is a closing quote "
        "missing?)\nhint: correct this, then look again: reconvene check flow.yaml\n",
        file=ONE.format(agent='{command: "cat}'),
    ),
    Mistake(
        "the file is empty",
        "run empty.yaml",
        "error: empty.yaml: the file is empty\nhint: correct this, then look again: reconvene check empty.yaml\n",
        other=("empty.yaml", b""),
    ),
    Mistake(
        "the file was saved as UTF-16",
        "run wide.yaml",
        "error: wide.yaml:1: this workflow cannot be read: it is not UTF-8 text (save it as UTF-8)\n"
        "hint: correct this, then look again: reconvene check wide.yaml\n",
        other=("wide.yaml", TWO_STEP.encode("utf-16")),
    ),
    Mistake(
        "the file was saved in an old encoding",
        "run old.yaml",
        "error: old.yaml:2: this workflow cannot be read: it is not UTF-8 text (save it as UTF-8)\n"
        "hint: correct this, then look again: reconvene check old.yaml\n",
        other=("old.yaml", "name: x\ndescription: café\n".encode("latin-1")),
    ),
    Mistake(
        "the file is huge",
        "run huge.yaml",
        "error: huge.yaml: this workflow cannot be read: it is larger than 1 MB (put long texts into files beside it, "
        "or give them as inputs: --input NAME=@FILE)\nhint: correct this, then look again: reconvene check huge.yaml\n",
        other=("huge.yaml", b"#" * 1_000_001),
    ),
    Mistake(
        "an input was saved in an old encoding",
        "run two-step.yaml --input brief=old.md",
        "error: 'brief': old.md, line 2, is not UTF-8 text\nhint: give a text file; one that is, save as UTF-8\n",
        other=("old.md", "One\ncafé\n".encode("latin-1")),
    ),
    Mistake(
        "the answers are no list",
        "run two-step.yaml --answers answers.yaml",
        "error: answers.yaml:1: an answers file is a list of decisions (write a list: - {option: Continue, feedback: "
        '["correction: …"]})\nhint: correct this, then type the same command again\n',
        other=("answers.yaml", b"option: Continue\n"),
    ),
    Mistake(
        "a key is misspelt in the answers",
        "run two-step.yaml --answers answers.yaml",
        "error: answers.yaml:2: entry 2: 'feedbak' means nothing here (did you mean 'feedback'?)\n"
        "hint: correct this, then type the same command again\n",
        other=("answers.yaml", b"- Continue\n- {option: Continue, feedbak: shorter}\n"),
    ),
    Mistake(
        "a text in the settings file has no quotes",
        "run two-step.yaml",
        "error: {here}/reconvene.toml:2: Invalid value\n"
        'hint: texts stand in quotes, as in model = "ollama:qwen3"; docs/language.md says what it may hold\n',
        other=("reconvene.toml", b"[agents]\nwriter = claude\n"),
    ),
    # --- what is typed ---
    Mistake(
        "it should go on by itself and cannot",
        "run two-step.yaml --auto",
        "error: two-step cannot go on by itself: it has no setting 'auto'\n"
        "hint: leave out --auto; to decide beforehand: --answers FILE\n",
    ),
    Mistake(
        "the home lies below a file",
        "--home brief.md/runs run two-step.yaml",
        "error: brief.md/runs cannot be a home: {here}/brief.md is not a folder\n"
        "hint: name another: reconvene --home DIR …\n",
    ),
    Mistake(
        "the key was pasted with the quotes of a text",
        "run flow.yaml",
        "error: flow.yaml:3: ANTHROPIC_API_KEY holds '“', which no key has (agent writer)\n"
        "hint: set it anew, in plain quotes and without spaces around it: export ANTHROPIC_API_KEY='…'\n",
        file=ONE.format(agent='{model: "anthropic:claude-sonnet-5"}'),
        variables={"ANTHROPIC_API_KEY": "“sk-1”"},
    ),
    Mistake(
        "an address lacks its http",
        "run flow.yaml",
        "error: flow.yaml:3: the address in LMSTUDIO_BASE_URL, 'localhost:1234/v1', does not begin with http:// or "
        "https:// (agent writer)\nhint: write http://localhost:1234/v1\n",
        file=ONE.format(agent='{model: "lmstudio:qwen3"}'),
        variables={"LMSTUDIO_BASE_URL": "localhost:1234/v1"},
    ),
    Mistake(
        "a quote is missing in a command line",
        "run flow.yaml",
        'error: flow.yaml:3: the command line "grep \'no" is not whole: no closing quotation (agent writer)\n'
        "hint: close the quote, or write a list\n",
        file=ONE.format(agent='{command: "grep \'no"}'),
    ),
]


@pytest.fixture
def reconvene(tmp_path: Path) -> Command:
    (tmp_path / "two-step.yaml").write_text(TWO_STEP, encoding="utf-8")
    (tmp_path / "brief.md").write_text("A brief.\n", encoding="utf-8")
    (tmp_path / "score.sh").write_text("echo 1\n", encoding="utf-8")
    (tmp_path / "answers.yaml").write_text("- {option: Continue}\n", encoding="utf-8")
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "notes.md").write_text("Notes.\n", encoding="utf-8")
    return partial(call, cwd=tmp_path, ANTHROPIC_API_KEY=None, RECONVENE_HOME=None, PYTHONPATH=None)


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: mistake.name)
def test_a_newcomer_reads_where_what_and_what_next(reconvene: Command, tmp_path: Path, mistake: Mistake) -> None:
    if mistake.file:
        (tmp_path / "flow.yaml").write_text(mistake.file.replace("HERE", str(tmp_path)), encoding="utf-8")
    if mistake.other[0]:
        (tmp_path / mistake.other[0]).write_bytes(mistake.other[1])
    for words in mistake.first:
        assert reconvene(*words.split()).code in (0, 3)
    before = [path.name for path in sorted(tmp_path.iterdir())]
    done = reconvene(*mistake.words.split(), **mistake.variables)
    assert done.err == mistake.said.replace("{here}", str(tmp_path))
    assert done.code == mistake.code
    assert [path.name for path in sorted(tmp_path.iterdir())] == before  # nothing was recorded


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-8"])
def test_files_from_windows_are_read_as_any_other(reconvene: Command, tmp_path: Path, encoding: str) -> None:
    files = {"flow.yaml": TWO_STEP, "answers.yaml": "- Continue\n", "brief.md": "A brief.\n"}
    for name, text in files.items():
        (tmp_path / name).write_bytes(text.replace("\n", "\r\n").encode(encoding))
    words = ("--input", "brief=brief.md", "--answers", "answers.yaml", "--json")
    done = reconvene("run", "flow.yaml", *words)
    assert (done.code, done.object["status"]) == (0, "completed")


def test_an_option_in_a_file_of_answers_is_not_there(reconvene: Command, tmp_path: Path) -> None:
    (tmp_path / "answers.yaml").write_text("# what I want\n- Publish\n", encoding="utf-8")
    done = reconvene("run", "two-step.yaml", "--answers", "answers.yaml")
    assert done.code == 64
    assert done.err.endswith(
        "error: answers.yaml:2: entry 1: option 'Publish' is not offered here\n"
        "hint: the options are: 1. Continue; 2. Abort; two-step-1 stays parked there\n"
    )


def test_a_run_that_has_ended_is_resumed(reconvene: Command) -> None:
    reconvene("run", "two-step.yaml")
    reconvene("decide", "two-step-1", "--option", "Continue")
    done = reconvene("resume", "two-step-1")
    assert done.out == "two-step-1 is completed\nsee what came of it: reconvene files two-step-1\n"
    assert done.code == 0


def test_the_name_of_the_model_is_wrong(reconvene: Command, tmp_path: Path) -> None:
    with OpenAIServer(Fail(404, "The model `qwen9` does not exist")) as server:
        agent = f'{{model: "openai:qwen9", options: {{base_url: "{server.url}"}}}}'
        (tmp_path / "flow.yaml").write_text(ONE.format(agent=agent), encoding="utf-8")
        done = reconvene("doctor", "flow.yaml")
    assert "✗  openai:qwen9 at " in done.out
    assert "was not found (404)" in done.out
    assert "Check the model's name in `model: openai:qwen9`." in done.out
    assert done.out.endswith("\nlook again: reconvene doctor flow.yaml\n")
    assert done.code == 1


def test_nobody_listens_at_the_port(reconvene: Command, tmp_path: Path) -> None:
    agent = '{model: "openai:qwen3", options: {base_url: "http://127.0.0.1:9/v1"}}'
    (tmp_path / "flow.yaml").write_text(ONE.format(agent=agent), encoding="utf-8")
    done = reconvene("doctor", "flow.yaml")
    assert "Cannot reach openai:qwen3 at http://127.0.0.1:9/v1: connection refused." in done.out
    assert "Is the server running, and is base_url right?" in done.out
    assert done.out.endswith("\nlook again: reconvene doctor flow.yaml\n")
    assert done.code == 1


def test_the_json_of_an_agent_lacks_a_field(reconvene: Command, tmp_path: Path) -> None:
    agent = """{command: 'echo "{}"', retries: 0, contract: {type: object, required: [title]}}"""
    (tmp_path / "flow.yaml").write_text(ONE.format(agent=agent), encoding="utf-8")
    done = reconvene("run", "flow.yaml")
    assert "- no agent of this step gave an output. writer: The reply does not fit its output contract" in done.out
    assert "'title' is missing" in done.out
    assert "continue with:\n  reconvene decide one-1 --option 'Try again' --at " in done.out
    assert done.code == 3
