"""Opening what is cited: `plan.md:10-24`, `report.pdf p. 3`, `economist R7:1-20`, `talk 12`, `event 41`, `commit 3f9a`.

Reads what the run's log names, and nothing else.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from msgspec import Struct

from reconvene.app import citable_documents, cited_places, queries, record
from reconvene.app.engine import Engine
from reconvene.app.search_contents import of_event, who_said
from reconvene.app.session import Session
from reconvene.app.views import audit
from reconvene.app.views.read_model import Event
from reconvene.app.views.talk_lines import told
from reconvene.core.facts.events import AnyEvent, CheckpointOpened, TroubleMet
from reconvene.errors import UserError
from reconvene.language.late_patterns import late
from reconvene.search_ports import Kind

_EVENT = late(r"events? (\d{1,9})(?:-\d{1,9})?")
_COMMIT = late(r"commit ([0-9a-f]{4,64})")
_TALK = late(r"talk (\d{1,9})")
_REMARK = late(r"FB-\d{3,9}", 2)  # re.IGNORECASE
_LINES = late(r"(.+?):(\d{1,9})(?:-(\d{1,9}))?")
_OUTPUT = late(r"(\S+) (R\d{1,9})(?:\.(\d{1,4}))?")
_AT_LENGTH = ("question", "prompt", "text", "feedback", "message", "why")  # what events say in whole texts
_STANDS = ("accepted", "forced")
_OF_A_TEXT = 4_000  # characters of what an event names


class Opened(Struct, frozen=True):
    """`first`: the number of the text's first line, 0 where its lines have none."""

    cite: str
    kind: Kind
    name: str
    text: str
    first: int = 0
    recorded: Event | None = None  # of an event, all that is on record


def opened(engine: Engine, run: str, cite: str) -> Opened:
    """UserError where the run has no such thing."""
    asked = cite.strip()
    session = engine.session(run)
    if event := _EVENT.fullmatch(asked):
        return _event(engine, run, asked, int(event[1]))
    if commit := _COMMIT.fullmatch(asked):
        return _commit(engine, run, asked, commit[1])
    if _TALK.fullmatch(asked) or _REMARK.fullmatch(asked):
        return _said(session, asked)
    name, first, last = _lines(asked)
    if name in session.state.files or asked in session.state.files:
        path = name if name in session.state.files else asked
        text = engine.log.artefact(session.state.files[path].digest).decode("utf-8", errors="replace")
        return _part(asked, "file", path, text, *((first, last) if path == name else (0, 0)))
    if output := _OUTPUT.fullmatch(name):
        found = _output(engine, run, output[1], output[2], int(output[3] or 0))
        if found is not None:
            return _part(asked, "output", *found, first, last)
    if (document := _document(engine, session, asked)) is not None:
        return document
    hint = f"Citations look like plan.md:10-24, report.pdf p. 3, event 41. reconvene search {run} QUERY prints some."
    raise UserError(f"{run} has nothing that is cited as {asked!r}.", hint=hint)


def _lines(asked: str) -> tuple[str, int, int]:
    found = _LINES.fullmatch(asked)
    return (found[1], int(found[2]), int(found[3] or found[2])) if found else (asked, 0, 0)


def _part(cite: str, kind: Kind, name: str, text: str, first: int, last: int) -> Opened:
    lines = text.replace("\r\n", "\n").replace("\r", "\n").removesuffix("\n").split("\n")
    if not first:
        return Opened(cite, kind, name, "\n".join(lines), 1)
    if not 1 <= first <= min(last, len(lines)):
        hint = "It may have changed since it was cited."
        raise UserError(f"{name} has the lines 1-{len(lines)}, and not {first}-{last}.", hint=hint)
    return Opened(cite, kind, name, "\n".join(lines[first - 1 : last]), first)


