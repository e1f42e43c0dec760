"""Is a text about this case, or generic filler? It must name something that only the given documents name.

Names and figures of the documents count; of a short document (a question, say) every word of substance does.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from reconvene.kits.reading import tongues

_WORD = re.compile(r"[^\W\d_][\w&'’.-]*[^\W_]", re.UNICODE)
_FIGURE = re.compile(r"\d[\d.,]*\d|\d{2,}")
_HEADING = re.compile(r"^\s{0,3}#.*$", re.MULTILINE)
_SHORT = 80  # words


def terms(documents: Iterable[str]) -> frozenset[str]:
    """What only these documents name, in lower case. Headings name the parts of a document, not its case."""
    found: set[str] = set()
    for document in documents:
        text = _HEADING.sub("", document)
        tongue = tongues.of(text)
        found |= {match[0] for match in _FIGURE.finditer(text) if len(match[0].strip(".,")) > 1}
        short = len(text.split()) <= _SHORT
        for match in _WORD.finditer(text):
            word = match[0]
            if len(word) < 3 or _is_common(word.lower(), tongue):
                continue
            named = word[0].isupper() and (word.lower() not in text or not _starts_sentence(text, match.start()))
            if named or not word.isascii() or (short and len(word) >= 5):
                found.add(word.lower())
    return frozenset(found)


def _is_common(word: str, tongue: tongues.Tongue) -> bool:
    """A word of nearly every document: naming it says nothing about the case. So does a noun that the language's lists
    know, where every noun looks like a name."""
    if word in tongue.words("stop", "everyday"):
        return True
    return tongue.main.nouns_have_capitals and word in tongue.main.known


def _starts_sentence(text: str, start: int) -> bool:
    before = text[:start].rstrip(" \t\"'“(*_")
    return not before or before[-1] in ".!?:\n-#>|•"


def names_something(text: str, wanted: frozenset[str]) -> bool:
    """True when the text names at least one of them, or when there is nothing to name."""
    if not wanted:
        return True
    words = {match[0].lower() for match in _WORD.finditer(text)}
    if words & wanted:
        return True
    return any(match[0] in wanted for match in _FIGURE.finditer(text))
