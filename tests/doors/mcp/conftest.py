"""One home for the tests of the MCP door: two jobs that are only read."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.companion.planned_job import Two, two_jobs


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Two]:
    with two_jobs(tmp_path_factory.mktemp("served") / "home") as made:
        yield made
