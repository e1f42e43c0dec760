"""The questions of questions.yaml, and the words that carry meaning in a text."""

from __future__ import annotations

import re
from pathlib import Path

import msgspec
import snowballstemmer
import yaml

# Words of English that say nothing about what a text is about.
_EMPTY = frozenset(
    "a about above after again all also always am an and another any are as at be because been before being below "
    "between both but by can cannot could did do does doing done down each either else every for from further get "
    "had has have having he her here hers him his how i if in into is it its itself just may me might more most "
    "much must my near no nor not now of off on once one only or other our ours out over own s same shall she "
    "should so some still such t than that the their theirs them then there these they this those through to too "
    "under until up upon us very was we were what when where whether which while who whom whose why will with "
    "without would yet you your yours".split()
)


class Question(msgspec.Struct, frozen=True):
    ask: str
    answer: str
    other: str = msgspec.field(default="", name="or")

    def answered_by(self, text: str) -> bool:
        told = _plain(text)
        return _plain(self.answer) in told or bool(self.other and _plain(self.other) in told)


class Questions(msgspec.Struct, frozen=True):
    ordinary: list[Question]
    paraphrases: list[Question]


def load() -> Questions:
    path = Path(__file__).with_name("questions.yaml")
    return msgspec.convert(yaml.safe_load(path.read_text("utf-8")), Questions)


def content_words(text: str) -> set[str]:
    """Their stems."""
    words = [word for word in re.findall(r"[a-z0-9]+", text.lower()) if word not in _EMPTY]
    return set(snowballstemmer.stemmer("english").stemWords(words))


def _plain(text: str) -> str:
    return " ".join(text.split())
