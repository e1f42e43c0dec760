"""What a file is, by its first bytes; by its name only where it is text."""

from __future__ import annotations

import zipfile
from typing import BinaryIO, NamedTuple

from reconvene.adapters.documents.gathering import Unreadable

_OFFICE = "application/vnd.openxmlformats-officedocument."
DOCX = f"{_OFFICE}wordprocessingml.document"
XLSX = f"{_OFFICE}spreadsheetml.sheet"

_OF_SUFFIX = {
    ".md": "text/markdown", ".markdown": "text/markdown", ".csv": "text/csv", ".tsv": "text/csv", ".html": "text/html",
    ".htm": "text/html", ".xhtml": "text/html", ".pdf": "application/pdf", ".docx": DOCX, ".docm": DOCX, ".xlsx": XLSX,
    ".xlsm": XLSX,
}  # fmt: skip
_TOLD = {"application/pdf": "a PDF", DOCX: "a Word document", XLSX: "an Excel workbook", "text/html": "HTML"}
_OTHERS = (  # first bytes, what it is, what to do
    (b"\xd0\xcf\x11\xe0", "an old Office file, or an encrypted one", "Save it as .docx or .xlsx without a password."),
    (b"\x89PNG", "a picture", "Give its text."),
    (b"\xff\xd8\xff", "a picture", "Give its text."),
    (b"GIF8", "a picture", "Give its text."),
    (b"\x1f\x8b", "a packed file (gzip)", "Unpack it, and give what is in it."),
    (b"BZh", "a packed file (bzip2)", "Unpack it, and give what is in it."),
    (b"\xfd7zXZ", "a packed file (xz)", "Unpack it, and give what is in it."),
    (b"7z\xbc\xaf", "a packed file (7z)", "Unpack it, and give what is in it."),
    (b"Rar!", "a packed file (rar)", "Unpack it, and give what is in it."),
    (b"\x7fELF", "a program", ""),
    (b"MZ\x90", "a program", ""),
    (b"SQLite format 3\0", "a SQLite database", "Give it as a source of data."),
    (b"LBUG", "a graph database", "Give it as a source of data."),
    (b"{\\rtf", "an RTF document", "Save it as .docx or PDF."),
    (b"PAR1", "a Parquet file", "Save it as .csv."),
)
_PACKED = (b"PK\x03\x04", b"PK\x05\x06", b"PK\x07\x08")


class Found(NamedTuple):
    media: str
    note: str = ""


def of_name(suffix: str) -> str:
    return _OF_SUFFIX.get(suffix, "text/plain")


def media(file: BinaryIO, suffix: str) -> Found:
    file.seek(0)
    head = file.read(1024)
    expected = of_name(suffix)
    found = _by_bytes(file, head)
    if not found:
        found = expected if expected.startswith("text/") else ""
        if not found or found == "text/plain":
            found = "text/html" if _looks_like_html(head) else "text/plain"
    return Found(found, _mismatch(suffix, expected, found))


def _by_bytes(file: BinaryIO, head: bytes) -> str:
    """ "" = perhaps text."""
    if b"%PDF-" in head:
        return "application/pdf"
    if head.startswith(_PACKED):
        return _packed(file)
    for start, what, hint in _OTHERS:
        if head.startswith(start):
            raise Unreadable("kind", f"is {what}", hint)
    return ""


def _packed(file: BinaryIO) -> str:
    try:
        with zipfile.ZipFile(file) as archive:
            names = frozenset(info.filename for info in archive.infolist())
    except (zipfile.BadZipFile, ValueError, OSError, NotImplementedError, UnicodeDecodeError):
        raise Unreadable("damaged", "is a damaged archive", "Save or download it again.") from None
    if "word/document.xml" in names:
        return DOCX
    if "xl/workbook.xml" in names:
        return XLSX
    if "[Content_Types].xml" in names or "mimetype" in names:
        raise Unreadable("kind", "is an Office file of a sort that is not read", "Save it as PDF, .docx or .xlsx.")
    raise Unreadable("kind", "is an archive (zip)", "Unpack it, and give the folder.")


def _looks_like_html(head: bytes) -> bool:
    start = head.lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    return start.startswith((b"<!doctype html", b"<html"))


def _mismatch(suffix: str, expected: str, found: str) -> str:
    if expected != found and suffix and (suffix in _OF_SUFFIX or found in _TOLD):
        return f"Its name ends in {suffix}, but it is {_TOLD.get(found, 'plain text')}: it is read as that."
    return ""
