"""Does what is stored of a run fit together? Every append against the chain, every event against those before it, every
content against its digest, and what is derived against the log that it is derived from.

It stops at the first thing that does not fit, in the order of the log. It changes nothing.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Mapping
from typing import NamedTuple, Protocol

from reconvene.app.derived_checks import check_due, check_end, check_history, check_index, check_snapshot, snapshot_seq
from reconvene.app.misfits import DoesNotFit, misfit
from reconvene.app.references import named_in
from reconvene.app.seal_checks import Seals
from reconvene.app.session import due_at, index_row, state_after
from reconvene.app.signing import Signer
from reconvene.app.tombstones import checked
from reconvene.app.views.soundness import Gone, Misfit, Soundness, StoreSoundness
from reconvene.chain_ports import Stored
from reconvene.core.facts.events import AnyEvent, Forked
from reconvene.core.facts.ids import digest_of
from reconvene.core.facts.state import EMPTY, RunState
from reconvene.errors import ReconveneError, StoreError
from reconvene.ports import Append, EventLog, History
from reconvene.wire import chain
from reconvene.wire.event_json import decode_batch
from reconvene.wire.snapshot_json import encode_state, snapshot_key

_EVER = "9999"
_UNREADABLE = (ReconveneError, TypeError, ValueError, LookupError, ArithmeticError, AttributeError)


class Readable(Protocol):
    """What of a log is looked through."""

    def stored(self, run: str) -> list[Stored]: ...
    def artefact(self, digest: str) -> bytes: ...
    def chain(self, run: str, after: int = 0) -> list[tuple[int, bytes]]: ...
    def snapshot(self, run: str, key: str) -> tuple[int, bytes] | None: ...


class Ends(Protocol):
    """Where a log is said to end, and where its chain is said to begin."""

    @property
    def head(self) -> int: ...
    @property
    def unchained(self) -> int: ...


class _Ends(NamedTuple):
    head: int
    unchained: int


class Sound(NamedTuple):
    """A log that fits together."""

    state: RunState
    values: Mapping[int, bytes]  # seq of an append's last event → the value of the chain after it
    kept: RunState | None  # as it was at the event of its snapshot
    seals: Seals


def verify_all(log: EventLog, history: History | None = None, signer: Signer | None = None) -> StoreSoundness:
    """Every run, and what belongs to no one of them."""
    runs = tuple(verify(log, run, history, signer) for run in log.runs())
    named = {run.run for run in runs if not run.sound}
    faults: list[Misfit] = []
    try:
        for fault in log.audit():
            if fault.run not in named:
                faults.append(Misfit(fault.where, fault.expected, fault.found, "Restore the store from a backup."))
    except _UNREADABLE as error:
        faults.append(_unreadable(error))
    faults += _unknown_branches(log, history)
    gone: list[Gone] = []
    for left in log.deleted():
        try:
            gone.append(checked(left, signer))
        except DoesNotFit as error:
            faults.append(error.misfit)
    return StoreSoundness(not faults and not named, runs, tuple(faults), tuple(gone))


def verify(log: EventLog, run: str, history: History | None = None, signer: Signer | None = None) -> Soundness:
    """`signer` checks signatures; without one they are passed over."""
    try:
        return _verify(log, run, history, signer)
    except _UNREADABLE as error:
        return Soundness(run, False, 0, "", misfit=_unreadable(error))


def _unreadable(error: Exception) -> Misfit:
    """What lies in the store is not even of the kind that belongs there."""
    if isinstance(error, ReconveneError):
        return Misfit("the store", "rows that can be read", error.message, error.hint)
    return Misfit("the store", "values of the right kind", str(error), "Restore the store from a backup.")


def _verify(log: EventLog, run: str, history: History | None, signer: Signer | None) -> Soundness:
    head, unchained = log.head(run), log.unchained(run)
    notes: list[str] = []
    if unchained:
        notes.append(f"unchained until event {unchained}: made by a release that had no chain")
    try:
        read = read_log(log, run, _Ends(head, unchained), signer)
        if history is not None:  # first: what was made of a log whose end was cut off would fit what is left
            check_end(history, read.state, read.values)
        check_index(log.index_row(run), read.state, exact=head > unchained)
        check_due({one: when for when, one in log.due(_EVER)}, read.state)
        check_snapshot(log, read.state, read.kept)
        if history is not None:
            notes += check_history(history, read.state)
        value = _told(log, run)
    except DoesNotFit as error:
        return Soundness(run, False, head, _told(log, run), unchained, error.misfit, notes=tuple(notes))
    seals = read.seals
    keys = seals.keys(read.state)
    notes += seals.notes(keys)
    return Soundness(run, True, head, value, unchained, None, seals.signed, keys, tuple(seals.unsigned), tuple(notes))


def _told(log: EventLog, run: str) -> str:
    values = log.chain(run)
    return values[-1][1].hex() if values else ""


def mend(log: EventLog, run: str, history: History | None = None) -> None:
    """Make again what is derived from the log. What does not fit in the log itself stays as it is, and is refused; so
    is a log whose end was cut off."""
    sound = require_sound(log, run)
    state = sound.state
    if history is not None:
        try:
            check_end(history, state, sound.values, readable=False)
        except DoesNotFit as error:
            raise _unsound(run, error.misfit) from error
    log.append(run, state.seq, Append([], row=index_row(state), due=due_at(state)))
    log.save_snapshot(run, state.seq, snapshot_key(state.workflow), encode_state(state))


def require_sound(log: EventLog, run: str, signer: Signer | None = None) -> Sound:
    """StoreError where the log does not fit together."""
    try:
        return read_log(log, run, _Ends(log.head(run), log.unchained(run)), signer)
    except DoesNotFit as error:
        raise _unsound(run, error.misfit) from error


def _unsound(run: str, one: Misfit) -> StoreError:
    return StoreError(
        f"The log of run {run} does not fit together: {one.where}: expected {one.expected}, found {one.found}.",
        hint=one.next,
    )


# --- the log ---


def read_log(log: Readable, run: str, ends: Ends, signer: Signer | None) -> Sound:
    """DoesNotFit at the first thing that does not."""
    head, unchained = ends.head, ends.unchained
    state, kept, values, seals = EMPTY, None, dict[int, bytes](), Seals(run, unchained, signer)
    known: set[str] = set()
    forks: dict[int, Forked] = {}
    snapshot = 0
    for row, link, events in _appends(log, run, unchained):
        for seq, event in enumerate(events, row.seq - len(events) + 1):
            try:
                state = state_after(run, state, seq, event)
            except StoreError as error:
                raise misfit(run, seq, f"event {seq}", "an event that follows from those before", error) from error
            _check_contents(log, run, seq, event, known)
            if isinstance(event, Forked):
                forks[seq] = event
            snapshot = snapshot_seq(log, run, event) or snapshot
            kept = state if seq == snapshot else kept
        values[row.seq] = row.chain
        seals.take(row, link, events, state)
    if state.seq != head:
        expected = f"that the log ends with event {head}, as the list of runs says"
        raise misfit(run, state.seq, "the end of the log", expected, f"its last event is {state.seq}")
    if state.run != run:
        raise misfit(run, 1, "the log", f"a log of run {run}", f"one of run {state.run}")
    if unchained and unchained not in values:
        raise misfit(run, unchained, "where the chain begins", f"an append that ends with event {unchained}", "none")
    for seq, forked in forks.items():
        if seq > state.imported:  # else the run that it was forked from is elsewhere
            _check_source(log, run, seq, forked)
    seals.close()
    return Sound(state, values, kept, seals)


def _appends(log: Readable, run: str, unchained: int) -> Iterator[tuple[Stored, bytes, list[AnyEvent]]]:
    """Every append with its link and its events, if it follows from the one before."""
    value, last = chain.BEGINNING, 0
    for row in log.stored(run):
        link = chain.link(value, run, row.seq, row.packed, row.data)
        value = chain.value_after(link, row.seal)
        chained = value if row.seq > unchained else b""
        where = f"the append that ends with event {row.seq}"
        if row.chain != chained:
            expected = f"the value {value.hex()} in the chain" if chained else "no value in the chain"
            raise misfit(run, last + 1, where, expected, row.chain.hex() or "none")
        try:
            events = decode_batch(zlib.decompress(row.data) if row.packed else row.data, run)
        except (StoreError, zlib.error) as error:
            raise misfit(run, last + 1, where, "events that can be read", error) from error
        if row.seq - len(events) != last:
            expected = f"events {last + 1} to {row.seq}"
            raise misfit(run, last + 1, where, expected, f"{len(events)} events, and {last} before them")
        last = row.seq
        yield row, link, events


def _check_source(log: Readable, run: str, seq: int, forked: Forked) -> None:
    """Where the run that this one was forked from is still here, it must be what it was then."""
    values = log.chain(forked.source) if forked.source_chain and forked.source != run else []
    found = next((value.hex() for last, value in values if last >= forked.source_seq), "none")
    if values and found != forked.source_chain:
        where = f"the chain of {forked.source} after event {forked.source_seq}, from which this run was forked"
        raise misfit(run, seq, where, forked.source_chain, found)


def _check_contents(log: Readable, run: str, seq: int, event: AnyEvent, known: set[str]) -> None:
    for digest in named_in(event):
        if digest in known:
            continue
        known.add(digest)
        where = f"the content {digest}, which event {seq} names"
        try:
            found = digest_of(log.artefact(digest))
        except (ReconveneError, IndexError, ValueError) as error:
            raise misfit(run, seq, where, "its bytes", error) from error
        if found != digest:
            raise misfit(run, seq, where, "bytes with that digest", f"bytes with the digest {found}")


def _unknown_branches(log: EventLog, history: History | None) -> list[Misfit]:
    """A run that is gone without a trace in the store still has its branch."""
    try:
        named = history.runs() if history is not None else []
    except ReconveneError as error:
        return [Misfit("the git history", "branches that can be read", error.message, error.hint)]
    expected, next = "a log: the git history has a branch of it", "Restore the store from a backup."
    left, there = {one.run for one in log.deleted()}, set(log.runs())
    lost = [Misfit(f"run {run}", expected, "none", next) for run in named if run not in there and run not in left]
    if history is not None and history.witness is not None:
        place = history.witness.place
        known = there | left | set(named)
        lost += [
            Misfit(f"run {run}", f"a log: {place} has a note of it", "none", f"{next} Else take its lines out there.")
            for run in history.witness.every()
            if run not in known
        ]
    return lost + [
        Misfit(f"run {run}", "no branch in the git history: it was deleted", "one", f"reconvene delete {run}")
        for run in named
        if run in left
    ]
