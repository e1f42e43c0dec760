"""Ids of gaps and issues: found in text, compared, given out, and the nearest known one for a wrong one."""

from __future__ import annotations

import difflib
import re
from collections.abc import Collection, Iterable

# Every repetition is bounded and separated by a hyphen: linear on any text. Three digits end it: 001-007 is a range.
GAP = re.compile(
    r"(?<![A-Za-z0-9_-])GAP(?:-(?!\d{3})[A-Za-z0-9]{1,24}){0,5}-\d{1,6}(?:\.\d{1,3}|-?[A-Za-z](?![A-Za-z0-9]))?(?![A-Za-z0-9])",
    re.IGNORECASE | re.ASCII,
)
ISSUE = re.compile(r"(?<![A-Za-z0-9_-])ISSUE-(?:R(\d{1,4})-)?(\d{1,6})(?![A-Za-z0-9])", re.IGNORECASE | re.ASCII)
# Any id that a person's own list may use, where an item begins with it: "FLOW-3: …", "[REQ-12] …".
ANY_ID = re.compile(
    r"[A-Z][A-Z0-9]{0,15}(?:-[A-Z0-9]{1,15}){0,4}-\d{1,6}(?:\.\d{1,3}|[a-z])?(?![A-Za-z0-9-])", re.ASCII
)
_MORE = re.compile(r"[ ]?(?:,|and|&)[ ]?(\d{1,6})(?![\w.-])", re.ASCII)
_HYPHENS = str.maketrans({"\u2010": "-", "\u2011": "-", "\u2012": "-", "\u00ad": None})
_DASH_INSIDE = re.compile(r"(?<=[A-Za-z0-9])–(?=[A-Za-z0-9])")
_NOT_AREAS = frozenset(
    """a all an and are critical for found gap gaps high identified in introduced issue issues known list low medium
    missing new of on open priority question questions remaining section sections spec specification the to
    tier with blocking non review round finding findings summary""".split()
)


def plain_hyphens(text: str) -> str:
    """Ids as typed: word processors and models like to swap hyphens for look-alikes."""
    return _DASH_INSIDE.sub("-", text.translate(_HYPHENS)) if not text.isascii() else text


def tidy(gap: str) -> str:
    return gap.strip().upper()


def canonical(gap: str) -> str:
    """Equal for GAP-FLOW-1, gap-flow-001 and GAP-FLOW-001."""
    return re.sub(r"(?<=-)0+(?=\d)", "", tidy(gap))


def gaps_in(text: str) -> list[str]:
    """Gap ids in reading order, each once; "GAP-FLOW-008, 009" names two."""
    found: dict[str, None] = {}
    for match in GAP.finditer(text):
        name = tidy(match[0])
        found[name] = None
        stem = name.rpartition("-")[0]
        at = match.end()
        while more := _MORE.match(text, at):
            found[f"{stem}-{more[1]}"] = None
            at = more.end()
    return list(found)


def issue_named(match: re.Match[str], round: int) -> str:
    """ISSUE-2 of round 3 is ISSUE-R3-002."""
    return f"ISSUE-R{int(match[1] or round)}-{int(match[2]):03d}"


def issues_in(text: str, round: int) -> list[str]:
    return list(dict.fromkeys(issue_named(match, round) for match in ISSUE.finditer(text)))


def area_of(heading: str) -> str:
    """ "Process Flow Gaps" → FLOW; "" when the heading names no subject."""
    words = [word for word in re.findall(r"[A-Za-z][A-Za-z0-9]*", heading) if word.lower() not in _NOT_AREAS]
    return words[-1].upper()[:12] if words else ""


def area_in(gap: str) -> str:
    """GAP-FLOW-001 → FLOW."""
    parts = gap.split("-")
    return "-".join(parts[1:-1]) if len(parts) > 2 else ""


class Counter:
    """Gives out the next free number of an area; numbers once used are never given again."""

    def __init__(self, taken: Iterable[str]) -> None:
        self._highest: dict[str, int] = {}
        for name in taken:
            self.take(name)

    def take(self, name: str) -> None:
        stem, _, tail = name.rpartition("-")
        digits = re.match(r"\d+", tail)
        if digits:
            self._highest[stem] = max(self._highest.get(stem, 0), int(digits[0]))

    def next(self, stem: str) -> str:
        self._highest[stem] = self._highest.get(stem, 0) + 1
        return f"{stem}-{self._highest[stem]:03d}"


def nearest(name: str, known: Collection[str]) -> str:
    """The known id that was probably meant, or ""."""
    number = re.search(r"\d+", name[::-1])
    same = [one for one in known if number and one.endswith(number[0][::-1])]
    for names in (same, known):
        if near := difflib.get_close_matches(tidy(name), list(names)[:500], n=1, cutoff=0.6):
            return near[0]
    return ""
