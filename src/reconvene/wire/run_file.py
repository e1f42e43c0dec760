"""A run as one file, to take it elsewhere: a zip archive. Read for ever.

    manifest.json       version, run, head, chain (the value after the last event), unchained
    log.jsonl           one append per line, in order: seq, chain, seal, and its bytes as they are stored: `events`, or
                        `packed` in base64 where they are compressed
    artefacts/DIGEST    every content that an event names

Nothing is ever unpacked onto a disk: members have exactly these names, or the file is refused. A content is unpacked
only where the log names it, and has the size that the log says. It must not know what the bytes mean.
"""

from __future__ import annotations

import re
import zipfile
import zlib
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import BinaryIO, NamedTuple

import msgspec

from reconvene.errors import UserError

VERSION = 1
_MANIFEST, _LOG, _CONTENTS = "manifest.json", "log.jsonl", "artefacts/"
_NAME = re.compile(r"artefacts/[0-9a-f]{32}")
_LARGEST = 4 << 30  # bytes of all members together
_LARGEST_APPEND = 1 << 28  # unpacked; appends name contents, and hold none
_LONGEST_LINE = 1 << 27
_LARGEST_MANIFEST = 1 << 16
_ALWAYS = (1980, 1, 1, 0, 0, 0)  # the same run gives the same file


# What comes of an archive that is damaged, encrypted, or none; NotImplementedError is a RuntimeError.
_UNREADABLE = (zipfile.BadZipFile, zlib.error, msgspec.DecodeError, ValueError, KeyError, EOFError, RuntimeError)
_Row = tuple[int, bool, bytes, bytes, bytes]  # seq, whether packed, bytes, chain, seal
Named = Callable[[list[_Row]], Mapping[str, int]]  # appends → digest of a content that they name → size, -1 = any


class Manifest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    v: int
    run: str
    head: int
    chain: str
    unchained: int = 0


class Row(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    seq: int
    chain: str = ""
    seal: str = ""
    events: str = ""
    packed: str = ""


class RunFile(NamedTuple):
    manifest: Manifest
    rows: list[_Row]
    contents: Mapping[str, bytes]


def write(
    file: BinaryIO,
    manifest: Manifest,
    rows: Iterable[_Row],
    contents: Iterable[tuple[str, bytes]],
) -> None:
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        _add(archive, _MANIFEST, msgspec.json.encode(manifest))
        _add(archive, _LOG, b"".join(msgspec.json.encode(_line(*row)) + b"\n" for row in rows))
        for digest, data in contents:
            _add(archive, _CONTENTS + digest, data)


def _add(archive: zipfile.ZipFile, name: str, data: bytes) -> None:
    member = zipfile.ZipInfo(name, _ALWAYS)
    member.compress_type, member.external_attr = zipfile.ZIP_DEFLATED, 0o600 << 16
    archive.writestr(member, data)


def _line(seq: int, packed: bool, data: bytes, value: bytes, seal: bytes) -> Row:
    text = {"packed": b64encode(data).decode()} if packed else {"events": data.decode()}
    return Row(seq, value.hex(), seal.decode(), **text)


def read(file: BinaryIO, name: str, named: Named) -> RunFile:
    """`name` is for the message where it is refused."""
    try:
        with zipfile.ZipFile(file) as archive:
            return _read(archive, named)
    except MemoryError as error:
        raise UserError(
            f"{name} does not fit into the memory of this machine. Nothing was taken.",
            hint="Import it where there is more.",
        ) from error
    except _UNREADABLE as error:
        raise UserError(
            f"{name} is not a run that can be imported: {str(error).strip(chr(39))}. Nothing was taken.",
            hint="Export it once more, where it comes from: reconvene export RUN FILE",
        ) from error


def _read(archive: zipfile.ZipFile, named: Named) -> RunFile:
    members = archive.infolist()
    names = [member.filename for member in members]
    strange = [name for name in names if name not in (_MANIFEST, _LOG) and not _NAME.fullmatch(name)]
    if strange or len(set(names)) != len(names):
        raise ValueError(f"it holds {strange[0]!r}" if strange else "it holds a name twice")
    if sum(member.file_size for member in members) > _LARGEST:
        raise ValueError("it is larger than any run")
    if archive.getinfo(_MANIFEST).file_size > _LARGEST_MANIFEST:
        raise ValueError(f"its {_MANIFEST} is larger than any")
    manifest = msgspec.json.decode(archive.read(_MANIFEST), type=Manifest)
    if manifest.v != VERSION:
        raise ValueError(f"it has the format {manifest.v}; this release reads {VERSION}")
    rows = [_stored(msgspec.json.decode(line, type=Row)) for line in _lines(archive, manifest.head)]
    sizes, contents = named(rows), dict[str, bytes]()
    held = {name.removeprefix(_CONTENTS): name for name in names if _NAME.fullmatch(name)}
    if more := held.keys() - sizes.keys():
        raise ValueError(f"it holds contents that its log does not name, such as {min(more)}")
    for digest, member in held.items():
        found, said = archive.getinfo(member).file_size, sizes[digest]
        if 0 <= said < found:
            raise ValueError(f"the content {digest} has {found} bytes, and its log says {said}")
        contents[digest] = archive.read(member)
    return RunFile(manifest, rows, contents)


def _lines(archive: zipfile.ZipFile, most: int) -> Iterator[bytes]:
    """One append each: no more than there are events."""
    with archive.open(_LOG) as log:
        for _ in range(most + 1):
            line = log.readline(_LONGEST_LINE)
            if not line:
                return
            yield line
    raise ValueError("its log is longer than it says")


def _stored(row: Row) -> _Row:
    if bool(row.events) == bool(row.packed):
        raise ValueError(f"the append that ends with event {row.seq} has no bytes")
    data = b64decode(row.packed, validate=True) if row.packed else row.events.encode()
    if row.packed:
        unpacking = zlib.decompressobj()
        unpacking.decompress(data, _LARGEST_APPEND)
        if unpacking.unconsumed_tail:
            raise ValueError(f"the append that ends with event {row.seq} is larger than any")
    return row.seq, bool(row.packed), data, bytes.fromhex(row.chain), row.seal.encode()
