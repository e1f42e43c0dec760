"""The issues of a review: each told once, however often and in whatever form it is named.

All places that name an issue are put together: the one that sets it out most plainly (a heading, then an item or a
row that opens with it, then a sentence) gives its words, and the others what is missing there. It must not know
verdicts.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from reconvene.kits.gaps import markdown as md
from reconvene.kits.gaps.blocks import Block
from reconvene.kits.gaps.cues import IssueSaid, issue_state, opens_nothing
from reconvene.kits.gaps.found import id_first
from reconvene.kits.gaps.gap_ids import GAP, ISSUE, gaps_in, issue_named
from reconvene.kits.gaps.issue_mentions import Mention, mentions
from reconvene.kits.gaps.outputs import Raised, Rated
from reconvene.kits.gaps.records import TEXT, TITLE
from reconvene.kits.gaps.review_places import About
from reconvene.kits.gaps.vocabulary import Severity, rating, severity_marked, severity_named

_COUNTED = re.compile(  # "Finding 2 (High): …", a number of the reviewer's own
    r"[^\w]*(?:finding|issue|concern|problem|defect|mangel|einwand|befund)\s*#?\d{1,2}\b[\s:.—–-]*", re.IGNORECASE
)
_BELONGS = re.compile(r"\b(?:belong(?:s|ed)?|relates?|refers?|raised) (?:to|on)\b", re.IGNORECASE)
_RATING = re.compile(
    r"[\s*_(]*(?:(?:critical|high|medium|low)\W{0,4}(?:to\W|→|->|=>|⇒)\W{0,4})?(critical|high|medium|low)\b(.*)",
    re.IGNORECASE,
)
_SEVERITY_KEYS = ("severity", "priority", "schweregrad", "schwere")
_STATE_KEYS = re.compile(r"status|state|stand|reviewer|outcome|result|now|verdict|my (?:view|answer)|response")
_OTHERS_KEYS = re.compile(r"engineer|author|before|claim|proposal")
_ABOUT_IT = re.compile(r"gap|severity|priority|where|location|impact|suggest|fix|why|status|state|schwere|section")
_META = ("section", "where", "location", "impact", *_SEVERITY_KEYS)
_TOLD = re.compile(
    r"concern|issue|problem|description|finding|summary|details?|text|title|what|topic|remark|comment|mangel|punkt"
)
CITED, ITEM, HEADING = 0, 1, 2  # how plainly an issue is set out


class _Told(NamedTuple):
    id: str
    gap: str
    severity: Severity | None
    title: str
    text: str
    lines: str
    state: IssueSaid | None
    rank: int


class Issues:
    """Gathers them while somebody walks down a review."""

    def __init__(self, round: int, about: About) -> None:
        self._round = round
        self._about = about
        self._made: list[_Told] = []
        self._at: dict[str, int] = {}  # id → the last place in `_made`
        self._current = -1
        self._under_heading = False
        self._owners: dict[str, str] = {}

    @property
    def going_on(self) -> bool:
        return self._current >= 0

    def close(self) -> None:
        self._current = -1

    def all(self) -> list[Raised]:
        made = []
        for one in self._made:
            fresh = self._is_fresh(one.id)
            if one.id and one.rank == CITED and (one.state == "resolved" if fresh else one.state is None):
                continue  # taken back before it was raised; or an old one that is only cited
            gap = one.gap or self._owners.get(one.id, "")
            state: IssueSaid = one.state or "open"
            made.append(Raised(one.id, gap, one.severity, one.title, one.text, one.lines, state))
        return made

    def _is_fresh(self, name: str) -> bool:
        return name.startswith(f"ISSUE-R{self._round}-")

    # Where they are named

    def heading(self, block: Block, title: str, gap: str, severity: Severity | None) -> bool:
        found = mentions(title, self._round)
        if found and found[0].lead:
            self._mention(found[0], block.lines, gap, severity, HEADING)
        elif not found and (counted := _COUNTED.match(title)):
            self.without_id(title[counted.end() :], gap, severity_marked(title) or severity, block.lines)
        else:
            return False
        self._under_heading = True
        return True

    def item(self, block: Block, gap: str, severity: Severity | None = None, above: IssueSaid | None = None) -> bool:
        """Takes in all that a block names; whether the block is about the first of them.

        `above`: what the section says of all that stand in it, such as "Still open"; a ticked box says it of its line.
        """
        found = mentions(block.text, self._round)
        lead = bool(found) and found[0].lead
        more = md.bare(block.more)  # the first line is its headline
        was = self._current
        for one in found:
            state = None if self._is_fresh(one.id) else one.state or (above if one.lead else None)
            rank = ITEM if one.lead else CITED
            told = one._replace(state=state or one.state, text=one.text.removesuffix(more).rstrip() or one.text)
            self._mention(told, block.lines, gap, severity if lead else None, rank)
        self._current = self._at[found[0].id] if lead else was
        if lead and more and found[0].text.endswith(more) and found[0].text != more:
            self.more(Block("text", more, block.start, block.end, indent=1))
        return lead

    def _mention(self, one: Mention, lines: str, gap: str, severity: Severity | None, rank: int) -> None:
        rest = _without_rating(one.text.strip(" :-—–*)·|/,"))
        named = [name for name in one.gaps if name]
        marked = next((name for name in gaps_in(rest[:60]) if _marked(rest, name)), "")
        owner = marked or gap or (named[0] if named else "")
        rest = rest.split(" | ")[-1] if rest.count(" | ") and named else rest
        self.add(one.id, owner, one.severity or severity, rest, lines, one.state, rank)

    def row(self, block: Block, gap: str, severity: Severity | None, verdict: bool) -> bool:
        """A row whose cell is an id, or that names some in its cells; whether it is about an issue."""
        cells = [(key, md.bare(cell)) for key, cell in block.cells]
        own = next((cell for _, cell in cells if ISSUE.match(cell) and _only_ids(cell)), "")
        if not own or verdict:
            for _, cell in cells:
                self.item(block._replace(text=cell), gap)
            self.close()
            return False
        rated = next((found for _, cell in cells if len(cell) < 24 and (found := severity_named(cell))), None)
        owner = next((ids[0] for _, cell in cells if (ids := self._about.ids(cell)) and cell != own), gap)
        told = [cell for key, cell in cells if _STATE_KEYS.search(key) and not _OTHERS_KEYS.search(key)]
        short = [cell for key, cell in cells if len(cell) < 60 and cell != own and not _OTHERS_KEYS.search(key)]
        states = [state for cell in (told or short) if (state := issue_state(cell))]
        words = [
            cell
            for _, cell in cells
            if cell != own and not severity_named(cell) and self._about.ids(cell)[:1] != [cell] and cell not in told
        ]
        said = max(words, key=len, default="")
        for one in ISSUE.finditer(own):
            name = issue_named(one, self._round)
            self.add(name, owner, rated or severity, said, block.lines, states[0] if states else None, ITEM)
        self.close()
        return True

    def plain_row(self, block: Block, gap: str, severity: Severity | None, raises: bool) -> None:
        """A row without an id, in a table whose columns are an issue and how grave it is."""
        columns = {key: md.bare(cell) for key, cell in block.cells}
        told = next((cell for key, cell in columns.items() if _TOLD.match(key)), "")
        rated = next((severity_named(cell) for key, cell in columns.items() if key in _SEVERITY_KEYS), None)
        if told and (rated or raises) and not opens_nothing(told) and not severity_named(told):
            owner = next((ids[0] for cell in columns.values() if (ids := gaps_in(cell))), gap)
            self.add("", owner, rated or severity, told, block.lines)
            self.close()

    def without_id(self, text: str, gap: str, severity: Severity | None, lines: str) -> None:
        """An item that is an issue by where it stands."""
        self.add("", gap, severity_marked(md.bare(text)) or severity, _without_rating(md.bare(text)), lines)

    def add(
        self, name: str, gap: str, severity: Severity | None, text: str, lines: str, state: IssueSaid | None = None,
        rank: int = ITEM,
    ) -> None:  # fmt: skip
        said = _untagged(text)
        made = _Told(name, gap, severity, md.clip(said, 80), md.clip(said, TEXT), lines, state, rank)
        self._under_heading = False
        again = self._at.get(name, -1) if name else -1
        if again >= 0 and _same(self._made[again], made):
            self._made[again] = _merged(self._made[again], made)
            self._current = again
            return
        self._made.append(made)
        self._current = len(self._made) - 1
        if name:
            self._at[name] = self._current

    # What stands below them

    def takes(self, block: Block) -> bool:
        """Whether a paragraph still belongs to the issue above: indented below it, a field, or in its own section."""
        pair = _field(block.text)
        return self._under_heading or block.indent > 0 or bool(pair and _ABOUT_IT.match(pair[0]))

    def more(self, block: Block) -> None:
        issue = self._made[self._current]
        pair = _field(block.text)
        if pair and pair[0] in _SEVERITY_KEYS:
            issue = issue._replace(severity=severity_named(pair[1]) or issue.severity)
        elif pair and pair[0] in ("gap", "lücke", "raised on"):
            issue = issue._replace(gap=(gaps_in(pair[1]) or [issue.gap])[0])
        elif pair and (pair[0] in _META or _OTHERS_KEYS.match(pair[0])):
            pass
        elif pair and _STATE_KEYS.match(pair[0]):
            issue = issue._replace(state=self._now(issue, issue_state(pair[1])))
        else:
            issue = self._worded(issue, block, pair)
        start = int(issue.lines.partition("–")[0])
        self._made[self._current] = issue._replace(lines=md.span(start, block.end))

    def _now(self, issue: _Told, state: IssueSaid | None) -> IssueSaid | None:
        return issue.state if self._is_fresh(issue.id) else state or issue.state

    def _worded(self, issue: _Told, block: Block, pair: tuple[str, str] | None) -> _Told:
        told = pair is not None and _TOLD.fullmatch(pair[0]) is not None
        words = md.bare(pair[1]) if pair and told else md.bare(block.text)
        headline = self._under_heading and md.clip(issue.text, 80) == issue.title
        instead = headline or (told and issue.text == issue.title)
        said = words if instead else f"{issue.text}{_between(issue, words)}{words}"
        severity = issue.severity or severity_marked(md.bare(block.text)[:60])
        issue = issue._replace(text=md.clip(said.strip(), TEXT), severity=severity)
        if not issue.title:
            issue = issue._replace(title=md.clip(words, 80))
        return issue._replace(gap=gaps_in(words)[0]) if not issue.gap and gaps_in(words) else issue

    # What is said of them elsewhere

    def belongs(self, sentence: str) -> None:
        """ "ISSUE-R3-004 belonged to GAP-FLOW-016, ISSUE-R4-001 and ISSUE-R4-003 to GAP-FLOW-017"."""
        if not _BELONGS.search(sentence):
            return
        waiting: list[str] = []
        marks = sorted([*ISSUE.finditer(sentence), *GAP.finditer(sentence)], key=lambda one: one.start())
        for mark in marks:
            if ISSUE.match(mark[0]):
                waiting.append(issue_named(mark, self._round))
            else:
                self._owners.update(dict.fromkeys(waiting, mark[0].upper()))
                waiting = []


def _field(text: str) -> tuple[str, str] | None:
    """`*Gap:* GAP-A-001`, in one star, too."""
    return md.field(re.sub(r"(?<!\*)\*(?!\*)", "", text))


def _only_ids(cell: str) -> bool:
    return not re.search(r"[^\W_]", re.sub(r"\b(?:and|und)\b", "", ISSUE.sub("", cell)))


def _same(one: _Told, other: _Told) -> bool:
    """Named again, or another issue under the same number, set out as plainly and on another gap?"""
    if one.rank == other.rank == HEADING:
        return False
    if CITED in (one.rank, other.rank) or not (one.text and other.text):
        return True
    return not (one.gap and other.gap) or one.gap == other.gap or one.state != other.state


def _merged(one: _Told, other: _Told) -> _Told:
    """The plainer one, with what only the other says. What anybody calls open is open."""
    first, second = (other, one) if (other.rank, len(other.text)) > (one.rank, len(one.text)) else (one, other)
    states = (one.state, other.state)
    state: IssueSaid | None = "open" if "open" in states else "resolved" if "resolved" in states else None
    return first._replace(
        gap=first.gap or second.gap, severity=first.severity or second.severity, state=state,
        text=first.text or second.text, title=first.title or second.title,
        lines=first.lines if first.rank > second.rank else one.lines,
    )  # fmt: skip


def _marked(rest: str, gap: str) -> bool:
    """The gap stands in front or in a bracket: it is whose issue this is, not one that it mentions."""
    return bool(re.match(rf"[\W]*(?:[A-Z]+[\W]+)?{re.escape(gap)}", rest, re.IGNORECASE))


def _without_rating(rest: str) -> str:
    """Without a leading mark: "— severity LOW — text", "[MEDIUM] text", "(HIGH, GAP-A-001): text"."""
    tidy = re.sub(
        r"^[\s\[(*—–:|/·,-]*(?:(?:severity|schwere(?:grad)?|priority)\W{0,3})?"
        r"(?:critical|high|medium|low|kritisch|hoch|mittel|niedrig)\b(?=[\s\])—–:.,|/·-])(?!,)[\])*.]*[\s—–:|/·-]*",
        "",
        rest,
        flags=re.IGNORECASE,
    )
    return tidy or rest


def _between(issue: _Told, more: str) -> str:
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
