"""What a person gives a run to work from: documents, read once and kept with it, and sources of data, asked later.

A source's address is on record, so it holds no password: it names the variable that does.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

from reconvene.errors import UserError
from reconvene.home import holds_store
from reconvene.sandboxing import sandbox_for

if TYPE_CHECKING:
    from reconvene.material_ports import Document, Documents, Folder, Source

_VARIABLE = re.compile(r"\$(?:\{([A-Za-z_]\w*)\}|([A-Za-z_]\w*))")


@contextmanager
def reader(environ: Mapping[str, str]) -> Iterator[Documents]:
    """Reads documents in processes of their own."""
    from reconvene.adapters.box import Boxes
    from reconvene.adapters.documents import DocumentReader

    sandbox = sandbox_for(list, environ)
    try:
        yield DocumentReader(Boxes(sandbox))
    finally:
        sandbox.close()


def documents(path: str, environ: Mapping[str, str]) -> list[Document]:
    """The document, or those of a folder. What was left out of a folder is said by one that stands for the folder."""
    from reconvene.core.facts.ids import digest_of
    from reconvene.material_ports import FOLDER, Document

    require_no_home(path)
    with reader(environ) as documents:
        if not os.path.isdir(path):
            return [documents.read(path)]
        found = documents.gather(path)
    if not found.documents:
        said = " ".join(found.notes)
        raise UserError(f"{path} holds no document that can be read. {said}".strip())
    if not found.notes:
        return [*found.documents]
    name = f"{os.path.basename(os.path.abspath(path))}/"
    left_out = Document(name, FOLDER, digest_of("\n".join(found.notes).encode()), notes=found.notes)
    return [*found.documents, left_out]


def source(address: str, environ: Mapping[str, str], *, recorded: bool = False) -> dict[str, object]:
    """As it is put on record: a name, what it is, and where. A database that does not answer now may answer later, so
    that is only noted. `recorded`: it was made for a recording, below the home."""
    is_url = "://" in address
    if _is_postgres(address) and "@" in address and ":" in address.partition("://")[2].rpartition("@")[0]:
        secret = address.partition("://")[2].rpartition("@")[0].partition(":")[2]
        if not _VARIABLE.fullmatch(secret):
            hint = "Write postgresql://user:$DB_PASSWORD@host/name, and set DB_PASSWORD where the run is driven."
            raise UserError("The address of a source is on record: it must not hold a password.", hint=hint)
    where = address if is_url else os.path.abspath(address)
    if not is_url and not recorded:
        require_no_home(where)
    with opened(where, environ) as found:
        kind, notes = found.kind, _why_not(found)
    name = re.sub(r"[^\w.-]+", "_", os.path.basename(where.partition("?")[0].rstrip("/"))) or kind
    return {"name": name, "kind": kind, "address": where, **({"notes": notes} if notes else {})}


def _why_not(found: Source | Folder) -> list[str]:
    """Of a database elsewhere: why it cannot be asked. What lies here was looked at when it was opened."""
    from reconvene.material_ports import SourceError

    if found.kind != "postgresql":
        return []
    try:
        found.query("SELECT 1")
    except SourceError as error:
        return [error.message]
    return []


def _is_postgres(address: str) -> bool:
    from reconvene.adapters.sources.addresses import SCHEMES

    scheme, is_url, _ = address.partition("://")
    return bool(is_url) and scheme.lower() in SCHEMES


def require_no_home(path: str) -> None:
    """No run reads another one: what lies in a home is no material."""
    folder = os.path.realpath(path)
    while True:
        if holds_store(folder):
            hint = "Copy what you want to give to another folder: reconvene files RUN lists a run's files."
            what = f"{path} lies in {folder}, where runs are kept: nothing in it can be given to a run."
            raise UserError(what, hint=hint)
        above = os.path.dirname(folder)
        if above == folder:
            return
        folder = above


@contextmanager
def opened(address: str, environ: Mapping[str, str]) -> Iterator[Source | Folder]:
    from reconvene.adapters.box import Boxes
    from reconvene.adapters.documents import DocumentReader
    from reconvene.adapters.sources import open_source

    sandbox = sandbox_for(list, environ)
    try:
        box = Boxes(sandbox)
        yield open_source(filled_in(address, environ), box, DocumentReader(box))
    finally:
        sandbox.close()


def filled_in(address: str, environ: Mapping[str, str]) -> str:
    """With the values of the variables that it names."""
    if "://" not in address:
        return address
    from urllib.parse import quote

    def value(found: re.Match[str]) -> str:
        name = found[1] or found[2]
        if name not in environ:
            raise UserError(f"{address} names the variable {name}, which is not set.", hint=f"export {name}=…")
        return quote(environ[name], safe="")

    return _VARIABLE.sub(value, address)
