"""Which gaps a run follows: in one place, in several, or in none yet."""

from __future__ import annotations

from pathlib import Path

import pytest

from reconvene.app.engine import Engine
from reconvene.app.kit_views import tracked
from reconvene.core.facts.commands import AnswerCheckpoint
from reconvene.errors import UserError
from reconvene.kits.gaps.records import opened
from reconvene.testing.scripted import ScriptedAgents
from reconvene.wire.workflow_file import parse_workflow
from reconvene.wiring import open_engine

EACH = """
name: parts
agents: {finder: {}}
phases:
  - id: part
    each: {of: "[{id: 'x'}, {id: 'y'}]"}
    track: {kit: gaps, into: gaps, found: found}
    steps: [{agents: [finder], output: found}]
    checkpoint: {approval_required: true}
"""


def found(number: int) -> str:
    return f"# Gaps\n\n- GAP-PART-00{number} (HIGH): Part {number} lacks an owner\n"


def started(tmp_path: Path) -> tuple[Engine, str]:
    engine = open_engine(tmp_path, runner=ScriptedAgents({"finder": [found(1), found(2)]}))
    return engine, engine.start(parse_workflow(EACH), by="ann")


def decided(engine: Engine, run: str) -> None:

    engine.submit(run, AnswerCheckpoint("", "Continue", by="ann"))
    engine.drive_sync(run)


def test_items_with_gaps_of_their_own_are_told_apart(tmp_path: Path) -> None:
    engine, run = started(tmp_path)
    assert tracked(engine, run, "gaps").value is None
    engine.drive_sync(run)
    held = tracked(engine, run, "gaps")
    assert (held.where, list(opened(held.value).gaps)) == ("part[x]:gaps", ["GAP-PART-001"])
    decided(engine, run)
    with pytest.raises(UserError, match="follows gaps in 2 places") as refused:
        tracked(engine, run, "gaps")
    assert refused.value.hint == "Name one: --at part[x]:gaps"
    assert list(opened(tracked(engine, run, "gaps", "part[y]:gaps").value).gaps) == ["GAP-PART-002"]
    with pytest.raises(UserError, match="follows no gaps in 'part'") as refused:
        tracked(engine, run, "gaps", "part")
    assert "part[x]:gaps, part[y]:gaps" in refused.value.hint
    engine.log.close()


def test_looking_leaves_the_log_as_it_is(tmp_path: Path) -> None:
    engine, run = started(tmp_path)
    engine.drive_sync(run)
    head = engine.log.head(run)
    assert opened(tracked(engine, run, "gaps").value).gaps["GAP-PART-001"].severity == "HIGH"
    with pytest.raises(UserError, match="follows no budgets"):
        tracked(engine, run, "budgets")
    assert engine.log.head(run) == head
    engine.log.close()
