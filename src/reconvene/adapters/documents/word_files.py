"""DOCX, block by block: paragraphs, headings and tables, counted from the start, since it has no pages of its own.

Read from the elements themselves: the library leaves out text in tracked insertions, fields and boxes.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, BinaryIO

from reconvene.adapters.documents import zip_guard
from reconvene.adapters.documents.gathering import Gathering, Request, Unreadable

if TYPE_CHECKING:
    from docx.document import Document

_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_FALLBACK = "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"
_REMOVED = frozenset((f"{_W}del", f"{_W}moveFrom", f"{_W}instrText", f"{_W}delText", _FALLBACK))
_BESIDE = {  # end of a relationship's type → what is in it, and how one entry is cited
    "/footnotes": ("footnote", "footnote"),
    "/endnotes": ("endnote", "endnote"),
    "/comments": ("comment", "comment"),
    "/header": ("hdr", "header"),
    "/footer": ("ftr", "footer"),
}
_HIDDEN = "Text that is hidden or white, which a reader does not see, is in {}; it stands in parts of its own."

Element = Any  # of lxml, which has no types


def read(file: BinaryIO, request: Request, gathering: Gathering) -> None:
    archive = zip_guard.check(file, request.limits)
    if any(name.endswith("vbaProject.bin") for name in archive.namelist()):
        gathering.note("It holds macros. They are not read, and not run.")
    document = _opened(file)
    for number, element in enumerate(_blocks(document.element.body), 1):
        if not _add(f"block {number}", element, document, gathering):
            return
    _beside(document, gathering)


def _opened(file: BinaryIO) -> Document:
    import docx

    file.seek(0)
    try:
        return docx.Document(file)
    except (MemoryError, RecursionError):
        raise
    except Exception:
        raise Unreadable("damaged", "is a damaged Word document", "Open it in Word and save it again.") from None


def _blocks(body: Element) -> Iterator[Element]:
    return _outermost(body, f"{_W}p", f"{_W}tbl")


def _outermost(top: Element, *tags: str) -> Iterator[Element]:
    """Those that lie in no other of them, also where something is put around them, such as a field of a form."""
    waiting = [child for child in reversed(top) if isinstance(child.tag, str)]
    while waiting:
        here = waiting.pop()
        if here.tag in tags:
            yield here
        elif here.tag not in _REMOVED:
            waiting += [child for child in reversed(here) if isinstance(child.tag, str)]


def _add(place: str, element: Element, document: Document, gathering: Gathering) -> bool:
    seen, unseen = _Texts(), _Texts()
    if element.tag == f"{_W}tbl":
        for row in _outermost(element, f"{_W}tr"):
            cells = [_texts(cell) for cell in _outermost(row, f"{_W}tc")]
            seen.append(" | ".join(cell[0] for cell in cells))
            unseen.append(" | ".join(cell[1] for cell in cells if cell[1]))
    else:
        shown, kept = _texts(element)
        level = _level(element, document) if shown.strip() else 0
        seen.append(f"{'#' * level} {shown}" if level else shown)
        unseen.append(kept)
    if unseen.text():
        gathering.found(_HIDDEN, place)
        gathering.add(f"{place} (hidden)", unseen.text())
    return gathering.add(place, seen.text())


class _Texts(list[str]):
    def text(self) -> str:
        return "\n".join(line for line in self if line.strip())


def _texts(element: Element) -> tuple[str, str]:
    """What is shown, and what is not."""
    shown: list[str] = []
    unseen: list[str] = []
    waiting: list[tuple[Element, bool]] = [(element, False)]
    while waiting:
        here, hidden = waiting.pop()
        if here.tag in _REMOVED or not isinstance(here.tag, str):
            continue
        if here.tag == f"{_W}r":
            hidden = hidden or _is_hidden(here)
        into = unseen if hidden else shown
        match here.tag.removeprefix(_W):
            case "t":
                into.append(here.text or "")
            case "tab":
                into.append("\t")
            case "br" | "cr":
                into.append("\n")
            case "p" if here is not element and into and not into[-1].endswith("\n"):
                into.append("\n")
        if here.tag not in (f"{_W}pPr", f"{_W}rPr"):
            waiting += [(child, hidden) for child in reversed(here)]
    return "".join(shown).strip("\n"), "".join(unseen).strip("\n")


def _is_hidden(run: Element) -> bool:
    settings = run.find(f"{_W}rPr")
    if settings is None:
        return False
    vanish, colour, shade = (settings.find(f"{_W}{name}") for name in ("vanish", "color", "shd"))
    if vanish is not None and vanish.get(f"{_W}val", "1") not in ("0", "false", "off"):
        return True
    if settings.find(f"{_W}highlight") is not None or shade is not None or colour is None:
        return False
    return str(colour.get(f"{_W}val", "")).upper() == "FFFFFF"


def _level(paragraph: Element, document: Document) -> int:
    """Of a heading, 1 to 6; 0 = it is none."""
    style = paragraph.find(f"{_W}pPr/{_W}pStyle")
    if style is None:
        return 0
    try:
        name = str(document.styles.element.get_by_id(style.get(f"{_W}val")).name_val)
    except AttributeError:
        return 0
    word, _, number = name.lower().partition(" ")
    if word == "title":
        return 1
    return min(6, int(number)) if word == "heading" and number.isdigit() and int(number) else 0


def _beside(document: Document, gathering: Gathering) -> None:
    from docx.oxml.parser import parse_xml

    counts: dict[str, int] = {}
    for relation in sorted(document.part.rels.values(), key=lambda one: one.rId):
        end = next((end for end in _BESIDE if relation.reltype.endswith(end)), "")
        if not end or relation.is_external:
            continue
        tag, word = _BESIDE[end]
        try:
            root = parse_xml(relation.target_part.blob)
        except MemoryError:
            raise
        except Exception:
            gathering.note(f"The {word}s are damaged and were left out.")
            continue
        for entry in root.iter(f"{_W}{tag}"):
            shown, unseen = _texts(entry)
            if shown.strip() or unseen.strip():
                counts[word] = counts.get(word, 0) + 1
                place = f"{word} {counts[word]}"
                if unseen.strip():
                    gathering.found(_HIDDEN, place)
                if not gathering.add(place, "\n".join(filter(None, (shown, unseen)))):
                    return
