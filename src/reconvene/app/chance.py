"""Chance as the system has it: names that nobody else has, and how much later than others to come back."""

from __future__ import annotations

import os


class SystemChance:
    """ports.Chance."""

    def token(self) -> str:
        return os.urandom(6).hex()

    def fraction(self) -> float:
        import random  # most drivers never need it

        return random.random()
