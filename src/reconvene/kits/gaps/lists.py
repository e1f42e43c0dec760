"""A list of gaps, however it is written: Markdown bullets, tables, headings, plain lines or JSON.

Ids are kept as written; giving out missing ones is for the ledger. It must not know which gaps exist.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import takewhile

from reconvene.kits.gaps.found import NOTHING, Found, gap_of_fields, id_first, item_of, settled_as, with_field
from reconvene.kits.gaps.gap_ids import area_of
from reconvene.kits.gaps.json_outputs import as_json, gaps_of
from reconvene.kits.gaps.markdown import Line, bare, bullet, cells, clip, field, heading, is_rule, read, rows, span
from reconvene.kits.gaps.outputs import PARSED
from reconvene.kits.gaps.records import TEXT, TITLE
from reconvene.kits.gaps.vocabulary import Severity, State, blocking_marked, rating, severity_named

_SAYS_NONE = re.compile(
    r"\bno (?:new |open |further |remaining |more |other |additional |known )*gaps\b|\bfree of gaps\b|\bzero gaps\b"
    r"|\bgaps?(?: found| identified)?:? *(?:\*\*)? *(?:none|0)\b",
    re.IGNORECASE,
)
_OTHERWISE = re.compile(
    r"(?:convergence|metrics?|statistics|by weight|merged|errors?|summary|gap summary|round \d+"
    r"|session complete|known limitations?"
    r"|decisions?|output|final specification|finding gaps)\b",
    re.IGNORECASE,
)
_ABOUT_GAPS = re.compile(r"\bgaps?\b|open questions?|\bunclear\b|\bmissing\b|findings?", re.IGNORECASE)


def says_none(text: str) -> bool:
    """It says in so many words that there are no gaps."""
    said = [line.text for line in read(text) if not line.code]
    return any(_SAYS_NONE.search(line) or NOTHING.match(bare(line)) for line in said)


def gaps_listed(text: str, *, strict: bool) -> list[Found]:
    """What a list raises. `strict` (an agent's): only what has an id, or stands under a heading about gaps."""
    return list(_gaps_listed(text, strict))


@lru_cache(maxsize=PARSED)
def _gaps_listed(text: str, strict: bool) -> tuple[Found, ...]:
    """Read once: the same list comes with every call until a round has closed."""
    if (value := as_json(text)) is not None:
        return tuple(gaps_of(value))
    lines = read(text)
    found = _Walk(lines, strict=strict).all()
    if not found and not strict:
        found = _plain_lines(lines)
    return tuple(found)


def listed_below(lines: Sequence[Line]) -> list[Found]:
    """The items of one section that holds nothing but gaps ("New Gaps Introduced")."""
    kept = takewhile(lambda line: not (line.text.strip() and not line.code and is_rule(line.text)), lines)
    return _Walk(list(kept), strict=False, plain=True).all()


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
        self._above: list[tuple[int, Severity | None, bool | None, State | None]] = []
        self._state: State | None = None
        self._other = False  # below a heading about something else than gaps, such as convergence
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
            if item.checked and self._current >= 0 and self._made[self._current][0].lines == str(line.number):
                self._settle("resolved")
        else:
            self._words(line)

    def _settle(self, state: State) -> None:
        found, counts = self._made[self._current]
        self._made[self._current] = (found._replace(state=found.state or state), counts)

    def _heading(self, line: Line, title: str) -> None:
        head = heading(line)
        level = head[0] if head else 0
        name, rest = id_first(title)
        self._current = -1
        if not name:
            self._other = _OTHERWISE.match(title) is not None
            self._above = [one for one in self._above if one[0] < level]
        if name:
            self._start(line, name, rest, by_heading=True)
            return
        self._area = area_of(title)
        own = severity_named(title) or rating(title).severity
        self._above.append((level, own, blocking_marked(title), settled_as(title)))
        # What a heading says holds for all that stands under it, also under smaller headings.
        self._severity = next((one[1] for one in reversed(self._above) if one[1]), None)
        self._blocking = next((one[2] for one in reversed(self._above) if one[2] is not None), None)
        self._state = next((one[3] for one in reversed(self._above) if one[3]), None)
        self._about = self._plain or _ABOUT_GAPS.search(title) is not None

    def _row(self, line: Line, row: Mapping[str, str]) -> None:
        found = gap_of_fields({bare(key): bare(value) for key, value in row.items()}, str(line.number))
        if found is not None and (found.id or not (self._other or _is_metrics(row))):
            self._made.append((self._placed(found), self._about or any("gap" in key for key in row)))
        self._current = -1

    def _bullet(self, line: Line, text: str, indent: int) -> None:
        name, rest = id_first(bare(text))
        inner = self._current >= 0 and (self._by_heading or indent > self._indent)
        if inner and not name:
            self._more(line, text)
            return
        self._start(line, name, rest, by_heading=False)
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
        if self._other and not self._strict and not self._plain:
            return  # "GAP-A-001 is the same as …" below "Merged", a limitation, an error: said of a listed gap
        if not name and (NOTHING.match(title) or not re.search(r"\w", title)):
            self._none = self._plain
            return
        self._made.append((self._placed(item_of(name, title, str(line.number))), self._about))
        self._current = len(self._made) - 1

    def _placed(self, found: Found) -> Found:
        return found._replace(
            area=found.area or self._area,
            severity=found.severity or self._severity,
            state=found.state or self._state,
            blocking=self._blocking if found.blocking is None else found.blocking,
        )

    def _more(self, line: Line, text: str) -> None:
        found, counts = self._made[self._current]
        start = found.lines.partition("–")[0]
        grown = found._replace(lines=span(int(start), line.number))
        pair = field(text)
        taken = with_field(grown, *pair) if pair else None
        if taken is None:
            title = grown.title or clip(bare(text), TITLE)
            detail = clip(f"{grown.detail} {bare(text)}", TEXT)
            taken = grown._replace(title=title, detail=detail)
        self._made[self._current] = (taken, counts)


def _is_metrics(row: Mapping[str, str]) -> bool:
    """A table that counts (severity and number, round and net) lists no gaps."""
    counted = sum(bool(re.fullmatch(r"[-+−]?\d+(?:[.,]\d+)?\s*%?", bare(value))) for value in row.values())
    named = any(re.search(r"count|number|total|net|start|metric|weight|rounds?$|anzahl", key) for key in row)
    return counted > 0 and (named or counted * 2 >= len(row))


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
        if not NOTHING.match(title) and re.search(r"\w{2}", title):
            lines_of = span(group[0].number, group[-1].number)
            made.append(item_of("", title, lines_of)._replace(detail=clip(title, TEXT) if len(title) > TITLE else ""))
    return made
