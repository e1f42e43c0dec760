"""What `verify` tells, as structs of the read model: what fits in a run, and the first thing that does not."""

from __future__ import annotations

from reconvene.app.views.read_model import Shown


class Misfit(Shown, frozen=True):
    """The first thing that does not fit. seq 0 = it belongs to no one event."""

    where: str
    expected: str
    found: str
    next: str  # what to do
    seq: int = 0


class Soundness(Shown, frozen=True):
    """What a look through one run found."""

    run: str
    sound: bool
    head: int  # the last event
    chain: str  # the value of the chain after it, "" where it has none
    unchained: int = 0  # the last event from before there was a chain
    misfit: Misfit | None = None
    notes: tuple[str, ...] = ()  # what is worth knowing and is no misfit


class StoreSoundness(Shown, frozen=True):
    """What a look through a whole home found."""

    sound: bool
    runs: tuple[Soundness, ...]
    misfits: tuple[Misfit, ...] = ()  # of what belongs to no one run
