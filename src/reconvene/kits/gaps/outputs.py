"""What the engineer's and the reviewer's outputs say, once they are read. It must not know documents."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Literal, NamedTuple

from reconvene.kits.gaps.found import Found
from reconvene.kits.gaps.markdown import bare, clip
from reconvene.kits.gaps.records import TEXT
from reconvene.kits.gaps.vocabulary import Overall, Severity, Verdict

PARSED = 8  # texts whose reading is kept: those of a round that is under way, and of a few others

Position = Literal["AGREE", "DISAGREE", "PARTIAL", "UNCLEAR"]
_POSITIONS: dict[Position, str] = {
    "PARTIAL": r"partial|agree in part|partly|mixed|compromise",
    "DISAGREE": r"(?:strongly |respectfully )?(?:disagree|reject|object|declin|dispute)|(?:do not|don['’]t) agree",
    "AGREE": r"(?:fully )?(?:agree|accept|concede|fixed|addressed|adopted|done|changed|yes)\b",
}
EMPTY = re.compile(r"(?:none|n/?a|no|nothing|-+|—|\[.*\])?\.?$", re.IGNORECASE)


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
    solution: str = ""  # the rules alone, whole


class Answer(NamedTuple):
    issue: str
    position: Position
    rationale: str
    alternative: str
    lines: str


def answer_of(issue: str, known: Mapping[str, str], body: str, lines: str) -> Answer:
    """One answer to an issue, from its named texts; `body` is all of it."""
    said = re.sub(r"^[^\w]+", "", bare(first_of(known, "engineer position", "position") or body))
    fitting = (name for name, words in _POSITIONS.items() if re.match(words, said, re.IGNORECASE))
    position: Position = next(fitting, "UNCLEAR")
    alternative = bare(first_of(known, "alternative view", "alternative", "middle ground"))
    rationale = first_of(known, "rationale", "reason") or ("" if known else body)
    return Answer(
        issue, position, clip(bare(rationale), TEXT), "" if EMPTY.match(alternative) else clip(alternative, TEXT), lines
    )


def first_of(known: Mapping[str, str], *keys: str) -> str:
    """The first of these texts that says something."""
    return next((known[key] for key in keys if known.get(key)), "")


class Proposals(NamedTuple):
    resolutions: tuple[Resolution, ...] = ()
    answers: tuple[Answer, ...] = ()
    new: tuple[Found, ...] = ()  # outside any solution
    named_new: tuple[tuple[str, str], ...] = ()  # (gap, new gap) of the closing table
    issues: frozenset[str] = frozenset()  # cited anywhere outside examples
    said: str = ""  # all prose, for a look at what it takes up
    file: str = ""  # where people find it

    @property
    def idle(self) -> bool:
        return not (self.resolutions or self.answers or self.new)


OF_ALL = "said of all"


class Judged(NamedTuple):
    """A verdict on a gap. `doubt`: why it can be read otherwise; "" = it cannot."""

    gap: str
    verdict: Verdict
    note: str
    line: int
    doubt: str = ""
    quote: str = ""  # the line itself


class Raised(NamedTuple):
    """An issue. `id` "" = it has none yet; `gap` "" = it does not say which. `state`: as it is reported."""

    id: str
    gap: str
    severity: Severity | None
    title: str
    text: str
    lines: str
    state: Literal["open", "resolved"] = "open"


class Ruled(NamedTuple):
    """What the reviewer says of a person's decision: whether the proposal follows it."""

    id: str  # of the decision or of its issue
    followed: bool
    why: str
    line: int = 0


class Differs(NamedTuple):
    """Something that the text and its JSON block say differently; "" = it says nothing of it."""

    what: str
    text: str
    block: str


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
    said: str = ""  # all prose
    rated: tuple[Rated, ...] = ()
    file: str = ""  # where people find it
    rulings: tuple[Ruled, ...] = ()
    differs: tuple[Differs, ...] = ()
    covers: bool = False  # it gives one verdict for all

    @property
    def empty(self) -> bool:
        return not (self.verdicts or self.issues or self.new)
