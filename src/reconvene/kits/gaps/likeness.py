"""When two titles are the same, and when they only look alike: that is for a person to judge. Knows no states."""

from __future__ import annotations

import difflib
import hashlib
import re
from collections import Counter, defaultdict
from typing import NamedTuple

from reconvene.core import kit_finder

_WORD = re.compile(r"\w+", re.UNICODE)
_LIKE = 0.75  # of the words of substance in common
_HALF = 0.5  # below it nothing else is asked
_SAME_LETTERS = 0.9
_FEWEST = 3  # words of substance, below which two titles are alike only by chance
_COMMON = 60  # a word in more titles than this says nothing


def normal(title: str) -> str:
    """Equal for titles that differ in case, punctuation, emphasis or articles only."""
    words = _WORD.findall(title.casefold())
    return " ".join(word for word in words if word not in ("a", "an", "the")) or " ".join(words)


def share_words(one: str, other: str) -> bool:
    """Whether two titles may be one thing in other words: at least a quarter of the shorter one's words are shared."""
    first, second = set(normal(one).split()), set(normal(other).split())
    return len(first & second) * 4 >= min(len(first), len(second))


def digest(text: str) -> str:
    """Of a section's words: layout and case do not count as a change."""
    words = " ".join(_WORD.findall(text.casefold()))
    return hashlib.sha256(words.encode("utf-8", "replace")).hexdigest()[:16]


def _substance(title: str) -> frozenset[str]:
    words = " ".join(_WORD.findall(title.casefold()))
    return frozenset(stem for _, stem, common in kit_finder.reader().tokens(words) if not common)


class Titles:
    """Titles seen so far, found again by their words: cheap for thousands."""

    def __init__(self) -> None:
        self._seen: dict[str, _Title] = {}
        self._order: dict[str, int] = {}
        self._where: dict[str, list[str]] = defaultdict(list)

    def add(self, name: str, title: str) -> None:
        self._seen[name] = made = _title(title)
        self._order.setdefault(name, len(self._order))
        for word in made.words:
            self._where[word].append(name)

    def like(self, title: str) -> tuple[str, str]:
        """The title most alike and why, or ("", ""). Of two that are equally alike, the one seen first."""
        made = _title(title)
        if len(made.words) < _FEWEST:
            return "", ""
        shared: Counter[str] = Counter()
        for word in made.words:
            where = self._where.get(word, [])
            if len(where) <= _COMMON:
                shared.update(where)
        least = _HALF * len(made.words)  # with fewer words in common no grade is reached
        close = {name: common for name, common in shared.items() if common >= least}
        best, why, most = "", "", 0.0
        for name in sorted(close, key=self._order.__getitem__):
            grade, reason = _grade(made, self._seen[name], close[name])
            if grade > most:
                best, why, most = name, reason, grade
        return best, why


class _Title(NamedTuple):
    """All that comparing asks of a title, worked out once."""

    normal: str
    words: frozenset[str]  # of substance
    figures: frozenset[str]  # those of them with a digit


def _title(title: str) -> _Title:
    words = _substance(title)
    figures = frozenset(word for word in words if any(map(str.isdigit, word)))
    return _Title(normal(title), words, figures)


def _grade(one: _Title, other: _Title, common: int) -> tuple[float, str]:
    if one.figures != other.figures:  # "timeout of 5 s" and "timeout of 50 s" are two things
        return 0.0, ""
    all_words = len(one.words | other.words)
    part = common / all_words
    if part >= _LIKE and len(other.words) >= _FEWEST:
        return part, f"{common} of {all_words} words of substance are the same"
    if part >= _HALF:
        letters = difflib.SequenceMatcher(None, one.normal[:200], other.normal[:200], autojunk=False)
        # The quick ones are never below the true one.
        if letters.real_quick_ratio() >= _SAME_LETTERS and letters.quick_ratio() >= _SAME_LETTERS:
            ratio = letters.ratio()
            if ratio >= _SAME_LETTERS:
                return ratio, f"the wording is the same to {ratio:.0%}"
    return 0.0, ""
