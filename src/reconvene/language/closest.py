"""What is alike: the names that a word may have been meant for, and the lines that two texts share."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from types import ModuleType

_SHORTEST = 3  # letters of a word that may be part of another
_CANDIDATES = 8


def closest(word: str, known: Iterable[str], count: int = 1, cutoff: float = 0.6) -> list[str]:
    """Nearest first, whatever is in capitals; empty where none could be meant: what only looks alike is not named."""
    word = word[:100]
    folded: dict[str, str] = {}
    for each in known:
        folded.setdefault(each.casefold(), each)
    small = word.casefold()
    found: list[str] = _difflib().get_close_matches(small, folded, n=_CANDIDATES, cutoff=cutoff)
    return [folded[each] for each in found if could_mean(small, each)][:count]


def could_mean(word: str, other: str) -> bool:
    """Whether somebody may have meant the other word: a slip of the fingers, or one is the beginning or the end of the
    other. In three letters one slip is likely, in six two, and so on."""
    short, long = sorted((word, other), key=len)
    if len(short) >= _SHORTEST and (long.startswith(short) or long.endswith(short)):
        return True
    return _slips(word, other) <= max(1, len(long) // 3)


def _slips(one: str, other: str) -> int:
    """How many letters are missing, too many, others, or have changed places."""
    before: list[int] = []
    row = list(range(len(other) + 1))
    for at, letter in enumerate(one, 1):
        older, before, row = before, row, [at]
        for index, mine in enumerate(other, 1):
            cost = min(before[index] + 1, row[index - 1] + 1, before[index - 1] + (letter != mine))
            if at > 1 and index > 1 and letter == other[index - 2] and one[at - 2] == mine:
                cost = min(cost, older[index - 2] + 1)
            row.append(cost)
    return row[-1]


def opcodes(old: Sequence[str], new: Sequence[str]) -> list[tuple[str, int, int, int, int]]:
    """What stayed and what changed, as `difflib` says it."""
    return list(_difflib().SequenceMatcher(None, old, new).get_opcodes())


def likeness(one: Sequence[str], other: Sequence[str]) -> float:
    """How much two rows of words have in common, in the same order: 0 nothing, 1 everything."""
    return float(_difflib().SequenceMatcher(None, one, other, autojunk=False).ratio())


def _difflib() -> ModuleType:
    """Loaded where a word is not known or a file was changed: a decision needs neither, and has to be quick."""
    import difflib

    return difflib
