"""Workflows that somebody spoilt: number → text, the same every time. Made of the packaged workflows and the fixtures,
by what happens to files: lines lost, doubled, swapped and moved in, values of another type, words from elsewhere."""
# ruff: noqa: E501

from __future__ import annotations

import random
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import NamedTuple

from reconvene.wire.grammar import TABLES
from reconvene.wire.packaged import packaged

_FIXTURES = Path(__file__).parents[1] / "fixtures"
_KEYS = sorted({key for table in TABLES.values() for key in table})
_VALUES = [
    "", "null", "~", "true", "no", "0", "-1", "1e999", ".inf", ".nan", "99999999999999999999999", "0x7f", "1_000", "[]", "{}",
    "[[]]", "[null]", "{a: {b: {c: 1}}}", '""', "' '", "'é'", '"\\0"', '"\\uD800"', '"\\u202e"', "!!python/object:os.system x",
    "!!binary aGk=", "!x y", "&a [*a]", "*a", "2026-01-01", "12:30:45", "|\n      text\n      more", ">-\n      folded",
    "continue", "again", "previous", "current", "../../etc/passwd", "/etc/passwd", "-rf", "x" * 3000, "context.x", "phase",
    "round.n >", "'{{ x }}'", "'{{ x'", "'{% for %}'", "'{{ inputs.a | nope }}'", "'{{ ''.__class__ }}'", "a b", "a.b", "a/b",
    "String.raw({raw: {length: 1e9}})", "'{{ 9 ** 9 ** 9 }}'", "(() => { for (;;); })()", "@file", "auto", "p.md", "😀", "\u2028",
    "{$ref: 'http://127.0.0.1:9/x'}", "{pattern: '(a+)+$'}", "{type: object, required: 1}", "{again: []}", "{goto: nowhere}",
]  # fmt: skip


class Mutant(NamedTuple):
    text: str
    folder: Path  # where the files lie that it names


@cache
def _sources() -> tuple[Mutant, ...]:
    files = [
        *packaged().values(),
        *sorted((_FIXTURES / "sketches").glob("*.yaml")),
        _FIXTURES / "seed004/two-step.yaml",
    ]
    return tuple(Mutant(file.read_text(encoding="utf-8"), file.parent) for file in files)


def mutant(number: int) -> Mutant:
    chance = random.Random(f"mutant {number}")
    # Small ones more often: they load more often, and cost less.
    source = min(chance.sample(_sources(), 3), key=lambda one: len(one.text))
    lines = source.text.split("\n")
    for _ in range(chance.choice((1, 1, 1, 2, 3, 5))):
        chance.choice(_MUTATIONS)(lines, chance)
        lines = lines or [""]
    text = "\n".join(lines)
    if chance.random() < 0.05:
        at = chance.randrange(len(text) + 1)
        text = chance.choice((text[:at], text[:at] + chance.choice("\0\t\r{}[]:-'\"&*!|>%@`\ufeff") + text[at:]))
    return Mutant(text, source.folder)


def _delete(lines: list[str], chance: random.Random) -> None:
    at = chance.randrange(len(lines))
    del lines[at : at + chance.choice((1, 1, 1, 2, 5, 40))]


def _double(lines: list[str], chance: random.Random) -> None:
    at = chance.randrange(len(lines))
    lines[at:at] = lines[at : at + chance.choice((1, 1, 3, 20))]


def _swap(lines: list[str], chance: random.Random) -> None:
    one, other = chance.randrange(len(lines)), chance.randrange(len(lines))
    lines[one], lines[other] = lines[other], lines[one]


def _indent(lines: list[str], chance: random.Random) -> None:
    at = chance.randrange(len(lines))
    lines[at] = chance.choice(("  " + lines[at], lines[at][2:], "\t" + lines[at], " " * 60 + lines[at]))


def _value(lines: list[str], chance: random.Random) -> None:
    """Another value behind a key, in block or in flow style."""
    places = [(at, found) for at, line in enumerate(lines) for found in re.finditer(r"[\w-]+:\s+([^,}\]]+)", line)]
    if places:
        at, found = chance.choice(places)
        lines[at] = lines[at][: found.start(1)] + chance.choice(_VALUES) + lines[at][found.end(1) :]


def _key(lines: list[str], chance: random.Random) -> None:
    places = [(at, found) for at, line in enumerate(lines) for found in re.finditer(r"([\w-]+):(?=\s|$)", line)]
    if places:
        at, found = chance.choice(places)
        lines[at] = lines[at][: found.start(1)] + chance.choice((*_KEYS, *_VALUES)) + lines[at][found.end(1) :]


def _another_key(lines: list[str], chance: random.Random) -> None:
    at = chance.randrange(len(lines))
    margin = lines[at][: len(lines[at]) - len(lines[at].lstrip(" -"))].replace("-", " ")
    lines.insert(at + 1, f"{margin}{chance.choice(_KEYS)}: {chance.choice(_VALUES)}")


def _number(lines: list[str], chance: random.Random) -> None:
    places = [(at, found) for at, line in enumerate(lines) for found in re.finditer(r"\d+", line)]
    if places:
        at, found = chance.choice(places)
        lines[at] = lines[at][: found.start()] + chance.choice("0 1 2 3 7 50 999999".split()) + lines[at][found.end() :]


def _same_kind(lines: list[str], chance: random.Random) -> None:
    """The value of another line with the same key."""
    keyed = [(at, found) for at, line in enumerate(lines) if (found := re.match(r"([\s-]*\w+:\s+)(.+)$", line))]
    if len(keyed) > 1:
        at, one = chance.choice(keyed)
        others = [found for _, found in keyed if found[1].strip(" -") == one[1].strip(" -")]
        lines[at] = one[1] + chance.choice(others)[2]


def _deep(lines: list[str], chance: random.Random) -> None:
    depth = chance.choice((20, 60, 300, 3000))
    opening, closing = chance.choice((("[", "]"), ("{a: ", "}")))
    lines.insert(chance.randrange(len(lines) + 1), f"{chance.choice(_KEYS)}: {opening * depth}1{closing * depth}")


def _aliases(lines: list[str], chance: random.Random) -> None:
    bomb = ["a: &a [x, x, x, x, x, x, x, x, x]"]
    bomb += [f"{after}: &{after} [{', '.join([f'*{name}'] * 9)}]" for name, after in zip("abcdefg", "bcdefgh")]
    lines[chance.randrange(len(lines)) : 0] = bomb[: chance.choice((1, 2, 8))]


def _words(lines: list[str], chance: random.Random) -> None:
    at = chance.randrange(len(lines))
    words = lines[at].split(" ")
    words[chance.randrange(len(words))] = chance.choice((*_KEYS, *_VALUES))
    lines[at] = " ".join(words)


_MUTATIONS: list[Callable[[list[str], random.Random], None]] = [
    _delete, _delete, _double, _swap, _indent, _value, _value, _value, _key, _another_key, _another_key, _number, _number, _number,
    _same_kind, _same_kind, _same_kind, _deep, _aliases, _words,
]  # fmt: skip
