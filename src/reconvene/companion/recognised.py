"""What a person asks, recognised without a model: rules in English and German. Pure; the rules are data.

The first rule that fits counts. What is no question, and asks for nothing to be shown, is something for the agents. All
else is looked for among the passages of the run.
"""

from __future__ import annotations

import re
from typing import Literal

from msgspec import Struct

from reconvene.language.late_patterns import late

Subject = Literal[
    "cost",
    "tools",
    "graph",
    "changes",
    "skipped",
    "failure",
    "trouble",
    "approach",
    "plan phase",
    "phase",
    "progress",
    "findings",
    "produced",
    "feedback",
    "passages",
]

# What an answer says that it understood.
IN_WORDS: dict[Subject, str] = {
    "cost": "what it cost",
    "tools": "which tools were used",
    "graph": "what changed in graphs",
    "changes": "what changed",
    "skipped": "why something was left out",
    "failure": "why it failed",
    "trouble": "what went wrong",
    "approach": "why it is done this way",
    "plan phase": "what a phase covers",
    "phase": "which phase it is in",
    "progress": "how far it is",
    "findings": "the findings",
    "produced": "what was produced",
    "feedback": "something for the agents",
    "passages": "a search",
}

_NUMBER = r"(?:phase|step|round|schritt|runde)s?\s+#?(\d{1,3})"
_GRAPH = r"\bgraph(en|s)?\b"
_CHANGED = r"\b(chang\w*|add\w*|creat\w*|delet\w*|remov\w*|writ\w*|(ge)?(ä|ae)nder\w*|angelegt|gel(ö|oe)scht)\b"
_TODO = r"\b(to-?dos?|aufgaben?)\b"
_LEFT = r"(left|open|next|done|to do|remaining)"
_RULES: tuple[tuple[Subject, str], ...] = (
    ("passages", r"\bwhat do(es)?\b.*\b(say|state|mention|write)\b"),
    ("passages", r"\bwhere (is|are|do|does|did)\b.*\b(discuss|mention|describ)\w*"),
    ("passages", r"\bfind\b|\bsearch\b|\bwas (sagt|steht)\b|\bsuch\w*|\bwo (steht|wird)\b"),
    ("graph", rf"\b(what|which|how|show|list|was|welche\w*|zeig\w*)\b.*({_GRAPH}.*{_CHANGED}|{_CHANGED}.*{_GRAPH})"),
    ("changes", r"\b(what|how much|show|list)\b.*\b(chang\w+|differ\w*|diffs?)\b"),
    ("changes", r"\bwas\b.*\b(ge(ä|ae)ndert|anders|unterschied\w*)\b"),
    ("cost", r"\b(costs?|tokens?|spen[dt]\w*|price\w*|expensive|dollars?)\b"),
    ("cost", r"\b(kosten|kostet\w*|gekostet|teuer|ausgegeben|verbraucht)\b"),
    ("tools", r"\b(what|which|show|list)\b.*\btools?\b"),
    ("tools", r"\b(welche|zeig\w*)\b.*\b(werkzeuge?n?|tools?)\b"),
    ("skipped", r"\bwhy\b.*\b(skip\w*|omit\w*|le(ave|ft) out|miss\w*|ignor\w*|drop\w*)\b"),
    ("skipped", r"\b(warum|wieso|weshalb)\b.*\b((ü|ue)bersprungen|ausgelassen|weggelassen|fehlt\w*|ignoriert)\b"),
    ("failure", r"\bwhy\b.*\b(fail\w*|abort\w*|crash\w*|stop\w*|end(ed)? early)\b"),
    ("failure", r"\b(warum|wieso|weshalb)\b.*\b(gescheitert|fehlgeschlagen|abgebrochen|abgest(ü|ue)rzt|gestoppt)\b"),
    ("trouble", r"\b(went|go(es|ne)?|going) wrong\b|\bwhat happened\b|\bwhat (is|was|are the) (the )?errors?\b"),
    ("trouble", r"\b(which|any|what|show|list)\b.*\b(errors?|problems?|failures?)\b"),
    ("trouble", r"\bschief\b|\bwas ist passiert\b|\b(welche|gab es|zeig\w*)\b.*\b(fehler|probleme)\b"),
    ("approach", r"\bwhy\b.*\b(approach\w*|method\w*|cho(o|i|se|sen)\w*|decid\w*|this way|plan\w*)\b"),
    ("approach", r"\b(warum|wieso|weshalb)\b.*\b(ansatz|vorgehen\w*|methode\w*|gew(ä|ae)hlt|entschieden|so)\b"),
    ("plan phase", rf"\b(what|tell|explain|describe|show)\b.*{_NUMBER}"),
    ("plan phase", rf"\b(was|erkl(ä|ae)r\w*|zeig\w*)\b.*{_NUMBER}"),
    ("phase", r"\b(what|which) (phase|step|stage)\b|\bcurrent (phase|step|stage)\b"),
    ("phase", r"\b(welche\w*|aktuelle\w*) (phase|schritt)\b"),
    ("progress", r"\bhow('s| is| are)? (it|things|the (job|run)|that|we|far)\b|\b(progress|status)\b|\bis it done\b"),
    ("progress", r"\bwie (l(ä|ae)uft|weit|steht)\b|\b(fortschritt|stand der dinge)\b|\bist es fertig\b"),
    ("progress", rf"\b(which|what|show|list|how many|are|is|any|welche\w*|zeig\w*|wie viele)\b.*{_TODO}"),
    (
        "progress",
        rf"\bwhat('s| is| are| was| has been| remains)\b.*\b{_LEFT}( to do| to be done| now| yet| so far)?\W*$",
    ),
    ("progress", r"\b(under ?way|in progress|comes? next|happens next|done so far)\b|\bwhat remains\W*$"),
    ("progress", r"\b(it|they|agents?|worker|run|job)( \w+)? working (on|at)\b"),
    ("progress", r"\bwas (ist|fehlt|bleibt|kommt|wurde)\b.*\b(offen|noch|(ü|ue)brig|n(ä|ae)chstes|erledigt|getan)\W*$"),
    ("findings", r"\b(key|main|most important|central)\b.*\b(findings?|results?|points?|conclusions?|takeaways?)\b"),
    (
        "findings",
        r"\b(findings|conclusions)\b|\b(wichtigste\w*|zentrale\w*)\b.*\b(ergebnisse?|erkenntnisse?|punkte?)\b",
    ),
    ("produced", r"\bsummari[sz]e\b|\bwhat (was|were|has been|did (it|they)) (produce\w*|ma[dk]e|wr\w+|deliver\w*)\b"),
    ("produced", r"\bdeliverables?\b|\bfasse?\b.*\bzusammen\b|\bwas (wurde|ist) (erstellt|entstanden|geliefert)\b"),
)
_ASKS = late(
    r"\s*(what|which|who|whom|whose|why|where|when|how|is|are|was|were|does|do|did|can|could|has|have|will|would|"
    r"find|show|list|tell|give|explain|describe|search|look|open|read|summari[sz]e|"
    r"was|welche\w*|wer|wem|wessen|warum|wieso|weshalb|wo|wann|wie|ist|sind|hat|haben|gibt|kann|"
    r"zeig\w*|finde?|such\w*|nenn\w*|erkl\w*|beschreib\w*|lies|fasse?)\b",
    re.IGNORECASE,
)
_NUMBERED = late(_NUMBER, re.IGNORECASE)
_NAMED_FILE = late(r"\b(?:the|der|im|in|den|dem)\s+(plan|workspace|report|todos?|to-dos?)\b", re.IGNORECASE)
_SECTION = late(r"\b((?:section|chapter|part|abschnitt|kapitel|teil)\s+\d+(?:\.\d+)*)\b", re.IGNORECASE)
_LINES = late(r"([\w./-]+\.\w{1,5})\s*(?::|,?\s+(?:lines?|zeilen?)\s+)(\d{1,6})(?:\s*[-–]\s*(\d{1,6}))?", re.IGNORECASE)


