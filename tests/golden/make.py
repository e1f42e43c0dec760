"""`make golden`: the golden homes of this release. What is there is never touched; what is missing is added.

Every journey is played in PLACE by the code as it is now, and each stop that this release has no home of is kept.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path

from .archive import Home, pack
from .homes import FOLDER, add, contents
from .journey import Journey
from .journeys import JOURNEYS
from .place import PLACE


@contextmanager
def a_place_of_its_own() -> Iterator[None]:
    try:
        os.mkdir(PLACE, 0o700)
    except FileExistsError:
        sys.exit(f"{PLACE} is there: another `make golden` is at work. If none is, remove it: rm -r {PLACE}")
    try:
        yield
    finally:
        shutil.rmtree(PLACE)


def played(workflow: str, release: str) -> Mapping[str, Home]:
    """Stop → home, all of them."""
    with a_place_of_its_own():
        go = Journey(workflow, release)
        JOURNEYS[workflow](go)
        go.close()
    return go.homes


def fresh(workflow: str, release: str, homes: Mapping[str, Home], folder: Path = FOLDER) -> dict[str, Home]:
    """Those that the release does not have yet."""
    known = [about["stops"] for about in contents(release, folder).values() if about["workflow"] == workflow]
    there = {stop for stops in known if isinstance(stops, list) for stop in stops}
    return {stop: home for stop, home in homes.items() if stop not in there}


def main() -> None:
    release = version("reconvene")
    for workflow in JOURNEYS:
        homes = fresh(workflow, release, played(workflow, release))
        if homes:
            data = pack(homes)
            print(f"{add(release, workflow, homes, data).name}: {len(homes)} homes, {len(data):,} bytes")
        else:
            print(f"{workflow}: nothing to add for {release}")


if __name__ == "__main__":
    main()
