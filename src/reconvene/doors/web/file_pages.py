"""Files of a run: the tree of them, one of them in any version, rendered, as it is written, or against another version.

What agents wrote is never served as a document of ours: a raw file is plain text, whatever it is called, in a sandbox.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

from msgspec import Struct
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from reconvene.app import file_comments, queries
from reconvene.app.file_versions import Version, versions
from reconvene.doors.http.refusals import Missing
from reconvene.doors.web import rendered
from reconvene.doors.web.run_drawing import LONGEST, Around, around, bounded, drawn, number

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reconvene.app.engine import Engine
    from reconvene.app.views.comment_rows import Comment
    from reconvene.doors.http.service import Service

_PROSE = (".md", ".markdown", ".txt")
_RAW = {"content-security-policy": "sandbox; default-src 'none'; frame-ancestors 'none'"}

As = Literal["rendered", "source", "diff"]


class Row(Struct, frozen=True):
    """A line of the tree: a folder, or a file with its newest version."""

    depth: int
    name: str
    path: str = ""
    version: Version | None = None
    versions: int = 0
    gone: bool = False


class Seen(Struct, frozen=True):
    """One version of a file, as it is looked at. `number`: from 1 on, of all `versions`."""

    path: str
    versions: tuple[Version, ...]
    number: int
    data: bytes
    before: bytes | None
    comments: tuple[Comment, ...]

    @property
    def text(self) -> str | None:
        """None where it is no text."""
        if b"\0" in self.data[:8000]:
            return None
        return self.data.decode("utf-8", errors="replace")

    @property
    def version(self) -> Version:
        return self.versions[self.number - 1]


def routes(service: Service) -> list[Route]:
    async def files(asks: Request) -> Response:
        run = asks.path_params["run"]
        frame, found, project = await service.do(
            lambda engine: (around(engine, run), versions(engine, run), queries.standing(engine, run).project)
        )
        return drawn(asks, "runs/files.html", frame, "files", rows=tuple(tree(found)), project=project)

    async def file(asks: Request) -> Response:
        run, path = asks.path_params["run"], asks.query_params.get("path", "")
        which, against = number(asks, "version"), number(asks, "from")
        frame, seen = await service.do(lambda engine: (around(engine, run), look(engine, run, path, which, against)))
        return await run_in_threadpool(lambda: _drawn(asks, frame, seen, path, against))  # the engine is free meanwhile

    def _drawn(asks: Request, frame: Around, seen: Seen, path: str, against: int) -> Response:
        text, shown_as = seen.text, _as(asks, seen)
        prose = rendered.document(text or "") if shown_as == "rendered" and text is not None else None
        rows, more = _diff(seen) if shown_as == "diff" and text is not None else ((), 0)
        return drawn(
            asks, "runs/file.html", frame, "files", seen=seen, shown_as=shown_as, prose=prose, rows=rows, more=more,
            source=bounded(text) if shown_as == "source" and text is not None else None, against=against,
            code=rendered.code(text[:LONGEST], name=path) if shown_as == "source" and text is not None else None,
        )  # fmt: skip

    async def raw(asks: Request) -> Response:
        run, path, which = asks.path_params["run"], asks.query_params.get("path", ""), number(asks, "version")
        seen = await service.do(lambda engine: (around(engine, run), look(engine, run, path, which, 0))[1])
        return as_plain_text(seen.data)

    return [
        Route("/runs/{run}/files", files),
        Route("/runs/{run}/file", file),
        Route("/runs/{run}/raw", raw),
    ]


def as_plain_text(data: bytes) -> Response:
    """Whatever it is: no browser makes a page, a picture or a script of it."""
    return Response(data, headers=_RAW, media_type="text/plain; charset=utf-8")


def look(engine: Engine, run: str, path: str, which: int, against: int) -> Seen:
    """`which` 0: the newest; `against` 0: the version before it."""
    every = tuple(versions(engine, run, path)) if path else ()
    if not every:
        raise Missing(f"{run} has no file {path!r}.", hint=f"See what there is: /runs/{run}/files")
    which = which or len(every)
    if which > len(every) or against > len(every):
        raise Missing(f"{path!r} has {len(every)} versions in {run}.", hint="Choose one of the list.")
    read, one = engine.log.artefact, every[which - 1]
    other = every[(against or which - 1) - 1] if (against or which) > 1 or against else None
    before = read(other.digest) if other is not None and other.digest else None
    comments = file_comments.comments(engine, run, path) if which == len(every) else ()
    return Seen(path, every, which, read(one.digest) if one.digest else b"", before, comments)


def _as(asks: Request, seen: Seen) -> As:
    said = asks.query_params.get("as", "")
    for one in ("rendered", "source", "diff"):
        if said == one:
            return one
    return "rendered" if seen.path.casefold().endswith(_PROSE) else "source"


def _diff(seen: Seen) -> tuple[Sequence[rendered.Row], int]:
    rows, more = rendered.by_lines((seen.before or b"").decode("utf-8", errors="replace"), seen.text or "")
    return ([], 0) if all(row.same or row.skipped for row in rows) and not more else (rows, more)


def tree(found: Sequence[Version]) -> Iterator[Row]:
    """Folders first named, then what is in them; files that are gone stay, since their versions do."""
    newest: dict[str, Version] = {}
    counts: dict[str, int] = {}
    for one in found:
        newest[one.path] = one
        counts[one.path] = counts.get(one.path, 0) + 1
    shown: tuple[str, ...] = ()
    for path in sorted(newest, key=lambda path: ("/" in path, path)):
        *folders, name = path.split("/")
        same = 0
        while same < min(len(shown), len(folders)) and shown[same] == folders[same]:
            same += 1
        for depth in range(same, len(folders)):
            yield Row(depth, folders[depth] + "/")
        shown = tuple(folders)
        yield Row(len(folders), name, path, newest[path], counts[path], not newest[path].digest)
