"""Homes of earlier releases: their runs go on with a mended workflow, and are taken up again after their end."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from reconvene.app import measures, queries, round_tries
from reconvene.app.engine import Engine
from reconvene.app.reopening import reopen
from reconvene.app.upgrading import fit, upgrade
from reconvene.core.definition.workflow import Workflow
from reconvene.core.facts.commands import Abort, RemarkIn
from reconvene.core.facts.evolve import fold

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
        reopen(engine, run, remarks=(RemarkIn("one thing more"),), by="ann")
        after = engine.load(run)
        assert not after.ended or state.paused, "where only the end was left"
        assert after.record.remarks[len(after.record.remarks)].text == "one thing more"
        assert engine.log.read(run)[: len(begun)] == begun
        assert after == fold(event for _, event in engine.log.read(run))
        queries.show(engine, run)
        if state.world.open is not None and not state.world.open.attention:
            assert after.world.open is not None
            assert after.world.open.phase == state.world.open.phase
