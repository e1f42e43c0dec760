"""What nobody can foresee: names that nobody else has, and how much later than others to come back."""

from __future__ import annotations

import os
from typing import Protocol


class Chance(Protocol):
    """A port. Who replays a run gives chance of their own."""

    def token(self) -> str:
        """A name that nobody else has: hexadecimal digits."""

    def fraction(self) -> float:
        """From 0 up to 1, without 1."""


class SystemChance:
    """As the system has it."""

    def token(self) -> str:
        return os.urandom(6).hex()

    def fraction(self) -> float:
        import random  # most drivers never need it

        return random.random()
