"""Pins: the form in which a workflow is stored with its runs. A pin is read for ever, by every later release.

The form is that of the structs in `core/workflow.py`: their field names (as encoded), types and defaults, which are not
written out. `tests/golden/wire/pins.v1.json` holds them as they were when version 1 was current; a test compares.

To change the form, a new field included:
1. Change the structs, and raise `VERSION`.
2. In `_UPCASTERS`, say how a pin of the version before becomes one of the new version (`unchanged` where only a field
   with a default was added). An upcaster is given the JSON object and returns one; it is never changed afterwards.
3. Type `python -m tests.wire.frozen`: it adds the golden files of the new version. The old ones stay.

To rename only the Python attribute, leave the form alone: `rules: tuple[Gate, ...] = field(name="gates", default=())`.
"""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from reconvene.core.workflow import Workflow
from reconvene.errors import StoreError
from reconvene.wire.versions import RESTORE, UPGRADE_OR_RESTORE, Opening, Raw, refuse_unless_known

VERSION = 2

_OPENING = Opening(b"{")
_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(Workflow).decode
_decode_raw = msgspec.json.Decoder(Raw).decode


def unchanged(raw: Raw) -> Raw:
    """The upcaster for a version that only added fields with defaults."""
    return raw


def _trimmed(raw: Raw) -> Raw:
    """1 → 2: the version of the language is gone, and one limit bounds agents that work at the same time."""
    trimmed = {key: value for key, value in raw.items() if key != "language"}
    limits = raw.get("limits")
    if isinstance(limits, dict) and "model_concurrency" in limits:
        kept = {key: value for key, value in limits.items() if key != "model_concurrency"}
        trimmed["limits"] = {**kept, "concurrency": min(limits["model_concurrency"], limits.get("concurrency", 8))}
    return trimmed


_UPCASTERS: dict[int, Callable[[Raw], Raw]] = {  # version of a pin → how it becomes one of the next version
    1: _trimmed,
}


def pin(workflow: Workflow) -> bytes:
    return _OPENING.put_on(_encode(workflow), VERSION)


def unpin(data: bytes, run: str = "") -> Workflow:
    """The workflow in a pin of any version up to the current one. `run` is for the message where it is refused."""
    what = f"The workflow stored with run {run}" if run else "The workflow stored with this run"
    version, body = _OPENING.take_off(data)
    refuse_unless_known(version, VERSION, what)
    try:
        if version < VERSION:
            body = _encode(_upcast(_decode_raw(body), version))
        return _decode(body)
    except msgspec.ValidationError as error:
        raise StoreError(
            f"{what} (format {version}) holds something that this release of Reconvene does not know: {error}.",
            hint=UPGRADE_OR_RESTORE,
        ) from error
    except msgspec.DecodeError as error:
        raise StoreError(f"{what} cannot be read: {error}.", hint=RESTORE) from error


def _upcast(raw: Raw, version: int) -> Raw:
    for step in range(version, VERSION):
        raw = _UPCASTERS[step](raw)
    return raw
