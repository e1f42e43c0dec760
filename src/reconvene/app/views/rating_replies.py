"""Ratings as agents write them, and when two of them are about the same item.

Reads a "Ratings" section (table or list) of a Markdown reply, or `{"ratings": [{"item", "rating", "reason"}]}`. What it
cannot read it reports in words and passes over: a bad line never costs the good ones. Knows nothing of rounds.
"""

from __future__ import annotations

import difflib
import re
import unicodedata
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import msgspec

from reconvene.core import kit_finder

LOWEST, HIGHEST = 1, 9


class Rating(NamedTuple):
    item: str
    rating: float
    reason: str = ""


class Ratings(NamedTuple):
    """What one agent rated. `problems`: lines that looked like ratings and were not."""

    given: tuple[Rating, ...]
    problems: tuple[str, ...] = ()


_Row = tuple[object, object, object]  # item, rating, reason, not yet checked

_HEADING = re.compile(r"^(?P<level>#{1,6})\s*(?:[\d.]+\s*)?ratings?\b.*$", re.IGNORECASE | re.MULTILINE)
_NEXT_HEADING = re.compile(r"^(#{1,6})\s", re.MULTILINE)
_BULLET = re.compile(r"^\s*(?:[-*+•]|\d{1,3}[.)])\s+(?P<rest>\S.*)$")
_RATED = re.compile(
    r"^(?P<item>.*\S)\s*[:=—–|]\s*[*_`]*(?P<rating>[-+]?\d+(?:\.\d+)?)[*_`]*(?:\s*/\s*9|\s+of\s+9|\s+out of\s+9)?[*_`]*"
    r"(?P<reason>\s*(?:$|[-—–:;,.(|]|because\b|since\b).*)$",
    re.IGNORECASE,
)
_RULER = re.compile(r"^\s*\|?[\s:|-]*-[\s:|-]*\|?\s*$")
_CELLS = re.compile(r"(?<!\\)\|")
_MARKUP = re.compile(r"[*_`]+|\[([^\]]*)\]\([^)]*\)")


def parse_ratings(text: str, value: object = None) -> Ratings:
    """An agent's output: its parsed JSON where there is any (`value`), else its text."""
    rows = _from_json(value if value is not None else _decoded(text))
    if rows is None:
        rows = [row for section in _sections(text) for row in _rows(section.splitlines())]
    given: dict[str, Rating] = {}
    problems: list[str] = []
    for item, rating, reason in rows:
        name = _clean(item)
        number = _number(rating)
        if not name:
            problems.append(f"a rating of {rating} names no item")
        elif number is None:
            problems.append(f"“{name}”: {_clean(rating) or 'nothing'} is not a rating from {LOWEST} to {HIGHEST}")
        else:
            if identity(name) in given:
                problems.append(f"“{name}” is rated twice: the last one counts")
            given[identity(name)] = Rating(name, number, _clean(reason))
    return Ratings(tuple(given.values()), tuple(problems))


def _number(rating: object) -> float | None:
    if isinstance(rating, bool):
        return None
    if not isinstance(rating, int | float):
        found = re.fullmatch(
            r"[^\d+-]*([-+]?\d{1,6}(?:\.\d{1,6})?)\s*(?:(?:/|of|out of)\s*9)?[^\d]*", str(rating or "")
        )
        if not found:
            return None
        rating = float(found[1])
    return float(rating) if LOWEST <= rating <= HIGHEST else None


def _clean(text: object) -> str:
    if text is None:
        return ""
    plain = _MARKUP.sub(lambda found: found[1] or "", str(text)).replace("\\|", "|")
    return " ".join(plain.split()).strip(" -—–:;|")


# --- JSON ---


def _decoded(text: str) -> object:
    if not text.lstrip().startswith("{"):
        return None
    try:
        return msgspec.json.decode(text)
    except msgspec.DecodeError:
        return None


def _from_json(value: object) -> list[_Row] | None:
    rows = value.get("ratings") if isinstance(value, dict) else None
    if isinstance(rows, dict):  # {"item": 7} is as clear
        return [(item, *_split_rating(rating)) for item, rating in rows.items()]
    if not isinstance(rows, list):
        return None
    return [(row.get("item"), row.get("rating"), row.get("reason")) for row in rows if isinstance(row, dict)]


