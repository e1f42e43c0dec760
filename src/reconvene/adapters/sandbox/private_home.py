"""The person's own folder as one program finds it: links to what may be read, copies of what the program keeps there.

It is made for one attempt. Whatever is written there, settings of programs included, is gone afterwards.
"""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Collection, Iterator, Mapping

# Not linked: programs write there, and fail where they cannot. What is not there they make.
_FRESH = (
    ".npm", ".local/state", ".cache/pip", ".cache/uv", ".cache/npm", ".cache/yarn", ".cache/pnpm", ".cache/node",
    ".cache/go-build", ".cache/deno", ".cache/ccache", ".cache/fontconfig", ".cache/mesa_shader_cache",
)  # fmt: skip
_OPENED = (".config", ".local", ".local/share", ".cache")  # linked entry by entry
# What programs keep of their past: large, and not needed to go on.
_PAST = frozenset(
    ("projects", "todos", "sessions", "archived_sessions", "log", "logs", "history.jsonl", "file-history", "debug",
     "shell-snapshots", "statsig", "telemetry", "snapshot", "storage", "tmp", "paste-cache", "backups")
)  # fmt: skip
_MOST = 64 * 1024 * 1024  # bytes of one copy; what is larger is linked, to be read
_MOST_LINKED = 8 * 1024 * 1024  # and of a folder that a link in it leads to; a larger one is left out


def make(folder: str, home: str, hidden: Collection[str], copies: Mapping[str, str]) -> None:
    """`hidden`: real paths that are not linked. `copies`: path below the folder → whose copy is put there."""
    os.makedirs(folder, mode=0o700)
    skipped = {os.path.join(home, name) for name in (*_FRESH, *_OPENED, *copies)} | set(hidden)
    for below in ("", *_OPENED):
        place = os.path.join(folder, below)
        os.makedirs(place, mode=0o700, exist_ok=True)
        for name in _names(os.path.join(home, below)):
            path = os.path.join(home, below, name)
            if path not in skipped and os.path.realpath(path) not in hidden:
                os.symlink(path, os.path.join(place, name))
    for name, source in copies.items():
        _copy(source, os.path.join(folder, name))


def _names(folder: str) -> list[str]:
    with contextlib.suppress(OSError):
        return os.listdir(folder)
    return []


def _copy(source: str, target: str) -> None:
    """Without the program's past. What cannot be read is left out."""
    os.makedirs(os.path.dirname(target), mode=0o700, exist_ok=True)
    with contextlib.suppress(OSError, shutil.Error):
        if os.path.isfile(source):
            shutil.copy2(source, target)
        elif os.path.isdir(source):
            if sum(_sizes(source)) > _MOST:
                os.symlink(source, target)
            else:
                # what a link leads to may be hidden with the place that holds it: a copy holds the file itself
                shutil.copytree(source, target, ignore=_left_out)


def _left_out(folder: str, names: list[str]) -> set[str]:
    special = {name for name in names if not _plain(os.path.join(folder, name))}
    return special | (_PAST & set(names))


def _plain(path: str) -> bool:
    if os.path.islink(path) and os.path.isdir(path):  # one such link on the way is followed, for there may be circles
        return os.path.realpath(os.path.dirname(path)) == os.path.dirname(path) and sum(_sizes(path)) <= _MOST_LINKED
    return os.path.isfile(path) or os.path.isdir(path)


def _sizes(folder: str) -> Iterator[int]:
    for here, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if name not in _PAST]
        for name in names:
            with contextlib.suppress(OSError):
                yield os.lstat(os.path.join(here, name)).st_size
