"""The workspace and the documents of a run, as the companion reads and searches them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct

from reconvene.app import queries
from reconvene.companion.paging import listed, number, page, within, words
from reconvene.companion.tool_scope import DATA, Answer, Made, Scope
from reconvene.errors import UserError
from reconvene.language.closest import closest
from reconvene.material_ports import Document
from reconvene.search_ports import Kind

_WHERE: tuple[Kind, ...] = ("file", "document", "output", "talk")
_USUAL = 8  # passages
_OF_A_PASSAGE = 1_500  # bytes


class Text(Struct, frozen=True):
    """Something that can be read by lines. `places`: where its parts begin, and how they are cited."""

    text: str
    places: tuple[tuple[int, str], ...] = ()


def read_workspace_file(scope: Scope, given: Mapping[str, object]) -> Answer:
    path = words(given, "path")
    found = text_of(scope, path)
    if found is None:
        size = len(queries.file(scope.engine, scope.run, path))
        return Answer(f"{path} is not a text ({size:,} bytes).", (path,))
    shown = page(found.text, given, numbered=True)
    head = f"{path}, lines {shown.first}-{shown.last} of {shown.of} ({DATA})"
    text = "\n".join(filter(None, (within(head, 500), shown.text, shown.rest)))
    return Answer(text, _cites(path, found, shown.first, shown.last))


def _cites(path: str, found: Text, first: int, last: int) -> tuple[str, ...]:
    if last < first:
        return ()
    if not found.places:
        return (f"{path}:{first}-{last}" if last > first else f"{path}:{first}",)
    ends = [*(line for line, _ in found.places[1:]), last + 1]
    return tuple(f"{path} {place}" for (line, place), end in zip(found.places, ends) if line <= last and end > first)


def text_of(scope: Scope, path: str) -> Text | None:
    """A file of the workspace, or a document; None where it is no text."""
    known = [file.path for file in queries.files(scope.engine, scope.run)]
    if path in known:
        data = queries.file(scope.engine, scope.run, path)
        return None if b"\0" in data[:8000] else Text(data.decode("utf-8", "replace"))
    documents = queries.documents(scope.engine, scope.run)
    for document in documents:
        if document.name == path:
            return _joined(document)
    near = closest(path, [*known, *(one.name for one in documents)], 3)
    hint = f"Did you mean {', '.join(near)}?" if near else "list_workspace_files names them."
    raise UserError(f"There is no file or document {path!r}.", hint=hint)


def _joined(document: Document) -> Text:
    lines = [f"note: {note}" for note in document.notes]
    places = list[tuple[int, str]]()
    for part in document.parts:
        places.append((len(lines) + 1, part.place))
        lines += [f"[{part.place}]", *part.text.split("\n")]
    return Text("\n".join(lines), tuple(places))


def list_workspace_files(scope: Scope, given: Mapping[str, object]) -> Answer:
    below, after = words(given, "below").strip("/"), words(given, "after")
    lines = {
        file.path: f"{file.path}  {file.size:,} bytes, by {file.by or 'nobody'}, {file.at[:16]}"
        for file in queries.files(scope.engine, scope.run)
        if not below or file.path.startswith(f"{below}/")
    }
    for one in queries.documents(scope.engine, scope.run) if not below else ():
        lines.setdefault(one.name, f"{one.name}  document, {one.media}, {len(one.parts)} parts")
    names = sorted(name for name in lines if name > after)
    if not names:
        return Answer("There are no files" + (f" in {below}" if below else "") + (" after that." if after else "."))
    told = [lines[name] for name in names]
    return listed(f"files ({DATA})", told, len(told), lambda shown: f"after={names[shown - 1]!r}", names)


def search_workspace(scope: Scope, given: Mapping[str, object]) -> Answer:
    return _found(scope, given, _WHERE, meaning=False)


def vector_search(scope: Scope, given: Mapping[str, object]) -> Answer:
    answer = _found(scope, given, _WHERE, meaning=True)
    if scope.index is not None and not scope.index.model:
        return Answer(f"(No model for meanings is installed: words alone were compared.)\n{answer.text}", answer.cites)
    return answer


def _found(scope: Scope, given: Mapping[str, object], kinds: Sequence[Kind], *, meaning: bool) -> Answer:
    if scope.index is None:
        raise UserError("There is no index to search here.", hint="list_workspace_files names what can be read.")
    from reconvene.app.searching import find

    query, limit = words(given, "query"), number(given, "limit", _USUAL)
    found = find(scope.engine, scope.index, scope.run, query, kinds=kinds, limit=limit, meaning=meaning)
    if not found:
        return Answer(f"Nothing was found for {query!r}.")
    lines = [
        f"{one.cite}" + (f"  ({one.passage.heading})" if one.passage.heading else "") + "\n"
        f"{within(one.passage.text, _OF_A_PASSAGE)}\n"
        for one in found
    ]
    return listed(
        f"the best passages for {query!r} ({DATA})",
        lines,
        len(lines),
        lambda shown: "a narrower query",
        [one.cite for one in found],
    )


MADE: dict[str, Made] = {
    "read_workspace_file": read_workspace_file,
    "list_workspace_files": list_workspace_files,
    "search_workspace": search_workspace,
    "vector_search": vector_search,
}
