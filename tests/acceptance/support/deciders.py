"""What scripts do to a run at the same moment as others: lines of the command line, one after the other."""

from __future__ import annotations

from pathlib import Path

from commands import call


def script(folder: str, lines: list[list[str]]) -> list[tuple[int, str, str]]:
    """Exit code, output and errors of each line. A line `write FILE TEXT` is what an editor does."""
    done: list[tuple[int, str, str]] = []
    for words in lines:
        if words[0] == "write":
            Path(folder, words[1]).write_text(words[2], encoding="utf-8")
        else:
            done.append(tuple(call(*words, cwd=Path(folder))))
    return done
