"""One home for all tests of the companion: a job at its result review, and another one that nobody may see."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from tests.companion.planned_job import SECRET, Job, model, opened
from tests.companion.real_job import Desk, desk

from reconvene.companion.scope import Scope
from reconvene.testing.openai_server import OpenAIServer
from reconvene.wiring import open_index


class Two(NamedTuple):
    """`job` has been planned, changed, approved and carried out; `other` waits for the review of its plan."""

    job: Job
    other: Job
    home: Path

    def scope(self, job: Job | None = None) -> Scope:
        return Scope((job or self.job).engine, (job or self.job).run, open_index(self.home))


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Two]:
    home = tmp_path_factory.mktemp("companion") / "home"
    with pytest.MonkeyPatch.context() as patch, OpenAIServer(model) as server:
        patch.setenv("SOME_SERVICE_TOKEN", SECRET)
        for name in ("CONFIG", "STATE"):
            patch.setenv(f"XDG_{name}_HOME", f"{home}.{name.lower()}")
        engine = opened(home)
        job, other = Job(engine, server, "heron"), Job(engine, server, "quagga")
        for one in (job, other):
            one.drive()
        job.decide("Request changes", "Say what a heron eats")
        job.decide("Approve")
        yield Two(job, other, home)
        engine.log.close()


@pytest.fixture
def scope(two: Two) -> Scope:
    return two.scope()


@pytest.fixture(scope="session")
def jobs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    """Runs of the job workflow, for all tests of a worker: whoever asks adds to their conversations, and to nothing
    else."""
    with desk(tmp_path_factory.mktemp("jobs")) as made:
        yield made
