"""Asks a PostgreSQL server, in a box. The server itself keeps the transaction from writing; it is always rolled back.

What a read-only transaction does not hold, files of the server, programs, other servers, is a matter of rights: a role
that has them is not accepted.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from reconvene.adapters.sources import addresses
from reconvene.adapters.sources.asked_child import serve
from reconvene.adapters.sources.cells import Taking, clean
from reconvene.adapters.sources.questions import Question, Refused, Reply
from reconvene.material_ports import Column, Description, Table

if TYPE_CHECKING:
    import psycopg

_CONNECTING = 5  # seconds
_TYPED = frozenset(("bool", "int2", "int4", "int8", "float4", "float8", "oid"))  # all else comes as text
_LOGIN = ("authentication", "does not exist", "no password", "pg_hba", "invalid ")
_OWN_ROLE = "Make a role that may only read: CREATE ROLE reader LOGIN PASSWORD '…'; GRANT pg_read_all_data TO reader;"
_RIGHTS = """
SELECT r.rolname, r.rolsuper FROM pg_catalog.pg_roles r
WHERE (r.rolsuper OR r.rolname IN ('pg_read_server_files', 'pg_write_server_files', 'pg_execute_server_program',
                                   'pg_signal_backend', 'pg_checkpoint', 'pg_create_subscription', 'pg_maintain')
       OR (r.rolreplication AND r.rolname IN (current_user, session_user)))
  AND (pg_catalog.pg_has_role(session_user, r.oid, 'MEMBER') OR pg_catalog.pg_has_role(current_user, r.oid, 'MEMBER'))
ORDER BY r.rolsuper DESC, r.rolname LIMIT 1
"""
# Functions that act outside of the transaction. Ordinary roles may call none of them, unless somebody let them.
_OUTWARD = """
SELECT p.oid::pg_catalog.regprocedure::text FROM pg_catalog.pg_proc p JOIN pg_catalog.pg_language l ON l.oid = p.prolang
WHERE pg_catalog.has_function_privilege(p.oid, 'EXECUTE') AND p.prorettype <> 'pg_catalog.trigger'::pg_catalog.regtype
  AND (l.lanname !~ '^(internal|c|sql)$' AND NOT l.lanpltrusted
       OR p.proname ~ ('^(dblink|pg_file_|pg_read_file|pg_read_binary_file|pg_ls_dir|pg_stat_file|lo_import|lo_export'
                       '|pg_reload_conf|pg_rotate_logfile|pg_logfile_rotate|pg_switch_wal|pg_switch_xlog|pg_promote'
                       '|pg_create_restore_point|pg_backup_start|pg_start_backup|pg_wal_replay_|http_|http$)'))
ORDER BY 1 LIMIT 1
"""
_TABLES = """
SELECT n.nspname, c.relname, c.relkind IN ('v', 'm'), c.reltuples::float8 FROM pg_catalog.pg_class c
JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND n.nspname !~ '^pg_' AND n.nspname <> 'information_schema'
  AND NOT c.relispartition AND pg_catalog.has_schema_privilege(n.oid, 'USAGE')
  AND pg_catalog.has_table_privilege(c.oid, 'SELECT')
ORDER BY 1, 2 LIMIT %s
"""
_COLUMNS = """
SELECT a.attname, pg_catalog.format_type(a.atttypid, a.atttypmod),
  EXISTS (SELECT FROM pg_catalog.pg_index i
          WHERE i.indrelid = a.attrelid AND i.indisprimary AND a.attnum = ANY (i.indkey))
