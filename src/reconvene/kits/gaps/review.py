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
from reconvene.kits.gaps.gap_ids import ISSUE, gaps_in
from reconvene.kits.gaps.given_verdicts import FINAL, FORM, SENTENCE, Given
from reconvene.kits.gaps.json_outputs import as_json, closing_json, lists_new_gaps, review_of
from reconvene.kits.gaps.new_gaps import opened_below, opened_in
from reconvene.kits.gaps.outputs import PARSED, Review, Ruled
from reconvene.kits.gaps.raising import Issues, as_rating
from reconvene.kits.gaps.records import TITLE
from reconvene.kits.gaps.review_lines import bold_field, in_bold, of_others, ruled_in, said_after, signed
from reconvene.kits.gaps.review_places import (
    CHECKS,
    EARLIER,
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
    purpose,
    verdict_key,
)  # fmt: skip
from reconvene.kits.gaps.two_forms import held_together
from reconvene.kits.gaps.verdicts import (
    Opinion,
    answered,
    in_lines,
    in_sentence,
    opinion,
    opinion_in,
    overall,
)
from reconvene.kits.gaps.vocabulary import rating

_APPROVAL = re.compile(r"review\b.{0,80}[-—–:(]\s*(?:approval|approved?)\b", re.IGNORECASE)
_FINAL = re.compile(r"\bfinal\b|endgültig|abschließend", re.IGNORECASE)
_SEVERAL = re.compile(r"[;,]\s+(?:and )?(?=[*_`]*GAP-)", re.IGNORECASE)
_NOTE_KEYS = re.compile(r"note|comment|suggestion|remark|reason|why|concern")


@lru_cache(maxsize=PARSED)
def review_in(text: str, round: int, about: About = NOTHING_KNOWN) -> Review:
    """Read once: a round asks up to four times, for the gate, after each step and at its close."""
    if (value := as_json(text)) is not None:
        return review_of(value, text, round)
    lines = told(text, re.compile(rf"ISSUE-R{round}-\d", re.IGNORECASE))
    walk = _Walk(lines, round, about)
    walk.all()
    read = Review(
        tuple(walk.given.judged(walk.checks)),
        tuple(walk.issues.all()),
        tuple(walk.new),
        tuple(walk.checks),
        walk.given.overall,
        md.prose(lines),
        tuple(walk.rated),
        rulings=tuple(walk.rulings),
        covers=walk.given.covers is not None,
    )
    block = closing_json(text)
    if block is None:
        return read
    return held_together(read, review_of(block, text, round), text, lists_gaps=lists_new_gaps(block))


