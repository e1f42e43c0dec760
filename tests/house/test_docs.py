"""The documents cannot lie: their workflows load, their commands parse, the walk-throughs run, nothing is left out.

`python tests/house/test_docs.py` writes the stage diagram of docs/how-it-works.md anew.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import subprocess
import sys
import typing
from pathlib import Path
from typing import NamedTuple

import click
import pytest

from commands import Done, call
from reconvene.core.definition.workflow import Limits
from reconvene.core.facts.events import AnyEvent
from reconvene.core.facts.state import TRANSITIONS
from reconvene.core.person.attention import RESERVED
from reconvene.core.shown.scope import ROOTS
from reconvene.doors.cli.main import cli
from reconvene.kits.reading.feedback import KINDS
from reconvene.testing.openai_server import OpenAIServer, Say
from reconvene.wire.answers_file import read_answers
from reconvene.wire.grammar import FIELD_TYPES, REMOVED, TABLES
from reconvene.wire.shapes import Later
from reconvene.wire.spellings import SPELLINGS
from reconvene.wire.values import READ_WORDS
from reconvene.wire.workflow_file import parse_workflow

ROOT = Path(__file__).resolve().parents[2]
HOW = ROOT / "docs" / "how-it-works.md"
LANGUAGE = ROOT / "docs" / "language.md"
PAGES = [
    ROOT / "README.md",
    *sorted((ROOT / "docs").glob("*.md")),
    *sorted((ROOT / "src" / "reconvene" / "workflows").glob("*/README.md")),
]
WALKED = [ROOT / "README.md", *(ROOT / "docs" / page for page in (
    "tutorial.md", "testing.md", "recipes.md", "installing.md", "mending.md", "reviewing.md", "companion.md",
))]  # fmt: skip
FENCE = re.compile(r"^```([^\n`]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
KILLED = 128 + signal.SIGKILL
EXIT = re.compile(r"#.*\bexit code (\d+)")
TITLE = re.compile(r"(?:#!.*\n)?# ((?:[\w-]+/)*[\w-]+\.(?:yaml|py|sh))\n")


class Block(NamedTuple):
    page: str
    line: int
    info: str
    text: str

    @property
    def place(self) -> str:
        return f"{self.page}:{self.line}"


def blocks(*pages: Path) -> list[Block]:
    found = []
    for page in pages:
        text = page.read_text(encoding="utf-8")
        for fence in FENCE.finditer(text):
            line = text.count("\n", 0, fence.start()) + 1
            found.append(Block(str(page.relative_to(ROOT)), line, fence[1].strip(), fence[2]))
    return found


def is_workflow(block: Block) -> bool:
    return block.info == "yaml" and re.search(r"^name:", block.text, re.M) is not None and "\nphases:" in block.text


def commands(block: Block) -> list[str]:
    lines = block.text.splitlines() if block.info.split(" ")[0] in ("sh", "console") else []
    return [line.removeprefix("$ ") for line in lines if line.removeprefix("$ ").startswith("reconvene ")]


WORKFLOWS = [block for block in blocks(*PAGES) if is_workflow(block)]
COMMANDS = [(block.place, line) for block in blocks(*PAGES) for line in commands(block)]


@pytest.mark.parametrize("block", WORKFLOWS, ids=lambda block: block.place)
def test_every_whole_workflow_in_the_documents_loads(block: Block) -> None:
    parse_workflow(block.text, block.place)


@pytest.mark.parametrize(("place", "line"), COMMANDS, ids=[f"{place}: {line[:50]}" for place, line in COMMANDS])
def test_every_command_in_the_documents_parses(place: str, line: str) -> None:
    _, name, *arguments = shlex.split(line, comments=True)[: _end_of_command(line)]
    outer = click.Context(cli, info_name="reconvene", help_option_names=["-h", "--help"])  # click keeps the first
    if name == "--server":
        outer.params["server"], name, *arguments = arguments
    found = cli.get_command(outer, name)
    assert found is not None, f"{place}: there is no command {name}"
    if "--help" not in arguments:
        found.make_context(name, arguments, parent=outer)


def _end_of_command(line: str) -> int | None:
    """Where `&` or a pipe ends the command's own words."""
    words = shlex.split(line, comments=True)
    return next((at for at, word in enumerate(words) if word in ("&", "|", ">")), None)


@pytest.mark.parametrize("page", WALKED, ids=lambda page: page.name)
def test_the_walk_through_does_what_it_says(page: Path, tmp_path: Path) -> None:
    """Every block that names its file is saved, every `sh` line is run, and ends as its comment says."""
    folder = tmp_path / "walk"
    folder.mkdir()
    with OpenAIServer(Say('{"score": 5}'), models=("qwen3:latest",)) as ollama:
        environment = {**_environment(tmp_path), "OLLAMA_BASE_URL": ollama.url}
        assert _walked(page, folder, environment) > 5


