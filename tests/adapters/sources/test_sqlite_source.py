"""A SQLite file as a source: what is read, and that neither it nor its folder changes, however it is asked."""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.adapters.sources.served import snapshot

from exploring import part
from reconvene.material_ports import QueryLimits, SourceError

Opened = Callable[..., Any]


def refused(source: Any, text: str) -> SourceError:
    with pytest.raises(SourceError) as caught:
        source.query(text)
    return caught.value


def test_tables_are_described_with_columns_types_keys_and_rows(opened: Opened, people: Path) -> None:
    tables = {table.name: table for table in opened(people).describe().tables}
    assert {"person", "names", "texts", "log"} <= set(tables)
    assert [(column.name, column.type, column.key) for column in tables["person"].columns] == [
        ("id", "INTEGER", True), ("name", "TEXT", False), ("photo", "BLOB", False),
    ]  # fmt: skip
    assert (tables["person"].rows, tables["person"].more) == (3, False)
    assert (tables["names"].kind, tables["names"].rows) == ("view", -1)
    assert tables["texts"].rows == 1


def test_more_rows_than_are_counted_are_said_to_be_more(opened: Opened, people: Path) -> None:
    tables = {table.name: table for table in opened(people, QueryLimits(count=2)).describe().tables}
    assert (tables["person"].rows, tables["person"].more) == (2, True)


def test_rows_come_as_they_are(opened: Opened, people: Path) -> None:
    rows = opened(people).query("SELECT id, name, photo, 1.5 AS half, 1e999 AS much FROM person ORDER BY id")
    assert rows.columns == ("id", "name", "photo", "half", "much")
    assert rows.rows[0] == (1, "Ann", "2 bytes: 0102", 1.5, "inf")
    assert rows.rows[2][:3] == (3, "Zoë", None)
    assert rows.notes == ()


def test_full_text_json_and_the_structure_can_be_asked_for(opened: Opened, people: Path) -> None:
    source = opened(people)
    assert source.query("SELECT body FROM texts WHERE texts MATCH 'furnace'").rows == (("the furnace is hot",),)
    assert source.query("SELECT value FROM json_each('[1, 2]')").rows == ((1,), (2,))
    assert len(source.query("SELECT * FROM pragma_table_info('person')").rows) == 3
    assert source.query("EXPLAIN QUERY PLAN SELECT * FROM person").rows


def test_what_is_cut_is_said(opened: Opened, people: Path) -> None:
    endless = "WITH RECURSIVE r(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM r) SELECT x FROM r"
    rows = opened(people).query(endless, 4)
    assert rows.rows == ((1,), (2,), (3,), (4,))
    assert rows.notes == ("There are more rows: only the first 4 are given.",)
    wide = opened(people, QueryLimits(bytes=1000)).query("SELECT hex(zeroblob(200)) AS z FROM person")
    assert len(wide.rows) == 2
    assert wide.notes == ("There are more rows: only the first 2 fit into 1,000 bytes.",)
    long = opened(people).query("SELECT hex(zeroblob(500000)) AS z")
    assert len(str(long.rows[0][0])) == 20_001
    assert long.notes == ("Cut to 20,000 characters: values of z.",)


