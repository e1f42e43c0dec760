"""Where in a review a block stands: the headings around it, which gaps they name, and what their sections are for.

It must not know what the words below them mean.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from reconvene.kits.gaps import markdown as md
from reconvene.kits.gaps.blocks import BOLD, LOWEST, Block, all_bold
from reconvene.kits.gaps.found import Found, id_first
from reconvene.kits.gaps.gap_ids import GAP, ISSUE, canonical, gaps_in, tidy
from reconvene.kits.gaps.likeness import normal
from reconvene.kits.gaps.verdicts import opinion
from reconvene.kits.gaps.vocabulary import Severity, rating, severity_named

NEUTRAL, NEW, RATED, RULINGS, VERDICT, OVERALL, ISSUES, CHECKS, PRAISE, LEGEND = range(10)
_ICON = r"^(?:[^\w(]*(?:\d{1,2}[.)]\s*)?)"
_KINDS: list[tuple[int, re.Pattern[str]]] = [
    (kind, re.compile(_ICON + words, re.IGNORECASE))
    for kind, words in (
        (LEGEND, r"(?:legend|key|how to read|template|format|example|legende)\b"),
        (NEW, r"(?:(?:proposed |potential |any |list of )?(?:new|further|additional|missed"
        r"|newly \w+) (?:\w+ )?gaps?\b|gaps? (?:newly )?(?:identified|introduced|opened|raised|found"
        r"|discovered)\b|neue lücken?\b)"),
        (RATED, r"(?:(?:severit(?:y|ies)|ratings?) (?:chang|revis|correct)|(?:changed|revised) severit|re-?rat)"),
        (RULINGS, r"(?:(?:the )?(?:rulings?|decisions?) (?:of the person|checked|followed|obeyed|and)|rulings?\b"
        r"|obedience|compliance with)"),
        (CHECKS, r"(?:[\w -]{0,30}\bchecks?\b|[\w -]{0,20}checklist|what i (?:checked|verified)|verification steps"
        r"|prüfungen|geprüft)"),
        (PRAISE, r"(?:strengths?|what works|pros\b|positives?|good points|stärken|questions?|suggestions?"
        r"|minor suggestions?|optional|nice to have|praise|notes?$|recommendations? for|fragen)"),
        (ISSUES, r"(?:(?:no )?(?:(?!resolved|closed|fixed|earlier|previous|status|round)[\w-]+ ){0,4}(?:issues?"
        r"|concerns?|problems?|weakness(?:es)?|objections?|defects?|blockers?|shortcomings?|mängel"
        r"|einwände|probleme)\b|findings?\b|(?:required|requested|necessary) (?:changes?|fixes|revisions)"
        r"|changes (?:required|requested|needed)|must[- ]fix|what (?:doesn['’]?t|does not|is missing"
        r"|fails)\b|to fix|cons$|punkte\b|befunde)"),
        (ISSUES, r"(?:critical|high|medium|low|minor|major|blocking|severity)(?: (?:priority|severity|impact"
        r"|critical|high|medium|low))?$"),
        (OVERALL, r"(?:overall|final|conclusion|gesamt\w*|fazit|bottom line|summary (?:verdict|of verdicts)"
        r"|executive summary|tl;?dr|closing)\b"),
        (VERDICT, r"(?:[\w ]{0,20}\b(?:verdict|recommendation|decision|judge?ment|ruling|outcome|disposition|result"
        r"|urteil|entscheidung|empfehlung|ergebnis)s?\b|status$|assessment$|bewertung$)"),
    )
]  # fmt: skip
_VERDICT_KEYS = re.compile(
    r"^(?:my |reviewer['’]?s? |new |current |final |overall )?(?:verdicts?|status|decision|assessment"
    r"|result|recommendation|outcome|judge?ment|review|disposition|urteil|stand|entscheidung"
    r"|empfehlung|bewertung|ergebnis|reading|state|vote|call|conclusion|resolution|approval"
    r"|recommended action|overall|gesamturteil)(?: now| \(.*\))?$"
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

    def asked(self, found: Found) -> Found:
        """A title without a trailing rating: "… expire? (Low)"."""
        tail = re.search(
            r"\s*[(\[](critical|high|medium|low)(?: (?:severity|priority))?[)\]]\s*$", found.title, re.IGNORECASE
        )
        if not tail:
            return found
        return found._replace(title=found.title[: tail.start()], severity=found.severity or severity_named(tail[1]))


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


class Heads:
    """The headings around a block."""

    def __init__(self, about: About) -> None:
        self._about = about
        self._open: list[Head] = []

    def enter(self, block: Block, parts: Sequence[Block]) -> Head | None:
        """The heading that this block is; None for others."""
        level, title = block.level, md.bare(block.text)
        if block.kind == "text" and (bold := all_bold(block.text)):
            level, title = self._bold_level(bold), bold
        if not level:
            return None
        end = next((one.start - 1 for one in parts if one.start > block.start and 0 < self._level(one) <= level), 10**9)
        gaps = self._gaps(title)
        kind = next((kind for kind, words in _KINDS if words.match(title)), NEUTRAL)
        if gaps and kind in (VERDICT, OVERALL, NEW, CHECKS) and kind != NEW:
            kind = NEUTRAL
        if kind == NEW and gaps and self._about.under and set(gaps) & set(self._about.under):
            kind = NEUTRAL
        if kind == LEGEND:
            end = next((one.start - 1 for one in parts if one.start > block.start and self._level(one)), 10**9)
        head = Head(level, title, block.start, end, kind, gaps, severity_named(title) or rating(title).severity)
        self._open = [one for one in self._open if one.level < level]
        self._open.append(head)
        return head

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
        if re.match(r"[^\w]*(?:verdict|recommendation|status|urteil)\b[^:]{0,20}:", bold, re.IGNORECASE):
            return 0
        return BOLD if self._about.ids(bold) and not ISSUE.search(bold) else LOWEST

    def _gaps(self, title: str) -> tuple[str, ...]:
        lead, _ = self._about.lead(title)
        named = lead or tuple(self._about.ids(title))
        return named or self._about.titled(title)

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
    if re.search(r"previous|prior|last|old|earlier|before|engineer|claimed|self|vorher", plain):
        return False
    return bool(_VERDICT_KEYS.match(plain)) or (bool(rounds) and not plain)
