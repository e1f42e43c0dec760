"""Words and figures of a text, made comparable: light stems, content words, sentences, names, amounts.

Pure and small on purpose: it helps other modules to say "these two texts speak of the same thing" and to show why. It
knows no agents, no remarks and no subject matter; English helps, any other script simply finds fewer matches.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

_TOKEN = re.compile(r"\w+(?:[&'’]\w+)*")
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=[^a-z\s])|\n+")

_STOP_WORDS = """
    a about above after again against all almost along already also although always am among an and another any
    anybody anyone anything are around as ask at away back be became because become been before being below between both
    but by came can cannot come could did do does doing done down during each either else enough even ever every
    everybody everyone everything far few first for forgot found from further gave get give given go goes going gone got
    had half has have having he her here hers him his how however i if in indeed into is it its itself just keep kept
    knew know known last late least less let like likely longer look made make making many may maybe me mean means
    mention mentioned might mine miss missed missing more most much must my near nearly need needs neither never next no
    nobody none nor not nothing now number of off often old on once one only onto or other others our ours out over own
    part perhaps please put quite rather real really right said same saw say says second see seen several shall she
    should show since so some somebody something soon still such sure take taken than that the their them then there
    these they thing things think third this those though three through thus to together told too took toward two under
    until up upon us use used very want was way we well went were what whatever when where whether which while who whole
    whom whose why will with within without would wrong yes yesterday yet you your yours today tomorrow happened re ve
    ll don doesn isn wasn won
"""

# Words of nearly every report: they tell no subject apart.
_GENERAL = """
    analysis area base big biggest bring business case change close company country data date decision effect end
    expect fact factor figure firm focus future general good group grow growth high higher impact important improve
    increase industry issue key large larger level limit long low lower main major market medium minor month need new
    note open organisation organization outlook path period phase plan point position possible problem product project
    question quarter range rate reach reason report result rise round section set share short site slide small start
    state strategic strategy strong table term time total trend turn type value view weak weaker week work world year
    young
"""

_DATE_WORDS = """
    january february march april may june july august september october november december monday tuesday wednesday
    thursday friday saturday sunday
