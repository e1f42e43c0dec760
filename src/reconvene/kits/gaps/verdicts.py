"""What a reviewer's words mean: approved, approved with note, needs revision, rejected, or no verdict at all.

Lenient in markup, strict in meaning: an approval with a condition is none. It must not know where the words stood.
"""

from __future__ import annotations

import re

from reconvene.kits.gaps.markdown import bare
from reconvene.kits.gaps.vocabulary import Overall, Verdict

_END = r"(?=\s*(?:$|[.,;:!|()\[\]—–/-]))"
_SENT_BACK = re.compile(
    r"(?:not\b|cannot\b|can['’]?t\b|conditional(?:ly)?\b|partial(?:ly)?\b)[^.;]{0,30}?\b(?:approve|accept|resolve|ready)"
    r"|(?:still )?(?:needs?|requires?|must have|wants)\b[^.;]{0,30}?\b(?:revis|work|chang|rework|more)"
    r"|revis(?:e|ion)(?: and resubmit| needed| required| requested)?" + _END + r"|revise\b"
    r"|(?:request(?:s|ed|ing)? )?changes?(?: (?:requested|required|needed))" + _END + r"|rework" + _END,
    re.IGNORECASE,
)
_REJECTED = re.compile(
    r"(?:rejected|reject|declined|refused)(?:" + _END + r"|(?= (?:because|as|since|for)\b))", re.IGNORECASE
)
_APPROVED = re.compile(
    r"(?:fully |unanimously )?(?:approved?|accepted|accept|resolved|lgtm|looks good(?: to me)?)"
    r"(?:(?= (?:with(?:out)?|as|but|if|once|when|after|provided|pending|subject|unless|except|in full|on condition|for"
    r"|conditional)\b)|" + _END + r")",
    re.IGNORECASE,
)
_CONDITION = re.compile(
    r"[\s,;:(—–-]*(?:but|if|once|when|after|provided|pending|subject to|unless|except|on condition|conditional"
    r"|with (?:\w+ ){0,2}(?:changes?|conditions?|revisions?|reservations?|fixes))\b",
    re.IGNORECASE,
)
_NOTE = re.compile(
    r"[\s,;:(—–-]*with (?:\w+ ){0,3}(?:notes?|comments?|suggestions?|remarks?|caveats?|nits?)\b", re.IGNORECASE
)
APPROVALS: tuple[Verdict, ...] = ("approved", "approved with note")
OVERALL_KEYS = re.compile(r"(?:overall|final)(?: \w+)?$|recommendation$|verdict$|recommended action$")
_RANK: dict[Verdict, int] = {"approved": 0, "approved with note": 1, "needs revision": 2, "rejected": 3}
_BOLD = re.compile(r"\*\*([^*]{2,120})\*\*|__([^_]{2,120})__")
_BREAKS = re.compile(r"\s+[-—–]+\s+|\s*[:|→⇒]\s*|\s*=>\s*|—")


def phrase(text: str) -> Verdict | None:
    """The verdict that a phrase begins with."""
    words = re.sub(r"^[^\w]+", "", bare(text)[:300].replace("_", " "))
    if _SENT_BACK.match(words):
        return "needs revision"
    if _REJECTED.match(words):
        return "rejected"
    if approved := _APPROVED.match(words):
        rest = words[approved.end() :]
        if _CONDITION.match(rest):
            return "needs revision"
        return "approved with note" if _NOTE.match(rest) else "approved"
    return None


def verdict_in(text: str) -> tuple[Verdict | None, str]:
    """The verdict of an item such as "Error recovery - **APPROVED with minor note**: …", and what follows it."""
    for bold in _BOLD.finditer(text[:2000]):
        if found := phrase(bold[1] or bold[2]):
            # "**APPROVED** once the retry is bounded": the condition stands outside the emphasis.
            full = phrase(text[bold.start() :])
            return (full or found), _rest(text[bold.end() :])
    breaks = [0, *(match.end() for match in _BREAKS.finditer(text[:2000]))]
    for start in reversed(breaks[:60]):
        if found := phrase(text[start:]):
            after = _BREAKS.search(text, start)
            return found, _rest(text[after.end() :]) if after else ""
    return None, ""


def _rest(text: str) -> str:
    return bare(text).strip(" :.,;-—–()")


def strictest(verdicts: list[Verdict]) -> Verdict:
    return max(verdicts, key=lambda verdict: _RANK[verdict])


def overall(verdict: Verdict | None) -> Overall:
    if verdict is None:
        return "NONE"
    return "APPROVE" if verdict in APPROVALS else "REVISE"


def decided(said: list[Overall]) -> Overall:
    """Two overall verdicts that differ are no approval."""
    return "REVISE" if "REVISE" in said else "APPROVE" if "APPROVE" in said else "NONE"
