"""The turns of phrase by which people correct, report, decide, object, ask: one pattern for each.

Pure data. General on purpose: no pattern knows a trade, a company or a process. Every repetition is bounded, so that a
search stays linear. Which pattern counts before which is decided in `remark_rules`.
"""

from __future__ import annotations

import re

_FEW = r"\W{1,3}(?:[\w'’-]{1,20}\W{1,3}){0,4}?"  # up to four words in between
_ONE = r"\W{1,3}(?:[\w'’-]{1,20}\W{1,3}){0,2}?"


def _cues(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{pattern})" for pattern in patterns), re.IGNORECASE)


MOVED = _cues(
    r"\b(?:rose|risen|grew|grown|fell|fallen|increased|climbed|declined|decreased|shrank|jumped|raised|lifted|lowered"
    r"|doubled|halved|(?:went|gone) (?:up|down))\b"
)

MISSING = _cues(
    r"\b(?:left|leaves?|leaving) out\b",
    r"\b(?:is|are|was|were|seems?|still|what['’]?s)\s(?:\w{1,12}\s)?missing\b",
    r"\bmissing (?:here|from|in)\b",
    rf"(?:n['’]t|\b(?:not|never|nowhere|nobody|no one|none|nothing|without))\b{_FEW}"
    r"(?:mention|consider|cover|address|discuss|look|account|ask|thought|think|talk|analy[sz]|factor|speak|spoke"
    r"|touch|deal)"
    r"(?:s|ed|ing|ered|ering|ion)?\b",
    rf"\b(?:you|they|everyone|everybody|all of (?:you|them)|(?:the|this) \w{{1,20}}){_ONE}"
    r"(?:ignor(?:e|es|ed|ing)|overlook(?:s|ed|ing)?|forg[eo]t(?:s|ten|ting)?|miss(?:ed|es)|omit(?:s|ted)?|neglect(?:s"
    r"|ed)?)\b",
    r"^\W*(?:and |but |also,? )?(?:(?:what|how) about|where (?:is|are))\b",
    rf"\b(?:has|have|did|does|do) (?:any(?:one|body)|you|they){_ONE}(?:thought|think|consider|look|check|account"
    rf"|include|ask)",
    r"\bno(?:t a)? (?:word|mention|trace|discussion|analysis)\b|\bnothing (?:on|about)\b",
    r"\b(?:i miss|i['’]m missing|i am missing|don['’]t forget|do not forget|absent from|worth (?:considering|looking"
    r" at|adding))\b",
    r"\b(?:another|one more|a further|one|the biggest|a key) (?:factor|risk|driver|issue|aspect|consideration)\b",
    rf"(?:n['’]t|\b(?:not|never|nowhere))\b{_ONE}(?:come up|comes up|appear|in any of|in here|anywhere)",
    r"\bblind spot",
    rf"\b(?:should|must|needs? to|have to|please|could you|can you){_ONE}"
    r"(?:consider|take into account|account for|factor in|look (?:at|into)|think about|cover)\b",
    r"\b(?:fehlt|fehlen|vergessen|nicht (?:erwähnt|berücksichtigt|bedacht))\b",
)
_DECIDERS = (
    r"\b(?:we|i|board|council|management|leadership|executives?|committee|trustees|shareholders|owners?|founders?"
    r"|directors?"
    r"|partners|cabinet|ceo|company|group|headquarters|assembly|wir|vorstand|aufsichtsrat)(?:['’](?:re|ve|ll))?"
)
_DECIDES = (
    r"(?:approv(?:ed|es)|decid(?:ed|es)|voted|agreed to|resolved|chose|chosen|opted|committed to|signed off|adopted"
    r"|green-?lit"
    r"|made up (?:its|our|their|my) minds?|ruled out|given? the go-ahead|gave the go-ahead|shelved|postponed"
    r"|suspended|halted|froze|frozen"
    r"|put .{1,40} on (?:ice|hold)|beschlossen|entschieden)\b"
)
# What only the people themselves can do with what is theirs: anybody's "leaving" is news, our "leaving" is a decision.
_OURSELVES = r"\b(?:we|i|the company|our company|our group)(?:['’](?:re|ve|ll))?"
_TURNS = (
    r"(?:(?:abandon|exit|pull|end)(?:ed|ing)?|(?:scrap|drop|stop)(?:p(?:ed|ing))?|cancel(?:l?(?:ed|ing))?"
    r"|discontinu(?:e|ed|ing)"
    r"|withdr(?:aw|ew|awn|awing)|pivot(?:ed|ing)?|phas(?:e|ed|ing) out|w(?:ind|ound|inding) down|sp(?:in|un|inning) off"
    r"|sold|selling|switch(?:ed|ing)?|refocus\w{0,5}|restructur(?:e|ed|ing)|clos(?:e|ed|ing)|leav(?:e|ing)"
    r"|enter(?:ing)?"
    r"|moving|shift(?:ed|ing)|merg(?:e|ed|ing)|outsourc(?:e|ed|ing)|giv(?:e|ing) up|gave up|out of|done with"
    r"|chang(?:ed|ing) (?:our|my|the|its) (?:mind|plan|strategy|course))\b"
)
SHIFT = _cues(
    rf"{_DECIDERS}{_FEW}{_DECIDES}",
    rf"{_OURSELVES}(?:\s(?:are|were|have|had|will|am|now|just|also|all|going|to|be|been|not|no longer|therefore"
    rf"|then)){{0,4}}\s{_TURNS}",
    r"\bpivot",
    r"\b(?:change|shift) (?:of|in) (?:strategy|direction|course|plan|priorit)",
    r"\b(?:new|changed|revised|our) (?:strategy|direction|mission|priority) (?:is|will|has)\b",
    r"\bstrategic (?:shift|change|decision)",
    r"\bthe (?:new )?(?:plan|goal|aim|strategy|priority) (?:is now|has changed|now is)\b|\bthe new (?:plan|goal|aim"
    r"|strategy)\b",
    r"\b(?:off the table|called off|put on hold|on hold|on ice|go-ahead|green light|from now on|it['’]s official|it"
    r" is official)\b",
    r"\b(?:no longer|don['’]t|do not|not) (?:want|plan|intend|aim|pursue|pursuing|planning)\b",
)
AGREEMENT = _cues(
    r"^\W*(?:and |but |also,? |well,? )?(?:yes|yeah|yep|exactly|indeed|agreed|absolutely|precisely|ja|genau)\b",
    r"^\W*(?:and |but )?(?:true|right|correct|fair|fair enough|good)[,:.!—–]",
    r"\b(?:i|we)\s(?:\w{1,12}\s)?agree\b",
    r"\b(?:good|fair|great|excellent|valid) (?:point|catch|insight|question)\b",
    r"\b(?:has|have|makes?|got) an? (?:\w{1,12} )?point\b",
    r"\b(?:matches|fits|confirms|reflects) (?:our|my|what)\b",
    r"\b(?:spot on|nailed|rings true|makes sense|well (?:said|put|observed)|very true|so true|is real)\b",
    r"\b(?:convincing|convinced|plausible|persuasive)\b",
)
DISAGREEMENT = _cues(
    r"\b(?:i|we)\s(?:\w{1,12}\s)?(?:disagree|doubt)\b",
    r"\b(?:not (?:so )?sure (?:about|that|i)|s[ck]eptical|alarmist|far-fetched|unrealistic|unconvinc\w{2,4}"
    r"|one-sided)\b",
    r"\b(?:i|we)\s(?:do not|don['’]t|can['’]t|cannot)\s(?:\w{1,12}\s)?(?:agree|buy|believe|share|see it)\b",
    r"\b(?:not|un)\s?(?:convinced|convincing|persuaded|plausible|realistic)\b",
    r"\b(?:too|overly) (?:optimistic|pessimistic|gloomy|rosy|cautious|confident|sure|bold|harsh|simple|negative"
    r"|positive)\b",
    r"\b(?:under|over)-?(?:estimat|stat|rat)(?:e|es|ed|ing)\b",
    r"\bexaggerat",
)
VERDICT = _cues(r"\b(?:is|was|are|were|got (?:it|this|that))\s(?:\w{1,12}\s)?(?:right|wrong|correct|mistaken|off)\b")
REQUEST = _cues(
    r"^\W*(?:please|could you|can you|would you|will you|let['’]s|bitte|könnt(?:et)? ihr)\b",
    r"^\W*(?:make|use|put|add|shorten|rewrite|rephrase|keep|format|move|show|write|explain|translate|remove|delete"
    r"|split|merge"
    r"|focus|summari[sz]e|give|list|compare|start|avoid)\b",
    r"\bplease\W*$",
)
CLARIFIES = _cues(
    r"\bto (?:be (?:clear|precise|exact|specific|fair)|clarify|specify)\b",
    r"\b(?:clarif|more precisely|more exactly|strictly speaking|in other words|that is to say|specifically)",
    r"\b(?:i|we)\s(?:\w{1,12}\s)?mean(?:t)?\b",
    r"\b(?:by|with) .{1,60}? (?:i|we) mean\b",
    r"(?:\bthe (?:word|term|name|figure|number|label)|['‘“\"][^'’”\"]{2,40}['’”\"])\s(?:\w{1,12}\s){0,2}(?:covers?|is"
    r"|are|was|comprises)\b",
    r"\b(?:namely|in this context|in the sense|what (?:i|we) meant|in mind|in case (?:it|that|this) was|(?:is|are)"
    r" (?:just|merely|simply) (?:a|an|the)|in the (?:rest|others?))\b",
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
DENIES = _cues(
    r"\b(?:wrong|incorrect|mistaken|inaccurate|outdated|out of date|typo|falsch|veraltet)\b",
    r"(?:\bnot|n['’]t)\s(?:\w{1,12}\s)?(?:right|true|correct|accurate|the case|so)\b",
    r"\bnot\b[^.;]{1,60}\bbut\b",
    r",\s(?:and )?not\s\w",
    r"^\W*(?:no|nein|actually|in fact)\b[,:. ]",
    r"\b(?:actually|in fact|in reality|should (?:be|read)|instead of|rather than|as opposed to|no longer|sondern"
    r"|statt)\b",
    r"(?:\bnot|n['’]t)\b[^.;]{0,60}\b(?:any ?more|any longer)\b",
    r"n['’]t\b[^.;]{1,60}[;,.:—–]\s(?:it|they|he|she|we|that)\b",
    r"\b(?:my mistake|i misspoke|scratch that|should have said|meant to (?:say|write)|mixed up|contrary to|other way"
    r" (?:a)?round)\b",
)
_MONTHS = "january|february|march|april|june|july|august|september|october|november|december"
NEWS = _cues(
    r"\b(?:yesterday|today|tonight|tomorrow|recently|lately|just|already|soon|upcoming|new|newly|fyi|btw|by the way"
    r"|note that"
    r"|for your information|in talks|told|learn(?:ed|t)|heard|found out|turns out|emerged|news)\b",
    r"\b(?:this|last|next) (?:morning|night|week|month|quarter|year|spring|summer|autumn|fall|winter|season)\b",
    rf"\b(?:in|by|since|until|from) (?:{_MONTHS}|may|spring|summer|autumn|winter|20\d\d)\b",
    r"\b(?:announc|negotiat|plan(?:s|ned|ning)|propos|threaten|expect|launch)",
    r"\b(?:will|won['’]t|going to|about to|has|have|had)\b",
    r"\b(?:is|are|was|were)\s(?:\w{1,12}\s)?\w{2,16}(?:ing|ed)\b",
    r"\b(?:we|we['’](?:re|ve|ll)|our|ours|us|my|i['’]ve|there (?:is|are))\b",
    r"\b(?:wir|unser\w{0,3}|gestern|heute|morgen|neu\w{0,2})\b",
)
ABOUT_THE_TEXT = _cues(
    r"\b(?:the|this|your|that) (?:\w{1,12} ){0,3}(?:text|wording|draft|summary|report|section|paragraph|chapter"
    r"|heading|table|chart"
    r"|layout|version|document|synthesis|write-up|style|tone)\b",
    r"\b(?:jargon|readable|hard to read|too (?:long|short|wordy|vague|technical)|plainer|shorter|wordy|next (?:time"
    r"|version))\b",
)
# "The bridge opens in two years": a statement about something, told because it was not known.
STATES = re.compile(
    r"\W*(?:the|an?|this|these|those|some|many|most|few|all|every|each|both|several|no|another|it|they|there|half"
    r"|two|three|four|five|six|seven|eight|nine|ten|\d{1,4}|der|die|das|ein|eine)\s(?:\S{1,30}\s){1,60}?\S",
    re.IGNORECASE,
)
