"""What kind of remark a text is, by the turns of phrase people use, and which rule said so.

Pure, offline, general: no rule knows a trade, a company or a process. First rule wins; the order is the point. A text
that no rule knows is a comment. Only the head of a long text is looked at: a remark says what it is at its beginning.
"""

from __future__ import annotations

import re

from msgspec import Struct

from reconvene.kits.reading import tongues
from reconvene.kits.reading.figures import Correction, corrections_in, stated_in

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


_AGREED_RULE = "it answers what was said"
_MOVED, _DISAGREES, _AGREES, _JUDGES = "<<moved>>", "<<disagreement>>", "<<agreement>>", "<<verdict>>"
_TELLS = "<<news>>"
# "The bridge opens in two years": a statement about something, told because it was not known.
_STATES = r"\W*(?:<<states>>|\d{1,4})\s(?:\S{1,30}\s){1,60}?\S"
_Table = tuple[tuple[str, str, str], ...]
_BEFORE_REACTIONS: _Table = (
    ("missing factor", "<<missing>>", "it names something left out"),
    ("strategic shift", "<<shift>>", "it reports a decision or a change of direction"),
)
_AFTER_REACTIONS: _Table = (
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
    first = replaced[0]
    return Ruling(ruling.kind, ruling.rule, ruling.target, first.was_text, first.now_text, len(replaced))


def named(text: str, agents: tuple[str, ...]) -> tuple[str, ...]:
    """The agents a text names, however their names are joined: `safety_analyst` is "the safety analyst"."""
    found: list[tuple[int, str]] = []
    for agent in agents:
        words = [re.escape(word) for word in re.split(r"[\W_]+", agent) if word]
        match = words and re.search(rf"\b{'[ _-]{1,2}'.join(words)}(?:s|['’]s)?\b", text, re.IGNORECASE)
        if match:
            found.append((match.start(), agent))
    return tuple(agent for _, agent in sorted(found))


def disagrees(text: str) -> bool:
    """Whether a text disputes what was said."""
    head = text[:_HEAD]
    return bool(tongues.of(head).pattern(_DISAGREES).search(head))


def _ruling(text: str, replaced: tuple[Correction, ...], agents: tuple[str, ...]) -> Ruling:
    tongue = tongues.of(text)
    if replaced and not tongue.pattern(_MOVED).search(text):
        first = replaced[0]
        return Ruling("correction", f"it puts {first.now_text} in the place of {first.was_text}")
    for kind, cue, rule in _BEFORE_REACTIONS:
        if found := tongue.pattern(cue).search(text):
            return Ruling(kind, f"{rule}: “{_shown(found[0])}”")
    if reaction := _reaction(text, agents, tongue):
        return reaction
    for kind, cue, rule in _AFTER_REACTIONS:
        if found := tongue.pattern(cue).search(text):
            return Ruling(kind, f"{rule}: “{_shown(found[0])}”")
    if agents:
        return Ruling("reaction", f"it names {', '.join(agents)}", ", ".join(agents))
    if replaced:
        return Ruling("new context", f"a figure has moved: {replaced[0].was_text} → {replaced[0].now_text}")
    asks = text.rstrip().endswith(("?", "？"))
    if not asks and len(text) < _SHORT and (figure := next((each for each in stated_in(text) if each.plainly), None)):
        return Ruling("correction", f"it states a figure: {figure.figure.text}", now=figure.figure.text)
    if not asks and (found := tongue.pattern(_TELLS).search(text)):
        return Ruling("new context", f"it tells something not said before: “{_shown(found[0])}”")
    if not asks and tongue.pattern(_STATES).match(text):
        return Ruling("new context", "it states something not said before")
    return Ruling("comment", "no rule knows it better")


def _reaction(text: str, agents: tuple[str, ...], tongue: tongues.Tongue) -> Ruling | None:
    cues = (_DISAGREES, _AGREES, *((_JUDGES,) if agents else ()))
    found = next((found for cue in cues if (found := tongue.pattern(cue).search(text))), None)
    if not found:
        return None
    target = ", ".join(agents)
    return Ruling("reaction", f"{_AGREED_RULE}: “{_shown(found[0])}”", target)


def _shown(cue: str) -> str:
    return " ".join(cue.split()).strip(" ,;:.")[:60]