WRITES = [
    "INSERT INTO person (name) VALUES ('x')",
    "WITH x AS (SELECT 'x' AS n) INSERT INTO person (name) SELECT n FROM x",
    "INSERT INTO person (name) VALUES ('x') RETURNING id",
    "UPDATE person SET name = 'x'",
    "UPDATE person SET name = 'x' RETURNING name",
    "DELETE FROM person",
    "REPLACE INTO person VALUES (1, 'x', NULL)",
    "DROP TABLE person",
    "CREATE TABLE other (a)",
    "CREATE TEMP TABLE other (a)",
    "CREATE TABLE other AS SELECT 1",
    "CREATE VIEW other AS SELECT 1",
    "CREATE INDEX other ON person (name)",
    "CREATE TRIGGER other AFTER INSERT ON person BEGIN SELECT 1; END",
    "CREATE VIRTUAL TABLE other USING fts5(a)",
    "ALTER TABLE person RENAME TO other",
    "ALTER TABLE person ADD COLUMN x",
    "INSERT INTO texts (texts) VALUES ('rebuild')",
    "INSERT INTO texts (texts) VALUES ('delete-all')",
    "UPDATE sqlite_master SET sql = 'x'",
    "DELETE FROM sqlite_master",
    "ANALYZE",
    "REINDEX",
    "VACUUM",
    "VACUUM INTO 'copy.db'",
    "ATTACH 'other.db' AS other",
    "ATTACH ':memory:' AS other",
    "DETACH main",
    "BEGIN IMMEDIATE",
    "COMMIT",
    "ROLLBACK",
    "SAVEPOINT x",
    "PRAGMA writable_schema = 1",
    "PRAGMA writable_schema",
    "PRAGMA journal_mode = WAL",
    "PRAGMA journal_mode = DELETE",
    "PRAGMA user_version = 5",
    "PRAGMA query_only = OFF",
    "PRAGMA wal_checkpoint(TRUNCATE)",
    "PRAGMA incremental_vacuum",
    "PRAGMA optimize",
    "PRAGMA temp_store_directory = '/tmp'",
    "PRAGMA schema_version = 1",
    "PRAGMA hard_heap_limit = 1",
    "PRAGMA database_list",
    "SELECT * FROM pragma_database_list",
    "SELECT load_extension('/tmp/x.so')",
    "SELECT fts3_tokenizer('simple')",
    "SELECT 1; DELETE FROM person",
    "SELECT 1; SELECT 2",
    "EXPLAIN DELETE FROM person",
]
UNKNOWN = [
    "SELECT writefile('made.txt', 'x')",
    "SELECT readfile('/etc/passwd')",
    "SELECT edit('x')",
    "SELECT * FROM fsdir('/')",
    "SELECT eval('DELETE FROM person')",
    "SELECT * FROM nowhere",
    "SELECT nothing FROM person",
    "SELEC 1",
    "'",
    "/* nothing",
    "SELECT (" * 300,
    "\udcff",
    "SELECT 'a\0b'",
]
TOO_MUCH = [
    "SELECT randomblob(1000000000)",
    "SELECT zeroblob(2147483647)",
    "SELECT hex(zeroblob(10000000))",
    "SELECT group_concat(printf('%1000000d', a.id)) FROM person a, person b, person c, person d",
]
ENDLESS = [
    "WITH RECURSIVE r(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM r) SELECT count(*) FROM r",
    "WITH RECURSIVE r(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM r) SELECT * FROM r WHERE x < 0",
    "WITH RECURSIVE r(x) AS (SELECT 1 UNION SELECT (x * 2) % 1000003 FROM r) SELECT count(*) FROM r a, r b, r c",
    "SELECT count(*) FROM " + ", ".join(f"sqlite_master a{n}, person b{n}" for n in range(12)),
]


@pytest.mark.parametrize("text", part(WRITES))
def test_what_is_not_reading_is_refused_and_changes_nothing(text: str, opened: Opened, people: Path) -> None:
    before = snapshot(people.parent)
    error = refused(opened(people), text)
    assert error.fault == "refused", error.message
    assert error.message.startswith("people.db: ")
    assert error.hint
    assert snapshot(people.parent) == before


@pytest.mark.parametrize("text", part(UNKNOWN))
def test_a_wrong_query_is_told_in_the_databases_own_words(text: str, opened: Opened, people: Path) -> None:
    before = snapshot(people.parent)
    assert refused(opened(people), text).fault == "query"
    assert snapshot(people.parent) == before


@pytest.mark.parametrize("text", TOO_MUCH)
def test_what_is_too_much_is_an_error_of_its_own(text: str, opened: Opened, people: Path) -> None:
    assert refused(opened(people, QueryLimits(seconds=30)), text).fault == "limit"


