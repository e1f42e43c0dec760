"""Which line of which file a line of a unified diff is about."""

from __future__ import annotations

import re

_HUNK = re.compile(r"@@ -\d+(?:,\d+)? \+(\d+)(?:,\d+)? @@")


def place_in(diff: str, line: int) -> tuple[str, int]:
    """The file and its line as it is after the change, of this line of the diff, counted from 1. ("", 0) where it is
    about none; a line that was taken out stands for the one that follows it."""
    path, at, inside = "", 0, False
    for number, text in enumerate(diff.split("\n"), 1):
        if text.startswith("diff --git "):
            path, at, inside = "", 0, False
        elif not inside and text.startswith(("+++ b/", "--- a/")):
            path = text[6:].rstrip("\t")
        elif hunk := _HUNK.match(text):
            at, inside = int(hunk[1]) - 1, True
        elif inside and text[:1] in ("+", " "):
            at += 1
        if number == line:
            return (path, max(at + (text[:1] == "-"), 1)) if path and inside else (path, 0)
    return "", 0
