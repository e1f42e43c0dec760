"""The glossary and the code stay together: what it names is there, and one file name means one thing."""

from __future__ import annotations

import ast
import re
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src" / "reconvene"
ROWS = re.findall(r"^\| ([^|`]+) \| [^|]+ \| `([^`]+)` \|$", (ROOT / "docs" / "glossary.md").read_text(), re.M)
# Each kit says what it brings in a file of that name; the others are Python's own.
SHARED = {"__init__.py", "__main__.py", "kit.py"}


def defined(path: Path) -> set[str]:
    names: set[str] = set()
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            names.add(node.name)
        elif isinstance(node, ast.Assign):
            names |= {target.id for target in node.targets if isinstance(target, ast.Name)}
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            names.add(node.target.id)
    return names


def test_the_glossary_has_its_words() -> None:
    assert len(ROWS) > 40


@pytest.mark.parametrize(("word", "where"), ROWS, ids=[word for word, _ in ROWS])
def test_what_the_glossary_names_is_there(word: str, where: str) -> None:
    file, _, name = where.partition(":")
    assert (SOURCE / file).is_file(), f"{word}: there is no {file}"
    if name:
        assert name in defined(SOURCE / file), f"{word}: {file} defines no {name}"


def test_a_word_is_explained_once() -> None:
    assert [word for word, times in Counter(word for word, _ in ROWS).items() if times > 1] == []


def test_every_room_of_the_house_is_on_its_page() -> None:
    page = (ROOT / "docs" / "house.md").read_text(encoding="utf-8")
    rooms = sorted({str(path.parent.relative_to(SOURCE)) for path in SOURCE.rglob("*.py")} - {"."})
    assert [room for room in rooms if f"`{room}/`" not in page] == []


def test_every_file_and_folder_on_the_page_of_the_house_is_there() -> None:
    page = (ROOT / "docs" / "house.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`([\w/]+(?:\.py|/))`", page))
    assert sorted(name for name in named if not (SOURCE / name).exists()) == []


def test_every_way_that_a_change_takes_is_on_the_page_of_the_house() -> None:
    page = (ROOT / "docs" / "house.md").read_text(encoding="utf-8")
    _, ways, changes = re.split(r"^## (?:The ways through the house|Where would you change …)$", page, flags=re.M)
    known = re.findall(r"^\| ([^|]+) \| (?=.*`)", ways, re.M)
    taken = re.findall(r"the way of ([^;:,.|]+)", changes)
    assert len(taken) > 10
    assert sorted({way.strip() for way in taken} - set(known)) == []


def test_paths_of_the_source_that_documents_and_comments_name_are_there() -> None:
    path = re.compile(r"(?<![\w/.])(?:core|app|wire|doors|adapters|kits|language)/[a-z_/]+\.py")
    texts = [*(ROOT / "docs").glob("*.md"), *SOURCE.rglob("*.py"), *(ROOT / "docs" / "decisions").glob("002*.md")]
    gone = {
        f"{text.relative_to(ROOT)}: {name}"
        for text in texts
        for name in path.findall(text.read_text(encoding="utf-8"))
        if not (SOURCE / name).exists()
    }
    assert gone == set()


def test_a_file_name_means_one_thing() -> None:
    names = Counter(path.name for path in SOURCE.rglob("*.py") if path.name not in SHARED)
    twice = [sorted(map(str, SOURCE.rglob(name))) for name, times in names.items() if times > 1]
    assert twice == [], "give each a name that says what is in it"
