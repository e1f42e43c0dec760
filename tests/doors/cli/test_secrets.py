"""Keys and passwords of the environment get into no log, however they are spoken; a file that holds one waits aside."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from commands import Command

KEY = "sk-live-8842-hhQq"
PASSWORD = 'Pa55/word"x'
URL = "postgres://ann:s3cr3t-of-ann@db/x"

FLOW = r"""
name: leak
inputs: {topic: {type: text, required: true}}
agents:
  writer:
    command:
      - sh
      - -c
      - >-
        cat >&2; echo "the key is $WRITER_KEY"; echo "working with $WRITER_KEY" >&2; echo "url $SHOP_URL, in $MODE";
        echo "export K=$WRITER_KEY" > settings.env; echo fine > fine.md
    env: [WRITER_KEY, SHOP_URL, MODE]
  teller:
    command: ["sh", "-c", 'cat >/dev/null; printf "{\"token\": \"%s\"}" "$WRITER_KEY"']
    env: [WRITER_KEY]
  breaker:
    command: ["sh", "-c", 'cat >/dev/null; echo "cannot log in with $WRITER_KEY" >&2; exit 3']
    env: [WRITER_KEY]
    retries: 0
phases:
  - id: draft
    agents: [writer, teller, breaker]
    missing: go_on
    rounds: {max: 3}
    prompt: "Write about {{ inputs.topic }}"
    checkpoint:
      fields: [{id: why, type: text}]
      options: [{label: Good}, {label: Again, then: again}]
