"""Citations in an answer: found in its brackets, and looked up. A model may cite what is not there; that is said."""

from __future__ import annotations

import re

from msgspec import Struct

from reconvene.companion.open_cites import open_cite
from reconvene.companion.tool_scope import Scope
from reconvene.language.late_patterns import late

_BRACKETS = late(r"\[([^\[\]\n]{1,200})\](?!\()")
_FENCE = late(r"^\s*(```|~~~).*?^\s*\1", re.MULTILINE | re.DOTALL)
_LOOKS = late(
    r"(events?|commit|talk) [0-9a-f]{1,40}"  # event 41
    r"|.+ R\d+(\.\d+)?(:\d+(-\d+)?)?"  # planner R3:4-9
    r"|.+\.\w{1,8}(:\d+(-\d+)?|,? (pp?\.|page|pages|lines?|block|blocks|row|rows) .+"  # plan.md:3-5
    r"|,? ('.+'|\S+)![A-Z]+\d+.*)?",  # costs.xlsx 'Costs 2026'!C40
    re.IGNORECASE,
)
_MOST = 40


class Cited(Struct, frozen=True):
    """In the order in which they stand, each once. `unknown`: of them, what opens nothing."""

    cites: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()


def cited(scope: Scope, text: str) -> Cited:
    named = list(dict.fromkeys(_named(text)))[:_MOST]
    return Cited(tuple(named), tuple(one for one in named if open_cite(scope, one).failed))


def _named(text: str) -> list[str]:
    """What stands in brackets and looks like a citation; several may be apart by `;`. Code is not looked at."""
    inside = (part.strip() for found in _BRACKETS.findall(_FENCE.sub("", text)) for part in found.split(";"))
    return [one for one in inside if _LOOKS.fullmatch(one)]
