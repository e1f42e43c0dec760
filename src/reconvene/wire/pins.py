"""Pins: the form in which a workflow is stored with its runs. A pin is read for ever, by every later release.

The form is that of the structs in `core/definition/workflow.py`: their field names (as encoded), types and defaults,
which are not written out. `tests/golden/wire/pins.v1.json` holds them as they were when version 1 was current; a test
compares.

To change the form, a new field included:
1. Change the structs, and raise `VERSION`.
2. In `_UPCASTERS`, say how a pin of the version before becomes one of the new version (`unchanged` where only a field
   with a default was added). An upcaster is given the JSON object and returns one; it is never changed afterwards.
3. Type `python -m tests.wire.frozen`: it adds the golden files of the new version. The old ones stay.

To rename only the Python attribute, leave the form alone: `rules: tuple[Gate, ...] = field(name="gates", default=())`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from reconvene.core.definition.workflow import Workflow
from reconvene.errors import StoreError
from reconvene.wire.versions import RESTORE, UPGRADE_OR_RESTORE, Opening, Raw, refuse_unless_known

VERSION = 6

_OPENING = Opening(b"{")
_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(Workflow).decode
_decode_raw = msgspec.json.Decoder(Raw).decode


def unchanged(raw: Raw) -> Raw:
    """The upcaster for a version that only added fields with defaults."""
    return raw


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
    except (msgspec.DecodeError, KeyError, TypeError, AttributeError) as error:  # upcasters expect a whole pin
        raise StoreError(f"{what} cannot be read: {error}.", hint=RESTORE) from error


def _upcast(raw: Raw, version: int) -> Raw:
    for step in range(version, VERSION):
        raw = _UPCASTERS[step](raw)
    return raw


_Any = dict[str, Any]


def _to_2(raw: _Any) -> Raw:
    """Version 2: a tracker is a kit's, and so is the gate `specific_to`; a step has gates; two fields are gone.

    The workflow says how completeness is asked: until then it was a value of that name.
    """
    raw = _trimmed(raw)
    if "completeness" in raw.get("names", {}):
        raw = raw | {"completeness": "context.completeness?.captured ?? context.completeness"}
    agents = {name: _gates_to_2(agent) for name, agent in raw.get("agents", {}).items()}
    return raw | {"phases": [_phase_to_2(phase) for phase in raw["phases"]]} | ({"agents": agents} if agents else {})


def _trimmed(raw: _Any) -> _Any:
    """Without the version of the language, and with one limit of agents that work at the same time."""
    limits = raw.get("limits", {})
    if "model_concurrency" in limits:
        most = min(limits["model_concurrency"], limits.get("concurrency", 8))
        limits = {key: value for key, value in limits.items() if key != "model_concurrency"} | {"concurrency": most}
    rest = {key: value for key, value in raw.items() if key != "language"}
    return rest | {"limits": limits} if limits else rest


def _phase_to_2(phase: _Any) -> _Any:
    track = phase.get("track")
    if track is not None:
        usual = {"stall": "2", "explosion": "2"}
        given = {key: track.get(key, usual.get(key, "")) for key in ("given", "spec", "stall", "explosion")}
        outputs = {key: track.get(key, "") for key in ("found", "proposals", "review")}
        rest = {key: value for key, value in track.items() if key not in given and key not in outputs}
        phase = phase | {
            "track": rest  # `into`, and whatever nobody knows: it is refused, not dropped
            | {
                "kit": "gaps",
                "given": {key: value for key, value in given.items() if value},
                "outputs": {key: value for key, value in outputs.items() if value},
            }
        }
    inner = [_phase_to_2(each) for each in phase.get("phases", [])]
    return phase | {"phases": inner} if inner else phase


def _gates_to_2(agent: _Any) -> _Any:
    if "gates" not in agent:
        return agent
    gates = []
    for gate in agent["gates"]:
        about = gate.get("specific_to")
        rest = {key: value for key, value in gate.items() if key != "specific_to"}
        gates.append(rest | {"kit": "reading.specific_to", "about": about} if about else rest)
    return agent | {"gates": gates}


# version of a pin → how it becomes one of the next version; 3: an agent says beside which file its module lies; 5: what
# a survey looks at
_UPCASTERS: dict[int, Callable[[Raw], Raw]] = {1: _to_2, 2: unchanged, 3: unchanged, 4: unchanged, 5: unchanged}
