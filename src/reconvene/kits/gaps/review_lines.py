"""What one line of a review says by its form: a sign, a field, a word in bold, a ruling. Knows no sections."""

from __future__ import annotations

import re

from reconvene.kits.gaps import markdown as md
from reconvene.kits.gaps.blocks import Block
from reconvene.kits.gaps.gap_ids import ISSUE, issue_named
from reconvene.kits.gaps.outputs import Ruled
from reconvene.kits.gaps.records import TITLE
from reconvene.kits.gaps.verdicts import Opinion, opinion, opinion_in, sign

_RULING = re.compile(r"[\s*_`\[(]*(D-\d{1,4}|ISSUE-R?\d[\d-]*)\b[\s*_`\])]*[:|—–-]*\s*(.*)", re.IGNORECASE)
_FOLLOWED = re.compile(r"(?:yes|followed|obeyed|follows|obeys|ok|✅|kept|done|taken up|befolgt)", re.IGNORECASE)


def signed(text: str) -> Opinion | None:
    found = sign(text)
    return Opinion(found) if found else None


def in_bold(text: str) -> Opinion | None:
    found = re.search(r"\*\*([^*]{3,60})\*\*", text)
    return opinion(found[1]) if found else None


def bold_field(text: str) -> tuple[str, str] | None:
    """`**Verdict (round 3): APPROVED.** …`: the key with a bracket, or the value inside the emphasis."""
    plain = md.bare(text)
    found = re.match(
        r"[^\w]*([A-Za-zÄÖÜäöü][\wäöüÄÖÜß /-]{1,30}(?:\([^()]{1,30}\))?)\s*(?::|=|—|–|→|->|⇒)\s*(.+)", plain
    )
    return (" ".join(found[1].lower().split()), found[2]) if found else None


def said_after(text: str) -> str:
    """What follows a verdict in its own block, where it is more than its words."""
    pair = md.field(text)
    found = opinion_in(pair[1]) if pair else None
    return found.note if found else ""


def of_others(key: str) -> bool:
    """A column that is not the reviewer's verdict."""
    return bool(
        re.search(r"engineer|claim|proposed|author|self|title|issue|confidence|evidence|comment|note|why|reason", key)
    )


def ruled_in(block: Block, round: int) -> Ruled | None:
    text = " | ".join(cell for _, cell in block.cells) if block.kind == "row" else block.text
    found = _RULING.match(md.bare(text).lstrip("- "))
    if not found:
        return None
    name = found[1].upper()
    issue = ISSUE.match(name)
    said = re.sub(r"^[^\w✅❌]+", "", re.sub(r"^\([^()]*\)\s*[:—–-]*\s*", "", found[2].strip()))
    if not re.match(r"(?:not|no|yes|ignored|partial|violat|contradict)", said, re.IGNORECASE) and not _FOLLOWED.match(
        said
    ):
        inner = re.search(r"\b(not followed|followed|follows|obeyed|ignored|not obeyed)\b", said, re.IGNORECASE)
        said = said[inner.start() :] if inner else said
    return Ruled(
        issue_named(issue, round) if issue else name,
        bool(_FOLLOWED.match(said)),
        md.clip(
            re.sub(r"^(?:not followed|followed|no|yes|not obeyed|ignored)[\s:.,—–-]*", "", said, flags=re.IGNORECASE),
            TITLE,
        ),
        block.start,
    )
