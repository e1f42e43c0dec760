"""The one place where what doors show becomes JSON. Imports nothing heavy: lists of runs are shown without structs."""

from __future__ import annotations

import json
from collections.abc import Sequence


def encoded(value: object, **more: object) -> str:
    """A struct, plain data, or both mixed. `more`: further keys of an object, beside its own."""
    if more:
        found = plain(value)
        value = {**(found if isinstance(found, dict) else {}), **more}
    return json.dumps(value, ensure_ascii=False, default=plain)


def plain(value: object) -> object:
    """Structs as dicts, sequences as lists; what JSON has no form for, by its name."""
    import msgspec

    from reconvene.app.views.read_model import Event

    if isinstance(value, Event):
        return {"seq": value.seq, "type": value.type, "at": value.at, **value.facts}
    return msgspec.to_builtins(value, enc_hook=_known)


def _known(value: object) -> object:
    return list(value) if isinstance(value, Sequence) else str(value)
