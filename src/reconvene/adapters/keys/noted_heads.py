"""Where the logs of a home ended when they were last looked at: a small file in the person's own configuration folder.

It lies outside of the home and is hidden from every sandbox, so that whoever cuts a log off, and the git history with
it, does not reach it. A line for each stop, the last one of a run counts. It is a witness, no more: a file that cannot
be written, or is gone, says nothing.
"""

from __future__ import annotations

import os
from contextlib import suppress

_MOST = 200_000  # bytes; then only what counts stays


class NotedHeads:
    """ports.Witness. `folder`: for all homes; `home`: the id of this one, "" = nothing is noted of it."""

    def __init__(self, folder: str, home: str) -> None:
        self.place = os.path.join(folder, home) if home.isalnum() else ""

    def note(self, run: str, seq: int, value: str) -> None:
        if not self.place or not run or run.split() != [run] or self.noted(run) == (seq, value):
            return
        with suppress(OSError):
            os.makedirs(os.path.dirname(self.place), mode=0o700, exist_ok=True)
            flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC
            handle = os.open(self.place, flags, 0o600)
            try:
                os.write(handle, f"{seq} {value} {run}\n".encode())
                size = os.fstat(handle).st_size
            finally:
                os.close(handle)
            if size > _MOST:
                self._shorten()

    def noted(self, run: str) -> tuple[int, str]:
        return self.every().get(run, (0, ""))

    def every(self) -> dict[str, tuple[int, str]]:
        found: dict[str, tuple[int, str]] = {}
        try:
            with open(self.place, encoding="utf-8", errors="replace") as file:
                for line in file:
                    words = line.split()
                    if len(words) == 3 and words[0].isdecimal():
                        found[words[2]] = int(words[0]), words[1]
        except OSError:
            pass
        return found

    def _shorten(self) -> None:
        new = f"{self.place}.{os.urandom(6).hex()}"
        with open(new, "x", encoding="utf-8") as file:
            file.writelines(f"{seq} {value} {run}\n" for run, (seq, value) in self.every().items())
        os.replace(new, self.place)
