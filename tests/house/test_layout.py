"""The shape of the source, checked on its syntax tree: docstrings, a pure core, a public door that only re-exports."""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src" / "reconvene"
MODULES = sorted(path for folder in ("src", "bench") for path in (ROOT / folder).rglob("*.py"))
CORE = sorted(path for room in ("core", "kits", "language", "prompts") for path in (SOURCE / room).rglob("*.py"))

IMPURE = {
    "asyncio", "concurrent", "io", "multiprocessing", "os", "pathlib", "random", "secrets", "shutil", "signal",
    "socket", "sqlite3", "subprocess", "sys", "tempfile", "time", "urllib", "uuid",
}  # fmt: skip
IMPURE_CALLS = {"open", "print", "input", "breakpoint"}
CLOCK_READS = {"now", "utcnow", "today"}


def named(path: Path) -> str:
    return str(path.relative_to(ROOT))


@cache
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


def places(pattern: Callable[[ast.AST], str], paths: list[Path]) -> list[str]:
    """`file:line what` of every node that the pattern has something against."""
    return [
        f"{named(path)}:{getattr(node, 'lineno', 1)} {wrong}"
        for path in paths
        for node in ast.walk(parsed(path))
        if (wrong := pattern(node))
    ]


def test_every_module_says_what_its_job_is() -> None:
    silent = [named(path) for path in MODULES if parsed(path).body and not ast.get_docstring(parsed(path))]
    assert silent == []


def test_core_touches_nothing_outside_itself() -> None:
    def impure(node: ast.AST) -> str:
        match node:
            case ast.Import(names=names):
                return ", ".join(f"imports {one.name}" for one in names if one.name.partition(".")[0] in IMPURE)
            case ast.ImportFrom(module=str(module)) if module.partition(".")[0] in IMPURE:
                return f"imports from {module}"
            case ast.Call(func=ast.Name(id=name)) if name in IMPURE_CALLS:
                return f"calls {name}()"
            case ast.Call(func=ast.Attribute(value=ast.Name(id="datetime" | "date"), attr=name)) if name in CLOCK_READS:
                return "reads the clock"
            case ast.AsyncFunctionDef(name=name):
                return f"{name} is async"
            case _:
                return ""

    assert places(impure, CORE) == []


def test_no_module_is_long_but_the_events_and_their_fold() -> None:
    allowed = {SOURCE / "core" / "facts" / "events.py", SOURCE / "core" / "facts" / "evolve.py"}
    lengths = {path: len(path.read_text(encoding="utf-8").splitlines()) for path in SOURCE.rglob("*.py")}
    assert [named(path) for path, length in lengths.items() if length > 400 and path not in allowed] == []
    assert sum(length for path, length in lengths.items() if (SOURCE / "core") in path.parents) < 12_700


def test_core_has_no_explicit_any() -> None:
    def untyped(node: ast.AST) -> str:
        match node:
            case ast.Name(id="Any") | ast.Attribute(attr="Any"):
                return "uses Any"
            case ast.ImportFrom(module="typing", names=names) if "Any" in {alias.name for alias in names}:
                return "imports Any"
            case _:
                return ""

    assert places(untyped, CORE) == []


# Where the core loads a library, or what needs one, only when it is first used; the reason stands there.
SEAMS = {
    "language/closest.py:_difflib",
    "language/templates.py:_jinja",
    "language/expressions.py:compile",  # the reader of JavaScript
    "language/expressions.py:_engine",
    "language/javascript/machine.py:__init__",  # its engine
}


def test_the_core_imports_at_the_head_of_a_module() -> None:
    found = {
        f"{path.relative_to(SOURCE)}:{function.name}"
        for room in ("core", "language", "prompts")
        for path in (SOURCE / room).rglob("*.py")
        for function in ast.walk(parsed(path))
        if isinstance(function, ast.FunctionDef)
        for node in ast.walk(function)
        if isinstance(node, ast.Import | ast.ImportFrom)
    }
    assert found == SEAMS


def imports_of(path: Path, modules: Collection[str]) -> set[str]:
    """Of these modules, those that it imports, inside functions too. What only the type checker reads is left out."""

    def walk(nodes: Iterable[ast.AST]) -> Iterator[str]:
        for node in nodes:
            match node:
                case ast.If(test=ast.Name(id="TYPE_CHECKING")):
                    yield from walk(node.orelse)
                case ast.Import(names=names):
                    yield from (one.name for one in names)
                case ast.ImportFrom(module=str(module), names=names):
                    yield from (inner if (inner := f"{module}.{one.name}") in modules else module for one in names)
                case _:
                    yield from walk(ast.iter_child_nodes(node))

    return {name for name in walk(parsed(path).body) if name in modules}


def module_name(path: Path) -> str:
    return ".".join(path.relative_to(SOURCE.parent).with_suffix("").parts).removesuffix(".__init__")


def circles(graph: Mapping[str, set[str]]) -> list[str]:
    """The modules that lead back to themselves."""

    def reached(name: str) -> set[str]:
        found: set[str] = set()
        waiting = [name]
        while waiting:
            fresh = graph[waiting.pop()] - found
            found |= fresh
            waiting += fresh
        return found

    return sorted(name for name in graph if name in reached(name))


def test_no_module_imports_another_that_imports_it() -> None:
    modules = {module_name(path): path for path in SOURCE.rglob("*.py")}
    graph = {name: imports_of(path, modules.keys()) - {name} for name, path in modules.items()}
    assert len(graph["reconvene.app.engine"]) > 10
    assert circles(graph) == []
    assert circles({**graph, "reconvene.errors": {"reconvene.app.engine"}})  # it would be found


def test_every_stage_comes_from_the_table() -> None:
    def literal(node: ast.AST) -> str:
        match node:
            case ast.Call(func=ast.Name(id="Frame")):
                return ""  # a new frame, at its first stage
            case ast.Call(keywords=keywords):
                given = {one.arg: one.value for one in keywords}
                return "sets a stage" if isinstance(given.get("stage"), ast.Constant) else ""
            case _:
                return ""

    assert places(literal, [SOURCE / "core" / "facts" / "evolve.py"]) == []


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
