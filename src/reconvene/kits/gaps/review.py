"""The reviewer's output: verdicts per gap, issues, new gaps, severities put right, checks, and the overall verdict.

What stands in a place of its own (an item, a row, a heading, a field about that gap) goes before what a sentence says,
and that before its mood, which is never certain. A gap named in passing is not judged. Fences and quotes are citations.
Where the text ends with a JSON block, what the two say differently is kept, and neither is taken for certain.
"""

from __future__ import annotations

import re
from functools import lru_cache

from reconvene.kits.gaps import cues
from reconvene.kits.gaps import markdown as md
from reconvene.kits.gaps.blocks import Block, blocks, told
from reconvene.kits.gaps.found import Found
from reconvene.kits.gaps.gap_ids import ISSUE
from reconvene.kits.gaps.json_outputs import as_json, closing_json, review_of
from reconvene.kits.gaps.lists import listed_below
from reconvene.kits.gaps.outputs import OF_ALL, PARSED, Judged, Review, Ruled
from reconvene.kits.gaps.raising import Issues, as_rating, own_id, severity_said
from reconvene.kits.gaps.records import TEXT, TITLE
from reconvene.kits.gaps.review_lines import bold_field, in_bold, of_others, ruled_in, said_after, signed
from reconvene.kits.gaps.review_places import (
    CHECKS,
    ISSUES,
    LEGEND,
    NEW,
    NOTHING_KNOWN,
    OVERALL,
    PRAISE,
    RATED,
    RULINGS,
    VERDICT,
    About,
    Head,
    Heads,
    verdict_key,
)  # fmt: skip
from reconvene.kits.gaps.two_forms import held_together
from reconvene.kits.gaps.verdicts import APPROVALS, Opinion, decided, opinion, opinion_in, overall
from reconvene.kits.gaps.vocabulary import Overall, rating

_APPROVAL = re.compile(r"review\b.{0,80}[-—–:(]\s*(?:approval|approved?)\b", re.IGNORECASE)
_SEVERAL = re.compile(r"[;,]\s+(?:and )?(?=[*_`]*GAP-)", re.IGNORECASE)
_NOTE_KEYS = re.compile(r"note|comment|suggestion|remark|reason|why|concern")
FORM, SENTENCE, MOOD = 0, 1, 2  # how a verdict was said: the lower counts before the higher


@lru_cache(maxsize=PARSED)
def review_in(text: str, round: int, about: About = NOTHING_KNOWN) -> Review:
    """Read once: a round asks up to four times, for the gate, after each step and at its close."""
    if (value := as_json(text)) is not None:
        return review_of(value, text, round)
    lines = told(text)
    walk = _Walk(lines, round, about)
    walk.all()
    read = Review(
        tuple(walk.judged()),
        tuple(walk.issues.all()),
        tuple(walk.new),
        tuple(walk.checks),
        decided(walk.overall),
        md.prose(lines),
        tuple(walk.rated),
        rulings=tuple(walk.rulings),
        covers=walk.covers is not None,
    )
    block = closing_json(text)
    return held_together(read, review_of(block, text, round), text) if block is not None else read


