"""Runs in hand: their states, kept and not folded anew, the only way to add to a log, and who may drive a run.

Every append is a compare-and-swap. Whoever loses reads what the other wrote, and handles its commands again on top. The
last few runs of a process stay known: only states are shared, and they never change.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress

import msgspec

from reconvene.app.addressing import messages_of
from reconvene.app.chance import Chance, SystemChance
from reconvene.app.signing import Signer, to_sign
from reconvene.app.views import projections
from reconvene.core.definition.workflow import Workflow
from reconvene.core.facts.actors import Actor
from reconvene.core.facts.book import Book
from reconvene.core.facts.commands import Command, GoOn
from reconvene.core.facts.events import AnyEvent
from reconvene.core.facts.evolve import evolve
from reconvene.core.facts.state import EMPTY, RunState
from reconvene.core.person.deadlines import next_due
from reconvene.core.run.handle import Handled, handle
from reconvene.core.run.plan import unmade_children
from reconvene.errors import Bug, Conflict, ReconveneError, StoreError, UserError
from reconvene.ports import Append, Clock, EventLog, IndexRow, Request
from reconvene.wire import replies
from reconvene.wire.pins import unpin
from reconvene.wire.snapshot_json import FEWEST_EVENTS, decode_state, due_after, encode_state, snapshot_key

_How = Callable[[RunState, Command, str, Book, str, Actor], Handled]
_TRIES = 100  # lost compare-and-swaps in a row before giving up
_KEPT = 8  # runs that stay known
_WORKFLOWS = 32  # pinned workflows whose books share what was worked out once
_BOOKS: dict[str, tuple[Workflow, dict[str, set[str]]]] = {}  # by digest, the one asked for last at the end


def book_for(log: EventLog, digest: str, run: str) -> Book:
    """Of the workflow that is pinned with this run."""
    known = _BOOKS.pop(digest, None) or (unpin(log.artefact(digest), run), {})
    _BOOKS[digest] = known
    if len(_BOOKS) > _WORKFLOWS:
        _BOOKS.pop(next(iter(_BOOKS)), None)
    workflow, names = known
    return Book(workflow, log.artefact, replies.validate, names)


def forget_books() -> None:
    """As in a process that has just begun: for who replays one."""
    _BOOKS.clear()


class Session:
    def __init__(
        self,
        log: EventLog,
        clock: Clock,
        run: str,
        state: RunState,
        book: Book,
        snapshot: int = 0,
        signer: Signer | None = None,
        actor: Actor | None = None,
    ) -> None:
        """`actor`: who does what is done through it; None = the account of this process."""
        self._log = log
        self._clock = clock
        self._signer = signer
        self.actor = actor or Actor(signer.user if signer is not None else "")
        self._snapshot = snapshot
        self.run = run
        self.state = state
        self.book = book
        self.recorded: Sequence[AnyEvent] = ()  # what the last append held
        self.followers: tuple[str, ...] | None = None  # who is told of the run, from the next append on
        self.request: Request | None = None  # that the next append carries out
        # Of the checkpoints that were not asked, those that people were told of; the same list in every session of a
        # run. What an open checkpoint is shown with is told there.
        self._told = [] if state.world.open is None else list(state.record.passed_over)
        self._recorded = ""  # the folder that the log names, where the files lie elsewhere now

    @classmethod
    def load(
        cls, log: EventLog, clock: Clock, run: str, signer: Signer | None = None, actor: Actor | None = None
    ) -> Session:
        """Fold the log, from the newest snapshot that this code may trust."""
        state, snapshot = _folded(log, run)
        return cls(log, clock, run, state, book_for(log, state.workflow, run), snapshot, signer, actor)

    @classmethod
    def new(
        cls, log: EventLog, clock: Clock, run: str, book: Book, signer: Signer | None = None, actor: Actor | None = None
    ) -> Session:
        return cls(log, clock, run, EMPTY, book, 0, signer, actor)

    def again(self, actor: Actor | None = None) -> Session:
        """Another session of the same run, with what was appended since."""
        other = Session(self._log, self._clock, self.run, self.state, self.book, self._snapshot, self._signer, actor)
        other._told, other._recorded = self._told, self._recorded
        other.refresh()
        return other

    def not_told(self) -> list[str]:
        """A sentence for each checkpoint that the run went past because its condition failed, once."""
        news = [one for one in projections.passed_since(self.state) if one not in self._told]
        self._told += news
        return [projections.passed(one).text for one in news]

    def now(self) -> str:
        """Never before the last event."""
        return max(self._clock.now(), self.state.updated)

    def behind(self) -> bool:
        return self._log.head(self.run) != self.state.seq

    def refresh(self) -> None:
        """Take in what others appended."""
        self._stands(fold(self.run, self._log.read(self.run, self.state.seq), self.state))

    def place(self, placed: Callable[[RunState, Workflow], RunState]) -> None:
        """The state has the folder where it lies now. What is kept of it goes on to say what the log says."""
        before, self.state = self.state, placed(self.state, self.book.workflow)
        self._recorded = before.workspace if before.workspace != self.state.workspace else ""

    def _stands(self, state: RunState) -> None:
        """From now on. A run that goes on with another workflow is read with that one."""
        before, self.state = self.state, state
        if before.workflow not in ("", state.workflow):
            self.book = book_for(self._log, state.workflow, self.run)

    def ahead(self) -> RunState:
        """Where the run comes to by itself once somebody goes on with it. Nothing of it is recorded."""
        state = msgspec.structs.replace(self.state, paused=False, place="")
        try:
            return handle(state, GoOn(), self.now(), self.book).state
        except ReconveneError:  # whoever goes on with it is told
            return self.state

    def submit(
        self, commands: Sequence[Command], blobs: Mapping[str, bytes] | None = None, claim: str = "", by: _How = handle,
        *, whole: bool = False,
    ) -> list[ReconveneError | None]:  # fmt: skip
        """Handle these in order, in one durable append: the error that refused each, or None. A refused one does not
        keep the others out, unless `whole`. `by`: `record` leaves what follows from them for later."""
        self.recorded = ()
        for digest, data in (blobs or {}).items():
            self.book.remember(digest, data)
        for _ in range(_TRIES):
            state, events, artefacts, outcomes = self._handle(commands, blobs or {}, claim, by)
            if not events or (whole and any(outcomes)):
                return outcomes
            try:
                self._append(state, events, artefacts)
                return outcomes
            except Conflict:
                self.refresh()
                self._check_head()
        raise StoreError(f"Run {self.run} is too busy: {_TRIES} attempts to append lost.", hint="Try again.")

    def do(
        self, command: Command, blobs: Mapping[str, bytes] | None = None, claim: str = "", by: _How = handle,
        request: Request | None = None,
    ) -> None:  # fmt: skip
        """One command; what refuses it is raised. `request`: that it carries out."""
        self.do_all([command], blobs, claim, by, request)

    def do_all(
        self, commands: Sequence[Command], blobs: Mapping[str, bytes] | None = None, claim: str = "",
        by: _How = handle, request: Request | None = None,
    ) -> None:  # fmt: skip
        """All of them, or none: what refuses one is raised."""
        self.request = request
        try:
            for error in self.submit(commands, blobs, claim, by, whole=True):
                if error is not None:
                    raise error
        finally:
            self.request = None

    def _check_head(self) -> None:
        """The head is stored beside the events. Where the two disagree, nobody can append, now or later."""
        head = self._log.head(self.run)  # first: events that others append meanwhile are read below
        if head != self.state.seq and not self._log.read(self.run, self.state.seq):
            raise StoreError(
                f"The store says that the log of run {self.run} ends with event {head}, but its last event is"
                f" {self.state.seq}. The store is damaged; nothing was added.",
                hint=f"Restore it from a backup. reconvene log {self.run} still shows the events.",
            )

    def _handle(
        self, commands: Sequence[Command], blobs: Mapping[str, bytes], claim: str, by: _How
    ) -> tuple[RunState, list[AnyEvent], dict[str, bytes], list[ReconveneError | None]]:
        state, events, artefacts = self.state, list[AnyEvent](), dict(blobs)
        outcomes: list[ReconveneError | None] = []
        now = self.now()
        for command in commands:
            try:
                handled = by(state, command, now, self.book, claim, self.actor)
            except ReconveneError as error:
                outcomes.append(error)
                continue
            state = handled.state
            events += handled.events
            artefacts |= handled.blobs
            outcomes.append(None)
        return state, events, artefacts, outcomes

    def _append(self, state: RunState, events: list[AnyEvent], artefacts: dict[str, bytes]) -> None:
        state, recorded, seal = to_sign(self._signer, self.actor, self.state, state, events)
        kept = msgspec.structs.replace(state, workspace=self._recorded) if self._recorded else state
        messages = messages_of(self._log, state, recorded)
        row, due = index_row(kept), due_at(kept)
        append = Append(recorded, artefacts, row, seal, due, messages, self.followers, self.request)
        self._log.append(self.run, self.state.seq, append)
        self.followers = self.request = None
        self._stands(state)
        self.recorded = recorded
        since = state.seq - self._snapshot
        if since > FEWEST_EVENTS and since > due_after(state):  # what is due is at least that many
            with suppress(StoreError):  # a cache, and the append counts: whoever is told otherwise would do it again
                self._log.save_snapshot(self.run, state.seq, snapshot_key(state.workflow), encode_state(kept))
            self._snapshot = state.seq


def state_of(log: EventLog, run: str) -> RunState:
    """The run as its log says."""
    return _folded(log, run)[0]


def _folded(log: EventLog, run: str) -> tuple[RunState, int]:
    """The state, and the event of the snapshot that it was made from (0 = none)."""
    first = log.read(run, 0) if log.head(run) <= FEWEST_EVENTS else []
    if first:
        return fold(run, first), 0
    kept = snapshot_of(log, run)
    state = fold(run, log.read(run, kept.seq), kept)
    if not state.seq:
        was = "was deleted" if any(one.run == run for one in log.deleted()) else ""
        raise UserError(
            f"Run {run} {was}." if was else f"There is no run {run!r}.",
            hint="reconvene runs --deleted tells who did" if was else "reconvene runs lists them",
        )
    return state, kept.seq


def snapshot_of(log: EventLog, run: str) -> RunState:
    """The newest cached state that this code may trust, or the empty one."""
    digest = _pinned(log.index_row(run))
    kept = log.snapshot(run, snapshot_key(digest)) if digest else None
    return (decode_state(kept[1]) if kept else None) or EMPTY


def _pinned(row: IndexRow | None) -> str:
    """The workflow's digest as the row names it, "" where it cannot be read: then the log is folded from its start."""
    try:
        doc = msgspec.json.decode(row.doc) if row is not None else None
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return ""
    return str(doc.get("pinned", "")) if isinstance(doc, dict) else ""


