"""The people of a home in SQLite: the conformance suite, and what only a file can go wrong with."""

from __future__ import annotations

import os
import sqlite3
import stat
from contextlib import closing
from pathlib import Path

import pytest

from reconvene.adapters.sqlite.people_file import SqlitePeople
from reconvene.errors import StoreError
from reconvene.people_ports import Person
from reconvene.testing.people_conformance import PeopleConformance

NOW, LATER = "2026-01-02T00:00:00.000Z", "2026-02-01T00:00:00.000Z"


class TestSqlitePeople(PeopleConformance):
    @pytest.fixture(autouse=True)
    def _place(self, tmp_path: Path) -> None:
        self.path = tmp_path / "home" / "people.db"

    def open(self) -> SqlitePeople:
        return SqlitePeople(str(self.path))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "people.db"


def test_to_look_for_people_makes_no_file(path: Path) -> None:
    assert SqlitePeople(str(path)).everyone() == []
    assert not path.exists()


def test_whoever_reads_the_file_finds_no_token_in_it(path: Path) -> None:
    people = SqlitePeople(str(path))
    people.add(Person("ada", "admin"))
    _, secret = people.issue("ada", "", NOW, LATER)
    people.close()
    held = b"".join(one.read_bytes() for one in path.parent.iterdir())
    assert secret.encode() not in held
    assert bytes.fromhex(secret.partition("_")[2]) not in held
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_digest_from_the_file_is_no_token(path: Path) -> None:
    people = SqlitePeople(str(path))
    people.add(Person("ada", "admin"))
    people.issue("ada", "", NOW, LATER)
    with closing(sqlite3.connect(path)) as store:
        (digest,) = store.execute("SELECT digest FROM tokens").fetchone()
    for given in (digest.hex(), f"rcv_{digest.hex()}", digest.decode("latin-1")):
        assert people.by_token(given, NOW) is None


def test_the_people_of_an_earlier_release_are_there_and_new_ones_say_since_when(path: Path) -> None:
    SqlitePeople(str(path)).add(Person("ada", "admin"))
    with closing(sqlite3.connect(path)) as store:  # as the first layout was
        store.execute("ALTER TABLE people DROP COLUMN since")
        store.execute("PRAGMA user_version=1")
    people = SqlitePeople(str(path))
    assert people.everyone() == [Person("ada", "admin")]
    people.add(Person("bob", "viewer", since=NOW))
    people.change(Person("bob", "decider", since=LATER))
    assert SqlitePeople(str(path)).find("bob") == Person("bob", "decider", since=NOW)


def test_the_file_of_a_newer_release_is_refused(path: Path) -> None:
    SqlitePeople(str(path)).add(Person("ada", "admin"))
    with closing(sqlite3.connect(path)) as store:
        store.execute("PRAGMA user_version=9")
    with pytest.raises(StoreError, match="another release"):
        SqlitePeople(str(path)).everyone()


def test_a_file_that_is_none_is_refused_and_left_alone(path: Path) -> None:
    path.write_bytes(b"no database" * 200)
    with pytest.raises(StoreError):
        SqlitePeople(str(path)).everyone()
    assert path.read_bytes() == b"no database" * 200


def test_a_link_in_its_place_is_not_followed(path: Path, tmp_path: Path) -> None:
    os.symlink(tmp_path / "elsewhere.db", path)
    with pytest.raises(StoreError):
        SqlitePeople(str(path)).add(Person("ada", "admin"))
    assert not (tmp_path / "elsewhere.db").exists()
