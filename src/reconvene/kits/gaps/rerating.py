"""Severities that a review puts right, in a section of their own.

One job: a section → which gap is rated how, and why. It must not know which gaps exist, nor how they were rated.
"""

from __future__ import annotations

import re

from reconvene.kits.gaps.found import id_first
from reconvene.kits.gaps.markdown import Section, bare, bullet, clip
from reconvene.kits.gaps.outputs import Rated
from reconvene.kits.gaps.records import TITLE
from reconvene.kits.gaps.vocabulary import severity_named

RATED = re.compile(
    r"(?:severit(?:y|ies)|ratings?) (?:chang|revis|correct)|(?:changed|revised) severit|re-?rat", re.IGNORECASE
)
_RATING = re.compile(
    r"[\s*_(]*(?:(?:critical|high|medium|low)\W{0,4}(?:to\W|→|->|=>|⇒)\W{0,4})?(critical|high|medium|low)\b(.*)",
    re.IGNORECASE,
)


def rated_below(part: Section) -> list[Rated]:
    """`- GAP-FLOW-002: HIGH to LOW - why`."""
    found = []
    for line in part.lines:
        item = bullet(line)
        name, rest = id_first(bare(item.text if item else line.text))
        if name and not line.code and (rated := _RATING.match(rest)):
            severity = severity_named(rated[1])
            found += [Rated(name, severity, clip(rated[2].strip(" :,;.()—–-"), TITLE))] if severity else []
    return found
