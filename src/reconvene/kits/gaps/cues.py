"""What sentences of a review say without saying it in a form: a state of an issue, all proposals at once, a mood.

What is only in the words' mood is never certain. It must not know documents.
"""

from __future__ import annotations

import re
from typing import Literal

from reconvene.kits.gaps.gap_ids import GAP, ISSUE, gaps_in
from reconvene.kits.gaps.markdown import bare
from reconvene.kits.gaps.verdicts import Opinion, opinion
from reconvene.kits.gaps.vocabulary import Severity, severity_named

IssueSaid = Literal["open", "resolved"]
_SENTENCES = re.compile(r"(?<=[.!?])[\"”’)*_]*\s+|(?<=[.!?]\*\*)\s+|;\s+|\s*⏎\s*")
QUOTED = re.compile(r"“[^”]{0,300}”|\"[^\"]{0,300}\"|„[^“”]{0,300}[“”]|`[^`]{0,300}`")
PAST = re.compile(
    r"\b(?:previous(?:ly)?|prior|last (?:round|time)|earlier|former(?:ly)?|old|had (?:been )?|used to|vorher\w*|zuvor"
    r"|first impression|initial(?:ly)?|preliminary|provisional|letzte\w* runde|damals|round[ -]?\d+ verdict"
    r"|in round \d+|at the time)\b",
    re.IGNORECASE,
)
_IN_ROUND = re.compile(r"\b(?:round|runde|r)[ -]?(\d{1,3})\b", re.IGNORECASE)
_STILL = re.compile(
    r"\b(?:still|remain\w*|stays?|keeps?|carried over|not (?:yet |been |fully |quite |really "
    r"|properly )*(?:resolved|fixed|addressed|closed|done|settled"
    r"|answered|dealt|taken|met|solved|ok)|un(?:resolved|addressed|answered|fixed)|partial(?:ly)?|partly|only half"
    r"|no change|ignored|maintained|upheld|not (?:at all|touched|mentioned)|(?:is|are|was|were) not(?=\W*$)"
    r"|reopen\w*|persists?|stands?|half"
    r"|(?:can|could|should|must|to|will|may) be (?:fixed|addressed|resolved|done|settled|answered)"
    r"|noch offen|offen|nicht (?:erledigt|behoben|gelöst)|teilweise|zum teil|weiterhin|open|isn['’]t|hasn['’]t"
    r"|wasn['’]t"
    r"|again|pending)\b",
    re.IGNORECASE,
)
_SETTLED = re.compile(
    r"\b(?:resolved|fixed|addressed|closed?|done|settled|answered|dealt with|corrected|implemented|korrigiert"
    r"|umgesetzt|taken care|taken up"
    r"|taken in|gone|solved|met|no longer applies|withdrawn?|withdraw|obsolete"
    r"|moot|superseded|satisfied|verified|cleared|ok(?:ay)?|erledigt|behoben|gelöst|geschlossen|hinfällig|retired?"
    r"|drop(?:ped)?|incorporated)\b|✅|✔|☑",
    re.IGNORECASE,
)
_ALL = re.compile(
    r"\b(?:all|both|each|every|everything(?: else)?|alle|beide|the (?:rest|others?|remaining|two|three|four|five"
    r"|six|seven))\b"
    r"(?:[ \w]{0,30}\b(?:proposals?|gaps?|resolutions?|solutions?|items?|of (?:them|these|the)"
    r"|sections?|vorschläge|lücken)\b)?",
    re.IGNORECASE,
)
_OF_ALL = re.compile(
    r"\b(?:approval|approve|accept\w*|rejection|reject) (?:of |for )?(?:all|both|everything)\b", re.IGNORECASE
)
_HEDGED = re.compile(
    r"\b(?:i guess|maybe|perhaps|probably|not sure|unsure|could live|can live|i suppose|somewhat"
    r"|mixed|torn|on the fence"
    r"|leaning|lean(?:s)? towards|tend|if somebody|if someone|hmm+|wohl|vielleicht|unsicher)\b",
    re.IGNORECASE,
)
_PLEASED = re.compile(
    r"\b(?:happy with|fine (?:by|with|as)|works for me|good (?:to go|as it is|enough|with)|ship it"
    r"|no (?:further |more |other )?(?:objections?|concerns?|complaints?|issues|remarks|comments)"
    r"|nothing (?:left|more|else|to add|further)|let['’]s move on|sign off on|signed off|can go in"
    r"|ready (?:to|for)|well done|solid|convinc\w+|closes? the gap"
    r"|does the job|i would build|could build|can be (?:built|implemented|integrated|merged)"
    r"|i['’]m satisfied|satisfied with|good (?:work|job)|nice"
    r"|kein(?:e)? einw[aä]nde?|passt|in ordnung|einverstanden|kann so)\b",
    re.IGNORECASE,
)
_DISPLEASED = re.compile(
    r"\b(?:can(?:not|['’]t| not) (?:go in|be (?:accepted|approved|built|implemented|merged)|sign"
    r"|approve|accept|work|pass)|(?:send|sent|submit) (?:it |this )?(?:again|back)"
    r"|re-?submit|please (?:re-?work|revise|redo|fix|pick|change|rewrite|add|come back)|try again"
    r"|start over|back to the drawing|needs? (?:another|more|further|a )?(?:pass|round|work|revision"
    r"|rewrite)"
    r"|not (?:there yet|ready|good enough|acceptable|enough|convinced|convincing)|isn['’]t (?:ready"
    r"|there|enough)|falls short|won['’]t work|does(?:n['’]t| not) work|do not build"
    r"|before i can|not let (?:this )?pass|must be (?:fixed|changed|rewritten)|too vague|a no\b"
    r"|so nicht|nicht ausreichend|muss (?:\w+ )?(?:überarbeitet|geändert)|another round)\b",
    re.IGNORECASE,
)
_REFUSED = re.compile(
    r"\b(?:start over|a no from me|drop this|back to the drawing|wrong approach|do not build|withdraw it)\b",
    re.IGNORECASE,
)
_OTHERS = re.compile(
    r"\b(?:engineer|engineer['’]s|mediator|der engineer)\b[^.]{0,40}\b(?:lists?|raises?|introduces?"
    r"|opens?|adds?|names?|opened|raised|introduced|listed|nennt)\b",
    re.IGNORECASE,
)
_DENIED = re.compile(r"\b(?:no|not|none|nothing|without|never|kein\w*|nicht)\b", re.IGNORECASE)
_RATED = re.compile(r"\b(CRITICAL|HIGH|MEDIUM|LOW)\b")


