"""The issues of a review: raised with an id or without, in items, headings and rows, and what is reported of old ones.

An issue of this round is raised once, however often it is named. It must not know verdicts.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from reconvene.kits.gaps import cues
from reconvene.kits.gaps import markdown as md
from reconvene.kits.gaps.blocks import Block
from reconvene.kits.gaps.cues import IssueReport
from reconvene.kits.gaps.found import id_first
from reconvene.kits.gaps.gap_ids import GAP, ISSUE, gaps_in, issue_named
from reconvene.kits.gaps.outputs import Raised, Rated
from reconvene.kits.gaps.records import TEXT, TITLE
from reconvene.kits.gaps.review_places import About, Head
from reconvene.kits.gaps.vocabulary import Severity, rating, severity_named

_LEAD = re.compile(
    r"^(?:[^\w]|\b(?:critical|high|medium|low|blocker|major|minor|severity|priority|issue|finding|new|open|problem|concern|punkt|schweregrad)\b"
    r"|\b\d{1,2}\b)*$",
    re.IGNORECASE,
)
_STATUS = re.compile(
    r"\s*(?:\([^()]{0,200}\)\s*)?(?:,? and ISSUE-\S+\s*)*(?:,\s*)?(?:is|are|was|were|has|have"
    r"|remains?|can|could|still|no longer|stays?|seems?|does|do|gilt|ist|sind|bleibt|belonged|asked"
    r"|fragte|says|said)\b",
    re.IGNORECASE,
)
_SEVERITY = re.compile(
    r"\b(?:severity|schweregrad|priority|rated?)\b\W{0,4}(critical|high|medium|low)\b"
    r"|[\[(]\s*(?:severity:?\s*)?(critical|high|medium|low|blocker|major|minor)\b[^\])]{0,40}[\])]",
    re.IGNORECASE,
)
_CAPITALS = re.compile(r"\b(CRITICAL|HIGH|MEDIUM|LOW)\b")
_BELONGS = re.compile(r"\b(?:belong(?:s|ed)?|relates?|refers?|raised) (?:to|on)\b", re.IGNORECASE)
_RATING = re.compile(
    r"[\s*_(]*(?:(?:critical|high|medium|low)\W{0,4}(?:to\W|→|->|=>|⇒)\W{0,4})?(critical|high|medium|low)\b(.*)",
    re.IGNORECASE,
)
_META = ("severity", "priority", "gap", "section", "where", "location", "impact", "status", "state", "schweregrad")
_TOLD = ("concern", "issue", "problem", "description", "finding", "summary", "detail", "details")


class Issues:
    """Gathers them while somebody walks down a review."""

    def __init__(self, round: int) -> None:
        self._round = round
        self._made: list[Raised] = []
        self._current = -1
        self._under_heading = False
        self._headed: set[str] = set()  # ids with a heading of their own
        self._reported: dict[str, tuple[IssueReport, str, str]] = {}
        self._owners: dict[str, str] = {}

    @property
    def going_on(self) -> bool:
        return self._current >= 0

    def close(self) -> None:
        self._current = -1

    def all(self) -> list[Raised]:
        made = []
        for one in self._made:
            again = self._reported.pop(one.id, None) if one.id else None
            state = again[0].state if again and not self._is_fresh(one.id) else one.state
            made.append(one._replace(state=state, gap=one.gap or self._owners.get(one.id, "")))
        for name, (report, gap, lines) in self._reported.items():
            if self._is_fresh(name):
                continue  # it is named in a sentence, and raised nowhere: a number that somebody made up
            gap = self._owners.get(name) or gap or (report.gaps[0] if report.gaps else "")
            text = md.clip(report.text, TEXT)
            made.append(Raised(name, gap, report.severity, md.clip(text, 80), text, lines, report.state))
        return made

    def _is_fresh(self, name: str) -> bool:
        return name.startswith(f"ISSUE-R{self._round}-")

    # Where they are raised

    def lead(self, text: str) -> re.Match[str] | None:
        """The id that an item or paragraph opens with, where it is raised there and not only reported on."""
        plain = md.bare(text)
        found = ISSUE.search(plain)
        if (
            not found
            or found.start() > 90
            or not _LEAD.match(plain[: found.start()])
            or _STATUS.match(plain, found.end())
        ):
            return None
        return found

    def item(
        self, block: Block, match: re.Match[str], gap: str, severity: object, above: cues.IssueSaid | None = None
    ) -> None:
        """`above`: what the section says of all that stand in it, such as "Still open"."""
        plain = match.string
        more = md.bare(block.more)
        head = plain[: len(plain) - len(more)].rstrip() if more and plain.endswith(more) else plain
        if len(head) < match.end():
            head, more = plain, ""
        before, rest = head[: match.start()], head[match.end() :].strip(" :-—–*)·|")
        rated = severity_said(before) or severity_said(rest[:80]) or severity_named(before.strip(" []():-—–*"))
        rest = _without_rating(rest)
        named = gaps_in(rest[:60])
        owner = named[0] if named and (not gap or _marked(rest, named[0])) else gap
        name = issue_named(match, self._round)
        state: cues.IssueSaid = "open" if self._is_fresh(name) else cues.issue_state(rest) or above or "open"
        rest = rest.split(" | ")[-1] if rest.count(" | ") and named else rest
        self.add(name, owner, rated or severity, rest, rest, block.lines, state)
        if more:
            self.more(Block("text", more, block.start, block.end, indent=1))

    def heading(self, block: Block, head: Head, gap: str, severity: object) -> bool:
        match = ISSUE.search(head.title)
        if match is None or not _LEAD.match(head.title[: match.start()]):
            return False
        rest = _without_rating(head.title[match.end() :].strip(" :-—–[]"))
        rated = severity_said(head.title) or severity_named(head.title[match.end() :].strip(" :-—–[]()"))
        name = issue_named(match, self._round)
        own = (gaps_in(head.title) or [gap])[0]
        if name in self._headed:  # a second heading is a second issue under the same number
            made = Raised(
                name, own, rated or (severity_named(str(severity)) if severity else None), rest, rest, block.lines
            )
            self._made.append(made)
            self._current = len(self._made) - 1
        else:
            self.add(name, own, rated or severity, rest, rest, block.lines)
        self._headed.add(name)
        self._under_heading = True
        return True

    def row(self, block: Block, about: About, gap: str, severity: object) -> None:
        texts = [md.bare(cell) for _, cell in block.cells]
        match = next(named for text in texts if (named := ISSUE.search(text)))
        columns = {key: md.bare(cell) for key, cell in block.cells}
        rated = next((found for text in texts if len(text) < 24 and (found := severity_named(text))), None)
        owner = next((ids[0] for text in texts if (ids := about.ids(text)) and not ISSUE.match(text)), gap)
        told = [cell for key, cell in columns.items() if re.search(r"stat|stand|resolved|now|outcome|verdict", key)]
        states = [
            state for cell in (told or [text for text in texts if len(text) < 60]) if (state := cues.issue_state(cell))
        ]
        words = [
            t
            for t in texts
            if not ISSUE.match(t) and not severity_named(t) and about.ids(t)[:1] != [t] and t not in told
        ]
        said = max(words, key=len, default="")
        others = list(ISSUE.finditer(match.string))[1:]
        for one in (match, *others):
            self.add(
                issue_named(one, self._round),
                owner,
                rated or severity,
                said,
                said,
                block.lines,
                (states or ["open"])[0],
            )
        self.close()

    def plain_row(self, block: Block, gap: str, severity: object, raises: bool) -> None:
        """A row without an id, in a table whose columns are an issue and how grave it is."""
        columns = {key: md.bare(cell) for key, cell in block.cells}
        told = next((cell for key, cell in columns.items() if key in (*_TOLD, "title")), "")
        rated = next((severity_named(cell) for key, cell in columns.items() if key in ("severity", "priority")), None)
        if told and (rated or raises) and not cues.opens_nothing(told) and not severity_named(told):
            owner = next((ids[0] for cell in columns.values() if (ids := gaps_in(cell))), gap)
            self.add("", owner, rated or severity, told, told, block.lines)
            self.close()

    def add(
        self, name: str, gap: str, severity: object, title: str, text: str, lines: str, state: cues.IssueSaid = "open"
    ) -> None:
        rated: Severity | None = severity_named(severity) if isinstance(severity, str) else None
        said = _untagged(text)
        made = Raised(name, gap, rated, md.clip(_untagged(title) or said, 80), md.clip(said, TEXT), lines, state)
        again = next((at for at, one in enumerate(self._made) if name and one.id == name), -1)
        self._under_heading = False
        if again >= 0 and _same(self._made[again], made):
            kept = self._made[again]
            longer = kept if len(kept.text) >= len(made.text) else made
            worse = "open" if not self._is_fresh(name) and "open" in (kept.state, made.state) else kept.state
            self._made[again] = longer._replace(
                gap=kept.gap or made.gap, severity=kept.severity or made.severity, state=worse, lines=kept.lines
            )
            self._current = again
            return
        self._made.append(made)
        self._current = len(self._made) - 1

    # What stands below them

    def takes(self, block: Block) -> bool:
        """Whether a paragraph still belongs to the issue above: indented below it, or in its own section."""
        return self._under_heading or block.indent > 0

    def more(self, block: Block) -> None:
        issue = self._made[self._current]
        pair = md.field(block.text)
        if pair and pair[0] in ("severity", "priority", "schweregrad"):
            issue = issue._replace(severity=severity_named(pair[1]) or issue.severity)
        elif pair and pair[0] == "gap":
            issue = issue._replace(gap=(gaps_in(pair[1]) or [issue.gap])[0])
        elif pair and pair[0] in _META:
            pass
        else:
            words = md.bare(pair[1]) if pair and pair[0] in _TOLD else md.bare(block.text)
            headline = self._under_heading and md.clip(issue.text, 80) == issue.title
            said = (
                words
                if headline or (pair and pair[0] in _TOLD and issue.text == issue.title)
                else f"{issue.text}{_between(issue, words)}{words}"
            )
            issue = issue._replace(text=md.clip(said.strip(), TEXT))
            if not issue.title:
                issue = issue._replace(title=md.clip(words, 80))
            if not issue.gap and (named := gaps_in(words)):
                issue = issue._replace(gap=named[0])
        start = int(issue.lines.partition("–")[0])
        self._made[self._current] = issue._replace(lines=md.span(start, block.end))

    # What is said of them elsewhere

    def report(self, one: IssueReport, gap: str, lines: str) -> None:
        before = self._reported.get(one.id)
        if before is None or one.state == "open":
            self._reported[one.id] = (one, gap, lines)

    def belongs(self, sentence: str) -> list[tuple[str, str]]:
        """ "ISSUE-R3-004 belonged to GAP-FLOW-016, ISSUE-R4-001 and ISSUE-R4-003 to GAP-FLOW-017"."""
        if not _BELONGS.search(sentence):
            return []
        pairs, waiting = [], []
        marks = sorted([*ISSUE.finditer(sentence), *GAP.finditer(sentence)], key=lambda one: one.start())
        for mark in marks:
            if ISSUE.match(mark[0]):
                waiting.append(issue_named(mark, self._round))
            else:
                pairs += [(name, mark[0].upper()) for name in waiting]
                waiting = []
        return pairs

    def belonging(self, pairs: Iterable[tuple[str, str]]) -> None:
        self._owners.update(pairs)


def own_id(text: str, round: int) -> str:
    """The id of this round that an item names at its end, in a bracket: "… has no owner. (ISSUE-R2-001)"."""
    found = re.search(r"[(\[]\s*(ISSUE-[\w-]+)\s*[)\]]\W*$", text, re.IGNORECASE)
    match = ISSUE.match(found[1]) if found else None
    name = issue_named(match, round) if match else ""
    return name if name.startswith(f"ISSUE-R{round}-") else ""


def severity_said(text: str) -> Severity | None:
    """A severity that is a mark, not a word in passing."""
    if found := _SEVERITY.search(text):
        return severity_named(found[1] or found[2])
    if inside := rating(text).severity:
        return inside
    found = _CAPITALS.search(text[:60])
    return severity_named(found[1]) if found else None


def _marked(rest: str, gap: str) -> bool:
    """The gap stands in front or in a bracket: it is whose issue this is, not one that it mentions."""
    return bool(re.match(rf"[\W]*(?:[A-Z]+[\W]+)?{re.escape(gap)}", rest, re.IGNORECASE))


def _without_rating(rest: str) -> str:
    """Without a leading mark: "— severity LOW — text", "[MEDIUM] text", "(HIGH, GAP-A-001): text"."""
    tidy = re.sub(
        r"^[\s\[(*—–:|-]*(?:(?:severity|schweregrad|priority)\W{0,3})?(?:critical|high|medium|low)\b(?=[\s\])—–:,|-])(?!,)[\])*]*[\s—–:|-]*",
        "",
        rest,
        flags=re.IGNORECASE,
    )
    return tidy or rest


def _same(one: Raised, other: Raised) -> bool:
    """Named again, or another issue under the same number?"""
    if not one.text or not other.text or (one.gap and other.gap and one.gap == other.gap):
        return True
    return not (one.gap and other.gap) or one.state != other.state


def _between(issue: Raised, more: str) -> str:
    """A headline and the sentence below it stay two sentences; a sentence over two lines stays one."""
    if not issue.text:
        return ""
    headline = issue.text == issue.title and issue.text[-1:] not in tuple(".,;:!?…")
    return ". " if headline and (more[:1].isupper() or more[:1] in tuple('"“')) else " "


def _untagged(text: str) -> str:
    """Without the leading marks that are kept apart: "(HIGH) GAP-FLOW-001: x" → "x"."""
    rest = rating(id_first(rating(text).rest)[1]).rest
    return rest or text


def as_rating(lines: Iterable[md.Line]) -> list[Rated]:
    """`- GAP-FLOW-002: HIGH to LOW - why`."""
    found = []
    for line in lines:
        item = md.bullet(line)
        name, rest = id_first(md.bare(item.text if item else line.text))
        if name and not line.code and (rated := _RATING.match(rest)):
            severity = severity_named(rated[1])
            found += [Rated(name, severity, md.clip(rated[2].strip(" :,;.()—–-"), TITLE))] if severity else []
    return found
