"""Answers to an option's own questions before the option is taken: in a file of the home, as soon as each is given. And
a remark that was begun and not ended, as that of an option without a name; and texts that could not be taken.

They are no facts. The log learns of them with the decision, and no agent sees them before. Whoever is interrupted, or
comes back another day, finds what they answered filled in. Another checkpoint of the run puts new ones in their place.
"""

from __future__ import annotations

import json
import os
import shutil
from contextlib import suppress
from itertools import count
from typing import NamedTuple

from reconvene.core.facts.commands import Answers
from reconvene.home import file_name

_FOLDER = "unsent"


def forget(home: str, run: str) -> None:
    """The run was deleted: whatever its checkpoint was, nothing is kept of it."""
    with suppress(FileNotFoundError):
        os.unlink(_file(home, run))
    with suppress(FileNotFoundError):
        shutil.rmtree(_texts(home, run))


def keep_text(home: str, run: str, name: str, data: bytes) -> str:
    """A text of the person's that was not taken into the run: where it is kept. OSError where it cannot be."""
    folder = _texts(home, run)
    os.makedirs(folder, mode=0o700, exist_ok=True)
    stem, dot, ending = name.rpartition(".")
    for number in count(1):
        path = os.path.join(folder, f"{stem}-{number}.{ending}" if dot else f"{name}-{number}")
        with suppress(FileExistsError), open(path, "xb") as file:
            file.write(data)
            return path
    raise AssertionError


def _texts(home: str, run: str) -> str:
    return os.path.join(home, _FOLDER, file_name(run))


def _file(home: str, run: str) -> str:
    return os.path.join(home, _FOLDER, f"{file_name(run)}.json")


class Unsent(NamedTuple):
    """Of one option at one checkpoint of a run."""

    home: str
    run: str
    checkpoint: str
    option: str

    def before(self) -> Answers:
        """What was answered so far, by field."""
        found = self._options().get(self.option)
        return found if isinstance(found, dict) else {}

    def keep(self, answers: Answers) -> None:
        """A home that cannot be written to keeps nobody from answering."""
        options = {**self._options(), self.option: answers}
        fresh = f"{self._file}.new"
        with suppress(OSError):
            os.makedirs(os.path.dirname(self._file), mode=0o700, exist_ok=True)
            with open(fresh, "w", encoding="utf-8") as file:
                json.dump({"checkpoint": self.checkpoint, "options": options}, file)
            os.replace(fresh, self._file)

    def drop(self) -> None:
        """It was decided."""
        with suppress(OSError):
            os.unlink(self._file)

    @property
    def _file(self) -> str:
        return _file(self.home, self.run)

    def _options(self) -> dict[str, object]:
        try:
            with open(self._file, encoding="utf-8") as file:
                kept = json.load(file)
        except (OSError, ValueError, RecursionError):
            return {}
        same = isinstance(kept, dict) and kept.get("checkpoint") == self.checkpoint
        options = kept.get("options") if same else None
        return options if isinstance(options, dict) else {}
