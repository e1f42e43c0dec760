"""What the engineer's and the reviewer's outputs say, once they are read.

One job: the shape of what was said. It must not know how it was written.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

from reconvene.kits.gaps.found import Found
from reconvene.kits.gaps.vocabulary import Overall, Severity, Verdict

PARSED = 8  # texts whose reading is kept: those of a round that is under way, and of a few others

Position = Literal["AGREE", "DISAGREE", "PARTIAL", "UNCLEAR"]


class Resolution(NamedTuple):
    gap: str  # as written; "" when the heading names none
    title: str
    lines: str
    digest: str
    quote: str
    confidence: str = ""
    question: str = ""
    blocked_by: tuple[str, ...] = ()
    new: tuple[Found, ...] = ()
    parts: tuple[Found, ...] = ()  # a split
    body: str = ""  # without examples


class Answer(NamedTuple):
    issue: str
    position: Position
    rationale: str
    alternative: str
    lines: str


class Proposals(NamedTuple):
    resolutions: tuple[Resolution, ...] = ()
    answers: tuple[Answer, ...] = ()
    new: tuple[Found, ...] = ()  # outside any solution
    named_new: tuple[tuple[str, str], ...] = ()  # (gap, new gap) of the closing table
    issues: frozenset[str] = frozenset()  # cited anywhere outside examples
    gaps: frozenset[str] = frozenset()
    said: str = ""  # all prose, for a look at what it takes up
    file: str = ""  # where people find it

    @property
    def idle(self) -> bool:
        return not (self.resolutions or self.answers or self.new)


class Judged(NamedTuple):
    gap: str
    verdict: Verdict
    note: str
    line: int


class Raised(NamedTuple):
    """An issue. `id` "" = it has none yet; `gap` "" = it does not say which."""

    id: str
    gap: str
    severity: Severity | None
    title: str
    text: str
    lines: str


class Rated(NamedTuple):
    """A gap that is graver, or less grave, than it was said to be."""

    gap: str
    severity: Severity
    why: str


class Review(NamedTuple):
    verdicts: tuple[Judged, ...] = ()
    issues: tuple[Raised, ...] = ()
    new: tuple[Found, ...] = ()
    checks: tuple[tuple[str, bool], ...] = ()
    overall: Overall = "NONE"
    gaps: frozenset[str] = frozenset()  # named anywhere outside examples
    cited: frozenset[str] = frozenset()  # issues named anywhere outside examples
    words: int = 0
    said: str = ""
    rated: tuple[Rated, ...] = ()
    file: str = ""  # where people find it

    @property
    def empty(self) -> bool:
        return not (self.verdicts or self.issues or self.new)
