"""Words that others wrote, made harmless: no escape sequence, control character or direction override is left in them.

Imports nothing heavy, so that a list of runs is shown at once.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

# Whole sequences first (CSI, OSC and its kin, two-byte escapes), so that their parameters do not stay behind as litter.
# None goes beyond its line: one that nobody ends must not take what stands below with it.
_SEQUENCES = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]"
    r"|(?:\x1b[\]PX^_]|[\x9d\x90\x98\x9e\x9f])[^\x07\x1b\x9c\n]*(?:\x07|\x1b\\|\x9c)?"
    r"|\x1b[ -/]*[0-~]?"
)
UNSEEN = "\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069"
_CONTROLS = re.compile(
    f"[\x00-\x08\x0b-\x1f{UNSEEN}\ud800-\udfff]"
)  # the last: halves of pairs, which nobody can write


def clean(text: object) -> str:
    """Text with line breaks and tabs, and nothing else that a terminal would act upon."""
    plain = str(text).replace("\r\n", "\n")
    return _CONTROLS.sub("", _SEQUENCES.sub("", plain))


def one_line(text: object, width: int = 0) -> str:
    """The same on one line, cut at `width` (0 = never)."""
    joined = " ".join(clean(text).split())
    return joined if not width or len(joined) <= width else joined[: max(width - 1, 1)] + "…"


def nearest(word: str, known: Iterable[str]) -> str:
    """`did you mean …?`, or what there is."""
    from reconvene.language.closest import closest

    names = [clean(name) for name in known]
    if near := closest(word, names, 1, cutoff=0.5):
        return f"did you mean {near[0]}?"
    return f"there is: {', '.join(names)}" if names else ""