def _split_rating(rating: object) -> tuple[object, object]:
    return (rating.get("rating"), rating.get("reason")) if isinstance(rating, dict) else (rating, "")


# --- Markdown ---


def _sections(text: str) -> Iterator[str]:
    for heading in _HEADING.finditer(text):
        rest = text[heading.end() :]
        ends = (h.start() for h in _NEXT_HEADING.finditer(rest) if len(h[1]) <= len(heading["level"]))
        yield rest[: next(ends, len(rest))]


def _rows(lines: Iterable[str]) -> Iterator[_Row]:
    columns = (0, 1, 2)
    for line in lines:
        stripped = line.strip()
        if _RULER.match(stripped) and stripped.startswith("|"):
            continue
        if stripped.startswith("|"):
            inner = stripped.strip("|") if stripped[-2:] != "\\|" else stripped[1:]
            cells = [cell.strip() for cell in _CELLS.split(inner)]
            header = _columns(cells)
            if header is not None:
                columns = header
            elif len(cells) > 1:
                yield (_cell(cells, columns[0]), _cell(cells, columns[1]), _cell(cells, columns[2]))
        elif bullet := _BULLET.match(line):
            rated = _RATED.match(bullet["rest"])
            if rated:
                yield (rated["item"], rated["rating"], rated["reason"].lstrip(" -—–:;,.|"))
            elif re.search(r"[:=—–]\s*\S", bullet["rest"]):
                item, _, said = re.split(r"([:=—–])", bullet["rest"], maxsplit=1)
                yield (item, said.strip()[:40], "")


def _columns(cells: list[str]) -> tuple[int, int, int] | None:
    """Where item, rating and reason stand, if this row is the table's header."""
    low = [_clean(cell).casefold() for cell in cells]

    def first(*beginnings: str) -> int:
        return next((at for at, cell in enumerate(low) if cell.startswith(beginnings)), -1)

    rating, reason, item = first("rating", "score"), first("reason", "why", "because"), first("item", "name", "what")
    if rating < 0 or any(char.isdigit() for char in low[rating].partition("(")[0]):
        return None
    others = [at for at in range(len(low)) if at not in (rating, reason) and low[at] not in ("#", "no", "no.")]
    return item if item >= 0 else next(iter(others), 0), rating, reason


def _cell(cells: list[str], at: int) -> str:
    return cells[at] if 0 <= at < len(cells) else ""


# --- identity ---

_NUMBERING = re.compile(r"^(?:\d{1,2}[.)]|[A-Za-z]{1,3}-?\d{1,3}[.):]|\([a-z\d]{1,2}\))\s*(?=\S)")


def identity(item: str) -> str:
    """The item's text, normalised: case, width, markup, numbering and punctuation do not count."""
    text = unicodedata.normalize("NFKC", _clean(item)).casefold()
    reader = kit_finder.reader()
    words = reader.tokens(_NUMBERING.sub("", text)) or reader.tokens(text)
    return " ".join(word for word, _, _ in words) or text


def same_item(one: str, other: str) -> bool:
    """Near enough to be the same: the same words in another order or form, or one word spelled a little differently.

    Careful on purpose: joining two items that differ would hide a disagreement. Figures must be equal, and a word that
    only adds a beginning ("stable", "unstable") is another word.
    """
    if one == other:
        return True
    mine, theirs = _key_words(one), _key_words(other)
    if not mine or not theirs:
        return False
    left = [word for stem, word in mine.items() if stem not in theirs]
    right = [word for stem, word in theirs.items() if stem not in mine]
    if not left and not right:
        return True
    return len(left) == len(right) == 1 and _misspelled(left[0], right[0])


_BINDING = frozenset(
    "no not without never less more before after above below up down "
    "over under in out on off from to with against".split()
)


def _key_words(identity_: str) -> dict[str, str]:
    """Stem → word."""
    words = kit_finder.reader().tokens(identity_)
    return {stem: word for word, stem, common in words if not common or word in _BINDING}


def _misspelled(one: str, other: str) -> bool:
    if min(len(one), len(other)) < 6 or one[:3] != other[:3] or any(char.isdigit() for char in one + other):
        return False
    return difflib.SequenceMatcher(None, one, other, autojunk=False).ratio() >= 0.85
