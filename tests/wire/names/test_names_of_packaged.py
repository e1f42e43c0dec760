"""One letter of one name changed, in any file of any packaged workflow, is an error at that line."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

import pytest

from reconvene.errors import WorkflowError
from reconvene.wire.packaged import packaged
from reconvene.wire.workflow_file import parse_workflow

_CHAIN = re.compile(
    r"\b(context|inputs|settings|items|round|phase|feedback|item|up|groups|project)((?:\.[A-Za-z_]\w*)+)"
)
_AT_ONCE = 60  # misspelt in one go: a list of problems ends at a hundred
# The feature is whatever JSON is given, the validator has no contract, and prompts name documents that are inputs in
# prose: that is no look-up.
_METHOD = "items.tactics.items"  # of a mapping
_OPEN = ("context.feature.flags", "context.feature.flags.includes", "context.validation.critical", _METHOD)
# What a kit gives is known to the kit alone.
_OF_KITS = {("prompts/todo.md", "item.id"), ("prompts/todo.md", "item.index"), ("prompts/todo.md", "item.text")}
_PROSE = {
    ("prompts/steps/find.md", "inputs.spec"),
    ("prompts/steps/final.md", "inputs.spec"),
    ("prompts/steps/work_in.md", "inputs.spec"),
    ("templates/specialist.md.j2", "inputs.resources"),
}


class Spot(NamedTuple):
    file: str
    line: int
    start: int
    name: str
    wrong: str


def files_of(workflow: str) -> dict[str, str]:
    folder = packaged()[workflow].parent
    every = (path for path in folder.rglob("*") if path.is_file() and path.suffix in (".md", ".j2", ".yaml"))
    return {path.relative_to(folder).as_posix(): path.read_text(encoding="utf-8") for path in every}


def spots(files: Mapping[str, str], depth: int) -> Iterator[Spot]:
    """Every look-up's first name (depth 0) or last one (-1)."""
    for file, text in files.items():
        if file != "workflow.yaml" and not file.startswith(("prompts/", "templates/")):
            continue
        for found in _CHAIN.finditer(text):
            names = found[2][1:].split(".")
            if (found[0] in _OPEN and depth) or (file, found[0]) in _PROSE | _OF_KITS:
                continue
            start = found.start(2) + 1 + sum(len(name) + 1 for name in names[:depth] if depth)
            name = names[depth]
            middle = len(name) // 2
            wrong = name[:middle] + ("q" if name[middle] != "q" else "z") + name[middle + 1 :]
            yield Spot(file, text.count("\n", 0, start) + 1, start, name, wrong)


def misspelt(files: Mapping[str, str], wrong: list[Spot]) -> dict[str, str]:
    changed = dict(files)
    for spot in sorted(wrong, key=lambda spot: -spot.start):
        text = changed[spot.file]
        changed[spot.file] = text[: spot.start] + spot.wrong + text[spot.start + len(spot.name) :]
    return changed


@pytest.mark.parametrize("depth", [0, -1], ids=["first", "last"])
@pytest.mark.parametrize("workflow", packaged())
def test_every_misspelt_name_is_found_at_its_line(workflow: str, depth: int) -> None:
    files = files_of(workflow)
    every = list(spots(files, depth))
    for start in range(0, len(every), _AT_ONCE):
        # One that hides behind another, such as the parts of a list whose own name is wrong, is tried alone.
        hidden = not_found(files, every[start : start + _AT_ONCE])
        assert [spot for spot in hidden if not_found(files, [spot])] == []


def not_found(files: Mapping[str, str], some: list[Spot]) -> list[Spot]:
    changed = misspelt(files, some)
    with pytest.raises(WorkflowError) as caught:
        parse_workflow(changed["workflow.yaml"], "workflow.yaml", changed)
    told = {(each.file, each.line, word) for each in caught.value.problems for word in re.findall(r"\w+", each.message)}
    return [spot for spot in some if (spot.file, spot.line, spot.wrong) not in told]


def test_there_is_something_to_find() -> None:
    """The figures that the two tests above stand for."""
    counts = [sum(1 for _ in spots(files_of(workflow), depth)) for workflow in packaged() for depth in (0, -1)]
    assert sum(counts) > 1000
