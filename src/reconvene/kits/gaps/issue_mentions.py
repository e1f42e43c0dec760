"""Every place of a text that names an issue, and what is said of it there: its state, how grave it is, whose it is.

One rule for all forms: what stands between an id and the next one is about the first; what stands before them is about
all of them. It must not know documents.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from reconvene.kits.gaps import cues
from reconvene.kits.gaps import markdown as md
from reconvene.kits.gaps.cues import IssueSaid
from reconvene.kits.gaps.gap_ids import ISSUE, gaps_in, issue_named
from reconvene.kits.gaps.vocabulary import Severity, severity_marked

_NEAR = 110  # how far from an id a word still rates it
_JOINS = re.compile(r"[\s*_`\])]*(?:,|;|/|&|\+|and|und|as well as|through|to|bis|–|—|\.\.+)?[\s,*_`\[(]*(?:and |und )?")
_THROUGH = re.compile(r"\s*(?:through|to|bis|–|—|\.\.+)\s*", re.IGNORECASE)
_LEAD = re.compile(
    r"(?:[^\w]|\b(?:critical|high|medium|low|blocker|major|minor|severity|priority|issues?|findings?|new|open|problem"
    r"|concern|punkt|mangel|einwand|schweregrad|schwere|kritisch|hoch|mittel|niedrig|id|ref|no|nr|resolved|fixed|closed"
    r"|still|p[0-4]|yes|todo|not)\b|\b\d{1,2}\b)*",
    re.IGNORECASE,
)
_SPEAKS_OF = re.compile(
    r"\s*(?:\([^()]{0,200}\)\s*)?(?:,\s*)?(?:is|are|was|were|has|have|had|remains?|can|could|still|no longer|stays?"
    r"|seems?"
    r"|does|do|gilt|ist|sind|bleibt|belonged|asked|fragte|says|said|must|should|will|would|fixed|done|closed|by|in"
    r"|on)\b",
    re.IGNORECASE,
)
_TAKEN_BACK = re.compile(
    r"\b(?:struck|withdrawn?|withdrew|withdraw|strike|dropped|retracted?|no longer needed|zurückgezogen|gestrichen)\b",
    re.IGNORECASE,
)
_POINTED_AT = re.compile(r"\b(?:see|cf|vgl|siehe|only|as in|like|per|unlike|until|once|before)\W*$", re.IGNORECASE)
_THAT = re.compile(
    r"\W*(?:(?:that|this|the|both) (?:issues?|one|point|concern|objection)s?\b|both\b|it\b|they\b|das\b|beide\b)",
    re.IGNORECASE,
)


class Mention(NamedTuple):
    id: str
    lead: bool  # the text opens with it: it is what the text is about
    state: IssueSaid | None
    severity: Severity | None
    gaps: tuple[str, ...]  # named beside it, nearest first
    text: str  # what is said of it


def mentions(text: str, round: int) -> list[Mention]:
    """In reading order. `lead` and `text` are about the whole text, the rest about the sentence an id stands in."""
    plain = md.bare(text)
    parts = cues.sentences(plain)
    made: list[Mention] = []
    for at, sentence in enumerate(parts):
        after = parts[at + 1] if at + 1 < len(parts) else ""
        before = parts[at - 1] if at else ""
        made += _in_sentence(sentence, round, at == 0, before, after, plain)
    return made


def _in_sentence(sentence: str, round: int, first: bool, before: str, after: str, whole: str) -> list[Mention]:
    found = [one for one in ISSUE.finditer(sentence) if not _is_cited(sentence, one.start())]
    if not found:
        return []
    opening = sentence[: found[0].start()]
    leads = first and len(opening) < 90 and bool(_LEAD.fullmatch(opening))
    reports = not cues.is_conditional(sentence)
    shared = cues.issue_state(opening) if reports else None
    made: list[Mention] = []
    for group, tail in _groups(sentence, found):
        said = tail or after if _THAT.match(after) and not ISSUE.search(after) else tail
        state = _state(tail, after) if reports else None
        lead = leads and group[0] is found[0] and not (_SPEAKS_OF.match(tail) and not _rated(tail[:40]))
        pre = sentence[max(0, group[0].start() - 60) : group[0].start()] if group[0] is not found[0] else opening[-60:]
        own = severity_marked(tail[:_NEAR]) or severity_marked(pre if lead or not made else "")
        if closes := len(group) == 1 and bool(re.fullmatch(r"\s*[)\]]\W*", tail) and re.search(r"[(\[]\s*$", opening)):
            text = whole[: whole.find(group[0][0])].rstrip(" ([")  # "The key is public. (ISSUE-R2-001)"
        else:
            text = whole[whole.find(group[-1][0]) + len(group[-1][0]) :] if lead else _around(sentence, before, said)
        for name in _named(group, sentence, round):
            fresh = name.startswith(f"ISSUE-R{round}-")
            taken_back = not lead and _TAKEN_BACK.search(tail or after) is not None
            told = state or shared if not fresh else "resolved" if taken_back else None
            near = (*gaps_in(tail), *gaps_in(opening))
            made.append(Mention(name, lead or (closes and fresh), told, own, tuple(near), text))
    return [one for one in made if one.lead or not _POINTED_AT.search(opening) or one.state]


def _rated(text: str) -> bool:
    return severity_marked(text) is not None


def _is_cited(sentence: str, at: int) -> bool:
    return any(quote.start() < at < quote.end() for quote in cues.QUOTED.finditer(sentence) if quote[0][0] != "`")


def _groups(sentence: str, found: list[re.Match[str]]) -> list[tuple[list[re.Match[str]], str]]:
    """Ids that are joined by nothing but "and" share what follows them."""
    groups: list[list[re.Match[str]]] = []
    for one in found:
        between = sentence[groups[-1][-1].end() : one.start()] if groups else ""
        if groups and _JOINS.fullmatch(between):
            groups[-1].append(one)
        else:
            groups.append([one])
    ends = [group[0].start() for group in groups[1:]] + [len(sentence)]
    return [(group, sentence[group[-1].end() : end]) for group, end in zip(groups, ends)]


def _named(group: list[re.Match[str]], sentence: str, round: int) -> list[str]:
    made: list[str] = []
    for at, one in enumerate(group):
        name = issue_named(one, round)
        if at and _THROUGH.fullmatch(sentence[group[at - 1].end() : one.start()]):
            stem, _, last = name.rpartition("-")
            low = made[-1].rpartition("-")
            if low[0] == stem and int(last) - int(low[2]) < 50:
                made += [f"{stem}-{n:03d}" for n in range(int(low[2]) + 1, int(last))]
        made.append(name)
    return list(dict.fromkeys(made))


def _state(tail: str, after: str) -> IssueSaid | None:
    """What follows the id says it; else a bracket beside it; else the next sentence, where it speaks of it."""
    outside = re.sub(r"\([^()]{0,200}\)", " ", tail)
    state = cues.issue_state(outside)
    if state is None:
        inside = " ".join(re.findall(r"\(([^()]{0,200})\)", tail))
        state = cues.issue_state(inside) if len(inside.split()) <= 3 else None
    if state is None and not ISSUE.search(after):
        later = cues.issue_state(after)
        state = later if _THAT.match(after) or later == "open" else None
    return state


def _around(sentence: str, before: str, said: str) -> str:
    """The words of an issue that a sentence names in passing: "The key is public. I record this as ISSUE-R2-001."."""
    bracket = re.match(r"\W*\(([^()]{8,200})\)", said)
    if bracket:
        return bracket[1]
    colon = re.match(r"[^:.]{0,60}:\s*(.{8,})", said)
    if colon:
        return colon[1]
    points_back = re.search(r"\b(?:this|that|it|dies|das)\b", sentence, re.IGNORECASE)
    return f"{before} {sentence}".strip() if before and points_back and not ISSUE.search(before) else sentence
