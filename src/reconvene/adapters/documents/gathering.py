"""What the process that reads a document is asked, what it answers, and how it gathers the answer within limits."""

from __future__ import annotations

import re

from msgspec import Struct

from reconvene.material_ports import DocumentFault, Part, ReadLimits

PART = 4_000  # characters, about
LINES = 40  # of one part
_MOST_NOTES = 60
_NAMED = 12  # places that one note names
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")
# Not seen by a person, and read by a model: tags, and marks that turn the order of letters round.
_UNSEEN = re.compile("[\U000e0000-\U000e007f\u202a-\u202e\u2066-\u2069]")


class Request(Struct, frozen=True):
    suffix: str  # of the file's name, in small letters, with its dot
    size: int
    limits: ReadLimits


class Read(Struct, frozen=True, tag="read"):
    media: str
    digest: str
    parts: tuple[Part, ...]
    notes: tuple[str, ...]


class Failed(Struct, frozen=True, tag="failed"):
    fault: DocumentFault
    problem: str  # begins with what is told of the file: "is damaged"
    hint: str = ""


class Unreadable(Exception):
    """Ends the reading."""

    def __init__(self, fault: DocumentFault, problem: str, hint: str = "") -> None:
        super().__init__(problem)
        self.failed = Failed(fault, problem, hint)


class Gathering:
    """Parts until there is room for no more, and notes."""

    def __init__(self, limits: ReadLimits) -> None:
        self.limits = limits
        self.parts: list[Part] = []
        self.full = False
        self._notes: list[str] = []
        self._room = limits.characters
        self._unseen = 0
        self._places: dict[str, list[str]] = {}

    def add(self, place: str, text: str, head: int = 0) -> bool:
        """False where there is no room for more. A part that does not fit is cut."""
        text, place = self._clean(text), self._clean(place).replace("\n", " ")
        if not text.strip() or self.full:
            return not self.full
        if len(text) > self._room:
            self.full = True
            text = text[: self._room]
            self.note(f"Cut in {place}: only the first {self.limits.characters:,} characters of the text are read.")
        self._room -= len(text)
        if text:
            self.parts.append(Part(place, text, head))
        return not self.full

    def note(self, text: str) -> None:
        if text not in self._notes:
            self._notes.append(self._clean(text))

    def found(self, what: str, place: str) -> None:
        """One note for all places of the same sort. `what` has {} for them."""
        places = self._places.setdefault(what, [])
        if place not in places:
            places.append(self._clean(place).replace("\n", " "))

    def notes(self) -> tuple[str, ...]:
        told = [*self._notes, *(what.replace("{}", named(places)) for what, places in self._places.items())]
        if self._unseen:
            told.append(f"{self._unseen} characters that nobody sees (tags, marks of direction) were taken out.")
        return tuple(told[:_MOST_NOTES])

    def _clean(self, text: str) -> str:
        text = _CONTROL.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))
        text, times = _UNSEEN.subn("", text)
        self._unseen += times
        return text


def named(places: list[str]) -> str:
    rest = len(places) - _NAMED
    return ", ".join(places[:_NAMED]) + (f" and {rest} more" if rest > 0 else "")
