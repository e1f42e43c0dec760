"""What lists tell of a run, from its index row."""

from __future__ import annotations

from pathlib import Path

from reconvene.app import index
from reconvene.core.facts import commands as c
from served_home import ground


def test_a_run_waits_since_its_checkpoint_is_open_whatever_was_said_there(tmp_path: Path) -> None:
    with ground(tmp_path) as made:
        run = made.parked()
        point = made.state(run).world.open
        made.engine.submit(run, c.AddRemark(c.RemarkIn("Which bank?"), "eve"))
        found = index.one(made.engine.log, run)
        assert point is not None
        assert found is not None
        assert found.since == point.at
        assert found.updated > found.since
