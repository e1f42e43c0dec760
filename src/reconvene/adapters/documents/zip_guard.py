"""Whether an Office file is safe to unpack: how much comes out of it, and that its XML declares nothing."""

from __future__ import annotations

import zipfile
import zlib
from typing import BinaryIO

from reconvene.adapters.documents.gathering import Unreadable
from reconvene.material_ports import MEBIBYTE, ReadLimits

_RATIO = 200  # times its packed size; ordinary files stay below 50
_SMALL = 4 * MEBIBYTE  # below this no ratio is looked at
_ENTRIES = 10_000
_CHUNK = 1 << 20
_CODES = ("ascii", "utf-16-le", "utf-16-be")
_DECLARATIONS = tuple(word.encode(code) for word in ("<!DOCTYPE", "<!ENTITY") for code in _CODES)
_LONGEST = max(map(len, _DECLARATIONS))


def check(file: BinaryIO, limits: ReadLimits) -> zipfile.ZipFile:
    """The archive, opened. Sizes are those that really come out: what the directory says may be a lie."""
    try:
        archive = zipfile.ZipFile(file)
        entries = archive.infolist()
        _check_directory(entries, limits)
        total = 0
        for info in entries:
            total += _unpacked(archive, info, limits.unpacked - total)
    except (zipfile.BadZipFile, zlib.error, EOFError, ValueError, OSError, NotImplementedError, UnicodeDecodeError):
        raise Unreadable("damaged", "is damaged: it cannot be unpacked", "Save or download it again.") from None
    except RuntimeError:  # a password
        raise Unreadable("locked", "is encrypted", "Save it without a password.") from None
    return archive


def _check_directory(entries: list[zipfile.ZipInfo], limits: ReadLimits) -> None:
    if len(entries) > _ENTRIES:
        raise _bomb(f"holds {len(entries):,} files")
    size, packed = sum(info.file_size for info in entries), sum(info.compress_size for info in entries)
    if size > limits.unpacked:
        raise _bomb(f"unpacks to more than {limits.unpacked // MEBIBYTE} MB")
    if size > _SMALL and size > _RATIO * max(1, packed):
        raise _bomb(f"unpacks to {size // max(1, packed):,} times its size")
    names = [info.filename for info in entries]
    if len(set(names)) < len(names):
        raise Unreadable("suspicious", "holds two files of the same name", "Save it again with its own program.")


def _bomb(what: str) -> Unreadable:
    return Unreadable("suspicious", f"{what}, as a zip bomb does", "Give the part that matters, or a text of it.")


def _unpacked(archive: zipfile.ZipFile, info: zipfile.ZipInfo, room: int) -> int:
    size, tail = 0, b""
    is_xml = info.filename.lower().endswith((".xml", ".rels", ".vml"))
    with archive.open(info) as stream:
        while data := stream.read(_CHUNK):
            size += len(data)
            if size > room or (size > _SMALL and size > _RATIO * max(1, info.compress_size)):
                raise _bomb("unpacks to far more than its size")
            if is_xml:
                window = tail + data
                if any(word in window for word in _DECLARATIONS):
                    raise Unreadable(
                        "suspicious", "declares a document type in its XML, which no Office program does",
                        "Save it again with its own program.",
                    )  # fmt: skip
                tail = window[-_LONGEST:]
    return size
