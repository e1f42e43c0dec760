"""What kind of remark a text is, by the turns of phrase people use, and which rule said so.

Pure, offline, general: no rule knows a trade, a company or a process. First rule wins; the order is the point. A text
that no rule knows is a comment. Only the head of a long text is looked at: a remark says what it is at its beginning.
"""

from __future__ import annotations

import re

from msgspec import Struct

from reconvene.core.figures import Correction, corrections_in

_HEAD = 4000

_FEW = r"\W{1,3}(?:[\w'’-]{1,20}\W{1,3}){0,4}?"  # up to four words in between
_ONE = r"\W{1,3}(?:[\w'’-]{1,20}\W{1,3}){0,2}?"


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


def _cues(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{pattern})" for pattern in patterns), re.IGNORECASE)


_MOVED = _cues(r"\b(?:rose|risen|grew|grown|fell|fallen|increased|climbed|declined|decreased|shrank|jumped)\b")

_MISSING = _cues(
    r"\b(?:left|leaves?|leaving) out\b",
    r"\b(?:is|are|was|were|seems?|still|what['’]?s)\s(?:\w{1,12}\s)?missing\b",
    r"\bmissing (?:here|from|in)\b",
    rf"(?:n['’]t|\b(?:not|never|nowhere|nobody|no one|none|nothing|without))\b{_FEW}"
    r"(?:mention|consider|cover|address|discuss|look|account|ask|thought|think|talk|analy[sz]|factor|speak|spoke|touch|deal)"
    r"(?:s|ed|ing|ered|ering|ion)?\b",
    rf"\b(?:you|they|everyone|everybody|all of (?:you|them)|(?:the|this) \w{{1,20}}){_ONE}"
    r"(?:ignor(?:e|es|ed|ing)|overlook(?:s|ed|ing)?|forg[eo]t(?:s|ten|ting)?|miss(?:ed|es)|omit(?:s|ted)?|neglect(?:s|ed)?)\b",
    r"^\W*(?:and |but |also,? )?(?:what|how) about\b",
    r"\bblind spot",
    rf"\b(?:should|must|needs? to|have to|please|could you|can you){_ONE}"
    r"(?:consider|take into account|account for|factor in|look (?:at|into)|think about|cover)\b",
    r"\b(?:fehlt|fehlen|vergessen|nicht (?:erwähnt|berücksichtigt|bedacht))\b",
)
_DECIDERS = (
    r"\b(?:we|i|board|council|management|leadership|executives?|committee|trustees|shareholders|owners?|founders?|directors?"
    r"|partners|cabinet|ceo|company|group|headquarters|assembly|wir|vorstand|aufsichtsrat)(?:['’](?:re|ve))?"
)
_DECISIONS = (
    r"(?:approv(?:ed|es)|decid(?:ed|es)|voted|agreed to|resolved|chose|chosen|opted|committed to|signed off|adopted|green-?lit"
    r"|abandon(?:ed|ing)|scrapp(?:ed|ing)|cancell?(?:ed|ing)|dropp(?:ed|ing)|discontinu(?:ed|ing)|pull(?:ed|ing) out"
    r"|withdr(?:ew|awn|awing)|exit(?:ed|ing)|pivot(?:ed|ing)|phas(?:ed|ing) out|w(?:ound|inding) down|sp(?:un|inning) off"
    r"|sold|selling|switch(?:ed|ing)|refocus\w{0,5}|restructur(?:ed|ing)|clos(?:ed|ing)|stopp(?:ed|ing)|end(?:ed|ing)"
    r"|leaving|entering|moving|shifting|merging|outsourc(?:ed|ing)|giving up|gave up|beschlossen|entschieden)\b"
)
_SHIFT = _cues(
    rf"{_DECIDERS}{_FEW}{_DECISIONS}",
    r"\bpivot",
    r"\b(?:change|shift) (?:of|in) (?:strategy|direction|course|plan|priorit)",
    r"\b(?:new|changed|revised|our) (?:strategy|direction|mission|priority) (?:is|will|has)\b",
    r"\bstrategic (?:shift|change|decision)",
    r"\bthe (?:plan|goal|aim|strategy|priority) (?:is now|has changed|now is)\b",
    r"\b(?:no longer|don['’]t|do not|not) (?:want|plan|intend|aim|pursue|pursuing|planning)\b",
)
_AGREEMENT = _cues(
    r"^\W*(?:and |but |also,? |well,? )?(?:yes|yeah|yep|exactly|indeed|agreed|absolutely|precisely|ja|genau)\b",
    r"^\W*(?:and |but )?(?:true|right|correct|fair|fair enough|good)[,:.!—–]",
    r"\b(?:i|we)\s(?:\w{1,12}\s)?agree\b",
    r"\b(?:good|fair|great|excellent|valid) (?:point|catch|insight|question)\b",
    r"\b(?:spot on|nailed|rings true|makes sense|well (?:said|put|observed)|very true|so true|is real)\b",
    r"\b(?:convincing|convinced|plausible|persuasive)\b",
)
_DISAGREEMENT = _cues(
    r"\b(?:i|we)\s(?:\w{1,12}\s)?(?:disagree|doubt)\b",
    r"\b(?:i|we)\s(?:do not|don['’]t|can['’]t|cannot)\s(?:\w{1,12}\s)?(?:agree|buy|believe|share|see it)\b",
    r"\b(?:not|un)\s?(?:convinced|convincing|persuaded|plausible|realistic)\b",
    r"\btoo (?:optimistic|pessimistic|gloomy|rosy|cautious|bold|harsh|simple|negative|positive)\b",
    r"\b(?:under|over)-?(?:estimat|stat|rat)(?:e|es|ed|ing)\b",
    r"\bexaggerat",
)
_VERDICT = _cues(r"\b(?:is|was|are|were|got (?:it|this|that))\s(?:\w{1,12}\s)?(?:right|wrong|correct|mistaken|off)\b")
_REQUEST = _cues(
    r"^\W*(?:please|could you|can you|would you|will you|let['’]s|bitte|könnt(?:et)? ihr)\b",
    r"^\W*(?:make|use|put|add|shorten|rewrite|rephrase|keep|format|move|show|write|explain|translate|remove|delete|split|merge"
    r"|focus|summari[sz]e|give|list|compare|start|avoid)\b",
    r"\bplease\W*$",
)
_CLARIFIES = _cues(
    r"\bto (?:be (?:clear|precise|exact|specific|fair)|clarify|specify)\b",
    r"\b(?:clarif|more precisely|more exactly|strictly speaking|in other words|that is to say|specifically)",
    r"\b(?:i|we)\s(?:\w{1,12}\s)?mean(?:t)?\b",
    r"\b(?:by|with) .{1,60}? (?:i|we) mean\b",
    r"\b(?:means|meaning|refers? to|defined as|stands for|counts? as|applies)\b",
    r"\bi\.e\.",
    r"\bjust so you know\b",
    r"\bfor reference\b",
    r"\b(?:one|a|small|minor|little) (?:detail|nuance|footnote|precision|clarification|note)\b",
    r"^\W*only\b",
    r"\bonly (?:in|for|at|on|the|those|applies|when|during|covers|includes|if|to)\b",
    r"\b(?:the|all) (?:rest|others?)\b.{0,40}\b(?:not|n['’]t|is|are|were|was)\b",
    r"\b(?:includ|exclud)(?:es?|ed|ing)\b",
    r"\b(?:except|apart from|with the exception)\b",
    r"\b(?:is|are) (?:separate|part of|counted)\b",
    r"\b(?:weaker|stronger|higher|lower|larger|smaller|bigger|better|worse|slower|faster|older|younger|cheaper|dearer"
    r"|more \w{3,16}|less \w{3,16})\s(?:in|for|among|at|during|within|on)\b",
    r"\b(?:gemeint|genauer|das heißt|d\.h\.)",
)
_DENIES = _cues(
    r"\b(?:wrong|incorrect|mistaken|inaccurate|outdated|out of date|typo|falsch|veraltet)\b",
    r"(?:\bnot|n['’]t)\s(?:\w{1,12}\s)?(?:right|true|correct|accurate|the case|so)\b",
    r"\bnot\b[^.;]{1,60}\bbut\b",
    r",\s(?:and )?not\s\w",
    r"^\W*(?:no|nein|actually|in fact)\b[,:. ]",
    r"\b(?:actually|in fact|in reality|should (?:be|read)|instead of|rather than|as opposed to|no longer|sondern|statt)\b",
    r"(?:\bnot|n['’]t)\b[^.;]{0,60}\b(?:any ?more|any longer)\b",
    r"n['’]t\b[^.;]{1,60}[;,.]\s(?:it|they|he|she|we|that)(?:['’]s|['’]re|\s(?:is|are|was|were|has|have))\b",
)
_MONTHS = "january|february|march|april|june|july|august|september|october|november|december"
_NEWS = _cues(
    r"\b(?:yesterday|today|tonight|tomorrow|recently|lately|just|already|soon|upcoming|new|newly|fyi|btw|by the way|note that"
    r"|for your information|in talks|told|learn(?:ed|t)|heard|found out|turns out|emerged|news)\b",
    r"\b(?:this|last|next) (?:morning|night|week|month|quarter|year|spring|summer|autumn|fall|winter|season)\b",
    rf"\b(?:in|by|since|until|from) (?:{_MONTHS}|may|spring|summer|autumn|winter|20\d\d)\b",
    r"\b(?:announc|negotiat|plan(?:s|ned|ning)|propos|threaten|expect|launch)",
    r"\b(?:will|won['’]t|going to|about to|has|have|had)\b",
    r"\b(?:is|are|was|were)\s(?:\w{1,12}\s)?\w{2,16}(?:ing|ed)\b",
    r"\b(?:we|we['’](?:re|ve|ll)|our|ours|us|my|i['’]ve|there (?:is|are))\b",
    r"\b(?:wir|unser\w{0,3}|gestern|heute|morgen|neu\w{0,2})\b",
)
_AGREED_RULE = "it answers what was said"


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
    return bool(_DISAGREEMENT.search(head))


