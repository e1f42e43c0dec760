"""Gaps that a reviewer opens: the items of a section for them, and sentences that open one by its id.

It must not know verdicts or issues.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from reconvene.kits.gaps import cues
from reconvene.kits.gaps import markdown as md
from reconvene.kits.gaps.blocks import Block, blocks
from reconvene.kits.gaps.found import Found
from reconvene.kits.gaps.gap_ids import GAP, gaps_in
from reconvene.kits.gaps.lists import listed_below
from reconvene.kits.gaps.records import TITLE
from reconvene.kits.gaps.review_places import About
from reconvene.kits.gaps.vocabulary import severity_marked

_OPENS = re.compile(
    r"\b(?:new|another|further|additional|separate) gap\b|\bgap of its own\b|\bneue lücke\b"
    r"|\b(?:open|add|raise|propose|record|create|introduce|call(?:ing)?)\b[^.]{0,40}$",
    re.IGNORECASE,
)


def opened_below(lines: Sequence[md.Line], about: About) -> list[Found]:
    """What a section of new gaps raises: items, rows, and paragraphs that begin with an id, or name one."""
    kept: list[md.Line] = []
    more: list[Found] = []
    parts = blocks(lines)
    nothing = any(_says_none(block.text) for block in parts if block.checked is not False)
    for block in parts:
        text = " ".join(cell for _, cell in block.cells) if block.kind == "row" else block.text
        if block.kind != "heading" and (_says_none(text) or cues.of_another(text)):
            continue
        if nothing and not gaps_in(text):
            continue
        leads = bool(about.lead(text)[0]) or block.kind in ("item", "row", "heading") or block.indent > 1
        if not leads and not (md.field(block.text) and kept):
            more += _named(block, about)
            if gaps_in(text) or kept or md.field(block.text):
                continue
        kept += [line for line in lines if block.start <= line.number <= block.end]
    tables = {line.number for line in kept}
    kept += [line for line in lines if md.cells(line) is not None and line.number not in tables]
    found = listed_below(sorted(kept)) if any(line.text.strip() for line in kept) else []
    found = [one for one in found if not about.gaps or not about.knows(one.id)]
    ids = {one.id for one in found}
    return [_rated(one) for one in found] + [one for one in more if one.id not in ids]


def opened_in(block: Block, about: About) -> list[Found]:
    """ "This opens a new gap, GAP-A-009: how is …?", anywhere in a review."""
    made: list[Found] = []
    before = ""
    for sentence in cues.sentences(md.bare(cues.unquoted(block.text))):
        for match in GAP.finditer(sentence):
            name = match[0].upper()
            if about.knows(name) or cues.of_another(sentence) or cues.denied(sentence[: match.start()]):
                continue
            if _OPENS.search(sentence[: match.start()]):
                made.append(_found(name, sentence, match, before, block))
        before = sentence
    return made


def _named(block: Block, about: About) -> list[Found]:
    """Every id that is not known yet, in a paragraph of a section for new gaps."""
    made: list[Found] = []
    before = ""
    for sentence in cues.sentences(md.bare(cues.unquoted(block.text))):
        for match in GAP.finditer(sentence):
            if not about.knows(match[0]) and not cues.denied(sentence[: match.start()]):
                made.append(_found(match[0].upper(), sentence, match, before, block))
        before = sentence
    return made


def _found(name: str, sentence: str, match: re.Match[str], before: str, block: Block) -> Found:
    """Its title is what follows the id; where that is not much, the sentence before."""
    after = re.sub(r"^[\s:,;()—–-]+|[\s:,;()—–.-]+$", "", sentence[match.end() :])
    told = after if len(after.split()) > 5 or not before else before.rpartition(": ")[2] or before
    severity = severity_marked(sentence[match.end() :]) or severity_marked(block.text[-80:])
    return Found(name, md.clip(told, TITLE), severity, lines=block.lines)


def _rated(found: Found) -> Found:
    """A title without a trailing rating: "… expire? (Low)", "… anywhere. High."."""
    tail = re.search(
        r"[\s.,;]*(?:[(\[]|(?<=[.?!])\s)(critical|high|medium|low|kritisch|hoch|mittel|niedrig)"
        r"(?: (?:severity|priority))?[)\].]*\s*$",
        found.title,
        re.IGNORECASE,
    )
    if not tail:
        return found
    return found._replace(title=found.title[: tail.start()], severity=found.severity or severity_marked(f"({tail[1]})"))


def _says_none(text: str) -> bool:
    """ "None.", "I see no new gaps here", "… is out of scope. So: none."."""
    if cues.opens_nothing(text):
        return True
    last = cues.sentences(md.bare(text))[-1:]
    return any(re.search(r"(?:^|:\s*|\bso,? )(?:none|nothing|keine)\b\W*$", one, re.IGNORECASE) for one in last)
