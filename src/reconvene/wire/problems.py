"""Collects everything wrong with a file, so that it is reported at once. Knows neither YAML nor workflows."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice

from reconvene.errors import Problem, WorkflowError
from reconvene.language.closest import closest

_CANDIDATES = 1000
_MOST = 100  # beyond this a list of problems helps nobody, and a hostile file could make it endless


class Problems:
    """The problems of one file and of the files it names."""

    def __init__(self, file: str) -> None:
        self.file = file
        self._found: dict[tuple[str, int, str], Problem] = {}
        self._left_out = 0

    def __len__(self) -> int:
        return len(self._found)

    @property
    def full(self) -> bool:
        """No further problem will be shown: a hint for one is not worth its search."""
        return len(self._found) >= _MOST

    def add(self, line: int, message: str, hint: str = "", *, file: str = "", column: int = 0) -> None:
        """The same message about the same line is kept once: a shared checkpoint is read by each phase that uses it."""
        key = (file or self.file, line, message)
        if key in self._found:
            return
        if self.full:
            self._left_out += 1
            return
        self._found[key] = Problem(file or self.file, line, message, hint, column)

    def add_unknown(
        self, line: int, message: str, word: str, known: Iterable[str], *, column: int = 0, else_: str = ""
    ) -> None:
        """A word that is not one of the known ones. `else_`: what to do where none of them is near."""
        hint = "" if self.full else did_you_mean(word, known)
        self.add(line, message, hint if hint.startswith("did") or not else_ else else_, column=column)

    def raise_any(self) -> None:
        if not self._found:
            return
        ordered = sorted(self._found.values(), key=lambda p: (p.file != self.file, p.file, p.line, p.column))
        if self._left_out:
            ordered.append(Problem(self.file, 0, f"and {self._left_out} more problems"))
        raise WorkflowError(ordered)


def did_you_mean(word: str, known: Iterable[str], *, cutoff: float = 0.6) -> str:
    """The nearest valid spelling as a question; without a near one, the valid words if they are few."""
    words = [each for each in dict.fromkeys(islice(known, _CANDIDATES)) if each]
    if near := closest(word, words, 1, cutoff):
        return f"did you mean '{near[0]}'?"
    if words and len(words) <= 8:
        return "one of: " + ", ".join(words)
    return ""


def shown(text: object, limit: int = 60) -> str:
    """A value as it may stand inside a message: one line, bounded."""
    line = " ".join(str(text).split())
    return line if len(line) <= limit else line[: limit - 1] + "…"
