"""A real PostgreSQL server as a source: what is read, and that nothing else is done, however it is asked."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.adapters.box_levels import boxed
from tests.adapters.sources.conftest import IN_A_URL, PASSWORD, USER
from tests.adapters.sources.served import Served, snapshot

from exploring import part
from reconvene.adapters.sources.postgres_source import PostgresSource
from reconvene.material_ports import QueryLimits, SourceError

Opened = Callable[..., Any]


def refused(source: Any, text: str) -> SourceError:
    with pytest.raises(SourceError) as caught:
        source.query(text)
    return caught.value


def test_tables_are_described_with_columns_types_keys_and_rows(opened: Opened, url: str) -> None:
    described = opened(url).describe()
    tables = {table.name: table for table in described.tables}
    assert list(tables) == ["names", "person"]
    assert [(column.name, column.type, column.key) for column in tables["person"].columns][:4] == [
        ("id", "integer", True), ("name", "text", False), ("born", "date", False), ("salary", "numeric(10,2)", False),
    ]  # fmt: skip
    assert (tables["person"].rows, tables["person"].more) == (3, False)
    assert (tables["names"].kind, tables["names"].rows) == ("view", -1)


def test_more_rows_than_are_counted_are_said_to_be_more(opened: Opened, url: str) -> None:
    person = opened(url, QueryLimits(count=2)).describe().tables[1]
    assert (person.rows, person.more) == (2, True)


def test_rows_come_as_they_are_also_dates_that_python_does_not_know(opened: Opened, url: str) -> None:
    columns = "name, born, salary, more, id = 1 AS first, 2.5::float8 AS f"
    rows = opened(url).query(f"SELECT {columns} FROM person ORDER BY id")
    assert rows.columns == ("name", "born", "salary", "more", "first", "f")
    assert rows.rows == (
        ("Ann", "1984-05-01", "1000.50", '{"a": 1}', True, 2.5),
        ("Bob", "infinity", None, None, False, 2.5),
        ("Caesar", "0100-07-12 BC", "NaN", None, False, 2.5),
    )
    assert rows.notes == ()


def test_a_result_is_cut_and_that_is_said(opened: Opened, url: str) -> None:
    rows = opened(url).query("SELECT generate_series(1, 1000000000)", 5)
    assert len(rows.rows) == 5
    assert rows.notes == ("There are more rows: only the first 5 are given.",)


def test_a_result_without_rows_has_its_columns(opened: Opened, url: str) -> None:
    assert opened(url).query("SELECT 1 AS one WHERE false").columns == ("one",)


def test_explain_and_show_are_reading(opened: Opened, url: str) -> None:
    assert opened(url).query("EXPLAIN SELECT 1").rows
    assert opened(url).query("SHOW transaction_read_only").rows == (("on",),)


def test_a_server_is_reached_through_its_socket(opened: Opened, server: Served) -> None:
    source = opened(f"postgresql://{USER}@/postgres?host={server.sockets}&port={server.port}")
    assert source.query("SELECT count(*) FROM person").rows == ((3,),)


@pytest.mark.parametrize("level", ["bubblewrap", "landlock", "off"])
def test_it_is_only_read_at_any_level_of_the_sandbox(
    level: str, url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with boxed(level, tmp_path, monkeypatch) as box:
        source = PostgresSource(url, box)
        assert source.query("SELECT count(*) FROM person").rows == ((3,),)
        assert refused(source, "SELECT writes()").fault == "refused"


WRITES = [
    "INSERT INTO person (name) VALUES ('x')",
    "WITH made AS (INSERT INTO person (name) VALUES ('x') RETURNING id) SELECT * FROM made",
    "WITH gone AS (DELETE FROM person RETURNING *) SELECT count(*) FROM gone",
    "UPDATE person SET name = 'x'",
    "DELETE FROM person",
    "TRUNCATE person",
    "DROP TABLE person",
    "CREATE TABLE other (a int)",
    "CREATE TABLE other AS SELECT 1 AS a",
    "SELECT 1 AS a INTO other",
    "CREATE FUNCTION mine() RETURNS int LANGUAGE sql AS 'SELECT 1'",
    "ALTER TABLE person ADD COLUMN x int",
    "COMMENT ON TABLE person IS 'x'",
    "GRANT SELECT ON person TO PUBLIC",
    "SELECT nextval('person_id_seq')",
    "SELECT setval('person_id_seq', 99)",
    "SELECT writes()",
    "SELECT opens()",
    "DO $$ BEGIN INSERT INTO person (name) VALUES ('x'); END $$",
    "DO $$ BEGIN SET TRANSACTION READ WRITE; INSERT INTO person (name) VALUES ('x'); END $$",
    "CALL commits()",
    "EXPLAIN ANALYZE INSERT INTO person (name) VALUES ('x')",
    "SELECT lo_create(0)",
    "SELECT lo_from_bytea(0, 'x')",
    "SELECT * FROM person FOR UPDATE",
    "LOCK TABLE person IN ACCESS EXCLUSIVE MODE",
    "COPY person (name) FROM STDIN",
    "MERGE INTO person p USING (SELECT 1 AS id) s ON p.id = s.id WHEN MATCHED THEN DELETE",
    "REFRESH MATERIALIZED VIEW names",
    "VACUUM person",
    "REINDEX TABLE person",
    "CLUSTER person",
    "CREATE EXTENSION vector",
    "IMPORT FOREIGN SCHEMA x FROM SERVER y INTO public",
    "PREPARE TRANSACTION 'x'",
    "CREATE TEMPORARY TABLE mine (a int)",
    "NOTIFY somebody, 'x'",
]
REACHES_OUT = [
    "SELECT pg_read_file('/etc/passwd')",
    "SELECT pg_read_binary_file('postgresql.conf')",
    "SELECT pg_ls_dir('.')",
    "SELECT lo_export(1, '/tmp/reconvene-made-this')",
    "SELECT lo_import('/etc/passwd')",
    "COPY person TO '/tmp/reconvene-made-this'",
    "COPY person TO PROGRAM 'touch /tmp/reconvene-made-this'",
    "COPY person FROM PROGRAM 'id'",
    "COPY (SELECT 1) TO STDOUT",
    "SELECT dblink_exec('dbname=postgres', 'DELETE FROM person')",
    "SELECT * FROM dblink('dbname=postgres', 'DELETE FROM person') AS t(a int)",
    "CREATE SUBSCRIPTION s CONNECTION 'host=127.0.0.1' PUBLICATION p",
    "SELECT pg_create_physical_replication_slot('x')",
    "SELECT pg_reload_conf()",
    "ALTER SYSTEM SET work_mem = '1GB'",
    "LOAD 'plpgsql'",
    "SELECT pg_promote()",
]
TURNS_OFF = [
    "SET transaction_read_only = off",
    "SET TRANSACTION READ WRITE",
    "SET SESSION CHARACTERISTICS AS TRANSACTION READ WRITE",
    "SET default_transaction_read_only = off",
    "SELECT set_config('transaction_read_only', 'off', false)",
    "BEGIN; INSERT INTO person (name) VALUES ('x'); COMMIT",
    "COMMIT; INSERT INTO person (name) VALUES ('x')",
    "SELECT 1; DELETE FROM person",
    "SELECT 1;; SELECT 2",
    "COMMIT",
    "ROLLBACK",
    "BEGIN READ WRITE",
    "SET ROLE postgres",
    "SET SESSION AUTHORIZATION postgres",
    "SELECT set_config('role', 'postgres', false)",
    "ALTER ROLE reader SUPERUSER",
    "GRANT postgres TO reader",
    "DISCARD ALL",
    "PREPARE mine AS DELETE FROM person",
    "LISTEN somebody",
    "DECLARE mine CURSOR WITH HOLD FOR SELECT 1",
]
ENDLESS = [
    "SELECT pg_sleep(1000)",
    "SELECT count(*) FROM generate_series(1, 100000000) a, generate_series(1, 1000000) b",
    "WITH RECURSIVE r(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM r) SELECT max(x) FROM r",
    "SELECT set_config('statement_timeout', '0', false), pg_sleep(1000)",
    "SELECT lasts()",
]


@pytest.mark.parametrize("text", part([*WRITES, *REACHES_OUT, *TURNS_OFF]))
def test_what_is_not_reading_is_refused_and_changes_nothing(
    text: str, opened: Opened, url: str, server: Served
) -> None:
    before = server.state()
    error = refused(opened(url), text)
    assert error.fault in ("refused", "query")
    assert error.message.startswith("postgresql://reader@127.0.0.1/postgres: ")
    assert PASSWORD not in error.message + error.hint
    assert server.state() == before
    assert not Path("/tmp/reconvene-made-this").exists()


@pytest.mark.parametrize("text", ENDLESS)
def test_what_does_not_end_is_ended_by_the_server(text: str, opened: Opened, url: str, server: Served) -> None:
    error = refused(opened(url, QueryLimits(seconds=0.5)), text)
    assert error.fault == "slow"
    at_work = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'reconvene' AND state = 'active'"
    assert server.do(at_work) == [(0,)]


def test_a_value_that_is_far_too_large_is_an_error_and_one_that_is_large_is_cut(opened: Opened, url: str) -> None:
    error = refused(opened(url, QueryLimits(seconds=60, memory=200 * 2**20)), "SELECT repeat('x', 300000000)")
    assert error.fault == "limit"
    rows = opened(url).query("SELECT repeat('x', 3000000) AS much")
    assert len(str(rows.rows[0][0])) == 20_001
    assert rows.notes == ("Cut to 20,000 characters: values of much.",)


def test_the_servers_own_words_tell_what_is_wrong_with_a_query(opened: Opened, url: str) -> None:
    assert 'relation "nowhere" does not exist' in refused(opened(url), "SELECT * FROM nowhere").message
    assert 'syntax error at or near "SELEC"' in refused(opened(url), "SELEC 1").message
    assert refused(opened(url), "SELECT 1/0").fault == "query"


# --- who is asked with, and how it is reached ------------------------------------------------------------------------


def test_a_superuser_is_not_asked_with(opened: Opened, server: Served) -> None:
    error = refused(opened(server.url), "SELECT 1")
    assert error.fault == "setup"
    assert "is a superuser" in error.message
    assert "CREATE ROLE" in error.hint


@pytest.mark.parametrize(
    "given", ["postgres", "pg_read_server_files", "pg_execute_server_program", "pg_signal_backend"]
)
def test_a_role_that_can_become_more_is_not_asked_with(given: str, opened: Opened, url: str, server: Served) -> None:
    server.do(f"GRANT {given} TO {USER}")
    try:
        error = refused(opened(url), "SELECT 1")
    finally:
        server.do(f"REVOKE {given} FROM {USER}")
    assert error.fault == "setup"
    assert ("superuser" if given == "postgres" else given) in error.message


@pytest.mark.parametrize("function", ["pg_read_file(text)", "lo_export(oid, text)", "pg_reload_conf()"])
def test_a_role_that_may_call_what_reaches_out_is_not_asked_with(
    function: str, opened: Opened, url: str, server: Served
) -> None:
    server.do(f"GRANT EXECUTE ON FUNCTION {function} TO {USER}")
    try:
        error = refused(opened(url), "SELECT 1")
    finally:
        server.do(f"REVOKE EXECUTE ON FUNCTION {function} FROM {USER}")
    assert error.fault == "setup"
    assert function.partition("(")[0] in error.message
    assert "REVOKE EXECUTE" in error.hint


def test_a_function_that_asks_other_servers_is_enough(opened: Opened, url: str, server: Served) -> None:
    server.do("CREATE FUNCTION dblink_exec(text) RETURNS text LANGUAGE sql AS 'SELECT $1'")
    try:
        assert "dblink_exec" in refused(opened(url), "SELECT 1").message
    finally:
        server.do("DROP FUNCTION dblink_exec(text)")


@pytest.mark.parametrize(
    ("address", "fault"),
    [
        (f"postgresql://{USER}:wr0ng-s3cret@127.0.0.1:PORT/postgres", "setup"),
        (f"postgresql://{USER}:{IN_A_URL}@127.0.0.1:PORT/nowhere", "setup"),
        (f"postgresql://nobody:{IN_A_URL}@127.0.0.1:PORT/postgres", "setup"),
        (f"postgresql://{USER}:{IN_A_URL}@127.0.0.1:1/postgres", "down"),
        (f"postgresql://{USER}:{IN_A_URL}@127.0.0.1:PORT/postgres?nonsense=1", "setup"),
        (f"postgresql://{USER}@127.0.0.1:PORT/postgres?password={IN_A_URL}&sslmode=nonsense", "setup"),
        (f"postgresql://{USER}:{IN_A_URL}@no.such.host.invalid/postgres", "down"),
    ],
)
def test_an_address_that_does_not_work_is_told_without_its_password(
    address: str, fault: str, opened: Opened, server: Served
) -> None:
    source = opened(address.replace("PORT", str(server.port)))
    error = refused(source, "SELECT 1")
    assert error.fault == fault
    for secret in (PASSWORD, IN_A_URL, "wr0ng-s3cret"):
        assert secret not in error.message + error.hint + repr(error) + repr(source) + str(vars(error))


@pytest.mark.parametrize(
    "address",
    [
        f"postgresql://{USER}:{IN_A_URL}@127.0.0.1:{IN_A_URL}/postgres",
        f"postgresql://{USER}:{IN_A_URL}@[::1/postgres",
        f"mysql://{USER}:{IN_A_URL}@127.0.0.1/db",
        f"mongodb+srv://{USER}:{IN_A_URL}@host/db",
        f"{USER}:{IN_A_URL}://x",
        f"https://{USER}:{IN_A_URL}@host/file.db",
    ],
)
def test_an_address_of_another_sort_is_refused_without_repeating_it(address: str, opened: Opened) -> None:
    with pytest.raises(SourceError) as caught:
        opened(address)
    assert caught.value.fault in ("kind", "setup")
    assert "postgresql://" in caught.value.hint
    assert IN_A_URL not in f"{caught.value} {caught.value.hint} {caught.value!r}"
    assert caught.value.__cause__ is None


def test_a_password_in_an_answer_of_the_server_does_not_come_through(opened: Opened, url: str) -> None:
    assert PASSWORD not in refused(opened(url), f"SELECT '{PASSWORD}'::int").message


def test_the_box_says_clearly_that_the_library_is_missing(tmp_path: Path, opened: Opened, url: str) -> None:
    code = (
        "import sys; sys.modules['psycopg'] = None\n"
        "from reconvene.adapters.sources.postgres_child import main\nmain([])"
    )
    import msgspec

    from reconvene.adapters.sources.questions import Asking, Question, Reply
    from reconvene.material_ports import Ended

    asked = msgspec.json.encode(Question("query", url, QueryLimits(), "SELECT 1", 1))
    done = subprocess.run([sys.executable, "-c", code], input=asked, capture_output=True, check=True)

    class Fixed:
        def run(self, *words: object, **more: object) -> Ended:
            return Ended(done.stdout)

    with pytest.raises(SourceError) as caught:
        Asking(Fixed(), "postgres_child", "it").put(Question("query", url, QueryLimits()))  # type: ignore[arg-type]
    assert caught.value.fault == "library"
    assert caught.value.hint == "pip install 'reconvene[postgres]'"
    assert msgspec.json.decode(done.stdout, type=Reply).refusal


def test_a_source_does_not_show_its_address(box: Any) -> None:
    source = PostgresSource(f"postgresql://me:{IN_A_URL}@host/db", box)
    assert repr(source) == "PostgresSource('postgresql://me@host/db')"


def test_nothing_is_left_in_the_folders_of_attempts(opened: Opened, url: str, tmp_path: Path) -> None:
    opened(url).query("SELECT 1")
    assert not [name for name in snapshot(Path(f"{tmp_path}.attempts")) if not name.endswith(".lock")]
