"""Processes that are timed whole, from their start to their end. Knows no contender.

Bytecode for everybody: whatever the variable in this process's environment says, children may write it, and the first
turn of each, which is not counted (`interleave(…, warm=1)`), has made it.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from bench.harness import ROOT

# The least that any of the contenders needs of Python: what others cost is said in multiples of this.
BARE = (sys.executable, "-c", "import asyncio, sqlite3, json")


def environment(**more: str) -> dict[str, str]:
    """The agents of the runs are found in the project's folder."""
    inherited = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return {**inherited, "PYTHONPATH": str(ROOT), **more}


def reconvene() -> list[str]:
    """The installed command where there is one, as people call it."""
    script = Path(sys.executable).parent / "reconvene"
    return [str(script)] if script.exists() else [sys.executable, "-m", "reconvene.doors.cli.main"]


def timed(command: Sequence[str], surroundings: Mapping[str, str], expected: int = 0) -> float:
    """Seconds until it has ended, with this exit code."""
    begun = time.perf_counter()
    done = subprocess.run(command, cwd=ROOT, env=surroundings, capture_output=True, stdin=subprocess.DEVNULL)
    taken = time.perf_counter() - begun
    assert done.returncode == expected, done.stderr.decode()
    return taken
