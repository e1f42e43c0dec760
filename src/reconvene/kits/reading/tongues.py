"""The languages that remarks are read in, and which of them a text is written in.

All words and turns of phrase are data: a YAML file for each language in `languages/`, whose name is the language's
code. `any.yaml` holds what counts in every text. `make words` makes them ready for use and writes `ready.json`, which
is what is loaded: reading YAML and stemming a thousand words takes longer than the whole of a short command.

This is the only module of the kit that reads a file: that one.
"""

from __future__ import annotations

import pkgutil
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache, lru_cache
from typing import TypeVar

import msgspec
from msgspec import Struct

from reconvene.errors import UserError

DEFAULT = "en"  # of two that are equally likely, this one
ANY = "any"
_HEAD = 1000  # characters by which the language of a text is told
_WORD = re.compile(r"[^\W\d_]+")
_CUE = re.compile(r"<<(\w+)>>")
_NEVER = "(?!)"

_T = TypeVar("_T")


class Match(Struct, frozen=True):
    """Which words a list means, by stem, by beginning, by ending, or as written in capitals."""

    stems: frozenset[str] = frozenset()
    starts: tuple[str, ...] = ()
    ends: tuple[str, ...] = ()
    capitals: frozenset[str] = frozenset()

    def holds(self, word: str, stem: str) -> bool:
        low = word.casefold()
        return stem in self.stems or low.startswith(self.starts) or low.endswith(self.ends) or word in self.capitals


class Subject(Struct, frozen=True):
    named: Match  # words that name the subject, as a remit would
    spoken: Match  # words that speak of it, those that name it among them


class Language(Struct, frozen=True):
    """One list, ready for use: stems are worked out, turns of phrase are regular expressions."""

    stemmer: str = ""
    nouns_have_capitals: bool = False
    decimal_comma: bool = False  # 1.234,5
    kinds: Mapping[str, str] = {}  # how people call a kind of remark → the kind
    words: Mapping[str, frozenset[str]] = {}
    known: frozenset[str] = frozenset()  # words by which a text in this language is told
    cues: Mapping[str, str] = {}
    subjects: Mapping[str, Subject] = {}
    phrases: Mapping[str, str] = {}  # stems, joined by spaces → the subject; "" = none
    longest: int = 1  # words of a phrase
    points: Mapping[str, tuple[tuple[str, int], ...]] = {}  # stem → axes and which way
    numbers: Mapping[str, float] = {}
    number_parts: Mapping[str, float] = {}  # the numbers, and what stands only beside another of them
    fractions: Mapping[str, float] = {}
    called: Mapping[str, tuple[str, ...]] = {}  # agent → how one of that profession is called
    scales: Mapping[str, float] = {}
    currencies: Mapping[str, str] = {}
    units: Mapping[str, tuple[str, float]] = {}

    def stem(self, word: str) -> str:
        """Only ever compared with other stems, never shown."""
        word = word.casefold().replace("’", "'")
        return _stemmer(self.stemmer)(word) if self.stemmer else word.removesuffix("'s")


@cache
def _stemmer(algorithm: str) -> Callable[[str], str]:
    from reconvene.kits.reading.stemming import stemmer

    return stemmer(algorithm)


class Tongue:
    """The languages of a text as one: the main one first, what counts in every text last."""

    def __init__(self, languages: tuple[Language, ...]) -> None:
        self.languages = languages
        self.main = languages[0]
        self.stem = self.main.stem
        self.kinds = _joined(each.kinds for each in languages)
        self.points = _joined(each.points for each in languages)
        self.numbers = _joined(each.numbers for each in languages)
        self.number_parts = _joined(each.number_parts for each in languages)
        self.called = {
            agent: tuple(name for each in languages for name in each.called.get(agent, ()))
            for agent in dict.fromkeys(agent for each in languages for agent in each.called)
        }
        self.fractions = _joined(each.fractions for each in languages)
        self.scales = _joined(each.scales for each in languages)
        self.currencies = _joined(each.currencies for each in languages)
        self.units = _joined(each.units for each in languages)
        self._patterns: dict[str, re.Pattern[str]] = {}
        self._words: dict[tuple[str, ...], frozenset[str]] = {}
        self.stop = self.words("stop")

    def words(self, *names: str) -> frozenset[str]:
        if names not in self._words:
            lists = (language.words.get(name, frozenset()) for language in self.languages for name in names)
            self._words[names] = frozenset().union(*lists)
        return self._words[names]

    def pattern(self, template: str) -> re.Pattern[str]:
        """A regular expression with `<<cue>>` for the cues of that name, in all languages of the text."""
        if template not in self._patterns:
            written = _CUE.sub(self._cue, template)
            self._patterns[template] = re.compile(written, re.IGNORECASE)
        return self._patterns[template]

    def _cue(self, named: re.Match[str]) -> str:
        found = (language.cues.get(named[1], "") for language in self.languages)
        return f"(?:{'|'.join(each for each in found if each) or _NEVER})"


def _joined(parts: Iterable[Mapping[str, _T]]) -> dict[str, _T]:
    """Where two differ, the first counts."""
    return {word: meaning for part in reversed(list(parts)) for word, meaning in part.items()}


def of(text: str, otherwise: Tongue | None = None) -> Tongue:
    """The languages of a text, by the words that only one of them knows. Where there are none: `otherwise`, or all.

    A second language counts beside the main one from two such words on, or from a third of the main one's.
    """
    return _told(text[:_HEAD]) or otherwise or everything()


@lru_cache(maxsize=512)
def _told(text: str) -> Tongue | None:
    hints = _hints()
    counts = Counter(map(hints.get, _WORD.findall(text.casefold())))
    most = max(counts[code] for code in _languages())
    if not most:
        return None
    codes = [code for code in _languages() if counts[code] and (counts[code] >= 2 or 3 * counts[code] >= most)]
    return _tongue(tuple(sorted(codes, key=lambda code: -counts[code])))


@cache
def _hints() -> dict[str, str | None]:
    """Word → the one language that knows it; None where several do."""
    hints: dict[str, str | None] = {}
    for code, language in _languages().items():
        for word in language.known:
            hints[word] = None if word in hints else code
    return hints


@cache
def everything() -> Tongue:
    return _tongue(tuple(_languages()))


@cache
def _tongue(codes: tuple[str, ...]) -> Tongue:
    found = _languages()
    return Tongue((*(found[code] for code in codes), _read()[ANY]))


@cache
def _languages() -> dict[str, Language]:
    """All but what counts in every text, the default first."""
    codes = sorted(_read(), key=lambda code: (code != DEFAULT, code))
    return {code: _read()[code] for code in codes if code != ANY}


# --- the lists ---

_READY = "languages/ready.json"
_given: list[bytes] = []


@cache
def _read() -> dict[str, Language]:
    data = _given[-1] if _given else pkgutil.get_data("reconvene.kits.reading", _READY)
    try:
        return msgspec.json.decode(data or b"", type=dict[str, Language])
    except msgspec.DecodeError as error:
        hint = "Install reconvene again; in a source checkout: make words."
        raise UserError(f"The word lists of the reading are damaged ({_READY}: {error}).", hint=hint) from None


@contextmanager
def instead(ready: bytes) -> Iterator[None]:
    """These lists count in place of the packaged ones, as long as this lasts."""
    _given.append(ready)
    _forget()
    try:
        yield
    finally:
        _given.pop()
        _forget()


def _forget() -> None:
    for cached in (_read, _languages, _tongue, everything, _hints, _told):
        cached.cache_clear()
