"""Does what is stored of a run fit together? Every append against the chain, every event against those before it, every
content against its digest, and what is derived against the log that it is derived from.

It stops at the first thing that does not fit, in the order of the log. It changes nothing.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Mapping
from typing import NamedTuple

import msgspec

from reconvene.app.commits import CHAIN
from reconvene.app.references import named_in
from reconvene.app.session import index_row, state_after
from reconvene.app.views.soundness import Misfit, Soundness, StoreSoundness
from reconvene.core.facts.events import AnyEvent, RunStarted
from reconvene.core.facts.ids import digest_of
from reconvene.core.facts.state import EMPTY, RunState
from reconvene.errors import ReconveneError, StoreError
from reconvene.ports import Append, EventLog, History, IndexRow, Stored
from reconvene.wire import chain
from reconvene.wire.event_json import decode_batch
from reconvene.wire.snapshot_json import decode_state, encode_state, snapshot_key

RUN = "Reconvene-Run"  # the trailer that names the run

_RESTORE = "Restore the store from a backup. reconvene log {run} still shows what can be read."
_LONGEST = 200  # characters of a value that are told


class DoesNotFit(Exception):
    def __init__(self, misfit: Misfit) -> None:
        super().__init__(misfit.where)
        self.misfit = misfit


class _Read(NamedTuple):
    """A log that fits together."""

    state: RunState
    values: Mapping[int, bytes]  # seq of an append's last event → the value of the chain after it
    kept: RunState | None  # as it was at the event of its snapshot


def verify_all(log: EventLog, history: History | None = None) -> StoreSoundness:
    """Every run, and what belongs to no one of them."""
    runs = tuple(verify(log, run, history) for run in log.runs())
    named = {run.run for run in runs if not run.sound}
    faults = [
        Misfit(fault.where, fault.expected, fault.found, "Restore the store from a backup.")
        for fault in log.audit()
        if fault.run not in named
    ]
    faults += _unknown_branches(log, history)
    return StoreSoundness(not faults and not named, runs, tuple(faults))


def verify(log: EventLog, run: str, history: History | None = None) -> Soundness:
    head, unchained = log.head(run), log.unchained(run)
    notes: list[str] = []
    if unchained:
        notes.append(f"unchained until event {unchained}: made by a release that had no chain")
    try:
        read = _read(log, run, head, unchained)
        _check_index(log.index_row(run), read.state, exact=head > unchained)
        _check_snapshot(log, run, read)
        if history is not None:
            notes += _check_history(history, run, read)
    except DoesNotFit as error:
        return Soundness(run, False, head, _told(log, run), unchained, error.misfit, tuple(notes))
    return Soundness(run, True, head, _told(log, run), unchained, None, tuple(notes))


def _told(log: EventLog, run: str) -> str:
    values = log.chain(run)
    return values[-1][1].hex() if values else ""


def mend(log: EventLog, run: str) -> None:
    """Make again what is derived from the log. What does not fit in the log itself stays as it is, and is refused."""
    read = _checked(log, run)
    log.append(run, read.state.seq, Append([], row=index_row(read.state)))
    log.save_snapshot(run, read.state.seq, snapshot_key(read.state.workflow), encode_state(read.state))


def _checked(log: EventLog, run: str) -> _Read:
    try:
        return _read(log, run, log.head(run), log.unchained(run))
    except DoesNotFit as error:
        one = error.misfit
        raise StoreError(
            f"The log of run {run} does not fit together: {one.where}: expected {one.expected}, found {one.found}.",
            hint=one.next,
        ) from error


# --- the log ---


def _read(log: EventLog, run: str, head: int, unchained: int) -> _Read:
    state, kept, values = EMPTY, None, dict[int, bytes]()
    known: set[str] = set()
    snapshot = 0
    for row, events in _appends(log, run, unchained):
        for seq, event in enumerate(events, row.seq - len(events) + 1):
            try:
                state = state_after(run, state, seq, event)
            except StoreError as error:
                raise _misfit(run, seq, f"event {seq}", "an event that follows from those before", error) from error
            _check_contents(log, run, seq, event, known)
            if seq == 1:
                snapshot = _snapshot_seq(log, run, event)
            kept = state if seq == snapshot else kept
        values[row.seq] = row.chain
    if state.seq != head:
        expected = f"that the log ends with event {head}, as the list of runs says"
        raise _misfit(run, state.seq, "the end of the log", expected, f"its last event is {state.seq}")
    if state.run != run:
        raise _misfit(run, 1, "the log", f"a log of run {run}", f"one of run {state.run}")
    if unchained and unchained not in values:
        raise _misfit(run, unchained, "where the chain begins", f"an append that ends with event {unchained}", "none")
    return _Read(state, values, kept)


def _appends(log: EventLog, run: str, unchained: int) -> Iterator[tuple[Stored, list[AnyEvent]]]:
    """Every append with its events, if it follows from the one before."""
    value, last = chain.BEGINNING, 0
    for row in log.stored(run):
        link = chain.link(value, run, row.seq, row.packed, row.data)
        value = chain.value(link, row.seal)
        chained = value if row.seq > unchained else b""
        where = f"the append that ends with event {row.seq}"
        if row.chain != chained:
            expected = f"the value {value.hex()} in the chain" if chained else "no value in the chain"
            raise _misfit(run, last + 1, where, expected, row.chain.hex() or "none")
        try:
            events = decode_batch(zlib.decompress(row.data) if row.packed else row.data, run)
        except (StoreError, zlib.error) as error:
            raise _misfit(run, last + 1, where, "events that can be read", error) from error
        if row.seq - len(events) != last:
            expected = f"events {last + 1} to {row.seq}"
            raise _misfit(run, last + 1, where, expected, f"{len(events)} events, and {last} before them")
        last = row.seq
        yield row, events


def _check_contents(log: EventLog, run: str, seq: int, event: AnyEvent, known: set[str]) -> None:
    for digest in named_in(event):
        if digest in known:
            continue
        known.add(digest)
        where = f"the content {digest}, which event {seq} names"
        try:
            found = digest_of(log.artefact(digest))
        except (ReconveneError, IndexError, ValueError) as error:
            raise _misfit(run, seq, where, "its bytes", error) from error
        if found != digest:
            raise _misfit(run, seq, where, "bytes with that digest", f"bytes with the digest {found}")


def _misfit(run: str, seq: int, where: str, expected: str, found: object, next: str = "") -> DoesNotFit:
    told = found.message if isinstance(found, ReconveneError) else str(found)
    return DoesNotFit(Misfit(where, expected, told, next or _RESTORE.format(run=run), seq))


# --- what is derived from the log ---


def _check_index(row: IndexRow | None, state: RunState, *, exact: bool) -> None:
    """`exact`: the row was written by a release that writes all that this one does; else what it says must be so."""
    fresh, run = index_row(state), state.run
    where, next = f"the row of {run} in the list of runs", f"It is made from the log. To make it again: {_mend(run)}"
    if row is None:
        raise _misfit(run, 0, where, "a row", "none", next)
    for name, was, now in zip(row._fields[:-1], row, fresh):
        if was != now:
            raise _misfit(run, 0, f"{where} ({name})", _short(now), _short(was), next)
    try:
        said = msgspec.json.decode(row.doc)
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise _misfit(run, 0, where, "a document", error, next) from error
    for path, now, was in _differences(msgspec.json.decode(fresh.doc), said, "", exact=exact):
        raise _misfit(run, 0, f"{where} ({path})", now, was, next)


def _differences(now: object, was: object, path: str, *, exact: bool) -> Iterator[tuple[str, str, str]]:
    if isinstance(now, dict) and isinstance(was, dict):
        for key in now if exact else now.keys() & was.keys():
            yield from _differences(now[key], was.get(key), f"{path}.{key}".strip("."), exact=exact)
        for key in was.keys() - now.keys():
            yield f"{path}.{key}".strip("."), "nothing", _short(was[key])
    elif isinstance(now, list) and isinstance(was, list) and len(now) == len(was):
        for number, (one, other) in enumerate(zip(now, was)):
            yield from _differences(one, other, f"{path}[{number}]", exact=exact)
    elif now != was or type(now) is not type(was):
        yield path, _short(now), _short(was)


def _snapshot_seq(log: EventLog, run: str, first: AnyEvent) -> int:
    try:
        kept = log.snapshot(run, snapshot_key(first.workflow)) if isinstance(first, RunStarted) else None
    except StoreError:
        return 0
    return kept[0] if kept else 0


def _check_snapshot(log: EventLog, run: str, read: _Read) -> None:
    """One with another key is not used by this release: nothing follows from it."""
    where = f"the cached state of {run}"
    next = f"It is made from the log. To make it again: {_mend(run)}"
    try:
        kept = log.snapshot(run, snapshot_key(read.state.workflow))
    except StoreError as error:
        raise _misfit(run, 0, where, "a state that can be read", error, next) from error
    if kept is None:
        return
    seq, data = kept
    if not 0 < seq <= read.state.seq:
        raise _misfit(run, 0, where, f"one after an event from 1 to {read.state.seq}", f"after event {seq}", next)
    state = decode_state(data)
    if state is None:
        raise _misfit(run, seq, where, "a state that can be read", "one that cannot", next)
    if state != read.kept:
        raise _misfit(run, seq, where, f"the state after event {seq}", "another one", next)


def _mend(run: str) -> str:
    return f"reconvene verify {run} --mend"


def _short(value: object) -> str:
    text = value if isinstance(value, str) else msgspec.json.encode(value).decode()
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


# --- the git history ---


def _check_history(history: History, run: str, read: _Read) -> list[str]:
    """It may be behind the log; what it says must be so. Whoever cuts the end of a log off does not reach it."""
    where = f"the git history of {run}"
    again = "It is made from the log. To make it again, delete the folder history.git in the home, and: "
    next = f"{again}reconvene verify {run} --mend"
    try:
        wrong, made, (seq, value) = history.unsound(run), history.commits(run), history.noted_head(run)
    except ReconveneError as error:
        raise _misfit(run, 0, where, "a branch that can be read", error, error.hint) from error
    if wrong:
        raise _misfit(run, 0, where, "commits that are whole", wrong, next)
    for oid, commit in made:
        trailers = dict(commit.trailers)
        at = f"commit {oid[:10]} of {where}"
        if trailers.get(RUN) != run:
            raise _misfit(run, commit.seq, at, f"a commit of run {run}", f"one of run {trailers.get(RUN)}", next)
        said = trailers.get(CHAIN, "").partition(" ")
        _check_value(run, read, commit.seq, "", at)
        _check_value(run, read, int(said[0]) if said[0].isdecimal() else 0, said[2], at)
    _check_value(run, read, seq, value, f"the note of the last event beside {where}")
    return [] if made or not seq else [f"the git history has no commit of {run} yet"]


def _check_value(run: str, read: _Read, seq: int, value: str, where: str) -> None:
    """The history says that there was an event, and, where it says so, the value of the chain after it."""
    if seq > read.state.seq:
        expected = f"a log that goes to event {seq} or further: {where} was made from it"
        cut = "Its end was cut off. " + _RESTORE.format(run=run)
        raise _misfit(run, read.state.seq, "the end of the log", expected, f"it ends with event {read.state.seq}", cut)
    known = read.values.get(seq)
    if value and (known is None or known.hex() != value):
        found = known.hex() if known is not None else "no append that ends there"
        raise _misfit(run, seq, f"the chain after event {seq}", f"{value}, as {where} says", found or "no value")


def _unknown_branches(log: EventLog, history: History | None) -> list[Misfit]:
    """A run that is gone without a trace in the store still has its branch."""
    try:
        named = history.runs() if history is not None else []
    except ReconveneError as error:
        return [Misfit("the git history", "branches that can be read", error.message, error.hint)]
    expected, next = "a log: the git history has a branch of it", "Restore the store from a backup."
    return [Misfit(f"run {run}", expected, "none", next) for run in named if run not in log.runs()]
