"""One gap as a text raises it: an item, a table's row or a set of fields. Knows no documents, nor which gaps exist."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from reconvene.kits.gaps.gap_ids import ANY_ID, GAP, area_of, gaps_in, tidy
from reconvene.kits.gaps.markdown import bare, clip
from reconvene.kits.gaps.records import TEXT, TITLE
from reconvene.kits.gaps.vocabulary import Severity, State, blocking_named, rating, severity_named


class Found(NamedTuple):
    """A gap as a text raises it. `severity` and `blocking` None = it does not say."""

    id: str
    title: str
    severity: Severity | None = None
    blocking: bool | None = None
    blocked_by: tuple[str, ...] = ()
    lines: str = ""
    area: str = ""
    detail: str = ""
    parent: str = ""
    question: str = ""
    about: str = ""  # lines of the specification
    state: State | None = None  # settled already, or None
    why: str = ""  # how it was settled
    replaced: str = ""  # "split" or "merged", by those of `into`
    into: tuple[str, ...] = ()


# "None." and "None found" are nothing; "None of the errors has a code" is a gap.
NOTHING = re.compile(
    r"(?:none|nothing|n/?a|nil|no (?:new |open |further |remaining |more |other |additional |known )*gaps?)"
    r"(?: (?:were |was |are |is )?(?:found|identified|introduced|remaining|remain|left|known|new|so far"
    r"|at this (?:time|stage|point)))?\s*(?:$|[.;,!(—–-])",
    re.IGNORECASE,
)
_AFTER_ID = re.compile(r"[\s*_`\])]*(?:[:|—–-]+|→)?[\s*_`]*")
_BEFORE_ID = re.compile(r"[\s*_`\[(]*(?:(?:id|gap|gap id)\s*:[\s*_`\[(]*(?=[A-Z]+-))?", re.IGNORECASE)
# "Part of" is said of much; only a split says that the parts replace the whole.
_PARENT = re.compile(r"\b(?:split (?:of|from|off)|child of|sub-?gap of)\b[ :]*|\bparent: *", re.IGNORECASE)
_PARENT_MARK = re.compile(r"[\s;,.([—–-]*\bparent: *GAP-[A-Z0-9.-]{1,60}[)\].]?", re.IGNORECASE)
_LINES = re.compile(r"(?:lines? *)?(\d[\d ,–-]{0,60})")
_BLOCKED = re.compile(r"\b(?:blocked by|depends on|waits? for)\b[ :*]*", re.IGNORECASE)
_STOPS = re.compile(r"[;()\n]|\.\s")
_MINE = re.compile(r"\b(?:user|person|human|owner|stakeholder|customer|decision)", re.IGNORECASE)


def id_first(text: str) -> tuple[str, str]:
    """(id, rest) of "GAP-FLOW-001: No recovery"; ("", text) when it does not begin with an id."""
    start = _BEFORE_ID.match(text)
    at = start.end() if start else 0
    match = GAP.match(text, at)
    if match is None:
        match = ANY_ID.match(text, at)
        after = text[match.end() :].lstrip("*_`]) ") if match else ""
        if match is None or (after and after[0] not in ":|—–-→"):
            return "", text
    rest = _AFTER_ID.match(text, match.end())
    return tidy(match[0]), text[rest.end() if rest else match.end() :].strip()


def item_of(name: str, title: str, lines: str) -> Found:
    state, title = state_marked(title)
    rated = rating(title)
    found = Found(name, clip(rated.rest, TITLE), rated.severity, rated.blocking, lines=lines, state=state)
    if (parent := _PARENT.search(title)) and (ids := _named_next(title, parent.end())):
        found = found._replace(parent=ids[0], title=_PARENT_MARK.sub("", found.title, count=1) or found.title)
    if (blocked := _BLOCKED.search(title)) and (ids := _named_next(title, blocked.end())):
        found = found._replace(blocked_by=tuple(ids))
    return found


def _named_next(text: str, at: int) -> list[str]:
    """Ids in the rest of the clause."""
    return gaps_in(_STOPS.split(text[at : at + 200], maxsplit=1)[0])


_SETTLED: dict[State, str] = {
    "resolved": r"resolved|closed|fixed|done|erledigt|✅|✔",
    "accepted": r"accepted|won['’]?t fix|wontfix|known limitation",
    "deferred": r"deferred|postponed|later|out of scope|parked",
    "dropped": r"dropped|invalid|no gap|not a gap|withdrawn",
}
_STATES: dict[State, re.Pattern[str]] = {
    name: re.compile(rf"(?:{words})(?:$|[\s.,;:()—–-])", re.IGNORECASE) for name, words in _SETTLED.items()
}
_MARKED = re.compile(r"[\[(]\s*(resolved|closed|accepted|deferred|dropped|done)\b[^\])]{0,60}[\])]", re.IGNORECASE)
_CAPITAL = re.compile(r"(?:[—–:|-]\s*|\s)(RESOLVED|ACCEPTED|DEFERRED|DROPPED|CLOSED)\W*$")


def settled_as(text: str) -> State | None:
    """The state that a cell or field says a gap is in, where that is no open one."""
    said = bare(text).strip()
    return next((name for name, words in _STATES.items() if words.match(said)), None)


def state_marked(title: str) -> tuple[State | None, str]:
    """A state that an item is marked with, "[RESOLVED]" or "… - DEFERRED", and the item without the mark."""
    for pattern in (_MARKED, _CAPITAL):
        if found := pattern.search(title):
            rest = (title[: found.start()] + " " + title[found.end() :]).strip(" —–:|-")
            return settled_as(found[1]), rest or title
    return None, title


def with_field(found: Found, key: str, value: str) -> Found | None:
    """The gap with one `Key: value` taken in; None when the key is none of ours."""
    said = bare(value)
    match key:
        case "severity" | "priority" | "impact":
            severity = severity_named(said)
            return found._replace(severity=severity) if severity else None
        case "blocking" | "blocks" | "blocker":
            blocking = blocking_named(said)
            return found._replace(blocking=blocking) if blocking is not None else None
        case "blocked by" | "blocked on" | "depends on" | "dependencies" | "waits for":
            return with_blocker(found, said)
        case "parent" | "split from" | "part of" | "split of":
            ids = gaps_in(said)
            return found._replace(parent=ids[0]) if ids else None
        case "title" | "gap" | "summary" | "name" | "description" | "question":
            if not found.title:
                return found._replace(title=clip(said, TITLE))
            return found._replace(detail=clip(f"{found.detail} {said}", TEXT))
        case "lines" | "line":
            named = _LINES.match(said.lower().replace("-", "–"))
            return found._replace(about=named[1].strip(" ,–")) if named else None
        case "area" | "category":
            return found._replace(area=area_of(said))
        case "state" | "status":
            replaced = said.lower() if said.lower() in ("split", "merged") else ""
            return found._replace(state=settled_as(said), replaced=replaced)
        case "how":
            into = tuple(gaps_in(said.partition("into ")[2].partition(":")[0])) if found.replaced else ()
            return found._replace(why=clip(said, TITLE), into=into)
        case _:
            return None


def with_blocker(found: Found, said: str) -> Found:
    """Ids are gaps it waits for; "user decision: which one?" is a question to the person."""
    ids = tuple(gaps_in(said)) or ((id_first(said)[0],) if id_first(said)[0] else ())
    question = clip(said, TITLE) if not ids and _MINE.search(said) else found.question
    return found._replace(blocked_by=ids or found.blocked_by, question=question)


def gap_of_fields(row: Mapping[str, str], lines: str) -> Found | None:
    """A table's row or a JSON object, by the names of its columns."""
    name, title = "", ""
    rest: list[tuple[str, str]] = []
    for key, value in row.items():
        column = key.lower().replace("_", " ").strip()
        first, after = id_first(value)
        if not name and first and column not in ("blocked by", "depends on", "parent", "dependencies", "split from"):
            name, title = first, title or after
        elif column in ("title", "gap", "description", "summary", "question", "text", "name", "problem", "1"):
            title, spare = (title, value) if title else (value, "")
            rest += [("description", spare)] if spare else []
        else:
            rest.append((column, value))
    if not title and not name:
        title = max((value for _, value in rest if not severity_named(value)), key=len, default="")
    if (not name and (NOTHING.match(title) or not re.search(r"\w{2}", title))) or not (name or title):
        return None
    found = item_of(name, title, lines)
    for key, value in rest:
        marked = severity_named(value) if key.isdigit() else None
        found = found._replace(severity=marked) if marked else with_field(found, key, value) or found
    return found
