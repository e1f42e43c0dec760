"""ports.Clock: the time of this machine."""

from __future__ import annotations

import time


class SystemClock:
    def __init__(self) -> None:
        self._second = 0
        self._text = ""

    def now(self) -> str:
        second, millis = divmod(time.time_ns() // 1_000_000, 1000)
        if second != self._second:
            self._second, self._text = second, time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(second))
        return f"{self._text}.{millis:03d}Z"
