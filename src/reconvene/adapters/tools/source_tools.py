"""`sql` and `graph`: sources of data that are asked in their own language. Only `change_graph` changes anything.

That a query only reads is not decided here: the source refuses everything else.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import NamedTuple, Protocol

from msgspec.structs import asdict

from reconvene.adapters.tools import cutting
from reconvene.adapters.tools.offered import (
    Arguments,
    Brought,
    Offered,
    ToolFailed,
    in_thread,
    number,
    takes,
    text,
    whole,
    word,
)
from reconvene.language.counting import counted
from reconvene.material_ports import Description, Folder, Graph, Rows, Source, Table
from reconvene.ports import Assignment
from reconvene.tool_ports import ToolInfo, ToolResult

ASKING = ("list_sources", "describe_source", "query_source")
NAMES = (*ASKING, "change_graph")
_READ = "read it with list_documents, read_document and search_documents"
_ROWS = 100
_MOST_ROWS = 1_000
_LONGEST_CELL = 2_000
_SOURCE = text("The source, as list_sources names it.", "sales", least=1, most=200)


class Sources(Protocol):
    """The sources that an entry `sql` or `graph` names, by its options. UserError where there is none such."""

    def __call__(
        self, assignment: Assignment, entry: str, options: Mapping[str, object]
    ) -> Mapping[str, Source | Graph]: ...


class Given(NamedTuple):
    """A source, the entry that brought it, and whether it may be changed."""

    source: Source | Graph
    entry: str
    writable: bool


def brought(given: Mapping[str, Given], folders: Mapping[str, Folder], of: str, *, readable: bool) -> Brought:
    """All entries together: a model asks each of them by its name. `folders`: they are named, and read with the tools
    for documents; `readable`: whether the agent has those. `of`: the entry that brings what asks no source."""
    asking = _Asking(given, folders, readable)
    by_source = {name: one.entry for name, one in given.items()} | dict.fromkeys(folders, of)
    tools = [
        _offered(ToolInfo("list_sources", of, "Lists the sources of data that you may ask.", takes()), asking.list),
        _offered(
            ToolInfo(
                "describe_source",
                of,
                "Shows the tables of a source with their columns, types and numbers of rows; of a folder, its files.",
                takes("source", source=_SOURCE),
                by_source=by_source,
            ),
            asking.describe,
        ),
    ]
    if given:
        query = _offered(
            ToolInfo(
                "query_source",
                of,
                "Asks a source one question in its own language: SQL, or Cypher for a graph. Only reading is possible. "
                f"Gives at most {_MOST_ROWS:,} rows.",
                takes(
                    "source",
                    "query",
                    source=_SOURCE,
                    query=text("One statement.", "SELECT year, sum(amount) FROM sales GROUP BY year", least=1),
                    limit=whole(f"How many rows at most; {_ROWS} if you leave it out.", 20, most=_MOST_ROWS),
                ),
                by_source=by_source,
            ),
            asking.query,
        )
        tools.append(query)
    if any(one.writable for one in given.values()):
        change = ToolInfo(
            "change_graph",
            "graph",
            "Changes a graph with one statement in Cypher: all of it or nothing. Says what was changed.",
            takes(
                "source",
                "change",
                source=_SOURCE,
                change=text("One statement.", "CREATE (:Person {name: 'Ann'})", least=1),
            ),
            effects=True,
        )
        tools.append(_offered(change, asking.change))
    return Brought(tuple(tools))


def _offered(info: ToolInfo, function: Callable[[Arguments], ToolResult]) -> Offered:
    async def carry_out(arguments: Arguments) -> ToolResult:
        return await in_thread(function, arguments)

    return Offered(info, carry_out)


class _Asking:
    def __init__(self, given: Mapping[str, Given], folders: Mapping[str, Folder], readable: bool) -> None:
        self._given = given
        self._folders = {name: one for name, one in folders.items() if name not in given}
        self._how = _READ if readable else "you have no tools that read it"

    def list(self, arguments: Arguments) -> ToolResult:
        lines = [f"{name} ({one.source.kind}{'; may be changed' * one.writable})" for name, one in self._given.items()]
        return ToolResult("\n".join([*lines, *(f"{name} (folder; {self._how})" for name in self._folders)]))

    def describe(self, arguments: Arguments) -> ToolResult:
        name = word(arguments, "source")
        if name in self._folders:
            listing = self._folders[name].list()
            files = [f"  {name}:{one.name} ({counted(one.size, 'byte')})" for one in listing.entries]
            head = f"{name} (folder, {counted(len(files), 'file')}; {self._how})"
            shown = "\n".join([head, *files, *_notes(listing.notes)])
            return ToolResult(cutting.start_of(cutting.printable(shown), "list_documents names them all"))
        return ToolResult(_described(self._named(arguments).source.describe()))

    def query(self, arguments: Arguments) -> ToolResult:
        limit = number(arguments, "limit", _ROWS)
        return ToolResult(_table(self._named(arguments).source.query(word(arguments, "query"), limit)))

    def change(self, arguments: Arguments) -> ToolResult:
        one = self._named(arguments)
        if not one.writable or not hasattr(one.source, "change"):
            raise ToolFailed(f"{word(arguments, 'source')} can only be read.")
        found = asdict(one.source.change(word(arguments, "change")))
        notes = found.pop("notes")
        counts = {name: count for name, count in found.items() if count}
        told = ", ".join(f"{name.replace('_', ' ')}: {count:,}" for name, count in counts.items())
        return ToolResult("\n".join([told or "Nothing was changed.", *_notes(notes)]), counts=counts)

    def _named(self, arguments: Arguments) -> Given:
        name = word(arguments, "source")
        if name in self._folders:
            raise ToolFailed(f"{name} is a folder and answers no query; {self._how}.")
        if name not in self._given:
            there = ", ".join([*self._given, *self._folders])
            raise ToolFailed(f"There is no source {name[:100]!r}. There are: {there}.")
        return self._given[name]


def _described(description: Description) -> str:
    lines = [line for table in description.tables for line in _of_table(table)]
    shown = "\n".join([*lines, *_notes(description.notes)]) or "There are no tables."
    return cutting.start_of(cutting.printable(shown), "ask the source itself for the rest")


def _of_table(table: Table) -> list[str]:
    rows = "" if table.rows < 0 else f", {'more than ' * table.more}{counted(table.rows, 'row')}"
    ends = f", {', '.join(table.ends)}" if table.ends else ""
    columns = [f"  {one.name} {one.type}{' (key)' * one.key}" for one in table.columns]
    return [f"{table.name} ({table.kind}{rows}{ends})", *columns]


def _table(rows: Rows) -> str:
    """One line for each row, as JSON: nothing that stands in a cell looks like the end of one."""
    lines, room = [_line(rows.columns)], cutting.MOST - 2_000
    for at, row in enumerate(rows.rows):
        line = _line([cutting.line(cell, _LONGEST_CELL) if isinstance(cell, str) else cell for cell in row])
        room -= len(line) + 1
        if room < 0:
            lines.append(f"[cut: {counted(len(rows.rows) - at, 'more row')}; ask for less]")
            break
        lines.append(line)
    lines.append(f"[{counted(len(rows.rows), 'row')}]")
    return "\n".join([*lines, *_notes(rows.notes)])


def _line(cells: object) -> str:
    return json.dumps(cells, ensure_ascii=False, default=str)


def _notes(notes: object) -> list[str]:
    return [f"[note: {note}]" for note in notes] if isinstance(notes, list | tuple) else []
