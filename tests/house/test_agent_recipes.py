"""The recipes of docs/agents.md: each is saved as it stands there and run, with stand-ins for programs and servers."""

from __future__ import annotations

import json
import os
import re
import shlex
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from commands import Done, process
from reconvene.adapters.agents.presets import PRESETS
from reconvene.testing.openai_server import OpenAIServer, Say

PAGE = Path(__file__).resolve().parents[2] / "docs" / "agents.md"
TEXT = PAGE.read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```([^\n`]*)\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)
RECIPES = [(info, line) for info, text in BLOCKS if info.split(" ")[0] == "sh" for line in text.splitlines()]
ANSWER = {"type": "result", "is_error": False, "result": "Written.", "usage": {}, "total_cost_usd": 0.01}


@pytest.fixture
def recipes(tmp_path: Path) -> Path:
    for info, text in BLOCKS:
        if info in ("yaml", "python") and (title := re.match(r"# ([\w-]+\.(?:yaml|py))\n", text)):
            (tmp_path / title[1]).write_text(text, encoding="utf-8")
    program = tmp_path / "bin" / "claude"
    program.parent.mkdir()
    program.write_text(
        f"#!{sys.executable}\nimport sys\nopen('notes.md', 'w').write(sys.stdin.read())\n"
        f"print({json.dumps(ANSWER)!r})\n"
    )
    program.chmod(0o755)
    return tmp_path


def typed(line: str, folder: Path, **environment: str) -> Done:
    path = f"{folder / 'bin'}{os.pathsep}{os.environ['PATH']}"
    return process(*shlex.split(line)[1:], cwd=folder, PATH=path, **environment)


@pytest.mark.parametrize(("info", "line"), RECIPES, ids=[line for _, line in RECIPES])
def test_every_recipe_runs_to_its_end(info: str, line: str, recipes: Path) -> None:
    library = info.partition(" needs ")[2]
    if library and find_spec(library) is None:
        pytest.skip(f"{library} is not installed")
    with OpenAIServer(Say('{"score": 5}')) as server:
        done = typed(line, recipes, LMSTUDIO_BASE_URL=server.url)
    assert done.code == 0, done.err
    if "--json" in line:
        assert done.object["status"] == "completed"


def test_the_recipe_with_words_of_its_own_runs_as_well(recipes: Path) -> None:
    done = typed("reconvene run own-words.yaml", recipes)
    assert done.code == 0, done.err


def test_every_preset_is_in_the_table_with_its_folders() -> None:
    rows = {row[0]: row[1] for row in re.findall(r"^\| `(\w+)` \|(.*)\|$", TEXT, re.MULTILINE)}
    for name, preset in PRESETS.items():
        assert [folder for folder in preset.folders if f"`{folder}`" not in rows[name]] == []
        keys = re.findall(r"\b[A-Z_]+_(?:KEY|TOKEN)\b", preset.key)
        assert [key for key in keys if f"`{key}`" not in rows[name]] == []


def test_every_local_server_is_in_the_table_with_its_address() -> None:
    pytest.importorskip("pydantic_ai")
    from reconvene.adapters.agents.providers import LOCAL

    for name, url in LOCAL.items():
        assert f"| `{name}:NAME` | `{url}` | `{name.upper()}_BASE_URL` |" in TEXT
