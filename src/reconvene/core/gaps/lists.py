"""A list of gaps, however it is written: Markdown bullets, tables, headings, plain lines or JSON.

One job: text → what it raises, in reading order, with lines. Ids are kept as written; giving out missing ones is for
the ledger. It must not know which gaps exist.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import msgspec

from reconvene.core.gaps.book import TEXT, TITLE
from reconvene.core.gaps.markdown import Line, bare, bullet, cells, clip, field, heading, is_rule, read, rows, span
from reconvene.core.gaps.names import ANY_ID, GAP, area_of, gaps_in, tidy
from reconvene.core.gaps.vocabulary import Severity, blocking_marked, blocking_named, rating, severity_named


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


# "None." and "None found" are nothing; "None of the errors has a code" is a gap.
_NOTHING = re.compile(
    r"(?:none|nothing|n/?a|nil|no (?:new |open |further |remaining |more |other |additional |known )*gaps?)"
    r"(?: (?:were |was |are |is )?(?:found|identified|introduced|remaining|remain|left|known|new|so far"
    r"|at this (?:time|stage|point)))?\s*(?:$|[.;,!(—–-])",
    re.IGNORECASE,
)
_SAYS_NONE = re.compile(
    r"\bno (?:new |open |further |remaining |more |other |additional |known )*gaps\b|\bfree of gaps\b|\bzero gaps\b"
    r"|\bgaps?(?: found| identified)?:? *(?:\*\*)? *(?:none|0)\b",
    re.IGNORECASE,
)
_ABOUT_GAPS = re.compile(r"\bgaps?\b|open questions?|\bunclear\b|\bmissing\b|findings?", re.IGNORECASE)
_AFTER_ID = re.compile(r"[\s*_`\])]*(?:[:|—–-]+|→)?[\s*_`]*")
_BEFORE_ID = re.compile(r"[\s*_`\[(]*")
_PARENT = re.compile(r"\b(?:part|child|split|sub-?gap)s? (?:of|from|off)\b[ :]*", re.IGNORECASE)
_BLOCKED = re.compile(r"\b(?:blocked by|depends on|waits? for|after)\b[ :*]*", re.IGNORECASE)
_MINE = re.compile(r"\b(?:user|person|human|owner|stakeholder|customer|decision)", re.IGNORECASE)


def says_none(text: str) -> bool:
    """It says in so many words that there are no gaps."""
    said = [line.text for line in read(text) if not line.code]
    return any(_SAYS_NONE.search(line) or _NOTHING.match(bare(line)) for line in said)


def gaps_listed(text: str, *, strict: bool) -> list[Found]:
    """What a list raises. `strict` (an agent's): only what has an id, or stands under a heading about gaps."""
    if (value := as_json(text)) is not None:
        return list(_from_json(value))
    lines = read(text)
    found = _Walk(lines, strict=strict).all()
    if not found and not strict:
        found = _plain_lines(lines)
    return found


def listed_below(lines: Sequence[Line]) -> list[Found]:
    """The items of one section that holds nothing but gaps ("New Gaps Introduced")."""
    kept: list[Line] = []
    for line in lines:
        if line.text.strip() and not line.code and is_rule(line.text):
            break
        kept.append(line)
    return _Walk(kept, strict=False, plain=True).all()


class _Walk:
    """Down the lines once: headings set what holds for the items below them."""

    def __init__(self, lines: list[Line], *, strict: bool, plain: bool = False) -> None:
        self._lines = lines
        self._strict = strict
        self._plain = plain
        self._made: list[tuple[Found, bool]] = []  # with: it counts in a strict reading without an id too
        self._area = ""
        self._severity: Severity | None = None
        self._blocking: bool | None = None
        self._about = plain
        self._current = -1
        self._indent = 0
        self._by_heading = False
        self._none = False  # a list that says "None." raises no paragraph below it
        self._table = {row.line: row for row in rows(lines)}

    def all(self) -> list[Found]:
        for line in self._lines:
            if not line.code and line.text.strip():
                self._line(line)
        return [found for found, counts in self._made if not self._strict or found.id or counts]

    def _line(self, line: Line) -> None:
        if is_rule(line.text):
            self._current = -1
        elif head := heading(line):
            self._heading(line, head[1])
        elif cells(line) is not None:
            if row := self._table.get(line.number):
                self._row(line, row.cells)
        elif item := bullet(line):
            self._bullet(line, item.text, item.indent)
        else:
            self._words(line)

    def _heading(self, line: Line, title: str) -> None:
        name, rest = id_first(title)
        self._current = -1
        if name:
            self._start(line, name, rest, by_heading=True)
            return
        self._area = area_of(title)
        self._severity = severity_named(title) or rating(title).severity
        self._blocking = blocking_marked(title)
        self._about = self._plain or _ABOUT_GAPS.search(title) is not None

    def _row(self, line: Line, row: Mapping[str, str]) -> None:
        found = _from_fields({bare(key): bare(value) for key, value in row.items()}, str(line.number))
        if found is not None:
            self._made.append((self._placed(found), self._about or _about_columns(row)))
        self._current = -1

    def _bullet(self, line: Line, text: str, indent: int) -> None:
        name, _ = id_first(bare(text))
        inner = self._current >= 0 and (self._by_heading or indent > self._indent)
        if inner and not name:
            self._more(line, text)
            return
        self._start(line, *id_first(bare(text)), by_heading=False)
        self._indent = indent

    def _words(self, line: Line) -> None:
        name, rest = id_first(bare(line.text))
        if name and (rest or self._plain) and not line.text.startswith((" ", "\t")):
            self._start(line, name, rest, by_heading=False)
            self._by_heading = True
        elif self._current >= 0:
            self._more(line, line.text)
        elif self._plain and not self._none and not self._made and not field(line.text):
            self._start(line, "", bare(line.text), by_heading=False)

    def _start(self, line: Line, name: str, title: str, *, by_heading: bool) -> None:
        self._by_heading = by_heading
        self._current = -1
        if not name and (_NOTHING.match(title) or not re.search(r"\w", title)):
            self._none = self._plain
            return
        self._made.append((self._placed(_item(name, title, str(line.number))), self._about))
        self._current = len(self._made) - 1

    def _placed(self, found: Found) -> Found:
        return found._replace(
            area=found.area or self._area,
            severity=found.severity or self._severity,
            blocking=self._blocking if found.blocking is None else found.blocking,
        )

    def _more(self, line: Line, text: str) -> None:
        found, counts = self._made[self._current]
        start = found.lines.partition("–")[0]
        grown = found._replace(lines=span(int(start), line.number))
        pair = field(text)
        taken = _with_field(grown, *pair) if pair else None
        if taken is None:
            title = grown.title or clip(bare(text), TITLE)
            detail = clip(f"{grown.detail} {bare(text)}", TEXT)
            taken = grown._replace(title=title, detail=detail)
        self._made[self._current] = (taken, counts)


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


def _item(name: str, title: str, lines: str) -> Found:
    rated = rating(title)
    found = Found(name, clip(rated.rest, TITLE), rated.severity, rated.blocking, lines=lines)
    if (parent := _PARENT.search(title)) and (ids := gaps_in(title[parent.end() : parent.end() + 60])):
        found = found._replace(parent=ids[0])
    if (blocked := _BLOCKED.search(title)) and (ids := gaps_in(title[blocked.end() :][:200])):
        found = found._replace(blocked_by=tuple(ids))
    return found


def _with_field(found: Found, key: str, value: str) -> Found | None:
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
        case "area" | "category":
            return found._replace(area=area_of(said))
        case _:
            return None


def with_blocker(found: Found, said: str) -> Found:
    """Ids are gaps it waits for; "user decision: which one?" is a question to the person."""
    ids = tuple(gaps_in(said)) or ((id_first(said)[0],) if id_first(said)[0] else ())
    question = clip(said, TITLE) if not ids and _MINE.search(said) else found.question
    return found._replace(blocked_by=ids or found.blocked_by, question=question)


def _about_columns(row: Mapping[str, str]) -> bool:
    return any("gap" in key for key in row)


def _from_fields(row: Mapping[str, str], lines: str) -> Found | None:
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
    if (not name and (_NOTHING.match(title) or not re.search(r"\w{2}", title))) or not (name or title):
        return None
    found = _item(name, title, lines)
    for key, value in rest:
        marked = severity_named(value) if key.isdigit() else None
        found = found._replace(severity=marked) if marked else _with_field(found, key, value) or found
    return found


def _plain_lines(lines: list[Line]) -> list[Found]:
    """No list at all: every paragraph is a gap, or every line when nothing is set apart."""
    groups: list[list[Line]] = [[]]
    for line in lines:
        if line.code or heading(line):
            continue
        if line.text.strip():
            groups[-1].append(line)
        elif groups[-1]:
            groups.append([])
    groups = [group for group in groups if group]
    if len(groups) == 1:
        groups = [[line] for line in groups[0]]
    made = []
    for group in groups:
        title = bare(" ".join(line.text for line in group))
        if not _NOTHING.match(title) and re.search(r"\w{2}", title):
            lines_of = span(group[0].number, group[-1].number)
            made.append(_item("", title, lines_of)._replace(detail=clip(title, TEXT) if len(title) > TITLE else ""))
    return made


def as_json(text: str) -> object | None:
    """The value, when the text is a JSON list or object (in a fence or not)."""
    inner = text.strip().removeprefix("\ufeff")
    if inner.startswith("```") and inner.endswith("```"):
        inner = inner[3:-3].strip()
        inner = inner[4:].strip() if inner[:4].lower() == "json" else inner
    if not inner.startswith(("{", "[")):
        return None
    try:
        value: object = msgspec.json.decode(inner.encode("utf-8", "replace"))
    except (msgspec.DecodeError, RecursionError):
        return None
    return value if isinstance(value, (list, dict)) else None


def _from_json(value: object) -> Iterator[Found]:
    items: object = value
    if isinstance(value, Mapping):
        lists = [inner for key, inner in value.items() if isinstance(inner, list) and "gap" in str(key).lower()]
        items = lists[0] if lists else next((inner for inner in value.values() if isinstance(inner, list)), [value])
    for item in items if isinstance(items, list) else []:
        if found := gap_of_json(item):
            yield found


def gap_of_json(item: object) -> Found | None:
    """One gap as JSON has it: a text, or an object with the usual names."""
    if isinstance(item, str):
        name, title = id_first(bare(item))
        return None if not name and (_NOTHING.match(title) or not title) else _item(name, title, "")
    if not isinstance(item, Mapping):
        return None
    return _from_fields({str(key): _flat(value) for key, value in item.items()}, "")


def _flat(value: object) -> str:
    match value:
        case bool():
            return "yes" if value else "no"
        case list():
            return ", ".join(_flat(one) for one in value[:50] if not isinstance(one, (list, dict)))
        case None | dict():
            return ""
        case _:
            return str(value)
