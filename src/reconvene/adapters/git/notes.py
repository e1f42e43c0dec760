"""What the last commit of a run was made of, kept beside the branch: digest of a file → id of its blob.

So a further commit reads only what is new, in another process too. Deletable: without it everything is read once more.
It counts only together with the commit that it was written for.
"""

from __future__ import annotations

import os
from contextlib import suppress

import msgspec

_FOLDER = "reconvene"


class _Note(msgspec.Struct):
    tip: str
    blobs: dict[str, str]


def blobs_at(repository: str, name: str, tip: str) -> dict[str, str]:
    try:
        with open(_path(repository, name), "rb") as file:
            note = msgspec.json.decode(file.read(), type=_Note)
    except (OSError, msgspec.DecodeError):
        return {}
    return note.blobs if note.tip == tip else {}


def keep(repository: str, name: str, tip: str, blobs: dict[str, str]) -> None:
    path = _path(repository, name)
    with suppress(OSError):  # only a cache: a disk that is full must not undo the commit
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(f"{path}.new", "wb") as file:
            file.write(msgspec.json.encode(_Note(tip, blobs)))
        os.replace(f"{path}.new", path)


def _path(repository: str, name: str) -> str:
    return os.path.join(repository, _FOLDER, f"{os.path.basename(name)}.json")
