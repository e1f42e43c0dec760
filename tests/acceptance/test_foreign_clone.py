"""To enter a clone of somebody else's project and to type a command runs nothing that came with it.

The clone holds a home whose runs name commands, functions and check scripts, a settings file that names more, modules
of the same names, and a workflow under a packaged name. Each of them would leave a file behind: the canary.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
from functools import partial
from pathlib import Path

import pytest

from commands import Done, call
from reconvene.core.facts.commands import AnswerCheckpoint
from reconvene.errors import UserError
from reconvene.wiring import open_engine

FLOW = """
name: flow
agents:
  writer: {{command: [sh, -c, "cat >/dev/null; touch {canary}.command"], retries: 0}}
  helper: {{python: "evil:run", retries: 0}}
phases:
  - id: one
    agents: [writer]
    checkpoint: {{approval_required: true}}
  - id: two
    steps: [{{agents: [writer]}}]
    gap_check: {{script: [sh, -c, "touch {canary}.check; echo {{}}"]}}
    checkpoint: {{approval_required: true}}
"""


class Clone:
    def __init__(self, folder: Path) -> None:
        self.canary = folder / "canary"
        self.theirs = folder / "theirs"
        self.mine = folder / "clone"
        self._config = folder

    def they(self, *words: str) -> Done:
        return call(*words, cwd=self.theirs, RECONVENE_HOME=None, XDG_CONFIG_HOME=f"{self._config}/their-config")

    def i(self, *words: str, cwd: Path | None = None, **variables: str | None) -> Done:
        given: dict[str, str | None] = {"RECONVENE_HOME": None, "XDG_CONFIG_HOME": str(self.config), **variables}
        return call(*words, cwd=cwd or self.mine, **given)

    @property
    def config(self) -> Path:
        return self._config / "my-config"

    @property
    def sung(self) -> list[str]:
        return sorted(path.name for path in self.canary.parent.glob("canary.*"))

    def make(self) -> None:
        canary = self.canary
        self.theirs.mkdir()
        (self.theirs / "flow.yaml").write_text(FLOW.format(canary=canary))
        assert self.they("run", "flow.yaml", "--no-input").code == 3
        assert self.they("new", "flow.yaml", "--agent", f"writer=touch {canary}.bound").code == 0
        assert self.they("run", "flow.yaml", "--no-input", "--model", "helper=openai:x").code == 3
        (self.theirs / "reconvene.toml").write_text(f'[agents]\nwriter = "touch {canary}.settings"\n')
        (self.theirs / "evil.py").write_text(f"open('{canary}.module', 'w')\ndef run(assignment): return 'x'\n")
        for name in ("sitecustomize", "reconvene", "tomllib"):
            shutil.copy(self.theirs / "evil.py", self.theirs / f"{name}.py")
        (self.theirs / "market-entry").mkdir()
        (self.theirs / "market-entry" / "workflow.yaml").write_text(FLOW.format(canary=f"{canary}.named"))
        for path in canary.parent.glob("canary.*"):  # of their own runs
            path.unlink()
        git = partial(subprocess.run, check=True, capture_output=True, cwd=self.theirs)
        git(["git", "init", "-q"])
        git(["git", "add", "-f", "."])
        git(["git", "-c", "user.name=t", "-c", "user.email=t@example.org", "commit", "-qm", "all"])
        git(["git", "clone", "-q", ".", str(self.mine)])
        shutil.rmtree(self.theirs)


@pytest.fixture
def clone(tmp_path: Path) -> Clone:
    made = Clone(tmp_path)
    made.make()
    return made


COMMANDS = (
    "resume flow-1",
    "resume flow-2",
    "resume flow-2 --no-input --by Eve",
    "resume flow-1 --model ollama:qwen3",
    "decide flow-1 --option Continue",
    "decide flow-1 --option Continue --no-drive",
    "rollback flow-1",
    "remark flow-1 hello",
    "pause flow-2",
    "fork flow-1 --at 8",
    "abort flow-1",
    "upgrade flow-1 --to flow.yaml",
    "reopen flow-1",
    "rounds flow-1 --prune --yes",
    "run market-entry --no-input --input question=x --input brief=x",
    "new flow.yaml",
    "run market-entry --recorded --no-input",
)
LOOKS = (
    "inbox", "runs", "show flow-1", "log flow-1", "files flow-1", "ledger flow-1", "rounds flow-1", "doctor", "queue",
    "queue run", "accept", "stats",
)  # fmt: skip


def test_nothing_of_a_clone_runs_before_it_is_accepted(clone: Clone) -> None:
    log = clone.i("log", "flow-1").out
    for words in COMMANDS:
        done = clone.i(*words.split())
        assert done.code == 64 or words.startswith("rounds"), (words, done)
        assert "reconvene accept " in done.err or words.startswith("rounds"), (words, done)
        assert clone.sung == [], words
    for words in LOOKS:
        assert clone.i(*words.split()).code == 0, words
        below = clone.mine / "market-entry"
        assert clone.i(*words.split(), cwd=below).code == 0, words
        assert clone.sung == [], words
    assert clone.i("log", "flow-1").out == log
    assert not (clone.mine / ".reconvene" / "runs").exists()


def test_no_door_can_forget_to_ask(clone: Clone, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(clone.config))
    engine = open_engine(clone.mine / ".reconvene", foreign=True)
    try:
        for ask in (
            lambda: engine.drive_sync("flow-2"),
            lambda: engine.submit("flow-1", AnswerCheckpoint("", "Continue")),
            lambda: engine.scan("flow-1"),
            lambda: engine.prune("flow-1"),
        ):
            with pytest.raises(UserError, match="you have not accepted what it starts"):
                ask()
    finally:
        engine.log.close()
    assert clone.sung == []


def test_its_settings_file_starts_nothing_in_a_home_of_ones_own(clone: Clone) -> None:
    shutil.rmtree(clone.mine / ".reconvene")
    done = clone.i("run", "flow.yaml", "--no-input")
    assert done.code == 64
    assert f"writer runs: touch {clone.canary}.settings" in done.err
    assert clone.sung == []


def test_what_was_accepted_runs_and_nothing_else(clone: Clone) -> None:
    """Also the proof that the canary can sing."""
    done = clone.i("resume", "flow-2")
    assert f"writer runs: touch {clone.canary}.bound" in done.err
    assert f"the check of two runs: sh -c 'touch {clone.canary}.check; echo {{}}'" in done.err
    assert "helper calls: evil:run" in done.err
    assert clone.i("accept", done.err.split("reconvene accept ")[1].strip()).code == 0
    assert clone.i("resume", "flow-2").code == 3
    assert clone.sung == ["canary.bound"]
    assert clone.i("resume", "flow-1").code == 64  # it names another command
    moved = clone.mine.rename(clone.mine.parent / "moved")
    assert clone.i("resume", "flow-2", cwd=moved).code == 64


def test_a_workflow_that_is_named_for_an_accepted_run_needs_no_other_word(clone: Clone) -> None:
    mended = clone.mine.parent / "mended.yaml"
    mended.write_text(FLOW.format(canary=f"{clone.canary}.mended"))
    refused = clone.i("upgrade", "flow-1", "--to", str(mended))
    assert clone.i("accept", refused.err.split("reconvene accept ")[1].strip()).code == 0
    assert clone.i("upgrade", "flow-1", "--to", str(mended), "--anyway").code == 3
    assert clone.sung == []
    assert clone.i("decide", "flow-1", "--option", "Continue").code in (3, 1)
    assert "canary.mended.command" in clone.sung


def test_a_home_that_was_taken_over_is_ones_own(clone: Clone) -> None:
    assert clone.i("accept", ".").code == 0
    assert clone.i("decide", "flow-1", "--option", "Continue").code in (3, 1)
    assert "canary.command" in clone.sung


def test_who_names_the_home_needs_no_other_word(clone: Clone) -> None:
    assert clone.i("resume", "flow-2", "--home", ".reconvene").code == 3
    assert clone.sung == ["canary.bound"]


def test_a_home_of_ones_own_stays_so_when_it_is_moved_and_its_copy_is_another(clone: Clone) -> None:
    own = clone.mine.parent / "own"
    own.mkdir()
    (own / "flow.yaml").write_text(FLOW.format(canary=clone.canary))
    assert clone.i("run", "flow.yaml", "--no-input", cwd=own).code == 3
    own = own.rename(own.parent / "elsewhere")
    assert clone.i("remark", "flow-1", "hello", cwd=own).code != 64
    copy = Path(shutil.copytree(own, own.parent / "copy"))
    done = clone.i("resume", "flow-1", cwd=copy)
    assert done.code == 64
    assert "reconvene accept " in done.err


def test_a_store_with_triggers_is_not_used(clone: Clone) -> None:
    store = clone.mine / ".reconvene" / "reconvene.db"
    with sqlite3.connect(store) as base:
        table = base.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchone()[0]
        base.execute(f"CREATE TRIGGER more AFTER INSERT ON {table} BEGIN SELECT 1; END")
    for words in ("resume flow-1", "show flow-1", "accept .reconvene"):
        done = clone.i(*words.split())
        assert done.code == 1
        assert "it holds more, which Reconvene did not make" in done.err


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
@pytest.mark.parametrize("what", [".reconvene", ".reconvene/reconvene.db", "reconvene.toml"])
def test_what_belongs_to_another_user_is_refused(clone: Clone, what: str) -> None:
    if what == "reconvene.toml":
        shutil.rmtree(clone.mine / ".reconvene")
    os.chown(clone.mine / what, 12345, -1)
    done = clone.i("run", "flow.yaml", "--no-input")
    assert done.code == 64
    assert "belongs to another user (number 12345)" in done.err
    assert clone.sung == []
