"""Sources of data that agents may ask: SQLite files, PostgreSQL databases, graph files, folders.

Nothing is parsed to see whether it only reads. The database refuses to write, the process that asks sees nothing but
the source, and may write nothing itself. What is enforced by what: docs/material.md.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from reconvene.material_ports import Bounds, Box, Documents, Folder, QueryLimits, Sight, Source, SourceError

if TYPE_CHECKING:
    from reconvene.adapters.sources.graph_source import GraphSource

_SORTS = "A source is a SQLite file, a graph file, a folder, or postgresql://USER:$DB_PASSWORD@HOST/DATABASE."
_EMPTY = (".db", ".sqlite", ".sqlite3", ".db3")  # a database without tables is an empty file


def open_source(address: str, box: Box, documents: Documents, limits: QueryLimits | None = None) -> Source | Folder:
    """By what it is. Nothing is connected to, and of a file only the first bytes are read."""
    from reconvene.adapters.sources.addresses import SCHEMES

    scheme, is_url, rest = address.partition("://")
    if is_url and scheme.lower() in SCHEMES:
        from reconvene.adapters.sources.postgres_source import PostgresSource

        return PostgresSource(scheme.lower() + "://" + rest, box, limits)
    if is_url and scheme.lower() not in ("sqlite", "file"):
        shown = scheme if scheme.replace("+", "").isalnum() and len(scheme) < 30 else "This"
        raise SourceError(f"{shown}:// is not supported as a source.", fault="kind", hint=_SORTS)
    path = address
    if is_url:
        path = rest.removeprefix("localhost")
        path = path if scheme.lower() == "file" else path.removeprefix("/")
    return _of_path(path, box, documents, limits)


def open_graph(path: str, box: Box, limits: QueryLimits | None = None) -> GraphSource:
    from reconvene.adapters.sources.graph_source import GraphSource

    return GraphSource(path, box, limits)


def _of_path(path: str, box: Box, documents: Documents, limits: QueryLimits | None) -> Source | Folder:
    from reconvene.adapters.sources.folder_source import FolderSource
    from reconvene.adapters.sources.graph_source import MAGIC as GRAPH
    from reconvene.adapters.sources.sqlite_source import MAGIC as SQLITE
    from reconvene.adapters.sources.sqlite_source import SqliteSource

    name = os.path.basename(path.rstrip("/")) or path
    if "\0" in path or not os.path.exists(path):
        raise SourceError(f"There is no file or folder {name!r}.", fault="missing", hint=_SORTS)
    if os.path.isdir(path):
        return FolderSource(path, documents)
    head = _head(path, name, box)
    if head == SQLITE or (not head and name.lower().endswith(_EMPTY)):
        return SqliteSource(path, box, limits)
    if head.startswith(GRAPH):
        return open_graph(path, box, limits)
    raise SourceError(f"{name} is neither a SQLite file nor a graph file.", fault="kind", hint=_SORTS)


def _head(path: str, name: str, box: Box) -> bytes:
    """Its first bytes. Another process looks: to close a database here would drop the locks that this one may hold."""
    if not os.path.isfile(path):
        raise SourceError(f"{name} is no ordinary file.", fault="kind", hint=_SORTS)
    real = os.path.realpath(path)
    ended = box.run("reconvene.adapters.sources.head_child", (real,), b"", Bounds(30.0, 2**30), Sight((real,)))
    if ended.cause:
        why = ended.said.splitlines()[-1:] or [f"looking at it ended with {ended.cause} ({ended.code})"]
        raise SourceError(
            f"{name} cannot be read: {why[0]}.", fault="missing", hint="Change its rights, or give a copy."
        )
    return ended.answer
