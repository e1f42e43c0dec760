"""Whether a Python function is there, without importing its module: importing runs code.

The module's file is found as Python would find it, and read. Where that says nothing certain (a compiled module, names
that are made while it runs), the function counts as there.
"""

from __future__ import annotations

import ast
import os
import sys
from collections.abc import Iterator, Sequence
from importlib.machinery import BuiltinImporter, FrozenImporter, ModuleSpec, PathFinder

from msgspec import Struct

from reconvene.language.closest import closest


class NoFunction(Struct, frozen=True):
    problem: str
    near: str = ""  # what may have been meant
    file: str = ""  # where it was looked for
    hint: str = ""  # what to do, where that is known


def missing_function(spec: str, folders: Sequence[str] = ()) -> NoFunction | None:
    """Of "package.module:function". `folders` are looked through before Python's own path."""
    module, _, function = spec.partition(":")
    try:
        found = _find(module.split("."), [*folders, *sys.path])
        if found is None:
            return NoFunction(f"there is no Python module {module!r}")
        source = _source(found)
        tree = ast.parse(source) if source is not None else None
        names = _names(tree) if tree is not None else None
    except SyntaxError as error:
        return NoFunction(f"{error.filename or module}, line {error.lineno}, is not Python: {error.msg}")
    except (OSError, ValueError, ImportError):
        return None  # it is met when the agent works
    wanted = function.partition(".")[0]
    if names is None or tree is None:
        return None
    if wanted in names:
        return _not_callable(spec, tree, found.origin or "") if wanted == function else None
    near = closest(wanted, sorted(names))
    return NoFunction(f"the module {module!r} has no function {wanted!r}", near[0] if near else "", found.origin or "")


def _not_callable(spec: str, tree: ast.Module, file: str) -> NoFunction | None:
    """Why it cannot be called with the one thing that an agent's function is given. In doubt it can."""
    name = spec.partition(":")[2]
    bound = [node for node in _top(tree.body) if name in _bound_by(node)]
    if len(bound) != 1:  # which one counts is known only when it runs
        return None
    at = f"({os.path.basename(file)}, line {bound[0].lineno})"
    match bound[0]:
        case ast.FunctionDef(args=takes, decorator_list=[]) | ast.AsyncFunctionDef(args=takes, decorator_list=[]):
            problem = _wrong_parameters(takes, spec, at)
        case ast.Assign(value=ast.Lambda(args=takes)):
            problem = _wrong_parameters(takes, spec, at)
        case ast.Assign(value=value) | ast.AnnAssign(value=ast.expr() as value):
            kind = _kind_of(value)
            problem = f"{spec} is {kind} {at}, and no function" if kind else ""
        case _:
            problem = ""
    hint = f"write it as: def {name}(assignment): … that returns text"
    return NoFunction(problem, file=file, hint=hint) if problem else None


def _bound_by(node: ast.stmt) -> set[str]:
    match node:
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            return {name}
        case ast.Import(names=found) | ast.ImportFrom(names=found):
            return {each.asname or each.name.partition(".")[0] for each in found}
    stored = (each for each in ast.walk(node) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store))
    return {each.id for each in stored} if isinstance(node, _BINDS) else set()


_BINDS = (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.For, ast.With, ast.Expr)


def _wrong_parameters(takes: ast.arguments, spec: str, at: str) -> str:
    places = [*takes.posonlyargs, *takes.args]
    if not places and takes.vararg is None:
        return f"{spec} {at} has no parameter for what it is given"
    needs = len(places) - len(takes.defaults) + sum(default is None for default in takes.kw_defaults)
    return f"{spec} {at} needs {needs} parameters, and is given one" if needs > 1 else ""


def _kind_of(value: ast.expr) -> str:
    match value:
        case ast.Constant(value=str()) | ast.JoinedStr():
            return "a text"
        case ast.Constant(value=int() | float()):
            return "a number"
        case ast.List() | ast.Tuple() | ast.ListComp():
            return "a list"
        case ast.Dict() | ast.DictComp():
            return "a mapping"
    return ""


def _find(parts: list[str], path: Sequence[str]) -> ModuleSpec | None:
    """Package by package; none of them is imported."""
    found: ModuleSpec | None = None
    search: Sequence[str] = path
    for count in range(1, len(parts) + 1):
        name = ".".join(parts[:count])
        found = PathFinder.find_spec(name, search) or (_built_in(name) if count == 1 else None)
        if found is None and count == 1 and name in sys.modules:
            found = sys.modules[name].__spec__  # by a finder of its own, such as that of an editable install
        if found is None:
            return _by_others(name) if count == 1 else None
        search = list(found.submodule_search_locations or ())
    return found


def _built_in(name: str) -> ModuleSpec | None:
    return BuiltinImporter.find_spec(name) or FrozenImporter.find_spec(name)


def _by_others(name: str) -> ModuleSpec | None:
    """Finders that packages bring. A name without a dot imports nothing."""
    from importlib.util import find_spec

    return find_spec(name)


def _source(found: ModuleSpec) -> str | None:
    if not found.has_location or not found.origin or not found.origin.endswith(".py"):
        return None
    import tokenize

    with tokenize.open(found.origin) as file:
        return file.read()


def _names(tree: ast.Module) -> set[str] | None:
    """What the module binds at its top; None where that cannot be known."""
    names: set[str] = set()
    for node in _top(tree.body):
        match node:
            case ast.FunctionDef(name="__getattr__"):
                return None
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                names.add(name)
            case ast.Import(names=found) | ast.ImportFrom(names=found):
                if any(each.name == "*" for each in found):
                    return None
                names |= {each.asname or each.name.partition(".")[0] for each in found}
            case ast.Assign() | ast.AnnAssign() | ast.AugAssign() | ast.Expr() | ast.For() | ast.With():
                names |= {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}
    return names


def _top(body: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    """Statements of the module itself, those inside conditions and the like included."""
    for node in body:
        yield node
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            continue
        for field in ("body", "orelse", "finalbody"):
            yield from _top(getattr(node, field, []))
        for handler in getattr(node, "handlers", []):
            yield from _top(handler.body)
