"""`search` and `cite`: passages of a run that answer a question, and what is cited, opened."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from reconvene.doors.cli.common import COUNT, Call, command, note, open_run, put, put_json, say
from reconvene.doors.cli.text import clean, nearest, one_line
from reconvene.errors import UserError

if TYPE_CHECKING:
    from reconvene.search_ports import Found, Kind

_KINDS: dict[str, Kind] = {
    "files": "file",
    "documents": "document",
    "outputs": "output",
    "talk": "talk",
    "audit": "audit",
}
_SNIPPET = 240  # characters
_BEFORE = 60  # of them, before the first word that was asked for


@command("""
Examples:
  reconvene search job-1 "when does the contract end?"
  reconvene search job-1 "covenant" --in files,documents
  reconvene cite job-1 "plan.md:10-24"                    # open what was found
""")
@click.argument("run", required=False)
@click.argument("query", required=False)
@click.option("--in", "where", default="", metavar="KINDS", help=f"Only in some of {','.join(_KINDS)}.")
@click.option("--text-only", is_flag=True, help="Compare words alone, not what texts mean.")
@click.option("--limit", type=COUNT, default=8, metavar="N", help="At most N passages.")
def search(call: Call, run: str | None, query: str | None, where: str, text_only: bool, limit: int) -> int:
    """The passages of RUN that fit QUERY best: of files, documents, outputs, of what people said, and of its events.

    Words are compared, and what texts mean where a model for that is there. Each passage is printed with how it is
    cited. RUN may be left out when one run is open.
    """
    from contextlib import closing

    from reconvene.app import searching
    from reconvene.trust import is_foreign
    from reconvene.wiring import open_index

    if query is None:
        run, query = None, run
    if query is None or not query.strip():
        raise UserError("say what to look for", hint='as in: reconvene search job-1 "when does the contract end?"')
    kinds = _kinds(where)
    engine, name = open_run(call, run)
    with closing(open_index(call.home, foreign=is_foreign(call.place))) as index:
        found = searching.find(engine, index, name, query, kinds=kinds, limit=limit, meaning=not text_only)
        model, left_out = ("" if text_only else index.model), index.left_out
    if call.as_json:
        put_json({"run": name, "query": query, "model": model, "left_out": left_out, "found": [*map(_row, found)]})
        return 0
    for one in found:
        heading = f"  {one_line(one.passage.heading)}" if one.passage.heading else ""
        put(f"{one.cite}{heading}")
        say(f"  {_snippet(one, query)}")
    if not found:
        put("nothing was found")
    if left_out:
        note(f"({left_out})")
    if found:
        note(f"\nopen one with: {call.command('cite', name, found[0].cite)}")
    return 0


def _kinds(where: str) -> list[Kind]:
    names = [name.strip() for name in where.split(",") if name.strip()]
    for name in names:
        if name not in _KINDS:
            raise UserError(f"there is nothing to search named {name!r}", hint=nearest(name, _KINDS))
    return [_KINDS[name] for name in names]


def _row(one: Found) -> dict[str, object]:
    passage = one.passage
    return {
        "cite": one.cite,
        "kind": passage.kind,
        "name": passage.name,
        "place": passage.place,
        "heading": passage.heading,
        "text": passage.text,
        "score": round(one.score, 4),
    }


def _snippet(one: Found, query: str) -> str:
    """The passage on a line, from shortly before the first word that was asked for."""
    text = " ".join(line for line in one.passage.text.split("\n") if not line.startswith("#"))
    text = " ".join(text.split())
    small = text.lower()
    at = min((at for word in query.lower().split() if len(word) > 3 and (at := small.find(word)) >= 0), default=0)
    start = text.rfind(" ", 0, at - _BEFORE) + 1 if at > _BEFORE else 0
    return ("… " if start else "") + one_line(text[start:], _SNIPPET)


@command("""
Examples:
  reconvene cite job-1 "plan.md:10-24"
  reconvene cite job-1 "report.pdf p. 3"
  reconvene cite job-1 "economist R7:1-20"      # what an agent wrote in round R7
  reconvene cite job-1 "event 41"
  reconvene cite job-1 "commit 3f9a61c"
""")
@click.argument("run", required=False)
@click.argument("cited", required=False, metavar="CITATION")
def cite(call: Call, run: str | None, cited: str | None) -> int:
    """What CITATION names in RUN: lines of a file or an output, a place in a document, something said, an event,
    a commit.

    An event is told in words; --json has all that is on record of it.
    """
    from reconvene.app.citing import opened

    if cited is None:
        run, cited = None, run
    if cited is None:
        raise UserError("say what to open", hint='as in: reconvene cite job-1 "plan.md:10-24"')
    engine, name = open_run(call, run)
    found = opened(engine, name, cited)
    if call.as_json:
        put_json(found)
        return 0
    note(clean(found.name))
    lines = found.text.split("\n")
    wide = len(str(found.first + len(lines)))
    for number, line in enumerate(lines, found.first):
        put(f"{number:>{wide}}  {line}" if found.first else line)
    if found.recorded is not None:
        note(f"\nall that is on record of it: {call.command('cite', name, cited, '--json')}")
    return 0
