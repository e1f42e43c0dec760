"""The shape of the source, checked on its syntax tree: docstrings, a pure core, a public door that only re-exports."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src" / "reconvene"
MODULES = sorted(path for folder in ("src", "bench") for path in (ROOT / folder).rglob("*.py"))
CORE = sorted((SOURCE / "core").glob("*.py"))

IMPURE = {
    "asyncio", "concurrent", "io", "multiprocessing", "os", "pathlib", "random", "secrets", "shutil", "signal",
    "socket", "sqlite3", "subprocess", "sys", "tempfile", "time", "urllib", "uuid",
}  # fmt: skip
IMPURE_CALLS = {"open", "print", "input", "breakpoint"}
CLOCK_READS = {"now", "utcnow", "today"}


def named(path: Path) -> str:
    return str(path.relative_to(ROOT))


def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"), filename=named(path))


def imported(tree: ast.Module) -> set[str]:
    """Top-level names of every module imported anywhere in it, inside functions too."""
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found.update(alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module.partition(".")[0])
    return found


@pytest.mark.parametrize("path", MODULES, ids=named)
def test_every_module_says_what_its_job_is(path: Path) -> None:
    tree = parsed(path)
    assert not tree.body or ast.get_docstring(tree), f"{named(path)} has no docstring"


@pytest.mark.parametrize("path", CORE, ids=named)
def test_core_touches_nothing_outside_itself(path: Path) -> None:
    tree = parsed(path)
    assert not imported(tree) & IMPURE
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Name(id=name)):
                assert name not in IMPURE_CALLS, f"{named(path)}:{node.lineno} calls {name}()"
            case ast.Call(func=ast.Attribute(value=ast.Name(id="datetime" | "date"), attr=attribute)):
                assert attribute not in CLOCK_READS, f"{named(path)}:{node.lineno} reads the clock"
            case ast.AsyncFunctionDef(name=name):
                pytest.fail(f"{named(path)}:{node.lineno} {name} is async")
            case _:
                pass


@pytest.mark.parametrize("path", CORE, ids=named)
def test_core_has_no_explicit_any(path: Path) -> None:
    for node in ast.walk(parsed(path)):
        match node:
            case ast.Name(id="Any") | ast.Attribute(attr="Any"):
                pytest.fail(f"{named(path)}:{node.lineno} uses Any")
            case ast.ImportFrom(module="typing", names=names):
                assert "Any" not in {alias.name for alias in names}
            case _:
                pass


def test_stored_data_is_never_pickled() -> None:
    for path in sorted(SOURCE.rglob("*.py")):
        assert not imported(parsed(path)) & {"pickle", "marshal", "shelve", "dill"}, named(path)


def test_the_public_door_holds_no_code_of_its_own() -> None:
    lazy_lookup = {"__getattr__", "__dir__"}
    for node in parsed(SOURCE / "__init__.py").body:
        match node:
            case ast.FunctionDef(name=name):
                assert name in lazy_lookup, f"reconvene/__init__.py defines {name}"
            case ast.ClassDef(name=name) | ast.AsyncFunctionDef(name=name):
                pytest.fail(f"reconvene/__init__.py defines {name}")
            case _:
                pass


def test_every_public_name_is_a_re_export() -> None:
    import reconvene

    names: list[str] = getattr(reconvene, "__all__", [])
    assert len(names) == len(set(names))
    for name in names:
        home = getattr(getattr(reconvene, name), "__module__", "reconvene.constant")
        assert home.startswith("reconvene."), f"{name} comes from {home}"
