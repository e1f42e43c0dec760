"""How things are named. Serials are run-wide and never reused; displays use `n`, ids use serials."""

from __future__ import annotations

import hashlib
import re

_TASK = re.compile(r"^R(\d+)/(\d+)/(.+)$")


def digest_of(data: bytes) -> str:
    """The name of an artefact: its content's SHA-256, shortened to 32 hex digits (128 bits)."""
    return hashlib.sha256(data).hexdigest()[:32]


def task_id(serial: int, step: int, agent: str) -> str:
    return f"R{serial}/{step}/{agent}"


def parse_task(task: str) -> tuple[int, int, str]:
    match = _TASK.match(task)
    if not match:
        raise ValueError(f"not a task id: {task!r}")
    return int(match[1]), int(match[2]), match[3]


def remark_id(number: int) -> str:
    return f"FB-{number:03d}"


def checkpoint_id(number: int) -> str:
    return f"C{number}"
