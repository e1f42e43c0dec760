"""How long a provider asks to wait, from the headers and the body of its answer. Pure: the time is given.

Read in this order: `retry-after-ms`, `Retry-After` (seconds, or a date), Google's `retryDelay` in the body, and, where
the limit is what failed (429), the reset times that go with limits.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import NamedTuple

LONGEST = 24 * 3600.0  # more than a day is a mistake, or no use to anybody
PASSING = frozenset({408, 409, 423, 425, 429})  # of statuses below 500, those that pass by themselves
_DURATION = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h|d)")
_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_RESET = re.compile(r"(?:x-|anthropic-)?ratelimit-(?:reset(?:-(?P<first>.+))?|(?P<second>.+)-reset)")
_RETRY_DELAY = re.compile(r'"retryDelay"\s*:\s*"(\d+(?:\.\d+)?)s"')
_EPOCH = 1_000_000_000  # larger numbers are a moment in seconds since 1970, not a time to wait


class Asked(NamedTuple):
    seconds: float  # bounded; 0 = it does not say
    beyond: float = 0.0  # what it said, where that was more than LONGEST

    def __str__(self) -> str:
        if self.beyond:
            return f"it asks to wait {_shown(self.beyond)} (taken as {_shown(LONGEST)})"
        return f"it asks to wait {_shown(self.seconds)}" if self.seconds else ""


def asked(headers: Mapping[str, str], body: str, now: datetime, *, limited: bool) -> Asked:
    """`limited`: the answer says that a limit was reached (429)."""
    lower = {name.lower(): value.strip() for name, value in headers.items()}
    for said in (
        _number(lower.get("retry-after-ms"), 0.001),
        _seconds_or_date(lower.get("retry-after"), now),
        _in_body(body),
        _resets(lower, now) if limited else None,
    ):
        if said is not None:
            return bounded(said)
    return Asked(0.0)


def bounded(seconds: float) -> Asked:
    if seconds > LONGEST:
        return Asked(LONGEST, seconds)
    return Asked(max(0.0, seconds))


def _number(text: str | None, unit: float = 1.0) -> float | None:
    try:
        value = float(text or "") * unit
    except ValueError:
        return None
    return value if value >= 0 and not math.isnan(value) else None


def _seconds_or_date(text: str | None, now: datetime) -> float | None:
    if text is None:
        return None
    if (seconds := _number(text)) is not None:
        return seconds
    return _until(text, now)


def _until(text: str, now: datetime) -> float | None:
    """From an HTTP date or an ISO time; one that is over asks for nothing."""
    for read in (parsedate_to_datetime, datetime.fromisoformat):
        try:
            moment = read(text)
        except (ValueError, TypeError, OverflowError):
            continue
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=UTC)
        return max(0.0, (moment - now).total_seconds())
    return None


def _in_body(body: str) -> float | None:
    found = _RETRY_DELAY.search(body)
    return float(found[1]) if found else None


def _resets(headers: Mapping[str, str], now: datetime) -> float | None:
    """The latest reset among the limits that are used up; among all of them where none says that it is."""
    used_up: list[float] = []
    others: list[float] = []
    for name, value in headers.items():
        match = _RESET.fullmatch(name)
        seconds = _reset(value, now) if match else None
        if match is None or seconds is None:
            continue
        left = headers.get(name.replace("reset", "remaining"))
        if left is None:
            others.append(seconds)
        elif _number(left) == 0:
            used_up.append(seconds)
    return max(used_up or others, default=None)


def _reset(text: str, now: datetime) -> float | None:
    number = _number(text)
    if number is not None:
        return max(0.0, number - now.timestamp()) if number > _EPOCH else number
    if re.fullmatch(rf"(?:{_DURATION.pattern})+", text):
        return sum(float(amount) * _UNITS[unit] for amount, unit in _DURATION.findall(text))
    return _until(text, now)


def _shown(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.3g} s"
    if seconds < 7200:
        return f"{seconds / 60:.0f} min"
    if seconds <= 2 * 86400:
        return f"{seconds / 3600:.0f} h"
    return f"{seconds / 86400:.0f} days" if math.isfinite(seconds) else "for ever"
