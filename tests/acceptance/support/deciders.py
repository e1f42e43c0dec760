"""What scripts do to a run at the same moment as others: lines of the command line, one after the other."""

from __future__ import annotations

import os
from pathlib import Path

from commands import call


def script(folder: str, lines: list[list[str]], gate: str = "") -> list[tuple[int, str, str]]:
    """Exit code, output and errors of each line. A line `write FILE TEXT` is what an editor does. `gate`: a pipe from
    which a byte is read before each."""
    done: list[tuple[int, str, str]] = []
    opened = os.open(gate, os.O_RDONLY) if gate else -1
    for words in lines:
        if gate:
            os.read(opened, 1)
        if words[0] == "write":
            Path(folder, words[1]).write_text(words[2], encoding="utf-8")
        else:
            done.append(tuple(call(*words, cwd=Path(folder))))
    return done
