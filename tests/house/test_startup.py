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
    "asyncio", "jinja2", "jsonschema", "msgspec", "pydantic", "pydantic_ai", "pygit2", "questionary", "rich", "yaml",
}  # fmt: skip

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
    subprocess.run(
        [sys.executable, "-c", LIST_MODULES, json.dumps(arguments)],
        cwd=folder,
        capture_output=True,
        check=True,
        timeout=120,
    )
    report = json.loads((folder / "modules.json").read_text(encoding="utf-8"))
    assert report["code"] == 0
    return HEAVY & set(report["modules"])


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
        timeout=120,
    )
    assert parked.returncode == 3, parked.stderr.decode()
    assert heavy_modules(tmp_path, "inbox") == set()
    assert heavy_modules(tmp_path, "inbox", "--json") == set()
    assert heavy_modules(tmp_path, "queue") == set()
