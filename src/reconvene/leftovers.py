"""What processes that ended left lying about in a home, and nobody needs: found by `doctor`, removed by its `--sweep`.

Only what the engine itself made and can do without. Folders of runs, outputs that are not recorded yet and files that
were held back are a person's: they are named elsewhere, and never removed here.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import NamedTuple

from reconvene.adapters.shared.safe_files import TEMP_PREFIX
from reconvene.adapters.sqlite.presence import Presence
from reconvene.home import STORE, file_name

_CALM = 3600.0  # seconds: what is younger may still be somebody's at work


class Leftover(NamedTuple):
    path: str
    what: str


def found(home: str, runs: Iterable[str]) -> list[Leftover]:
    """`runs`: all that the store knows."""
    names = {file_name(run) for run in runs}
    return [
        *(Leftover(path, "a file that was never finished") for path in _unfinished(home)),
        *(Leftover(path, "the sign of a process that is gone") for path in _dead(home)),
        *(Leftover(path, "notes about a run that the store does not know") for path in _notes(home, names)),
    ]


def sweep(leftovers: Iterable[Leftover]) -> list[Leftover]:
    """Those that are gone afterwards."""
    gone: list[Leftover] = []
    for one in leftovers:
        with suppress(OSError):
            os.unlink(one.path)
            gone.append(one)
    return gone


def _unfinished(home: str) -> Iterator[str]:
    before = time.time() - _CALM
    for here, _, names in os.walk(home):
        inside = os.path.relpath(here, home)
        for name in names:
            path = os.path.join(here, name)
            ours = name.startswith(TEMP_PREFIX) or (inside == "." and name.startswith(f"{STORE}.new"))
            of_git = name.endswith(".lock") or name.startswith("tmp_obj_")
            in_git = inside.split(os.sep)[0] == "history.git"
            if (ours or (of_git and in_git)) and _changed(path) < before:
                yield path


def _changed(path: str) -> float:
    try:
        return os.lstat(path).st_mtime
    except OSError:
        return time.time()


def _dead(home: str) -> Iterator[str]:
    folder = os.path.join(home, "processes")
    with suppress(OSError):
        tokens = {name for name in os.listdir(folder) if len(name) == 16}
        alive = Presence(folder).alive(tokens)
        yield from (os.path.join(folder, name) for name in sorted(tokens - alive))


def _notes(home: str, known: set[str]) -> Iterator[str]:
    for folder, end in (("manifests", ".json"), ("shown", ".jsonl")):
        with suppress(OSError):
            for name in sorted(os.listdir(os.path.join(home, folder))):
                if name.endswith(end) and name.removesuffix(end) not in known:
                    yield os.path.join(home, folder, name)
