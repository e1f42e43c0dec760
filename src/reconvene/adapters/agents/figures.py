"""Reading figures out of what a person said, so that "Revenue is $900M, not $850M" means 900. Pure."""

from __future__ import annotations

import re

# A clause ends at ; : or a new line, at a comma that is not inside a number, at a full stop, at "but".
_CLAUSE_END = r"(?=;|:|\n|,(?!\d)|\.(?:\s|$)|[!?)—–]|\bbut\b|$)"
_FIGURE = r"[^\s,;]*\d[\d.,]*[^\s,;.)]*(?:\s+(?:million|billion|thousand|percent|bn|m|k)\b)?"
_DENIED = (
    # "not $850M", "instead of 850", "rather than 850", "no longer 850"
    re.compile(
        rf"(?:n't|\b(?:not|instead of|rather than|no longer|as opposed to|wrongly))\b[^;\n]*?{_CLAUSE_END}", re.I
    ),
    # "we said 850", "you assumed 850"
    re.compile(rf"\b(?:we|you|i|they|it)\s+(?:said|wrote|had|assumed|used|thought)\b[^;\n]*?{_CLAUSE_END}", re.I),
    # "850 is wrong", "$850M was last year's"
    re.compile(
        rf"{_FIGURE}\s+(?:is|was|are|were)\s+(?:\w+\s+)?"
        r"(?:wrong|incorrect|outdated|out of date|old|stale|last year|a typo|a mistake|too (?:high|low))"
        rf"[^;\n]*?{_CLAUSE_END}",
        re.I,
    ),
)
_FROM_TO = re.compile(rf"\bfrom\s+[^;\n.]{{0,40}}?{_FIGURE}\s+to\s+(?=\D{{0,12}}\d)", re.I)
_NUMBER = re.compile(r"[-+−]?\d[\d, ]*(?:\.\d+)?|[-+−]?\.\d+")
_UNITS = {"k": 0.001, "thousand": 0.001, "b": 1000.0, "bn": 1000.0, "billion": 1000.0}  # in millions


def asserted(text: str) -> str:
    """The text without the figures it denies or replaces."""
    text = text.replace("’", "'")
    text = _FROM_TO.sub("to ", text)
    for denied in _DENIED:
        text = denied.sub(" ", text)
    return text


def last_stated(pattern: str, texts: list[str]) -> str | None:
    """What the last match of `pattern` captured (its first group, or all of it), denied figures left out."""
    found: str | None = None
    compiled = re.compile(pattern, re.IGNORECASE)
    for text in texts:
        for match in compiled.finditer(asserted(text)):
            found = match[1] if compiled.groups and match[1] is not None else match[0]
    return found


def stated_number(pattern: str, texts: list[str], default: float | None = None) -> float | int | None:
    """The last figure that the texts assert for `pattern`."""
    found = last_stated(pattern, texts)
    number = None if found is None else number_in(found)
    return default if number is None else number


def number_in(text: str) -> float | int | None:
    """ "1,250.5" → 1250.5; whole numbers stay whole."""
    match = _NUMBER.search(text)
    if not match:
        return None
    plain = match[0].replace(",", "").replace(" ", "").replace("−", "-")
    value = float(plain)
    return int(value) if value.is_integer() else value


def millions_in(text: str) -> float | int | None:
    """ "900M", "0.9 billion", "900,000k" → 900; a bare figure is taken to be in millions already."""
    number = number_in(text)
    if number is None:
        return None
    unit = re.search(r"\d\s*([a-z]+)\b", text, re.IGNORECASE)
    value = round(number * _UNITS.get(unit[1].lower(), 1.0), 6) if unit else number
    return int(value) if float(value).is_integer() else value
