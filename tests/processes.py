"""Whether a process of a test has ended."""

from __future__ import annotations

import os
from pathlib import Path


def has_ended(pid: int) -> bool:
    """A dead process that nobody collected counts as ended. It may end at any moment while one looks."""
    try:
        os.kill(pid, 0)
        return Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()[0] in (b"Z", b"X")
    except ProcessLookupError:
        return True
    except FileNotFoundError:  # ended meanwhile, or a system without /proc
        return Path("/proc/self").exists()
