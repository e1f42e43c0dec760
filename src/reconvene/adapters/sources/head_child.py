"""Tells the first bytes of a file, in a box."""

from __future__ import annotations

import sys


def main(words: list[str]) -> None:
    with open(words[0], "rb") as file:
        sys.stdout.buffer.write(file.read(16))
    sys.stdout.buffer.flush()
