"""What differs between two states of a run, for somebody who saw the open checkpoint of the first and not the second.

What happened, in order; then the question, the options and the shown files, as far as they differ. Lines for people.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from reconvene.app.line_diff import unified_diff
from reconvene.app.views import talk_lines
from reconvene.app.views.what_is_asked import asked
from reconvene.app.views.who import told
from reconvene.core.facts.book import Book
from reconvene.core.facts.events import CheckpointOpened, DecisionRecorded, RemarkAdded
from reconvene.core.facts.state import RunState, TalkEntry
from reconvene.core.person.approving import answers_of
from reconvene.core.shown.drafts import ENGINE

_MOST_HAPPENED = 12  # entries; the latest are kept
_LONGEST = 160  # characters of what somebody said
_MOST_LINES = 40  # of a diff


def difference(before: RunState, after: RunState, book: Book) -> tuple[str, ...]:
    was, now = before.world.open, after.world.open
    lines = list(_happened(before, after, book))
    if now is None:
        lines.append(f"run {after.run} is {after.status} now: nothing waits for a decision")
    elif was is not None and was.id != now.id:
        lines.append(f"open now: {where(after)}: {asked(now)}")
    elif was is not None:
        lines += _options(was, now)
    if was is not None and now is not None:
        if was.phase == now.phase and not was.attention and not now.attention:
            lines += _diff("the question", _as_file(was.prompt), _as_file(now.prompt))
        for path in dict.fromkeys((*was.show_files, *now.show_files)):
            lines += _diff(path, _content(before, book, path), _content(after, book, path))
    return tuple(lines)


def where(state: RunState) -> str:
    """`checkpoint C2 (review, round 1)`"""
    point, frame = state.world.open, state.world.top
    count = f", round {frame.round.n}" if frame.round else ""
    return f"checkpoint {point.id} ({point.phase}{count})" if point else "no checkpoint"


def _happened(before: RunState, after: RunState, book: Book) -> Iterator[str]:
    talk = after.record.talk
    fresh = range(len(before.record.talk) + 1, len(talk) + 1)
    if len(fresh) > _MOST_HAPPENED:
        yield f"… {len(fresh) - _MOST_HAPPENED} earlier entries: reconvene log {after.run} --after {before.seq}"
    for number in fresh[-_MOST_HAPPENED:]:
        yield _told(after, book, talk[number])
    for number in after.record.withdrawn:
        if number not in before.record.withdrawn:
            remark, by = after.record.remarks[number], after.record.withdrawn[number]
            said = _short(f"{told(remark.by, remark.user) or 'somebody'}: {remark.text}")
            yield f"{remark.id} was taken back{f' by {by}' if by else ''} ({said})"
    known = before.world.pending.approvals
    for one in after.world.pending.approvals if after.world.open is not None else ():
        if one not in known and (answers := answers_of(book, one)):
            what = _short(", ".join(f"{name}: {value}" for name, value in answers.items()))
            yield f"{told(one.by, one.user) or one.user} chose “{one.option}” with {what}"


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1].rstrip() + "…"


def _told(state: RunState, book: Book, entry: TalkEntry) -> str:
    text = _short(talk_lines.told(state, book, entry))
    who = _who(state, entry) or "somebody"
    match entry.kind:
        case "remark":
            remark = state.record.remarks[entry.number]
            return f"{who}: {text} [{remark.id}]"
        case "output":
            return f"{who} presented: {text}"
        case "answer" if entry.role == ENGINE:
            return f"set aside: {text}"
        case "answer":
            return f"{who} answered: {text}"
        case "decision":
            return f"{who} decided “{text}”"
        case _:
            return f"{who} {text}"


def _who(state: RunState, entry: TalkEntry) -> str:
    """A claimed name with who claims it."""
    made: Iterable[RemarkAdded | DecisionRecorded] = ()
    if entry.kind == "remark":
        made = (state.record.remarks[entry.number],)
    elif entry.kind == "decision":
        made = (one for one in state.record.decisions.values() if (one.at, one.by) == (entry.at, entry.role))
    return told(entry.role, next((one.user for one in made), ""))


def _options(was: CheckpointOpened, now: CheckpointOpened) -> Iterator[str]:
    old = {option.label: option for option in was.options}
    for option in now.options:
        before = old.pop(option.label, None)
        if before is None:
            yield f"there is an option “{option.label}” now"
        elif before.available != option.available:
            why = f": {option.why_not}" if option.why_not else ""
            yield f"“{option.label}” {'can be chosen now' if option.available else f'cannot be chosen any more{why}'}"
    yield from (f"there is no option “{label}” any more" for label in old)


def _content(state: RunState, book: Book, path: str) -> bytes | None:
    version = state.world.files.get(path)
    return book.read(version.digest) if version is not None else None


def _as_file(text: str) -> bytes:
    return f"{text.rstrip()}\n".encode()


def _diff(name: str, old: bytes | None, new: bytes | None) -> list[str]:
    lines = unified_diff(name, old, new).splitlines()
    cut = len(lines) - _MOST_LINES
    return [*lines[:_MOST_LINES], *([f"… {cut} more lines"] if cut > 0 else [])]
