"""What a citation names, opened: `plan.md:10-24`, `a.pdf p. 3`, `event 41`, `commit 1f0c22a`, `planner R3`, `talk 4`.

Only what belongs to the run of the scope opens.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from reconvene.app import queries
from reconvene.app.session import Session
from reconvene.app.views.talk_lines import told
from reconvene.companion import history_tools
from reconvene.companion.paging import page, paged, within
from reconvene.companion.tool_scope import DATA, Answer, Scope
from reconvene.companion.workspace_tools import text_of
from reconvene.errors import ReconveneError, UserError
from reconvene.material_ports import Document

_LINES = re.compile(r"(?P<path>.+?)(?::(?P<first>\d{1,9})(?:-(?P<last>\d{1,9}))?)?")
_OUTPUT = re.compile(r"(?P<agent>.+) R(?P<serial>\d{1,9})(?:\.(?P<step>\d{1,9}))?")
_PART_LINES = re.compile(r"lines? (\d+)(?:-(\d+))?")


def open_cite(scope: Scope, cite: str) -> Answer:
    """What it names, or a failed answer that says why it does not open."""
    try:
        return _opened(scope, cite.strip())
    except ReconveneError as error:
        return Answer(within(" ".join(filter(None, (error.message, error.hint)))), failed=True)


def _opened(scope: Scope, cite: str) -> Answer:
    kind, _, name = cite.partition(" ")
    if kind == "event" and name.isdecimal():
        return _event(scope, int(name))
    if kind == "commit":
        return history_tools.git_show(scope, {"commit": name})
    if kind == "talk" and name.isdecimal():
        return _talk(scope.engine.session(scope.run), int(name))
    for document in queries.documents(scope.engine, scope.run):
        if cite.startswith(f"{document.name} "):
            return _part(document, cite.removeprefix(f"{document.name} "), cite)
    named = _LINES.fullmatch(cite)
    if named is None:
        raise UserError(f"{cite!r} is no citation.")
    output = _OUTPUT.fullmatch(named["path"])
    text = _output(scope, output) if output else None
    if text is None:
        found = text_of(scope, named["path"])
        text = found.text if found is not None else f"{named['path']} is not a text."
    first = int(named["first"] or 1)
    lines = int(named["last"] or first) - first + 1 if named["first"] else len(text.split("\n"))
    shown = page(text, {"from_line": max(1, first), "lines": max(1, lines)}, numbered=True)
    rest = shown.rest if shown.rest.startswith(("Cut", "There is no")) else ""
    return Answer("\n".join(filter(None, (f"{cite} ({DATA})", shown.text, rest))), (cite,))


def _event(scope: Scope, seq: int) -> Answer:
    found = queries.events(scope.engine, scope.run, seq - 1, 1)
    if not found or found[0].seq != seq:
        raise UserError(f"There is no event {seq} in this run.")
    event = found[0]
    lines = [f"event {seq}: {event.type}, {event.at} ({DATA})"]
    lines += [f"{key}: {value}" for key, value in event.facts.items()]
    for name, digest in _contents(event.facts):
        text = scope.engine.log.artefact(digest).decode("utf-8", "replace")
        lines.append(f"\n{name}:\n{within(text, 4_000)}")
    return paged(lines[0], "\n".join(lines[1:]), {}, f"event {seq}")


_NAMED = ("arguments", "words")  # what an event says by digest, and is short


def _contents(facts: object) -> Iterator[tuple[str, str]]:
    if not isinstance(facts, dict):
        return
    for key in ("output", "result"):
        if isinstance(value := facts.get(key), dict) and isinstance(value.get("digest"), str):
            yield key, value["digest"]
    for key in _NAMED:
        if isinstance(value := facts.get(key), str) and value:
            yield key, value


def _talk(session: Session, number: int) -> Answer:
    entry = session.state.record.talk.get(number)
    if entry is None:
        raise UserError(f"There is no entry {number} in the talk of this run.")
    text = told(session.state, session.book, entry)
    return paged(
        f"talk {number}: {entry.kind} by {entry.role or 'a person'}, {entry.phase} ({DATA})", text, {}, f"talk {number}"
    )


def _part(document: Document, place: str, cite: str) -> Answer:
    for part in document.parts:
        if part.place == place:
            return paged(f"{cite} ({DATA})", part.text, {}, cite)
    if (wanted := _PART_LINES.fullmatch(place)) is not None:
        first, last = int(wanted[1]), int(wanted[2] or wanted[1])
        for part in document.parts:
            around = _PART_LINES.fullmatch(part.place)
            if around is not None and int(around[1]) <= first and last <= int(around[2] or around[1]):
                begin = first - int(around[1])
                lines = part.text.split("\n")[begin : begin + last - first + 1]
                return paged(f"{cite} ({DATA})", "\n".join(lines), {}, cite)
    places = ", ".join(part.place for part in document.parts[:20])
    raise UserError(f"{document.name} has no part {place!r}.", hint=f"There is: {places}")


def _output(scope: Scope, named: re.Match[str]) -> str | None:
    agent, serial, step = named["agent"], int(named["serial"]), int(named["step"] or 0)
    stands: Callable[[str], bool] = lambda verdict: verdict in ("accepted", "forced")  # noqa: E731
    found = [
        one.output
        for one in queries.attempts(scope.engine, scope.run)
        if (one.agent, one.serial, one.step) == (agent, serial, step) and one.output and stands(one.verdict)
    ]
    return scope.engine.log.artefact(found[-1]).decode("utf-8", "replace") if found else None
