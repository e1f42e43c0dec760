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


class Key(Shown, frozen=True):
    """A key that signs in a run."""

    key: str
    user: str  # for whom, as the system said where it was first used
    by: str
    seq: int  # of the event that introduced it
    at: str
    own: bool = False  # it is the key of whoever looks
    foreign: bool = False  # it came with a log from elsewhere


class Unsigned(Shown, frozen=True):
    """Something that a person did, and that nobody signed."""

    seq: int
    what: str  # the type of the event
    by: str
    why: str


class Soundness(Shown, frozen=True):
    """What a look through one run found."""

    run: str
    sound: bool
    head: int  # the last event
    chain: str  # the value of the chain after it, "" where it has none
    unchained: int = 0  # the last event from before there was a chain
    misfit: Misfit | None = None
    signed: int = 0  # appends with a signature
    keys: tuple[Key, ...] = ()
    unsigned: tuple[Unsigned, ...] = ()
    notes: tuple[str, ...] = ()  # what is worth knowing and is no misfit


class Gone(Shown, frozen=True):
    """What is left of a run that was deleted."""

    run: str
    head: int  # its last event
    chain: str  # the value of the chain after it
    at: str
    by: str
    user: str = ""
    proved: bool = False
    workflow: str = ""
    signed_by: str = ""


class StoreSoundness(Shown, frozen=True):
    """What a look through a whole home found."""

    sound: bool
    runs: tuple[Soundness, ...]
    misfits: tuple[Misfit, ...] = ()  # of what belongs to no one run
    deleted: tuple[Gone, ...] = ()