@pytest.mark.parametrize("page", WALKED, ids=lambda page: page.name)
def test_a_block_that_is_not_run_says_why(page: Path) -> None:
    other = [block for block in blocks(page) if block.info.startswith("sh") and block.info != "sh"]
    assert [block.place for block in other if not re.fullmatch(r"sh norun: \w.{8,}", block.info)] == []


def _walked(page: Path, folder: Path, environment: dict[str, str | None]) -> int:
    ran = 0
    for block in blocks(page):
        if title := TITLE.match(block.text):
            file = folder / title[1]
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(block.text, encoding="utf-8")
            continue
        if block.info != "sh":
            continue
        dies = f"exit code {KILLED}" in block.text
        for line in block.text.splitlines():
            done = _typed(line, folder, environment, alone=dies)
            stated = EXIT.search(line)
            wanted = int(stated[1]) if stated else 0
            assert done.code == wanted, f"{block.place}: {line}\n{done.out}\n{done.err}"
            ran += 1
    return ran


def test_the_prompt_on_the_page_about_prompts_is_the_one_an_agent_gets(tmp_path: Path) -> None:
    page = ROOT / "docs" / "prompts.md"
    environment = _environment(tmp_path)
    outs: list[str] = []
    for block in blocks(page):
        if block.info == "yaml" and (title := TITLE.match(block.text)):
            (tmp_path / title[1]).write_text(block.text, encoding="utf-8")
        for line in block.text.splitlines() if block.info == "sh" else ():
            done = _typed(line, tmp_path, environment, alone=False)
            assert done.code == 0, f"{block.place}: {line}\n{done.err}"
            outs.append(done.out)
    (out,) = [out for out in outs if "mark of this message is" in out]
    (printed,) = [block.text for block in blocks(page) if block.info == "text"]
    (mark,) = set(re.findall(r"mark of this message is ([0-9a-f]{12})", out))
    assert out.rstrip().endswith(re.sub(r"[0-9a-f]{12}", mark, printed).rstrip())


def _typed(line: str, folder: Path, environment: dict[str, str | None], *, alone: bool) -> Done:
    """The command itself is called here; whatever needs a shell, or a process that may die, is given to one."""
    command = line.partition("#")[0]
    if not alone and command.startswith("reconvene ") and not set(command) & set("|&;<>$`*?"):
        return call(*shlex.split(command)[1:], cwd=folder, **environment)
    kept = {name: value for name, value in {**os.environ, **environment}.items() if value is not None}
    done = subprocess.run(
        ["sh", "-c", line], cwd=folder, env=kept, capture_output=True, stdin=subprocess.DEVNULL, text=True
    )
    # a shell may have become the command; for a person it would have told the signal so
    code = done.returncode if done.returncode >= 0 else 128 - done.returncode
    return Done(code, done.stdout, done.stderr)


def test_the_log_after_a_crash_is_the_one_in_the_tutorial(tmp_path: Path) -> None:
    page = blocks(ROOT / "docs" / "tutorial.md")
    files = [block for block in page if block.text.startswith(("# crash.yaml\n", "# crashing.py\n"))]
    (shown,) = [block for block in page if block.info == "text" and "verdict=doubt" in block.text]
    for block in files:
        (tmp_path / block.text.split()[1]).write_text(block.text, encoding="utf-8")
    environment = _environment(tmp_path)
    told = {
        words: _typed(f"reconvene {words}", tmp_path, environment, alone=True)
        for words in ("run crash.yaml", "runs", "resume crash-1", "log crash-1")
    }
    assert [done.code for done in told.values()] == [KILLED, 0, 0, 0]
    assert "running (not driven)" in told["runs"].out
    log = {line.split()[0]: line for line in told["log crash-1"].out.splitlines()}
    for line in shown.text.splitlines():
        seq, *words = line.partition(" why=")[0].split()
        assert [word for word in words if word not in log[seq]] == []
    assert sum("task=R1/0/first" in line for line in log.values() if "AttemptEnded" in line) == 1


CLAUDE = {"type": "result", "is_error": False, "result": "Written.", "usage": {}, "total_cost_usd": 0.01}
CODEX = {"type": "item.completed", "item": {"type": "agent_message", "text": "It lacks a figure."}}
PROGRAMS = {
    "reconvene": f'#!/bin/sh\nexec "{sys.executable}" -m reconvene.doors.cli "$@"\n',
    "python": f'#!/bin/sh\nexec "{sys.executable}" "$@"\n',
    # stand for programs that need an account
    "claude": f"#!/bin/sh\ncat > page.md\necho '{json.dumps(CLAUDE)}'\n",
    "codex": f"#!/bin/sh\ncat > /dev/null\necho '{json.dumps(CODEX)}'\n",
}


UNSET = ("RECONVENE_DEMO_SPEED", "RECONVENE_SANDBOX")  # as for any reader