def index_row(state: RunState) -> IndexRow:
    doc = msgspec.json.encode(projections.run(state)).decode()
    return IndexRow(state.run, state.name, state.status, state.started, state.updated, doc)


def due_at(state: RunState) -> str:
    """When the run is to be taken up though nobody does anything, to be driven or because of a deadline; "" = never."""
    return min(filter(None, (driven_at(state), next_due(state))), default="")


def driven_at(state: RunState) -> str:
    """When it is to be driven; "" = not before somebody does something."""
    if (state.status == "paused" and state.left) or unmade_children(state):
        return state.updated
    return state.awaits.not_before if state.awaits is not None and state.status == "waiting" else ""


# --- folding what comes from the store ---


def fold(run: str, events: Iterable[tuple[int, AnyEvent]], state: RunState = EMPTY) -> RunState:
    """The state after these events. A log that does not hold together is damaged: a person must act."""
    for seq, event in events:
        state = state_after(run, state, seq, event)
    return state


def state_after(run: str, state: RunState, seq: int, event: AnyEvent) -> RunState:
    """The state after this event, which follows the state."""
    if seq != state.seq + 1:
        raise _broken(run, seq, f"it follows event {state.seq}")
    try:
        return evolve(state, event)
    except (Bug, LookupError, AttributeError, TypeError, ValueError) as error:
        name = type(event).__name__
        why = error.message if isinstance(error, Bug) else f"{name} does not fit what happened before it"
        raise _broken(run, seq, why) from error


