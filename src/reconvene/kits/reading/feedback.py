"""What a person typed, as remarks: their kind, whom they are aimed at, their text.

Pure. Knows the kinds and how they are spelled; nothing of doors, of runs, or of which agents exist. How a free text
without kinds is understood is `understanding`.
"""

from __future__ import annotations

import re

from msgspec import Struct

from reconvene.core.facts.commands import RemarkIn
from reconvene.errors import UserError

KINDS = ("correction", "new context", "clarification", "strategic shift", "reaction", "missing factor", "comment")

_SEPARATORS = re.compile(r"[\s_-]+")
_REACTION_TO = re.compile(r"\s*reaction[\s_-]+to[\s_-]+(?P<target>\S(?:.*\S)?)\s*", re.IGNORECASE | re.DOTALL)


def parse_remark(text: str) -> RemarkIn:
    """`"correction: Revenue is $900M"` → a correction. Without a known kind the whole text is a comment."""
    whole = text.strip()
    if not whole:
        raise UserError("the remark is empty", hint='write it as "kind: text", or just as text')
    head, colon, rest = whole.partition(":")
    said = rest.strip()
    if not colon or not said:
        return RemarkIn(whole)
    kind = _SEPARATORS.sub(" ", head).strip().casefold()
    if kind in KINDS:
        return RemarkIn(said, kind)
    aimed = _REACTION_TO.fullmatch(head)
    if aimed:
        return RemarkIn(said, "reaction", aimed["target"])
    return RemarkIn(whole)


class Understood(Struct, frozen=True):
    """One remark out of a free text, as it was understood. `rule` says why, in words for the person."""

    text: str
    kind: str = "comment"
    target: str = ""  # the agents a reaction is aimed at, joined by ", "
    was: str = ""
    now: str = ""
    rule: str = ""

    @property
    def remark(self) -> RemarkIn:
        return RemarkIn(self.text, self.kind, self.target, self.was, self.now)
