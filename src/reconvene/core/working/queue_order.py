"""Places in the queue: texts of digits that sort in the queue's order, with room between any two of them.

Moving one run writes one place: nobody else is renumbered, so nothing has to be changed together. Knows no runs.
"""

from __future__ import annotations

import re

from reconvene.core.facts.ids import digest_of


def at_the_end(now: str, number: int, run: str) -> str:
    """A place for a run queued at this time, as the `number`-th of those queued together. The digits of the run's name
    keep two of the same moment apart."""
    apart = int(digest_of(run.encode())[:8], 16) % 10**8
    return f"{re.sub(r'[^0-9]', '', now)}{number:04d}{apart:08d}"


def between(low: str, high: str) -> str:
    """A place after `low` ("" = the very beginning) and before `high`."""
    width = max(len(low), len(high))
    while True:
        first, last = int(low.ljust(width, "0")), int(high.ljust(width, "0"))
        if last - first > 1:
            return str((first + last) // 2).zfill(width)
        if last <= first:
            return low + "5"  # no room at all: right behind it
        width += 1
