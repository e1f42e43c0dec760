"""Which tools agents get, and what they reach. Loaded when the first agent with tools works."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING

from reconvene.errors import UserError
from reconvene.ports import Assignment, Listener
from reconvene.sandbox_ports import Sandbox

if TYPE_CHECKING:
    from contextlib import AbstractAsyncContextManager

    from reconvene.adapters.tools import Toolboxes
    from reconvene.material_ports import Box, Documents, Folder, Graph, Source, SourceAt
    from reconvene.tool_ports import Toolbox

_ASKED = {"sql": ("sqlite", "postgresql"), "graph": ("graph",)}


class LateToolboxes:
    """What makes tools ready, made itself when it is first needed. `hidden`: what programs must not see."""

    def __init__(self, sandbox: Sandbox, environ: Mapping[str, str], hidden: Callable[[], Iterable[str]]) -> None:
        self._sandbox = sandbox
        self._environ = environ
        self._hidden = hidden
        self._made: Toolboxes | None = None

    def open(
        self, assignment: Assignment, changed: Mapping[str, bytes | None], listener: Listener
    ) -> AbstractAsyncContextManager[Toolbox]:
        if self._made is None:
            self._made = self._make()
        return self._made.open(assignment, changed, listener)

    def _make(self) -> Toolboxes:
        from reconvene.adapters.box import Boxes
        from reconvene.adapters.documents import DocumentReader
        from reconvene.adapters.project.commit_files import CommitFiles
        from reconvene.adapters.tools import Reach, Toolboxes

        box = Boxes(self._sandbox)
        given = _Given(box, DocumentReader(box), self._environ)
        reach = Reach(CommitFiles(self._environ), given.documents, given.folders, given.sources)
        return Toolboxes(self._sandbox, self._environ, hidden=self._hidden, reach=reach)


class _Given:
    """The sources that a run was given, opened for whoever may ask them."""

    def __init__(self, box: Box, documents: Documents, environ: Mapping[str, str]) -> None:
        self._box = box
        self.documents = documents
        self._environ = environ

    def folders(self, assignment: Assignment, options: Mapping[str, object]) -> Mapping[str, Folder]:
        from reconvene.adapters.sources import open_source

        found: dict[str, Folder] = {}
        for one in assignment.sources:
            if one.kind == "folder":
                source = open_source(one.address, self._box, self.documents)
                assert source.kind == "folder"
                found[one.name] = source
        return found

    def sources(
        self, assignment: Assignment, entry: str, options: Mapping[str, object]
    ) -> Mapping[str, Source | Graph]:
        only = str(options.get("source") or "")
        wanted = [one for one in assignment.sources if one.kind in _ASKED[entry] and only in ("", one.name)]
        if not wanted:
            what = f"no source {only!r}" if only else f"no source for {entry}"
            raise UserError(f"this run was given {what}", hint="--datasource names one when a run is started")
        return {one.name: self._opened(one) for one in wanted}

    def _opened(self, one: SourceAt) -> Source | Graph:
        from reconvene import materials
        from reconvene.adapters.sources import open_graph, open_source

        address = materials.filled_in(one.address, self._environ)
        if one.kind == "graph":
            return open_graph(address, self._box)
        source = open_source(address, self._box, self.documents)
        if source.kind == "folder":
            raise UserError(f"{one.name} was a database, and is a folder now")
        return source
