"""Modules that lie beside a workflow: found there first, and in nobody's way elsewhere.

The module that the workflow names is loaded from its file. What it imports in turn is looked for beside it as well, but
only after everything else: `sys.path` stays as it is, and no other import of this process finds anything new that it
could have found before.
"""

from __future__ import annotations

import hashlib
import importlib
import os
import sys
import threading
from collections.abc import Sequence
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType


class _Last:
    """Asked when nobody else has found a module."""

    def __init__(self) -> None:
        self.folders: list[str] = []

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        return PathFinder.find_spec(fullname, self.folders) if path is None else None


_last = _Last()
_lock = threading.RLock()
_loaded: dict[tuple[str, str], str] = {}  # folder and name → the name under which it was loaded


def load(name: str, folder: str) -> ModuleType:
    """The module of this dotted name: beside the workflow, in `folder`, or wherever Python finds it."""
    top, _, rest = name.partition(".")
    file = _file(folder, top) if folder else ""
    if not file:
        return importlib.import_module(name)
    with _lock:
        if folder not in _last.folders:
            _last.folders.append(folder)
        if _last not in sys.meta_path:
            sys.meta_path.append(_last)
        loaded = _top(top, folder, file)
        return importlib.import_module(f"{loaded}.{rest}") if rest else sys.modules[loaded]


def _file(folder: str, top: str) -> str:
    for relative in (f"{top}.py", os.path.join(top, "__init__.py")):
        if os.path.isfile(path := os.path.join(folder, relative)):
            return path
    return ""


def _top(top: str, folder: str, file: str) -> str:
    if (known := _loaded.get((folder, top))) and known in sys.modules:
        return known
    there = sys.modules.get(top)
    if there is not None and getattr(there, "__file__", None) == file:
        return top
    from importlib.util import module_from_spec, spec_from_file_location

    # another module may have the name already: of an installed package, or beside another workflow
    name = top if there is None else f"{top}_{hashlib.sha256(folder.encode()).hexdigest()[:8]}"
    package = [os.path.dirname(file)] if os.path.basename(file) == "__init__.py" else None
    spec = spec_from_file_location(name, file, submodule_search_locations=package)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        sys.modules.pop(name, None)
        raise
    _loaded[folder, top] = name
    return name
