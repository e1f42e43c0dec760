"""Times, counts and amounts as pages tell them."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from markupsafe import Markup, escape

from reconvene.doors.shared.glance import takes_parts
from reconvene.doors.shared.harmless import one_line

if TYPE_CHECKING:
    from reconvene.app.views.read_model import Takes

_MINUTE, _HOUR, _DAY = 60, 3_600, 86_400


def plural(count: int, one: str, many: str = "") -> str:
    """`1 run`, `3 runs`"""
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def when(at: str) -> str:
    """`16 Nov, 04:35` in UTC; "" where there is no time."""
    found = _read(at)
    return f"{found.day} {found:%b, %H:%M}" if found else ""


def long_since(at: str, now: str = "") -> str:
    """`7 days`; how long ago it was, or how long it is until then."""
    found, until = _read(at), _read(now) if now else datetime.now(UTC)
    if found is None or until is None:
        return ""
    seconds = abs((until - found).total_seconds())
    if seconds < _MINUTE:
        return "moments"
    unit, name = (_DAY, "day") if seconds >= _DAY else (_HOUR, "hour") if seconds >= _HOUR else (_MINUTE, "minute")
    return plural(int(seconds // unit), name)


def _read(at: str) -> datetime | None:
    try:
        found = datetime.fromisoformat(at)
    except ValueError:
        return None
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def cut(text: str, width: int) -> str:
    """On one line."""
    return one_line(text, width)


def sentence(text: str, width: int) -> str:
    """On one line, with a capital at its beginning and a point at its end."""
    short = one_line(text, width)
    return initial(short) + ("" if short.endswith((".", "…", "?", "!")) else ".")


def initial(text: str) -> str:
    """With a capital at its beginning."""
    return text[:1].upper() + text[1:]


def takes(what: Takes) -> str:
    """`9 calls · 47k tokens · under a minute`"""
    return " · ".join(takes_parts(what))


def own(words: str) -> Markup:
    """A person's own words in a box of theirs: what they typed, and nothing else."""
    return escape(words)


def for_pages(hint: str) -> str:
    """What to do next; "" where the hint is for a terminal or a program."""
    return "" if any(sign in f" {hint}" for sign in (" --", "reconvene ", "/api/", "=…")) else hint


def as_json(value: object) -> str:
    """As a person would write it into a field that takes JSON."""
    return json.dumps(value, ensure_ascii=False)


FILTERS: dict[str, Callable[..., str]] = {
    "plural": plural, "when": when, "long_since": long_since, "cut": cut, "takes": takes, "sentence": sentence,
    "initial": initial, "own": own, "for_pages": for_pages, "as_json": as_json,
}  # fmt: skip
