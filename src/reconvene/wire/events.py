"""Events as JSON: the format of logs, read for ever. It must not know where the bytes are kept.

Every event carries its `type`; the first of a batch also carries `v`, the version of the format of the whole batch (one
release wrote it). A new field with a default needs no new version; a change that old events cannot decode into raises
`VERSION` and registers in `_UPCASTERS` how an event of the version before becomes one of the next.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import get_args

import msgspec

from reconvene.core.events import AnyEvent
from reconvene.errors import StoreError, UserError

VERSION = 1

Raw = dict[str, object]

_UPCASTERS: dict[int, Callable[[Raw], Raw]] = {}  # version of the raw event → how it becomes the next version

EVENT_TYPES: tuple[type[AnyEvent], ...] = get_args(AnyEvent)
_KNOWN = frozenset(cls.__name__ for cls in EVENT_TYPES)
_OPENING = b'[{"v":%d,' % VERSION

_encode = msgspec.json.Encoder().encode
_decode_current = msgspec.json.Decoder(list[AnyEvent]).decode
_decode_raw = msgspec.json.Decoder(list[Raw]).decode

_UPGRADE = "Upgrade: pip install --upgrade reconvene. Nothing was changed; the log is intact."


def encode_batch(events: Sequence[AnyEvent]) -> bytes:
    """One JSON array."""
    try:
        # `[{` gives way to `[{"v":1,`: every append passes here, and this is half the price of wrapping each event.
        return _OPENING + _encode(events)[2:] if events else b"[]"
    except UnicodeEncodeError as error:
        raise UserError(
            f"A text cannot be recorded: it holds bytes that are not valid UTF-8 ({error.reason}).",
            hint="Save or type the text as UTF-8 and try again.",
        ) from error


def decode_batch(data: bytes) -> list[AnyEvent]:
    if data.startswith(_OPENING):
        try:
            return _decode_current(data)
        except msgspec.ValidationError:
            pass  # the slow road finds out which event it is, and why
    try:
        raws = _decode_raw(data)
    except msgspec.DecodeError as error:
        raise StoreError(
            f"The log holds something that is not a list of events: {error}.",
            hint="The store is damaged: restore it from a backup.",
        ) from error
    version = raws[0].get("v", 1) if raws else VERSION
    return [_event({**raw, "v": version}) for raw in raws]


def upcast(raw: Raw) -> Raw:
    """An event of any version this release knows, in the form of the current one."""
    version = raw.get("v", 1)
    if not isinstance(version, int) or version > VERSION:
        raise StoreError(
            f"The log holds an event of format {version!r}; this release of Reconvene reads up to {VERSION}."
            " A newer release wrote it.",
            hint=_UPGRADE,
        )
    for step in range(version, VERSION):
        raw = {**_UPCASTERS[step](raw), "v": step + 1}
    return raw


def to_json(seq: int, event: AnyEvent) -> Raw:
    """The event as `log --json` prints it: seq, type, at, then its own fields (those that are not at their default)."""
    fields: Raw = msgspec.to_builtins(event)
    return {"seq": seq, "type": fields["type"], "at": event.at, **fields}


def _event(raw: Raw) -> AnyEvent:
    raw = upcast(raw)
    name = raw.get("type")
    if not isinstance(name, str) or name not in _KNOWN:
        raise StoreError(
            f"The log holds an event of type {name!r}, which this release of Reconvene does not know."
            " A newer release wrote it.",
            hint=_UPGRADE,
        )
    try:
        # Through JSON again, not msgspec.convert: both roads then decode by the very same rules.
        return _decode_current(_encode([raw]))[0]
    except msgspec.ValidationError as error:
        raise StoreError(
            f"The log holds an event of type {name!r} that cannot be read: {error}.",
            hint="A newer release wrote it (then upgrade), or the store is damaged (then restore it from a backup).",
        ) from error
