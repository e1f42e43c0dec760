"""PDF, page by page. A page without text is said to be a picture; text that is drawn so that nobody sees it is told."""

from __future__ import annotations

from typing import TYPE_CHECKING, BinaryIO

from reconvene.adapters.documents.gathering import Gathering, Request, Unreadable

if TYPE_CHECKING:
    from pypdf import PageObject, PdfReader

_AGAIN = "Save or download it again, or print it to a new PDF."
_SHOWS = frozenset((b"Tj", b"TJ", b"'", b'"'))
_INVISIBLE = 3  # a way to draw text: not at all


def read(file: BinaryIO, request: Request, gathering: Gathering) -> None:
    document = _opened(file)
    try:
        pages = len(document.pages)
    except MemoryError:
        raise
    except Exception:
        raise Unreadable("damaged", "is a damaged PDF: its pages cannot be found", _AGAIN) from None
    if not pages:
        raise Unreadable("damaged", "is a PDF without pages", _AGAIN)
    empty = 0
    for number in range(min(pages, request.limits.pages)):
        place = f"p. {number + 1}"
        try:
            page = document.pages[number]
            looking = _Looking()
            text = page.extract_text(visitor_operand_before=looking.at)
        except MemoryError:
            raise
        except Exception:
            gathering.found("These pages are damaged and were left out: {}.", place)
            continue
        if not text.strip():
            empty += 1
            gathering.found(_why_empty(page), place)
        if looking.hidden:
            gathering.found("Text that is white or not drawn at all, which a reader may not see, is on {}.", place)
        if not gathering.add(place, text):
            break
    if pages > request.limits.pages:
        gathering.note(f"Only the first {request.limits.pages} of {pages} pages are read.")
    if empty == pages:
        gathering.note("Scanned, no text: no page has text. Have it read by an OCR program first.")


def _why_empty(page: PageObject) -> str:
    try:
        pictures = bool(page.get("/Resources", {}).get("/XObject"))
    except Exception:
        pictures = False
    return "These pages are pictures without text: {}." if pictures else "These pages have no text: {}."


def _opened(file: BinaryIO) -> PdfReader:
    from pypdf import PdfReader
    from pypdf.errors import DependencyError

    try:
        document = PdfReader(file, strict=False)
        if document.is_encrypted and not document.decrypt(""):
            raise Unreadable("locked", "is encrypted", "Save it without a password.")
    except (Unreadable, MemoryError):
        raise
    except DependencyError:
        raise Unreadable("library", "cryptography") from None
    except Exception:
        raise Unreadable("damaged", "is a damaged PDF", _AGAIN) from None
    return document


class _Looking:
    """Follows colour and way of drawing, as far as that tells what cannot be seen."""

    def __init__(self) -> None:
        self.hidden = 0
        self._white, self._way = False, 0
        self._kept: list[tuple[bool, int]] = []

    def at(self, operator: bytes, operands: list[object], cm: object, tm: object) -> None:
        match operator:
            case b"q":
                self._kept.append((self._white, self._way))
            case b"Q" if self._kept:
                self._white, self._way = self._kept.pop()
            case b"Tr":
                self._way = int(bool(operands) and _numbers(operands)[0] == _INVISIBLE)
            case b"g" | b"rg" | b"sc" | b"scn":
                self._white = bool(operands) and all(number == 1.0 for number in _numbers(operands))
            case b"k":
                self._white = len(operands) == 4 and all(number == 0.0 for number in _numbers(operands))
            case _ if operator in _SHOWS and (self._white or self._way):
                self.hidden += 1


def _numbers(operands: list[object]) -> list[float]:
    return [float(one) if isinstance(one, int | float) else -1.0 for one in operands]
