"""Every golden home is read by the current code, stands where it stood, is shown as it was, and goes on to its end."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, cast

import pytest

from reconvene.app.engine import Engine
from reconvene.app.references import named_by
from reconvene.app.session import index_row
from reconvene.app.verifying import verify, verify_all
from reconvene.core.facts.evolve import fold
from reconvene.core.facts.ids import digest_of
from reconvene.core.facts.state import RunState
from reconvene.wire.content_pieces import below

from .archive import lay_out
from .canonical import differences, nameless
from .homes import Golden, every_home, releases
from .journey import stands
from .kinds import kind_of
from .place import Still, moved, open_golden
from .rendered import check
from .watching import YEARS_LATER, Watch, decisions, heads, runs_in

if TYPE_CHECKING:
    from commands import Command

EVERY = list(every_home())

# What `make test` drives on: every home of the newest release, and of older ones the first of each kind of stop. The
# whole way goes who has it all in front; the others take one decision, see where it leads, and are ended by hand.
_FIRST = {(one.release, one.workflow, kind_of(one.stop)): one for one in reversed(EVERY)}
DRIVEN = [one for one in EVERY if one.release == releases()[-1] or one in _FIRST.values()]


@pytest.fixture
def clock() -> Still:
    return Still(YEARS_LATER)


@pytest.fixture
def engine(golden: Golden, tmp_path: Path, clock: Still) -> Iterator[Engine]:
    lay_out(golden.home, tmp_path)
    engine = open_golden(tmp_path, clock)
    yield engine
    asyncio.run(engine.close())


@pytest.mark.parametrize("golden", EVERY, ids=str)
def test_every_run_stands_where_it_stood_and_is_shown_as_it_was(golden: Golden, engine: Engine) -> None:
    assert {row.run for row in engine.log.index()} == set(runs_in(golden))
    for run, then in runs_in(golden).items():
        now = stands(engine, run, golden.release)
        assert list(differences(then["state"], now["state"], "state")) == []
        row, kept = cast(dict[str, str], then["row"]), cast(dict[str, str], now["row"])
        assert {**kept, "doc": ""} == {**row, "doc": ""}
        assert list(differences(json.loads(row["doc"]), json.loads(kept["doc"]), "row", more=True)) == []
        shown = json.loads(json.dumps(now["shown"]))
        assert list(differences(nameless(then["shown"]), nameless(shown), "shown", more=True)) == []
        state = engine.load(run)
        assert state == fold(event for _, event in engine.log.read(run)), "a snapshot and its log differ"
        listed, now_listed = nameless(json.loads(row["doc"])), nameless(json.loads(index_row(state).doc))
        assert list(differences(listed, now_listed, "row", more=True)) == []


def drive_on(golden: Golden, engine: Engine, folder: Path, clock: Still, way: str) -> None:
    """Every run of the home to its end.

    Nothing recorded is changed, no remark is lost, the files are as the log says, and all that is rendered on the way
    is what an earlier day rendered.
    """
    old = heads(engine) if golden.from_before_the_chain else dict.fromkeys(heads(engine), 0)
    watch = Watch(engine, folder, clock, heads(engine))
    for run in runs_in(golden):
        before, begun = engine.load(run), engine.log.read(run)
        state = watch.end(run, decisions(golden, way))
        assert engine.log.read(run)[: len(begun)] == begun
        assert set(before.record.remarks) <= set(state.record.remarks)
        assert on_disk(state, folder) == {path: version.digest for path, version in state.files.items()}
        found = verify(engine.log, run, engine.history())
        assert found.misfit is None
        assert found.unchained == old[run]
    check(golden.release, golden.workflow, {f"{way}/{golden.stop}": watch.found})


@pytest.mark.parametrize("golden", EVERY, ids=str)
def test_every_home_fits_together_and_one_from_before_the_chain_says_so(golden: Golden, engine: Engine) -> None:
    whole = verify_all(engine.log, engine.history())
    assert whole.sound, whole
    if not golden.from_before_the_chain:
        assert all(one.chain and not one.unchained for one in whole.runs)
        return
    assert all((one.chain, one.unchained) == ("", one.head) for one in whole.runs)
    assert all("unchained until event" in one.notes[0] for one in whole.runs)


@pytest.mark.parametrize("golden", list(_FIRST.values()), ids=str)
def test_every_content_belongs_to_a_run_that_names_it(golden: Golden, engine: Engine, tmp_path: Path) -> None:
    """So that a run can be exported, or deleted, with all that is its own."""
    named = {digest for run in engine.log.runs() for digest in named_by(event for _, event in engine.log.read(run))}
    with closing(sqlite3.connect(next(tmp_path.rglob("reconvene.db")))) as store:
        kept = {str(name) for (name,) in store.execute("SELECT digest FROM artefacts")}
        lists = [bytes(data) for (data,) in store.execute("SELECT data FROM artefacts WHERE packed = 2")]
    assert named <= kept
    assert kept - named == {name for data in lists for name in below(data)} - named


def on_disk(state: RunState, folder: Path) -> dict[str, str]:
    root = Path(moved(state.workspace, folder))
    return {path: digest_of((root / path).read_bytes()) for path in state.files}


@pytest.mark.parametrize("golden", DRIVEN, ids=str)
def test_every_run_goes_on_to_an_end_and_renders_what_it_rendered(
    golden: Golden, engine: Engine, tmp_path: Path, clock: Still
) -> None:
    drive_on(golden, engine, tmp_path, clock, "on")


@pytest.mark.torture
@pytest.mark.parametrize("golden", [one for one in EVERY if one not in DRIVEN or decisions(one, "on") == 1], ids=str)
def test_every_run_goes_the_whole_way(golden: Golden, engine: Engine, tmp_path: Path, clock: Still) -> None:
    drive_on(golden, engine, tmp_path, clock, "through")


# One of each kind per workflow. Nobody made the recorded place for these: the home was moved, the folders are gone.
@pytest.mark.parametrize("golden", list(_FIRST.values()), ids=str)
def test_a_home_whose_folders_are_gone_is_still_listed_and_told(
    golden: Golden, tmp_path: Path, reconvene: Command
) -> None:
    lay_out(golden.home, tmp_path)
    run = str(golden.home.expected["run"])
    assert {row["run"] for row in reconvene("runs", "--json").objects} == set(runs_in(golden))
    for words in (["inbox"], ["queue"], ["show", run], ["log", run], ["files", run], ["rounds", run], ["ledger", run]):
        code, out, err = reconvene(*words)
        assert (code, err) == (0, ""), words
        assert out, words


@pytest.mark.parametrize("golden", [one for one in EVERY if one.stop.endswith(".edited")], ids=str)
def test_an_edit_that_nobody_had_noticed_is_noticed_after_the_upgrade(golden: Golden, engine: Engine) -> None:
    run = str(golden.home.expected["run"])
    assert len(engine.scan(run, by="ann", door="golden")) == 1
