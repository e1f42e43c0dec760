"""Asks a graph file, in a box, or changes a copy of one. The library's own read-only mode still writes files (COPY …
TO, EXPORT, CHECKPOINT) and reads others (LOAD FROM): the box is what keeps it in, and it may write nothing."""

from __future__ import annotations

import contextlib
import os
import warnings
from collections.abc import Iterator
from typing import Any, NamedTuple

from reconvene.adapters.sources.asked_child import serve
from reconvene.adapters.sources.cells import Taking, clean
from reconvene.adapters.sources.questions import Question, Refused, Reply
from reconvene.material_ports import MEBIBYTE, Changes, Column, Description, QueryLimits, Table

POOL = 256 * MEBIBYTE
_THREADS = 2
_OTHER_FILES = ("cannot open file", "no such file", "no file found", "permission denied", "file system")
_COMPARED = 50_000  # nodes and relationships that are looked at one by one

Connection = Any  # of the library, which has no types


def main(words: list[str]) -> None:
    serve(answer)


def answer(question: Question) -> Reply:
    warnings.simplefilter("ignore")
    with _words(question.kind == "change"):
        connection, database = _opened(question)
        match question.kind:
            case "describe":
                return Reply(description=_described(connection, question.limits))
            case "query":
                return Reply(rows=_queried(connection, question).rows())
        changes = _changed(connection, question)
        connection.execute("CHECKPOINT")
        connection.close()
        database.close()
        if os.path.exists(question.place + ".wal"):
            raise Refused("failed", "the change could not be written as a whole.")
        return Reply(changes=changes)


def _opened(question: Question) -> tuple[Connection, Any]:
    import ladybug

    database = ladybug.Database(
        question.place,
        read_only=question.kind != "change",
        buffer_pool_size=POOL,
        max_num_threads=_THREADS,
        max_db_size=question.most,
    )
    connection = ladybug.Connection(database)
    connection.set_query_timeout(max(1, int(question.limits.seconds * 1000)))
    return connection, database


def _queried(connection: Connection, question: Question) -> Taking:
    statement = connection.prepare(question.text)  # refuses several
    if not statement.is_success():
        raise RuntimeError(statement.get_error_message())
    result = connection.execute(statement)
    names = result.get_column_names()
    if not names:
        raise Refused("query", "the statement gives no rows.", "Write MATCH … RETURN ….")
    taking = Taking(names, question.limit, question.limits)
    while result.has_next():
        if not taking.add([_plain(value) for value in result.get_next()]):
            break
    return taking


def _plain(value: object) -> object:
    """Nodes and relationships without the database's own numbers."""
    match value:
        case dict():
            own = {str(key): _plain(inner) for key, inner in value.items() if not str(key).startswith("_")}
            if "_LABEL" not in value:
                return own
            # a node without a label in the query also names the properties of others
            return {"label": value["_LABEL"], **{key: inner for key, inner in own.items() if inner is not None}}
        case list():
            return [_plain(inner) for inner in value]
    return value


class _Shape(NamedTuple):
    nodes: tuple[str, ...]
    relationships: tuple[str, ...]


def _shape(connection: Connection) -> _Shape:
    rows = sorted((str(row[1]), str(row[2])) for row in _all(connection, "CALL show_tables() RETURN *"))
    return _Shape(
        tuple(name for name, kind in rows if kind == "NODE"), tuple(name for name, kind in rows if kind == "REL")
    )


def _all(connection: Connection, text: str) -> list[list[Any]]:
    found: list[list[Any]] = connection.execute(text).get_all()
    return found


def _described(connection: Connection, limits: QueryLimits) -> Description:
    shape = _shape(connection)
    tables: list[Table] = []
    for name in [*shape.nodes, *shape.relationships][: limits.tables]:
        is_node = name in shape.nodes
        info = _all(connection, f"CALL table_info({_text(name)}) RETURN *")
        keyed = len(info[0]) > 4 if info else False
        columns = tuple(Column(clean(row[1]), clean(str(row[2])), bool(keyed and is_node and row[4])) for row in info)
        pattern = f"(n:{_name(name)})" if is_node else f"()-[n:{_name(name)}]->()"
        count = int(_all(connection, f"MATCH {pattern} RETURN count(*)")[0][0])
        ends: tuple[str, ...] = ()
        if not is_node:
            joined = _all(connection, f"CALL show_connection({_text(name)}) RETURN *")
            ends = tuple(f"{clean(row[0])} → {clean(row[1])}" for row in joined)
        kind = "nodes" if is_node else "relationships"
        tables.append(Table(clean(name), kind, columns, min(count, limits.count), count > limits.count, ends))  # type: ignore[arg-type]
    more = len(shape.nodes) + len(shape.relationships) > limits.tables
    return Description(tuple(tables), (f"Only the first {limits.tables} tables are listed.",) if more else ())