@pytest.mark.parametrize("text", ENDLESS)
def test_what_does_not_end_is_ended(text: str, opened: Opened, people: Path) -> None:
    before = snapshot(people.parent)
    assert refused(opened(people, QueryLimits(seconds=0.5)), text).fault in ("slow", "limit")
    assert snapshot(people.parent) == before


# --- files that are not just lying there -----------------------------------------------------------------------------


def logged(path: Path) -> sqlite3.Connection:
    """Open, with changes that are only in its log."""
    connection = sqlite3.connect(path)
    connection.executescript("PRAGMA journal_mode = WAL; CREATE TABLE t (a); INSERT INTO t VALUES (1);")
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.execute("INSERT INTO t VALUES (2)")
    connection.commit()
    return connection


def test_a_file_that_is_open_elsewhere_is_read_with_what_is_in_its_log(opened: Opened, tmp_path: Path) -> None:
    folder = tmp_path / "live"
    folder.mkdir()
    connection = logged(folder / "live.db")
    before = snapshot(folder)
    assert set(before) == {"live.db", "live.db-wal", "live.db-shm"}
    assert opened(folder / "live.db").query("SELECT a FROM t ORDER BY a").rows == ((1,), (2,))
    assert snapshot(folder) == before
    connection.execute("INSERT INTO t VALUES (3)")
    connection.commit()
    assert opened(folder / "live.db").query("SELECT max(a) FROM t").rows == ((3,),)
    connection.close()


def test_a_file_with_a_log_that_was_closed_gets_no_files_beside_it(opened: Opened, tmp_path: Path) -> None:
    folder = tmp_path / "closed"
    folder.mkdir()
    logged(folder / "closed.db").close()
    before = snapshot(folder)
    assert set(before) == {"closed.db"}
    assert opened(folder / "closed.db").query("SELECT count(*) FROM t").rows == ((2,),)
    assert snapshot(folder) == before


def test_a_log_that_a_crash_left_is_read_and_stays(opened: Opened, tmp_path: Path) -> None:
    made, folder = tmp_path / "made", tmp_path / "crashed"
    made.mkdir(), folder.mkdir()
    connection = logged(made / "c.db")
    for name in ("c.db", "c.db-wal"):
        shutil.copyfile(made / name, folder / name)
    connection.close()
    before = snapshot(folder)
    assert opened(folder / "c.db").query("SELECT count(*) FROM t").rows == ((2,),)
    assert snapshot(folder) == before


def test_a_transaction_that_a_crash_left_half_written_is_not_read(opened: Opened, tmp_path: Path) -> None:
    made, folder = tmp_path / "made", tmp_path / "hot"
    made.mkdir(), folder.mkdir()
    connection = sqlite3.connect(made / "h.db", isolation_level=None)
    connection.executescript("PRAGMA cache_size = 1; CREATE TABLE t (a); INSERT INTO t VALUES (1);")
    connection.execute("BEGIN")
    connection.execute(
        "WITH RECURSIVE r(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM r LIMIT 5000) "
        "INSERT INTO t SELECT hex(zeroblob(200)) FROM r"
    )
    for name in ("h.db", "h.db-journal"):
        shutil.copyfile(made / name, folder / name)
    connection.close()
    assert (folder / "h.db").stat().st_size > 100_000
    before = snapshot(folder)
    assert opened(folder / "h.db").query("SELECT count(*) FROM t").rows == ((1,),)
    assert snapshot(folder) == before


def test_a_file_that_is_being_written_is_waited_for_and_then_said_to_be_busy(opened: Opened, people: Path) -> None:
    writer = sqlite3.connect(people, isolation_level=None)
    writer.execute("BEGIN EXCLUSIVE")
    error = refused(opened(people, QueryLimits(seconds=20)), "SELECT * FROM person")
    assert error.fault == "busy"
    writer.execute("ROLLBACK")
    writer.close()
    assert opened(people).query("SELECT count(*) FROM person").rows == ((3,),)


