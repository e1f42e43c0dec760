"""Two runs beside each other: where they part, what was decided and said, what agents wrote and came to, which files
differ, and what each took.

A fork shares the events up to where it was forked; two runs of one workflow share none. Reads, never writes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from itertools import zip_longest

from msgspec import Struct
from msgspec.structs import astuple, replace

from reconvene.app import queries
from reconvene.app.engine import Engine
from reconvene.app.views import metrics
from reconvene.app.views.read_model import RunInFull
from reconvene.app.views.run_story import Happened, first_difference, story
from reconvene.app.views.shared_past import SharedPast, shared_past
from reconvene.app.views.written import first_lines
from reconvene.core.facts import events as e
from reconvene.core.facts.state import RunState
from reconvene.errors import StoreError, UserError


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


class Wrote(Struct, frozen=True):
    """What an agent wrote in a round, by its first line. `same`: to the last letter."""

    phase: str
    round: int
    agent: str
    here: str
    there: str
    same: bool


class Spent(Struct, frozen=True):
    calls: int
    tokens: int
    cost: float
    agents_minutes: float  # agents at work
    people_minutes: float  # a checkpoint open


class Took(Struct, frozen=True):
    """What a run took, and how much of that came after what the two share."""

    whole: Spent
    own: Spent


class Compared(Struct, frozen=True):
    """`here` is the run that is looked at, `there` the other. `shared`: so many events both begin with."""

    here: RunInFull
    there: RunInFull
    shared: int
    fork: str  # which of the two was forked from the other, "" = neither
    first_here: Happened | None  # where they part; both None = they do not
    first_there: Happened | None
    took_here: Took
    took_there: Took
    decided: tuple[Beside, ...]
    remarks: tuple[Beside, ...]
    outputs: tuple[Wrote, ...]
    said: tuple[Beside, ...]  # what each agent came to
    files: tuple[File, ...]
    same_files: int
    past: SharedPast | None = None  # of the one that was forked

    @property
    def part(self) -> bool:
        return self.first_here is not None or self.first_there is not None


_Events = list[tuple[int, e.AnyEvent]]


def compared(engine: Engine, here: str, there: str) -> Compared:
    if here == there:
        raise UserError(f"{here} is compared with itself: name two runs.", hint="reconvene runs lists them")
    one, other = engine.load(here), engine.load(there)
    own, theirs = engine.log.read(here), engine.log.read(there)
    shared = _shared(own, theirs)
    files = list(_files(one, other))
    left, right = _told(engine, own), _told(engine, theirs)
    fork = next((a for a, b in ((here, there), (there, here)) if forked_from(engine, a) == b), "")
    first_here, first_there = first_difference(left, right)
    return Compared(
        queries.show(engine, here),
        queries.show(engine, there),
        shared,
        fork,
        first_here,
        first_there,
        _took(own, shared),
        _took(theirs, shared),
        tuple(_decided(one, other)),
        tuple(_remarks(one, other)),
        tuple(_outputs(left, right)),
        tuple(_said(engine, here, there)),
        tuple(sorted((one for one in files if one.how), key=lambda one: (one.how != "changed", one.path))),
        sum(not one.how for one in files),
        shared_past(own if fork == here else theirs, (theirs if fork == here else own)[-1][0]) if fork else None,
    )


def forked_from(engine: Engine, run: str) -> str:
    """The run that it was forked from; "" = none."""
    found = [event for _, event in engine.log.read(run) if isinstance(event, e.Forked) and event.run == run]
    return found[-1].source if found else ""


def _shared(own: _Events, theirs: _Events) -> int:
    count = 0
    for (_, one), (_, other) in zip(own, theirs):
        if one != other:
            break
        count += 1
    return count


def _told(engine: Engine, events: _Events) -> list[Happened]:
    """With the first line of what agents wrote."""
    return [replace(one, words=_first_line(engine, one.what)) if one.kind == "wrote" else one for one in story(events)]


def _first_line(engine: Engine, digest: str) -> str:
    try:
        return _begins(first_lines(engine.log.artefact(digest).decode("utf-8", "replace"), 1))
    except StoreError:
        return ""


def _took(events: _Events, shared: int) -> Took:
    """The time in which a fork was not there yet is nobody's."""
    forked = shared < len(events) and isinstance(events[shared][1], e.Forked)
    together, own = _spent(events[:shared]), _less(_spent(events), _spent(events[: shared + forked]))
    return Took(_more(together, own), own)


def _less(one: Spent, other: Spent) -> Spent:
    return _more(one, Spent(*(-value for value in astuple(other))))


def _more(one: Spent, other: Spent) -> Spent:
    return Spent(*(left + right for left, right in zip(astuple(one), astuple(other))))


def _spent(events: _Events) -> Spent:
    found = metrics.measure(event for _, event in events)
    tokens = found.input_tokens + found.output_tokens
    return Spent(found.tasks, tokens, found.cost, found.wait_minutes, sum(found.review_minutes))


def _decided(one: RunState, other: RunState) -> Iterator[Beside]:
    """In the order in which they were taken."""
    own, theirs = list(one.record.decisions.values()), list(other.record.decisions.values())
    for left, right in zip_longest(own, theirs):
        first = left or right
        assert first is not None
        yield Beside(first.phase, left.option if left is not None else "", right.option if right is not None else "")


def _remarks(one: RunState, other: RunState) -> Iterator[Beside]:
    """What people said, in its order; what both were told stands once. What was taken back is left out."""
    own, theirs = _standing(one), _standing(other)
    matched = SequenceMatcher(None, [text for _, text in own], [text for _, text in theirs], autojunk=False)
    for _, first, last, begin, end in matched.get_opcodes():
        left, right = own[first:last], theirs[begin:end]
        if [text for _, text in left] == [text for _, text in right]:
            yield from (Beside(id, text, text) for id, text in left)
        else:
            yield from (Beside(id, text, "") for id, text in left)
            yield from (Beside(id, "", text) for id, text in right)


def _standing(state: RunState) -> list[tuple[str, str]]:
    gone = state.record.withdrawn
    return [(one.id, one.text) for one in state.record.remarks.values() if one.number not in gone]


def _outputs(left: Sequence[Happened], right: Sequence[Happened]) -> Iterator[Wrote]:
    """By phase, round and agent; of several in one round, the last."""
    own, theirs = _written(left), _written(right)
    for key in dict.fromkeys((*own, *theirs)):
        one, other = own.get(key), theirs.get(key)
        same = one is not None and other is not None and one.what == other.what
        yield Wrote(*key, one.words if one is not None else "", other.words if other is not None else "", same)


def _written(told: Sequence[Happened]) -> dict[tuple[str, int, str], Happened]:
    return {(one.phase, one.round, one.who): one for one in told if one.kind == "wrote"}


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
