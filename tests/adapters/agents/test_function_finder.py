"""A function is looked for in its module's file; the module is not imported."""

from __future__ import annotations

from pathlib import Path

import pytest

from reconvene.adapters.agents.function_finder import NoFunction, missing_function

MODULE = """
import os, json as js
from textwrap import dedent
raise SystemExit("this module must not be imported")
def plain(a): ...
async def later(a): ...
class Team:
    def work(self): ...
agent = build = make()
if True:
    def inside(a): ...
try:
    from fast import quick
except ImportError:
    quick = None
"""


@pytest.fixture
def folder(tmp_path: Path) -> str:
    (tmp_path / "beside.py").write_text(MODULE, encoding="utf-8")
    (tmp_path / "pack").mkdir()
    (tmp_path / "pack" / "__init__.py").write_text("raise SystemExit('not to be imported')\n", encoding="utf-8")
    (tmp_path / "pack" / "part.py").write_text("def work(a): ...\n", encoding="utf-8")
    (tmp_path / "broken.py").write_text("def work(:\n", encoding="utf-8")
    (tmp_path / "made.py").write_text("from json import *\n", encoding="utf-8")
    (tmp_path / "lazy.py").write_text("def __getattr__(name): ...\n", encoding="utf-8")
    return str(tmp_path)


@pytest.mark.parametrize("name", ["plain", "later", "Team.work", "agent", "build", "inside", "quick", "dedent", "js"])
def test_what_a_module_binds_is_found(folder: str, name: str) -> None:
    assert missing_function(f"beside:{name}", [folder]) is None


@pytest.mark.parametrize("spec", ["pack.part:work", "made:anything", "lazy:anything", "math:sqrt", "sys:exit"])
def test_what_cannot_be_known_without_importing_counts_as_there(folder: str, spec: str) -> None:
    assert missing_function(spec, [folder]) is None


@pytest.mark.parametrize(
    ("spec", "lack"),
    [
        ("beside:plian", ("the module 'beside' has no function 'plian'", "plain")),
        ("pack.part:wrok", ("the module 'pack.part' has no function 'wrok'", "work")),
        ("pack.other:work", ("there is no Python module 'pack.other'", "")),
        ("nowhere:work", ("there is no Python module 'nowhere'", "")),
    ],
)
def test_what_is_not_there_is_said_with_what_may_be_meant(folder: str, spec: str, lack: tuple[str, str]) -> None:
    found = missing_function(spec, [folder])
    assert found is not None
    assert (found.problem, found.near) == lack


def test_a_module_that_is_not_python_is_said_with_its_line(folder: str) -> None:
    found = missing_function("broken:work", [folder])
    assert isinstance(found, NoFunction)
    assert "line 1, is not Python" in found.problem


CALLED = """
text = "You are the writer."
number: int = 3
parts = [1, 2]
made = build()
def nothing(): ...
async def none(*, loud=False): ...
def two(a, b): ...
def must(a, *, key): ...
def one(a): ...
def more(a, b=1, *rest, key=2, **others): ...
def any_number(*all): ...
@decorated
def wrapped(): ...
def twice(): ...
twice = one
if made:
    def sometimes(): ...
else:
    sometimes = build()
short = lambda: "text"
right = lambda a: "text"
"""


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("text", "called:text is a text (called.py, line 2), and no function"),
        ("number", "called:number is a number (called.py, line 3), and no function"),
        ("parts", "called:parts is a list (called.py, line 4), and no function"),
        ("nothing", "called:nothing (called.py, line 6) has no parameter for what it is given"),
        ("none", "called:none (called.py, line 7) has no parameter for what it is given"),
        ("short", "called:short (called.py, line 21) has no parameter for what it is given"),
        ("two", "called:two (called.py, line 8) needs 2 parameters, and is given one"),
        ("must", "called:must (called.py, line 9) needs 2 parameters, and is given one"),
    ],
)
def test_what_cannot_be_called_with_the_work_is_said_with_its_line(tmp_path: Path, name: str, problem: str) -> None:
    (tmp_path / "called.py").write_text(CALLED, encoding="utf-8")
    found = missing_function(f"called:{name}", [str(tmp_path)])
    assert found is not None
    assert found.problem == problem
    assert found.hint == f"write it as: def {name}(assignment): … that returns text"


@pytest.mark.parametrize("name", ["made", "one", "more", "any_number", "wrapped", "twice", "sometimes", "right"])
def test_what_may_be_callable_counts_as_there(tmp_path: Path, name: str) -> None:
    (tmp_path / "called.py").write_text(CALLED, encoding="utf-8")
    assert missing_function(f"called:{name}", [str(tmp_path)]) is None