"""


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WRITER_KEY", KEY)
    monkeypatch.setenv("DB_PASSWORD", PASSWORD)
    monkeypatch.setenv("SHOP_URL", URL)
    monkeypatch.setenv("MODE", "production")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "leak.yaml").write_text(FLOW, encoding="utf-8")
    return tmp_path


@pytest.fixture
def run(reconvene: Command, folder: Path) -> str:
    told = reconvene("run", "leak.yaml", "--no-input", "--input", f"topic=shops, {PASSWORD}")
    assert told.code == 3, told.err
    assert KEY not in told.out + told.err
    return "leak-1"


def holding(home: Path, *values: str) -> list[str]:
    """Files of the home in which one of these stands, as it is or as JSON spells it."""
    forms = {form.encode() for value in values for form in (value, json.dumps(value)[1:-1])}
    return [
        str(path.relative_to(home))
        for path in home.rglob("*")
        if path.is_file() and any(form in path.read_bytes() for form in forms)
    ]


def home(folder: Path) -> Path:
    return folder / ".reconvene"


def test_what_agents_say_fail_with_and_report_is_blanked(reconvene: Command, run: str, folder: Path) -> None:
    said = reconvene("output", run, "--all").out
    assert "the key is [redacted]" in said
    assert "url [redacted], in production" in said
    assert '"token": "[redacted]"' in said
    assert "cannot log in with [redacted]" in said
    assert "shops, [redacted]" in said
    assert {path.split("/")[0] for path in holding(home(folder), KEY, PASSWORD, URL)} == {"held"}


def test_what_a_person_says_is_blanked_and_the_rest_of_it_stays(reconvene: Command, run: str, folder: Path) -> None:
    said = reconvene("remark", run, f"correction: {KEY} is an old key")
    assert (said.code, KEY in said.out) == (0, False)
    assert reconvene("decide", run, "--option", "Again", "--field", f"why=use {PASSWORD} now").code == 3
    assert "[redacted] is an old key" in reconvene("ledger", run).out
    assert {path.split("/")[0] for path in holding(home(folder), KEY, PASSWORD)} == {"held"}
    assert "use [redacted] now" in reconvene("show", run, "--json").out + reconvene("log", run, "--json").out


def test_a_file_that_holds_one_is_named_at_the_stop_and_taken_on_the_persons_word(
    reconvene: Command, run: str, folder: Path
) -> None:
    shown = reconvene("show", run)
    why = "not taken of writer: settings.env: it holds the value of WRITER_KEY. It is kept aside:"
    assert f"{why} reconvene take leak-1 settings.env" in " ".join(shown.out.split())
    taken, _, left = reconvene("files", run).out.partition("files that were not taken")
    assert "settings.env" not in taken
    assert "fine.md" in taken
    assert "settings.env: it holds the value of WRITER_KEY" in left
    assert reconvene("take", run).out == "settings.env\n"
    assert reconvene("take", run, "setings.env").err.count("settings.env") == 1
    assert reconvene("take", run, "settings.env", "--to", "mine.env").code == 0
    assert (folder / "mine.env").read_text() == f"export K={KEY}\n"
    assert (folder / "mine.env").stat().st_mode & 0o777 == 0o600
    assert reconvene("take", run, "settings.env", "--to", "mine.env").code == 64
    assert reconvene("take", run, "settings.env", "--by", "Ann").code == 0
    assert reconvene("files", run, "settings.env").out == f"export K={KEY}\n"
    assert reconvene("take", run).out == "nothing of leak-1 is kept aside\n"
    assert "not taken" not in reconvene("files", run).out
    assert "settings.env" in reconvene("ledger", run).out


def test_a_file_that_was_asked_for_and_holds_one_is_named_with_its_reason(reconvene: Command, folder: Path) -> None:
    """It is there: neither the agent nor the person is told that it is missing."""
    command = "cat >>told.txt; echo $WRITER_KEY > settings.env; cp told.txt fine.md"
    agent = f"{{command: [sh, -c, '{command}'], env: [WRITER_KEY], retries: 1}}"
    steps = "[{agents: [writer], writes: [settings.env, fine.md]}]"
    flow = f"name: asked\nagents: {{writer: {agent}}}\nphases: [{{id: one, steps: {steps}}}]\n"
    (folder / "asked.yaml").write_text(flow)
    stop = reconvene("run", "asked.yaml", "--no-input")
    assert stop.code == 3
    told = "settings.env: it holds the value of WRITER_KEY. It is kept aside: reconvene take asked-1 settings.env"
    assert f"FILE_NOT_TAKEN: write the file so that it can be taken. It was not: “{told}”" in stop.out
    assert "is not there" not in stop.out
    second = reconvene("output", "asked-1", "writer", "--all").out.partition("attempt 2")[2]
    assert "it holds the value of WRITER_KEY" in second
    assert reconvene("take", "asked-1", "settings.env").code == 0
    assert reconvene("decide", "asked-1", "--option", "Go on without it", "--latest").code == 0
    assert KEY in reconvene("files", "asked-1", "settings.env").out


def test_a_key_written_into_what_starts_agents_is_refused(reconvene: Command, folder: Path) -> None:
    (folder / "bad.yaml").write_text(FLOW.replace("the key is $WRITER_KEY", f"the key is {KEY}"))
    refused = reconvene("run", "bad.yaml", "--no-input", "--input", "topic=x")
    assert refused.code == 64
    assert "holds the value of WRITER_KEY" in refused.err
    bound = reconvene("run", "leak.yaml", "--no-input", "--input", "topic=x", "--agent", f"writer=echo {KEY}")
    assert bound.code == 64
    assert "The command line holds the value of WRITER_KEY" in bound.err
    assert holding(home(folder), KEY) == [] if home(folder).exists() else True


def test_in_a_project_the_branch_gets_neither_the_file_nor_the_agents_history_of_it(
    reconvene: Command, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(folder / "state"))
    project = folder / "project"
    project.mkdir()

    def git(*words: str) -> str:
        return subprocess.run(["git", *words], cwd=project, capture_output=True, text=True, check=True).stdout

    git("init", "-q")
    git("config", "user.name", "Ada")
    git("config", "user.email", "ada@example.org")
    (project / "a.txt").write_text("a\n")
    (project / "old.env").write_text("one\n")
    git("add", "-A")
    git("commit", "-qm", "Start")
    script = (
        'echo "K=$WRITER_KEY" > new.env; git add -A; git commit -qm "with $WRITER_KEY"; '
        'echo "K=$WRITER_KEY" > old.env; echo b > a.txt; echo done'
    )
    (folder / "code.yaml").write_text(
        "name: code\ninputs: {project: {type: project, required: true}}\nagents:\n"
        f"  coder: {{command: [sh, -c, {json.dumps(script)}], env: [WRITER_KEY]}}\n"
        "phases:\n  - {id: code, agents: [coder], place: project, checkpoint: true}\n"
    )
    parked = reconvene("run", "code.yaml", "--no-input", "--input", f"project={project}")
    assert parked.code == 3, parked.err
    assert git("show", "reconvene/code-1:a.txt") == "b\n"
    assert git("show", "reconvene/code-1:old.env") == "one\n"
    assert git("ls-tree", "--name-only", "reconvene/code-1").split() == ["a.txt", "old.env"]
    assert git("rev-list", "--count", "reconvene/code-1").strip() == "2"
    assert KEY not in git("log", "-p", "--all")
    assert "take code-1 --to FILE new.env" in parked.out + parked.err
    assert reconvene("take", "code-1").out == "new.env\nold.env\n"
    refused = reconvene("take", "code-1", "new.env")
    assert refused.code == 64
    assert "--to FILE" in refused.err
    assert reconvene("take", "code-1", "new.env", "--to", "mine.env").code == 0
    assert (folder / "mine.env").read_text() == f"K={KEY}\n"


MUCH = """
name: much
agents:
  other: {command: "cat >/dev/null; for i in $(seq 15); do ln -s x a$i; done; echo ok"}
  writer:
    command: "cat >/dev/null; for i in $(seq 15); do ln -s x a$i; done; echo $WRITER_KEY > z.env"
    env: [WRITER_KEY]
phases: [{id: one, agents: [other, writer], checkpoint: true}]
"""


def test_what_is_kept_aside_is_named_however_much_else_was_not_taken(reconvene: Command, folder: Path) -> None:
    (folder / "much.yaml").write_text(MUCH)
    stopped = reconvene("run", "much.yaml", "--no-input")
    lines = [line for line in stopped.out.splitlines() if "not taken" in line or "lines of this kind" in line]
    assert "z.env: it holds the value of WRITER_KEY. It is kept aside: reconvene take much-1 z.env" in stopped.out
    assert len(lines) == 13
    assert lines[-1].strip().endswith("… and 19 more lines of this kind")


def test_a_value_that_is_too_short_to_be_blanked_is_said(
    reconvene: Command, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "short.yaml").write_text(
        "name: short\nagents: {a: {command: 'cat >/dev/null; echo $PIN_SECRET', env: [PIN_SECRET, WRITER_KEY]}}\n"
        "phases: [{id: one, agents: [a]}]\n"
    )
    monkeypatch.setenv("PIN_SECRET", "4711")
    said = "the value of PIN_SECRET is too short, or too plain a word, to be blanked"
    assert said in reconvene("check", "short.yaml").out
    started = reconvene("run", "short.yaml")
    assert said in started.err
    assert "WRITER_KEY" not in started.err