def _ruling(text: str, replaced: tuple[Correction, ...], agents: tuple[str, ...]) -> Ruling:
    if replaced and not _MOVED.search(text):
        first = replaced[0]
        return Ruling("correction", f"it puts {first.now_text} in the place of {first.was_text}")
    for kind, pattern, rule in _BEFORE_REACTIONS:
        if found := pattern.search(text):
            return Ruling(kind, f"{rule}: “{_shown(found[0])}”")
    if reaction := _reaction(text, agents):
        return reaction
    for kind, pattern, rule in _AFTER_REACTIONS:
        if found := pattern.search(text):
            return Ruling(kind, f"{rule}: “{_shown(found[0])}”")
    if agents:
        return Ruling("reaction", f"it names {', '.join(agents)}", ", ".join(agents))
    if not text.rstrip().endswith(("?", "？")) and (found := _NEWS.search(text)):
        return Ruling("new context", f"it tells something not said before: “{_shown(found[0])}”")
    return Ruling("comment", "no rule knows it better")


def _reaction(text: str, agents: tuple[str, ...]) -> Ruling | None:
    found = _DISAGREEMENT.search(text) or _AGREEMENT.search(text) or (_VERDICT.search(text) if agents else None)
    if not found:
        return None
    target = ", ".join(agents)
    return Ruling("reaction", f"{_AGREED_RULE}: “{_shown(found[0])}”", target)


def _shown(cue: str) -> str:
    return " ".join(cue.split()).strip(" ,;:.")[:60]


_Table = tuple[tuple[str, re.Pattern[str], str], ...]
_BEFORE_REACTIONS: _Table = (
    ("missing factor", _MISSING, "it names something left out"),
    ("strategic shift", _SHIFT, "it reports a decision or a change of direction"),
)
_AFTER_REACTIONS: _Table = (
    ("comment", _REQUEST, "it asks for something"),
    ("clarification", _CLARIFIES, "it makes something more precise"),
    ("correction", _DENIES, "it says that something is not so"),
)
