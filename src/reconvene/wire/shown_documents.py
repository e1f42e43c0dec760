"""A document as agents are shown it, part by part below its places in brackets, and read back from what is on record.

Lines in brackets are never the document's own: such a line of it is shown with one more space before it.
"""

from __future__ import annotations

from reconvene.core.facts.ids import digest_of
from reconvene.language.late_patterns import late
from reconvene.material_ports import Document, Part

_HEAD = late(r"\[(.*): ([^\s:]+), [\d,]+ parts?\]")
_OWN = late(r"\[(.*)\]\s*")  # a line that the tool wrote
_LIKE_ONE = late(r" *\[.*\]\s*")


def body(text: str, head: int) -> str:
    """The text of a part. `head`: so many of its first lines are a header that is repeated."""
    lines = text.split("\n")
    header = [f"[header: {' '.join(lines[:head])}]"] if head else []
    return "\n".join([*header, *(f" {line}" if _LIKE_ONE.fullmatch(line) else line for line in lines[head:])])


def read_back(name: str, shown: str) -> Document | None:
    """As much of the document as was shown; None where it is no such text."""
    first, *lines = shown.split("\n")
    head = _HEAD.fullmatch(first)
    if not head or head[1] != name:
        return None
    notes, held = list[str](), dict[str, list[str]]()
    place = ""
    for line in lines:
        own = _OWN.fullmatch(line)
        if own is None:
            if place:
                held[place].append(line[1:] if _LIKE_ONE.fullmatch(line) else line)
        elif own[1].startswith("note: ") and not place:
            notes.append(own[1].removeprefix("note: "))
        elif not own[1].startswith(("header: ", "cut: ")):
            place = own[1]
            held[place] = []
    parts = tuple(Part(at, "\n".join(texts)) for at, texts in held.items())
    return Document(name, head[2], digest_of(shown.encode()), parts, tuple(notes))
