"""How much of something a model is shown, and how it is said what was left out. Pure."""

from __future__ import annotations

MOST = 50_000  # characters of a result
_LONGEST_LINE = 5_000
_ENDS = 20_000  # bytes of each end of what a program wrote


def start_of(text: str, rest: str, most: int = MOST) -> str:
    """As much as may be shown. `rest`: what helps to see the rest."""
    if len(text) <= most:
        return text
    return f"{text[:most]}\n[cut: {len(text) - most:,} of {len(text):,} characters are not shown; {rest}]"


def line(text: str, most: int = _LONGEST_LINE) -> str:
    return text if len(text) <= most else f"{text[:most]} [cut: {len(text) - most:,} more characters in this line]"


class Ends:
    """What a program writes, of any length: its beginning and its end are kept."""

    def __init__(self, each: int = _ENDS) -> None:
        self.size = 0
        self._each = each
        self._head = bytearray()
        self._tail = bytearray()

    def add(self, data: bytes) -> None:
        self.size += len(data)
        room = self._each - len(self._head)
        if room > 0:
            self._head += data[:room]
            data = data[room:]
        self._tail += data[-self._each :]
        if len(self._tail) > 2 * self._each:
            del self._tail[: -self._each]

    def text(self) -> str:
        tail = self._tail[-self._each :]
        left_out = self.size - len(self._head) - len(tail)
        if not left_out:
            return (self._head + tail).decode("utf-8", "replace")
        head, end = self._head.decode("utf-8", "replace"), tail.decode("utf-8", "replace")
        return f"{head}\n[cut: {left_out:,} of {self.size:,} bytes are not shown here]\n{end}"


def lines(text: str) -> list[str]:
    """As editors count them."""
    found = text.split("\n")
    return [each.removesuffix("\r") for each in (found[:-1] if not found[-1] else found)]


def printable(text: str) -> str:
    """Without control characters: they are of no use to a model, and move a terminal."""
    if text.isprintable():
        return text
    return "".join(_shown(char) for char in text.replace("\r\n", "\n"))


def _shown(char: str) -> str:
    return "\ufffd" if (char < " " and char not in "\n\t") or "\x7f" <= char <= "\x9f" else char