def test_changes_beside_a_file_that_is_too_large_to_copy_are_said(opened: Opened, tmp_path: Path) -> None:
    connection = logged(tmp_path / "large.db")
    error = refused(opened(tmp_path / "large.db", QueryLimits(copy=1000)), "SELECT 1")
    assert (error.fault, "too large to be copied" in error.message) == ("busy", True)
    connection.close()


@pytest.mark.parametrize("name", ["half.db", "zeros.db", "header.db"])
def test_a_damaged_file_is_said_to_be_damaged(name: str, opened: Opened, people: Path, tmp_path: Path) -> None:
    data = people.read_bytes()
    broken = {
        "half.db": data[:5000],
        "zeros.db": data[:16] + bytes(len(data) - 16),
        "header.db": data[:20] + os.urandom(80) + data[100:],
    }[name]
    (tmp_path / name).write_bytes(broken)
    error = refused(opened(tmp_path / name), "SELECT * FROM person, texts")
    assert error.fault in ("kind", "query", "busy"), error.message
    assert opened(people).query("SELECT 1").rows == ((1,),)


def test_a_schema_that_was_made_to_do_harm_does_none(opened: Opened, tmp_path: Path) -> None:
    path = tmp_path / "evil.db"
    connection = sqlite3.connect(path)
    connection.executescript(
        """
        CREATE TABLE t (a);
        CREATE VIEW loads AS SELECT load_extension('/tmp/x.so') AS a;
        CREATE VIEW grows AS SELECT randomblob(1000000000) AS a;
        CREATE VIEW "x' -- \n" AS SELECT 1;
        CREATE TABLE [semi;colon "quoted"] (a);
        """
    )
    connection.close()
    source = opened(path)
    assert {"loads", "grows", 'semi;colon "quoted"'} <= {table.name for table in source.describe().tables}
    assert "load_extension" in refused(source, "SELECT * FROM loads").message
    assert refused(source, "SELECT * FROM grows").fault == "limit"


def test_text_that_is_no_utf_8_is_shown_as_well_as_can_be(opened: Opened, tmp_path: Path) -> None:
    connection = sqlite3.connect(tmp_path / "odd.db")
    connection.execute("CREATE TABLE t AS SELECT CAST(x'ff41' AS TEXT) AS a, CAST(x'410042' AS TEXT) AS b")
    connection.commit()
    connection.close()
    assert opened(tmp_path / "odd.db").query("SELECT * FROM t").rows == (("\ufffdA", "A\ufffdB"),)


@pytest.mark.parametrize("spelt", ["{}", "sqlite:///{}", "file://{}"])
def test_a_file_may_be_named_by_its_path_or_as_a_url(spelt: str, opened: Opened, people: Path) -> None:
    assert opened(spelt.format(people)).query("SELECT 1").rows == ((1,),)


def test_a_name_with_odd_characters_is_opened_as_it_is(opened: Opened, people: Path) -> None:
    odd = people.with_name("what?mode=rwc&x=%41 #'\".db")
    shutil.copyfile(people, odd)
    before = snapshot(people.parent)
    assert opened(odd).query("SELECT count(*) FROM person").rows == ((3,),)
    assert snapshot(people.parent) == before


@pytest.mark.parametrize("level", ["bubblewrap", "landlock", "off"])
def test_nothing_changes_at_any_level_of_the_sandbox(
    level: str, people: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tests.adapters.box_levels import boxed

    from reconvene.adapters.sources.sqlite_source import SqliteSource

    with boxed(level, tmp_path, monkeypatch) as box:
        source = SqliteSource(str(people), box, QueryLimits(seconds=10))
        before = snapshot(people.parent)
        assert source.query("SELECT count(*) FROM person").rows == ((3,),)
        for text in ("DELETE FROM person", "VACUUM INTO 'x.db'", "ATTACH 'y.db' AS y", "PRAGMA journal_mode = WAL"):
            assert refused(source, text).fault == "refused"
        assert snapshot(people.parent) == before
