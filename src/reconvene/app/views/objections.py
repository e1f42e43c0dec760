"""Who of the agents objects to what was found in the round in front, and with which words.

Known are: an agent whose part it is to object, by its name or remit; one that says stop where the others, or who draws
them together, say go; one that wrote down objections under a heading, or says in so many words that it
objects. Who says that it has none does not object.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from reconvene.app.views.changes import draws_together, sentences
from reconvene.app.views.opposites import stance
from reconvene.app.views.written import first_lines
from reconvene.core.facts.book import Book
from reconvene.core.facts.state import RunState
from reconvene.core.shown.summaries import summary_in
from reconvene.language.late_patterns import late

_PART = late(
    r"s[ck]epti[ck]|critic|devil|red[ _-]?team|opponent|contrarian|challenger|adversar|skeptiker|kritiker|"
    r"\b(?:object|objections?|counter-?arguments?|make the others wrong|speaks? against|pick (?:it )?apart)\b",
    re.IGNORECASE,
)
_NONE = late(
    r"\b(?:no|nothing|none|not any|without|withdraw\w*|drop)\b[^.;]{0,40}\b(?:objections?|concerns?|against|issues?|"
    r"doubts?|problems?|to add|to object)\b|"
    r"\b(?:objections?|concerns?|doubts?)\b[^.;]{0,30}\b(?:gone|withdrawn|resolved|settled|met)\b|"
    r"(?:\bnot|\bnever|n['’]t) object\b|"
    r"^\W*(?:none|nothing|lgtm|looks good)\b",
    re.IGNORECASE,
)
_UNDER = late(
    r"^#{1,6}\s*(?:main |best |strongest )?(?:objections?|dissent|against|counter-?arguments?|concerns?)\b[^\n]*\n"
    r"(?P<below>.*?)(?=^#{1,6}\s|\Z)",
    re.IGNORECASE | re.MULTILINE | re.DOTALL,
)
_SAYS_SO = late(
    r"\b(?:I|we)\s+(?:(?:must|have to|still|also|\w+ly)\s+)*(?:object|disagree|dissent|oppose|veto)\b|"
    r"\bich widerspreche\b|\bje m['’]oppose\b|\bme opongo\b",
    re.IGNORECASE,
)
_READ = 20_000  # characters of an output
_SAYS = 4  # words from which a sentence says something


class Objection(NamedTuple):
    agent: str
    words: str


class _Says(NamedTuple):
    agent: str
    text: str
    line: str  # what it comes to
    together: bool


def objection(state: RunState, book: Book) -> Objection | None:
    """The best on record: of who is there to object, then of who stands against the others, then of whoever wrote one
    down."""
    round_ = state.world.top.round if state.world.cursor else None
    phase = state.world.top.phase if state.world.cursor else ""
    said = list[_Says]()
    for one in round_.outputs if round_ is not None else ():
        text = book.text(one.output.digest)[:_READ]
        said.append(_Says(one.agent, text, _comes_to(text), draws_together(book, phase, one.agent)))
    return next(iter((*_by_part(said, book), *_alone(said), *_written_down(said), *_in_so_many_words(said))), None)


def _comes_to(text: str) -> str:
    """Of its summary, or of its beginning, the first sentence that says something; of JSON, its first text."""
    plain = text.lstrip()[:1] not in ("{", "[")
    told = [one for one in sentences(summary_in(text)) if plain and len(one.split()) >= _SAYS]
    return next(iter((*told, *first_lines(text, 1))), "")


def _by_part(said: Sequence[_Says], book: Book) -> Iterator[Objection]:
    for one in said:
        agent = book.workflow.agents.get(one.agent)
        if _PART.search(f"{one.agent} {agent.remit if agent is not None else ''}") and _objects(one.line):
            yield Objection(one.agent, one.line)


def _alone(said: Sequence[_Says]) -> Iterator[Objection]:
    """Those who say stop where it comes to go."""
    over_all = [stance(one.line) for one in said if one.together]
    others = [stance(one.line) for one in said if not one.together]
    goes = over_all[-1] == "go" if over_all else others.count("go") > others.count("stop")
    for one in said if goes else ():
        if not one.together and stance(one.line) == "stop" and _objects(one.line):
            yield Objection(one.agent, one.line)


def _written_down(said: Sequence[_Says]) -> Iterator[Objection]:
    for one in said:
        under = _UNDER.search(one.text) if "#" in one.text else None
        words = next(iter(sentences(under["below"])), "") if under is not None else ""
        if _objects(words):
            yield Objection(one.agent, words)


def _in_so_many_words(said: Sequence[_Says]) -> Iterator[Objection]:
    for one in said:
        if _SAYS_SO.search(one.text):
            words = next((words for words in sentences(one.text) if _SAYS_SO.search(words)), "")
            if _objects(words):
                yield Objection(one.agent, words)


def _objects(words: str) -> bool:
    return bool(words) and _NONE.search(words) is None
