"""What can be known of a value before there is one: which parts it may have, and which it cannot have.

One job: the kinds and the look-ups in them. In doubt a value may be anything, and then every name is right. It must not
know workflows, JavaScript or Jinja.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from reconvene.language.as_text import METHODS

_MOST = 500  # alternatives that are told apart
_DEEPEST = 6  # levels below which nobody looks for words


@dataclass(frozen=True, slots=True)
class Anything:
    """Nothing is known: any name may be looked up in it. `written`: an agent wrote it."""

    written: bool = False


@dataclass(frozen=True, slots=True)
class Plain:
    """A text, a number, or true or false. `written`: a text in which an agent may say what it likes."""

    word: str
    written: bool = False


@dataclass(frozen=True, slots=True)
class Record:
    """Named parts. `others`: what a part with another name is; None = there are no others.

    `contract`: an output's contract names the parts, so the author may add to them.
    """

    parts: Mapping[str, Kind] = field(default_factory=dict)
    others: Kind | None = None
    contract: bool = False
    literal: bool = False  # written out where it is used: whether it has a part may be asked


@dataclass(frozen=True, slots=True)
class ListOf:
    item: Kind


@dataclass(frozen=True, slots=True)
class Either:
    """One of these. Without any: null, which says nothing about the value that may come later."""

    kinds: tuple[Kind, ...]


class Later:
    """Worked out when it is first looked at: a contract may contain itself."""

    def __init__(self, make: Callable[[], Kind]) -> None:
        self._make = make

    @cached_property
    def kind(self) -> Kind:
        return self._make()


Kind = Anything | Plain | Record | ListOf | Either | Later

ANYTHING = Anything()
WRITTEN = Anything(written=True)
NOTHING = Either(())
TEXT = Plain("text")
WORDS = Plain("text", written=True)
NUMBER = Plain("number")
FLAG = Plain("flag")
TEXTS = ListOf(TEXT)
OUTSIDE = Plain("outside")  # `item` where no loop is around: null


class Missing(NamedTuple):
    """There is no part of that name; these there are. `word`: what it is instead of a record, if it is something."""

    known: tuple[str, ...]
    word: str = ""
    contract: bool = False


class Miss(NamedTuple):
    """A look-up that leads nowhere. `line` is counted in the text itself, from 1; 0 = not known.

    `known`: what stands there instead; `word`: what it was looked up in, where that has no named parts at all.
    """

    path: str
    name: str
    known: tuple[str, ...]
    word: str = ""
    contract: bool = False
    line: int = 0
    file: str = ""


class Taken(NamedTuple):
    """What a template takes in. `path`: as it is spelt there; `line` and `file` as in a miss."""

    path: str
    line: int
    file: str


Words = Mapping[str, frozenset[str]]  # "text", "number", "flag", "list", "record" → what the language itself offers


JINJA: Words = METHODS


def record(**parts: Kind) -> Record:
    return Record(parts)


def map_of(kind: Kind) -> Record:
    return Record({}, kind)


def either(*kinds: Kind) -> Kind:
    if len(kinds) == 1:
        return kinds[0]
    if WRITTEN in kinds or ANYTHING in kinds:
        return WRITTEN if any(map(has_words, kinds)) else ANYTHING
    return Either(kinds)


def alternatives(kind: Kind) -> list[Anything | Plain | Record | ListOf]:
    """What it may be, flat."""
    found: list[Anything | Plain | Record | ListOf] = []
    waiting = [kind]
    steps = 0
    while waiting:
        steps += 1
        if steps > _MOST:
            return [ANYTHING]
        match waiting.pop():
            case Either(kinds=kinds):
                waiting += reversed(kinds)
            case Later() as later:
                waiting.append(later.kind)
            case Anything() as one:
                return [one]
            case Plain() | Record() | ListOf() as one:
                found.append(one)
    return found


def has_words(kind: Kind, depth: int = 0) -> bool:
    """Whether an agent may have said something in it that no contract bounds."""
    if depth > _DEEPEST:
        return False
    for one in alternatives(kind):
        match one:
            case Anything(written=written) | Plain(written=written):
                inside = [written]
            case ListOf(item=item):
                inside = [has_words(item, depth + 1)]
            case Record(parts=parts, others=others):
                every = [*parts.values(), *([others] if others is not None else [])]
                inside = [has_words(each, depth + 1) for each in every]
        if any(inside):
            return True
    return False


def worded(result: Kind, *sources: Kind) -> Kind:
    """What is made of these: the words of agents among them are still theirs."""
    if not any(map(has_words, sources)):
        return result
    match result:
        case Anything():
            return WRITTEN
        case Plain(word="text"):
            return WORDS
        case ListOf(item=item):
            return ListOf(worded(item, WORDS))
        case _:
            return result


def part(kind: Kind, name: str, words: Words) -> Kind | Missing:
    """The part of that name. `words`: what the language offers besides the data, such as the length of a list."""
    found: list[Kind] = []
    missed: list[Record] = []
    wrong = ""
    every = alternatives(kind)
    if not every:
        return ANYTHING
    for one in every:
        match one:
            case Anything():
                return one
            case Record(parts=parts, others=others):
                if name in parts:
                    found.append(parts[name])
                elif others is not None:
                    found.append(others)
                elif name in words["record"]:
                    found.append(ANYTHING)
                else:
                    missed.append(one)
            case ListOf() | Plain():
                word = one.word if isinstance(one, Plain) else "list"
                wrong = word
                if name in words.get(word, ()):
                    found.append(worded(ANYTHING, one))
    if found:
        return either(*found)
    if not missed:
        return Missing(tuple(sorted(words.get(wrong, ()))), wrong)
    names = dict.fromkeys(name for one in missed for name in one.parts)
    return Missing(tuple(names), contract=any(one.contract for one in missed))


def is_literal(kind: Kind) -> bool:
    """Whether it is an object that is written out where it is used."""
    every = alternatives(kind)
    return bool(every) and all(isinstance(one, Record) and one.literal for one in every)


def element(kind: Kind) -> Kind:
    """Any one of what it holds: an item of a list, a part of a record."""
    found: list[Kind] = []
    for one in alternatives(kind):
        match one:
            case Anything():
                return one
            case ListOf(item=item):
                found.append(item)
            case Record(parts=parts, others=others):
                found += [*parts.values(), *([others] if others is not None else [])]
            case Plain():
                found.append(worded(TEXT, one))
    return either(*found) if found else ANYTHING


def with_parts(kind: Kind, parts: Mapping[str, Kind]) -> Kind:
    """Records of this kind with these parts as well; what is no record stays."""
    found: list[Kind] = []
    for one in alternatives(kind):
        found.append(Record({**one.parts, **parts}, one.others, one.contract) if isinstance(one, Record) else one)
    return either(*found)


def constant(value: object) -> Kind:
    """The kind of a plain value."""
    match value:
        case None:
            return NOTHING
        case bool():
            return FLAG
        case int() | float():
            return NUMBER
        case str():
            return TEXT
        case list() | tuple():
            return ListOf(either(*map(constant, value)))
        case dict():
            return Record({str(key): constant(item) for key, item in value.items()})
        case _:
            return ANYTHING
