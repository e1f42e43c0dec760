"""What a person or a companion looks for in a run: passages that can be cited, and the index that finds them. Structs
and Protocols.

An index is made from the log and can be thrown away: `app/searching.py` brings it up to date. Nothing here does
anything.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Literal, Protocol

from msgspec import Struct

Kind = Literal["file", "document", "output", "talk", "audit"]


class Passage(Struct, frozen=True):
    kind: Kind
    name: str  # path of the file, name of the document, `economist, round 2 of uncertainties`, `talk`, `event 41`
    place: str  # where in it: `lines 10-24`, `p. 3`, `Sheet1!A1:D40`; "" = all of it
    text: str
    heading: str = ""
    digest: str = ""  # of the content that it is a part of


class Found(Struct, frozen=True):
    passage: Passage
    score: float  # the higher the better; it compares the passages of one search only
    cite: str  # what a person types or clicks to open it: `plan.md:10-24`, `report.pdf p. 3`, `event 41`


class Content(Struct, frozen=True):
    """Something of a run that can be searched, before it is cut into passages."""

    kind: Kind
    name: str
    digest: str
    cite: str  # how all of it is cited
    cut: str  # how it is cut: the same bytes, cut in the same way, are indexed once for all runs


class Cut(Struct, frozen=True):
    """A part of a content, as `Passage` has it."""

    place: str
    text: str
    heading: str = ""


class Hit(Struct, frozen=True):
    content: Content
    cut: Cut
    score: float


class SearchIndex(Protocol):
    """Finds parts of contents again, by their words and by what they mean. What it keeps can be deleted at any time."""

    model: str  # makes the vectors that stand for meanings; "" = there is none, and words alone are compared
    left_out: str  # why the last search did not compare all meanings, in words; "" = it did, or was not asked to

    def mark(self, run: str) -> str:
        """As `refresh` was last given it; "" = never."""

    def refresh(
        self, run: str, mark: str, contents: Sequence[Content], cut: Callable[[Content], Sequence[Cut]]
    ) -> None:
        """These and no others can be found for the run from now on. `cut` is asked only for what is not indexed."""

    def find(self, run: str, query: str, kinds: Collection[Kind], limit: int, meaning: bool) -> list[Hit]:
        """The best first; the same text once. kinds: only of these; () = of all. meaning: compare also what texts mean,
        not words alone."""

    def forget(self, run: str) -> None:
        """The run was deleted: what no other run needs goes."""

    def close(self) -> None: ...


class Unembedded(Exception):
    """Texts could not be turned into vectors; the message says why."""


class Embedder(Protocol):
    """Turns texts into vectors: the nearer two of them, the more alike what the texts mean."""

    name: str  # of the model. Vectors of two models cannot be compared
    batch: int  # so many texts at a time

    def embed(self, texts: Sequence[str], *, query: bool = False) -> list[bytes]:
        """Of each text a vector of length one, as float32 in the machine's order; b"" where a text has no meaning to
        it. query: the texts are questions. Unembedded where it fails."""
