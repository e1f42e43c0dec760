"""How many there are of something, in words. Pure."""

from __future__ import annotations


def counted(number: int, what: str) -> str:
    """`1 round`, `2,000 rounds`"""
    return f"{number:,} {what}{'' if number == 1 else 's'}"
