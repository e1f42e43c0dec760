"""The package with nothing but what it depends on: it works, and says what to install before anything is asked.

A process gets a finder that refuses every module of a distribution outside of what `pip install reconvene` brings.
"""

from __future__ import annotations

import json
import os
import re
from functools import partial
from importlib.metadata import PackageNotFoundError, packages_distributions, requires
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from commands import Command, Done, process
from exploring import part
from reconvene.wire.packaged import demos, packaged

REFUSING = """
import sys
class Refusing:
    refused = set({refused!r})
    def find_spec(self, name, path=None, target=None):
        if name in self.refused or name.partition(".")[0] in self.refused:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
sys.meta_path.insert(0, Refusing())
"""

MODEL = """
name: asks
inputs: {{topic: {{type: text, required: true}}}}
agents: {{writer: {agent}}}
phases: [{{id: draft, agents: [writer]}}]
"""


def base() -> set[str]:
    """The distributions that the package brings without extras."""
    found, left = set[str](), ["reconvene"]
    while left:
        name = left.pop()
        if name in found:
            continue
        found.add(name)
        try:
            listed = [Requirement(text) for text in requires(name) or ()]
        except PackageNotFoundError:  # for another system
            continue
        left += [_plain(one.name) for one in listed if one.marker is None or one.marker.evaluate({"extra": ""})]
    return found


def _plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder to put on PYTHONPATH: in it lies what refuses all other modules."""
    folder, brought = tmp_path_factory.mktemp("bare"), base()
    refused = {
        module
        for module, of in packages_distributions().items()
        if brought.isdisjoint(map(_plain, of)) and module not in ("pip", "setuptools", "_distutils_hack")
    }
    assert {"pydantic_ai", "pydantic", "openai", "anthropic", "google", "httpx2", "pytest"} <= refused
    assert refused.isdisjoint({"reconvene", "click", "yaml", "msgspec"})
    (folder / "sitecustomize.py").write_text(REFUSING.format(refused=sorted(refused)))
    return folder


@pytest.fixture
def reconvene(tmp_path: Path, bare: Path) -> Command:
    paths = os.pathsep.join([str(bare), *filter(None, [os.environ.get("PYTHONPATH", "")])])
    return partial(process, cwd=tmp_path, PYTHONPATH=paths, VIRTUAL_ENV=None, OLLAMA_BASE_URL="http://127.0.0.1:9/v1")


@pytest.mark.parametrize("name", part(demos()))
def test_every_demo_plays(reconvene: Command, tmp_path: Path, name: str) -> None:
    done = reconvene("demo", name)
    assert done.code == 0, done.err
    assert reconvene("inbox").code == 0
    assert [path.name for path in tmp_path.iterdir()] == [".reconvene"]


def test_every_packaged_workflow_is_checked_and_listed(reconvene: Command) -> None:
    assert reconvene("check", str(packaged()["brainstorm"])).code == 0
    assert [row["name"] for row in reconvene("workflows", "--json").objects] == list(packaged())
    assert reconvene("doctor").code == 0


def test_a_workflow_of_commands_runs(reconvene: Command, tmp_path: Path) -> None:
    agent = '{command: [sh, -c, "cat >/dev/null; echo done"]}'
    (tmp_path / "asks.yaml").write_text(MODEL.format(agent=agent))
    assert reconvene("run", "asks.yaml", "--input", "topic=glass").code == 0


def refused(done: Done, tmp_path: Path, extra: str, what: str) -> None:
    """With the line to type, before an input is asked for, and with nothing made."""
    assert (done.code, done.out) == (64, "")
    first, second = done.err.splitlines()
    assert re.fullmatch(rf"error: (asks.yaml:\d+: )?the library for {re.escape(what)}", first)
    assert re.fullmatch(rf"hint: install it: (make .*models|.*pip install .*\[{extra}\]'?)", second)
    assert not (tmp_path / ".reconvene").exists()


@pytest.mark.parametrize(
    ("agent", "extra", "what"),
    [
        ("{model: 'openai:gpt-5.4'}", "openai", "openai:gpt-5.4 is not installed (agent writer)"),
        ("{model: 'ollama:qwen3'}", "openai", "ollama:qwen3 is not installed (agent writer)"),
        ("{model: 'anthropic:x'}", "anthropic", "anthropic:x is not installed (agent writer)"),
        ("{model: 'google:x'}", "google", "google:x is not installed (agent writer)"),
        (
            "{model: qwen3, options: {base_url: 'http://localhost:1/v1'}}",
            "openai",
            "qwen3 at http://localhost:1/v1 is not installed (agent writer)",
        ),
    ],
)
@pytest.mark.parametrize("command", ["run", "new"])
def test_a_model_without_its_library_is_said_first(
    reconvene: Command, tmp_path: Path, command: str, agent: str, extra: str, what: str
) -> None:
    (tmp_path / "asks.yaml").write_text(MODEL.format(agent=agent))
    refused(reconvene(command, "asks.yaml"), tmp_path, extra, what)


def test_a_key_for_auto_without_its_library_is_said_first(reconvene: Command, tmp_path: Path) -> None:
    what = re.escape("anthropic:claude-sonnet-5 is not installed (agents ")
    done = reconvene("run", "scenario-planning", ANTHROPIC_API_KEY="k", PATH="/nowhere")
    assert re.search(what + r"[\w, ]+, ANTHROPIC_API_KEY is set\)", done.err)
    assert done.code == 64
    assert not (tmp_path / ".reconvene").exists()


def test_models_that_variables_name_are_looked_at_too(reconvene: Command, tmp_path: Path) -> None:
    (tmp_path / "asks.yaml").write_text(MODEL.format(agent="{command: [cat], gate: {ask: Is it short?}}"))
    for name in ("RECONVENE_GATE_MODEL", "RECONVENE_FEEDBACK_MODEL"):
        done = reconvene("run", "asks.yaml", **{name: "openai:gpt-5.4"})
        refused(done, tmp_path, "openai", f"openai:gpt-5.4 is not installed ({name})")


def test_with_json_the_line_is_in_the_hint(reconvene: Command, tmp_path: Path) -> None:
    (tmp_path / "asks.yaml").write_text(MODEL.format(agent="{model: 'openai:gpt-5.4'}"))
    done = reconvene("run", "asks.yaml", "--json")
    assert done.code == 64
    assert json.loads(done.err)["hint"].startswith("install it: ")
