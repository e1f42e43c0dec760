"""Where in a review a block stands: the headings around it, which gaps they name, and what their sections are for.

It must not know what the words below them mean.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from reconvene.kits.gaps import markdown as md
from reconvene.kits.gaps.blocks import BOLD, LOWEST, Block, all_bold
from reconvene.kits.gaps.found import id_first
from reconvene.kits.gaps.gap_ids import GAP, ISSUE, canonical, gaps_in, tidy
from reconvene.kits.gaps.likeness import normal
from reconvene.kits.gaps.verdicts import opinion
from reconvene.kits.gaps.vocabulary import Severity, rating, severity_named

NEUTRAL, NEW, RATED, RULINGS, VERDICT, OVERALL, ISSUES, EARLIER, CHECKS, PRAISE, LEGEND = range(11)
_GAP_WORDS = r"\b(?:gaps?|lücken?)\b"
_NEW_WORDS = (
    r"\b(?:new|newly|further|additional|additions?|missed|missing|identified|introduced|opened|raised|found|discovered"
    r"|add(?:ed)?|propos(?:e|ed|al)|open up|neue?n?|weitere|zusätzliche)\b"
)
_ISSUE_WORDS = (
    r"\b(?:issues?|concerns?|problems?|weakness(?:es)?|objections?|defects?|blockers?|shortcomings?|findings?"
    r"|faults?|must[- ]fix(?:es)?|cons|mängel|mangel|einw[aä]nde?|probleme?|befunde?|punkte|beanstandungen"
    r"|to fix|(?:required|requested|necessary) (?:changes?|fixes|revisions)"
    r"|changes (?:required|requested|needed)|what (?:doesn['’]?t|does not|is missing|fails|has to|must|needs to"
    r"|i found)"
    r"|needs? (?:an answer|fixing)|to be (?:fixed|changed|answered))\b"
)
_PAST_WORDS = (
    r"\b(?:resolved|closed|fixed|earlier|previous(?:ly)?|prior|old|status|last|carried|before|frühere|bisherige|alte"
    r"|(?:from|of|aus|der|in) (?:round|runde|r)s? ?\d+|round[ -]?\d+ issues?|runde \d+)\b"
)
# The first that fits is what a section is for. Words are looked for anywhere: people put them in every order.
_KINDS: list[tuple[int, re.Pattern[str]]] = [
    (kind, re.compile(words, re.IGNORECASE))
    for kind, words in (
        (LEGEND, r"^\W*(?:legend|key|how to read|template|format|example|legende|scoring|scale)\b"),
        (NEW, rf"(?=.*{_GAP_WORDS})(?=.*{_NEW_WORDS})"),
        (RATED, r"\b(?:severit(?:y|ies)|ratings?)\b.*\b(?:chang|revis|correct)|(?:changed|revised) severit|\bre-?rat"),
        (RULINGS, r"^\W*(?:the )?(?:rulings?|decisions?) (?:of the person|checked|followed|obeyed|and)|^\W*rulings?\b"
        r"|\bobedience|compliance with"),
        (CHECKS, r"\b(?:checks?|checklist|verification steps|quality|prüfungen|geprüft|completeness)\b"
        r"|\bwhat i (?:checked|verified|looked at|read)"),
        (PRAISE, r"\b(?:strengths?|what works|pros|positives?|good points?|what is good|praise|stärken|questions?"
        r"|suggestions?|optional|nice to have|recommendations? for|without insisting|fragen|lob)\b|^\W*notes?$"),
        (EARLIER, rf"(?=.*(?:{_ISSUE_WORDS}))(?=.*{_PAST_WORDS})"),
        (ISSUES, rf"^(?!.*\bno\b.*\?)(?=.*(?:{_ISSUE_WORDS}))"),
        (ISSUES, r"^\W*(?:critical|high|medium|low|minor|major|(?:non-?)?blocking|severity)"
        r"(?: (?:priority|severity|impact|critical|high|medium|low))?\W*$"),
        (OVERALL, r"^\W*(?:overall|final|conclusion|gesamt\w*|fazit|bottom line|summary (?:verdict|of verdicts)"
        r"|executive summary|tl;?dr|closing)\b"),
        (VERDICT, r"\b(?:verdict|recommendation|decision|judge?ment|ruling|outcome|disposition|result|vot(?:e|um)"
        r"|urteil|entscheidung|empfehlung|ergebnis)(?:s|se|en)?\b|^\W*(?:status|assessment|bewertung)\W*$"),
    )
]  # fmt: skip
_NUMBERED = re.compile(r"^[^\w(]*(?:(?:\d{1,2}(?:\.\d{1,2})*|[A-Za-z])[.)]\s+)?")


def purpose(title: str, round: int = 0) -> int:
    """What a section of this title is for. A longer title is a sentence, and for nothing in particular."""
    plain = _NUMBERED.sub("", md.bare(title))
    if len(plain.split()) > 8:
        return NEUTRAL
    found = next((kind for kind, words in _KINDS if words.search(plain)), NEUTRAL)
    rounds = [int(one) for one in re.findall(r"\b(?:round|runde|r)[ -]?(\d{1,3})\b", plain, re.IGNORECASE)]
    return ISSUES if found == EARLIER and round in rounds else found


_VERDICT_KEYS = re.compile(
    r"^(?:my |reviewer['’]?s? |new |current |final |overall )?(?:verdicts?|status|decision|assessment"
    r"|result|recommendation|outcome|judge?ment|review|disposition|urteil|stand|entscheidung"
    r"|empfehlung|bewertung|ergebnis|reading|state|vote|votum|call|conclusion|resolution|approval"
    r"|recommended action|overall|gesamturteil|final|result now|now)(?: now| \(.*\))?$"
)
_WIDE = re.compile(r"detail|review|analysis|assessment|per gap|by gap")
_SHORT = re.compile(r"(?<![\w-])([A-Z]{1,12}-\d{1,4})(?![\w-])")
_THROUGH = re.compile(r"\s*(?:through|to|bis|–|—|\.\.+)\s*", re.IGNORECASE)
_GENERIC = frozenset("summary details overview introduction scope background context general remarks notes".split())


class About(NamedTuple):
    """What the reader knows before it reads: the gaps that there are, and those that are under review now."""

    gaps: tuple[tuple[str, str], ...] = ()  # (id, title)
    under: tuple[str, ...] = ()

    def knows(self, name: str) -> bool:
        return any(canonical(name) == canonical(gap) for gap, _ in self.gaps)

    def ids(self, text: str) -> list[str]:
        """Ids of gaps in a text; a known one may be written without its first word, as FLOW-003."""
        found = gaps_in(text)
        if not found and self.gaps:
            short = [one[1] for one in _SHORT.finditer(text)]
            found = [gap for one in short for gap, _ in self.gaps if canonical(gap).endswith("-" + canonical(one))]
        return found

    def lead(self, text: str) -> tuple[tuple[str, ...], str]:
        """The gaps that a text begins with, and the rest: "GAP-A-001, GAP-A-002 and GAP-A-004: fine"."""
        plain = re.sub(r"^[^\w]*(?:\d{1,2}[.)]\s+)?", "", md.bare(text))
        plain = re.sub(
            r"^(?:review|gap|proposal|verdict (?:on|for)|re|on|for|zu)\b[\s:]*(?=GAP|[A-Z]{1,12}-\d)",
            "",
            plain,
            flags=re.IGNORECASE,
        )
        raw = re.sub(r"^[\s*_`\[(]*", "", text)
        found: list[str] = []
        before = ""
        while True:
            match = GAP.match(plain)
            name = tidy(match[0]) if match else ""
            if not name and self.gaps and (short := _SHORT.match(plain)) and (known := self.ids(short[1])):
                match, name = short, known[0]
            if not match:
                break
            if found and _THROUGH.fullmatch(before):
                found += [gap for gap, _ in self.gaps if _inside(gap, found[-1], name)]
            found.append(name)
            plain = plain[match.end() :]
            gap_between = re.match(
                r"[\s*_`\])]*(?:,|and|&|\+|/|through|to|und|bis|–|—|\.\.+)*[\s*_`\[(]*(?:and|und)?\s*", plain
            )
            between = gap_between[0] if gap_between else ""
            following = plain[len(between) :]
            if not between.strip() or not (GAP.match(following) or (self.gaps and _SHORT.match(following))):
                break
            before = between.strip()
            plain = following
        if not found:
            name, rest = id_first(md.bare(text))
            return ((name,), rest) if name and not ISSUE.match(name) and not _SHORT.fullmatch(name) else ((), text)
        cut = raw.upper().find(found[-1])
        rest = raw[cut + len(found[-1]) :] if cut >= 0 else plain
        return tuple(dict.fromkeys(found)), re.sub(r"^[\s*_`\])]*(?:[:|—–-]+|→)?\s*", "", rest) if not rest.startswith(
            "**"
        ) else rest

    def without(self, text: str) -> str:
        return ISSUE.sub("", GAP.sub("", text))

    def titled(self, title: str) -> tuple[str, ...]:
        """The gap that a heading without an id is about: its words are all in that gap's title, and in no other's."""
        words = set(normal(re.sub(r"^[^\w]*\d{0,2}[.)]?\s*", "", title)).split())
        if not words or words <= _GENERIC or len(words) > 12:
            return ()
        fits = [gap for gap, name in self.gaps if words <= set(normal(name).split()) or _mostly(words, name)]
        return tuple(fits) if len(fits) == 1 else ()


NOTHING_KNOWN = About()


def _inside(gap: str, first: str, last: str) -> bool:
    stem, _, number = gap.rpartition("-")
    low, high = first.rpartition("-"), last.rpartition("-")
    digits = all(one.isdigit() for one in (number, low[2], high[2]))
    return digits and stem == low[0] == high[0] and int(low[2]) < int(number) < int(high[2])


def _mostly(words: set[str], title: str) -> bool:
    own = set(normal(title).split())
    return len(words & own) >= 2 and len(words & own) * 3 >= len(words) * 2


class Head(NamedTuple):
    level: int
    title: str
    start: int
    end: int
    kind: int
    gaps: tuple[str, ...]
    severity: Severity | None
    indent: int = -1  # of an item or a line that names the list below it; -1 for headings proper


class Heads:
    """The headings around a block."""

    def __init__(self, about: About, parts: Sequence[Block], round: int) -> None:
        self._about = about
        self._parts = parts
        self._round = round
        self._levels = [self._level(block) for block in parts]
        self._open: list[Head] = []

    def enter(self, at: int) -> Head | None:
        """The heading that this block is; None for others."""
        block = self._parts[at]
        level = self._levels[at]
        if not level and (head := self._names_a_list(at)):
            self._open = [one for one in self._open if one.level < head.level]
            self._open.append(head)
            return head
        if not level:
            self._left(block)
            return None
        title = all_bold(block.text) or md.bare(block.text) if block.kind == "text" else md.bare(block.text)
        gaps = self._gaps(title)
        kind = self._kind(title, gaps)
        ends_at = 10 if kind == LEGEND else level
        end = next(
            (self._parts[n].start - 1 for n in range(at + 1, len(self._parts)) if 0 < self._levels[n] <= ends_at), 10**9
        )
        head = Head(level, title, block.start, end, kind, gaps, severity_named(title) or rating(title).severity)
        self._open = [one for one in self._open if one.level < level]
        self._open.append(head)
        return head

    def _kind(self, title: str, gaps: tuple[str, ...]) -> int:
        """What stands before an id says what a section is for: "Issues of GAP-A-001"; its title stands after it."""
        if not gaps:
            return purpose(title, self._round)
        before = GAP.split(title)[0]
        kind = purpose(before, self._round) if before.strip() and before != title else NEUTRAL
        return NEUTRAL if kind == NEW and set(gaps) & set(self._about.under) else kind

    def _names_a_list(self, at: int) -> Head | None:
        """ "Problems:" or "Decision", with the list right below it, or "issues:" as an item with more below."""
        block = self._parts[at]
        below = self._parts[at + 1] if at + 1 < len(self._parts) else None
        if (
            below is None
            or block.kind not in ("text", "item")
            or below.start > block.end + 2
            or ISSUE.search(block.text)
        ):
            return None
        listed = below.kind in ("item", "row") if block.kind == "text" else below.kind == "item"
        deeper = block.kind == "text" or below.indent > block.indent
        pair = md.field(block.text)
        title = pair[0] if pair else md.bare(block.text)
        few = len(pair[1].split()) <= 3 and not gaps_in(pair[1]) if pair else len(title.split()) <= 6
        if not (listed and deeper and few) or (not pair and title[-1:] in tuple(".!?")):
            return None
        gaps = self._about.lead(block.text)[0]
        if (gaps or block.kind == "item") and not md.bare(block.text).endswith(":"):
            return None  # an item with more below it says something itself
        kind = purpose(title, self._round)
        if kind == NEUTRAL or (pair and pair[1] and opinion(pair[1])):
            return None
        last = at + 1
        while last + 1 < len(self._parts) and self._below(self._parts[last + 1], block):
            last += 1
        level = LOWEST if block.kind == "text" else LOWEST + 1 + block.indent
        rated = severity_named(title)
        return Head(level, title, block.start, self._parts[last].end, kind, gaps, rated, block.indent)

    def _below(self, block: Block, title: Block) -> bool:
        if title.kind == "item":
            return block.kind != "heading" and block.indent > title.indent
        return block.kind in ("item", "row") or (block.kind == "text" and block.indent > title.indent)

    def _left(self, block: Block) -> None:
        """A list that has ended takes its name with it."""
        self._open = [one for one in self._open if one.indent < 0 or block.start <= one.end]

    def _level(self, block: Block) -> int:
        if block.kind == "text" and (bold := all_bold(block.text)):
            return self._bold_level(bold)
        return block.level

    def _bold_level(self, bold: str) -> int:
        """0 where a bold line is no heading but says something: a verdict, a field, a sentence."""
        if opinion(bold) or (bold.rstrip().endswith((".", "!")) and len(bold.split()) > 4):
            return 0
        pair = md.field(bold)
        if pair and pair[1] and not gaps_in(bold) and not ISSUE.search(bold):
            return 0
        if pair and verdict_key(pair[0], self._round):
            return 0
        return BOLD if self._about.ids(bold) and not ISSUE.search(bold) else LOWEST

    def _gaps(self, title: str) -> tuple[str, ...]:
        lead, _ = self._about.lead(title)
        named = lead or tuple(self._about.ids(title))
        if named or (purpose(title) != NEUTRAL and len(title.split()) < 3):
            return named
        return self._about.titled(title)

    @property
    def gaps(self) -> tuple[str, ...]:
        return next((part.gaps for part in reversed(self._open) if part.gaps), ())

    @property
    def kind(self) -> int:
        return self._open[-1].kind if self._open else NEUTRAL

    @property
    def raises(self) -> bool:
        """Items here are issues: below "Issues", or below a gap or a severity there."""
        if not self._open:
            return False
        last = self._open[-1]
        if last.kind == ISSUES:
            return True
        below = last.kind == NEUTRAL and (bool(last.gaps) or last.severity is not None)
        above = self._open[-2] if len(self._open) > 1 else None
        return below and above is not None and above.kind == ISSUES and not _WIDE.search(above.title.lower())

    @property
    def title(self) -> str:
        return self._open[-1].title if self._open and not self._open[-1].gaps else ""

    @property
    def severity(self) -> Severity | None:
        return next((part.severity for part in reversed(self._open) if part.severity), None)


def verdict_key(key: str, round: int) -> bool:
    """Whether a field or column holds the reviewer's verdict of this round."""
    tidy_key = " ".join(md.bare(key).lower().split())
    rounds = [int(one) for one in re.findall(r"(?:round|runde|r)\s*(\d{1,3})", tidy_key)]
    if rounds and round not in rounds:
        return False
    plain = re.sub(r"\s*[(\[]?\b(?:round|runde|r)\s*\d{1,3}\b[)\]]?\s*", " ", tidy_key).strip()
    if re.search(r"previous|prior|last|old\b|earlier|before|engineer|claimed|self|vorher|first|initial", plain):
        return False
    return bool(_VERDICT_KEYS.match(plain)) or (bool(rounds) and not plain)
