"""What agents are given to work from: documents, and sources of data that are only read. Structs and Protocols.

A part of a document says where it stands, so that it can be cited. Whatever was cut, left out or found odd is a note,
in words. Nothing here does anything.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Literal, NamedTuple, Protocol

from msgspec import Struct

from reconvene.errors import UserError

MEBIBYTE = 1024 * 1024

# --- documents -------------------------------------------------------------------------------------------------------


class Part(Struct, frozen=True, omit_defaults=True):
    """place: how it is cited: `p. 3`, `block 12`, `Sheet1!A1:D40`, `lines 10-40`. head: so many of its first lines are
    the header of the table, repeated; they do not stand at the place."""

    place: str
    text: str
    head: int = 0


FOLDER = "inode/directory"  # what stands for a folder says what was left out of it, and has no text


class Document(Struct, frozen=True):
    name: str
    media: str  # what it is, not what its name says: text/csv, application/pdf, …
    digest: str  # of its bytes, as `core/facts/ids.py` makes it
    parts: tuple[Part, ...] = ()
    notes: tuple[str, ...] = ()


class Gathered(Struct, frozen=True):
    """The documents of a folder; `notes` names what was left out."""

    documents: tuple[Document, ...] = ()
    notes: tuple[str, ...] = ()


class Entry(Struct, frozen=True):
    """A file below a folder. name: its path there, with `/`, as it must be given to `read`."""

    name: str
    size: int  # bytes


class Listing(Struct, frozen=True):
    entries: tuple[Entry, ...] = ()
    notes: tuple[str, ...] = ()


class ReadLimits(Struct, frozen=True):
    """How much of one document is read, and what reading it may cost; of a folder, how much of it."""

    pages: int = 500
    rows: int = 20_000  # of a table; 5,000 of each sheet
    characters: int = 1_000_000
    bytes: int = 64 * MEBIBYTE  # of a file that must be read whole; text and CSV may be larger, and are cut
    unpacked: int = 256 * MEBIBYTE  # of what a file unpacks to
    seconds: float = 60.0
    memory: int = 1024 * MEBIBYTE
    files: int = 200
    folder_bytes: int = 256 * MEBIBYTE
    depth: int = 8
    folder_seconds: float = 300.0


DocumentFault = Literal[
    "missing",  # there is no such file, or it may not be read
    "outside",  # a link, a path that leads out of its folder, or no ordinary file
    "kind",  # nothing that can be read as text
    "damaged",
    "locked",  # encrypted
    "too_large",
    "suspicious",  # made to do harm: it unpacks to far too much, or declares entities
    "library",  # what reads it is not installed
    "limit",  # it took too long, or too much memory
    "failed",  # the library that reads it failed, or ended
]


class DocumentError(UserError):
    """A document that cannot be read: what is wrong with it, and what to do."""

    def __init__(self, message: str, *, fault: DocumentFault, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.fault = fault


class Documents(Protocol):
    """Reads files. Each call blocks until it is done or its time is up; any thread may call."""

    def read(self, path: str, *, within: str = "") -> Document:
        """DocumentError where it cannot be read. `within`: a folder that `path` is relative to and does not leave, not
        by a link either."""

    def list(self, folder: str, below: str = "") -> Listing:
        """The files of a folder and of the folders in it, as far as they may be read. `below`: only from there on."""

    def gather(self, folder: str) -> Gathered:
        """Everything in a folder that can be read."""


# --- sources ---------------------------------------------------------------------------------------------------------

Cell = None | bool | int | float | str


class Column(Struct, frozen=True):
    name: str
    type: str
    key: bool = False


class Table(Struct, frozen=True):
    """rows: -1 = not counted. more: there are more rows than that."""

    name: str
    kind: Literal["table", "view", "nodes", "relationships"]
    columns: tuple[Column, ...] = ()
    rows: int = -1
    more: bool = False
    ends: tuple[str, ...] = ()  # of relationships: `Person → Company`


class Description(Struct, frozen=True):
    tables: tuple[Table, ...] = ()
    notes: tuple[str, ...] = ()


class Rows(Struct, frozen=True):
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...] = ()
    notes: tuple[str, ...] = ()


class Changes(Struct, frozen=True):
    """What a change did to a graph, as the database itself shows it before and after."""

    nodes_created: int = 0
    nodes_deleted: int = 0
    relationships_created: int = 0
    relationships_deleted: int = 0
    properties_set: int = 0
    tables_created: int = 0
    tables_dropped: int = 0
    notes: tuple[str, ...] = ()


class QueryLimits(Struct, frozen=True):
    rows: int = 1_000
    bytes: int = 1 * MEBIBYTE  # of a result
    cell: int = 20_000  # characters
    seconds: float = 20.0  # for the database
    memory: int = 1024 * MEBIBYTE
    count: int = 1_000_000  # rows that `describe` counts to
    tables: int = 200
    copy: int = 1024 * MEBIBYTE  # of a file that has to be copied to be read or changed


SourceFault = Literal[
    "missing",  # there is no such file
    "kind",  # it is no source that can be used
    "setup",  # the address, the login or the role is not good enough
    "down",  # the database does not answer
    "busy",  # another program has it in hand
    "query",  # the database does not understand the query
    "refused",  # it would not only read, or reaches for something else
    "slow",  # the time was up
    "limit",  # it needs too much memory, or gives too much
    "library",
    "sandbox",  # it is only read in a sandbox, and there is none
    "failed",  # the database's library failed, or ended
]


class SourceError(UserError):
    """A source that cannot be used, or a query that it does not answer. Nothing was changed."""

    def __init__(self, message: str, *, fault: SourceFault, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.fault = fault


class Source(Protocol):
    """Data that is only read. Each call blocks until it is done or its time is up. SourceError where it fails."""

    @property
    def kind(self) -> Literal["sqlite", "postgresql", "graph"]: ...

    def describe(self) -> Description: ...

    def query(self, text: str, limit: int = 0) -> Rows:
        """One statement that reads. limit: at most so many rows; 0 = as many as the source's own limit says."""


