"""How many examples a property is tried with: a small, fixed part in `make test`, many more in `make torture`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

TIMES = settings().max_examples // 100  # the profile (tests/conftest.py) allows a hundred examples, or that many times


def examples(count: int, **more: Any) -> settings:
    """`@examples(20)` for a property of which each example is dear."""
    return settings(max_examples=count * TIMES, suppress_health_check=[HealthCheck.too_slow], **more)


def part(cases: Iterable[object], every: int = 3) -> list[object]:
    """Parameters of which every third (or so) is a part of `make test`; the others are tried by `make torture`."""
    return [case if at % every == 0 else _dear(case) for at, case in enumerate(cases)]


def _dear(case: object) -> object:
    return pytest.param(*(case if isinstance(case, tuple) else (case,)), marks=pytest.mark.torture)
