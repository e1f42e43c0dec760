"""Events as JSON: the format of logs, read for ever. It must not know where the bytes are kept.

Every event carries its `type`; the first of a batch also carries `v`, the version of the format of the whole batch (one
release wrote it). An event with a field that this release does not know is refused: nothing is dropped on reading.

The form is that of the structs in `core/facts/events.py`: their field names (as encoded), types and defaults, which are
not written out. `tests/golden/wire/events.v1.json` holds them as they were in version 1, and so on; a test compares.

To change the form, a new field or a new type of event included:
1. Change the structs, and raise `VERSION`.
2. In `_UPCASTERS`, enter the version before with the types whose old events must be rewritten, each with how: `{1:
   {"AttemptEnded": _name_the_parts}}`. `{1: {}}` where only fields with defaults, or new types, were added. An upcaster
   is given the event as a JSON object, without `v`, and returns one; it is never changed afterwards.
3. Type `python -m tests.wire.frozen`: it adds the golden files of the new version. The old ones stay.

To rename only the Python attribute, leave the form alone: `why: str = field(name="reason", default="")`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import get_args

import msgspec

from reconvene.core.facts.events import AnyEvent
from reconvene.errors import StoreError, UserError
from reconvene.wire.versions import RESTORE, UPGRADE, UPGRADE_OR_RESTORE, Opening, Raw, refuse_unless_known

VERSION = 5


def _code(event: Raw) -> Raw:
    """Until version 2 the code of an attempt was only in its reason."""
    code, colon, _ = str(event.get("why", "")).partition(":")
    return {**event, "code": code} if colon and code.replace("_", "").isupper() else event


def _use(event: Raw) -> Raw:
    """The agent whose version stands was part of the ruling."""
    ruling, _, agent = str(event.get("ruling", "")).partition(":")
    return {**event, "ruling": ruling, "use": agent} if agent else event


def _offered(event: Raw) -> Raw:
    """An option that was not offered was known by this reason."""
    options = event.get("options")
    marked = [
        {**option, "offered": False} if option.get("why_not") == "not offered here" else option
        for option in (options if isinstance(options, list) else ())
        if isinstance(option, dict)
    ]
    return {**event, "options": marked}


# version of a batch → event type → how such an event becomes one of the next version; a type not named stays as it is
_UPCASTERS: dict[int, Mapping[str, Callable[[Raw], Raw]]] = {
    1: {"AttemptEnded": _code, "TroubleSettled": _use, "CheckpointOpened": _offered, "OptionsRevised": _offered},
    2: {},
    3: {},
    4: {},
}

EVENT_TYPES: tuple[type[AnyEvent], ...] = get_args(AnyEvent)
_KNOWN = frozenset(cls.__name__ for cls in EVENT_TYPES)

_OPENING = Opening(b"[{")
_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(list[AnyEvent]).decode
_decode_raw = msgspec.json.Decoder(list[Raw]).decode


def encode_batch(events: Sequence[AnyEvent]) -> bytes:
    """One JSON array."""
    try:
        return _OPENING.put_on(_encode(events), VERSION) if events else b"[]"
    except UnicodeEncodeError as error:
        raise UserError(
            f"A text cannot be recorded: it holds bytes that are not valid UTF-8 ({error.reason}).",
            hint="Save or type the text as UTF-8 and try again.",
        ) from error


def decode_batch(data: bytes, run: str = "") -> list[AnyEvent]:
    """The events of a batch of any version up to the current one. `run` is for the message where it is refused."""
    version, body = _OPENING.take_off(data)
    try:
        if version != VERSION:
            refuse_unless_known(version, VERSION, f"An event in {_log_of(run)}")
            body = _encode([_upcast(raw, version) for raw in _decode_raw(body)])
        return _decode(body)
    except msgspec.ValidationError as error:
        raise _refusal(body, version, _log_of(run)) or _damaged(_log_of(run), error) from error
    except msgspec.DecodeError as error:
        raise _damaged(_log_of(run), error) from error


def to_json(seq: int, event: AnyEvent) -> Raw:
    """The event as `log --json` prints it: seq, type, at, then its own fields (those that are not at their default)."""
    fields: Raw = msgspec.to_builtins(event)
    return {"seq": seq, "type": fields["type"], "at": event.at, **fields}


def _log_of(run: str) -> str:
    return f"the log of run {run}" if run else "the log"


def _upcast(raw: Raw, version: int) -> Raw:
    for step in range(version, VERSION):
        change = _UPCASTERS[step].get(str(raw.get("type")))
        raw = change(raw) if change else raw
    return raw


def _refusal(body: bytes, version: int, where: str) -> StoreError | None:
    """Which event of the batch cannot be read, and why; None where the batch is not a list of objects."""
    try:
        raws = _decode_raw(body)
    except msgspec.DecodeError:
        return None
    for raw in raws:
        name = raw.get("type")
        if not isinstance(name, str):
            return StoreError(f"An event in {where} has no type.", hint=RESTORE)
        if name not in _KNOWN:
            return StoreError(
                f"An event in {where} is of type {name!r}, which this release of Reconvene does not know."
                " A newer release wrote it.",
                hint=UPGRADE,
            )
        try:
            msgspec.json.decode(_encode(raw), type=AnyEvent)
        except msgspec.ValidationError as error:
            return StoreError(
                f"An event in {where}, {name} (format {version}), holds something that this release of Reconvene"
                f" does not know: {error}.",
                hint=UPGRADE_OR_RESTORE,
            )
    return None


def _damaged(where: str, error: msgspec.DecodeError) -> StoreError:
    return StoreError(f"In {where} is something that is not a list of events: {error}.", hint=RESTORE)