FROM pg_catalog.pg_attribute a JOIN pg_catalog.pg_class c ON c.oid = a.attrelid
JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
WHERE n.nspname = %s AND c.relname = %s AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum
"""


def main(words: list[str]) -> None:
    serve(answer, _redacted)


def _redacted(text: str, question: Question) -> str:
    return addresses.redacted(text, question.place, addresses.read(question.place).secrets)


def answer(question: Question) -> Reply:
    import psycopg

    with _words():
        connection = _connected(question)
        try:
            _begin(connection, question.limits.seconds)
            if question.kind == "describe":
                return Reply(description=_described(connection, question))
            return Reply(rows=_queried(connection, question).rows())
        finally:
            with contextlib.suppress(psycopg.Error):
                if connection.info.transaction_status == psycopg.pq.TransactionStatus.INTRANS:
                    connection.execute("ROLLBACK")
            connection.pgconn.finish()  # a result that is still coming is not waited for


def _connected(question: Question) -> psycopg.Connection[Any]:
    import psycopg
    from psycopg.types.string import TextLoader

    try:
        connection = psycopg.connect(
            question.place, autocommit=True, connect_timeout=_CONNECTING, application_name="reconvene",
            prepare_threshold=None, client_encoding="utf8",
        )  # fmt: skip
    except psycopg.OperationalError as error:
        said = clean(" ".join(str(error).split()))
        if any(word in said for word in _LOGIN):
            raise Refused("setup", f"the login is refused ({said}).", "Check user, password and database.") from None
        raise Refused("down", f"it does not answer ({said}).", "Check host and port, and whether it is up.") from None
    except psycopg.Error:
        raise Refused("setup", "the address cannot be read.", "Check its options.") from None
    for info in connection.adapters.types:
        if info.name not in _TYPED:
            connection.adapters.register_loader(info.oid, TextLoader)
        if info.array_oid:
            connection.adapters.register_loader(info.array_oid, TextLoader)
    return connection


def _begin(connection: psycopg.Connection[Any], seconds: float) -> None:
    """Read-only, and so for good: from the first query on it cannot be made to write."""
    connection.execute("BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
    milliseconds = max(1, int(seconds * 1000))
    for name in ("statement_timeout", "lock_timeout", "idle_in_transaction_session_timeout"):
        connection.execute(f"SET LOCAL {name} = {milliseconds}")
    if connection.info.server_version >= 140000:
        with contextlib.suppress(Exception), connection.transaction():  # not on every system
            connection.execute("SET LOCAL client_connection_check_interval = 1000")
    row = connection.execute("SELECT pg_catalog.current_setting('transaction_read_only')").fetchone()
    if row != ("on",):
        raise Refused("setup", "the server does not keep to a read-only transaction.", "Connect without a pooler.")
    if found := connection.execute(_RIGHTS).fetchone():
        what = "is a superuser, or can become one" if found[1] else f"has the rights of {clean(str(found[0]))}"
        told = f"the role {what}: it could reach files and programs of the server, so nothing is asked with it."
        raise Refused("setup", told, _OWN_ROLE)
    if found := connection.execute(_OUTWARD).fetchone():
        name = clean(str(found[0]))
        told = f"the role may call {name}, which acts outside of the database, so nothing is asked with it."
        raise Refused("setup", told, f"REVOKE EXECUTE ON FUNCTION {name} FROM PUBLIC, or use another role.")


def _queried(connection: psycopg.Connection[Any], question: Question) -> Taking:
    text = question.text.encode()
    taking = Taking(_columns(connection, text), question.limit, question.limits)
    for row in connection.cursor().stream(text):
        if not taking.add(row):
            break
    return taking


def _columns(connection: psycopg.Connection[Any], text: bytes) -> list[str]:
    """What it would give. The server reads it as one statement, and refuses two; nothing is done yet."""
    from psycopg import errors, pq

    for result in (connection.pgconn.prepare(b"", text), connection.pgconn.describe_prepared(b"")):
        if result.status != pq.ExecStatus.COMMAND_OK:
            raise errors.error_from_result(result, encoding="utf-8")
    names = [result.fname(number) or b"" for number in range(result.nfields)]
    if not names:
        told = "it is only read, and this statement gives no rows, so it would do something else."
        raise Refused("refused", told, "Write one SELECT.")
    return [name.decode("utf-8", "replace") for name in names]


def _described(connection: psycopg.Connection[Any], question: Question) -> Description:
    limits = question.limits
    found = connection.execute(_TABLES, (limits.tables + 1,)).fetchall()
    notes = [f"There are more tables: only the first {limits.tables} are listed."] if len(found) > limits.tables else []
    tables: list[Table] = []
    for schema, name, is_view, estimate in found[: limits.tables]:
        rows = connection.execute(_COLUMNS, (schema, name)).fetchall()
        columns = tuple(Column(clean(row[0]), clean(row[1]), bool(row[2])) for row in rows)
        count, more = (-1, False) if is_view else _counted(connection, schema, name, estimate, limits.count)
        shown = name if schema == "public" else f"{schema}.{name}"
        tables.append(Table(clean(shown), "view" if is_view else "table", columns, count, more))
    return Description(tuple(tables), tuple(notes))


def _counted(
    connection: psycopg.Connection[Any], schema: str, name: str, estimate: float, most: int
) -> tuple[int, bool]:
    """A table that is known to be large is not gone through."""
    import psycopg
    from psycopg import sql

    if estimate > most:
        return most, True
    query = sql.SQL("SELECT count(*) FROM (SELECT 1 FROM {} LIMIT {}) AS counted").format(
        sql.Identifier(schema, name), sql.Literal(most + 1)
    )
    try:
        with connection.transaction():
            row = connection.execute(query).fetchone()
    except psycopg.errors.QueryCanceled:
        raise
    except psycopg.Error:  # of a table elsewhere that cannot be reached, say
        return -1, False
    count = int(row[0]) if row else 0
    return min(count, most), count > most


@contextlib.contextmanager
def _words() -> Iterator[None]:
    """The server's own words, under what they mean."""
    import psycopg

    try:
        yield
    except psycopg.Error as error:
        raise _fault(error) from None


def _fault(error: psycopg.Error) -> Refused:
    import psycopg
    from psycopg import errors

    said = clean(" ".join((error.diag.message_primary or str(error)).split())).rstrip(".")
    if "memory" in said:
        return Refused("limit", f"the result is too large ({said}).", "Ask for less.")
    match error:
        case errors.QueryCanceled() | errors.LockNotAvailable():
            return Refused("slow", f"the time was up ({said}).", "Ask for less, or for something narrower.")
        case errors.ReadOnlySqlTransaction():
            return Refused("refused", f"it is only read, and this would write ({said}).", "Write one SELECT.")
        case errors.InsufficientPrivilege():
            return Refused("refused", f"the role may not do that ({said}).", "Ask for something else.")
        case errors.ActiveSqlTransaction():
            return Refused("refused", f"it is only read ({said}).", "Write one SELECT.")
        case errors.SyntaxError() if "multiple commands" in said:
            return Refused("refused", "only one statement is taken at a time.", "Give each of them on its own.")
        case errors.OutOfMemory() | errors.ProgramLimitExceeded() | errors.DiskFull():
            return Refused("limit", f"it is too much for the server ({said}).", "Ask for less.")
        case psycopg.OperationalError() if error.sqlstate is None or error.sqlstate.startswith("57"):
            return Refused("down", f"the connection was lost ({said}).", "Try again.")
    return Refused("query", f"{said}.", "Look at the tables and columns with describe.")