class _Walk:
    """Down the blocks once, with the gap, the issue and the kind of section that a block stands in."""

    def __init__(self, lines: list[md.Line], round: int, about: About) -> None:
        self.new: list[Found] = []
        self.checks: list[tuple[str, bool]] = []
        self.overall: list[Overall] = []
        self.rated = as_rating([])
        self.rulings: list[Ruled] = []
        self.covers: Opinion | None = None
        self.issues = Issues(round)
        self._said: dict[str, list[tuple[int, Opinion, int]]] = {}  # gap → (how, what, line)
        self._prose: dict[str, list[str]] = {}
        self._first: dict[str, int] = {}
        self._lines = lines
        self._round = round
        self._about = about
        self._heads = Heads(about)
        self._item: tuple[str, ...] = ()  # the gaps of the list item above
        self._item_indent = 0
        self._issue_indent = -1
        self._fresh_head = False

    def all(self) -> None:
        parts = blocks(self._lines)
        skip = 0
        for block in parts:
            if block.start <= skip:
                continue
            head = self._heads.enter(block, parts)
            if head is None:
                self._block(block)
                self._fresh_head = self._fresh_head and block.kind == "heading"
                continue
            self._item, self._issue_indent = (), -1
            if head.kind in (NEW, RATED, RULINGS, LEGEND):
                skip = head.end
                self._listed(head)
                continue
            self._heading(block, head)
        plainly = not self._said and decided(self.overall) != "NONE"  # one verdict, and it is on all of them
        for gap in () if plainly else self._about.under:
            if gap not in self._said and (found := cues.mood(" ".join(self._prose.get(gap, ())), self._round)):
                self._say((gap,), found, self._first.get(gap, 0), MOOD)

    # Headings, and sections that hold one thing only

    def _listed(self, head: Head) -> None:
        inner = [line for line in self._lines if head.start < line.number <= head.end]
        if head.kind == NEW:
            self.new += self._opened(inner)
        elif head.kind == RATED:
            self.rated += as_rating(inner)
        elif head.kind == RULINGS:
            self.rulings += [one for block in blocks(inner) if (one := ruled_in(block, self._round))]

    def _opened(self, lines: list[md.Line]) -> list[Found]:
        """What a section of new gaps raises: items, rows, and paragraphs that begin with an id or a bold word."""
        kept: list[md.Line] = []
        for block in blocks(lines):
            nothing = cues.opens_nothing(block.text) or cues.of_another(block.text)
            loose = block.kind == "text" and not self._about.lead(block.text)[0] and not md.field(block.text)
            if loose and not nothing and block.indent < 2:
                nothing = any(cues.new_gap(one) for one in cues.sentences(block.text)) or bool(kept)
            if not (nothing and block.kind != "heading"):
                kept += [line for line in lines if block.start <= line.number <= block.end]
        dividers = [line for line in lines if md.cells(line) is not None]
        rows = {line.number for line in kept}
        kept += [line for line in dividers if line.number not in rows]
        found = listed_below(sorted(kept)) if any(line.text.strip() for line in kept) else []
        known = {gap for gap, _ in self._about.gaps}
        found = [one for one in found if one.id not in known or not known]
        more = [one for block in blocks(lines) for one in self._in_prose(block) if one.id not in {f.id for f in found}]
        return [self._about.asked(one) for one in found] + more

    def _in_prose(self, block: Block) -> list[Found]:
        made = []
        for sentence in cues.sentences(block.text):
            if (opened := cues.new_gap(sentence)) and not self._about.knows(opened[0]):
                severity = cues.rated(sentence) or cues.rated(block.text)
                made.append(Found(opened[0], md.clip(opened[1], TITLE), severity, lines=block.lines))
        return made

    def _heading(self, block: Block, head: Head) -> None:
        self._fresh_head = True
        for gap in head.gaps:
            self._first.setdefault(gap, block.start)
        if ISSUE.search(head.title) and self.issues.heading(block, head, self._gap(), self._severity()):
            return
        if _APPROVAL.match(head.title) and not head.gaps:
            self.overall.append("APPROVE")
        if not head.gaps or cues.is_past(head.title, self._round):
            return
        said = block.text
        found = opinion_in(self._about.without(said)) or signed(said)
        if found:
            self._say(head.gaps, found, block.start, FORM)

    # What holds for a block: the sections around it.

    def _gap(self) -> str:
        gaps = self._item or self._heads.gaps
        return gaps[0] if len(gaps) == 1 else ""

    def _severity(self) -> object:
        return self._heads.severity

    def _say(self, gaps: tuple[str, ...], found: Opinion, line: int, how: int) -> None:
        for gap in gaps:
            self._said.setdefault(gap, []).append((how, found, line))

    def judged(self) -> list[Judged]:
        made = []
        for gap, said in self._said.items():
            how = min(one[0] for one in said)
            both = {found.verdict in APPROVALS for level, found, _ in said if level == how}
            for level, found, line in said:
                if level == how:
                    quote = md.clip(self._lines[line - 1].text, 200) if line else ""
                    doubt = found.doubt or ("two verdicts are given" if len(both) > 1 else "")
                    made.append(Judged(gap, found.verdict, md.clip(found.note, TEXT), line, doubt, quote))
        self._cover(made)
        if self.covers is not None:
            have = {one.gap for one in made}
            rest = [gap for gap in self._about.under if gap not in have]
            made += [Judged(gap, self.covers.verdict, "", 0, self.covers.doubt, OF_ALL) for gap in rest]
        return made

    def _cover(self, made: list[Judged]) -> None:
        """An overall verdict is one on every gap that has none of its own: plainly so where none has."""
        said = decided(self.overall)
        if self.covers is not None or said == "NONE" or (made and said == "REVISE"):
            return
        failed = any(not done for _, done in self.checks)
        doubt = "the verdict is on the whole, and names no gap" if made or failed or said == "REVISE" else ""
        self.covers = Opinion("approved" if said == "APPROVE" else "needs revision", doubt)

    # The blocks

    def _block(self, block: Block) -> None:
        if block.kind == "row":
            self._row(block)
            return
        if block.checked is not None:
            if (found := opinion(block.text)) and (gaps := self._heads.gaps) and len(block.text.split()) <= 4:
                self._say(gaps if block.checked else (), found, block.start, FORM)  # one box per verdict
                return
            self.checks.append((md.clip(md.bare(block.text), TITLE), block.checked))
            return
        if self._verdict_here(block):
            return
        lead = self.issues.lead(block.text)
        if lead is not None:
            self._issue_indent = block.indent if block.kind == "item" else -1
            self.issues.item(block, lead, self._gap(), self._severity(), cues.issue_state(self._heads.title))
            return
        if block.kind == "item" and self._issue_indent >= 0 and block.indent <= self._issue_indent:
            self.issues.close()
            self._issue_indent = -1
        if self.issues.going_on and (block.kind != "text" or self.issues.takes(block)):
            self.issues.more(block)
            for one in cues.all_reports(block.text, self._round):
                self.issues.report(one, self._gap(), block.lines)
            return
        self._words(block)

    def _verdict_here(self, block: Block) -> bool:
        """A field "Verdict: …", or the first block below a heading that says so."""
        pair = md.field(block.text) or bold_field(block.text)
        if pair and verdict_key(pair[0], self._round):
            found = opinion(pair[1]) or opinion_in(pair[1]) or signed(pair[1])
            if found:
                self._judge(found, block, pair[0])
                self.issues.close()
                self._sentences(block)
                return True
        if self._fresh_head and self._heads.kind in (VERDICT, OVERALL):
            found = opinion(block.text) or in_bold(block.text) or signed(block.text)
            if found and not cues.is_past(block.text, self._round) and not self._about.lead(block.text)[0]:
                self._judge(found, block, "")
                self._sentences(block, said=True)
                return True
        return False

    def _judge(self, found: Opinion, block: Block, key: str) -> None:
        gaps = self._item or self._heads.gaps
        if gaps and not key.startswith(("overall", "final")):
            self._say(gaps, found._replace(note=found.note or said_after(block.text)), block.start, FORM)
        elif not cues.covering(block.text, self._round):
            self.overall.append(overall(found.verdict))

    def _row(self, block: Block) -> None:
        texts = [md.bare(cell) for _, cell in block.cells]
        first = next((text for text in texts if ISSUE.search(text) or self._about.ids(text)), "")
        if first and ISSUE.search(first) and not self._about.lead(first)[0]:
            self.issues.row(block, self._about, self._gap(), self._severity())
            return
        gaps, _ = self._about.lead(first) if first else ((), "")
        gaps = gaps or self._about.titled(texts[0] if texts else "")
        if not gaps:
            self.issues.plain_row(block, self._gap(), self._severity(), self._heads.kind == ISSUES)
            return
        cells = [(key, cell) for key, cell in block.cells if not cues.is_past(key, self._round)]
        named = [(key, cell) for key, cell in cells if verdict_key(key, self._round)]
        rest = [(key, cell) for key, cell in cells if (key, cell) not in named and not of_others(key)]
        for key, cell in (*named, *rest):
            found = opinion(cell) or (signed(cell) if named or key.isdigit() else None)
            if found and md.bare(cell) != first:
                others = [md.bare(one) for _, one in block.cells if one != cell and len(md.bare(one)) > 3]
                note = max((one for one in others if one != first), key=len, default="")
                self._say(gaps, found._replace(note=found.note or note), block.start, FORM)
                return

    def _words(self, block: Block) -> None:
        parts = _SEVERAL.split(block.text)
        if len(parts) > 1 and all(
            self._about.lead(part)[0] and opinion_in(self._about.lead(part)[1]) for part in parts
        ):
            for part in parts:
                self._gap_item(block._replace(text=part), *self._about.lead(part))
            return
        gaps, rest = self._about.lead(block.text)
        if gaps and (block.kind == "item" or block.text.lstrip("*_`[ ").upper().startswith("GAP")):
            self._gap_item(block, gaps, rest)
            return
        if block.kind == "item" and self._item and block.indent <= self._item_indent:
            self._item = ()
        gap = self._gap()
        pair = md.field(block.text)
        if gap:
            self._prose.setdefault(gap, []).append(block.text)
        if pair and gap and _NOTE_KEYS.match(pair[0]):
            self._note(gap, pair[1])
        elif pair and gap and pair[0] in ("issue", "problem") and not cues.opens_nothing(pair[1]):
            self.issues.add("", gap, severity_said(pair[1]) or self._severity(), "", md.bare(pair[1]), block.lines)
        elif block.kind == "item" and self._item and block.indent > self._item_indent:
            self._note(gap, block.text)
        elif block.kind == "item" and self._heads.kind == CHECKS:
            self.checks.append((md.clip(md.bare(block.text), TITLE), True))
        elif block.kind == "item" and block.indent < 2 and self._raises(block, gap):
            gap = gap or (self._about.ids(block.text) or [""])[0]
            severity = severity_said(block.text) or self._severity()
            self.issues.add(own_id(block.text, self._round), gap, severity, "", md.bare(block.text), block.lines)
            self._issue_indent = block.indent
            return
        elif not gap and self._heads.kind != PRAISE and (found := self._stands_alone(block)):
            self.overall.append(overall(found.verdict))
        self._sentences(block)

    def _raises(self, block: Block, gap: str) -> bool:
        """An item is an issue where the section is for issues, or where it is about a gap and rated like one."""
        cited = ISSUE.search(block.text) and not own_id(block.text, self._round)
        if cited or cues.opens_nothing(block.text):
            return False  # "Only ISSUE-R3-001, see above" cites it
        rated = gap and self._heads.kind not in (PRAISE, CHECKS) and rating(md.bare(block.text)).severity
        return self._heads.raises or bool(rated)

    def _grouped(self) -> Opinion | None:
        """The verdict that a section is for: "## Approved", with gaps listed below."""
        title = self._heads.title
        return opinion(title) if title and len(title.split()) <= 4 and not self._heads.raises else None

    def _gap_item(self, block: Block, gaps: tuple[str, ...], rest: str) -> None:
        self._item, self._item_indent = gaps, block.indent
        if block.kind == "text":
            self._item = ()
        self.issues.close()
        found = opinion_in(rest) or signed(block.text) or self._grouped()
        if found and not cues.is_past(rest.split(". ")[0], self._round):
            self._say(gaps, found, block.start, FORM)
        elif self._heads.raises and len(gaps) == 1 and not cues.opens_nothing(rest):
            name = own_id(rest, self._round)
            self.issues.add(name, gaps[0], severity_said(rest) or self._severity(), "", rest, block.lines)
        else:
            for gap in gaps:
                self._prose.setdefault(gap, []).append(rest)
        self._sentences(block)

    def _sentences(self, block: Block, *, said: bool = False) -> None:
        """What the sentences of a block say: the state of issues, a verdict on this gap or on all, a new gap."""
        gaps = self._heads.gaps
        for one in cues.all_reports(block.text, self._round):
            self.issues.report(one, self._gap(), block.lines)
        for at, sentence in enumerate(cues.sentences(block.text)):
            if not said and at == 0 and gaps and block.kind == "text" and not cues.is_past(sentence, self._round):
                found = opinion(cues.unquoted(sentence))
                if found:
                    self._say(gaps, found, block.start, SENTENCE)
            if (these := cues.of_these(sentence, self._round)) and self._heads.kind != LEGEND:
                under = tuple(gap for gap in self._about.ids(these[0]) if gap in self._about.under)
                self._say(under, these[1], block.start, SENTENCE)
            if (found := cues.covering(sentence, self._round)) and not self._about.ids(sentence) and not gaps:
                self.covers = found if self.covers is None or found.verdict not in APPROVALS else self.covers
                self.overall.append(overall(found.verdict))
            if (pairs := self.issues.belongs(sentence)) and not gaps:
                self.issues.belonging(pairs)
        self.new += [one for one in self._in_prose(block) if one.id not in {f.id for f in self.new}]

    def _stands_alone(self, block: Block) -> Opinion | None:
        """`**APPROVE** - ready` on its own line, or the word alone; in a closing section any line that opens so."""
        tidy = block.text.strip()
        pair = md.field(tidy)
        opens = tidy.startswith(("**", "__")) or len(tidy.split()) <= 4
        return opinion(tidy) if (opens and not pair) or self._heads.kind in (OVERALL, VERDICT) else None

    def _note(self, gap: str, said: str) -> None:
        told = self._said.get(gap)
        if told:
            how, found, line = told[-1]
            told[-1] = (how, found._replace(note=md.clip(f"{found.note} {md.bare(said)}", TEXT)), line)
