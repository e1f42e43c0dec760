"""What a person typed as "kind: text": the kind, whom it is aimed at, the text. Free text is for `understanding`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from msgspec import Struct

from reconvene.core.facts.commands import RemarkIn
from reconvene.errors import UserError

if TYPE_CHECKING:
    from reconvene.kits.reading.tongues import Tongue

KINDS = ("correction", "new context", "clarification", "strategic shift", "reaction", "missing factor", "comment")

_SEPARATORS = re.compile(r"[\s_-]+")
_REACTION_TO = r"(?s:\s*<<reaction_to>>[\s_-]*(?P<target>\S(?:.*\S)?)\s*)"
_LONGEST_NAME = 40  # of a kind
_LONGEST_HEAD = 400  # "reaction to" and whom


def parse_remark(text: str) -> RemarkIn:
    """`"correction: Revenue is $900M"` → a correction. Without a known kind the whole text is a comment."""
    whole = text.strip()
    if not whole:
        raise UserError("the remark is empty", hint='write it as "kind: text", or just as text')
    head, colon, rest = whole.partition(":")
    said = rest.strip()
    if not colon or not said:
        return RemarkIn(whole)
    if kind := kind_named(head):
        return RemarkIn(said, kind)
    aimed = _everything().pattern(_REACTION_TO).fullmatch(head) if len(head) <= _LONGEST_HEAD else None
    if aimed:
        return RemarkIn(said, "reaction", aimed["target"])
    return RemarkIn(whole)


def kind_named(text: str) -> str:
    """The kind that a text names, in any language that is known; else ""."""
    if len(text) > _LONGEST_NAME:
        return ""
    name = _SEPARATORS.sub(" ", text).strip().casefold()
    return name if name in KINDS else _everything().kinds.get(name, "")


def _everything() -> Tongue:
    """Loaded only where it is asked for: most remarks begin with no kind, or with its English name."""
    from reconvene.kits.reading.tongues import everything

    return everything()


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
