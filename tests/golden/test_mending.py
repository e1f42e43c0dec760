"""Homes of earlier releases: their runs go on with a mended workflow, and are taken up again after their end."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from reconvene.app import measures, queries, round_tries
from reconvene.app.engine import Engine
from reconvene.app.reopening import acting_again, reopen
from reconvene.app.upgrading import DoesNotFit, fit, upgrade
from reconvene.core.definition.workflow import Workflow
from reconvene.core.facts.commands import Abort, RemarkIn
from reconvene.core.facts.evolve import fold
from reconvene.wire.packaged import packaged
from reconvene.wire.workflow_file import load_workflow

from .archive import lay_out
from .homes import Golden, every_home
from .kinds import kind_of
from .place import Still, open_golden
from .watching import YEARS_LATER, runs_in

# The first home of each kind of stop.
HOMES = list({(one.release, one.workflow, kind_of(one.stop)): one for one in reversed(list(every_home()))}.values())


@pytest.fixture
def engine(golden: Golden, tmp_path: Path) -> Iterator[Engine]:
    lay_out(golden.home, tmp_path)
    engine = open_golden(tmp_path, Still(YEARS_LATER))
    yield engine
    asyncio.run(engine.close())


def mended(workflow: Workflow) -> Workflow:
    agents = {name: replace(agent, prompt=f"{agent.prompt}\nMended.") for name, agent in workflow.agents.items()}
    return replace(workflow, agents=agents)


def over(engine: Engine, run: str) -> object:
    """What people read of what is over."""
    record = engine.load(run).record
    told = [(one.id, one.status) for one in measures.ledger(engine, run).entries]
    return round_tries.rounds(engine, run), queries.attempts(engine, run), told, record.decisions, record.remarks


@pytest.mark.parametrize("golden", HOMES, ids=str)
def test_a_run_of_an_earlier_release_is_mended_ended_and_taken_up_again(golden: Golden, engine: Engine) -> None:
    for run in runs_in(golden):
        state, before, begun = engine.load(run), over(engine, run), engine.log.read(run)
        if state.ended or state.world.open is not None:
            upgrade(engine, fit(engine, run, mended(engine.session(run).book.workflow), by="ann"))
            assert over(engine, run) == before
            assert engine.load(run).record.upgrades[0].before == state.workflow
        if not engine.load(run).ended:
            engine.submit(run, Abort("ann"))
        reopen(engine, run, remarks=(RemarkIn("one thing more"),), by="ann", told=acting_again(engine, run))
        after = engine.load(run)
        assert not after.ended or state.paused, "where only the end was left"
        assert after.record.remarks[len(after.record.remarks)].text == "one thing more"
        assert engine.log.read(run)[: len(begun)] == begun
        assert after == fold(event for _, event in engine.log.read(run))
        queries.show(engine, run)
        if state.world.open is not None and not state.world.open.attention:
            assert after.world.open is not None
            assert after.world.open.phase == state.world.open.phase


@pytest.mark.parametrize("golden", [one for one in HOMES if kind_of(one.stop) == "waiting"], ids=str)
def test_a_run_of_an_earlier_release_goes_on_with_the_packaged_workflow_of_today(
    golden: Golden, engine: Engine
) -> None:
    run = str(golden.home.expected["run"])
    state, before = engine.load(run), over(engine, run)
    upgrade(engine, fit(engine, run, load_workflow(packaged()[state.name]), by="ann"))
    after = engine.load(run)
    assert state.world.open is not None
    assert after.world.open is not None
    assert (after.world.open.phase, after.world.open.serial) == (state.world.open.phase, state.world.open.serial)
    assert over(engine, run) == before


@pytest.mark.parametrize(
    "golden", [one for one in every_home() if str(one) == "0.1.0-spec-refinement-waiting.refine.redone"], ids=str
)
def test_a_tracker_keeps_its_kit(golden: Golden, engine: Engine) -> None:
    run = str(golden.home.expected["run"])
    workflow = engine.session(run).book.workflow
    phases = tuple(replace(phase, track=None) for phase in workflow.phases)
    with pytest.raises(DoesNotFit) as caught:
        fit(engine, run, replace(workflow, phases=phases))
    assert [one.message for one in caught.value.problems] == [
        "'gaps' is kept by no tracker; on record: it is kept by a tracker of the kit 'gaps'"
    ]
