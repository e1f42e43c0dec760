"""A graph file as a source: what is read, what a change does, and that nothing else happens, however it is asked."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.adapters.box_levels import boxed
from tests.adapters.sources.served import snapshot

from exploring import part
from reconvene.adapters.box import Boxes
from reconvene.adapters.sandbox import levels
from reconvene.adapters.sources.graph_source import GraphSource
from reconvene.material_ports import Bounds, Changes, Ended, QueryLimits, Sight, SourceError

Opened = Callable[..., Any]

pytestmark = pytest.mark.skipif(
    levels.find(os.environ).name == "none", reason="graph files are only opened in a sandbox, and there is none here"
)


def refused(source: Any, text: str) -> SourceError:
    with pytest.raises(SourceError) as caught:
        source.query(text)
    return caught.value


def test_nodes_and_relationships_are_described(opened: Opened, company: Path) -> None:
    tables = {table.name: table for table in opened(company).describe().tables}
    assert list(tables) == ["Firm", "Person", "WorksAt"]
    assert [(column.name, column.type, column.key) for column in tables["Person"].columns] == [
        ("name", "STRING", True), ("age", "INT64", False),
    ]  # fmt: skip
    assert (tables["Person"].kind, tables["Person"].rows) == ("nodes", 2)
    assert (tables["WorksAt"].kind, tables["WorksAt"].rows, tables["WorksAt"].ends) == (
        "relationships", 1, ("Person → Firm",),
    )  # fmt: skip


def test_rows_are_given_and_nodes_come_with_their_properties(opened: Opened, company: Path) -> None:
    rows = opened(company).query("MATCH (p:Person)-[w:WorksAt]->(f) RETURN p.name, w.since, f")
    assert rows.columns == ("p.name", "w.since", "f")
    assert rows.rows == (("Ann", 2019, '{"label": "Firm", "name": "Glass Ltd"}'),)


def test_a_result_is_cut_and_that_is_said(opened: Opened, company: Path) -> None:
    rows = opened(company).query("UNWIND range(1, 1000) AS x RETURN x", 3)
    assert rows.rows == ((1,), (2,), (3,))
    assert rows.notes == ("There are more rows: only the first 3 are given.",)


WRITES = [
    "CREATE (:Person {name: 'Eve'})",
    "CREATE (p:Person {name: 'Eve'}) RETURN p",
    "MATCH (p:Person) SET p.age = 1",
    "MATCH (p:Person) SET p.age = 1 RETURN p.age",
    "MATCH (p:Person) DETACH DELETE p",
    "MATCH (p:Person {name: 'Bob'}) DELETE p",
    "MERGE (p:Person {name: 'Eve'}) RETURN p",
    "MATCH ()-[w:WorksAt]->() DELETE w",
    "CREATE NODE TABLE Other(a STRING PRIMARY KEY)",
    "DROP TABLE WorksAt",
    "ALTER TABLE Person ADD x INT64",
    "COMMENT ON TABLE Person IS 'x'",
    "CHECKPOINT",
    "CREATE SEQUENCE s",
    "CREATE MACRO m(x) AS x + 1",
    "COPY Person FROM '/etc/passwd'",
    "IMPORT DATABASE '/tmp'",
    "BEGIN TRANSACTION",
    "COMMIT",
]
REACHES_OUT = [
    "COPY (MATCH (p:Person) RETURN p.name) TO 'FOLDER/made.csv'",
    "COPY (MATCH (p:Person) RETURN p.name) TO 'FOLDER/company.lbug'",
    "COPY (MATCH (p:Person) RETURN p.name) TO 'OUTSIDE/precious.txt'",
    "COPY (MATCH (p:Person) RETURN p.name) TO '/tmp/reconvene-made-this.csv'",
    "COPY (MATCH (p:Person) RETURN p.name) TO 'here.parquet'",
    "EXPORT DATABASE 'FOLDER/export'",
    "EXPORT DATABASE '/tmp/reconvene-made-this'",
    "LOAD FROM '/etc/passwd' (file_format = 'csv', delim = ':') RETURN *",
    "LOAD FROM 'OUTSIDE/precious.txt' (file_format = 'csv') RETURN *",
    "LOAD FROM 'OUTSIDE/other.csv' RETURN *",
    "LOAD FROM 'http://127.0.0.1:1/x.csv' RETURN *",
    "ATTACH 'OUTSIDE/other.lbug' AS other (dbtype lbug)",
    "ATTACH 'FOLDER/new.lbug' AS other (dbtype lbug)",
    "INSTALL httpfs",
    "LOAD EXTENSION httpfs",
    "LOAD EXTENSION '/tmp/x.so'",
    "RETURN 1; CREATE (:Person {name: 'Eve'})",
    "RETURN 1; RETURN 2",
    "CALL threads = 100",
    "CALL timeout = 0",
]
WRONG = [
    "MATCH (p:Nobody) RETURN p",
    "MATCH (p:Person RETURN p",
    "SELECT * FROM Person",
    "RETURN nothing",
    "x" * 1000,
    "MATCH (p:Person) RETURN p.name.first",
]
TOO_MUCH = [
    "UNWIND range(1, 1000000000) AS x RETURN collect(x)",
    "RETURN size(rpad('x', 2000000000, 'y'))",
    "UNWIND range(1, 100000) AS x UNWIND range(1, 100000) AS y RETURN count(x + y)",
    "UNWIND range(1, 100000) AS x UNWIND range(1, 100000) AS y UNWIND range(1, 10000) AS z RETURN sum(x * y * z)",
]


def there(text: str, company: Path) -> str:
    outside = company.parent.parent / "outside"
    outside.mkdir(exist_ok=True)
    (outside / "precious.txt").write_text("precious words\n")
    (outside / "other.csv").write_text("precious,words\n")
    shutil.copyfile(company, outside / "other.lbug")
    return text.replace("FOLDER", str(company.parent)).replace("OUTSIDE", str(outside))


@pytest.mark.parametrize("text", part([*WRITES, *REACHES_OUT]))
def test_what_is_not_reading_is_refused_and_changes_nothing(text: str, opened: Opened, company: Path) -> None:
    text = there(text, company)
    before = snapshot(company.parent.parent)
    error = refused(opened(company), text)
    assert error.fault in ("refused", "query", "failed"), error.message
    assert error.message.startswith("company.lbug: ")
    assert "precious words" not in error.message
    assert snapshot(company.parent.parent) == before
    assert not Path("/tmp/reconvene-made-this").exists()
    assert not Path("/tmp/reconvene-made-this.csv").exists()
    assert opened(company).query("MATCH (p:Person) RETURN count(*)").rows == ((2,),)


@pytest.mark.parametrize("text", part(WRONG))
def test_a_wrong_query_is_told_in_the_databases_own_words(text: str, opened: Opened, company: Path) -> None:
    error = refused(opened(company), text)
    assert error.fault == "query"
    assert "exception" in error.message.lower()


@pytest.mark.parametrize("text", TOO_MUCH)
def test_what_does_not_end_or_needs_too_much_is_ended(text: str, opened: Opened, company: Path) -> None:
    before = snapshot(company.parent)
    assert refused(opened(company, QueryLimits(seconds=0.5)), text).fault in ("slow", "limit")
    assert snapshot(company.parent) == before


@pytest.mark.parametrize("level", ["bubblewrap", "landlock"])
def test_the_sandbox_keeps_it_in_at_each_level(
    level: str, company: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with boxed(level, tmp_path, monkeypatch) as box:
        source = GraphSource(str(company), box, QueryLimits(seconds=10))
        texts = [there(text, company) for text in REACHES_OUT[:12]]
        before = snapshot(company.parent.parent)
        for text in texts:
            error = refused(source, text)
            assert error.fault in ("refused", "query"), error.message
            assert snapshot(company.parent.parent) == before
        assert source.query("MATCH (p:Person) RETURN count(*)").rows == ((2,),)


def test_without_a_sandbox_it_is_not_opened(company: Path, box: Boxes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(levels, "_found", lambda path: levels.Level("none", lacks=("bubblewrap is not installed",)))
    error = refused(GraphSource(str(company), box), "RETURN 1")
    assert error.fault == "sandbox"
    assert "install bubblewrap" in error.hint


# --- changes ---------------------------------------------------------------------------------------------------------


def test_a_change_tells_what_the_database_shows_of_it(opened: Opened, company: Path) -> None:
    source = opened(company)
    made = source.change("MATCH (f:Firm) CREATE (:Person {name: 'Eve', age: 29})-[:WorksAt {since: 2024}]->(f)")
    assert made == Changes(nodes_created=1, relationships_created=1, properties_set=3)
    assert source.change("MATCH (p:Person) WHERE p.name <> 'Eve' SET p.age = 50") == Changes(properties_set=2)
    assert source.change("MATCH (p:Person {name: 'Ann'}) DETACH DELETE p") == Changes(
        nodes_deleted=1, relationships_deleted=1
    )
    assert source.change("MATCH (p:Person {name: 'Nobody'}) DELETE p") == Changes()
    assert source.change("CREATE NODE TABLE Town(name STRING PRIMARY KEY)") == Changes(tables_created=1)
    assert source.change("DROP TABLE Town") == Changes(tables_dropped=1)
    assert source.query("MATCH (p:Person) RETURN p.name, p.age ORDER BY p.name").rows == (("Bob", 50), ("Eve", 29))
    assert os.listdir(company.parent) == ["company.lbug"]


def test_a_change_keeps_the_rights_of_the_file(opened: Opened, company: Path) -> None:
    company.chmod(0o640)
    opened(company).change("CREATE (:Person {name: 'Eve'})")
    assert company.stat().st_mode & 0o777 == 0o640


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("CREATE (:Person {name: 'Eve'}); CREATE (:Person {name: 'Eve'})", "query"),
        ("CREATE (:Person {name: 'Eve'}); COPY (RETURN 1) TO 'FOLDER/made.csv'", "refused"),
        ("CREATE (:Person {name: 'Eve'}); UNWIND range(1, 100000) AS x UNWIND range(1, 100000) AS y "
         "RETURN count(x + y)", "slow"),
        ("CREATE (:Person {name: 'Ann'})", "query"),
        ("CREATE (:Nobody)", "query"),
        ("CREATE (:Person {name: 'Eve'}); INSTALL httpfs", "refused"),
    ],
)  # fmt: skip
def test_a_change_that_fails_in_the_middle_changes_nothing(
    text: str, fault: str, opened: Opened, company: Path
) -> None:
    before = snapshot(company.parent)
    with pytest.raises(SourceError) as caught:
        opened(company, QueryLimits(seconds=0.5)).change(there(text, company))
    assert caught.value.fault == fault, caught.value.message
    assert snapshot(company.parent) == before


def test_a_change_whose_process_dies_changes_nothing(company: Path, box: Boxes) -> None:
    class Dies:
        folder = staticmethod(box.folder)

        def run(self, module: str, words: Any, given: Any, bounds: Bounds, sight: Sight, **more: Any) -> Ended:
            done = box.run(module, words, given, bounds, sight, **more)
            assert done.answer
            return Ended(b"", -9, "crash")

    before = snapshot(company.parent)
    with pytest.raises(SourceError, match="Nothing was changed"):
        GraphSource(str(company), Dies()).change("CREATE (:Person {name: 'Eve'})")  # type: ignore[arg-type]
    assert snapshot(company.parent) == before


def test_while_another_program_has_it_open_it_is_busy(opened: Opened, company: Path) -> None:
    code = (
        "import fcntl, sys\nf = open(sys.argv[1], 'rb+')\nfcntl.lockf(f, fcntl.LOCK_EX)\n"
        "print('held', flush=True)\ninput()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code, str(company)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "held\n"
        assert refused(opened(company), "RETURN 1").fault == "busy"
        with pytest.raises(SourceError, match="another program has it open"):
            opened(company).change("CREATE (:Person {name: 'Eve'})")
        other.communicate("\n")
    assert opened(company).query("RETURN 1").rows == ((1,),)


def test_the_file_stays_locked_until_the_new_one_is_in_its_place(company: Path, box: Boxes) -> None:
    seen: list[str] = []
    code = "import fcntl, sys; f = open(sys.argv[1], 'rb+'); fcntl.lockf(f, fcntl.LOCK_EX | fcntl.LOCK_NB)"

    class Looks:
        folder = staticmethod(box.folder)

        def run(self, *words: Any, **more: Any) -> Ended:
            done = subprocess.run([sys.executable, "-c", code, str(company)], capture_output=True, text=True)
            seen.append(done.stderr.splitlines()[-1] if done.stderr else "it was free")
            return box.run(*words, **more)

    GraphSource(str(company), Looks()).change("CREATE (:Person {name: 'Eve'})")  # type: ignore[arg-type]
    assert "BlockingIOError" in seen[0]


def test_a_log_that_a_crash_left_is_read_and_stays_and_such_a_file_is_not_changed(
    opened: Opened, company: Path, tmp_path: Path
) -> None:
    code = (
        "import ladybug, os, sys\n"
        "d = ladybug.Database(sys.argv[1], max_db_size=2**30, buffer_pool_size=2**26, auto_checkpoint=False)\n"
        "c = ladybug.Connection(d)\nc.execute(\"CREATE (:Person {name: 'Eve', age: 1})\")\nos._exit(0)\n"
    )
    subprocess.run([sys.executable, "-c", code, str(company)], check=True)
    assert sorted(os.listdir(company.parent)) == ["company.lbug", "company.lbug.wal"]
    before = snapshot(company.parent)
    assert opened(company).query("MATCH (p:Person) RETURN count(*)").rows == ((3,),)
    with pytest.raises(SourceError, match="was not closed properly"):
        opened(company).change("CREATE (:Person {name: 'Zed'})")
    assert snapshot(company.parent) == before


@pytest.mark.parametrize("data", [b"LBUG", b"LBUG1" + bytes(10_000), b"KUZU" + bytes(100), b"not a graph at all"])
def test_a_file_that_is_no_graph_is_said_to_be_none(data: bytes, box: Boxes, tmp_path: Path) -> None:
    (tmp_path / "bad.lbug").write_bytes(data)
    error = refused(GraphSource(str(tmp_path / "bad.lbug"), box), "RETURN 1")
    assert error.fault in ("kind", "query", "failed"), error.message
    assert (tmp_path / "bad.lbug").read_bytes() == data
    assert not (tmp_path / "bad.lbug.wal").exists()
