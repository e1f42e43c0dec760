"""More than twenty ways for a command agent to decide, forge, read or stay, tried at each level of the sandbox.

Under bubblewrap none succeeds. What holds at the other levels is measured, and is the table in docs/security.md.
"""

from __future__ import annotations

import json
import os
import re
import select
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

import pytest
from tests.acceptance.support.ways_out import WAYS, WORDS, Way

import reconvene
from commands import call, process
from reconvene.core.facts.events import AttemptEnded
from reconvene.wiring import open_log

PAGE = Path(__file__).resolve().parents[2] / "docs" / "security.md"
SOURCE = Path(reconvene.__file__).resolve().parents[1]
COMMAND = f"{sys.executable} -m reconvene.doors.cli"
# What lies below /tmp is only shown where the command line names it. A person would have it installed elsewhere, and
# their own folder elsewhere, too: it is named as well.
SHOWN = ("sh", str(SOURCE), sys.executable)
LEVELS = ("bubblewrap", "landlock", "none")
VICTIM = """
name: victim
agents: {writer: {command: "cat >/dev/null; echo VICTIMS-WORD > draft.md", sandbox: "off"}}
phases: [{id: draft, agents: [writer], checkpoint: {approval_required: true}}]
"""
FILES = {
    ".ssh/id_ed25519": "SSH-WORD\n",
    ".aws/credentials": "SSH-WORD\n",
    ".config/reconvene/keys/signing": "KEYS-WORD\n",
    ".config/reconvene/accepted": "",
    ".claude/settings.json": "{}\n",
    "dotfiles/credentials": "SSH-WORD\n",
    ".profile": "",
    ".tmux/note": "",
}


class Seen(NamedTuple):
    level: str  # on record
    succeeded: frozenset[str]
    said: dict[str, str]
    verified: Mapping[str, str] = MappingProxyType({})  # of ways that concern a run: what `verify` then says of it


