"""When two gaps are the same, and when they only look alike.

One job: compare titles. The same after normalising is the same; alike is for a person to judge. It must not know
states.
"""

from __future__ import annotations

import difflib
import hashlib
import re
from collections import defaultdict
from collections.abc import Iterable

from reconvene.core.words.terms import STOP

_WORD = re.compile(r"\w+", re.UNICODE)
_FILLER = STOP | frozenset(
    "a an the is are be it its no not of to in on for and or we should must need needs how what when if does do".split()
)
_LIKE = 0.75  # of the words of substance in common
_SAME_LETTERS = 0.9
_FEWEST = 3  # words of substance, below which two titles are alike only by chance
_COMMON = 60  # a word in more titles than this says nothing


def normal(title: str) -> str:
    """Equal for titles that differ in case, punctuation, emphasis or articles only."""
    words = _WORD.findall(title.casefold())
    return " ".join(word for word in words if word not in ("a", "an", "the")) or " ".join(words)


def digest(text: str) -> str:
    """Of a section's words: layout and case do not count as a change."""
    words = " ".join(_WORD.findall(text.casefold()))
    return hashlib.sha256(words.encode("utf-8", "replace")).hexdigest()[:16]


def _stem(word: str) -> str:
    return word[:-1] if len(word) > 3 and word.endswith("s") else word


def _substance(title: str) -> frozenset[str]:
    return frozenset(_stem(word) for word in _WORD.findall(title.casefold()) if word not in _FILLER)


class Titles:
    """Titles seen so far, found again by their words: cheap for thousands."""

    def __init__(self) -> None:
        self._words: dict[str, frozenset[str]] = {}
        self._titles: dict[str, str] = {}
        self._where: dict[str, list[str]] = defaultdict(list)

    def add(self, name: str, title: str) -> None:
        self._titles[name] = normal(title)
        self._words[name] = _substance(title)
        for word in self._words[name]:
            self._where[word].append(name)

    def same(self, title: str, among: Iterable[str]) -> str:
        wanted = normal(title)
        return next((name for name in among if wanted and self._titles.get(name) == wanted), "")

    def like(self, title: str) -> tuple[str, str]:
        """The title most alike and why, or ("", "")."""
        words = _substance(title)
        if len(words) < _FEWEST:
            return "", ""
        shared: dict[str, int] = defaultdict(int)
        for word in words:
            if len(self._where[word]) <= _COMMON:
                for name in self._where[word]:
                    shared[name] += 1
        best, why, most = "", "", 0.0
        for name, common in shared.items():
            grade, reason = self._grade(name, title, words, common)
            if grade > most:
                best, why, most = name, reason, grade
        return best, why

    def _grade(self, name: str, title: str, words: frozenset[str], common: int) -> tuple[float, str]:
        other = self._words[name]
        if _figures(words) != _figures(other):  # "timeout of 5 s" and "timeout of 50 s" are two things
            return 0.0, ""
        part = common / len(words | other)
        if part >= _LIKE and len(other) >= _FEWEST:
            return part, f"{common} of {len(words | other)} words of substance are the same"
        if part >= 0.5:
            ratio = difflib.SequenceMatcher(None, normal(title)[:200], self._titles[name][:200], autojunk=False).ratio()
            if ratio >= _SAME_LETTERS:
                return ratio, f"the wording is the same to {ratio:.0%}"
        return 0.0, ""


def _figures(words: frozenset[str]) -> frozenset[str]:
    return frozenset(word for word in words if any(letter.isdigit() for letter in word))
