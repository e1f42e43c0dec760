"""Expressions and templates as they stand in the files, noted while a workflow is read.

Their names are checked once everything that is written is known. Knows neither YAML nor what the names mean.
"""

from __future__ import annotations

from typing import NamedTuple


class Where(NamedTuple):
    """In which phase, at which of its steps (by number), by which agent, for which setting, for the pieces that which
    expression gives: as far as that decides what is seen."""

    phase: str = ""
    step: str = ""
    agent: str = ""
    setting: str = ""
    pieces: str = ""


class Use(NamedTuple):
    """One expression or template. `what` names it in messages; `line` and `column` say where its text begins, `file` in
    which file ("" = the workflow itself)."""

    text: str
    what: str
    roots: frozenset[str]
    where: Where
    line: int
    column: int = 0
    template: bool = False
    file: str = ""


class Miss(NamedTuple):
    """A look-up that leads nowhere. `line` is counted in the text itself, from 1; 0 = not known.

    `known`: what stands there instead; `word`: what it was looked up in, where that has no named parts at all.
    """

    path: str
    name: str
    known: tuple[str, ...]
    word: str = ""
    contract: bool = False
    line: int = 0
    file: str = ""
