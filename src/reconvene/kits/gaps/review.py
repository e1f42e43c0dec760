"""The reviewer's output: verdicts per gap, issues, new gaps, severities put right, checks, and the overall verdict.

Only a structured place gives a verdict (an item, a row, a heading or a field about that gap): a gap named in passing is
not judged. It must not know which gaps exist.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache

from reconvene.kits.gaps import markdown as md
from reconvene.kits.gaps.found import Found, id_first
from reconvene.kits.gaps.gap_ids import ISSUE, gaps_in, issue_named
from reconvene.kits.gaps.json_outputs import as_json, review_of
from reconvene.kits.gaps.lists import listed_below
from reconvene.kits.gaps.outputs import PARSED, Judged, Raised, Rated, Review, first_of
from reconvene.kits.gaps.records import TEXT, TITLE
from reconvene.kits.gaps.verdicts import OVERALL_KEYS, decided, overall, phrase, verdict_in
from reconvene.kits.gaps.vocabulary import Overall, Severity, Verdict, rating, severity_named

_NEW = re.compile(r"(?:new|further|additional|missed) gaps?\b", re.IGNORECASE)
_ISSUES = re.compile(r"(?<!no )(?<!response to )\b(?:issues?|concerns?|problems?)\b(?! found: none)", re.IGNORECASE)
_CHECKS = re.compile(r"\bchecks?\b|\bchecklist\b|\bchecked\b", re.IGNORECASE)
_OVERALL = re.compile(r"(?:overall|final|recommendation|conclusion|verdict|decision)\b", re.IGNORECASE)
_APPROVAL = re.compile(r"review\b.{0,80}[-—–:(]\s*(?:approval|approved?)\b", re.IGNORECASE)
_VERDICT_KEYS = frozenset("verdict status decision assessment result recommendation outcome".split())
_NOTE_KEYS = re.compile(r"note|comment|suggestion|remark|reason|why|concern")
_RATED = re.compile(
    r"(?:severit(?:y|ies)|ratings?) (?:chang|revis|correct)|(?:changed|revised) severit|re-?rat", re.IGNORECASE
)
_RATING = re.compile(
    r"[\s*_(]*(?:(?:critical|high|medium|low)\W{0,4}(?:to\W|→|->|=>|⇒)\W{0,4})?(critical|high|medium|low)\b(.*)",
    re.IGNORECASE,
)
_NO_ISSUE = re.compile(r"(?:none|no |nothing|n/?a\b)", re.IGNORECASE)


@lru_cache(maxsize=PARSED)
def review_in(text: str, round: int) -> Review:
    """Read once: a round asks up to four times, for the gate, after each step and at its close."""
    if (value := as_json(text)) is not None:
        return review_of(value, text, round)
    lines = md.read(text)
    walk = _Walk(lines, round)
    walk.all()
    return Review(
        tuple(walk.verdicts),
        tuple(walk.issues),
        tuple(walk.new),
        tuple(walk.checks),
        decided(walk.overall),
        md.prose(lines),
        tuple(walk.rated),
    )


class _Walk:
    """Down the lines once, with the gap, the issue and the kind of section that a line stands in."""

    def __init__(self, lines: list[md.Line], round: int) -> None:
        self.verdicts: list[Judged] = []
        self.issues: list[Raised] = []
        self.new: list[Found] = []
        self.checks: list[tuple[str, bool]] = []
        self.overall: list[Overall] = []
        self.rated: list[Rated] = []
        self._lines = lines
        self._round = round
        self._sections = {part.start: part for part in md.sections(lines)}
        self._rows = {row.line: row for row in md.rows(lines)}
        self._skip = 0  # the last line of a list of new gaps
        self._heads: list[md.Section] = []
        self._item = ""  # the gap of the list item above
        self._item_indent = 0
        self._issue = -1
        self._issue_indent = -1

    def all(self) -> None:
        for line in self._lines:
            if line.number > self._skip and not line.code and line.text.strip():
                self._line(line)

    def _line(self, line: md.Line) -> None:
        if md.heading(line):
            self._heading(line)
        elif row := self._rows.get(line.number):
            self._row(row)
        elif md.cells(line) is None:
            self._words(line)

    # What holds for a line: the sections around it.

    def _gap(self) -> str:
        """The gap this place is about."""
        if self._item:
            return self._item
        for part in reversed(self._heads):
            named = gaps_in(part.title)
            if len(named) == 1:
                return named[0]
        return ""

    def _in(self, kind: re.Pattern[str]) -> bool:
        return any(kind.search(part.title) for part in self._heads)

    def _severity(self) -> Severity | None:
        for part in reversed(self._heads):
            if found := severity_named(part.title) or rating(part.title).severity:
                return found
        return None

    def _heading(self, line: md.Line) -> None:
        part = self._sections[line.number]
        self._heads = [one for one in self._heads if one.end >= line.number and one.level < part.level]
        self._item, self._issue, self._issue_indent = "", -1, -1
        if _NEW.match(part.title):
            self._skip = part.end
            self.new += listed_below(part.lines)
            return
        if _RATED.match(part.title):
            self._skip = part.end
            self.rated += _rated_below(part)
            return
        self._heads.append(part)
        if match := ISSUE.match(part.title):
            self._issue_section(part, match)
            return
        if _APPROVAL.match(part.title) and not gaps_in(part.title):
            self.overall.append("APPROVE")
        named = gaps_in(part.title)
        raw = line.text.lstrip("# ")
        if len(named) == 1 and (verdict := verdict_in(raw)[0]):
            self._judge(named[0], verdict, "", line.number)

    def _issue_section(self, part: md.Section, match: re.Match[str]) -> None:
        body = list(part.lines)
        known = {pair[0]: pair[1] for line in body if not line.code and (pair := md.field(line.text))}
        title = part.title[match.end() :].strip(" :-—–")
        gap = (gaps_in(known.get("gap", "")) or gaps_in(part.title) or [self._gap()])[0]
        gap = gap or (gaps_in(md.prose(body)) or [""])[0]
        severity = severity_named(known.get("severity", known.get("priority", ""))) or rating(part.title).severity
        text = _concern(known, body) or title
        self._raise(issue_named(match, self._round), gap, severity, title, text, part.filled)

    def _row(self, row: md.Row) -> None:
        first = md.bare(row.first)
        texts = [md.bare(cell) for cell in row.cells.values()]
        named = gaps_in(" | ".join(texts))
        if match := ISSUE.match(first):
            words = [text for text in texts[1:] if not severity_named(text) and gaps_in(text)[:1] != [text]]
            severity = next((found for text in texts[1:] if (found := severity_named(text))), None)
            gap = named[0] if named else self._gap()
            said = max(words, key=len, default="")
            self._raise(issue_named(match, self._round), gap, severity, said, said, str(row.line))
            return
        name, _ = id_first(first)
        if not name:
            return
        for key, cell in row.cells.items():
            if (key in _VERDICT_KEYS or key.isdigit()) and (verdict := phrase(cell)):
                rest = [text for text in texts[1:] if text != md.bare(cell) and len(text) > 3]
                self._judge(name, verdict, max(rest, key=len, default=""), row.line)
                return

    def _words(self, line: md.Line) -> None:
        item = md.bullet(line)
        text = item.text if item else line.text
        indent = item.indent if item else len(line.text) - len(line.text.lstrip())
        if item and item.checked is not None:
            self.checks.append((md.clip(md.bare(item.text), TITLE), item.checked))
            return
        if match := ISSUE.match(md.bare(text)):
            self._issue_item(match, line, md.bare(text), indent)
            return
        if self._issue >= 0 and (not item or indent > self._issue_indent):
            self._issue_more(line, text)
            return
        self._issue, self._issue_indent = -1, -1
        name, _ = id_first(md.bare(text))
        if name and not ISSUE.match(name) and (item or name in gaps_in(text)):
            self._gap_item(line, name, text, indent)
            return
        if self._item and item and indent <= self._item_indent:
            self._item = ""
        self._said(line, text, bool(item), indent)

    def _gap_item(self, line: md.Line, name: str, text: str, indent: int) -> None:
        self._item, self._item_indent = name, indent
        verdict, note = verdict_in(text)
        if self._in(_ISSUES) and verdict is None:
            self._raise("", name, rating(text).severity, "", md.bare(text), str(line.number))
        elif verdict:
            self._judge(name, verdict, note, line.number)

    def _issue_item(self, match: re.Match[str], line: md.Line, text: str, indent: int) -> None:
        rest = text[match.end() :].strip(" :-—–*)")
        gap = (gaps_in(rest) or [self._gap()])[0]
        self._raise(issue_named(match, self._round), gap, rating(rest).severity, rest, rest, str(line.number))
        self._issue, self._issue_indent = len(self.issues) - 1, indent

    def _issue_more(self, line: md.Line, text: str) -> None:
        issue = self.issues[self._issue]
        pair = md.field(text)
        if pair and pair[0] in ("severity", "priority"):
            issue = issue._replace(severity=severity_named(pair[1]) or issue.severity)
        elif pair and pair[0] == "gap":
            issue = issue._replace(gap=(gaps_in(pair[1]) or [issue.gap])[0])
        else:
            issue = issue._replace(text=md.clip(f"{issue.text}{_between(issue, text)}{md.bare(text)}", TEXT))
        start = int(issue.lines.partition("–")[0])
        self.issues[self._issue] = issue._replace(lines=md.span(start, line.number))

    def _said(self, line: md.Line, text: str, item: bool, indent: int) -> None:
        pair = md.field(text)
        gap = self._gap()
        if pair and pair[0] in _VERDICT_KEYS and gap and (verdict := phrase(pair[1])):
            self._judge(gap, verdict, verdict_in(pair[1])[1], line.number)
        elif pair and gap and _NOTE_KEYS.match(pair[0]):
            self._note(gap, pair[1])
        elif pair and gap and pair[0] in ("issue", "problem") and not _NO_ISSUE.match(md.bare(pair[1])):
            self._raise("", gap, rating(pair[1]).severity, "", md.bare(pair[1]), str(line.number))
        elif pair and not gap and OVERALL_KEYS.match(pair[0]) and (verdict := phrase(pair[1])):
            self.overall.append(overall(verdict))
        elif item and self._item and indent > self._item_indent:
            self._note(gap, text)
        elif item and self._in(_CHECKS):
            self.checks.append((md.clip(md.bare(text), TITLE), True))
        elif item and indent < 2 and self._in(_ISSUES) and not _NO_ISSUE.match(md.bare(text)):
            self._raise(
                "", gap or (gaps_in(text) or [""])[0], rating(text).severity, "", md.bare(text), str(line.number)
            )
        elif not gap and (verdict := self._stands_alone(text)):
            self.overall.append(overall(verdict))

    def _stands_alone(self, text: str) -> Verdict | None:
        """`**APPROVE** - ready` on its own line, or the word alone; in a closing section any line that opens so."""
        tidy = text.strip()
        opens = tidy.startswith(("**", "__")) or len(tidy.split()) <= 4
        return phrase(tidy) if opens or any(_OVERALL.match(one.title) for one in self._heads) else None

    def _judge(self, gap: str, verdict: Verdict, note: str, line: int) -> None:
        self.verdicts.append(Judged(gap, verdict, md.clip(note, TEXT), line))

    def _note(self, gap: str, said: str) -> None:
        for at in range(len(self.verdicts) - 1, -1, -1):
            if self.verdicts[at].gap == gap:
                noted = md.clip(f"{self.verdicts[at].note} {md.bare(said)}", TEXT)
                self.verdicts[at] = self.verdicts[at]._replace(note=noted)
                return

    def _raise(self, name: str, gap: str, severity: Severity | None, title: str, text: str, lines: str) -> None:
        where = severity or self._severity()
        said = _untagged(text)
        self.issues.append(Raised(name, gap, where, md.clip(_untagged(title) or said, 80), md.clip(said, TEXT), lines))


def _concern(known: Mapping[str, str], body: list[md.Line]) -> str:
    meta = ("severity", "priority", "gap", "section", "where")
    kept = (line for line in body if not md.heading(line) and (md.field(line.text) or ("",))[0] not in meta)
    return md.bare(first_of(known, "concern", "issue", "problem", "description", "finding") or md.prose(kept))


def _between(issue: Raised, more: str) -> str:
    """A headline and the sentence below it stay two sentences; a sentence over two lines stays one."""
    headline = issue.text == issue.title and issue.text[-1:] not in tuple(".,;:!?…")
    return ". " if headline and (md.bare(more)[:1].isupper() or md.bare(more)[:1] in tuple('"“')) else " "


def _untagged(text: str) -> str:
    """Without the leading marks that are kept apart: "(HIGH) GAP-FLOW-001: x" → "x"."""
    rest = rating(id_first(rating(text).rest)[1]).rest
    return rest or text


def _rated_below(part: md.Section) -> list[Rated]:
    """`- GAP-FLOW-002: HIGH to LOW - why`."""
    found = []
    for line in part.lines:
        item = md.bullet(line)
        name, rest = id_first(md.bare(item.text if item else line.text))
        if name and not line.code and (rated := _RATING.match(rest)):
            severity = severity_named(rated[1])
            found += [Rated(name, severity, md.clip(rated[2].strip(" :,;.()—–-"), TITLE))] if severity else []
    return found