def _name(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def _text(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


# --- changes ---------------------------------------------------------------------------------------------------------


class _Counted(NamedTuple):
    """nodes, relationships: how many; each: by their number in the database, with their properties, None = too many."""

    shape: _Shape
    nodes: int
    relationships: int
    each: tuple[dict[str, dict[str, object]], dict[str, dict[str, object]]] | None


def _counted(connection: Connection) -> _Counted:
    shape = _shape(connection)
    nodes = _count(connection, "MATCH (n) RETURN count(*)") if shape.nodes else 0
    relationships = _count(connection, "MATCH ()-[r]->() RETURN count(*)") if shape.relationships else 0
    if nodes + relationships > _COMPARED:
        return _Counted(shape, nodes, relationships, None)
    each = (
        _each(connection, "MATCH (n) RETURN n") if nodes else {},
        _each(connection, "MATCH ()-[r]->() RETURN r") if relationships else {},
    )
    return _Counted(shape, nodes, relationships, each)


def _count(connection: Connection, text: str) -> int:
    return int(_all(connection, text)[0][0])


def _each(connection: Connection, text: str) -> dict[str, dict[str, object]]:
    found: dict[str, dict[str, object]] = {}
    for (one,) in _all(connection, text):
        key = f"{one['_LABEL']} {one['_ID']} {one.get('_SRC')} {one.get('_DST')}"
        found[key] = {name: value for name, value in one.items() if not name.startswith("_") and value is not None}
    return found


def _changed(connection: Connection, question: Question) -> Changes:
    before = _counted(connection)
    connection.execute(question.text)
    after = _counted(connection)
    tables = {*before.shape.nodes, *before.shape.relationships}, {*after.shape.nodes, *after.shape.relationships}
    created, dropped = len(tables[1] - tables[0]), len(tables[0] - tables[1])
    if before.each is None or after.each is None:
        return Changes(
            nodes_created=max(0, after.nodes - before.nodes),
            nodes_deleted=max(0, before.nodes - after.nodes),
            relationships_created=max(0, after.relationships - before.relationships),
            relationships_deleted=max(0, before.relationships - after.relationships),
            tables_created=created,
            tables_dropped=dropped,
            notes=("The graph is large: only differences of totals are counted, and properties are not.",),
        )
    (nodes, links), (new_nodes, new_links) = before.each, after.each
    return Changes(
        nodes_created=len(new_nodes.keys() - nodes.keys()),
        nodes_deleted=len(nodes.keys() - new_nodes.keys()),
        relationships_created=len(new_links.keys() - links.keys()),
        relationships_deleted=len(links.keys() - new_links.keys()),
        properties_set=_properties(nodes, new_nodes) + _properties(links, new_links),
        tables_created=created,
        tables_dropped=dropped,
    )


def _properties(before: dict[str, dict[str, object]], after: dict[str, dict[str, object]]) -> int:
    """Those that have another value now; of what is new, all that it has."""
    return sum(
        sum(old.get(name) != new.get(name) for name in old.keys() | new.keys())
        for key, new in after.items()
        for old in (before.get(key, {}),)
    )


@contextlib.contextmanager
def _words(changes: bool) -> Iterator[None]:
    """The database's own words, under what they mean."""
    try:
        yield
    except RuntimeError as error:
        said = clean(" ".join(str(error).split()))[:500].rstrip(".")
        raise _fault(said, changes) from None


def _fault(said: str, changes: bool) -> Refused:
    low = said.lower()
    if "interrupted" in low or "timeout" in low:
        return Refused("slow", "the time was up.", "Ask for less, or for something narrower.")
    if "bad_alloc" in low or "buffer manager" in low or "cannot allocate" in low:
        return Refused("limit", f"it needs too much memory ({said}).", "Ask for less, or for something narrower.")
    if "multiple statements" in low:
        return Refused("refused", "only one statement is taken at a time.", "Give each of them on its own.")
    if "read-only" in low or "read only" in low or "cannot write" in low or "checkpoint failed" in low:
        return Refused("refused", f"it is only read, and this would write ({said}).", "Write MATCH … RETURN ….")
    if any(word in low for word in _OTHER_FILES):
        return Refused("refused", f"it sees no other file ({said}).", "Ask only for what is in the graph.")
    if "extension" in low:
        return Refused("refused", f"extensions cannot be used ({said}).", "Ask without them.")
    if "not a valid" in low or "storage version" in low or "corrupt" in low or "magic" in low:
        return Refused("kind", f"the file is damaged, or of another version of the database ({said}).")
    return Refused("query", f"{said}.", "" if changes else "Look at the tables with describe.")