class Graph(Source, Protocol):
    """A source that can also be changed, by a call of its own, which acts on the world."""

    def change(self, text: str) -> Changes:
        """All of it or nothing. Where it raises, the file is as it was."""


class Folder(Protocol):
    """A folder as a source. DocumentError where something in it cannot be read."""

    @property
    def kind(self) -> Literal["folder"]: ...

    def list(self, below: str = "") -> Listing: ...

    def read(self, name: str) -> Document: ...


class SourceAt(Struct, frozen=True):
    """A source as it is on record. `address` may name variables of the environment, and holds no password."""

    name: str
    kind: str
    address: str
    notes: tuple[str, ...] = ()  # why it could not be asked when the run was given it


# --- a box for what might do harm ------------------------------------------------------------------------------------


class Sight(NamedTuple):
    """What a program in a box finds beside itself, the system's libraries and its own folder."""

    readable: tuple[str, ...] = ()
    sockets: tuple[str, ...] = ()
    network: bool = False


NOTHING = Sight()


class Bounds(NamedTuple):
    seconds: float
    memory: int  # bytes of address space
    answer: int = 32 * MEBIBYTE  # bytes
    writes: int = 0  # bytes that any file of it may have


class Ended(NamedTuple):
    """answer: what it wrote to its output. cause: why there is none; "" = it ended by itself, with `code`."""

    answer: bytes
    code: int = 0
    cause: Literal["", "time", "memory", "flood", "crash"] = ""
    said: str = ""  # the end of its error output


class Box(Protocol):
    """Runs a module of this package in a process of its own: limited, and kept from all that is not its business."""

    def folder(self) -> AbstractContextManager[str]:
        """A private folder, empty, gone at the end."""

    def run(
        self,
        module: str,
        words: Sequence[str],
        given: int | bytes,
        bounds: Bounds,
        sight: Sight = NOTHING,
        *,
        folder: str = "",
        strict: bool = False,
    ) -> Ended:
        """Calls the module's `main(words)`. given: its standard input, an open file or bytes. folder: where it works,
        and may write. strict: AgentError where there is no sandbox."""
