"""One home for all tests of the companion: a job at its result review, and another one that nobody may see."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.companion.planned_job import Two, two_jobs

from reconvene.companion.scope import Scope


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Two]:
    with two_jobs(tmp_path_factory.mktemp("companion") / "home") as made:
        yield made


@pytest.fixture
def scope(two: Two) -> Scope:
    return two.scope()
