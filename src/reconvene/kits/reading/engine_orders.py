"""What a text tells the engine to do: "one more round", "skip", "no more rounds, let's proceed", "pause here".

A text is cut into its clauses. A clause is an order when all of it is one, less what politeness puts around it: in "we
are raising another round" and "we skip the dividend" the words are there, and no order is.
"""

from __future__ import annotations

import re

from reconvene.kits.reading import tongues

ORDERS = ("another round", "pause", "skip", "proceed")  # of several, the first counts; but see `order`
_CUES = {
    "another round": "order_again",
    "pause": "order_pause",
    "skip": "order_skip",
    "proceed": "order_proceed",
}
_LONGEST = 120  # letters of a clause that is an order
_EMOJI = "\u2600-\u27bf\U0001f300-\U0001faff\ufe0f"
_APART = re.compile(rf"[,.!?;:\n…。！？，、—–()\"“”{_EMOJI}]+|\s-+\s")
_NOT_WORDS = re.compile(r"[^\w\s'/-]+")
_AROUND = r"(?:<<order_opens>>\s)*(?P<core>.*?)(?:\s<<order_closes>>)*"


def clauses(text: str) -> list[str]:
    """The text cut at every sign, in small letters, without signs. What stood between two signs is one clause."""
    parts = _APART.split(text.casefold().replace("’", "'"))
    return [words for part in parts if (words := " ".join(_NOT_WORDS.sub(" ", part).split()))]


def order(text: str) -> str:
    """Which of `ORDERS` the text gives; "" if none. "No more rounds" beside any other word of rounds is no round."""
    tongue = tongues.of(text)
    given = [found for clause in clauses(text) if (found := order_of(clause, tongue))]
    return min(given, key=ORDERS.index) if given else ""


def refuses_round(text: str) -> bool:
    """Whether a text that goes on says so by refusing another round: "no more rounds, let's proceed"."""
    tongue = tongues.of(text)
    pattern, around = tongue.pattern("<<order_no_round>>"), tongue.pattern(_AROUND)
    for clause in clauses(text):
        inside = around.fullmatch(clause) if len(clause) <= _LONGEST else None
        if inside and (pattern.fullmatch(clause) or pattern.fullmatch(inside["core"])):
            return True
    return False


def order_of(clause: str, tongue: tongues.Tongue) -> str:
    """Of one clause as `clauses` gives it."""
    if len(clause) > _LONGEST:
        return ""
    around = tongue.pattern(_AROUND).fullmatch(clause)
    cores = {clause, around["core"]} if around else {clause}
    return next((name for name, cue in _CUES.items() if any(map(tongue.pattern(f"<<{cue}>>").fullmatch, cores))), "")
