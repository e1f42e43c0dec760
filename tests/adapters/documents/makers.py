"""Files as their own programs would make them, and as nobody should."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path

CONTENT = b'<?xml version="1.0"?><Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"/>'


def pdf(*pages: str, password: str = "", picture: bool = False) -> bytes:
    """Each page is what its content stream says."""
    from pypdf import PdfWriter
    from pypdf.generic import DecodedStreamObject, DictionaryObject, NameObject

    writer = PdfWriter()
    font = DictionaryObject(
        {
            NameObject("/Type"): NameObject("/Font"),
            NameObject("/Subtype"): NameObject("/Type1"),
            NameObject("/BaseFont"): NameObject("/Helvetica"),
        }
    )
    for content in pages:
        page = writer.add_blank_page(300, 300)
        resources = DictionaryObject({NameObject("/Font"): DictionaryObject({NameObject("/F1"): font})})
        if picture:
            shown = DecodedStreamObject()
            shown[NameObject("/Subtype")] = NameObject("/Image")
            resources[NameObject("/XObject")] = DictionaryObject({NameObject("/Im1"): writer._add_object(shown)})
        page[NameObject("/Resources")] = resources
        stream = DecodedStreamObject()
        stream.set_data(content.encode())
        page[NameObject("/Contents")] = writer._add_object(stream)
    if password:
        writer.encrypt("" if password == "EMPTY" else password, owner_password="owner", algorithm="AES-256")
    out = io.BytesIO()
    writer.write(out)
    return out.getvalue()


def said(text: str, before: str = "") -> str:
    """A content stream with this text."""
    return f"BT /F1 12 Tf {before} 10 100 Td ({text}) Tj ET"


def word(fill: Callable[[object], None] | None = None) -> bytes:
    import docx

    document = docx.Document()
    if fill is not None:
        fill(document)
    out = io.BytesIO()
    document.save(out)
    return out.getvalue()


def sheets(fill: Callable[[object], None]) -> bytes:
    import openpyxl

    workbook = openpyxl.Workbook()
    fill(workbook)
    out = io.BytesIO()
    workbook.save(out)
    return out.getvalue()


def packed(entries: Mapping[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as archive:
        for name, data in entries.items():
            archive.writestr(name, data)
    return out.getvalue()


def repacked(data: bytes, changes: Mapping[str, bytes]) -> bytes:
    """The same file with other contents of some entries, or more entries."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        entries = {name: archive.read(name) for name in archive.namelist()}
    return packed({**entries, **changes})


def put(folder: Path, name: str, data: bytes | str) -> Path:
    path = folder / name
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    return path
