"""Two runs beside each other: what they share, what was decided, what agents came to, and which files differ.

A fork shares the events up to where it was forked; two runs of one workflow share none. Reads, never writes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import zip_longest

from msgspec import Struct

from reconvene.app import queries
from reconvene.app.engine import Engine
from reconvene.app.views.read_model import RunInFull
from reconvene.app.views.written import first_lines
from reconvene.core.facts import events as e
from reconvene.core.facts.state import RunState


class Beside(Struct, frozen=True):
    """One thing in both runs; "" where one of them has none."""

    name: str
    here: str
    there: str

    @property
    def same(self) -> bool:
        return self.here == self.there


class File(Struct, frozen=True):
    path: str
    how: str  # changed, only here, only there
    here: str = ""  # digests
    there: str = ""


class Compared(Struct, frozen=True):
    """`here` is the run that is looked at, `there` the other. `shared`: so many events both begin with."""

    here: RunInFull
    there: RunInFull
    shared: int
    fork: str  # which of the two was forked from the other, "" = neither
    decided: tuple[Beside, ...]
    said: tuple[Beside, ...]
    files: tuple[File, ...]
    same_files: int


def compared(engine: Engine, here: str, there: str) -> Compared:
    one, other = engine.load(here), engine.load(there)
    files = list(_files(one, other))
    return Compared(
        queries.show(engine, here),
        queries.show(engine, there),
        _shared(engine, here, there),
        next((a for a, b in ((here, there), (there, here)) if forked_from(engine, a) == b), ""),
        tuple(_decided(one, other)),
        tuple(_said(engine, here, there)),
        tuple(sorted((one for one in files if one.how), key=lambda one: (one.how != "changed", one.path))),
        sum(not one.how for one in files),
    )


def forked_from(engine: Engine, run: str) -> str:
    """The run that it was forked from; "" = none."""
    found = [event for _, event in engine.log.read(run) if isinstance(event, e.Forked) and event.run == run]
    return found[-1].source if found else ""


def _shared(engine: Engine, here: str, there: str) -> int:
    count = 0
    for (_, one), (_, other) in zip(engine.log.read(here), engine.log.read(there)):
        if one != other:
            break
        count += 1
    return count


def _decided(one: RunState, other: RunState) -> Iterator[Beside]:
    """In the order in which they were taken."""
    own, theirs = list(one.record.decisions.values()), list(other.record.decisions.values())
    for left, right in zip_longest(own, theirs):
        first = left or right
        assert first is not None
        yield Beside(first.phase, left.option if left is not None else "", right.option if right is not None else "")


def _said(engine: Engine, here: str, there: str) -> Iterator[Beside]:
    """What each agent said last."""
    left, right = _last_words(engine, here), _last_words(engine, there)
    for agent in dict.fromkeys((*left, *right)):
        yield Beside(agent, left.get(agent, ""), right.get(agent, ""))


def _last_words(engine: Engine, run: str) -> dict[str, str]:
    session, found = engine.session(run), dict[str, str]()
    for entry in session.state.record.talk.values():
        if entry.kind == "output" and entry.ref is not None:
            found[entry.role] = _begins(first_lines(session.book.text(entry.ref.digest), 1))
    return found


def _begins(lines: Sequence[str]) -> str:
    return lines[0] if lines else ""


def _files(one: RunState, other: RunState) -> Iterator[File]:
    own, theirs = one.world.files, other.world.files
    for path in sorted({*own, *theirs}):
        left = own[path].digest if path in own else ""
        right = theirs[path].digest if path in theirs else ""
        how = "" if left == right else "only here" if not right else "only there" if not left else "changed"
        yield File(path, how, left, right)
