"""The filters that make more text out of less, each with a bound.

It must not know templates, scopes or Jinja's environment.
"""

from __future__ import annotations

import math
import re
import textwrap
import unicodedata
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from functools import wraps
from itertools import pairwise

from reconvene.language.as_text import METHODS, TemplateLimit, as_json, bound, is_null, measure, shown
from reconvene.language.closest import closest
from reconvene.language.jinja.present import present
from reconvene.language.plain_text import quoted, quoted_lines

_WIDEST = 1_000
_LONGEST_WRAPPED = 200_000
_FINEST = 20
_LISTING = ("items", "keys", "values", "split", "rsplit", "splitlines")
_METHODS: dict[str, Callable[..., object]] = {name: getattr("", name) for name in METHODS["text"]}
_METHODS |= {name: lambda *_: [] for name in _LISTING}
_METHODS |= {"get": {}.get, "count": [].count}


def method_of_null(name: object) -> Callable[..., object] | None:
    """What a method of a text, a list or an object does where the value is null."""
    return _METHODS.get(str(name))


def nearest(name: str, known: Iterable[str]) -> str:
    """How to go on after "… is not there": the nearest valid name, or those there are."""
    names = sorted(known)
    if near := closest(name, names):
        return f"; did you mean '{near[0]}'?"
    listed = ", ".join(names[:12]) + (", …" if len(names) > 12 else "")
    return f"; known here: {listed}" if names else ""


def _date(value: object, time: bool = True) -> str:
    if is_null(value) or value == "":
        return ""
    try:
        moment = datetime.fromisoformat(str(value))
    except ValueError:
        raise ValueError(f"'date' needs an ISO date such as 2025-01-31T12:00:00Z, not '{value}'") from None
    if moment.tzinfo is not None:
        moment = moment.astimezone(UTC)
    return f"{moment:%Y-%m-%d %H:%M}" if time else f"{moment:%Y-%m-%d}"


def _present(value: object, heading: int = 0) -> str:
    measure(value, "present")
    text = present(value, heading)
    bound(len(text), "present")
    return text


def _duration(value: object, until: object) -> str:
    """From one moment to another, in the largest unit that fits: "2 hours", "45 minutes"."""
    if is_null(value) or is_null(until):
        return ""
    try:
        seconds = (datetime.fromisoformat(str(until)) - datetime.fromisoformat(str(value))).total_seconds()
    except (ValueError, TypeError):
        raise ValueError(f"'duration' needs two ISO dates, not '{value}' and '{until}'") from None
    for size, unit in ((86_400, "day"), (3_600, "hour"), (60, "minute")):
        if seconds >= size:
            count = round(seconds / size)
            return f"{count} {unit}{'s' if count != 1 else ''}"
    return "less than a minute"


def _quote_lines(value: object) -> str:
    text = shown(value)
    bound(len(text) + 2 * text.count("\n"), "quote_lines")
    return quoted_lines(text)


def _quote(value: object) -> str:
    """On one line, between marks that it cannot close."""
    return quoted(shown(value))


def _replace(value: object, old: object, new: object, count: int | None = None) -> str:
    text, before, after = shown(value), shown(old), shown(new)
    times = text.count(before) if count is None else min(text.count(before), count)
    bound(len(text) + times * len(after), "replace")
    return text.replace(before, after, times)


def _indent(value: object, width: int | str = 4, first: bool = False, blank: bool = False) -> str:
    margin = width if isinstance(width, str) else " " * _narrow(width, "indent")
    lines = shown(value).split("\n")
    bound(sum(map(len, lines)) + len(lines) * (len(margin) + 1), "indent")
    moved = [margin + line if line or blank else line for line in lines[1:]]
    return "\n".join([margin + lines[0] if first else lines[0], *moved])


def _join(value: Iterable[object], between: object = "", attribute: str | None = None) -> str:
    items = list(value)
    if attribute is not None:
        items = [item.get(attribute) if isinstance(item, Mapping) else None for item in items]
    texts, separator = [shown(item) for item in items], shown(between)
    bound(sum(map(len, texts)) + len(texts) * len(separator), "join")
    return separator.join(texts)


def _center(value: object, width: int = 80) -> str:
    return shown(value).center(_narrow(width, "center"))


def _wordwrap(value: object, width: int = 79) -> str:
    text = shown(value)
    if len(text) > _LONGEST_WRAPPED:
        raise TemplateLimit(f"'wordwrap' takes up to {_LONGEST_WRAPPED} characters")
    lines = text.split("\n")
    return "\n".join(textwrap.fill(line, max(1, _narrow(width, "wordwrap"))) for line in lines)


