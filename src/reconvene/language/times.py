"""Times of the log and stretches of time: reading them, counting with them, and saying them."""

from __future__ import annotations

import re
from datetime import datetime, timedelta

_STRETCH = re.compile(r"(\d+(?:\.\d+)?)\s*(s|m|h|d|w)")
_UNITS = {"s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0, "w": 604800.0}
LONGEST = 3650 * 86400.0  # ten years: what is longer was not meant, and would leave the calendar


def duration(value: object) -> float:
    """Seconds from 90, "90", "10m" or "1d 12h"; 0 where it is none of these."""
    text = str(value).strip()
    if isinstance(value, int | float) or re.fullmatch(r"\d+(\.\d+)?", text):
        return float(text)
    if not re.fullmatch(rf"({_STRETCH.pattern}\s*)+", text):
        return 0
    return sum(float(amount) * _UNITS[unit] for amount, unit in _STRETCH.findall(text))


def later(now: str, seconds: float) -> str:
    """A time of the log, so many seconds after another."""
    at = datetime.fromisoformat(now) + timedelta(milliseconds=round(min(seconds, LONGEST) * 1000))
    return at.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def seconds_until(now: str, then: str) -> float:
    """0 where it is past."""
    return max(0.0, (datetime.fromisoformat(then) - datetime.fromisoformat(now)).total_seconds())


def spelled(seconds: float) -> str:
    """`8 s`, `2 min 05 s`, `3 h 10 min`, `2 d 03 h`"""
    whole = max(1, round(seconds))
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02d} s"
    if whole < 172_800:
        return f"{whole // 3600} h {whole % 3600 // 60:02d} min"
    return f"{whole // 86_400} d {whole % 86_400 // 3600:02d} h"