class Scene:
    """A person's machine: their own folder, a home with runs that wait, an ssh-agent.

    `broken`: bubblewrap is there, and does not work."""

    def __init__(self, root: Path, *, broken: bool, sandbox: str) -> None:
        self.root, self.home, self.person = root, root / "state" / ".reconvene", root / "person"
        self.socket, self.gate = str(root / "agent.sock"), root / "gate" / "pipe"
        for path, text in FILES.items():
            file = self.person / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        (self.person / ".aws" / "linked").symlink_to(self.person / "dotfiles" / "credentials")
        programs = root / "programs"
        for folder in (programs, self.gate.parent, self.home.parent):
            folder.mkdir()
        if broken:
            (programs / "bwrap").write_text("#!/bin/sh\nexit 1\n")
            (programs / "bwrap").chmod(0o755)
        os.mkfifo(self.gate)
        self.typed, self.terminal = os.openpty()
        os.write(self.typed, b"TYPED-WORD\n")
        self.environ = {
            "HOME": str(self.person), "XDG_CONFIG_HOME": None, "XDG_STATE_HOME": None, "SSH_AUTH_SOCK": self.socket,
            "RECONVENE_HOME": str(self.home), "RECONVENE_SANDBOX": sandbox, "ENGINES_OWN": "ENGINES-WORD",
            "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
        }  # fmt: skip
        (root / "victim.yaml").write_text(VICTIM)
        self.victims = {}
        for number, way in enumerate((way for way in WAYS if "$VICTIM" in way.script), start=1):
            call("run", "victim.yaml", "--no-input", cwd=root, **self.environ)
            self.victims[way.name] = f"victim-{number}"
        for place in ("old/project/.reconvene", "backup"):
            shutil.copytree(self.home, self.person / place)

    def token(self, way: Way) -> str:
        return f"stays-{way.name}-{self.root.name}"

    def command(self, way: Way) -> list[str]:
        facts = {
            "RECONVENE": COMMAND, "HOUSE": self.home, "PERSON": self.person, "PYTHON": sys.executable,
            "VICTIM": self.victims.get(way.name, ""), "TOKEN": self.token(way), "SOCKET": self.socket,
            "TERMINAL": os.ttyname(self.terminal),
        }  # fmt: skip
        given = "\n".join(f"{name}='{value}'" for name, value in facts.items())
        script = f"cat >/dev/null\n{given}\n{{ {way.script}\n}} 2>&1\nexit 0"
        return ["sh", "-c", script, *self.shown()]

    def shown(self) -> list[str]:
        return [*SHOWN, str(self.person)]

    def attacked(self) -> Seen:
        agents = {"peer": ["sh", "-c", 'echo PEERS-WORD > note.md; cat "$1"', "sh", str(self.gate)]}  # it starts first
        agents |= {way.name: self.command(way) for way in WAYS}
        agents["own"] = ["sh", "-c", "cat >/dev/null; echo as it was > own.md"]
        agents["control"] = ["sh", "-c", f"{COMMAND} --version", *SHOWN]
        flow = {
            "name": "attack",
            "limits": {"concurrency": 50},
            "agents": {name: {"command": words, "retries": 0, "prompt": "."} for name, words in agents.items()},
            "phases": [
                {"id": "first", "steps": [{"agents": ["own"], "writes": ["own.md"]}]},
                {"id": "all", "reads": [], "agents": [name for name in agents if name != "own"]},
            ],
        }
        (self.root / "attack.yaml").write_text(json.dumps(flow))
        before = {run: self.head(run) for run in self.victims.values()}
        with self.answering(self.socket), self.answering(str(self.person / ".tmux" / "default")):
            engine = threading.Thread(target=self.drive)
            engine.start()
            self.open_the_gate(len(WAYS) + 2, engine)
            engine.join()
        ended = self.ended()
        assert "reconvene" in ended["control"][1], "where the command itself does not work, nothing is shown"
        said = {name: text for name, (_, text) in ended.items()}
        done = frozenset(way.name for way in WAYS if self.succeeded(way, said.get(way.name, ""), before))
        return Seen("; ".join({level for level, _ in ended.values()}), done, said, self.verified())

    def verified(self) -> dict[str, str]:
        runs = {way.name: self.victims.get(way.name, "attack-1") for way in WAYS if way.kind in ("act", "forge")}
        return {name: "".join(call("verify", run, cwd=self.root, **self.environ)[1:]) for name, run in runs.items()}

    def drive(self) -> None:
        process("run", "attack.yaml", "--no-input", cwd=self.root, **self.environ)

    def open_the_gate(self, others: int, engine: threading.Thread) -> None:
        """The peer works until all others have ended."""
        while engine.is_alive() and len(self.ended()) < others:
            select.select([], [], [], 0.05)
        if engine.is_alive():
            self.gate.write_text("over\n")

    def ended(self) -> dict[str, tuple[str, str]]:
        """agent → its level and what it said, as recorded."""
        if not (self.home / "reconvene.db").exists():
            return {}
        with closing(open_log(self.home)) as log:
            events = [event for _, event in log.read("attack-1") if isinstance(event, AttemptEnded)]
            texts = [
                log.artefact(one.output.digest).decode("utf-8", "replace") if one.output else one.why for one in events
            ]
        return {one.task.rpartition("/")[2]: (one.sandbox, text) for one, text in zip(events, texts, strict=True)}

    def head(self, run: str) -> int:
        with closing(open_log(self.home)) as log:
            return log.head(run)

    def succeeded(self, way: Way, said: str, before: dict[str, int]) -> bool:
        match way.kind:
            case "act":
                run = self.victims[way.name]
                return self.head(run) > before[run] or bool(self.alive(way))
            case "read":
                return any(word in said for word in WORDS)
            case "stay":
                return bool(self.alive(way))
            case _ if way.file:
                file = self.root / way.file.format(victim=self.victims.get(way.name, ""))
                return "FORGED" in file.read_text()
            case _:
                with closing(sqlite3.connect(self.home / "reconvene.db")) as base:
                    return bool(base.execute("SELECT 1 FROM appends WHERE events LIKE '%FORGED%'").fetchall())

    def alive(self, way: Way) -> list[int]:
        found, token = [], self.token(way).encode()
        for folder in Path("/proc").iterdir():
            if folder.name.isdigit():
                try:
                    words = (folder / "cmdline").read_bytes().split(b"\0")
                except OSError:
                    continue
                # the agent itself has the word inside its script, not as a word of its own
                found += [int(folder.name)] if token in words else []
        return found

    def close(self) -> None:
        os.close(self.typed)
        os.close(self.terminal)
        for way in WAYS:
            for pid in self.alive(way):
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)

    @contextmanager
    def answering(self, path: str) -> Iterator[None]:
        """Somebody who acts for the person."""
        with socket.socket(socket.AF_UNIX) as server:
            server.bind(path)
            server.listen(10)

            def serve() -> None:
                while True:
                    try:
                        caller, _ = server.accept()
                    except OSError:
                        return
                    with caller:
                        caller.sendall(b"AGENTS-WORD")

            threading.Thread(target=serve, daemon=True).start()
            yield
            server.shutdown(socket.SHUT_RDWR)


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Seen]:
    found = {}
    for level in LEVELS:
        root, sandbox = tmp_path_factory.mktemp(level), "off" if level == "none" else "auto"
        scene = Scene(root, broken=level == "landlock", sandbox=sandbox)
        try:
            found[level] = scene.attacked()
        finally:
            scene.close()
    return found


