"""What of a run can be searched: files as they are now, documents, outputs, what people said, events. And how each is
cut into cut_passages.

Reads the log and what it names, and nothing else of any other run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice

from msgspec import Struct

from reconvene.app import citable_documents, cited_places, cut_passages
from reconvene.app.engine import Engine
from reconvene.app.session import Session
from reconvene.app.views import written
from reconvene.app.views.talk_lines import told
from reconvene.core.facts.events import AnyEvent, CallEnded, CompanionSaid
from reconvene.core.facts.ids import digest_of
from reconvene.core.facts.state import TalkEntry
from reconvene.language.late_patterns import late
from reconvene.material_ports import Document
from reconvene.search_ports import Content, Cut
from reconvene.wire.event_json import to_json

# How contents are cut. The number goes up when one is cut otherwise: then it is indexed anew.
_TEXT = "text 1"
_PARTS = "parts 2"
_SAID = "said 1"
_EVENTS = "events 1"
CUTTING = f"{_TEXT}, {_PARTS}, {_SAID}, {_EVENTS}"

_STANDS = ("accepted", "forced")
_BINARY = 8_000  # bytes in which a zero byte is looked for
_LONGEST = 2_000_000  # bytes of a content that are read
_OF_A_VALUE = 400  # characters of what an event says under one key
_DIGEST = late(r"[0-9a-f]{32,64}")
_WORDS = late(r"(?<=[a-z0-9])(?=[A-Z])")
_NO_WORDS = ("seq", "type", "at", "claim", "scope", "digest", "key", "size", "workspace")


class Searchable(Struct, frozen=True):
    """`cut` is asked for some of the contents, or for none."""

    contents: list[Content]
    cut: Callable[[Content], Sequence[Cut]]


def of_run(engine: Engine, run: str) -> Searchable:
    session = engine.session(run)
    events = engine.log.read(run)[: session.state.seq]
    given = {one.digest: one for one in citable_documents.of_run(engine, session, events)}
    said = {**dict(_said(session)), **dict(_told_in_talk(engine, events))}
    appends = dict(_appends(engine, run, session.state.seq))
    contents = [
        *_files(session),
        *(Content("document", one.name, one.digest, one.name, _PARTS) for one in given.values()),
        *_outputs(events, session),
        *said,
        *appends,
    ]

    def cut(content: Content) -> Sequence[Cut]:
        if content.cut == _PARTS:
            return _parts(given[content.digest])
        if content.cut == _SAID:
            return [said[content]]
        if content.cut == _EVENTS:
            first, last = appends[content]
            return [of_event(engine, seq, event) for seq, event in events[first - 1 : last]]
        return _text(engine.log.artefact(content.digest))

    return Searchable(contents, cut)


# --- files and outputs ---


def _files(session: Session) -> Iterator[Content]:
    for path, version in sorted(session.state.files.items()):
        yield Content("file", path, version.digest, path, _TEXT)


def _outputs(events: Iterable[tuple[int, AnyEvent]], session: Session) -> Iterator[Content]:
    for one in written.attempts((event for _, event in events), session.book):
        if one.verdict in _STANDS and one.output:
            item = f" of {one.item}" if one.item else ""
            undone = ", taken back" if one.undone else ""
            name = f"{one.agent}, round {one.round} of {one.phase}{item}{undone}"
            step = f".{one.step}" if one.step else ""
            yield Content("output", name, one.output, f"{one.agent} R{one.serial}{step}", _TEXT)


def _text(data: bytes) -> list[Cut]:
    """None of what is no text."""
    if b"\0" in data[:_BINARY]:
        return []
    return cut_passages.cut(data[:_LONGEST].decode("utf-8", errors="replace"))


# --- documents ---


def _parts(document: Document) -> list[Cut]:
    """A part is cited where it stands, also where it is too long for one passage. Lines are cut as any text is."""
    if lines := cited_places.numbered(document):
        return cut_passages.cut_numbered(lines)
    found = (Cut(part.place, one.text, one.heading) for part in document.parts for one in cut_passages.cut(part.text))
    return list(islice(found, cut_passages.PASSAGES))


# --- talk ---


def _said(session: Session) -> Iterator[tuple[Content, Cut]]:
    """What people said and decided. What agents presented is among the outputs."""
    state, book = session.state, session.book
    for number, entry in sorted(state.record.talk.items()):
        if entry.kind == "output" or (entry.kind == "remark" and entry.number in state.record.withdrawn):
            continue
        heading, text = who_said(session, entry), told(state, book, entry)
        digest = digest_of(f"{heading}\n{text}".encode())
        yield Content("talk", "talk", digest, f"talk {number}", _SAID), Cut("", text[: cut_passages.MOST], heading)


def _told_in_talk(engine: Engine, events: Iterable[tuple[int, AnyEvent]]) -> Iterator[tuple[Content, Cut]]:
    """The conversation with the companion."""
    for seq, event in events:
        if isinstance(event, CompanionSaid):
            heading = f"the companion, to {event.by}" if event.role == "companion" else f"{event.by} to the companion"
            text = engine.log.artefact(event.text.digest).decode("utf-8", errors="replace")
            digest = digest_of(f"{heading}\n{text}".encode())
            yield Content("talk", "talk", digest, f"event {seq}", _SAID), Cut("", text[: cut_passages.MOST], heading)


def who_said(session: Session, entry: TalkEntry) -> str:
    remark = session.state.record.remarks[entry.number] if entry.kind == "remark" else None
    what = f"{remark.kind} {remark.id}" if remark else entry.kind
    about = f" on {remark.lines or remark.path or remark.target}" if remark and (remark.path or remark.target) else ""
    where = f"{entry.phase}, round {entry.n}" if entry.n else entry.phase
    return f"{what}{about} by {entry.role or 'a person'} ({where})"


# --- audit ---


def _appends(engine: Engine, run: str, head: int) -> Iterator[tuple[Content, tuple[int, int]]]:
    """The events of each append, named by its value in the chain: that stands for them and all before."""
    first = 1
    for last, value in engine.log.chain(run):
        if last > head:
            return
        digest = value.hex() or digest_of(f"{run} {last}".encode())  # made before there was a chain
        yield Content("audit", f"events {first}-{last}", digest, f"events {first}-{last}", _EVENTS), (first, last)
        first = last + 1


def of_event(engine: Engine, seq: int, event: AnyEvent) -> Cut:
    """An event in the words that it has; what it only names by digest is left out, but for what a tool was asked."""
    facts = to_json(seq, event)
    title = _WORDS.sub(" ", str(facts["type"])).lower()
    lines = [f"{key}: {value}" for key, value in _facts("", {k: v for k, v in facts.items() if k not in _NO_WORDS})]
    if isinstance(event, CallEnded):
        lines += [f"asked: {_short(engine, event.arguments)}", f"result: {_short(engine, event.result.digest)}"]
    return Cut(f"event {seq}", "\n".join([f"{title} ({event.at})", *lines])[: cut_passages.MOST], title)


def _facts(name: str, value: object) -> Iterator[tuple[str, str]]:
    match value:
        case Mapping():
            for key, inner in value.items():
                yield from _facts(str(key), inner)
        case list() | tuple():
            for inner in value:
                yield from _facts(name, inner)
        case None | "" | bool():
            return
        case _:
            text = " ".join(str(value)[:_OF_A_VALUE].split())
            if name not in _NO_WORDS and not _DIGEST.fullmatch(text):
                yield name, text


def _short(engine: Engine, digest: str) -> str:
    data = engine.log.artefact(digest)[:_OF_A_VALUE] if digest else b""
    return " ".join(data.decode("utf-8", errors="replace").split())