class _Walk:
    """Down the blocks once, with the gap, the issue and the kind of section that a block stands in."""

    def __init__(self, lines: list[md.Line], round: int, about: About) -> None:
        self.new: list[Found] = []
        self.checks: list[tuple[str, bool]] = []
        self.rated = as_rating([])
        self.rulings: list[Ruled] = []
        self.issues = Issues(round, about)
        self.given = Given(lines, round, about)
        self._lines = lines
        self._round = round
        self._about = about
        self._parts = blocks(lines)
        self._heads = Heads(about, self._parts, round)
        self._item: tuple[str, ...] = ()  # the gaps of the list item, or of the paragraph, above
        self._item_indent = 0
        self._issue_indent = -1
        self._fresh_head = False

    def all(self) -> None:
        skip = 0
        for at, block in enumerate(self._parts):
            if block.start <= skip:
                continue
            head = self._heads.enter(at)
            if head is None:
                self._block(block)
                self._fresh_head = False
                continue
            if head.indent < 0 or head.gaps:
                self._item = ()
            self._issue_indent = -1
            self.issues.close()
            if head.kind in (NEW, RATED, RULINGS, LEGEND):
                skip = head.end
                self._listed(head)
                continue
            self._heading(block, head)

    # Headings, and sections that hold one thing only

    def _listed(self, head: Head) -> None:
        inner = [line for line in self._lines[head.start : head.end] if line.number > head.start]
        if head.kind == NEW:
            self._open_gaps(opened_below(inner, self._about))
        elif head.kind == RATED:
            self.rated += as_rating(inner)
        elif head.kind == RULINGS:
            self.rulings += [one for block in blocks(inner) if (one := ruled_in(block, self._round))]

    def _open_gaps(self, found: list[Found]) -> None:
        have = {one.id for one in self.new if one.id}
        self.new += [one for one in found if not one.id or one.id not in have]

    def _heading(self, block: Block, head: Head) -> None:
        self._fresh_head = True
        if self.issues.heading(block, head.title, self._gap(), self._heads.severity):
            return
        if _APPROVAL.match(head.title) and not head.gaps:
            self.given.on_all("APPROVE")
        if cues.is_past(head.title, self._round):
            return
        pair = bold_field(head.title)
        if pair and not head.gaps and verdict_key(pair[0], self._round) and (found := opinion(pair[1])):
            self._judge(found, block, pair[0])  # "## Verdict: I cannot approve this yet"
            self._fresh_head = False
        if head.gaps and (found := opinion_in(self._about.without(block.text)) or signed(block.text)):
            self.given.say(head.gaps, found, block.start, FORM)

    # What holds for a block: the sections around it.

    def _gap(self) -> str:
        gaps = self._item or self._heads.gaps
        return gaps[0] if len(gaps) == 1 else ""

    # The blocks

    def _block(self, block: Block) -> None:
        if block.kind == "row":
            self._row(block)
        elif block.checked is not None:
            self._box(block)
        elif not (self._verdict_here(block) or self._by_verdict(block) or self._new_here(block)):
            self._rest(block)

    def _box(self, block: Block) -> None:
        """A ticked box is a verdict, the state of an issue, or a check made."""
        ticked = bool(block.checked)
        said: cues.IssueSaid = "resolved" if ticked else "open"
        if self.issues.item(block, self._gap(), self._heads.severity, said):
            self.issues.close()
        elif (found := opinion(block.text)) and (gaps := self._heads.gaps) and self._one_of_many(block):
            self.given.say(gaps if ticked else (), found, block.start, FORM)
        elif self._heads.kind not in (ISSUES, EARLIER) or not cues.opens_nothing(block.text):
            self.checks.append((md.clip(md.bare(block.text), TITLE), ticked))

    def _one_of_many(self, block: Block) -> bool:
        """One box per verdict: below "Decision", or a box of few words."""
        return self._heads.kind in (VERDICT, OVERALL) or len(block.text.split()) <= 4

    def _verdict_here(self, block: Block) -> bool:
        """A field "Verdict: …", or the first block below a heading that says so."""
        pair = md.field(block.text) or bold_field(block.text)
        if pair and verdict_key(pair[0], self._round):
            found = in_lines(pair[1], cues.sentences(pair[1])) or opinion_in(pair[1]) or signed(pair[1])
            if found and not (self.issues.going_on and self._issue_indent >= 0 and block.indent > self._issue_indent):
                self._judge(found, block, pair[0])
                self._beside(block)
                return True
        if asked := answered(block.text):
            self._judge(asked, block, "")
            self._beside(block)
            return True
        if self._fresh_head and self._heads.kind in (VERDICT, OVERALL):
            found = in_lines(block.text, cues.sentences(block.text)) or in_bold(block.text) or signed(block.text)
            if found and not cues.is_past(block.text, self._round) and not self._about.lead(block.text)[0]:
                self._judge(found, block, "")
                self._beside(block)
                return True
        return False

    def _beside(self, block: Block) -> None:
        """What a line says beside its verdict."""
        self.issues.item(block, self._gap())
        self.issues.close()
        self._sentences(block, said=True)

    def _judge(self, found: Opinion, block: Block, key: str) -> None:
        gaps = self._item or self._heads.gaps
        if gaps and not key.startswith(("overall", "final")):
            self.given.say(gaps, found._replace(note=found.note or said_after(block.text)), block.start, FORM)
        elif not cues.covering(block.text, self._round):
            self.given.on_all(overall(found.verdict))

    def _by_verdict(self, block: Block) -> bool:
        """ "Approved: GAP-A-001, GAP-A-002"."""
        pair = md.field(block.text) or bold_field(block.text)
        found = opinion(pair[0]) if pair else None
        gaps = self._about.lead(pair[1])[0] if pair and found else ()
        if not (pair and found and gaps) or cues.is_past(pair[0], self._round):
            return False
        under = tuple(gap for gap in self._about.ids(pair[1]) if gap in self._about.under)
        self.given.say(under or gaps, found, block.start, FORM)
        return True

    def _new_here(self, block: Block) -> bool:
        """ "New gaps: GAP-A-009 (…)" on one line."""
        pair = md.field(block.text)
        named = pair and pair[0] in ("new", "neu") and bool(gaps_in(pair[1]))
        if not pair or not (named or purpose(pair[0]) == NEW):
            return False
        value = md.Line(block.start, f"- {pair[1]}", code=False)
        self._open_gaps(opened_below([value], self._about) if pair[1] and not cues.opens_nothing(pair[1]) else [])
        return True

    def _rest(self, block: Block) -> None:
        if block.kind == "item" and self._issue_indent >= 0 and block.indent <= self._issue_indent:
            self.issues.close()
            self._issue_indent = -1
        below = self.issues.going_on and (block.kind != "text" or self.issues.takes(block))
        lead = self.issues.item(block, self._gap(), self._heads.severity, cues.issue_state(self._heads.title))
        if lead:
            self._issue_indent = block.indent if block.kind == "item" else -1
        elif below:
            self.issues.more(block)
        else:
            self._words(block)

    def _row(self, block: Block) -> None:
        if self._across(block):
            return
        texts = [md.bare(cell) for _, cell in block.cells]
        first = next((text for text in texts if self._about.lead(text)[0]), "")
        gaps = self._about.lead(first)[0] if first else self._about.titled(texts[0] if texts else "")
        found = self._row_verdict(block, first) if gaps else None
        led = next((bool(ISSUE.match(text)) for text in texts if text == first or ISSUE.match(text)), False)
        owner = gaps[0] if len(gaps) == 1 else self._gap()
        about_issue = self.issues.row(block, owner, self._heads.severity, verdict=bool(found) and not led)
        if found and not about_issue:
            others = [one for one in texts if one != first and len(one) > 3 and opinion(one) is None]
            note = max(others, key=len, default="")
            self.given.say(gaps, found[1]._replace(note=found[1].note or note), block.start, found[0])
        elif not gaps and not about_issue:
            self.issues.plain_row(block, self._gap(), self._heads.severity, self._heads.kind == ISSUES)

    def _row_verdict(self, block: Block, first: str) -> tuple[int, Opinion] | None:
        cells = [(key, cell) for key, cell in block.cells if not cues.is_past(key, self._round)]
        named = [(key, cell) for key, cell in cells if verdict_key(key, self._round)]
        rest = [(key, cell) for key, cell in cells if (key, cell) not in named and not of_others(key)]
        for key, cell in (*named, *rest):
            found = opinion(cell) or (signed(cell) if named or key.isdigit() else None)
            if found and md.bare(cell) != first:
                return FINAL if _FINAL.search(key) or _FINAL.search(self._heads.title) else FORM, found
        return None

    def _across(self, block: Block) -> bool:
        """A table with a gap per column, and a verdict or issues per row."""
        columns = [(self._about.ids(key), cell) for key, cell in block.cells]
        if sum(bool(ids) for ids, _ in columns) < 2:
            return False
        name = md.bare(block.cells[0][1]).lower()
        for ids, cell in columns[1:]:
            if len(ids) != 1:
                continue
            if verdict_key(name, self._round) and (found := opinion(cell) or signed(cell)):
                self.given.say((ids[0],), found, block.start, FORM)
            self.issues.item(block._replace(text=cell), ids[0])
            self.issues.close()
        return True

    def _words(self, block: Block) -> None:
        parts = _SEVERAL.split(block.text)
        if len(parts) > 1 and all(
            self._about.lead(part)[0] and opinion_in(self._about.lead(part)[1]) for part in parts
        ):
            for part in parts:
                self._gap_item(block._replace(text=part), *self._about.lead(part))
            return
        gaps, rest = self._about.lead(block.text)
        if gaps:
            self._gap_item(block, gaps, rest)
            return
        if self._item and (block.indent < self._item_indent or (block.kind == "item") == (self._item_indent >= 0)):
            self._item = () if block.indent <= self._item_indent else self._item
        if block.kind == "text" and self._item_indent < 0:
            self._item = ()  # the paragraph above was about a gap, and this is another one
        self._loose(block, self._gap())

    def _loose(self, block: Block, gap: str) -> None:
        """A block without an id in front."""
        pair = md.field(block.text)
        if gap:
            self.given.prose(gap, block.text, block.start)
        if pair and gap and _NOTE_KEYS.match(pair[0]):
            self.given.note(gap, pair[1])
        elif pair and gap and pair[0] in ("issue", "problem") and not cues.opens_nothing(pair[1]):
            self.issues.without_id(pair[1], gap, self._heads.severity, block.lines)
        elif block.kind == "item" and block.indent < 2 and self._raises(block, gap):
            named = gap or (self._about.ids(block.text) or [""])[0]
            self.issues.without_id(block.text, named, self._heads.severity, block.lines)
            self._issue_indent = block.indent
            return
        elif block.kind == "item" and self._item and block.indent > self._item_indent:
            self.given.note(gap, block.text)
        elif block.kind == "item" and self._heads.kind == CHECKS:
            self.checks.append((md.clip(md.bare(block.text), TITLE), True))
        elif not gap and self._heads.kind != PRAISE and (found := self._stands_alone(block)):
            self.given.on_all(overall(found.verdict))
        self._sentences(block)

    def _raises(self, block: Block, gap: str) -> bool:
        """An item is an issue where the section is for issues, or where it is about a gap and rated like one."""
        if ISSUE.search(block.text) or cues.opens_nothing(block.text):
            return False  # "Only ISSUE-R3-001, see above" cites it
        rated = gap and self._heads.kind not in (PRAISE, CHECKS, EARLIER) and rating(md.bare(block.text)).severity
        return self._heads.raises or bool(rated)

    def _grouped(self) -> Opinion | None:
        """The verdict that a section is for: "## Ready to go into the spec", with gaps listed below."""
        title = self._heads.title
        return opinion(title) if title and len(title.split()) <= 7 and not self._heads.raises else None

    def _gap_item(self, block: Block, gaps: tuple[str, ...], rest: str) -> None:
        self._item, self._item_indent = gaps, block.indent if block.kind == "item" else -1
        self.issues.close()
        found = opinion_in(rest) or signed(block.text)
        if found and not cues.is_past(rest.split(". ")[0], self._round):
            self.given.say(gaps, found, block.start, FORM)
        elif self._heads.raises and len(gaps) == 1 and not cues.opens_nothing(rest) and not ISSUE.search(rest):
            self.issues.without_id(rest, gaps[0], self._heads.severity, block.lines)
            self._issue_indent = block.indent
        else:
            for gap in gaps:
                self.given.prose(gap, rest, block.start)
            if (grouped := self._grouped()) and not self._sentence_verdicts(block, gaps):
                self.given.say(gaps, grouped, block.start, FORM)
        self._sentences(block, said=found is not None)

    def _sentence_verdicts(self, block: Block, gaps: tuple[str, ...]) -> bool:
        found = [
            one
            for sentence in cues.sentences(block.text)
            if not cues.is_past(sentence, self._round) and (one := in_sentence(md.bare(cues.unquoted(sentence))))
        ]
        for one in found:
            self.given.say(gaps, one, block.start, SENTENCE)
        return bool(found)

    def _sentences(self, block: Block, *, said: bool = False) -> None:
        """What the sentences of a block say: a verdict on this gap or on all, a new gap, whose an issue is."""
        gaps = self._item or self._heads.gaps
        if not said and gaps and self._heads.kind not in (PRAISE, CHECKS, EARLIER, ISSUES) and len(gaps) == 1:
            first, *_ = every = cues.sentences(cues.unquoted(block.text))
            opened = in_lines(first, every) if block.kind == "text" and not first.endswith("?") else None
            if opened is None:
                self._sentence_verdicts(block, gaps)
            elif not cues.is_past(first, self._round):
                self.given.say(gaps, opened, block.start, SENTENCE)
        for sentence in cues.sentences(block.text):
            if (these := cues.of_these(sentence, self._round)) and self._heads.kind != LEGEND:
                under = tuple(gap for gap in self._about.ids(these[0]) if gap in self._about.under)
                self.given.say(under, these[1], block.start, SENTENCE)
            if (found := cues.covering(sentence, self._round)) and not self._about.ids(sentence) and not gaps:
                self.given.cover(found)
            if not gaps:
                self.issues.belongs(sentence)
        self._open_gaps(opened_in(block, self._about))

    def _stands_alone(self, block: Block) -> Opinion | None:
        """`**APPROVE** - ready` on its own line, or the word alone; in a closing section any line that opens so."""
        tidy = block.text.strip()
        pair = md.field(tidy)
        opens = tidy.startswith(("**", "__")) or len(tidy.split()) <= 4
        return opinion(tidy) if (opens and not pair) or self._heads.kind in (OVERALL, VERDICT) else None
