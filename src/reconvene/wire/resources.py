"""The files around a workflow: prompts, templates, recordings. Nothing outside the workflow's folder is ever read."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath

from reconvene.wire.yaml_reader import MAX_BYTES

_FOLDERS = ("prompts", "templates", "recorded", "schemas")


class Unreadable(Exception):
    """A file that is there but cannot be used; the message says why. `line`: where, 0 = nowhere in particular."""

    def __init__(self, why: str, line: int = 0, hint: str = "") -> None:
        super().__init__(why)
        self.line = line
        self.hint = hint


class Folder(Mapping[str, str]):
    """Relative path → text, read when asked for."""

    def __init__(self, root: Path) -> None:
        self._root = root

    @property
    def path(self) -> str:
        """The folder itself, in full."""
        return os.path.realpath(self._root)

    def __getitem__(self, name: str) -> str:
        path = self._root / name
        if not os.path.lexists(path):
            raise KeyError(name)
        try:
            inside = path.resolve().is_relative_to(self._root.resolve())
        except (OSError, RuntimeError):  # a loop of links
            inside = False
        if not inside:
            raise Unreadable("it is a link that leaves the workflow's folder")
        return read_text(path)

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and os.path.lexists(self._root / name)

    def __iter__(self) -> Iterator[str]:
        """What may be worth naming in a hint; not a full listing."""
        for folder in _FOLDERS:
            for path in sorted((self._root / folder).glob("*")):
                yield f"{folder}/{path.name}"

    def __len__(self) -> int:
        return sum(1 for _ in self)


def leaves_folder(name: str) -> bool:
    """Whether a relative path points outside, before any file is touched."""
    path = PurePosixPath(name.replace("\\", "/"))
    return path.is_absolute() or ".." in path.parts or name[1:2] == ":" or "\0" in name


def read_text(path: Path) -> str:
    """A regular, small, UTF-8 file; Unreadable with the reason otherwise."""
    try:
        found = path.stat()
        if not stat.S_ISREG(found.st_mode):
            raise Unreadable("it is not a file")
        if found.st_size > MAX_BYTES:
            hint = "put long texts into files beside it, or give them as inputs: --input NAME=@FILE"
            raise Unreadable(f"it is larger than {MAX_BYTES // 1_000_000} MB", hint=hint)
        return path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = bytes(error.object).count(b"\n", 0, error.start) + 1
        raise Unreadable("it is not UTF-8 text", line, "save it as UTF-8") from None
    except (OSError, ValueError) as error:
        raise Unreadable(getattr(error, "strerror", None) or str(error)) from None
