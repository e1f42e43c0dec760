"""What golden homes must be: all there, unchanged, one for every stop, and nobody's machine in them."""

from __future__ import annotations

import re
import sqlite3
import zlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from reconvene.wire.packaged import packaged
from reconvene.wire.workflow_file import load_workflow

from .archive import Home, lay_out
from .homes import CONTENTS, FOLDER, Golden, contents, digest, every_home, releases
from .journey import folder_of
from .journeys import JOURNEYS
from .kinds import KINDS, TROUBLES, check, kind_of, missing
from .place import HOME, PLACE

EVERY = list(every_home())
ADD = "add what is missing with: make golden"
# Spelt in pieces, as in tests/house/test_tree.py.
MACHINES = re.compile(
    rb"/ro" rb"ot/|/ho" rb"me/[a-z]|/Us" rb"ers/[A-Za-z]|/wo" rb"rk/|/tmp/(?!reconvene-golden)[A-Za-z]"
)


def test_no_archive_has_changed_since_it_was_made_and_none_is_lost() -> None:
    for release in releases():
        listed = contents(release)
        assert {path.name for path in (FOLDER / release).iterdir()} == {*listed, CONTENTS}
        for archive, about in listed.items():
            assert digest((FOLDER / release / archive).read_bytes()) == about["sha256"], f"{release}/{archive}"


@pytest.mark.parametrize("workflow", sorted(packaged()))
def test_every_stop_that_a_workflow_can_reach_has_a_home(workflow: str) -> None:
    assert workflow in JOURNEYS, "tests/golden/journeys.py does not know its way"
    stops = [one.stop for one in EVERY if one.workflow == workflow]
    assert missing(load_workflow(folder_of(workflow)), stops) == [], ADD


def test_every_kind_of_stop_and_of_trouble_has_a_home() -> None:
    assert {kind_of(one.stop) for one in EVERY} == set(KINDS), ADD
    assert {f"attention.{kind}" for kind in TROUBLES} <= {one.stop for one in EVERY if one.workflow == "troubles"}, ADD


@pytest.mark.parametrize("golden", EVERY, ids=str)
def test_a_home_is_what_its_name_says(golden: Golden) -> None:
    check(golden.stop, golden.home.expected)


def test_a_home_that_crashed_is_kept_as_it_lay_and_the_others_were_closed() -> None:
    for golden in EVERY:
        journal = golden.home.files.get(f"{HOME}/reconvene.db-wal")
        assert bool(journal and journal[1]) == (kind_of(golden.stop) == "crashed"), str(golden)


def stored(home: Home, folder: Path) -> Iterator[bytes]:
    """Everything in a home, unpacked: files, what git keeps, what the database holds."""
    for name, (_, data) in home.files.items():
        yield zlib.decompress(data) if "/objects/" in name and not name.endswith("/") else data
    lay_out(home, folder)
    connection = sqlite3.connect(folder / HOME / "reconvene.db")
    for table, column in (("artefacts", "data"), ("appends", "events"), ("snapshots", "data"), ("runs", "doc")):
        for (value,) in connection.execute(f"SELECT {column} FROM {table}"):
            data = value.encode() if isinstance(value, str) else value
            try:
                yield zlib.decompress(data)
            except zlib.error:
                yield data
    connection.close()


@pytest.mark.parametrize("golden", [one for one in EVERY if kind_of(one.stop) == "completed"], ids=str)
def test_no_home_names_a_path_of_somebodys_machine(golden: Golden, tmp_path: Path) -> None:
    found = {match for data in stored(golden.home, tmp_path) for match in MACHINES.findall(data)}
    assert found == set()
    assert PLACE in str(golden.home.expected)


def test_one_of_them_is_so_long_that_a_snapshot_of_its_state_was_kept(tmp_path: Path) -> None:
    (golden,) = [one for one in EVERY if one[:3] == ("0.1.0", "brainstorm", "completed")]
    lay_out(golden.home, tmp_path)
    connection = sqlite3.connect(tmp_path / HOME / "reconvene.db")
    assert connection.execute("SELECT COUNT(*) FROM snapshots").fetchone() == (1,)
    connection.close()
