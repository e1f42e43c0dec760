"""What an output proves of the remarks that its agent was shown. Compares what the agent wrote before and after.

A figure is proved by rule: the new value is newly stated, and the old one stands nowhere as what holds. A statement is
proved only where the new words say all of it and something of their own, and nothing that stood before speaks against
it. Whatever else changed is shown as evidence, and a person judges it. When in doubt nothing is proved: a remark that
stays open is seen, one that was closed falsely is not.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import Literal

from msgspec import Struct

from reconvene.core.extensions import Asked, Citation, Compared, Examined, Finding, Spot
from reconvene.kits.reading import tongues
from reconvene.kits.reading.assumptions import contradicted
from reconvene.kits.reading.compared_texts import Block, Change, Sentence, blocks, changes, key_of, shown
from reconvene.kits.reading.figure_evidence import Standing, doubtful, figure_evidence
from reconvene.kits.reading.splitting import sentences as sentences_of
from reconvene.kits.reading.terms import content, name_pattern, telling

_MOST_SHOWN = 8  # passages
_MOST_UNSAID = 4  # where the agent says nothing of the remark, and nothing in them speaks of it
_FEWEST_WORDS = 3  # of a quotation that points at something
_OWN_WORDS = 3  # that a new sentence has beside those of the remark
_REASON_WORDS = 2  # of a reason, without those of whoever only says that they heard
_OWN_REASON = 2  # of them, those that the remark does not have
_PLAIN_REASON = 6  # or words of any kind, likewise without those: "it goes out once and never again"
_QUOTED = re.compile(
    r"\"([^\"\n]{8,600})\"|“([^”\n]{8,600})”|„([^“”\n]{8,600})[“”]|«([^»\n]{8,600})»|‘([^’\n]{8,600})’"
)

UNCHANGED = "nothing in its text changed"
OPEN = "its text changed; whether that answers the remark, a person has to say"


def examine(given: Examined) -> tuple[Finding, ...]:
    work = _Work(given)
    return tuple(found for remark in given.remarks if (found := _Case(work, remark).finding()) is not None)


class Place(Struct, frozen=True):
    """A sentence of the agent's texts as they are now. `new`: it stood in none of them before."""

    path: str
    sentence: Sentence
    around: str
    new: bool

    @property
    def spot(self) -> Spot:
        return Spot(self.path, self.sentence.line, "", shown((self.sentence,)))


class Changed(Struct, frozen=True):
    path: str
    change: Change

    @property
    def spot(self) -> Spot:
        return Spot(self.path, self.change.line, self.change.was, self.change.now)


class _Work:
    """The texts, read once for all remarks."""

    def __init__(self, given: Examined) -> None:
        self.given = given
        before = [(one, blocks(one.before)) for one in given.texts]
        after = [(one, blocks(one.after)) for one in given.texts]
        self.tongue = tongues.of("\n".join(one.after for one in given.texts))
        self.demanded = key_of(" ".join(given.demanded))
        self.stood = {one.key for _, found in before for block in found for one in block.sentences}
        self.places = [
            Place(text.path, one, block.around, one.key not in self.stood)
            for text, found in after
            for block in found
            if not block.answers
            for one in block.sentences
        ]
        self.earlier = [
            one.text for _, found in before for block in found if not block.answers for one in block.sentences
        ]
        self.answers = [(text, block) for text, found in after for block in found if block.answers]
        self.changed = list(self._changed(before, after))

    def _changed(
        self, before: Sequence[tuple[Compared, tuple[Block, ...]]], after: Sequence[tuple[Compared, tuple[Block, ...]]]
    ) -> Iterator[Changed]:
        for (text, old), (_, new) in zip(before, after):
            for change in changes(old, new):
                come = tuple(one for one in change.come if not self.hollow(one))
                gone = change.gone
                if _differ(gone, come, self.tongue):
                    yield Changed(text.path, Change(change.line, gone, come, change.around))

    def hollow(self, sentence: Sentence) -> bool:
        """It says that remarks were heard, and nothing else; or the workflow has every agent say it."""
        if self.demanded and sentence.key and f" {sentence.key} " in f" {self.demanded} ":
            return True
        if sentence.key in self.stood:
            return False
        words = content(key_of(sentence.text), self.tongue)
        claims = self.tongue.words("claiming")
        own = [stem for stem, word in words.items() if word.casefold() not in claims and stem not in claims]
        return bool(words) and len(own) <= len(words) // 3


def _differ(gone: Iterable[Sentence], come: Iterable[Sentence], tongue: tongues.Tongue) -> bool:
    """Whether more changed than words that mean nothing of their own."""
    was, now = (" ".join(one.key for one in some) for some in (gone, come))
    return was != now and (set(content(was, tongue)) != set(content(now, tongue)) or _digits(was) != _digits(now))


