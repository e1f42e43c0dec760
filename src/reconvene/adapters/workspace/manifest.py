"""What the engine last wrote out to a workspace, remembered in a small JSON file outside of it.

A stamp (times and size) spares reading a file again. It vouches for a content only if it was taken a moment after the
last change: within one tick of the disk's clock a second change would leave no trace. Knows nothing of logs.
"""

from __future__ import annotations

import os

from msgspec import Struct, json

from reconvene.adapters.shared.safe_files import replace_file

_TICK_NS = 20_000_000  # kernels stamp files to within 10 ms
_COARSE_TICK_NS = 2_100_000_000  # FAT and some network disks: 2 s
_SECOND_NS = 1_000_000_000


class Entry(Struct, frozen=True):
    digest: str
    mtime_ns: int
    size: int
    ctime_ns: int
    seen_ns: int  # when the content was last known to have this digest

    @classmethod
    def of(cls, digest: str, stamp: os.stat_result, seen_ns: int) -> Entry:
        return cls(digest, stamp.st_mtime_ns, stamp.st_size, stamp.st_ctime_ns, seen_ns)

    def is_settled(self) -> bool:
        """A change after `seen_ns` cannot have kept the stamp."""
        tick = _TICK_NS if self.ctime_ns % _SECOND_NS else _COARSE_TICK_NS
        return self.seen_ns - max(self.mtime_ns, self.ctime_ns) >= tick

    def vouches_for(self, stamp: os.stat_result) -> bool:
        same = (self.mtime_ns, self.size, self.ctime_ns) == (stamp.st_mtime_ns, stamp.st_size, stamp.st_ctime_ns)
        return same and self.is_settled()


class _Document(Struct):
    folders: list[str]
    files: dict[str, Entry]
    version: int = 1


_decode = json.Decoder(_Document).decode


class Manifest(Struct, frozen=True):
    files: dict[str, Entry]
    folders: set[str]  # those that the engine made

    def copy(self) -> Manifest:
        return Manifest(dict(self.files), set(self.folders))


class ManifestFile:
    """The file, read again only when somebody replaced it. Missing or damaged, it counts as empty."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._stamp: tuple[int, int, int] | None = None
        self._kept = Manifest({}, set())

    def load(self) -> Manifest:
        stamp = self._stamp_now()
        if stamp != self._stamp:
            self._kept = self._parse() if stamp else Manifest({}, set())
            self._stamp = stamp
        return self._kept

    def save(self, manifest: Manifest) -> None:
        if manifest == self.load():
            return
        document = _Document(sorted(manifest.folders), dict(sorted(manifest.files.items())))
        folder, name = os.path.split(self._path)
        os.makedirs(folder or ".", exist_ok=True)
        handle = os.open(folder or ".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            replace_file(handle, name, json.encode(document))
        finally:
            os.close(handle)
        self._kept, self._stamp = manifest, self._stamp_now()

    def remove(self) -> None:
        if os.path.lexists(self._path):
            os.unlink(self._path)
        self._kept, self._stamp = Manifest({}, set()), None

    def _stamp_now(self) -> tuple[int, int, int] | None:
        try:
            there = os.stat(self._path)
        except FileNotFoundError:
            return None
        return there.st_mtime_ns, there.st_size, there.st_ino

    def _parse(self) -> Manifest:
        try:
            with open(self._path, "rb") as file:
                document = _decode(file.read())
        except (OSError, ValueError):
            return Manifest({}, set())
        return Manifest(document.files, set(document.folders))
