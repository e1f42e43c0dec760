"""Texts that others wrote, as plain text: nothing in them acts on a terminal, and nothing is a link or markup.

Pure. Imports nothing heavy, so that a list of runs is shown at once.
"""

from __future__ import annotations

import re

# Whole sequences first (CSI, OSC and its kin, two-byte escapes), so that their parameters do not stay behind as litter.
# None goes beyond its line: one that nobody ends must not take what stands below with it.
_SEQUENCES = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]"
    r"|(?:\x1b[\]PX^_]|[\x9d\x90\x98\x9e\x9f])[^\x07\x1b\x9c\n]*(?:\x07|\x1b\\|\x9c)?"
    r"|\x1b[ -/]*[0-~]?"
)
UNSEEN = "\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069"
_HALVES = "\ud800-\udfff"  # of pairs: nobody can write them
_CONTROLS = re.compile(f"[\x00-\x08\x0b-\x1f{UNSEEN}{_HALVES}]")
# A sign that acts, and what stands for it: what a person reads stays the same.
_MARKUP = (("<", "‹"), (">", "›"), ("`", "'"), ("](", "] ("), ("][", "] ["), ("://", ": //"), ("@", "@ "))


def clean(text: object) -> str:
    """Text with line breaks and tabs, and nothing else that a terminal would act upon."""
    plain = str(text).replace("\r\n", "\n")
    return _CONTROLS.sub("", _SEQUENCES.sub("", plain))


def one_line(text: object, width: int = 0) -> str:
    """The same on one line, cut at `width` (0 = never)."""
    joined = " ".join(clean(text).split())
    return joined if not width or len(joined) <= width else joined[: max(width - 1, 1)] + "…"


def lines_of(text: str) -> list[str]:
    """Its lines, wherever somebody may see one end: also at a bare carriage return, U+0085 and U+2028. An empty last
    line counts."""
    return [*text.splitlines(), ""] if text.endswith("\n") else text.splitlines() or [""]


def quoted(text: object) -> str:
    """On one line, between marks that it cannot close."""
    return f"“{' '.join(str(text).split()).replace('“', '‘').replace('”', '’')}”"


def quoted_lines(text: str) -> str:
    """Each line behind a sign that says that it is quoted."""
    return "\n".join(f"> {line}".rstrip() for line in lines_of(text))


def unmarked(text: str) -> str:
    """The same without what chats, mail and Markdown would act upon: tags, links, code, mentions."""
    for sign, plain in _MARKUP:
        text = text.replace(sign, plain)
    return text
