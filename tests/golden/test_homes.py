"""Every golden home is read by the current code, stands where it stood, and goes on to its end."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import cast

import pytest

from reconvene.app.engine import Engine
from reconvene.app.session import index_row
from reconvene.core.evolve import fold
from reconvene.wire.packaged import packaged
from reconvene.wire.workflow import load_workflow

from .archive import lay_out
from .canonical import canonical, differences
from .driving import end
from .homes import FOLDER, Golden, contents, digest, every_home, releases
from .journey import folder_of
from .journeys import JOURNEYS
from .kinds import KINDS, check, kind_of, missing
from .place import HOME, Ticks, open_golden

EVERY = list(every_home())
LATER = 400 * 24 * 60  # minutes: more than a year after the last of them was kept

Recorded = Mapping[str, Mapping[str, object]]


@pytest.fixture
def engine(golden: Golden, tmp_path: Path) -> Iterator[Engine]:
    lay_out(golden.home, tmp_path)
    engine = open_golden(tmp_path, Ticks(LATER))
    yield engine
    asyncio.run(engine.close())


def runs_in(golden: Golden) -> Recorded:
    """Run → its state and index row, as the release that made the home wrote them."""
    return cast(Recorded, golden.home.expected["runs"])


@pytest.mark.parametrize("golden", EVERY, ids=str)
def test_a_home_of_an_earlier_release_stands_where_it_stood_and_goes_on_to_its_end(
    golden: Golden, engine: Engine
) -> None:
    recorded = runs_in(golden)
    assert {row.run for row in engine.log.index()} == set(recorded)
    for run, about in recorded.items():
        state = engine.load(run)
        assert state == fold(event for _, event in engine.log.read(run)), "a snapshot and the log it is of differ"
        assert list(differences(about["state"], canonical(state, golden.release))) == []
        kept = engine.log.index_row(run)
        assert kept is not None
        assert kept._asdict() == about["row"]
        assert json.loads(index_row(state).doc) == json.loads(kept.doc)
    before = {run: engine.log.read(run) for run in recorded}
    for run in recorded:
        state = end(engine, run, 1)
        after = engine.log.read(run)
        assert after[: len(before[run])] == before[run], "what was on record has changed"
        assert state.ended
