"""How long to wait for a provider that fails, and when to stop waiting. Pure: chance is given, nobody sleeps here.

Waits grow exponentially with full jitter: many agents that failed together do not come back together. What the provider
asks for (`retry_after`) is obeyed. All waits of one task together are bounded; beyond that the run should park, until
the moment that is named.
"""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

Chance = Callable[[], float]  # from 0 up to 1, as `random.random`


class Patience(Struct, frozen=True):
    """In seconds."""

    first: float = 1.0  # the longest first wait
    longest: float = 30.0  # of one wait that the provider did not ask for
    total: float = 120.0  # of all waits in the process


USUAL = Patience()


def within(total: float) -> Patience:
    """The same shape in another bound; 0 = never wait."""
    return Patience(min(USUAL.first, total / 12), min(USUAL.longest, total / 4), total)


class Pause(Struct, frozen=True):
    """Wait so long, then try again."""

    seconds: float


class Park(Struct, frozen=True):
    """Waited enough: nobody should try before so many seconds have passed."""

    seconds: float


def following(failures: int, asked: float, waited: float, chance: Chance, patience: Patience) -> Pause | Park:
    """What to do after so many failures in a row (1 = the first), having waited so long already.

    `asked`: what the provider asks to wait, 0 = it does not say.
    """
    ceiling = min(patience.longest, patience.first * 2.0 ** min(failures - 1, 60))
    if asked > 0:
        # never earlier than asked, and not all at the same moment
        seconds = asked + chance() * min(patience.first, asked)
    else:
        seconds = chance() * ceiling
    if waited + seconds <= patience.total and patience.total:
        return Pause(seconds)
    return Park(max(asked, ceiling))
