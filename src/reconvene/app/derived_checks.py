"""What is derived from a log, beside the log: its row in the list of runs, its cached state, its git history."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Protocol

import msgspec

from reconvene.app.commits import CHAIN
from reconvene.app.misfits import RESTORE, misfit
from reconvene.app.session import due_at, index_row
from reconvene.core.facts.events import AnyEvent, RunStarted, WorkflowUpgraded
from reconvene.core.facts.state import RunState
from reconvene.errors import ReconveneError, StoreError
from reconvene.ports import EventLog, History, IndexRow
from reconvene.wire.snapshot_json import decode_state, snapshot_key

RUN = "Reconvene-Run"  # the trailer that names the run

_LONGEST = 200  # characters of a value that are told

NO_HISTORY = "the git history has no commit of"


class Snapshots(Protocol):
    def snapshot(self, run: str, key: str) -> tuple[int, bytes] | None: ...


def check_index(row: IndexRow | None, state: RunState, *, exact: bool) -> None:
    """`exact`: the row was written by a release that writes all that this one does; else what it says must be so."""
    fresh, run = index_row(state), state.run
    where, next = f"the row of {run} in the list of runs", f"It is made from the log. To make it again: {_mend(run)}"
    if row is None:
        raise misfit(run, 0, where, "a row", "none", next)
    for name, was, now in zip(row._fields[:-1], row, fresh):
        if was != now:
            raise misfit(run, 0, f"{where} ({name})", _short(now), _short(was), next)
    try:
        said = msgspec.json.decode(row.doc)
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise misfit(run, 0, where, "a document", error, next) from error
    for path, now, was in _differences(msgspec.json.decode(fresh.doc), said, "", exact=exact):
        raise misfit(run, 0, f"{where} ({path})", now, was, next)


def check_due(due: Mapping[str, str], state: RunState) -> None:
    """`due`: run → when it is to be taken up, as the store has it."""
    said, right = due.get(state.run, ""), due_at(state)
    if said != right:
        next = f"It is made from the log. To make it again: {_mend(state.run)}"
        raise misfit(state.run, 0, f"when {state.run} is to be taken up", right or "never", said or "never", next)


def _differences(now: object, was: object, path: str, *, exact: bool) -> Iterator[tuple[str, str, str]]:
    if isinstance(now, dict) and isinstance(was, dict):
        for key in now if exact else (now.keys() & was.keys()) - {"digest"}:  # older releases made other digests
            yield from _differences(now[key], was.get(key), f"{path}.{key}".strip("."), exact=exact)
        for key in was.keys() - now.keys():
            yield f"{path}.{key}".strip("."), "nothing", _short(was[key])
    elif isinstance(now, list) and isinstance(was, list) and len(now) == len(was):
        for number, (one, other) in enumerate(zip(now, was)):
            yield from _differences(one, other, f"{path}[{number}]", exact=exact)
    elif now != was or type(now) is not type(was):
        yield path, _short(now), _short(was)


def snapshot_seq(log: Snapshots, run: str, event: AnyEvent) -> int:
    """The event of the cached state that goes with the workflow which begins here; 0 = none."""
    if not isinstance(event, RunStarted | WorkflowUpgraded):
        return 0
    try:
        kept = log.snapshot(run, snapshot_key(event.workflow))
    except StoreError:
        return 0
    return kept[0] if kept else 0


def check_snapshot(log: EventLog, state: RunState, then: RunState | None) -> None:
    """`then`: as the run was at the event of its snapshot. One with another key is not used by this release: nothing
    follows from it."""
    run = state.run
    where = f"the cached state of {run}"
    next = f"It is made from the log. To make it again: {_mend(run)}"
    try:
        kept = log.snapshot(run, snapshot_key(state.workflow))
    except StoreError as error:
        raise misfit(run, 0, where, "a state that can be read", error, next) from error
    if kept is None:
        return
    seq, data = kept
    if not 0 < seq <= state.seq:
        raise misfit(run, 0, where, f"one after an event from 1 to {state.seq}", f"after event {seq}", next)
    kept_state = decode_state(data)
    if kept_state is None:
        raise misfit(run, seq, where, "a state that can be read", "one that cannot", next)
    if kept_state != then:
        raise misfit(run, seq, where, f"the state after event {seq}", "another one", next)


def _mend(run: str) -> str:
    return f"reconvene verify {run} --mend"


def _short(value: object) -> str:
    text = value if isinstance(value, str) else msgspec.json.encode(value).decode()
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


# --- the git history ---


def check_end(history: History, state: RunState, values: Mapping[int, bytes], *, readable: bool = True) -> None:
    """The log goes as far as the git history and the witness outside of the home say: whoever cuts its end off does
    not reach both. `readable`: a history that cannot be read does not fit, either."""
    run = state.run
    where = f"the git history of {run}"
    if history.witness is not None:
        seq, value = history.witness.noted(run)
        again = f" To take the log as it is, take the lines of {run} out of {history.witness.place}."
        _check_value(state, values, seq, value, f"the note in {history.witness.place}", again)
    try:
        made, (seq, value) = history.commits(run), history.noted_head(run)
    except ReconveneError as error:
        if not readable:
            return
        raise misfit(run, 0, where, "a branch that can be read", error, error.hint) from error
    for oid, commit in made:
        said = dict(commit.trailers).get(CHAIN, "").partition(" ")
        at = f"commit {oid[:10]} of {where}"
        _check_value(state, values, commit.seq, "", at)
        _check_value(state, values, int(said[0]) if said[0].isdecimal() else 0, said[2], at)
    _check_value(state, values, seq, value, f"the note of the last event beside {where}")


def check_history(history: History, state: RunState) -> list[str]:
    """It may be behind the log; it is whole, and nobody else has written in it."""
    run = state.run
    where = f"the git history of {run}"
    mend = f"reconvene verify {run} --mend"
    next = f"It is made from the log. To make it again, delete the folder history.git in the home, and: {mend}"
    try:
        wrong, made, (seq, _) = history.unsound(run), history.commits(run), history.noted_head(run)
    except ReconveneError as error:
        raise misfit(run, 0, where, "a branch that can be read", error, error.hint) from error
    if wrong:
        raise misfit(run, 0, where, "commits of this run that are whole", wrong, next)
    last = 0
    for oid, commit in made:
        at, named = f"commit {oid[:10]} of {where}", dict(commit.trailers).get(RUN)
        if named != run:
            raise misfit(run, commit.seq, at, f"a commit of run {run}", f"one of run {named}", next)
        if commit.seq <= last:
            raise misfit(run, commit.seq, at, f"one of an event after {last}", f"one of event {commit.seq}", next)
        last = commit.seq
    if not seq and any(CHAIN in dict(commit.trailers) for _, commit in made):
        raise misfit(run, 0, f"the note of the last event beside {where}", "a note", "none", f"To make it: {mend}")
    if made or not (seq or state.record.checkpoints or state.ended):
        return []
    return [f"{NO_HISTORY} {run}; to make it: {mend}"]


def _check_value(
    state: RunState, values: Mapping[int, bytes], seq: int, value: str, where: str, again: str = ""
) -> None:
    """Somebody says that there was an event, and, where they say so, the value of the chain after it. `again`: what
    else can be done."""
    run = state.run
    if seq > state.seq:
        expected = f"a log that goes to event {seq} or further: {where} was made from it"
        cut = "Its end was cut off, or an older copy was put in its place. " + RESTORE.format(run=run) + again
        raise misfit(run, state.seq, "the end of the log", expected, f"it ends with event {state.seq}", cut)
    known = values.get(seq)
    if value and (known is None or known.hex() != value):
        found = known.hex() if known is not None else "no append that ends there"
        next = RESTORE.format(run=run) + again
        raise misfit(run, seq, f"the chain after event {seq}", f"{value}, as {where} says", found or "no value", next)
