"""Homes of earlier releases, which have neither chain nor keys: their runs fit together, are carried elsewhere, mended,
taken up again, and carried once more with what was signed since."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from reconvene.adapters.keys import OwnKey
from reconvene.app import queries
from reconvene.app.deleting import delete
from reconvene.app.engine import Engine
from reconvene.app.reopening import acting_again, reopen
from reconvene.app.transfer import export, take
from reconvene.app.upgrading import fit, upgrade
from reconvene.app.verifying import verify, verify_all
from reconvene.core.facts.commands import Abort, RemarkIn
from reconvene.core.facts.events import Imported
from reconvene.core.facts.evolve import fold

from .archive import lay_out
from .homes import Golden, every_home
from .place import HOME, Still, open_golden
from .test_mending import mended
from .watching import YEARS_LATER, runs_in

EVERY = [one for one in every_home() if one.from_before_the_chain]
_FEW = list({(one.release, one.workflow): one for one in reversed(EVERY)}.values())  # of each workflow the first

Open = Callable[[str], Engine]


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Open]:
    """An engine on the home in this folder; everything that people do through it is signed."""
    engines: list[Engine] = []

    def open_(name: str) -> Engine:
        folder = tmp_path / name
        (folder / HOME).mkdir(parents=True, exist_ok=True)
        engines.append(open_golden(folder, Still(YEARS_LATER), signer=OwnKey(str(tmp_path / "own"), "ann")))
        return engines[-1]

    yield open_
    for engine in engines:
        asyncio.run(engine.close())


def carried(run: str, here: Engine, there: Engine, file: Path) -> None:
    """Byte for byte, and it fits together there."""
    export(here, run, str(file))
    assert take(there, str(file), by="ann").run == run
    rows, arrived = here.log.stored(run), there.log.stored(run)
    assert arrived[: len(rows)] == rows
    assert len(arrived) == len(rows) + 1
    looked = verify(there.log, run, there.history(), there.signer)
    assert looked.misfit is None
    assert looked.unchained == here.log.unchained(run)
    state = there.load(run)
    assert state == fold(event for _, event in there.log.read(run))
    assert (state.record.decisions, state.record.remarks) == (
        here.load(run).record.decisions,
        here.load(run).record.remarks,
    )
    queries.show(there, run)
    assert take(there, str(file), by="ann").already


def carry(golden: Golden, tmp_path: Path, opened: Open) -> None:
    lay_out(golden.home, tmp_path / "here")
    here, there, last = opened("here"), opened("there"), opened("last")
    for run in runs_in(golden):
        before, begun = here.load(run), here.log.stored(run)
        old = verify(here.log, run, here.history(), here.signer)
        assert (old.misfit, old.unchained, old.chain) == (None, before.seq, "")
        assert old.notes[0] == f"unchained until event {before.seq}: made by a release that had no chain"
        carried(run, here, there, tmp_path / "old.zip")
        (imported,) = [event for _, event in there.log.read(run) if isinstance(event, Imported)]
        assert imported.chain == ""

        if before.ended or before.world.open is not None:
            upgrade(here, fit(here, run, mended(here.session(run).book.workflow), by="ann"))
        if not here.load(run).ended:
            here.submit(run, Abort("ann"))
        reopen(here, run, remarks=(RemarkIn("one thing more"),), by="ann", told=acting_again(here, run))
        here.commit_history(run)
        looked = verify(here.log, run, here.history(), here.signer)
        assert (looked.misfit, looked.unchained) == (None, before.seq)
        assert looked.chain
        assert looked.signed >= 2
        assert [key.own for key in looked.keys] == [True]
        assert not looked.unsigned
        assert here.log.stored(run)[: len(begun)] == begun
        carried(run, here, last, tmp_path / "mended.zip")
        (tmp_path / "old.zip").unlink()
        (tmp_path / "mended.zip").unlink()
    for engine in (here, there, last):
        whole = verify_all(engine.log, engine.history(), engine.signer)
        assert whole.sound, whole
        assert {one.run for one in whole.runs} == set(runs_in(golden))
    first, *rest = runs_in(golden)
    delete(here, first, by="ann")
    whole = verify_all(here.log, here.history(), here.signer)
    assert whole.sound, whole
    assert [one.run for one in whole.runs] == [run for run in here.log.runs() if run in rest]


@pytest.mark.parametrize("golden", _FEW, ids=str)
def test_a_home_from_before_the_chain_is_verified_carried_mended_and_carried_again(
    golden: Golden, tmp_path: Path, opened: Open
) -> None:
    carry(golden, tmp_path, opened)


@pytest.mark.torture
@pytest.mark.parametrize("golden", [one for one in EVERY if one not in _FEW], ids=str)
def test_every_home_from_before_the_chain_is_verified_carried_mended_and_carried_again(
    golden: Golden, tmp_path: Path, opened: Open
) -> None:
    carry(golden, tmp_path, opened)
