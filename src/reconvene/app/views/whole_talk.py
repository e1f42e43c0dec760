"""The whole talk of a run, as it was said: what agents presented, version by version, and what people said to it.

Read from the log, event by event, so that every question has the words it had when it was answered. What was sent back,
by whom and why, is part of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec import Struct
from msgspec.json import decode

from reconvene.core.facts import events as e
from reconvene.core.facts.book import Book
from reconvene.core.facts.evolve import evolve
from reconvene.core.facts.ids import parse_task
from reconvene.core.facts.state import EMPTY, RunState, TalkEntry
from reconvene.core.shown import conversation
from reconvene.core.shown.drafts import ENGINE
from reconvene.language.jinja.present import present


class Said(Struct, frozen=True):
    """One entry. kind: presented | sent back | said | answered | set aside | chose | came back | took back."""

    seq: int
    at: str
    kind: str
    who: str
    phase: str  # its title
    spot: str  # phase and item
    round: int
    text: str
    version: int = 0  # of what was presented here by this agent


def whole_talk(events: Iterable[tuple[int, e.AnyEvent]], book: Book) -> list[Said]:
    """Oldest first. Remarks that were taken back before anybody was shown them are left out."""
    state, found, versions = EMPTY, [], _Versions()
    for seq, event in events:
        before = len(state.record.talk)
        state = evolve(state, event)
        for number in range(before + 1, len(state.record.talk) + 1):
            entry = state.record.talk[number]
            if entry.kind != "output" or _speaks(book, entry):
                found.append(_said(seq, state, book, entry, versions))
        if isinstance(event, e.AttemptEnded):
            found += _sent_back(seq, state, book, event)
        elif isinstance(event, e.GapFound) and event.say:
            found.append(_entry(seq, event.at, "sent back", "", state, book, event.say))
    gone = state.record.withdrawn
    return [one for one, number in found if number not in gone or not number]


class _Versions:
    def __init__(self) -> None:
        self._count: dict[tuple[str, str], int] = {}

    def next(self, spot: str, agent: str) -> int:
        self._count[spot, agent] = self._count.get((spot, agent), 0) + 1
        return self._count[spot, agent]


_KINDS = {"remark": "said", "decision": "chose", "back": "came back", "undone": "took back"}


def _said(seq: int, state: RunState, book: Book, entry: TalkEntry, versions: _Versions) -> tuple[Said, int]:
    title = book.phase(entry.phase).title or entry.phase
    here = (title, entry.spot, entry.n)
    match entry.kind:
        case "output":
            version = versions.next(entry.spot, entry.role)
            return Said(seq, entry.at, "presented", entry.role, *here, _presented(book, entry), version), 0
        case "answer":
            lines = "\n".join(f"- {line}" for line in conversation.changes(state, book, entry))
            kind = "set aside" if entry.role == ENGINE else "answered"
            return Said(seq, entry.at, kind, "" if entry.role == ENGINE else entry.role, *here, lines), 0
        case "remark":
            remark = state.record.remarks[entry.number]
            return Said(seq, entry.at, "said", entry.role, *here, f"{remark.text} [{remark.id}]"), entry.number
        case _:
            return Said(seq, entry.at, _KINDS[entry.kind], entry.role, *here, entry.text), 0


def _speaks(book: Book, entry: TalkEntry) -> bool:
    """A record that the engine made itself is no part of the talk, unless it says in a line what it found."""
    agent = book.workflow.agents.get(entry.role)
    return agent is None or not agent.survey or "line" in _value(book, entry)


def _value(book: Book, entry: TalkEntry) -> dict[str, object]:
    value = decode(book.text(entry.ref.digest)) if entry.ref is not None and entry.ref.kind == "json" else None
    return value if isinstance(value, dict) else {}


def _presented(book: Book, entry: TalkEntry) -> str:
    if entry.ref is None:
        return ""
    agent = book.workflow.agents.get(entry.role)
    if agent is not None and agent.survey:
        return str(_value(book, entry)["line"])
    text = book.text(entry.ref.digest)
    return present(decode(text), 3).strip() if entry.ref.kind == "json" else text.strip()


def _entry(seq: int, at: str, kind: str, who: str, state: RunState, book: Book, text: str) -> tuple[Said, int]:
    frame = state.world.top
    n = frame.round.n if frame.round else frame.n
    title = book.phase(frame.phase).title or frame.phase
    return Said(seq, at, kind, who, title, state.world.spot, n, text), 0


def _sent_back(seq: int, state: RunState, book: Book, event: e.AttemptEnded) -> Iterator[tuple[Said, int]]:
    if event.verdict in ("rejected", "failed") and state.world.cursor:
        _, _, agent = parse_task(event.task)
        yield _entry(seq, event.at, "sent back", agent, state, book, event.why)


def as_markdown(run: str, said: Iterable[Said]) -> str:
    """All of it, a heading for each place."""
    parts, spot = [f"# The talk of {run}"], ""
    for one in said:
        if one.spot != spot:
            spot = one.spot
            where = f" ({one.spot})" if one.spot != one.phase.lower() else ""
            parts.append(f"## {one.phase}{where}")
        parts.append(_told(one))
    return "\n\n".join(parts) + "\n"


def _told(one: Said) -> str:
    who = one.who or ("the engine" if one.kind in ("sent back", "set aside") else "the person")
    at = one.at[:16].replace("T", " ")
    match one.kind:
        case "presented":
            return f"**{who}** presented, version {one.version} ({at}):\n\n{_quoted(one.text)}"
        case "said":
            return f"**{who}** said ({at}):\n\n{_quoted(one.text)}"
        case "answered" | "set aside":
            return f"**{who}** {one.kind} ({at}):\n\n{one.text}"
        case "chose":
            return f"**{who}** chose “{one.text}” ({at})"
        case "came back":
            return f"**{who}** came back here from {one.text} ({at})"
        case "took back":
            return f"**{who}** took this round back ({at})"
        case _:
            return f"Sent back{f' to **{one.who}**' if one.who else ''} ({at}):\n\n{_quoted(one.text)}"


def _quoted(text: str) -> str:
    return "\n".join(f"> {line}".rstrip() for line in text.splitlines()) or ">"
