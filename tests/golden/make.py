"""`make golden`: the golden homes of this release, and what homes render. What is there is never touched.

Every journey is played in PLACE by the code as it is now, and each stop that this release has no home of is kept. Then
every home of every release goes on, and what it renders is recorded where there is no record yet (`rendered.py`).

`make golden ARGS="--anew WORKFLOW …"` does one thing only: what these packaged workflows render today is taken as the
measure, in place of what they rendered before.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path

from . import rendered, watching
from .archive import Home, pack
from .homes import FOLDER, add, contents, every_home, releases
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
    if sys.argv[1:2] == ["--anew"]:
        take_anew(sys.argv[2:])
        return
    release = version("reconvene")
    for workflow in JOURNEYS:
        homes = fresh(workflow, release, played(workflow, release))
        if homes:
            data = pack(homes)
            print(f"{add(release, workflow, homes, data).name}: {len(homes)} homes, {len(data):,} bytes")
        else:
            print(f"{workflow}: nothing to add for {release}")
    for each in releases():
        for workflow in JOURNEYS:
            if found := unrecorded(workflow, each, anew=each == releases()[-1]):
                file = rendered.add(each, workflow, found)
                print(f"rendered/{each}/{file.name}: {len(found)} records, {file.stat().st_size:,} bytes")


def take_anew(workflows: list[str]) -> None:
    if not workflows or (unknown := sorted(set(workflows) - set(JOURNEYS))):
        sys.exit(f"--anew needs workflows of these: {', '.join(JOURNEYS)}" + (f"; not {unknown}" if workflows else ""))
    for workflow in workflows:
        found = watching.played(workflow)
        file = rendered.made_anew(releases()[-1], workflow, found)
        print(f"rendered/{releases()[-1]}/{file.name}: {len(found)} records anew, {file.stat().st_size:,} bytes")


def unrecorded(workflow: str, release: str, *, anew: bool) -> dict[str, rendered.Rendered]:
    """What these homes render, and what the journey does with the workflow of today, where it is not on record."""
    kept = rendered.records(release, workflow)
    homes = [one for one in every_home() if (one.release, one.workflow) == (release, workflow)]
    found: dict[str, rendered.Rendered] = {}
    for golden in homes:
        for way in watching.ways(golden):
            if f"{way}/{golden.stop}" not in kept:
                with tempfile.TemporaryDirectory() as folder:
                    found[f"{way}/{golden.stop}"] = watching.driven(golden, Path(folder), way)
    if anew and any(watching.seen(one.stop) and f"anew/{one.stop}" not in kept for one in homes):
        found |= {of: one for of, one in watching.played(workflow).items() if of not in kept}
    return found


if __name__ == "__main__":
    main()
