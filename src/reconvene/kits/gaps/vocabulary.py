"""States of a gap, severities with definitions and weights, verdicts: which words there are and what they mean.

It must not know where in an output they stand.
"""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

State = Literal["open", "proposed", "needs revision", "resolved", "accepted", "deferred", "split", "merged", "dropped"]
Severity = Literal["CRITICAL", "HIGH", "MEDIUM", "LOW"]
Verdict = Literal["approved", "approved with note", "needs revision", "rejected"]
Overall = Literal["APPROVE", "REVISE", "NONE"]

# Every gap ever raised is in exactly one of these. Reopening is a move back to open, kept in the gap's history.
STATES: dict[State, str] = {
    "open": "raised, nobody has proposed a solution yet (or it was reopened)",
    "proposed": "the engineer proposed a solution, the reviewer has not judged it",
    "needs revision": "the reviewer sent the proposal back or rejected it",
    "resolved": "the reviewer approved the proposal",
    "accepted": "a person accepts it as a known gap",
    "deferred": "a person put it aside, or it is outside the narrowed scope",
    "split": "replaced by the smaller gaps that name it as their parent",
    "merged": "the same as another gap, which carries on for both",
    "dropped": "a person says that it is no gap",
}
OPEN: frozenset[State] = frozenset(("open", "proposed", "needs revision"))

SEVERITIES: dict[Severity, str] = {
    "CRITICAL": "nobody can build from the specification until it is closed, or what is built would do harm",
    "HIGH": "a main path is undefined or contradictory: two careful readers would build different things",
    "MEDIUM": "an edge case or a detail is missing: a careful reader can guess it, and may guess wrong",
    "LOW": "wording, examples or polish: what is built would not differ",
}
# Each step weighs twice the one below: closing one HIGH gap outweighs finding three LOW ones.
WEIGHTS: dict[Severity, int] = {"CRITICAL": 8, "HIGH": 4, "MEDIUM": 2, "LOW": 1}
GRAVE: frozenset[Severity] = frozenset(("CRITICAL", "HIGH"))
ORDER: tuple[Severity, ...] = tuple(SEVERITIES)

_CALLED: dict[Severity, str] = {
    "CRITICAL": r"critical|blocker|sev(?:erity)?[ -]?[01]|p0|kritisch",
    "HIGH": r"high|major|sev(?:erity)?[ -]?2|p1|hoch",
    "MEDIUM": r"medium|moderate|normal|sev(?:erity)?[ -]?3|p2|mittel(?!\s+\w)",
    "LOW": r"low|minor|trivial|nit|sev(?:erity)?[ -]?4|p[34]|niedrig|gering",
}
_STARTS = {name: re.compile(rf"(?:{words})\b", re.IGNORECASE) for name, words in _CALLED.items()}
_WORD = r"(critical|high|medium|low)"
_BRACKET = re.compile(r"\s*[\[(]([^\[\]()]{1,80})[\])]\s*:?")
_TOKEN = re.compile(rf"(?:severity|priority)?:?\s*{_WORD}(?:[ -](?:severity|priority))?$", re.IGNORECASE)
_LEADING = re.compile(rf"\s*{_WORD}(?: severity| priority)?\s*[:|—–-]+\s+", re.IGNORECASE)
_TRAILING = re.compile(r"\s+[|—–-]+\s*(CRITICAL|HIGH|MEDIUM|LOW)\.?\s*$")
_INLINE = re.compile(rf"[,;(]?\s*\bseverity:?\s*{_WORD}\b[).]?", re.IGNORECASE)
_BLOCKING = re.compile(r"\b(non[- ]?|not )?blocking\b", re.IGNORECASE)
_MARK = r"critical|high|medium|low|blocker|major|minor|kritisch|hoch|mittel|niedrig|gering|p[0-4]|sev[ -]?[0-4]"
_MARKS = [
    re.compile(one, re.IGNORECASE)
    for one in (
        r"\b(?:severity|severe|schwere(?:grad)?|priority|priorität|rat(?:e|ed|ing)|rank(?:ed)?|call|put)\b\W{0,4}"
        rf"(?:(?:it|this|that|as|at|is|of|to be|would be|ist)\W{{1,3}}){{0,3}}({_MARK})\b",
        rf"\b({_MARK})[ -](?:severity|priority|impact|risk)\b",
        rf"(?:^|[\[(/|·•—–:;,*.?!]|\s-\s)[\s*_`]*({_MARK})\b(?=[\s*_`]*(?:$|[\])/|·•—–:;,.*]|-\s))",
    )
]
_CAPITALS = re.compile(r"\b(CRITICAL|HIGH|MEDIUM|LOW)\b")
_KEPT_APART = re.compile(r"(?:blocked by|depends on|part of|split (?:of|from)|waits for)\b", re.IGNORECASE)
_NAMED = re.compile(r"(?:gap|issue)(?:-[a-z0-9.]{1,24}){1,6}$", re.IGNORECASE)  # "(HIGH, GAP-FLOW-003): …"