def sentences(text: str) -> list[str]:
    return [part.strip() for part in _SENTENCES.split(text) if part.strip()]


def unquoted(text: str) -> str:
    """Without what is cited inside a line."""
    return QUOTED.sub(" … ", text)


def is_past(text: str, round: int) -> bool:
    """It speaks of an earlier round."""
    rounds = [int(found[1]) for found in _IN_ROUND.finditer(ISSUE.sub("", text))]
    if round in rounds:
        return False
    return bool(rounds) or PAST.search(text) is not None


def issue_state(text: str) -> IssueSaid | None:
    """What a cell or clause says about an issue. What is not done, or only in part, is open."""
    said = bare(text)
    if _STILL.search(said):
        return "open"
    return "resolved" if _SETTLED.search(text) else None


def is_conditional(text: str) -> bool:
    """ "As long as this is not settled", "once ISSUE-R2-001 is resolved": no report."""
    return bool(
        re.match(r"\W*(?:as long as|once|if|when|until|unless|after|wenn|sobald|solange)\b", text, re.IGNORECASE)
    )


def rated(text: str) -> Severity | None:
    found = _RATED.search(text)
    return severity_named(found[1]) if found else None


def covering(sentence: str, round: int) -> Opinion | None:
    """A verdict on all proposals at once: "All four proposals are **approved**."."""
    text = bare(unquoted(sentence))
    if is_past(text, round) or is_conditional(text):
        return None
    if _OF_ALL.search(text) and not _DENIED.search(text[:40]):
        word = re.search(r"\b(?:approv\w+|accept\w+|reject\w+)\b", text, re.IGNORECASE)
        made = opinion({"r": "rejected"}.get(word[0][0].lower(), "approved")) if word else None
        return (
            made._replace(doubt="it speaks of all proposals at once, with a reservation")
            if made and _reserved(text)
            else made
        )
    if (every := _ALL.search(text)) is None or re.search(
        r"\b(?:except|apart from|other than|but one|außer)\b", text, re.IGNORECASE
    ):
        return None
    rest = re.sub(r"^[^,;]{0,60}?\b(?:is|are|be|get|sind|werden|können)\b\s+", "", text[every.start() :])
    rest = re.sub(r"^(?:all|both|therefore|now|hereby|hiermit|alle|beide)\s+", "", rest)
    found = opinion(rest)
    if found is None and (noted := re.search(r"\*\*([^*]{3,60})\*\*", sentence)):
        found = opinion(noted[1])
    if found and _DENIED.search(text[: every.start()]):
        return Opinion("needs revision", "it is a verdict on all proposals, and a negative")
    return (
        found._replace(doubt="it speaks of all proposals at once, with a reservation")
        if found and _reserved(text)
        else found
    )


_OF_THESE = re.compile(
    r"^\W*(?:(?:therefore|thus|hence|so|finally|overall|in short)\W+)?(?:i|we)\s+(?:hereby "
    r"|therefore |also |fully |would |can |do |recommend to |vote to |recommend )*"
    r"(approv\w+|accept\w*|reject\w*)\s+(?:the )?(?:proposals? |resolutions? |solutions? )?(?:for "
    r"|of |to )?(?=(?:GAP|[A-Z]{2,12}-\d))",
    re.IGNORECASE,
)
_THESE_ARE = re.compile(
    r"^\W*(?:the )?(?:proposals? |resolutions? |solutions? )?(?:for |of |on )?(?=(?:GAP|[A-Z]{2,12}-\d))", re.IGNORECASE
)
_IS = re.compile(
    r"[\s*_`)]*(?:\([^()]{0,80}\))?[\s,]*(?:is|are|can be|stays?|remains?|was|were|gets?|both|all|ist"
    r"|sind)\b[\s*_`]*(?:now |therefore |both |all |hereby |also |thus )*",
    re.IGNORECASE,
)


