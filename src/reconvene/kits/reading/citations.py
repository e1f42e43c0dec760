"""Where an output cites a remark ("[FB-001]"), and whether it says that it was taken up or declined.

Reads any text: prose, lists, tables, JSON. Lenient about brackets, strict about declining: a remark counts as declined
only where the words beside its id say so, so that "sales declined by 5% [FB-001]" is not a refusal. Knows nothing of
runs; whether an id exists is the ledger's business.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal

import msgspec

from reconvene.core.extensions import Citation
from reconvene.core.facts.ids import remark_id
from reconvene.kits.reading import tongues

_MOST_REASON = 300  # characters


_ID = re.compile(r"(?<![\w-])FB-(\d{1,9})(?![\w-])", re.IGNORECASE)
_CITED = re.compile(
    r"[\[(]?\s*(?<![\w-])FB-\d{1,9}(?![\w-])(?:\s*[,;&/]\s*FB-\d{1,9})*\s*[\])]?(?:(?<=\])\([^()\s]{0,300}\))?",
    re.IGNORECASE,
)
_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[\[(*_“\"]*[A-Z\d])")
_CLAUSE = r";\s+|,?\s+<<clause>>\s+"

# A status word counts at the beginning, behind punctuation, or behind a verb that makes it a verdict.
_DECLINED = (
    r"(?:^|[\])|:;,—–(*_-]\s*|<<makes_a_verdict>>\s+)(?:\*\*|__)?<<declined_word>>(?!\s+(?:<<fell>>|\d))|<<declined>>"
)
_DENIED = "<<not_declined>>"
_LINK = r"^<<because>>\s+"
_MARKUP = re.compile(r"[*_`|>#]+|\[\s*\]|\(\s*\)")


def citations(text: str) -> tuple[Citation, ...]:
    """Every citation, in the order of the text; one per id and line."""
    if "fb-" not in text.lower() or not _ID.search(text):  # the first test is quick, however long a line is
        return ()
    structured = _decoded(text)
    if structured is not None:
        return tuple(found for unit in _strings(structured) for found in _in_unit(unit, 1))
    lines = enumerate(text.splitlines(), 1)
    return tuple(found for number, line in lines if _ID.search(line) for found in _in_line(line, number))


def _in_line(line: str, number: int) -> Iterator[Citation]:
    """Alone on its line an id takes the whole line for its reason; among others, its own sentence or clause."""
    line = " ".join(line.split())
    if len(_ids(line)) == 1:
        yield from _in_unit(line, number)
        return
    sentences = [part for part in _SENTENCE.split(line) if part.strip()]
    for at, sentence in enumerate(sentences):
        ids = _ids(sentence)
        if not ids:
            continue
        if at and not _words(sentence):  # "We disagree. [FB-001]": the id belongs to what stands before it
            sentence = f"{sentences[at - 1]} {sentence}"
        clauses = tongues.of(sentence).pattern(_CLAUSE).split(sentence) if len(ids) > 1 else [sentence]
        for clause in clauses if all(_words(part) for part in clauses) else [sentence]:
            yield from _in_unit(clause, number, ids)


def _in_unit(unit: str, number: int, only: list[str] | None = None) -> Iterator[Citation]:
    how, reason = _judged(" ".join(unit.split()))
    for name in _ids(unit):
        if only is None or name in only:
            yield Citation(name, how, reason, number)


def _ids(text: str) -> list[str]:
    return list(dict.fromkeys(remark_id(int(found)) for found in _ID.findall(text)))


def _words(text: str) -> str:
    plain = _MARKUP.sub(" ", _CITED.sub(" ", text))
    return " ".join(plain.split()).strip(" ,;:.—–-()[]")


def _judged(unit: str) -> tuple[Literal["addressed", "declined"], str]:
    tongue = tongues.of(unit)
    bare = tongue.pattern(_DENIED).sub("…", _CITED.sub(" | ", unit)).lstrip(" -+•")
    found = tongue.pattern(_DECLINED).search(bare)
    if not found:
        return "addressed", _words(unit)[:_MOST_REASON]
    after = tongue.pattern(_LINK).sub("", _words(bare[found.end() :]))
    return "declined", (after if " " in after or len(after) > 7 else _words(unit))[:_MOST_REASON]


# --- JSON ---


def _decoded(text: str) -> object:
    if text.lstrip()[:1] not in ("{", "["):
        return None
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError):
        return None


def _strings(value: object) -> Iterator[str]:
    """The texts inside, line by line. An object that is about one remark ({"id": "FB-001", …}) is one text."""
    if isinstance(value, str):
        yield from (line for line in value.splitlines() if _ID.search(line))
    elif isinstance(value, list):
        for item in value:
            yield from _strings(item)
    elif isinstance(value, dict):
        plain = [item for item in value.values() if isinstance(item, str)]
        if any(_ID.fullmatch(item.strip("[] ")) for item in plain):
            yield " — ".join(plain)
            plain = []
        yield from (line for text in plain for line in _strings(text))
        for item in value.values():
            if not isinstance(item, str):
                yield from _strings(item)