"""
STOP = frozenset(_STOP_WORDS.split())
_DATES = frozenset(_DATE_WORDS.split())


def stem(word: str) -> str:
    """The word without its commonest English endings. Only ever compared with other stems, never shown."""
    word = word.casefold().replace("’", "'").removesuffix("'s")
    if len(word) > 4 and word.endswith("ies"):
        word = word[:-3] + "y"
    elif word.endswith(("sses", "xes", "ches", "shes")):
        word = word[:-2]
    elif len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        word = word[:-1]
    for ending in ("ing", "ed"):
        if word.endswith(ending) and len(word) - len(ending) >= 4:
            word = word[: -len(ending)]
            if word[-1] == word[-2] and word[-1] not in "lsz":
                word = word[:-1]
            break
    return word[:-1] if len(word) > 4 and word.endswith("e") else word


_GENERAL_STEMS = frozenset(stem(word) for word in _GENERAL.split())


def tokens(text: str) -> list[str]:
    return _TOKEN.findall(text)


def content(text: str) -> dict[str, str]:
    """Stem → the word as first written, for every word that carries meaning of its own."""
    found: dict[str, str] = {}
    for word in tokens(text):
        bare = word.casefold().replace("’", "'").removesuffix("'s")
        if len(bare) > 1 and bare not in STOP and not bare[0].isdigit():
            found.setdefault(stem(bare), word)
    return found


def telling(text: str) -> dict[str, str]:
    """Like `content`, without the words of nearly every report."""
    return {key: word for key, word in content(text).items() if key not in _GENERAL_STEMS and len(key) > 2}


def sentences(text: str) -> list[str]:
    return [part.strip() for part in _SENTENCE_END.split(text) if part.strip()]


class Names(NamedTuple):
    """Capitalised words: `certain` ones do not stand at the beginning of a sentence, `any` includes those that do."""

    certain: frozenset[str]
    any: frozenset[str]


def names(text: str) -> Names:
    certain: set[str] = set()
    every: set[str] = set()
    for sentence in sentences(text):
        if sentence.startswith("#"):  # headings capitalise what is no name
            continue
        for index, word in enumerate(tokens(sentence)):
            bare = word.replace("’", "'").removesuffix("'s")
            if len(bare) > 1 and bare[0].isupper() and not _is_common(bare):
                every.add(bare)
                if index:
                    certain.add(bare)
    return Names(frozenset(certain), frozenset(every))


def _is_common(word: str) -> bool:
    low = word.casefold()
    return low in STOP or low.partition("'")[0] in STOP or low in _DATES or stem(low) in _GENERAL_STEMS


# --- figures ---

_FIGURE = re.compile(
    r"(?<![\w.])(?P<currency>[$€£¥₹]|USD\s?|EUR\s?|GBP\s?)?"
    r"(?P<number>\d{1,3}(?:[,\u202f]\d{3}){1,5}(?:\.\d{1,6})?|\d{1,15}(?:\.\d{1,6})?)"
    r"(?:\s?(?P<scale>thousand|million|billion|trillion|mn|bn|tn|[kKMmB])(?![A-Za-z]))?"
    r"(?:\s?(?P<percent>%|per\s?cent\b)|[-\s](?P<unit>[A-Za-z]{3,20}))?"
)
_SCALES = {"k": 1e3, "thousand": 1e3, "m": 1e6, "mn": 1e6, "million": 1e6, "b": 1e9, "bn": 1e9, "billion": 1e9}
_SCALES |= {"tn": 1e12, "trillion": 1e12}
_SIGNS = {"USD": "$", "EUR": "€", "GBP": "£"}
_CURRENCIES = frozenset("$€£¥₹")
_SPELLED = {"dollar": "$", "dollars": "$", "euro": "€", "euros": "€", "pounds": "£"}
_TIMES = frozenset(stem(word) for word in ("hours", "days", "weeks", "months", "years"))


class Figure(NamedTuple):
    value: float
    unit: str  # currency sign, "%", the stem of the word that follows, or ""
    written: str

    @property
    def key(self) -> str:
        """Equal for equal values, whatever rounding their scales brought."""
        return f"{self.value:.9g}"

    @property
    def digits(self) -> int:
        """Significant digits: 42 has two, 30 and 100 000 000 have one."""
        return len(f"{self.value:.12g}".replace(".", "").strip("0").partition("e")[0]) or 1

    @property
    def is_year(self) -> bool:
        return not self.unit and 1900 <= self.value <= 2100

    @property
    def distinctive(self) -> bool:
        """Would two texts hardly share it by chance? Round numbers, years and "12 months" they would."""
        if self.digits < 2 or self.is_year:
            return False
        if not self.unit:
            return self.value >= 100
        return not (self.unit in _TIMES and self.value in (12, 24))

    def same(self, other: Figure) -> bool:
        if self.key != other.key:
            return False
        return self.unit == other.unit or (not (self.unit and other.unit) and self.value >= 100 and not self.is_year)


def figures(text: str) -> Iterator[Figure]:
    for found in _FIGURE.finditer(text):
        value = float(found["number"].replace(",", "").replace("\u202f", ""))
        scale = (found["scale"] or "").casefold()
        currency = (found["currency"] or "").strip()
        unit = _SIGNS.get(currency, currency)
        if found["percent"]:
            unit = "%"
        elif not unit and found["unit"] and found["unit"].casefold() not in STOP:
            unit = _SPELLED.get(found["unit"].casefold(), stem(found["unit"]))
        written = found[0]
        if found["unit"] and (currency or found["unit"].casefold() in STOP):
            written = written[: -len(found["unit"])]
        yield Figure(value * _SCALES.get(scale, 1.0), unit, written.strip(" -\n"))


class StatedIn:
    """A text that is asked for many values: read once."""

    def __init__(self, text: str) -> None:
        self._flat = " ".join(text.split()).casefold()
        self._figures: dict[str, list[Figure]] = {}
        for figure in figures(text):
            self._figures.setdefault(figure.key, []).append(figure)

    def holds(self, value: str) -> bool:
        """The same words, or the same figure however it is written ($900M, 900 million)?"""
        wanted = " ".join(value.split()).casefold()
        if not wanted:
            return False
        amounts = list(figures(value))
        if amounts and len(telling(value)) <= 1:
            return all(any(_alike(amount, other) for other in self._figures.get(amount.key, ())) for amount in amounts)
        return re.search(rf"(?<!\w){re.escape(wanted)}(?!\w)", self._flat) is not None


def _alike(amount: Figure, other: Figure) -> bool:
    """Looser than `same`: a unit that only one side names does not part them, nor does a word beside a currency."""
    if amount.key != other.key:
        return False
    one, two = sorted((amount.unit, other.unit), key=lambda unit: unit in _CURRENCIES)
    return one == two or not one or not two or (two in _CURRENCIES and one not in _CURRENCIES and one != "%")