def of_these(sentence: str, round: int) -> tuple[str, Opinion] | None:
    """(the part that names gaps, the verdict on them): "I approve GAP-A-001", "GAP-A-002 and 003 are approved"."""
    text = bare(unquoted(sentence))
    if is_past(text, round) or is_conditional(text):
        return None
    if found := _OF_THESE.match(text):
        made = opinion("rejected" if found[1].lower().startswith("rej") else "approved")
        rest = text[found.end() :]
        if re.search(r"\b(?:if|once|provided|unless|had|would|but)\b", rest):
            return (rest, made._replace(doubt="the approval has a condition")) if made else None
        return (rest, made) if made else None
    if found := _THESE_ARE.match(text):
        rest = text[found.end() :]
        ends = list(GAP.finditer(rest))
        last = next(
            (
                one
                for at, one in enumerate(ends)
                if at + 1 == len(ends) or not _joined(rest[one.end() : ends[at + 1].start()])
            ),
            None,
        )
        is_ = _IS.match(rest, last.end()) if last else None
        if last and (made := opinion(rest[is_.end() :] if is_ else rest[last.end() :].lstrip(" *_`"))):
            negative = made.verdict not in ("approved", "approved with note")
            if is_ or (negative and re.match(r"[\s*_`]*(?:still )?(?:needs?|requires?)\b", rest[last.end() :])):
                return rest[: last.end()], made
    return None


def _joined(between: str) -> bool:
    return bool(
        re.fullmatch(
            r"[\s*_`,()]*(?:and|&|und|\+|/|as well as|through"
            r"|to)?[\s*_`,]*(?:\([^()]{0,80}\))?[\s*_`,]*(?:and|und)?[\s*_`,]*",
            between,
        )
    )


def _reserved(text: str) -> bool:
    return bool(
        re.search(
            r"\b(?:caveat|except|but|however|reservation|apart from|other than|außer|aber)\b", text, re.IGNORECASE
        )
    )


def mood(text: str, round: int) -> Opinion | None:
    """What the words of a section come to where no verdict is given; never without a doubt."""
    told = [one for one in sentences(bare(unquoted(text))) if not is_past(one, round)]
    against = [one for one in told if _DISPLEASED.search(one) or re.match(r"no[.!,]", one, re.IGNORECASE)]
    pleased = [one for one in told if _PLEASED.search(one) and one not in against]
    hedged = [one for one in told if _HEDGED.search(one)]
    why = "no verdict is written, only what sounds like one"
    if against and not pleased:
        return Opinion(
            "rejected" if any(_REFUSED.search(one) for one in against) else "needs revision", why, against[0]
        )
    if against:
        return Opinion("needs revision", why, against[0])
    if hedged:
        return Opinion("approved with note", why, hedged[0])
    return Opinion("approved", why, pleased[0]) if pleased else None


def denied(text: str) -> bool:
    return _DENIED.search(text) is not None


def opens_nothing(text: str) -> bool:
    """ "None.", "No new gaps from my side", "I see no new gaps here", "Keine.", "n/a": nothing is raised there."""
    said = re.sub(r"^[^\w]+", "", bare(text))
    first = (sentences(said) or [""])[0]
    if not said or (_NOTHING.match(first) and not _IS_SAID.search(first)):
        return True
    return bool(_NO_MORE.search(first)) and not gaps_in(first) and len(first.split()) <= 14


_NOTHING = re.compile(
    r"(?:none|nothing|nope|n/?a|nil|keine\w*|nichts|no|not applicable)(?=\s*(?:$|[.,;:!()—–-]))|-"
    r"|(?:none|nothing|keine?\w*) (?:so far|from|to|new|needed|required|found|identified|at|in|that|weiter\w*"
    r"|neue\w*|mehr)\b"
    r"|no (?:new |further |other |additional |more |open )*(?:gaps?|issues?|concerns?|findings?|problems?"
    r"|objections?)\b",
    re.IGNORECASE,
)
_IS_SAID = re.compile(r"\bbut\b|\bexcept\b|\bapart from\b|\baber\b", re.IGNORECASE)
_NO_MORE = re.compile(
    r"\b(?:no|kein\w*) (?:new |further |other |additional |more |neue\w* |weitere\w* )*(?:gaps?|issues?|lücken?"
    r"|einwände|mängel)\b",
    re.IGNORECASE,
)


def of_another(text: str) -> bool:
    """Somebody else's: "The Engineer lists GAP-HOOK-014 …, and I agree"."""
    return _OTHERS.search(text) is not None