class Question(Struct, frozen=True):
    """`numbers`: of the phases that it names. `within`: a word that names a file. `section`: "section 3". `about`: the
    file and lines that it names."""

    text: str
    subject: Subject
    numbers: tuple[int, ...] = ()
    within: str = ""
    section: str = ""
    about: tuple[str, str] = ("", "")


def read(text: str) -> Question:
    return Question(
        text,
        _subject(text),
        tuple(int(found) for found in _NUMBERED.findall(text)),
        found[1].lower().removesuffix("s").replace("-", "") if (found := _NAMED_FILE.search(text)) else "",
        section[1] if (section := _SECTION.search(text)) else "",
        lines_in(text),
    )


def lines_in(text: str) -> tuple[str, str]:
    """The file and lines that a text names, as in `plan.md:3-5` or "plan.md, lines 3-5"; twice "" for none."""
    found = _LINES.search(text)
    if not found:
        return "", ""
    return found[1], f"{found[2]}-{found[3]}" if found[3] and found[3] != found[2] else found[2]


def _subject(text: str) -> Subject:
    told = " ".join(text.split())
    asks = "?" in told or bool(_ASKS.match(told))
    if asks:
        for subject, pattern in _RULES:
            if re.search(pattern, told, re.IGNORECASE):
                return subject
    return "passages" if asks else "feedback"
