"""What kind of remark a text is, by the turns of phrase people use, and which rule said so.

No rule knows a trade, a company or a process. The first that fits wins; a text that none knows is a comment. Only the
head of a long text is looked at: a remark says what it is at its beginning.
"""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from reconvene.kits.reading import tongues
from reconvene.kits.reading.figures import Correction, corrections_in, stated_in
from reconvene.kits.reading.relative import relative_in
from reconvene.kits.reading.terms import name_pattern

_HEAD = 4000
_SHORT = 80  # a sentence of this length that states a figure is about the figure


class Ruling(Struct, frozen=True):
    kind: str
    rule: str  # in words for the person
    target: str = ""
    was: str = ""
    now: str = ""
    corrections: int = 0  # figures replaced

    @property
    def definite(self) -> bool:
        """A rule spoke up, so that the text can stand as a remark of its own."""
        return self.kind != "comment"


# "The bridge opens in two years": a statement about something, told because it was not known.
_STATES = r"\W*(?:<<states>>|\d{1,4})\s(?:\S{1,30}\s){1,60}?\S"
_ANSWERS = "it answers what was said"
_JUDGES = "<<verdict>>"  # counts only where an agent is named
_BY_CUE = (
    ("missing factor", "<<missing>>", "it names something left out"),
    ("strategic shift", "<<shift>>", "it reports a decision or a change of direction"),
    ("new context", "<<reminded>>", "it tells what came to mind"),
    ("reaction", "<<disagreement>>", _ANSWERS),
    ("reaction", "<<agreement>>", _ANSWERS),
    ("reaction", _JUDGES, _ANSWERS),
    ("reaction", "<<impression>>", _ANSWERS),
    ("comment", "<<request>>", "it asks for something"),
    ("comment", "<<about_the_text>>", "it is about the text, not about its subject"),
    ("clarification", "<<clarifies>>", "it makes something more precise"),
    ("correction", "<<denies>>", "it says that something is not so"),
)


def classify(text: str, agents: tuple[str, ...] = ()) -> Ruling:
    """The first rule that fits, with the figures the text replaces and the agents it reacts to."""
    head = text[:_HEAD]
    replaced = corrections_in(head)
    ruling = _ruling(head, replaced, named(head, agents))
    if not replaced:
        return ruling
    return replace(ruling, was=replaced[0].was_text, now=replaced[0].now_text, corrections=len(replaced))


def named(text: str, agents: tuple[str, ...]) -> tuple[str, ...]:
    """The agents a text names, in its order."""
    found = [(match.start(), agent) for agent in agents if (match := name_pattern(agent).search(text))]
    return tuple(agent for _, agent in sorted(found))


def disagrees(text: str) -> bool:
    """Whether a text disputes what was said."""
    head = text[:_HEAD]
    return bool(tongues.of(head).pattern("<<disagreement>>").search(head))


def _ruling(text: str, replaced: tuple[Correction, ...], agents: tuple[str, ...]) -> Ruling:
    tongue = tongues.of(text)
    moved = bool(tongue.pattern("<<moved>>").search(text))
    asks = text.rstrip().endswith(("?", "？"))
    if replaced and not moved:
        first = replaced[0]
        return Ruling("correction", f"it puts {first.now_text} in the place of {first.was_text}")
    if not asks and not moved and (off := relative_in(text)):
        return Ruling("correction", f"it says how far a known figure is off: {_shown(off.text)}")
    named_here = ", ".join(agents)
    for kind, cue, rule in _BY_CUE:
        if (agents or cue != _JUDGES) and (found := tongue.pattern(cue).search(text)):
            return Ruling(kind, f"{rule}: “{_shown(found[0])}”", named_here if kind == "reaction" else "")
    if agents:
        return Ruling("reaction", f"it names {named_here}", named_here)
    if replaced:
        return Ruling("new context", f"a figure has moved: {replaced[0].was_text} → {replaced[0].now_text}")
    happened = tongue.pattern("<<event>>").search(text)
    if (
        not asks
        and not happened
        and len(text) < _SHORT
        and (figure := next((each for each in stated_in(text) if each.plainly), None))
    ):
        return Ruling("correction", f"it states a figure: {figure.figure.text}", now=figure.figure.text)
    if not asks and (found := tongue.pattern("<<news>>").search(text)):
        return Ruling("new context", f"it tells something not said before: “{_shown(found[0])}”")
    if not asks and tongue.pattern(_STATES).match(text):
        return Ruling("new context", "it states something not said before")
    return Ruling("comment", "no rule knows it better")


def _shown(cue: str) -> str:
    return " ".join(cue.split()).strip(" ,;:.")[:60]
