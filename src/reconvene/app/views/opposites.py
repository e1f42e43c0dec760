"""Whether a sentence says the opposite of the one in whose place it stands: no for yes, stop for go.

By words, in the few languages below. What advises or judges is known by its first such word, turned round by a no just
before it. Where only one of the two sentences has such a word, a no in one and none in the other decides.
"""

from __future__ import annotations

import re

from reconvene.language.late_patterns import late

_NO = late(
    r"\b(?:not|no|never|none|cannot|without|nicht|kein\w*|nie|ohne|pas|jamais|sans|nunca|sin)\b|n['’]t\b|[不没無无]|ない|عدم",
    re.IGNORECASE,
)
_GO = (
    r"accept\w*|approv\w*|adopt\w*|buy\w*|invest\b|proceed\w*|go ahead|continu\w*|launch\w*|merg(?:e|ed|ing)\b|"
    r"publish\w*|recommend\w*|support(?:s|ed)?\b|pass(?:es|ed)?\b|safe\b|feasible|viable|affordable|sufficient|"
    r"profitable|fits?\b|holds?\b|meets?\b|ready\b|true\b|yes\b|"
    r"kaufen\w*|annehm\w*|genehmig\w*|zustimm\w*|fortfahren|empfehl\w*|accepter|acheter|poursuivre|aceptar|comprar|aprobar"
)
_STOP = (
    r"reject\w*|refus\w*|declin(?:e|es|ed)\b|avoid\w*|abandon\w*|drop(?:s|ped)?\b|cancel\w*|stop(?:s|ped)?\b|halt\w*|"
    r"withdraw\w*|postpon\w*|defer\w*|wait\b|hold off|against\b|sell\w*|oppos\w*|block(?:s|ed)?\b|fail(?:s|ed)?\b|"
    r"unsafe|dangerous|infeasible|unfeasible|unviable|unaffordable|insufficient|unprofitable|breaks?\b|broke\b|exceeds?\b|"
    r"misses\b|false\b|"
    r"ablehn\w*|verzicht\w*|abbrechen|verschieb\w*|rejeter|refuser|abandonner|rechazar|abandonar"
)
_SAID = late(rf"\b(?:(?P<stop>{_STOP})|(?P<go>{_GO}))", re.IGNORECASE)
_NEAR = 24  # characters before such a word in which a no belongs to it
_ADVISED_AGAINST = late(r"\b(?:recommend|advis|vot|argu|speak|decid)\w*\b[^.;:]{0,30}?\bagainst\b", re.IGNORECASE)


# A field of a form ("job_complete: True") is no sentence: what it means is said elsewhere.
_FIELD = late(r"[\w.-]+:\s*(?:true|false|yes|no|null|none)\W*", re.IGNORECASE)


def turned(was: str, now: str) -> bool:
    if _FIELD.fullmatch(was) and _FIELD.fullmatch(now):
        return False
    before, after = stance(was), stance(now)
    if before and after:
        return before != after
    return bool(_NO.search(was)) != bool(_NO.search(now))


def stance(sentence: str) -> str:
    """`go`, `stop`, or "" where nothing is advised or judged."""
    if _ADVISED_AGAINST.search(sentence):  # what is recommended against is not recommended
        return "stop"
    found = _SAID.search(sentence)
    if found is None:
        return ""
    refused = _NO.search(sentence, max(found.start() - _NEAR, 0), found.start()) is not None
    return "stop" if (found["stop"] is not None) != refused else "go"