def _environment(tmp_path: Path) -> dict[str, str | None]:
    """`reconvene` on the path is the one under test; state goes to the current folder, as for any reader."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name, text in PROGRAMS.items():
        (folder / name).write_text(text, encoding="utf-8")
        (folder / name).chmod(0o755)
    path = f"{folder}{os.pathsep}{os.environ.get('PATH', '')}"
    return {"PATH": path, "RECONVENE_BY": "reader", "RECONVENE_HOME": None, **dict.fromkeys(UNSET)}


def test_the_answers_in_the_readme_are_an_answers_file() -> None:
    (found,) = [block for block in blocks(ROOT / "README.md") if block.text.startswith("# answers.yaml")]
    assert [answer.option for answer in read_answers(found.text, "answers.yaml")] == [
        "Continue", "Again", "Continue", "Accept",
    ]  # fmt: skip


# --- nothing is left out --------------------------------------------------------------------------------------------


def test_every_event_is_explained() -> None:
    text = HOW.read_text(encoding="utf-8")
    events = [event.__name__ for event in typing.get_args(AnyEvent)]
    assert len(events) > 30
    assert [event for event in events if f"`{event}`" not in text] == []


@pytest.mark.parametrize("table", TABLES)
def test_every_key_of_the_language_is_explained(table: str) -> None:
    text = LANGUAGE.read_text(encoding="utf-8")
    available = [key for key, spec in TABLES[table].items() if not isinstance(spec.shape, Later)]
    assert [key for key in available if f"`{key}`" not in text] == []


def test_every_other_spelling_is_explained() -> None:
    told = LANGUAGE.read_text(encoding="utf-8").partition("## Other spellings")[2].partition("\n## ")[0]
    words = {key for keys in SPELLINGS.values() for key in keys}
    assert sorted(word for word in words if not re.search(rf"\b{word}\b", told)) == []


def test_every_key_that_was_taken_out_is_in_the_decision() -> None:
    text = (ROOT / "docs" / "decisions" / "0022-the-language-trimmed.md").read_text(encoding="utf-8")
    gone = [f"{table}.{key}" for table, keys in REMOVED.items() for key in keys]
    assert [key for key in gone if f"`{key}`" not in text] == []


@pytest.mark.parametrize(
    "words", [RESERVED, KINDS, tuple(sorted(ROOTS)), READ_WORDS], ids=("reserved", "kinds", "roots", "reads")
)
def test_every_word_the_engine_knows_is_in_the_language_page(words: tuple[str, ...]) -> None:
    text = LANGUAGE.read_text(encoding="utf-8")
    assert [word for word in words if word not in text] == []


@pytest.mark.parametrize(
    ("page", "part"), [("README.md", "How feedback"), ("docs/cli.md", "Feedback"), ("docs/cli.md", "reconvene decide")]
)
def test_every_kind_of_remark_is_where_people_look_for_it(page: str, part: str) -> None:
    parts = re.split(r"^##+ ", (ROOT / page).read_text(encoding="utf-8"), flags=re.M)
    (told,) = [" ".join(one.split()) for one in parts if one.startswith(part)]
    assert [kind for kind in KINDS if kind not in told] == []


def test_every_type_of_a_field_is_in_its_row_of_the_language_page() -> None:
    fields = LANGUAGE.read_text(encoding="utf-8").partition("### Fields")[2]
    (row,) = re.findall(r"^\| `type` \| (.*) \|$", fields, re.M)
    assert [name for name in FIELD_TYPES if not re.search(rf"\b{name}\b", row)] == []


def test_the_limits_in_the_language_page_are_the_real_ones() -> None:
    text = LANGUAGE.read_text(encoding="utf-8")
    usual = Limits()
    for name in ("entries", "rounds", "calls", "undo", "concurrency", "children"):
        assert re.search(rf"^\| `{name}` \| {getattr(usual, name)} \|", text, re.M), name


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_between_the_documents_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
        if not target.startswith("http"):
            assert (page.parent / target).exists(), f"{page.name}: {target}"


# --- the stage diagram ----------------------------------------------------------------------------------------------

START, END = "<!-- stages: generated, see tests/house/test_docs.py -->\n", "<!-- end of stages -->"


def diagram() -> str:
    """Mermaid, from the table that the state machine itself uses."""
    edges: dict[tuple[str, str], list[str]] = {}
    for (stage, event), after in TRANSITIONS.items():
        match after:
            case "push":
                edges.setdefault(("[*]", "enter"), []).append(event)
            case "pop":
                edges.setdefault((stage, "[*]"), []).append(event)
            case _:
                edges.setdefault((stage, after), []).append(event)
    lines = [f"    {old} --> {new}: {', '.join(events)}" for (old, new), events in edges.items()]
    return "\n".join(["```mermaid", "stateDiagram-v2", *lines, "```", ""])


def test_the_stage_diagram_is_the_one_the_code_uses() -> None:
    text = HOW.read_text(encoding="utf-8")
    shown = text.partition(START)[2].partition(END)[0]
    assert shown == diagram(), "run: python tests/house/test_docs.py"


if __name__ == "__main__":
    before, _, rest = HOW.read_text(encoding="utf-8").partition(START)
    HOW.write_text(before + START + diagram() + END + rest.partition(END)[2], encoding="utf-8")
