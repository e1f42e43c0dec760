"""The command line answers at once because it does not import what it does not need. Checked on sets of modules: the
time itself is the business of bench/.
"""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import pytest

HEAVY = {
    "asyncio", "jinja2", "jsonschema", "msgspec", "nacl", "pydantic", "pydantic_ai", "pygit2", "questionary", "rich",
    "yaml",
}  # fmt: skip

# What a decision has no use for: the git library, the agent's project, conditions, the checks of a workflow file, and
# parts of the standard library that take longer to import than they would work.
NOT_TO_DECIDE = {
    *HEAVY, "bz2", "dataclasses", "difflib", "importlib.metadata", "pathlib", "_quickjs", "random", "secrets",
    "shutil", "tempfile", "urllib.parse", "reconvene.adapters.agents.thinking", "reconvene.adapters.git.library",
    "reconvene.adapters.guest.helper", "reconvene.adapters.project", "reconvene.app.asked_gates",
    "numpy", "reconvene.doors.cli.drive", "reconvene.doors.cli.work_off", "reconvene.language.javascript",
    "reconvene.settings_file", "reconvene.wire.loading", "safetensors", "tokenizers",
} - {"asyncio", "msgspec", "nacl"}  # fmt: skip

LIST_MODULES = """
import json, sys
from reconvene.doors.cli.main import run
words = json.loads(sys.argv[1])
code = run(words) if words else 0
with open("modules.json", "w") as out:
    json.dump({"code": code, "modules": sorted(sys.modules)}, out)
"""

WORKFLOW = """
name: short
agents:
  writer: {command: ["sh", "-c", "cat >/dev/null; echo done"]}
phases:
  - id: draft
    agents: [writer]
    checkpoint: {approval_required: true}
"""

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("reconvene.doors.cli.main") is None, reason="there is no command line yet"
)


def heavy_modules(folder: Path, *arguments: str) -> set[str]:
    """What of HEAVY is loaded after `reconvene ARGUMENTS` (without arguments: after the import alone)."""
    return HEAVY & loaded_modules(folder, *arguments)


def loaded_modules(folder: Path, *arguments: str, code: int = 0) -> set[str]:
    subprocess.run(
        [sys.executable, "-c", LIST_MODULES, json.dumps(arguments)],
        cwd=folder,
        capture_output=True,
        check=True,
        timeout=300,
    )
    report = json.loads((folder / "modules.json").read_text(encoding="utf-8"))
    assert report["code"] == code
    return set(report["modules"])


def test_importing_the_command_line_loads_nothing_heavy(tmp_path: Path) -> None:
    assert heavy_modules(tmp_path) == set()


@pytest.mark.parametrize(
    "arguments",
    [("--help",), ("inbox",), ("inbox", "--json"), ("runs",), ("queue",), ("queue", "--json")],
    ids=" ".join,
)
def test_quick_commands_load_nothing_heavy(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    assert heavy_modules(tmp_path, *arguments) == set()


def test_an_inbox_with_a_waiting_run_loads_nothing_heavy(tmp_path: Path) -> None:
    (tmp_path / "short.yaml").write_text(WORKFLOW, encoding="utf-8")
    parked = subprocess.run(
        [sys.executable, "-m", "reconvene.doors.cli.main", "run", "short.yaml"],
        cwd=tmp_path,
        capture_output=True,
        stdin=subprocess.DEVNULL,
        check=False,
        timeout=300,
    )
    assert parked.returncode == 3, parked.stderr.decode()
    assert heavy_modules(tmp_path, "inbox") == set()
    assert heavy_modules(tmp_path, "inbox", "--json") == set()
    assert heavy_modules(tmp_path, "queue") == set()


def test_a_decision_loads_nothing_that_it_has_no_use_for(tmp_path: Path) -> None:
    """Decided, driven to the next checkpoint, written to the git history."""
    (tmp_path / "at_work.py").write_text("async def write(assignment):\n    return {'files': {'a/b.md': 'text'}}\n")
    phases = "".join(f"  - {{id: {name}, agents: [w], checkpoint: {{approval_required: true}}}}\n" for name in "ab")
    text = f"name: short\nagents: {{w: {{python: 'at_work:write'}}}}\nphases:\n{phases}"
    (tmp_path / "short.yaml").write_text(text, encoding="utf-8")
    assert "yaml" in loaded_modules(tmp_path, "run", "short.yaml", "--no-input", code=3)
    loaded = loaded_modules(tmp_path, "decide", "short-1", "--option", "Continue", code=3)
    assert loaded & NOT_TO_DECIDE == set()
    assert "reconvene.adapters.git.history" in loaded


def test_the_command_leaves_nothing_open_and_says_all_it_has_to_say(tmp_path: Path) -> None:
    """It ends without taking the interpreter apart; what must happen at the end has happened before."""
    (tmp_path / "short.yaml").write_text(WORKFLOW, encoding="utf-8")
    parked = subprocess.run(
        [sys.executable, "-m", "reconvene.doors.cli", "run", "short.yaml", "--no-input"],
        cwd=tmp_path, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False, timeout=120,
    )  # fmt: skip
    assert parked.returncode == 3, parked.stderr
    assert "reconvene decide short-1" in parked.stdout
    assert list((tmp_path / ".reconvene" / "processes").iterdir()) == []  # the leases are given up
    assert not (tmp_path / ".reconvene" / "reconvene.db-wal").exists()  # the log is closed


AT_THE_END = """
import atexit, os, sys, threading
from reconvene.doors.cli import main
left = os._exit
os._exit = lambda code: (print("left at once", code, flush=True), left(code))
atexit.register(lambda: print("at exit", flush=True))
if "thread" in sys.argv:
    threading.Thread(target=lambda: (threading.main_thread().join(), print("thread done", flush=True))).start()
sys.argv = ["reconvene", "workflows"]
sys.exit(main.main())
"""


def test_what_is_registered_for_the_end_runs_and_a_thread_at_work_is_waited_for(tmp_path: Path) -> None:
    def said(*words: str) -> list[str]:
        done = subprocess.run(
            [sys.executable, "-c", AT_THE_END, *words], cwd=tmp_path, capture_output=True, text=True, timeout=120
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.splitlines()

    assert said()[-2:] == ["at exit", "left at once 0"]
    assert said("thread")[-2:] == ["thread done", "at exit"]