def _digits(text: str) -> list[str]:
    return sorted(re.findall(r"\d[\d.,]*", text))


class _Case:
    """One remark and the texts."""

    def __init__(self, work: _Work, remark: Asked) -> None:
        self.work, self.remark, self.given = work, remark, work.given
        self.cited = [one for one in work.given.cited if one.id == remark.id]

    # --- what the agent says ---

    @cached_property
    def answer(self) -> Citation | None:
        """Where it declines, that; else the first of its words on the remark."""
        declined = [one for one in self.cited if one.how == "declined"]
        return next(iter(declined or self.cited), None)

    @cached_property
    def named(self) -> re.Pattern[str]:
        return re.compile(rf"(?<![\w-]){re.escape(self.remark.id)}(?![\w-])", re.IGNORECASE)

    @cached_property
    def said_at(self) -> list[Place]:
        """All that it says of this remark where it speaks of remarks."""
        found = [(text, block) for text, block in self.work.answers if self.named.search(block.text)]
        return [Place(text.path, one, block.around, new=True) for text, block in found for one in block.sentences]

    @cached_property
    def own_words(self) -> str:
        return "\n".join(place.sentence.text for place in self.said_at)

    @cached_property
    def pointed(self) -> tuple[str, ...]:
        """The words that it points at."""
        quoted = (next(filter(None, found.groups())) for found in _QUOTED.finditer(self.own_words))
        return tuple(one for one in quoted if len(key_of(one).split()) >= _FEWEST_WORDS)

    @cached_property
    def deferred(self) -> bool:
        """It names somebody else whose matter it is to be, and points at nothing of its own."""
        said = self.own_words or (self.answer.reason if self.answer else "")
        return not self.pointed and any(name_pattern(other).search(said) for other in self.given.others)

    @cached_property
    def said(self) -> Literal["taken up", "declined", ""]:
        """In the words that it was asked for, where it uses them."""
        if self.answer is None:
            return ""
        asked = re.search(rf"{re.escape(self.remark.id)}\W*(?P<how>taken up|declined)\b", self.own_words, re.IGNORECASE)
        if asked:
            return "taken up" if asked["how"].casefold() == "taken up" else "declined"
        return "declined" if self.answer.how == "declined" else "taken up"

    # --- what the texts show ---

    @cached_property
    def at(self) -> list[Place]:
        """New sentences that it points at, or that cite the remark where they stand."""
        keys = [key_of(one) for one in self.pointed]
        return [
            place
            for place in self.work.places
            if place.new and not self.work.hollow(place.sentence) and not self._repeats(place.sentence.text)
            and (self.named.search(place.sentence.text) or any(_overlap(key, place.sentence.key) for key in keys))
        ]  # fmt: skip

    def _repeats(self, text: str) -> bool:
        """Nothing but the words of the remark."""
        tongue = tongues.of(self.remark.text, self.work.tongue)
        said, mine = set(content(key_of(text), tongue)), set(content(self.remark.text, tongue))
        return (
            bool(said) and len(said - mine) < min(_OWN_WORDS, max(1, len(mine))) and len(said & mine) * 2 >= len(mine)
        )

    @cached_property
    def passages(self) -> list[Changed]:
        """What changed, first what the agent points at, then what has most to do with the remark."""
        marked = {(place.path, place.sentence.key) for place in self.at}
        scored = [(self._weight(one, marked), -at, one) for at, one in enumerate(self.work.changed)]
        best = sorted(scored, key=lambda each: each[:2], reverse=True)
        most = _MOST_SHOWN if self.said or any(weight >= 1 for weight, _, _ in best) else _MOST_UNSAID
        return [one for _, _, one in best[:most]]

    def _weight(self, one: Changed, marked: set[tuple[str, str]]) -> float:
        points = 100.0 * any((one.path, sentence.key) in marked for sentence in one.change.come)
        mine = telling(self.remark.text)
        theirs = telling(f"{one.change.was} {one.change.now}")
        near = telling(one.change.around)
        points += sum(_akin(stem, theirs) + 0.5 * _akin(stem, near) for stem in mine)
        points += 2.0 * bool(set(_digits(self.remark.text)) & set(_digits(one.change.now)))
        size = len(one.change.now) + len(one.change.was)
        return points + min(size, 900) / 1000

    # --- the verdict ---

    def finding(self) -> Finding | None:
        if self.said == "declined":
            return self._declined()
        said: Literal["taken up", "declined", ""] = self.said if not self.deferred else ""
        figures = figure_evidence(
            self.remark,
            [*self.work.places, *self.said_at],
            self.work.changed,
            self.work.earlier if self.given.revised else (),
            self.work.tongue,
        )
        against = figures.against if figures is not None else tuple(self._contested())
        spots = [one.spot for one in self.passages]
        if figures is not None:
            first = [one.spot for one in figures.evidence]
            spots = [*first, *(one for one in spots if one not in first)][:_MOST_SHOWN]
        if not said and not against and (not spots or not self._speaks(figures)):
            return None
        why = self._missing(figures, spots)
        verdict: Literal["seen", "unseen"] = "unseen" if why or against else "seen"
        told = why if why or not against else f"“{_short(against[0].sentence.text)}” still stands"
        reason, line = (self.answer.reason, self.answer.line) if self.answer is not None and said else ("", 0)
        where = tuple(one.spot for one in against)
        return Finding(self.remark.id, verdict, said, told, reason, line, tuple(spots), where)

    def _speaks(self, figures: Standing | None) -> bool:
        """Whether what changed can be about the remark. In another piece of work all is new, and that says nothing."""
        return self.given.revised or (figures is not None and bool(figures.evidence))

    def _declined(self) -> Finding:
        assert self.answer is not None
        claims = self.work.tongue.words("claiming") | self.work.tongue.words("waving_off")
        said = {stem for stem, word in content(self.answer.reason).items() if word.casefold() not in claims}
        fair = len(said) >= _REASON_WORDS and len(said - set(content(self.remark.text))) >= _OWN_REASON
        plain = set(key_of(self.answer.reason).split()) - claims - set(key_of(self.remark.text).split())
        fair = fair or len(plain) >= _PLAIN_REASON
        why = "" if fair else "it declines, and says no reason"
        verdict: Literal["declined", "unseen"] = "declined" if fair else "unseen"
        return Finding(self.remark.id, verdict, "declined", why, self.answer.reason, self.answer.line, (), ())

    def _missing(self, figures: Standing | None, spots: Sequence[Spot]) -> str:
        """What keeps the remark open; nothing where it is proved."""
        if figures is not None and (figures.evidence or not figures.missing):
            return figures.missing
        if not self.at and self.pointed and (wrong := self._wrongly_pointed()):
            return wrong
        if not spots:
            return UNCHANGED
        return (figures.missing if figures is not None else "") or self._unsaid()

    def _wrongly_pointed(self) -> str:
        keys = [key_of(one) for one in self.pointed]
        if any(self._repeats(one) for one in self.pointed):
            return "what it points at is the remark itself"
        if any(_overlap(key, place.sentence.key) for key in keys for place in self.work.places):
            return "what it points at stood there before"
        return "what it points at stands nowhere in its text"

    def _unsaid(self) -> str:
        """A statement is proved where new sentences that the agent names say all of the remark, in a sentence of their
        own, and no sentence from before is about the same."""
        text = self.remark.text
        tongue = tongues.of(text, self.work.tongue)
        mine = telling(text, tongue)
        firsts = {next(iter(telling(one.text, tongue)), "") for one in sentences_of(text)}
        if not self.at or len(mine) < 3 or "?" in text or _digits(text):
            return OPEN
        new = " ".join(place.sentence.text for place in self.at)
        theirs = content(new, tongue)
        unsaid = [stem for stem in mine if stem not in theirs and stem not in firsts]
        if any(doubtful(place.sentence.key, text, tongue) for place in self.at):
            return OPEN
        denials = tongue.words("negations")
        same_way = bool(denials & set(key_of(new).split())) == bool(denials & set(key_of(text).split()))
        if unsaid or len(set(mine) & set(theirs)) < 3 or len(set(theirs) - set(mine)) < _OWN_WORDS or not same_way:
            return OPEN
        beside = (place for place in self.work.places if place not in self.at)
        return OPEN if any(len(set(mine) & set(content(one.sentence.text, tongue))) >= 2 for one in beside) else ""

    def _contested(self) -> Iterator[Place]:
        """Sentences from before that the remark speaks against."""
        for place in self.work.places:
            if not place.new and contradicted(self.remark.text, {"": (place.sentence.text,)}):
                yield place


def _overlap(quoted: str, key: str) -> bool:
    """Whether the words quoted stand in the sentence, or the sentence stands in the words quoted."""
    if not quoted or not key:
        return False
    return f" {quoted} " in f" {key} " or (len(key.split()) > _FEWEST_WORDS and f" {key} " in f" {quoted} ")


def _short(text: str, most: int = 80) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"


def _akin(stem: str, others: Iterable[str]) -> float:
    """1 where the word is there, a half where it is part of one, as in compounds."""
    if stem in others:
        return 1.0
    return 0.5 * any(
        (len(short) >= 4 and short in long) or (len(short) >= 3 and long.startswith(short))
        for other in others
        for short, long in [sorted((stem, other), key=len)]
    )