def _batch(value: Iterable[object], size: int, fill: object = None) -> list[list[object]]:
    items = list(value)
    size = max(1, _narrow(size, "batch"))
    rows = [items[at : at + size] for at in range(0, len(items), size)]
    if fill is not None and rows:
        rows[-1] += [fill] * (size - len(rows[-1]))
    return rows


def _slice(value: Iterable[object], parts: int) -> list[list[object]]:
    items = list(value)
    each, more = divmod(len(items), max(1, _narrow(parts, "slice")))
    starts = [at * each + min(at, more) for at in range(max(1, parts) + 1)]
    return [items[start:end] for start, end in pairwise(starts)]


def _pad(value: object, width: int = 3) -> str:
    """7 → "007": file names that sort."""
    return shown(value).zfill(_narrow(width, "pad"))


def _signed(value: object) -> str:
    """3 → "+3", -4 → "-4", 0 → "0"."""
    return f"+{shown(value)}" if isinstance(value, int | float) and value > 0 else shown(value)


def _slug(value: object, width: int = 60) -> str:
    """Any text as one word for a file name."""
    plain = unicodedata.normalize("NFKD", shown(value)).encode("ascii", "ignore").decode()
    return re.sub(r"[^A-Za-z0-9]+", "-", plain).strip("-").lower()[: _narrow(width, "slug")].strip("-")


def _round(value: object, precision: int = 0, method: str = "common") -> float:
    """Jinja's, within bounds: a thousand million places are a number that no machine can hold."""
    if not -_FINEST <= precision <= _FINEST:
        raise TemplateLimit(f"'round' goes up to {_FINEST} places, not {precision}")
    if method not in ("common", "ceil", "floor") or not isinstance(value, int | float):
        raise ValueError("'round' takes a number, and common, ceil or floor")
    if method == "common":
        return round(value, precision)
    whole = math.ceil if method == "ceil" else math.floor
    factor: float = 10**precision
    return whole(value * factor) / factor


def _sum(value: Iterable[object], attribute: str | None = None, start: float = 0) -> float:
    total = start
    for item in value:
        each = item.get(attribute) if attribute is not None and isinstance(item, Mapping) else item
        each = 0 if is_null(each) else each
        if not isinstance(each, int | float):
            raise ValueError(f"'sum' adds numbers, not {type(each).__name__}")
        total += each
    return total


def _striptags(value: object) -> str:
    return " ".join(re.sub(r"<[^<>]*>", "", shown(value)).split())


def _narrow(width: int, name: str) -> int:
    if width > _WIDEST:
        raise TemplateLimit(f"'{name}' goes up to {_WIDEST}, not {width}")
    return width


# What these make of null is what they make of an empty text, of an empty list or object, of zero.
OF_NULL: dict[str, object] = {
    **dict.fromkeys(
        ("trim", "upper", "lower", "capitalize", "title", "truncate", "wordcount", "urlencode", "escape"), ""
    ),
    **dict.fromkeys(
        ("length", "count", "list", "first", "last", "sort", "reverse", "unique", "min", "max", "join", "batch",
         "slice", "groupby", "sum", "map", "select", "reject", "selectattr", "rejectattr"), ()
    ),
    "dictsort": {},
    "items": {},
    **dict.fromkeys(("abs", "round", "int", "float", "filesizeformat"), 0),
}  # fmt: skip
OF_SOME = ("first", "last", "min", "max")  # of nothing these give null


def from_null(filter: Callable[..., object], empty: object) -> Callable[..., object]:
    """The filter, given `empty` where it would be given null."""
    at = 1 if hasattr(filter, "jinja_pass_arg") else 0  # the environment comes first then

    @wraps(filter)
    def filled(*given: object, **named: object) -> object:
        if is_null(given[at]):
            given = (*given[:at], empty, *given[at + 1 :])
        return filter(*given, **named)

    return filled


_OWN: tuple[Callable[..., object], ...] = (
    _date, _present, _duration, _quote, _quote_lines, _replace, _indent, _join, _center, _wordwrap, _batch, _slice,
    _pad, _signed, _slug, _round, _sum, _striptags,
)  # fmt: skip
FILTERS: dict[str, Callable[..., object]] = {each.__name__.removeprefix("_"): each for each in _OWN}
FILTERS |= {"json": as_json, "tojson": as_json, "string": shown}