class Rating(NamedTuple):
    """What an item is marked with, and the item without the marks."""

    severity: Severity | None
    blocking: bool | None
    rest: str


def severity_named(text: str) -> Severity | None:
    """The severity a field's value begins with: "HIGH", "High (blocking)", "P1"."""
    bare = text.strip().lstrip("*_`[(🔴🟠🟡🟢 ").strip()
    return next((name for name, starts in _STARTS.items() if starts.match(bare)), None)


def severity_marked(text: str) -> Severity | None:
    """The severity that running text marks something with: "(high)", "/ medium /", "I would call it low"."""
    found = [match for marks in (*_MARKS, _CAPITALS) if (match := marks.search(text))]
    first = min(found, key=lambda match: match.start(1), default=None)
    return severity_named(first[1]) if first else None


def rating(text: str) -> Rating:
    """The marks of "(HIGH, blocking): No recovery". A word in passing, "(LOW/HIGH) levels undefined", is no mark."""
    severity: Severity | None = None
    blocking: bool | None = None
    rest = text
    for bracket in list(_BRACKET.finditer(text))[:8]:
        tokens = [token.strip() for token in re.split(r"[,;]", bracket[1])]
        rated = [found[1] for token in tokens if (found := _TOKEN.match(token))]
        flags = [not found[1] for token in tokens if (found := _BLOCKING.fullmatch(token))]
        apart = sum(_KEPT_APART.match(token) is not None for token in tokens)
        named = sum(_NAMED.match(token) is not None for token in tokens)
        if len(rated) <= 1 and (rated or flags) and len(rated) + len(flags) + apart + named == len(tokens):
            severity = severity or (severity_named(rated[0]) if rated else None)
            blocking = flags[0] if flags else blocking
            rest = rest.replace(bracket[0], " ", 1) if not apart else rest
    for pattern in (_LEADING, _TRAILING, _INLINE):
        if severity is None and (found := pattern.match(rest) if pattern is _LEADING else pattern.search(rest)):
            severity = severity_named(found[1])
            rest = rest[: found.start()] + " " + rest[found.end() :]
    return Rating(severity, blocking, rest.strip().lstrip(":—–- ") if rest != text else text)


def blocking_named(text: str) -> bool | None:
    """Whether a field's value says yes or no; None when it says neither."""
    bare = text.strip().strip("*_`[]() ").lower()
    if re.match(r"(?:no|false|non[- ]?blocking|not)\b|✗|❌", bare):
        return False
    if re.match(r"(?:yes|true|blocking|blocks|blocker)\b|✓|✅|x$", bare):
        return True
    return None


def blocking_marked(text: str) -> bool | None:
    """Whether running text carries the mark "blocking" or "non-blocking", in brackets or as a heading's word."""
    found = _BLOCKING.search(text)
    return None if found is None else not found[1]
