"""Words and figures of a text, made comparable: stems, content words, sentences, names, amounts.

It helps to say "these texts speak of the same thing" and to show why, and whether a text is about this case or is
generic filler. It knows no remarks and no subject matter. Texts that are compared must be read in the same tongue.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from reconvene.kits.reading import tongues
from reconvene.kits.reading.tongues import Tongue

_TOKEN = re.compile(r"\w+(?:[&'’]\w+)*")
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=[^a-z\s])|\n+")

_NEAREST = 3  # texts


def tokens(text: str) -> list[str]:
    return _TOKEN.findall(text)


def content(text: str, tongue: Tongue | None = None) -> dict[str, str]:
    """Stem → the word as first written, for every word that carries meaning of its own."""
    tongue = tongue or tongues.of(text)
    found: dict[str, str] = {}
    for word in tokens(text):
        if bare := meaning(word, tongue):
            found.setdefault(tongue.stem(bare), word)
    return found


def meaning(word: str, tongue: Tongue) -> str:
    """The word in small letters, without 's; "" where it has no meaning of its own."""
    bare = word.casefold().replace("’", "'").removesuffix("'s")
    return bare if len(bare) > 1 and bare not in tongue.stop and not bare[0].isdigit() else ""


def telling(text: str, tongue: Tongue | None = None) -> dict[str, str]:
    """Like `content`, without the words of nearly every report."""
    tongue = tongue or tongues.of(text)
    general = tongue.words("general")
    return {key: word for key, word in content(text, tongue).items() if key not in general and len(key) > 2}


def sentences(text: str) -> list[str]:
    return [part.strip() for part in _SENTENCE_END.split(text) if part.strip()]


class Names(NamedTuple):
    """Capitalised words: `certain` ones do not stand at the beginning of a sentence, `any` includes those that do."""

    certain: frozenset[str]
    any: frozenset[str]


def names(text: str) -> Names:
    tongue = tongues.of(text)
    certain: set[str] = set()
    every: set[str] = set()
    for sentence in sentences(text):
        if sentence.startswith("#"):  # headings capitalise what is no name
            continue
        for index, word in enumerate(tokens(sentence)):
            bare = word.replace("’", "'").removesuffix("'s")
            if len(bare) > 1 and _is_capital(bare, tongue) and not _is_common(bare, tongue):
                every.add(bare)
                if index:
                    certain.add(bare)
    return Names(frozenset(certain), frozenset(every))


def _is_capital(word: str, tongue: Tongue) -> bool:
    """Where every noun has a capital, only one inside a word tells a name."""
    return word[0].isupper() and (not tongue.main.nouns_have_capitals or not word[1:].islower())


def _is_common(word: str, tongue: Tongue) -> bool:
    low = word.casefold()
    if low in tongue.stop or low.partition("'")[0] in tongue.stop or low in tongue.words("dates"):
        return True
    return tongue.stem(low) in tongue.words("general")


def name_pattern(agent: str) -> re.Pattern[str]:
    """`industry_analyst` is also named by "the industry analyst", "Industry-Analyst's", and "der Branchenanalyst"."""
    parts = [re.escape(part) for part in re.split(r"[\s_-]+", agent) if part]
    names = [r"[\s_-]+".join(parts), *map(re.escape, tongues.everything().called.get(agent, ()))]
    return re.compile(rf"(?<!\w)(?:{'|'.join(names)})(?:s|['’]s)?(?!\w)", re.IGNORECASE)


def nearest(text: str, others: Mapping[str, str]) -> tuple[str, ...]:
    """The names of the texts most like this one, nearest first; ties in the order given. Of no text: the first."""
    if not text:
        return tuple(others)[:_NEAREST]
    tongue = tongues.of(text)
    bags = {name: set(content(other, tongue)) for name, other in others.items()}
    spread = Counter(word for bag in bags.values() for word in bag)
    weight = {word: math.log(1 + len(bags) / count) for word, count in spread.items()}
    mine = set(content(text, tongue))

    def likeness(name: str) -> float:
        bag = bags[name]
        whole = math.sqrt(sum(weight[word] for word in bag)) or 1.0
        return sum(weight[word] for word in bag & mine) / whole

    return tuple(sorted(others, key=likeness, reverse=True)[:_NEAREST])


# --- figures ---

# The marks of thousands and of decimals are swapped in some languages.
_FIGURE = (
    r"(?<![\w.])(?P<currency>[$€£¥₹]|(?-i:USD|EUR|GBP)\s?)?"
    r"(?P<number>\d{1,3}(?:[,\u202f]\d{3}){1,5}(?:\.\d{1,6})?|\d{1,15}(?:\.\d{1,6})?)"
    r"(?:\s?(?P<scale><<scales>>)\.?(?![^\W\d_]))?"
    r"(?:\s?(?P<percent>%|<<percent>>)|[-\s](?P<unit>[^\W\d_]{3,20})|\s?(?P<sign>[$€£¥₹]))?"
)
_SWAPPED = _FIGURE.replace("[,\\u202f]", "[.\\u202f]").replace("(?:\\.\\d{1,6})", "(?:,\\d{1,6})")
_SIGNS = {"USD": "$", "EUR": "€", "GBP": "£", "JPY": "¥", "INR": "₹"}
_CURRENCIES = frozenset("$€£¥₹")


