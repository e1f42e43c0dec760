"""What a reviewer's words mean: approved, approved with note, needs revision, rejected, or no verdict at all.

Lenient in markup, strict in meaning: an approval with a condition is one that may be read otherwise, and says so. It
must not know where the words stood.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from reconvene.kits.gaps.markdown import bare, clip
from reconvene.kits.gaps.vocabulary import Overall, Verdict


class Opinion(NamedTuple):
    """A verdict. `doubt`: why somebody else might read it otherwise; "" = nobody would."""

    verdict: Verdict
    doubt: str = ""
    note: str = ""


_END = r"(?=\s*(?:$|[.,;:!|()\[\]—–/·&+*-]))"
_LEAD = re.compile(
    r"(?:(?:i|we)(?:(?: would| do| can| will| hereby| recommend| vote| to| for)){0,3}"
    r"|(?:this|it|that|the|both)(?: one| proposal| proposals| solution| resolution| gap| section| text)?"
    r"(?:['’]s| is| are| can be| should be| may be| has been)?|i['’]d say|ich|der vorschlag|das|so|therefore)(?: is"
    r"| ist| wird)?\s+"
    r"|(?:my |our |final |overall |new )?(?:verdict|status|decision|recommendation|result|outcome"
    r"|judge?ment|urteil|ergebnis)"
    r"(?: is| now| remains)?\s*[:=]?\s+",
    re.IGNORECASE,
)
_ADVERB = re.compile(
    r"(?:now|hereby|fully|unanimously|finally|therefore|thus|also|clearly|again|strongly|overall|yes|hence)[,:]?\s+",
    re.IGNORECASE,
)
_GOOD = (
    r"(?:approv|accept|resolv|ready|ok\b|sufficient|clos|pass|sign|genehmig|akzeptier|angenommen|freig|gelöst|erledigt"
    r"|done|fine|good)"
)
_SENT_BACK = re.compile(
    rf"(?:not\b|cannot\b|can['’]?t\b|can not\b|un(?=resolved)|do(?:es)?(?: not|n['’]t)\b|don['’]t\b|nicht\b"
    rf"|(?:so )?noch nicht\b)[^.;:]{{0,30}}?{_GOOD}"
    r"|(?:partial(?:ly)?|partly|teilweise|half|in part)\b"
    r"|not (?:yet|quite|there|enough|ready)\b|unresolved\b|insufficient\b|incomplete\b"
    r"|(?:still )?(?:needs?|requires?|must have|wants|braucht)\b[^.;]{0,40}?"
    r"\b(?:revis|work|chang|rework|more|another|further|clarif|fix|attention|pass\b|detail)"
    r"|(?:major |minor |further )?revisions?(?: and resubmit| is| are)?(?: needed| required| requested| necessary)?"
    + _END
    + r"|revise\b(?! nothing)|(?:request(?:s|ed|ing)? )?changes?(?: (?:are )?(?:requested|required|needed|necessary))"
    + _END
    + r"|request(?:s|ed|ing)? (?:\w+ )?changes?\b|changes?(?=\])|(?:returned|back|sent back"
    r"|zurück)(?: \w+){0,3} (?:for|to) (?:revision|rework|the engineer)|re-?work\b|re-?submit\b|redo\b|(?:send|sent"
    r"|goes"
    r"|return(?:ed)?)(?: it)? back\b"
    r"|(?:remains |still |stays )?open"
    + _END
    + r"|noch offen\b|offen"
    + _END
    + r"|überarbeit\w*|nachbesser\w*|zurück\b|fail(?:ed|s)?"
    + _END
    + r"|(?:on )?hold"
    + _END
    + r"|work in progress\b",
    re.IGNORECASE,
)
_REJECTED = re.compile(
    r"(?:rejected|reject|rejection|declined|refused|abgelehnt|zurückgewiesen|verworfen|veto|no[- ]go"
    r"|start over|wrong (?:direction|approach|way)(?: altogether)?|dead end|nicht weiterverfolgen)(?:" + _END
    + r"|(?= (?:because|as|since|for|again|outright|in|due|until|this|it|the)\b))",
    re.IGNORECASE,
)  # fmt: skip
_APPROVED = re.compile(
    r"(?:approved?|approval|accepted|acceptable|accept|resolved|lgtm|looks good(?: to me)?|all good"
    r"|good to go|signed off"
    r"|sign off|sign-off|passe[sd]|pass|ok(?:ay)?|closed|ship it|ready(?! for (?:another|the next|a |re|round"
    r"|discussion))|goes in|can go in|nothing to revise"
    r"|genehmigt|genehmigung|angenommen|akzeptiert"
    r"|freigegeben|freigabe|erledigt|gelöst|agreed|no objections?|kein(?:e)? einw[aä]nde?|keine einwendungen"
    r"|conditional(?:ly)?(?: (?:approv\w+|accept\w+))|bedingt (?:genehmigt|angenommen)"
    r"|(?:with|mit) (?:\w+ ){0,2}(?:notes?|remarks?|comments?|hinweis\w*|anmerkung\w*) (?:approved|accepted|angenommen"
    r"|genehmigt|freigegeben))"
    r"(?:(?= (?:with(?:out)?|as|but|if|once|when|after|provided|pending|subject|unless|except|in full|on condition|for"
    r"|conditional|now|again|by me|from|to|this|it|the (?:proposal|solution|resolution|text|section|approach|gap"
    r"|revised|new|change|design|whole|rest)|of|in (?:this|the)|assuming|only|at|since|because|mit|ohne"
    r"|wenn|sofern|nach|vorbehaltlich)\b)|" + _END + r")",
    re.IGNORECASE,
)
_CONDITION = re.compile(
    r"[\s,;:(—–-]*(?:but\b|(?:only )?if\b|once\b|(?:only )?when\b|after\b|provided\b|pending\b"
    r"|subject to\b|unless\b|except\b"
    r"|on condition|conditional|assuming\b|as long as|on the understanding|with (?:\w+ ){0,2}(?:changes?|conditions?"
    r"|revisions?|reservations?|fixes)\b"
    r"|unter (?:der )?(?:bedingung|vorbehalt)|sofern\b|wenn\b|vorbehaltlich\b)",
    re.IGNORECASE,
)
_PROCESS = re.compile(
    r"[\s,;:(—–-]*(?:\w+[ ,]+){0,4}?(?:integrat|incorporat|merg|write-?up|writing"
    r"|spec(?:ification)? update|transfer|übernahme|einarbeit)",
    re.IGNORECASE,
)
_NOTE = re.compile(
    r"[\s,;:(—–-]*(?:with|mit) (?:\w+ ){0,3}(?:notes?|comments?|suggestions?|remarks?|caveats?|nits?"
    r"|follow-?ups?|observations?"
    r"|anmerkung\w*|hinweis\w*)\b",
    re.IGNORECASE,
)
_IDLE_BRACKET = re.compile(
    r"(?:pending|awaiting|ready|upon|see|no |none|round|high|medium|low|unchanged|as |was |confidence"
    r"|\d|previously|again|issue)",
    re.IGNORECASE,
)
APPROVALS: tuple[Verdict, ...] = ("approved", "approved with note")
OVERALL_KEYS = re.compile(r"(?:overall|final)(?: \w+)?$|recommendation$|verdict$|recommended action$|gesamturteil$")
_RANK: dict[Verdict, int] = {"approved": 0, "approved with note": 1, "needs revision": 2, "rejected": 3}
_BOLD = re.compile(r"\*\*([^*]{2,120})\*\*|__([^_]{2,120})__")
_BREAKS = re.compile(r"\s+[-—–·]+\s+|\s*[:|→⇒]\s*|\s*=>\s*|—|\s+[\[(](?=[A-Z✅❌⚠])")
_SIGNS: dict[Verdict, str] = {
    "approved": "✅✔☑👍🟢",
    "needs revision": "⚠🔄🔁🟡🟠✏🛠🔧🚧♻",
    "rejected": "❌✖✗🚫⛔🔴👎🛑",
}


def opinion(text: str) -> Opinion | None:
    """The verdict that a phrase begins with."""
    words = re.sub(r"^[^\w]+", "", bare(text)[:400].replace("_", " "))
    for opening in (_LEAD, _ADVERB):
        if (lead := opening.match(words)) and not _word(words):
            words = words[lead.end() :]
    if (lead := _ADVERB.match(words)) and not _word(words):
        words = words[lead.end() :]
    return _word(words)


def _word(words: str) -> Opinion | None:
    if _SENT_BACK.match(words):
        return Opinion("needs revision")
    if _REJECTED.match(words):
        return Opinion("rejected")
    found = _APPROVED.match(words)
    if found is None:
        return None
    rest = words[found.end() :]
    if found[0].lower().startswith(("conditional", "bedingt")):
        return Opinion("approved with note", "the approval has a condition", _rest(rest))
    if found[0].lower().startswith(("with ", "mit ")):
        return Opinion("approved with note", note=_rest(rest))
    clause = re.split(r"[.:;(—–]", rest, maxsplit=1)[0]
    conditional = _CONDITION.match(rest) or (_CONDITION.search(clause) and not _NOTE.match(rest))
    if conditional and not _PROCESS.match(rest):
        return Opinion("approved with note", "the approval has a condition", _rest(rest))
    if _NOTE.match(rest):
        return Opinion("approved with note", note=_rest(rest[_ended(_NOTE, rest) :]))
    bracket = re.match(r"\s*\(([^()]{8,300})\)", rest)
    if bracket and not _IDLE_BRACKET.match(bracket[1]) and not _word(bracket[1]):
        return Opinion("approved with note", note=clip(bracket[1], 300))
    return Opinion("approved")


def _ended(pattern: re.Pattern[str], text: str) -> int:
    found = pattern.match(text)
    return found.end() if found else 0


def phrase(text: str) -> Verdict | None:
    found = opinion(text)
    return found.verdict if found else None


def sign(text: str) -> Verdict | None:
    """The verdict of the first sign, such as ✅, in a text that begins with it or is short."""
    found = [(text.find(mark), name) for name, marks in _SIGNS.items() for mark in marks if mark in text]
    at, name = min(found, default=(-1, None))
    lead = re.sub(r"[\W_]", "", text[: max(at, 0)])
    return name if name and (not lead or len(text) < 40) else None


def verdict_in(text: str) -> tuple[Verdict | None, str]:
    found = opinion_in(text)
    return (found.verdict, found.note) if found else (None, "")


def opinion_in(text: str) -> Opinion | None:
    """The verdict of an item such as "Error recovery - **APPROVED with minor note**: …", and what follows it."""
    for bold in _BOLD.finditer(text[:2000]):
        if found := opinion(bold[1] or bold[2]):
            # "**APPROVED** once the retry is bounded": the condition stands outside the emphasis.
            full = opinion(text[bold.start() :])
            return _noted(full or found, text[bold.end() :])
    breaks = [0, *(match.end() for match in _BREAKS.finditer(text[:2000]))]
    for start in reversed(breaks[:60]):
        if found := opinion(text[start:]):
            after = _BREAKS.search(text, start)
            return _noted(found, text[after.end() :] if after else "")
    return None


def _noted(found: Opinion, rest: str) -> Opinion:
    return found if found.note else found._replace(note=_rest(rest))


def _rest(text: str) -> str:
    return bare(text).strip(" :.,;-—–()")


_SAYS = re.compile(
    r"\b(?:i|we)\s+(?:(?:do|can|hereby|would|therefore|fully|happily|now|have to|must|will|gladly|am going to)\s+){0,3}"
    r"(?P<verb>approve|accept|sign off|reject|refuse|decline|send|return)\b(?P<back>[^.;]{0,30}\bback\b)?"
    r"|\b(?:is|are|can be|may be|should be|be|wird|ist)\s+(?:now |therefore |hereby |thus |hiermit )?"
    r"(?P<done>approved|accepted|rejected|genehmigt|angenommen|abgelehnt|freigegeben)\b"
    r"|(?:^|[:,—–]\s*|\band\s+|\bso\s+|\bhence\s+)(?P<alone>approved|accepted|agreed|rejected)(?=\s*(?:$|[.,;!]))"
    r"|(?P<german>\blehne (?:ich )?[^.;]{0,30}\bab\b|\bich stimme (?:dem )?zu\b|\bkann so übernommen werden\b)"
    r"|(?P<more>\bbitte (?:\w+ )?(?:überarbeiten|nachbessern|ergänzen)\b|\bneeds? (?:a |another |more |some "
    r"|further )?(?:revision|rework|work|round|pass)\b"
    r"|\b(?:for|wants|requires) (?:a )?revision\b)",
    re.IGNORECASE,
)
_UNREAL = re.compile(
    r"\b(?:if|had|would have|could have|were|nobody|never|whether|why|until|unless|wenn|sobald|bevor|engineer|says|said"
    r"|claims?|according|example)\b",
    re.IGNORECASE,
)
_DENIES = re.compile(
    r"\b(?:not|cannot|can['’]t|don['’]t|won['’]t|unable to|nicht|kein\w*)\b[^,;:]{0,25}$", re.IGNORECASE
)
_PLAIN_SUBJECT = re.compile(
    r"(?:\b(?:this|it|proposal|solution|section|text|das|vorschlag|therefore|so)\s*)$", re.IGNORECASE
)
_PLAIN_REST = re.compile(
    r"[\s,]*(?:(?:it|this|that|the proposal|both|all of (?:it|them)|as it (?:is|stands)|as is|now|too|again|in full"
    r"|for me"
    r"|ihn|es|so)[\s,]*){0,3}[.!]*$",
    re.IGNORECASE,
)
IN_PASSING = "the approval is said in passing"


def in_sentence(text: str) -> Opinion | None:
    """The verdict that a sentence gives in passing: "In my view this can be approved as it stands".

    An approval is certain only where the sentence is about nothing else.
    """
    found = _SAYS.search(text)
    if found is None or text.rstrip().endswith("?"):
        return None
    word = (found["verb"] or found["done"] or found["alone"] or found["german"] or "").lower()
    before = text[: found.end() - len(word)] if word else text[: found.start()]
    rest = text[found.end() :]
    if found["more"] or word in ("send", "return"):
        sent_back = (found["more"] or found["back"]) and not _UNREAL.search(before) and not _DENIES.search(before)
        return Opinion("needs revision") if sent_back else None
    if _DENIES.search(before):
        return Opinion("needs revision")
    if _UNREAL.search(before) or re.match(r"\s*(?:by|von) (?!me\b|us\b|mir\b)", rest, re.IGNORECASE):
        return None
    if word.startswith(("rej", "ref", "decl", "abg", "lehne")):
        return Opinion("rejected")
    if _NOTE.match(rest):
        return Opinion("approved with note", note=_rest(rest))
    if _CONDITION.search(text) and not _PROCESS.match(rest):
        return Opinion("approved with note", "the approval has a condition", _rest(rest))
    whose = found["done"] is None or _PLAIN_SUBJECT.search(text[: found.start()]) is not None
    return Opinion("approved", "" if whose and _PLAIN_REST.match(rest) else IN_PASSING)


def in_lines(text: str, sentences: list[str]) -> Opinion | None:
    """The verdict that lines open with. Where a sentence of them says otherwise, that approval is doubtful."""
    found = opinion(text)
    if found is None or found.verdict not in APPROVALS or found.doubt:
        return found
    others = [one for sentence in sentences[1:] if (one := in_sentence(bare(sentence)))]
    against = any(one.verdict not in APPROVALS for one in others)
    return found._replace(doubt="the same lines say otherwise") if against else found


_ASKED = re.compile(
    r"[^?]{0,60}\b(?:approv\w*|accept\w*|ready|go in(?:to)?|pass|sign(?:ed)? off|(?:built|implemented|merged|released)"
    r"|freig\w*|angenommen|genehmigt)\b[^?]{0,40}\?\W*(yes|no|ja|nein)\b(.*)",
    re.IGNORECASE,
)


def answered(text: str) -> Opinion | None:
    """ "Can it go into the specification? Yes, with a remark: …"."""
    found = _ASKED.match(bare(text))
    if not found or re.match(r"\s*(?:and|und|but|aber)\b", found[2], re.IGNORECASE):
        return None
    return (
        opinion("approved" + found[2])
        if found[1].lower() in ("yes", "ja")
        else Opinion("needs revision", note=found[2])
    )


def strictest(verdicts: list[Verdict]) -> Verdict:
    return max(verdicts, key=lambda verdict: _RANK[verdict])


def overall(verdict: Verdict | None) -> Overall:
    if verdict is None:
        return "NONE"
    return "APPROVE" if verdict in APPROVALS else "REVISE"


def decided(said: list[Overall]) -> Overall:
    """Two overall verdicts that differ are no approval."""
    return "REVISE" if "REVISE" in said else "APPROVE" if "APPROVE" in said else "NONE"
