"""One home for all tests of the companion: a job at its result review, and another one that nobody may see."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.companion.planned_job import Two, two_jobs
from tests.companion.real_job import Desk, desk

from reconvene.companion.tool_scope import Scope


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Two]:
    with two_jobs(tmp_path_factory.mktemp("companion") / "home") as made:
        yield made


@pytest.fixture
def scope(two: Two) -> Scope:
    return two.scope()


@pytest.fixture(scope="session")
def jobs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    """Runs of the job workflow, for all tests of a worker: whoever asks adds to their conversations, and to nothing
    else."""
    with desk(tmp_path_factory.mktemp("jobs")) as made:
        yield made
