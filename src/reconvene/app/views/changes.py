"""What another round changed: for each agent that looked again, a sentence of what it said before and of what it says.

Read from the state of a run at an open checkpoint: what was said since the last decision, beside what the same agents
had said before it in the same phase (and item). Knows no workflow, and no heading but `Summary`. Texts are compared
sentence by sentence, summaries first. Of the sentences that differ, those with other figures come first, then those
that name a remark, then the first. Never writes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from reconvene.app.session import Session
from reconvene.app.views.read_model import Change
from reconvene.core.facts.book import Book
from reconvene.core.facts.events import Ref
from reconvene.core.facts.state import RunState, TalkEntry
from reconvene.core.shown.documents import summary_in

_LONGEST = 20_000  # characters of an output that are compared
_MOST = 100  # sentences of it
_SHOWN = 300  # characters of a sentence that are told
_REMARKS = 50  # of the person's, with which a sentence is compared to see whether it only repeats one
_ALIKE = 0.35  # share of words from which two sentences are taken to be about the same
_REPEATED = 0.7  # share of a sentence's words that stand in a remark
_PROSE = 30  # characters from which a text in a structured answer speaks for itself
_LABEL = 4  # words from which a sentence says something
_SHORT = 4  # letters from which a word says what a sentence is about
_REPLIES = ("reply", "message")  # where a structured answer speaks to the person: shown as talk

_BREAK = re.compile(r"(?<=[.!?])\s+(?=[“\"'(\[]*[A-ZÀ-ÖØ-Þ])|(?<=[。！？])")
_CODE = re.compile(r"^(```|~~~).*?(?:^\1|\Z)", re.MULTILINE | re.DOTALL)
_PARAGRAPH = re.compile(r"\n[^\S\n]*\n|\n(?=[^\S\n]*(?:[-*+•]|\d{1,3}[.)])\s)")
_LEAD = re.compile(r"\s*(?:>\s*|[-*+•]\s+|\d{1,3}[.)]\s+)*")
_NOT_PROSE = re.compile(r"\s*(?:[#|]|[-=*_]{3,}\s*$)")
_MARKS = frozenset("*_`")
_MARKUP = re.compile(r"\*\*|__|`|(?<!\w)[*_](?=\w)|(?<=\w)[*_](?!\w)")
_REMARK = re.compile(r"\bFB-\d+\b")
_FIGURE = re.compile(r"(?<![\w.,])(?<!\w-)\d+(?:[.,]\d+)*")  # and not part of a name such as ISSUE-R1-001
_WORD = re.compile(r"[^\W_]+(?:[.,]\d+)*")


_NOTHING: Mapping[str, str] = {}


def changes(session: Session) -> tuple[Change, ...]:
    """What was said since the last decision and differs from before, in the order in which the agents worked."""
    return tuple(_found(session.state, session.book))


def _found(state: RunState, book: Book) -> Iterator[Change]:
    point, decided = state.world.open, _last_decision(state)
    if point is None or point.attention or not decided:
        return
    for number in _outputs(state, decided):
        entry, earlier = state.record.talk[number], _before(state, number, decided)
        before = state.record.talk[earlier].ref if earlier else None
        if before is not None and entry.ref is not None and before.digest != entry.ref.digest:
            said, again = _said(state, earlier, number), not _next_of_the_plan(state, book, entry)
            change = compared(_text(book, before), _text(book, entry.ref), said, again=again)
            if change is not None:
                yield Change(entry.role, change.was, change.now)


def _last_decision(state: RunState) -> int:
    """Where in the talk a person last had the run go on, or took a round back."""
    talk = state.record.talk
    return next((number for number in range(len(talk), 0, -1) if talk[number].kind in ("decision", "undone")), 0)


def _outputs(state: RunState, decided: int) -> list[int]:
    """The last one of each agent at each spot since the decision, oldest first."""
    talk = state.record.talk
    since = [number for number in range(decided + 1, len(talk) + 1) if talk[number].kind == "output"]
    return sorted({(talk[number].spot, talk[number].role): number for number in since}.values())


def _before(state: RunState, number: int, decided: int) -> int:
    """What the same agent had last said at the same spot before the decision; 0 where it said nothing there."""
    talk, agent = state.record.talk, state.record.talk[number].role
    number = talk[number].before
    while number and (number > decided or talk[number].kind != "output" or talk[number].role != agent):
        number = talk[number].before
    return number


def _said(state: RunState, after: int, until: int) -> dict[str, str]:
    """The latest remarks made between two entries of the talk, by id."""
    talk, remarks = state.record.talk, state.record.remarks
    made = [remarks[talk[number].number] for number in range(after, until) if talk[number].kind == "remark"]
    return {remark.id: remark.text for remark in made[-_REMARKS:]}


def _next_of_the_plan(state: RunState, book: Book, entry: TalkEntry) -> bool:
    """Whether it answers another question than the round before: the next of the rounds that its phase plans."""
    round_ = state.world.top.round
    if round_ is None or round_.n == 1 or round_.extra or entry.spot != state.world.spot:
        return False
    return len(book.phase(entry.phase).rounds.plan) > 1


def _text(book: Book, ref: Ref) -> str:
    content = book.load(ref)
    return content if isinstance(content, str) else "\n\n".join(_leaves("", content))


def _leaves(name: str, value: object) -> Iterator[str]:
    """A structured answer as sentences: its texts, and whatever is short with the name it has."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _leaves(str(key), inner) if key not in _REPLIES else ()
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _leaves(name, inner)
    elif value is not None and value != "":
        yield value if isinstance(value, str) and len(value) > _PROSE else f"{name}: {value}"


