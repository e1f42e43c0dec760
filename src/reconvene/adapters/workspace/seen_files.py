"""What lies in a workspace right now: one walk, reading only what looks touched.

Knows stamps and digests; it must not know what the log wants, nor decide whose change something is.
"""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Container, Mapping
from fnmatch import fnmatchcase

from reconvene.adapters.shared.safe_files import TEMP_PREFIX, look, open_folder, open_root, read_file
from reconvene.adapters.workspace.manifest import Entry
from reconvene.core.facts.ids import digest_of
from reconvene.core.paths import is_safe

MAX_BYTES = 100 * 1024 * 1024
# What editors and file managers leave behind. A path that the log knows is looked at whatever it is called.
_CLUTTER = (
    f"{TEMP_PREFIX}*", ".#*", "#*#", "*~", "*.sw[nopx]", "~$*", ".~lock.*#", ".goutputstream-*", ".nfs*",
    ".fuse_hidden*", ".DS_Store", "._*", "Thumbs.db", "desktop.ini",
)  # fmt: skip


class Survey:
    """What one walk saw. `ours`: paths to be looked at whatever they are called. `written`: what the manifest vouches
    for."""

    def __init__(self, ours: Container[str], written: Mapping[str, Entry]) -> None:
        self.ours = ours
        self.written = written
        self.digests: dict[str, str] = {}
        self.links: dict[str, str] = {}  # links and special files: path → why; a link hides all that is behind it
        self.unread: dict[str, str] = {}  # too large, unreadable, unusable name: path → why

    def is_link(self, path: str) -> bool:
        return _covers(self.links, path)

    def is_unread(self, path: str) -> bool:
        return _covers(self.unread, path)


class Eyes:
    """Looks at the files of one folder and remembers what it has read."""

    def __init__(self, root: str, largest: int = MAX_BYTES) -> None:
        """`largest`: in bytes, of what the engine did not write itself."""
        self._root = root
        self._largest = largest
        self.seen: dict[str, Entry] = {}

    def survey(self, ours: Container[str], written: Mapping[str, Entry]) -> Survey:
        survey = Survey(ours, written)
        try:
            root = open_root(self._root)
        except FileNotFoundError:
            return survey
        self._walk(root, "", survey)
        return survey

    def entry_at(self, folder: int, path: str, there: os.stat_result, written: Mapping[str, Entry]) -> Entry | None:
        """The content of a plain file by its digest; None = it stays unknown: too large, unreadable, or just gone."""
        noted = written.get(path)
        for entry in (noted, self.seen.get(path)):
            if entry is not None and entry.vouches_for(there):
                return entry
        # What the engine itself wrote may be larger than what it takes from a person.
        if there.st_size > max(self._largest, noted.size if noted else 0):
            return None
        now = time.time_ns()  # before the read: whatever changes later must not be vouched for
        try:
            found = read_file(folder, os.path.basename(path))
        except PermissionError:
            return None
        if found is None:
            return None
        entry = self.seen[path] = Entry.of(digest_of(found[0]), found[1], now)
        return entry

    def _walk(self, folder: int, at: str, survey: Survey) -> None:
        """Closes the folder."""
        ours = survey.ours
        try:
            for name in sorted(os.listdir(folder)):
                path = at + name
                there = look(folder, name)
                if there is None:
                    continue
                if path not in ours and not is_safe(path):
                    survey.unread[ascii(path)] = "its name cannot be used"
                elif stat.S_ISDIR(there.st_mode):
                    self._enter(folder, path, survey)
                elif path not in ours and _is_clutter(name):
                    continue
                elif not stat.S_ISREG(there.st_mode):
                    survey.links[path] = "a link" if stat.S_ISLNK(there.st_mode) else "not a plain file"
                elif entry := self.entry_at(folder, path, there, survey.written):
                    survey.digests[path] = entry.digest
                else:
                    large = f"larger than {self._largest // (1024 * 1024)} MB (RECONVENE_MAX_EDIT_MB)"
                    survey.unread[path] = large if there.st_size > self._largest else "it cannot be read"
        finally:
            os.close(folder)

    def _enter(self, folder: int, path: str, survey: Survey) -> None:
        try:
            try:
                inner = open_folder(os.path.basename(path), folder)
            except (FileNotFoundError, NotADirectoryError):  # just gone, or just swapped
                return
            self._walk(inner, path + "/", survey)
        except PermissionError:
            survey.unread[path] = "it cannot be read"


def _covers(places: Mapping[str, str], path: str) -> bool:
    if not places:
        return False
    parts = path.split("/")
    return any("/".join(parts[:length]) in places for length in range(1, len(parts) + 1))


def _is_clutter(name: str) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in _CLUTTER)