def _event(engine: Engine, run: str, cite: str, number: int) -> Opened:
    found = queries.events(engine, run, number - 1, 1) if number else []
    if not found:
        raise UserError(f"{run} has no event {number}; its last is {engine.log.head(run)}.")
    ((_, event),) = engine.log.read(run, number - 1, 1)
    named = (f"{name}:\n{_beginning(engine, digest)}" for name, digest in _contents(found[0].facts))
    text = "\n\n".join([_in_words(engine, number, event), *named])
    return Opened(cite, "audit", f"event {number}", text, recorded=found[0])


def _in_words(engine: Engine, number: int, event: AnyEvent) -> str:
    """What happened in a sentence, then what was said at length. Of an event that has no sentence, its facts."""
    sentence = audit.sentence(event, engine.log.artefact)
    if not sentence:
        return of_event(engine, number, event).text
    (entry,) = audit.entries([(number, event)], engine.log.artefact)
    says = event.trouble if isinstance(event, TroubleMet) else event
    texts = [str(getattr(says, key, "")).strip() for key in _AT_LENGTH]
    parts = [entry.line(), *(text for text in texts if " ".join(text.split()) not in sentence)]
    if isinstance(event, CheckpointOpened):
        parts.append("It can be decided with: " + ", ".join(one.label for one in event.options if one.available))
    return "\n\n".join(parts)


def _contents(facts: Mapping[str, object]) -> Iterator[tuple[str, str]]:
    """What an event says by digest and a person wants to read: outputs, what tools were asked and gave, words."""
    for key in ("output", "result"):
        if isinstance(value := facts.get(key), dict) and isinstance(value.get("digest"), str):
            yield key, value["digest"]
    for key in ("arguments", "words"):
        if isinstance(value := facts.get(key), str) and value:
            yield key, value


def _beginning(engine: Engine, digest: str) -> str:
    text = engine.log.artefact(digest).decode("utf-8", "replace")
    return text if len(text) <= _OF_A_TEXT else f"{text[:_OF_A_TEXT]}\n[{len(text) - _OF_A_TEXT:,} more characters]"


def _commit(engine: Engine, run: str, cite: str, named: str) -> Opened:
    """Who made it and why, and what it changed."""
    name, commit, before = record.commit_named(engine, run, named)
    about = [f"by {commit.author}, {commit.at}, event {commit.seq}", commit.subject, commit.body]
    text = record.diff(engine, run, before, name) or "No file changed."
    return Opened(cite, "audit", f"commit {name}", "\n".join(filter(None, [*about, "", text])))


def _said(session: Session, cite: str) -> Opened:
    state, number = session.state, _TALK.fullmatch(cite)
    for at, entry in sorted(state.record.talk.items()):
        remark = state.record.remarks[entry.number].id if entry.kind == "remark" else ""
        if at == int(number[1]) if number else remark == cite.upper():
            return Opened(cite, "talk", who_said(session, entry), told(state, session.book, entry))
    raise UserError(f"{state.run} has no {cite}.", hint=f"reconvene show {state.run} tells what was said")


def _output(engine: Engine, run: str, agent: str, which: str, step: int) -> tuple[str, str] | None:
    serial = int(which[1:])
    for one in reversed(queries.attempts(engine, run)):
        if (one.agent, one.serial, one.step) == (agent, serial, step) and one.verdict in _STANDS and one.output:
            text = engine.log.artefact(one.output).decode("utf-8", errors="replace")
            return f"{one.agent}, round {one.round} of {one.phase}", text
    return None


def _document(engine: Engine, session: Session, cite: str) -> Opened | None:
    """All of it, or what stands at the place."""
    for one in sorted(citable_documents.of_run(engine, session), key=lambda one: -len(one.name)):
        if not cite.startswith(one.name):
            continue
        found = cited_places.standing(one, cite.removeprefix(one.name))
        if found is not None and found.missing:
            raise UserError(f"{one.name} {found.missing}.")
        if found is not None:
            return Opened(cite, "document", one.name, found.text, found.first)
    return None