# --- two texts --------------------------------------------------------------------------------------------------------


class _Pair(NamedTuple):
    was: str
    now: str
    label: bool = False  # too short to say anything
    repeats: bool = False  # the new one only repeats what the person said
    figures: bool = False  # both speak of the same, with other figures
    named: bool = False  # the new one names a remark


def compared(before: str, after: str, said: Mapping[str, str] = _NOTHING, *, again: bool = True) -> Change | None:
    """The sentence that says best what changed, and the one in whose place it stands; nothing where none differs.

    `said`: what the person said in between, by the remark's id. `again`: the same question was asked again; else the
    text is a new one anyway, and only a sentence of its summary counts that has one like it before, or names a remark.
    """
    old, new = _Told(before), _Told(after)
    remarks = {id: set(_plain(text).split()) for id, text in said.items()}
    pairs = _pairs(old.summary, new.summary, old.known & new.known, remarks, conclusion=again)
    if not again:
        pairs = [pair for pair in pairs if pair.named or (pair.was and pair.now)]
    elif all(pair.label or pair.repeats for pair in pairs):
        pairs += _pairs(old.all, new.all, old.known & new.known, remarks)
    best = min(pairs, key=lambda pair: (pair.repeats, pair.label, not pair.figures, not pair.named), default=None)
    return Change("", _cut(best.was), _cut(best.now)) if best else None


class _Told:
    """A text in sentences."""

    def __init__(self, text: str) -> None:
        self.summary = sentences(summary_in(text))
        self.all = sentences(text)
        self.known = {_plain(sentence) for sentence in (*self.summary, *self.all)}


def _pairs(
    old: Sequence[str], new: Sequence[str], kept: set[str], said: Mapping[str, set[str]], *, conclusion: bool = False
) -> list[_Pair]:
    """Each new sentence with the old one that is most like it; or, where nothing is new, what is no longer said.

    `kept`: what both texts say. `said`: the words of each remark. `conclusion`: whatever they are about, the first new
    one replaces the first old one.
    """
    gone = {sentence: _words(sentence) for sentence in old if _plain(sentence) not in kept}
    fresh = [sentence for sentence in new if _plain(sentence) not in kept]
    if not fresh:
        return [_Pair(sentence, "") for sentence in gone]
    found = [_paired(sentence, gone, said) for sentence in fresh]
    if conclusion and gone and not found[0].was and not found[0].named:
        found[0] = found[0]._replace(was=next(iter(gone)))
    return found


def _paired(sentence: str, gone: dict[str, frozenset[str]], said: Mapping[str, set[str]]) -> _Pair:
    words, told = _words(sentence), _plain(sentence).split()
    near = max(gone, key=lambda other: _alike(words, gone[other]), default="")
    was = near if near and _alike(words, gone[near]) >= _ALIKE else ""
    return _Pair(
        was,
        sentence,
        label=len(told) < _LABEL,
        repeats=any(sum(word in remark for word in told) >= _REPEATED * len(told) for remark in said.values()),
        figures=bool(was) and _figures(was) != _figures(sentence),
        named=not said.keys().isdisjoint(_REMARK.findall(sentence)),
    )


def sentences(text: str) -> list[str]:
    """Prose only, without markup: no headings, tables or code."""
    paragraphs = _PARAGRAPH.split(_CODE.sub("", text[:_LONGEST]))
    return [sentence for paragraph in paragraphs for sentence in _sentences(paragraph)][:_MOST]


@lru_cache(1000)  # most paragraphs stand in both texts, and those of a summary twice in each
def _sentences(paragraph: str) -> tuple[str, ...]:
    lines = [_LEAD.sub("", line, count=1) for line in paragraph.split("\n") if not _NOT_PROSE.match(line)]
    plain = " ".join(" ".join(lines).split())
    if not _MARKS.isdisjoint(plain):
        plain = _MARKUP.sub("", plain)
    return tuple(part for part in _BREAK.split(plain) if _WORD.search(part))


@lru_cache(1000)
def _plain(sentence: str) -> str:
    """What two sentences have in common that say the same: no punctuation, no case, no reference to a remark."""
    return " ".join(_WORD.findall(_REMARK.sub("", sentence).casefold()))


def _words(sentence: str) -> frozenset[str]:
    """What it is about."""
    return frozenset(word for word in _plain(sentence).split() if len(word) >= _SHORT and not word[0].isdigit())


def _alike(one: frozenset[str], other: frozenset[str]) -> float:
    return 2 * len(one & other) / (len(one) + len(other)) if one or other else 0.0


def _figures(sentence: str) -> set[str]:
    return set(_FIGURE.findall(sentence))


def _cut(sentence: str) -> str:
    return sentence if len(sentence) <= _SHOWN else sentence[: _SHOWN - 1] + "…"