class Figure(NamedTuple):
    value: float
    unit: str  # currency sign, "%", the stem of the word that follows, or ""
    written: str
    time: bool = False  # the unit is one of time

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
        return not (self.time and self.value in (12, 24))

    def same(self, other: Figure) -> bool:
        if self.key != other.key:
            return False
        return self.unit == other.unit or (not (self.unit and other.unit) and self.value >= 100 and not self.is_year)


def figures(text: str, tongue: Tongue | None = None) -> Iterator[Figure]:
    tongue = tongue or tongues.of(text)
    swapped = tongue.main.decimal_comma
    thousands, decimals = (".", ",") if swapped else (",", ".")
    for found in tongue.pattern(_SWAPPED if swapped else _FIGURE).finditer(text):
        digits = found["number"].replace(thousands, "").replace("\u202f", "").replace(decimals, ".")
        scale = tongue.scales.get((found["scale"] or "").casefold(), 1.0)
        currency = (found["currency"] or found["sign"] or "").strip().upper()
        word = (found["unit"] or "").casefold()
        unit = _SIGNS.get(currency, currency)
        if found["percent"]:
            unit = "%"
        elif not unit and word and word not in tongue.stop:
            code = tongue.currencies.get(word, "")
            unit = _SIGNS.get(code, code) or tongue.stem(word)
        written = found[0]
        if word and (currency or word in tongue.stop):
            written = written[: -len(word)]
        time = tongue.units.get(word, ("", 1.0))[0] == "days"
        yield Figure(float(digits) * scale, unit, written.strip(" -\n"), time)


class StatedIn:
    """A text that is asked for many values: read once."""

    def __init__(self, text: str) -> None:
        self._flat = " ".join(text.split()).casefold()
        self._figures: dict[str, list[Figure]] = {}
        self._tongue = tongues.of(text)
        for figure in figures(text, self._tongue):
            self._figures.setdefault(figure.key, []).append(figure)

    def holds(self, value: str) -> bool:
        """The same words, or the same figure however it is written ($900M, 900 million)?"""
        wanted = " ".join(value.split()).casefold()
        if not wanted:
            return False
        tongue = tongues.of(value, self._tongue)
        amounts = list(figures(value, tongue))
        if amounts and len(telling(value, tongue)) <= 1:
            return all(any(_alike(amount, other) for other in self._figures.get(amount.key, ())) for amount in amounts)
        return re.search(rf"(?<!\w){re.escape(wanted)}(?!\w)", self._flat) is not None


def _alike(amount: Figure, other: Figure) -> bool:
    """Looser than `same`: a unit that only one side names does not part them, nor does a word beside a currency."""
    if amount.key != other.key:
        return False
    one, two = sorted((amount.unit, other.unit), key=lambda unit: unit in _CURRENCIES)
    return one == two or not one or not two or (two in _CURRENCIES and one not in _CURRENCIES and one != "%")


# --- what is particular ---

# Names and figures of the documents count; of a short document (a question, say) every word of substance does.
_WORD = re.compile(r"[^\W\d_][\w&'’.-]*[^\W_]", re.UNICODE)
_DIGITS = re.compile(r"\d[\d.,]*\d|\d{2,}")
_HEADING = re.compile(r"^\s{0,3}#.*$", re.MULTILINE)
_SHORT = 80  # words


def particular(documents: Iterable[str]) -> frozenset[str]:
    """What only these documents name, in lower case. Headings name the parts of a document, not its case."""
    found: set[str] = set()
    for document in documents:
        text = _HEADING.sub("", document)
        tongue = tongues.of(text)
        found |= {match[0] for match in _DIGITS.finditer(text) if len(match[0].strip(".,")) > 1}
        short = len(text.split()) <= _SHORT
        for match in _WORD.finditer(text):
            word = match[0]
            if len(word) < 3 or _is_everyday(word.lower(), tongue):
                continue
            named = word[0].isupper() and (word.lower() not in text or not _starts_sentence(text, match.start()))
            if named or not word.isascii() or (short and len(word) >= 5):
                found.add(word.lower())
    return frozenset(found)


def _is_everyday(word: str, tongue: Tongue) -> bool:
    """A word of nearly every document: naming it says nothing about the case. So does a noun that the language's lists
    know, where every noun looks like a name."""
    if word in tongue.words("stop", "everyday"):
        return True
    return tongue.main.nouns_have_capitals and word in tongue.main.known


def _starts_sentence(text: str, start: int) -> bool:
    before = text[:start].rstrip(" \t\"'“(*_")
    return not before or before[-1] in ".!?:\n-#>|•"


def names_something(text: str, wanted: frozenset[str]) -> bool:
    """True when the text names at least one of them, or when there is nothing to name."""
    said = {match[0].lower() for match in _WORD.finditer(text)} | set(_DIGITS.findall(text))
    return not wanted or not wanted.isdisjoint(said)
