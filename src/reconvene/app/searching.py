"""Searching a run: the index is brought up to date with the log first, then asked; what it finds can be cited.

Only what belongs to the run is found. The index is a projection, and correct whether or not anybody kept it up. The
pages of tools that nobody named come last: they speak of searching and reading in general, and so of whatever is asked.
"""

from __future__ import annotations

from collections.abc import Collection
from pathlib import PurePosixPath

from reconvene.app import tool_pages
from reconvene.app.engine import Engine
from reconvene.app.search_contents import CUTTING, of_run
from reconvene.search_ports import Content, Cut, Found, Hit, Kind, Passage, SearchIndex

_OF_A_PAGE = 4  # passages of a tool's page, at most as a rule


def refresh(engine: Engine, index: SearchIndex, run: str) -> None:
    """Index what of the run is not indexed yet; each content once, by its digest."""
    mark = _mark(engine, run)
    if index.mark(run) != mark:
        found = of_run(engine, run)
        index.refresh(run, mark, found.contents, found.cut)


def _mark(engine: Engine, run: str) -> str:
    """Stands for all that can be found of the run: its last event, the chain's value there, how contents are cut."""
    head = engine.log.head(run)
    return " ".join([str(head), *(value.hex() for _, value in engine.log.chain(run, head - 1)), CUTTING])


def find(
    engine: Engine,
    index: SearchIndex,
    run: str,
    query: str,
    *,
    kinds: Collection[Kind] = (),
    limit: int = 8,
    meaning: bool = True,
) -> list[Found]:
    """The best passages of the run, the best first. `meaning`: compare also what texts mean, not words alone."""
    refresh(engine, index, run)
    session = engine.session(run)
    made = tool_pages.pages(session.state, session.book)
    pages = {path for path in made if PurePosixPath(path).stem not in query}
    hits = index.find(run, query, kinds, limit + _OF_A_PAGE * len(pages), meaning)
    hits.sort(key=lambda hit: hit.content.kind == "file" and hit.content.name in pages)
    return [_found(hit) for hit in hits[:limit]]


def _found(hit: Hit) -> Found:
    content, part = hit.content, hit.cut
    if content.kind == "audit":
        return Found(Passage("audit", part.place, "", part.text, part.heading, content.digest), hit.score, part.place)
    passage = Passage(content.kind, content.name, part.place, part.text, part.heading, content.digest)
    return Found(passage, hit.score, cited(content, part))


def cited(content: Content, part: Cut) -> str:
    """`plan.md:10-24`; of a document, `report.pdf p. 3`."""
    if not part.place:
        return content.cite
    if content.kind == "document":
        return f"{content.cite} {part.place}"
    return f"{content.cite}:{part.place.removeprefix('lines ').removeprefix('line ')}"
