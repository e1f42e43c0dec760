"""One run as its log tells it, read once for an answer: the phases that it went through, what went wrong, its texts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property

from msgspec import Struct

from reconvene.app import queries, tool_pages
from reconvene.app.session import state_after
from reconvene.app.views import troubles
from reconvene.app.views.read_model import RunInFull
from reconvene.companion.tool_scope import Scope
from reconvene.core.definition.workflow import every_phase
from reconvene.core.facts import events as e
from reconvene.core.facts.book import Book
from reconvene.core.facts.state import EMPTY, RunState
from reconvene.material_ports import Document

_BINARY = 8_000  # bytes in which a zero byte is looked for
_LINES_OF_A_WHY = 300  # characters


class Trouble(Struct, frozen=True):
    """Something that did not go as it should."""

    event: int
    at: str
    what: str
    who: str = ""


class PhaseAt(Struct, frozen=True):
    """A phase that the run entered. `number`: which one in a row, the first is 1. `last` 0 = it is not closed."""

    number: int
    phase: str
    title: str
    scope: str
    first: int
    last: int = 0
    files: Mapping[str, str] = {}  # path → digest, when it closed, or now

    @property
    def named(self) -> str:
        return f"phase {self.number}, {self.title}"


class RunRecord:
    def __init__(self, scope: Scope) -> None:
        self.scope = scope
        self._engine = scope.engine
        self.run = scope.run

    @cached_property
    def events(self) -> list[tuple[int, e.AnyEvent]]:
        return self._engine.log.read(self.run)

    @cached_property
    def book(self) -> Book:
        return self._engine.session(self.run).book

    @cached_property
    def shown(self) -> RunInFull:
        return queries.show(self._engine, self.run)

    @cached_property
    def documents(self) -> tuple[Document, ...]:
        return queries.documents(self._engine, self.run)

    @cached_property
    def tool_pages(self) -> list[str]:
        return tool_pages.pages(self._engine.load(self.run), self.book)

    def titled(self, phase: str) -> str:
        """`strategy (Planning)`"""
        title = next((one.title for one in every_phase(self.book.workflow) if one.id == phase), "")
        return f"{phase} ({title})" if title and title != phase else phase

    def last(self, *kinds: type) -> int:
        """The number of the newest event of these kinds, 0 = there is none."""
        return next((seq for seq, event in reversed(self.events) if isinstance(event, kinds)), 0)

    def read(self, digest: str) -> bytes:
        return self._engine.log.artefact(digest)

    def texts(self) -> Iterator[tuple[str, str]]:
        """The files that are texts, by path."""
        for path, version in sorted(self._engine.load(self.run).world.files.items()):
            data = self.read(version.digest)
            if b"\0" not in data[:_BINARY]:
                yield path, data.decode("utf-8", "replace")

    @cached_property
    def phases(self) -> list[PhaseAt]:
        """Those in which agents or a person were at work, in the order in which the run came to them."""
        groups = {phase.id for phase in every_phase(self.book.workflow) if phase.phases}
        found: list[PhaseAt] = []
        state = EMPTY
        for seq, event in self.events:
            state = state_after(self.run, state, seq, event)
            if isinstance(event, e.PhaseEntered) and event.phase not in groups:
                found.append(PhaseAt(len(found) + 1, event.phase, self.titled(event.phase), event.scope, seq))
            elif isinstance(event, e.PhaseClosed):
                found = [_closed(one, seq, state) if _is(one, event) else one for one in found]
        now = _files(state)
        return [one if one.last else PhaseAt(*_key(one), files=now) for one in found]

    @cached_property
    def trouble(self) -> list[Trouble]:
        return [
            Trouble(seq, event.at, " ".join(what.split())[:_LINES_OF_A_WHY], who)
            for seq, event in self.events
            for what, who in troubles.told(event, self.read)
        ]


def _is(one: PhaseAt, event: e.PhaseClosed) -> bool:
    return not one.last and one.phase == event.phase and one.scope == event.scope


def _key(one: PhaseAt) -> tuple[int, str, str, str, int, int]:
    return one.number, one.phase, one.title, one.scope, one.first, one.last


def _closed(one: PhaseAt, seq: int, state: RunState) -> PhaseAt:
    return PhaseAt(one.number, one.phase, one.title, one.scope, one.first, seq, _files(state))


def _files(state: RunState) -> dict[str, str]:
    return {path: version.digest for path, version in state.world.files.items()}
