"""The golden homes of one workflow in one file: `<stop>/files/…` as they lay, and `<stop>/expected.json`.

The homes of a workflow are cut from the same runs, so they share nearly all their bytes: packed together in one stream
they take little more room than the largest of them.
"""

from __future__ import annotations

import io
import json
import lzma
import os
import stat
import tarfile
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple

SUFFIX = ".tar.xz"
_EXPECTED = "expected.json"
_FILES = "files/"
_FILTERS = [{"id": lzma.FILTER_LZMA2, "preset": 9 | lzma.PRESET_EXTREME, "dict_size": 1 << 27}]


class Home(NamedTuple):
    """A folder with a home in it, and what reading it must give. A name that ends in / is an empty folder."""

    files: Mapping[str, tuple[int, bytes]]  # path → mode, content
    expected: Mapping[str, object]


def look(folder: Path) -> dict[str, tuple[int, bytes]]:
    """Everything in the folder, as it lies there, but for git's own journals: they name the machine's account."""
    found: dict[str, tuple[int, bytes]] = {}
    for root, folders, names in os.walk(folder):
        if os.path.basename(root) == "git" or root.endswith(".git"):
            folders[:] = [name for name in folders if name != "logs"]
        for name in names:
            path = Path(root, name)
            found[str(path.relative_to(folder))] = (stat.S_IMODE(path.stat().st_mode), path.read_bytes())
        if not names and not folders:
            found[f"{Path(root).relative_to(folder)}/"] = (stat.S_IMODE(os.stat(root).st_mode), b"")
    return dict(sorted(found.items()))


def lay_out(home: Home, folder: Path) -> None:
    for name, (mode, data) in home.files.items():
        path = folder / name
        if name.endswith("/"):
            path.mkdir(parents=True, exist_ok=True)
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
            path.chmod(mode)


def pack(homes: Mapping[str, Home]) -> bytes:
    plain = io.BytesIO()
    # The same file of one home after another, so that what they share lies close together.
    entries = sorted((name, stop) for stop, home in homes.items() for name in home.files)
    with tarfile.open(fileobj=plain, mode="w", format=tarfile.PAX_FORMAT) as tar:
        for stop, home in sorted(homes.items()):
            _add(tar, f"{stop}/{_EXPECTED}", 0o644, canonical_json(home.expected))
        for name, stop in entries:
            _add(tar, f"{stop}/{_FILES}{name}", *homes[stop].files[name])
    return lzma.compress(plain.getvalue(), format=lzma.FORMAT_XZ, filters=_FILTERS)


def _add(tar: tarfile.TarFile, name: str, mode: int, data: bytes) -> None:
    info = tarfile.TarInfo(name.rstrip("/"))
    info.mode, info.size = mode, len(data)
    info.type = tarfile.DIRTYPE if name.endswith("/") else tarfile.REGTYPE
    tar.addfile(info, io.BytesIO(data))


def canonical_json(value: object) -> bytes:
    """Sorted and stable: the same value is always the same bytes."""
    return json.dumps(value, sort_keys=True, ensure_ascii=False, indent=1).encode() + b"\n"


@cache
def unpack(archive: Path) -> Mapping[str, Home]:
    """Stop → home."""
    files: dict[str, dict[str, tuple[int, bytes]]] = {}
    expected: dict[str, Mapping[str, object]] = {}
    plain = io.BytesIO(lzma.decompress(archive.read_bytes()))
    with tarfile.open(fileobj=plain, mode="r:") as tar:
        for info in tar:
            stop, _, rest = info.name.partition("/")
            name = rest.removeprefix(_FILES) + ("/" if info.isdir() else "")
            content = tar.extractfile(info)
            data = content.read() if content else b""
            if rest == _EXPECTED:
                expected[stop] = json.loads(data)
            else:
                files.setdefault(stop, {})[name] = (info.mode, data)
    return {stop: Home(files[stop], expected[stop]) for stop in sorted(expected)}
