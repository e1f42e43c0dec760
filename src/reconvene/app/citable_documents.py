"""The documents of a run that can be cited: those that it was given, and of folders that it was given as sources, what
agents read there. The latter as it was shown to them: the folder may be another one since.
"""

from __future__ import annotations

import json
from collections.abc import Iterable

from reconvene.app import given_material
from reconvene.app.engine import Engine
from reconvene.app.session import Session
from reconvene.core.facts.events import AnyEvent, CallEnded
from reconvene.core.facts.ids import digest_of
from reconvene.material_ports import Document
from reconvene.wire.shown_documents import read_back

_TOOL = "read_document"


def of_run(engine: Engine, session: Session, events: Iterable[tuple[int, AnyEvent]] | None = None) -> list[Document]:
    """`events`: of the run, where they were read already."""
    given = [*given_material.documents(session.state, session.book)]
    sources = given_material.sources(session.state, session.book)
    folders = {one.name for one in sources if one.kind == "folder"}
    if not folders:
        return given
    found: dict[str, Document] = {}
    for _, event in engine.log.read(session.state.run) if events is None else events:
        if isinstance(event, CallEnded) and event.tool == _TOOL and event.outcome == "done":
            name = _named(engine, event)
            shown = engine.log.artefact(event.result.digest).decode("utf-8", "replace")
            if name.partition(":")[0] in folders and (read := read_back(name, shown)) is not None:
                found[name] = _joined(found.get(name), read)
    return [*given, *found.values()]


def _named(engine: Engine, event: CallEnded) -> str:
    try:
        arguments = json.loads(engine.log.artefact(event.arguments))
    except ValueError:
        return ""
    name = arguments.get("name") if isinstance(arguments, dict) else None
    return name if isinstance(name, str) and ":" in name else ""


def _joined(before: Document | None, now: Document) -> Document:
    """What was read of it, call by call. What was read later is what counts."""
    parts = {part.place: part for one in (before, now) if one is not None for part in one.parts}
    digest = digest_of(json.dumps([[part.place, part.text] for part in parts.values()]).encode())
    return Document(now.name, now.media, digest, tuple(parts.values()), now.notes)
