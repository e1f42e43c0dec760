"""One answer of the engineer to an issue: position, rationale, alternative.

One job: named texts → `Answer`. It must not know documents.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from reconvene.kits.gaps.markdown import bare, clip
from reconvene.kits.gaps.outputs import Answer, Position
from reconvene.kits.gaps.records import TEXT

_DISAGREE = re.compile(r"(?:strongly |respectfully )?(?:disagree|reject|object|declin|dispute)", re.IGNORECASE)
_PARTIAL = re.compile(r"partial|agree in part|partly|mixed|compromise", re.IGNORECASE)
_AGREE = re.compile(r"(?:fully )?(?:agree|accept|concede|fixed|addressed|adopted|done|changed|yes)\b", re.IGNORECASE)
EMPTY = re.compile(r"(?:none|n/?a|no|nothing|-+|—|\[.*\])?\.?$", re.IGNORECASE)


def answer_of(issue: str, known: Mapping[str, str], body: str, lines: str) -> Answer:
    said = bare(known.get("engineer position") or known.get("position") or "")
    alternative = known.get("alternative view") or known.get("alternative") or known.get("middle ground") or ""
    rationale = known.get("rationale") or known.get("reason") or ("" if known else body)
    return Answer(
        issue,
        _position(said or bare(body)),
        clip(bare(rationale), TEXT),
        "" if EMPTY.match(bare(alternative)) else clip(bare(alternative), TEXT),
        lines,
    )


def _position(said: str) -> Position:
    words = re.sub(r"^[^\w]+", "", said)
    if _PARTIAL.match(words):
        return "PARTIAL"
    if _DISAGREE.match(words) or re.match(r"(?:do not|don['’]t) agree", words, re.IGNORECASE):
        return "DISAGREE"
    return "AGREE" if _AGREE.match(words) else "UNCLEAR"