def _broken(run: str, seq: int, why: str) -> StoreError:
    return StoreError(
        f"The log of run {run} does not hold together at event {seq}: {why.rstrip('.')}. The store is damaged.",
        hint=f"Restore it from a backup. reconvene log {run} still shows the events.",
    )


class Sessions:
    """`placed`: a state with the folder of its run where it lies now."""

    def __init__(
        self,
        log: EventLog,
        clock: Clock,
        placed: Callable[[RunState, Workflow], RunState],
        signer: Signer | None = None,
    ) -> None:
        self._log = log
        self._clock = clock
        self._placed = placed
        self._signer = signer
        self._newest: dict[str, Session] = {}
        self._first: dict[str, RunState] = {}  # as each was when it came into hand, or when its history last caught up

    def open(self, run: str, actor: Actor | None = None) -> Session:
        """`actor`: who does what is done through it."""
        known = self._newest.get(run)
        if known is not None:
            session = known.again(actor)
        else:
            session = Session.load(self._log, self._clock, run, self._signer, actor)
            session.place(self._placed)
        self.keep(session)
        return session

    def keep(self, session: Session) -> None:
        """The newest known of its run from now on, with all that is appended through it."""
        run = session.run
        self._newest.pop(run, None)
        self._newest[run] = session
        self._first.setdefault(run, session.state)
        if len(self._newest) > _KEPT:
            oldest = next(iter(self._newest))
            del self._newest[oldest], self._first[oldest]

    def earlier(self, run: str) -> Iterator[RunState]:
        """States of the run that the history may go on from, newest first."""
        if run in self._first:
            yield self._first[run]
        yield snapshot_of(self._log, run)

    def caught_up(self, run: str) -> None:
        """The history has all that was known of the run before."""
        if run in self._newest:
            self._first[run] = self._newest[run].state


class Leases:
    def __init__(self, log: EventLog, chance: Chance | None = None) -> None:
        """`chance`: None = the system's."""
        self._log = log
        self.chance = chance or SystemChance()
        self._unreleased: dict[str, str] = {}  # run → holder of a lease that could not be given back

    def take(self, run: str) -> str:
        """Who holds the run's lease from now on, "" while somebody else does."""
        holder = self._unreleased.get(run) or self.chance.token()
        if not self._log.acquire(run, holder):
            return ""
        self._unreleased.pop(run, None)
        return holder

    def give_back(self, run: str, holder: str) -> None:
        """A store that cannot take the lease back now (full, locked) must not shut this process out later."""
        try:
            self._log.release(run, holder)
        except StoreError:
            self._unreleased[run] = holder

    def give_back_left(self) -> None:
        """Those that could not be given back, once more: else nobody takes their runs up while this process lives."""
        for run, holder in list(self._unreleased.items()):
            del self._unreleased[run]
            self.give_back(run, holder)

    @contextmanager
    def held(self, run: str) -> Iterator[bool]:
        """For the length of the block; False while somebody else holds it."""
        holder = self.take(run)
        try:
            yield bool(holder)
        finally:
            if holder:
                self.give_back(run, holder)
