"""Reading figures out of what a person said, so that "Revenue is $900M, not $850M" means 900. Pure."""

from __future__ import annotations

import re

from reconvene.core import kit_finder

_NUMBER = re.compile(r"[-+−]?\d[\d, ]*(?:\.\d+)?|[-+−]?\.\d+")
_UNITS = {"k": 0.001, "thousand": 0.001, "b": 1000.0, "bn": 1000.0, "billion": 1000.0}  # in millions


def last_stated(pattern: str, texts: list[str]) -> str | None:
    """What the last match of `pattern` captured (its first group, or all of it), denied figures left out."""
    found: str | None = None
    compiled = re.compile(pattern, re.IGNORECASE)
    reader = kit_finder.reader()
    for text in texts:
        for match in compiled.finditer(reader.asserted(text)):
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
