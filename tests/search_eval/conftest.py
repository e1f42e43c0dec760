"""The run that is searched, made once."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from reconvene.app.engine import Engine
from search_eval import corpus_run


@pytest.fixture(scope="session")
def bottles(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Engine, str]]:
    with pytest.MonkeyPatch.context() as patch:
        folder = tmp_path_factory.mktemp("bottles")
        patch.setenv("XDG_CONFIG_HOME", str(folder / "config"))
        patch.setenv("XDG_STATE_HOME", str(folder / "state"))
        engine, run = corpus_run.make(folder / "home")
    yield engine, run
    engine.log.close()
