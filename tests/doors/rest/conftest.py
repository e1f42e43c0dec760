"""A served home, for the tests that only look; each test of a change makes a run of its own."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from starlette.testclient import TestClient

from served_home import Ground, ground


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ground]:
    with ground(tmp_path_factory.mktemp("rest")) as one:
        yield one


@pytest.fixture(scope="module")
def client(made: Ground) -> Iterator[TestClient]:
    with made.serving() as client:
        yield client