def needs(seen: dict[str, Seen], level: str) -> Seen:
    recorded = {"none": "off"}.get(level, level)
    if seen[level].level != recorded:
        pytest.skip(f"{level} does not work here: {seen[level].level} was in force")
    return seen[level]


def test_there_are_more_than_twenty_ways() -> None:
    assert len({way.name for way in WAYS}) > 20


def test_without_a_sandbox_the_ways_are_real(seen: dict[str, Seen]) -> None:
    """A way that fails everywhere shows nothing: most succeed where nothing keeps them."""
    real = {
        "database", "edit-other", "edit-own", "peer-path", "other-run", "other-home", "keys", "ssh", "environment",
        "ssh-agent", "socket", "linked", "terminal", "decide-library", "decide-own-key",
    }  # fmt: skip
    assert real <= needs(seen, "none").succeeded


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.name)
def test_under_bubblewrap_none_succeeds(way: Way, seen: dict[str, Seen]) -> None:
    found = needs(seen, "bubblewrap")
    assert way.name not in found.succeeded, found.said.get(way.name)


@pytest.mark.parametrize("level", LEVELS)
def test_the_table_says_what_is_measured(level: str, seen: dict[str, Seen]) -> None:
    found = needs(seen, level)
    assert table()[level] == {way.about: way.name not in found.succeeded for way in WAYS}


def test_the_table_says_what_verify_shows(seen: dict[str, Seen]) -> None:
    found = needs(seen, "none")
    for way in WAYS:
        said = found.verified.get(way.name, "")
        new = way.name in found.succeeded and any(word in said for word in ("does not fit", "a new key", "claimed"))
        assert new == bool(way.shown), f"{way.name}: {said}"
        assert way.shown in said
        assert way.shown in rows()[way.about][-1]
        assert bool(way.shown) == (rows()[way.about][-1] not in ("", "nothing")), way.name


@cache
def rows() -> dict[str, tuple[str, ...]]:
    """What is tried → prevented at each level, what `verify` shows where it is not."""
    found = re.findall(
        r"^\| ([^|]+?) \| (✓|–) \| (✓|–) \| (✓|–) \| ([^|]*?) ?\|$", PAGE.read_text(encoding="utf-8"), re.MULTILINE
    )
    return {about: tuple(rest) for about, *rest in found}


def table() -> dict[str, dict[str, bool]]:
    return {level: {about: row[number] == "✓" for about, row in rows().items()} for number, level in enumerate(LEVELS)}


ACTS = (
    "decide x-1 --option Yes", "remark x-1 hm", "pause x-1", "abort x-1", "rollback x-1", "fork x-1 --at 1",
    "resume x-1", "resume x-1 --model openai:gpt-5.4", "upgrade x-1 --to x.yaml", "reopen x-1", "take x-1 a.env",
    "rounds x-1 --prune", "accept 12345678", "queue drop x-1 --yes", "queue move x-1 first", "queue run --no-input",
    "delete x-1 --yes", "import x.zip", "allowed x-1 --revoke A1", "replan x-1", "worker --once",
)  # fmt: skip


@pytest.mark.parametrize("words", ACTS)
def test_a_command_by_which_people_act_says_that_it_is_for_people(words: str, tmp_path: Path) -> None:
    done = call(*words.split(), cwd=tmp_path, RECONVENE_TASK="R1/0/writer")
    assert done.code == 64
    assert "is for people" in done.err


def test_a_run_that_an_agent_starts_is_not_decided_by_the_agents_answers(tmp_path: Path) -> None:
    (tmp_path / "victim.yaml").write_text(VICTIM)
    (tmp_path / "answers.yaml").write_text("- {option: Continue}\n")
    words = ("run", "victim.yaml", "--answers", "answers.yaml")
    done = call(*words, cwd=tmp_path, RECONVENE_TASK="R1/0/writer")
    assert done.code == 64
    assert "is for people" in done.err
    assert call(*words, cwd=tmp_path).code == 0


def test_looking_is_for_everybody(tmp_path: Path) -> None:
    assert call("runs", cwd=tmp_path, RECONVENE_TASK="R1/0/writer").code == 0


def test_a_coding_agent_that_a_person_works_with_may_decide(tmp_path: Path) -> None:
    (tmp_path / "victim.yaml").write_text(VICTIM)
    assert call("run", "victim.yaml", "--no-input", cwd=tmp_path, CLAUDECODE="1").code == 3
    line = f"{COMMAND} decide victim-1 --option Continue"
    done = subprocess.run(["sh", "-c", f"sh -c '{line}'; exit $?"], cwd=tmp_path, env=os.environ | {"CLAUDECODE": "1"})
    assert done.returncode == 0
