"""How things are named. Serials are run-wide and never reused; displays use `n`, ids use serials."""

from __future__ import annotations

import hashlib
import re
from functools import lru_cache


def digest_of(data: bytes) -> str:
    """The name of an artefact: its content's SHA-256, shortened to 32 hex digits (128 bits)."""
    return hashlib.sha256(data).hexdigest()[:32]


def task_id(serial: int, step: int, agent: str) -> str:
    return f"R{serial}/{step}/{agent}"


def condition_at(serial: int) -> str:
    """Where the condition of the checkpoint after this round is said to have failed."""
    return f"condition after round {serial}"


@lru_cache(maxsize=256)
def parse_task(task: str) -> tuple[int, int, str]:
    serial, _, rest = task.partition("/")
    step, _, agent = rest.partition("/")
    if not agent or serial[:1] != "R":
        raise ValueError(f"not a task id: {task!r}")
    return int(serial[1:]), int(step), agent


def late_key(attempt: str) -> str:
    """Under which an answer is noted that came after its attempt ("task#attempt") had been given up."""
    return f"{attempt}+"


def remark_id(number: int) -> str:
    return f"FB-{number:03d}"


def remark_number(id: str) -> int:
    return int(id.removeprefix("FB-"))


def child_id(parent: str, key: str) -> str:
    """The run that a parent starts for one of its pieces. A dot: a run's own number never follows one."""
    return f"{parent}.{key}"


def checkpoint_id(number: int) -> str:
    return f"C{number}"


# --- places in the queue: digits that sort in its order, with room between any two; moving a run writes one place ---


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
