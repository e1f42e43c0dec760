"""The table of environment variables in docs/cli.md has every one that the source reads, sets or passes on."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from reconvene import settings
from reconvene.adapters import box
from reconvene.adapters.agents import auto, presets
from reconvene.adapters.guest import helper
from reconvene.adapters.project import git
from reconvene.adapters.sandbox import hiding
from reconvene.adapters.shared import started_environment

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src" / "reconvene"
TABLE_IN = "reference.py"
MAPPINGS = ("environ", "_environ", "environment")

# Names that are put together when they are needed: what is looked up, and who says what it may be.
COMPUTED = {
    "settings.py: limit.variable": [limit.variable for limit in settings.LIMITS.values()],
    "adapters/agents/auto.py: one.key": [one.key for one in auto._PROVIDERS],
    "adapters/agents/auto.py: provider.key": [one.key for one in auto._PROVIDERS],
    "adapters/agents/providers.py: f'{provider.upper()}_BASE_URL'": [
        "LMSTUDIO_BASE_URL", "LLAMACPP_BASE_URL", "VLLM_BASE_URL",
    ],
    "adapters/agents/providers.py: key_name": ["OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GOOGLE_API_KEY"],
    "adapters/agents/presets.py: variable": [
        variable for known in presets.PRESETS.values() for variable, _ in (*known.moved, *known.lent)
    ],
    "adapters/sandbox/hiding.py: name": list(hiding._SOCKETS),
    "adapters/guest/helper.py: name": list(helper._KEPT),
    "adapters/box/__init__.py: name": list(box._KEPT),
    "adapters/project/git.py: name": list(git._KEPT),
    "adapters/agents/preflight.py: name": ["ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GOOGLE_API_KEY"],
    "materials.py: name": [],  # what the address of a source names: the person's own
    "notify_settings.py: variable": [],  # what the address of a destination names: the person's own
    "surroundings.py: name": [],  # what `env` of a setting names: the workflows' own
}  # fmt: skip


@cache
def table() -> frozenset[str]:
    part = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8").partition("## Environment\n")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| (`.*?) \|", part, re.MULTILINE)
    return frozenset(name for row in rows for name in re.findall(r"`([^`]+)`", row))


@cache
def trees() -> dict[str, ast.Module]:
    return {str(path.relative_to(SOURCE)): ast.parse(path.read_text("utf-8")) for path in SOURCE.rglob("*.py")}


@cache
def constants() -> dict[str, str]:
    """Constants of modules that hold one text; their names are the same wherever they are imported."""
    return {
        target.id: node.value.value
        for tree in trees().values()
        for node in tree.body
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
        for target in node.targets
        if isinstance(target, ast.Name)
    }


def is_environment(node: ast.expr) -> bool:
    return (isinstance(node, ast.Name) and node.id in MAPPINGS) or (
        isinstance(node, ast.Attribute) and node.attr in MAPPINGS
    )


def looked_up(tree: ast.Module) -> Iterator[ast.expr]:
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Attribute(value=value, attr="get" | "pop" | "setdefault"), args=[first, *_]):
                if is_environment(value):
                    yield first
            case ast.Call(func=ast.Attribute(attr="getenv"), args=[first, *_]):
                yield first
            case ast.Subscript(value=value, slice=first) if is_environment(value):
                yield first
            case ast.Compare(left=first, ops=[ast.In() | ast.NotIn()], comparators=[value]) if is_environment(value):
                yield first


def read() -> tuple[dict[str, str], set[str]]:
    """Variable → module of those whose names stand in the source, and the look-ups of all others."""
    names, computed = dict[str, str](), set[str]()
    for module, tree in trees().items():
        for node in looked_up(tree):
            if isinstance(node, ast.Constant):
                names[str(node.value)] = module
            elif isinstance(node, ast.Name) and node.id in constants():
                names[constants()[node.id]] = module
            else:
                computed.add(f"{module}: {ast.unparse(node)}")
    return names, computed


OURS_ALONE = {"PYDANTIC_AI_NO_BANNER"}  # set for a library in this process


def test_every_variable_that_the_source_looks_up_is_in_the_table() -> None:
    names, _ = read()
    assert {"RECONVENE_HOME", "OLLAMA_HOST", "NO_COLOR", "XDG_STATE_HOME"} <= set(names)
    assert {name: module for name, module in names.items() if name not in table() | OURS_ALONE} == {}


def test_every_look_up_of_a_name_that_is_put_together_is_known_here() -> None:
    assert read()[1] == set(COMPUTED)


@pytest.mark.parametrize("place", COMPUTED)
def test_what_such_a_name_may_be_is_in_the_table(place: str) -> None:
    assert [name for name in COMPUTED[place] if name not in table()] == []


def test_every_variable_of_our_own_is_in_the_table() -> None:
    """Wherever it is named: in code, a message, a packaged workflow."""
    texts = [path.read_text(encoding="utf-8") for kind in ("py", "yaml", "md") for path in SOURCE.rglob(f"*.{kind}")]
    named = {name for text in texts for name in re.findall(r"\b_?RECONVENE_[A-Z_]*[A-Z]\b", text)}
    assert len(named) > 8
    assert sorted(named - table()) == []


def test_every_variable_that_programs_are_given_is_in_the_table() -> None:
    given = {*started_environment._ALLOWED, "LC_*", *presets._NETWORK}
    for known in presets.PRESETS.values():
        given |= {*known.env, *(name for name, _ in (*known.read_env, *known.write_env))}
    small = {name for name in given if name.islower()}
    assert {name.upper() for name in small} <= given
    covered = {name for name in given if any(name.startswith(one[:-1]) for one in table() if one.endswith("*"))}
    assert sorted(given - small - covered - table()) == []


def test_the_table_has_no_variable_that_the_source_does_not_name() -> None:
    files = [*SOURCE.rglob("*.py"), *SOURCE.rglob("workflow.yaml")]
    source = "\n".join(path.read_text(encoding="utf-8") for path in files if path.name != TABLE_IN)
    made = {name for names in COMPUTED.values() for name in names}
    unknown = {name for name in table() - made if name.removesuffix("*") not in source}
    assert sorted(unknown) == []
