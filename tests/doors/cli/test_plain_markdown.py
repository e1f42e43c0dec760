"""In the terminal identifiers, paths and formulas are shown as written, and what is meant as emphasis is none of it."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from reconvene.app.views.written import first_lines
from reconvene.doors.cli.plain_markdown import AsWritten
from reconvene.language.emphasis import without_emphasis

AS_WRITTEN = [
    "calc/__init__.py",
    "__init__.py and __main__.py",
    "the method __init__ of a class",
    "def f(*args, **kwargs): return g(*args, **kwargs)",
    "2*3*4 is 24, a*b and c*d",
    "x**2 + y**2 = z**2",
    "src/*.py and tests/*.py",
    "**/*.py and **/*.md",
    "snake_case_name and _private_ and __all__",
    "C:\\_new\\*_old* stays",
    "List<String> and <id> and Map<K, V>",
    "a &amp; b, &lt;tag&gt;",
    "*.md, *.txt",
    "5 * 3 * 2",
    "__FILE__:__LINE__",
    "lib/_internal_/x and .git/_hooks_",
]


def drawn(text: str) -> str:
    console = Console(file=io.StringIO(), width=200, force_terminal=False)
    console.print(AsWritten(text))
    assert isinstance(console.file, io.StringIO)
    return " ".join(console.file.getvalue().split())


@pytest.mark.parametrize("text", AS_WRITTEN)
def test_what_is_no_markup_is_shown_as_written(text: str) -> None:
    assert drawn(text) == text
    assert drawn(f"- {text}") == f"• {text}"
    assert without_emphasis(text) == text


@pytest.mark.parametrize("text", AS_WRITTEN)
def test_the_first_lines_of_an_output_are_shown_as_written(text: str) -> None:
    assert first_lines(f"# Title\n\nSee {text}\n") == (f"See {text}",)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("**Bold words** and *soft ones*.", "Bold words and soft ones."),
        ("__Very bold__ and _a few words_!", "Very bold and a few words!"),
        ("**Debt: 2*3*4** (high)", "Debt: 2*3*4 (high)"),
        ("`a**b` and **c**", "a**b and c"),
        ('(**why**), "*because*"', '(why), "because"'),
    ],
)
def test_emphasis_is_still_emphasis(text: str, shown: str) -> None:
    assert drawn(text) == without_emphasis(text) == shown
