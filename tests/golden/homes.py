"""The golden homes that the repository keeps: release → workflow → stop. Read from `homes/<release>/`."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from .archive import SUFFIX, Home, unpack

FOLDER = Path(__file__).parent / "homes"
CONTENTS = "contents.json"
# Homes of the first release that were made since logs are chained.
_CHAINED = ("job.tar.xz", "brainstorm.2.tar.xz", "spec-refinement.2.tar.xz")


class Golden(NamedTuple):
    """One home, by name. `archive` is the file that holds it."""

    release: str
    workflow: str
    stop: str
    archive: str

    @property
    def home(self) -> Home:
        return unpack(FOLDER / self.release / self.archive)[self.stop]

    @property
    def from_before_the_chain(self) -> bool:
        """Whether its events do not hold the digest of the one before."""
        return self.release == "0.1.0" and self.archive not in _CHAINED

    def __str__(self) -> str:
        return f"{self.release}-{self.workflow}-{self.stop}"


def releases(folder: Path = FOLDER) -> list[str]:
    found = [path.name for path in folder.iterdir() if path.is_dir()] if folder.is_dir() else []
    return sorted(found, key=lambda name: tuple(int(part) for part in name.split(".")))


def contents(release: str, folder: Path = FOLDER) -> Mapping[str, Mapping[str, object]]:
    """Archive → its digest, its workflow and its stops. A list that people can read, and that shows if one changed."""
    file = folder / release / CONTENTS
    found: dict[str, Mapping[str, object]] = json.loads(file.read_text(encoding="utf-8")) if file.is_file() else {}
    return found


def every_home() -> Iterator[Golden]:
    for release in releases():
        for archive, about in contents(release).items():
            stops = about["stops"]
            assert isinstance(stops, list)
            yield from (Golden(release, str(about["workflow"]), stop, archive) for stop in stops)


def add(release: str, workflow: str, homes: Mapping[str, Home], data: bytes, folder: Path = FOLDER) -> Path:
    """Keep these as one more archive. What is there is not touched."""
    known = dict(contents(release, folder))
    number = 1 + sum(about["workflow"] == workflow for about in known.values())
    name = f"{workflow}{SUFFIX}" if number == 1 else f"{workflow}.{number}{SUFFIX}"
    place = folder / release
    place.mkdir(parents=True, exist_ok=True)
    with (place / name).open("xb") as file:
        file.write(data)
    known[name] = {"workflow": workflow, "sha256": digest(data), "stops": sorted(homes)}
    text = json.dumps(dict(sorted(known.items())), indent=1, ensure_ascii=False)
    (place / CONTENTS).write_text(text + "\n", encoding="utf-8")
    return place / name


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
