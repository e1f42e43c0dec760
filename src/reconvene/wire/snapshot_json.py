"""Snapshots: a state as JSON and back. Deletable at any time; the key says which code and workflow made it.

Snapshots have no upcasters: one with another key, or one that cannot be read, is not used, and the log is folded from
its first event. The version of the events is part of the key: no event of a newer release hides behind a snapshot.
"""

from __future__ import annotations

from typing import get_args, get_origin

import msgspec
from immutables import Map

from reconvene.core.facts.state import EVOLVE_VERSION, RunState
from reconvene.wire.event_json import VERSION

FEWEST_EVENTS = 300  # before a snapshot is worth its writing


def snapshot_key(workflow: str) -> str:
    return f"{EVOLVE_VERSION}.{VERSION}/{workflow}"


def encode_state(state: RunState) -> bytes:
    return msgspec.json.encode(state, enc_hook=_from_map)


def decode_state(data: bytes) -> RunState | None:
    """None where it is no state as this release has it."""
    try:
        return msgspec.json.decode(data, type=RunState, dec_hook=_to_map)
    except msgspec.DecodeError:
        return None


def _from_map(value: object) -> object:
    if isinstance(value, Map):
        return dict(value.items())
    raise NotImplementedError(f"{type(value).__name__} is not part of a state")


def _to_map(kind: type, value: object) -> object:
    if get_origin(kind) is Map or kind is Map:
        arguments = get_args(kind) or (str, object)
        return Map(msgspec.convert(value, dict[arguments[0], arguments[1]], dec_hook=_to_map, strict=False))  # type: ignore[valid-type]
    if kind is object:  # any JSON value
        return value
    raise NotImplementedError(f"{kind} is not part of a state")


def due_after(state: RunState) -> int:
    """How many events after the last snapshot the next one is due: the larger the state, the rarer, so that writing
    snapshots costs a run no more than its events do. A quarter: what is folded on top of one stays the smaller part of
    a load."""
    return max(FEWEST_EVENTS, _entries(state) // 4)


def _entries(state: RunState) -> int:
    """Roughly how many entries a snapshot of this state holds. Worlds are held once per open round, the record once."""
    world, record = state.world, state.record
    size = len(world.values) + len(world.files) + len(world.outputs) + len(world.visits) + len(world.entries)
    kept = len(record.ended) + len(record.remarks) + len(record.decisions) + len(record.calls) + len(record.talk)
    return size * (1 + len(state.marks)) + kept
