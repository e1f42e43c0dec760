"""Numbers written out in words: "twenty-two", "one hundred and twenty million", "zweiundzwanzig", "hundertzwanzig".

For finding a figure that still stands in other writing. Two languages; what others spell out is not found.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

_ONES = {
    word: value
    for value, words in enumerate(
        (
            "", "one ein eins eine", "two zwei", "three drei", "four vier", "five fünf", "six sechs", "seven sieben",
            "eight acht", "nine neun", "ten zehn", "eleven elf", "twelve zwölf", "thirteen dreizehn",
            "fourteen vierzehn", "fifteen fünfzehn", "sixteen sechzehn", "seventeen siebzehn", "eighteen achtzehn",
            "nineteen neunzehn",
        )
    )
    for word in words.split()
}  # fmt: skip
_TENS = {
    word: value * 10
    for value, words in enumerate(
        (
            "", "", "twenty zwanzig", "thirty dreißig dreissig", "forty vierzig", "fifty fünfzig", "sixty sechzig",
            "seventy siebzig", "eighty achtzig", "ninety neunzig",
        )
    )
    for word in words.split()
}  # fmt: skip
_TIMES = {
    "hundred": 100, "hundert": 100, "thousand": 1000, "tausend": 1000, "million": 10**6, "millions": 10**6,
    "millionen": 10**6, "billion": 10**9, "milliarde": 10**9, "milliarden": 10**9,
}  # fmt: skip
_AND = ("and", "und")
_PARTS = re.compile("|".join(sorted((*_ONES, *_TENS, "hundert", "tausend", "und"), key=len, reverse=True)))
_WORD = re.compile(r"[^\W\d_]+")


def spelled_in(text: str) -> Iterator[float]:
    """The value of each number that is written in words, and is more than one."""
    held: list[str] = []
    end = 0
    for found in (*_WORD.finditer(text.casefold()), None):
        parts = _parts(found[0]) if found is not None else []
        near = found is not None and bool(re.fullmatch(r"[\s-]*", text[end : found.start()]))
        if held and (not parts or not near):
            yield from filter(lambda value: value > 1, [_value(held)])
            held = []
        if found is not None and parts and (held or parts[0] not in _AND):
            held += parts
        end = found.end() if found is not None else end


def _parts(word: str) -> list[str]:
    """The numbers in a word: one, or several where they are written together; none where it is another word."""
    if word in _ONES or word in _TENS or word in _TIMES or word in _AND:
        return [word]
    parts = _PARTS.findall(word)
    return parts if parts and "".join(parts) == word and len(parts) > 1 else []


def _value(words: list[str]) -> float:
    total = part = 0
    for word in words:
        if word in _TIMES:
            times = _TIMES[word]
            part = max(part, 1) * times
            if times > 100:
                total, part = total + part, 0
        else:
            part += _ONES.get(word, 0) + _TENS.get(word, 0)
    return float(total + part)
