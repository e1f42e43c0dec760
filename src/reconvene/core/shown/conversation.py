"""The talk replayed: which of it a task is shown, and how it reads.

Shown is what was said at this spot and at those the person went back from, up to a number of words; the oldest is left
out first, the person's own words of this spot never. What is chosen is settled when the step starts and kept in its
event, so that a resumed run tells an agent the same. Noting what is said is `talk`'s business.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from reconvene.core.facts.book import Book
from reconvene.core.facts.round import StepAt
from reconvene.core.facts.state import RunState, TalkEntry
from reconvene.core.shown.drafts import ENGINE, is_around, plain_question, told

WORD = "conversation"  # in a step's `reads`
MOST_WORDS = 3000
_LETTERS = 8  # so many characters count as a word, so that a text without blanks is not one word
_PERSON = "the person"


class Replay(Struct, frozen=True):
    entries: tuple[int, ...] = ()  # numbers in the record's talk, oldest first
    left_out: int = 0


def replay(state: RunState, book: Book) -> Replay:
    """What a step that starts now is shown. Nothing where nobody has presented anything here yet."""
    here = state.world.spot
    mine = list(_thread(state, here))
    talk = state.record.talk
    presented = [number for number in mine if talk[number].kind == "output"]
    if not presented:
        return Replay()
    found = sorted({*mine, *(number for spot in _left(state, here) for number in _thread(state, spot))})
    found = [number for number in found if not _is_edit(state, talk[number]) and not _is_gone(state, talk[number])]
    words = {number: _words(tell(state, book, number)) for number in found}
    always = {number for number in found if talk[number].spot == here and talk[number].kind != "output"}
    always.add(presented[0])  # the newest: it is what is talked about
    room = MOST_WORDS - sum(words[number] for number in always)
    kept = set(always)
    for number in reversed(found):
        if number in always:
            continue
        room -= words[number]
        if room < 0:
            break
        kept.add(number)
    return Replay(tuple(number for number in found if number in kept), len(found) - len(kept))


def _thread(state: RunState, spot: str) -> Iterator[int]:
    """What was said at a spot, newest first."""
    thread = state.record.threads.get(spot)
    number = thread.last if thread else 0
    while number:
        yield number
        number = state.record.talk[number].before


def thread(state: RunState, spot: str) -> list[TalkEntry]:
    """What was said at a spot and not taken back, oldest first."""
    entries = [state.record.talk[number] for number in _thread(state, spot)][::-1]
    return [entry for entry in entries if not _is_gone(state, entry)]


def _left(state: RunState, here: str) -> list[str]:
    return [
        spot
        for spot, found in state.record.threads.items()
        if found.left and spot != here and is_around(found.around, here)
    ]


def _is_edit(state: RunState, entry: TalkEntry) -> bool:
    """An edit is shown with its diff, among the remarks."""
    return entry.kind == "remark" and state.record.remarks[entry.number].kind == "edit"


def _is_gone(state: RunState, entry: TalkEntry) -> bool:
    """A remark that was taken back before anybody was shown it."""
    return entry.kind == "remark" and entry.number in state.record.withdrawn


def _words(text: str) -> int:
    return max(len(text.split()), len(text) // _LETTERS)


# --- in a prompt ---


def log(state: RunState, book: Book, step: StepAt) -> str:
    """The talk as the step is shown it, without what the person said last."""
    last = set(latest(state, step))
    told_ = [tell(state, book, number) for number in step.talk if number not in last]
    if not told_:
        return ""
    if step.untold:
        told_.insert(0, f"… {step.untold} earlier {'entries' if step.untold > 1 else 'entry'} left out")
    return "\n\n".join(["## The conversation so far", *told_])


def latest(state: RunState, step: StepAt) -> tuple[int, ...]:
    """The remarks made here since somebody last presented something: in a discussion, what it is about now."""
    here, found = state.world.spot, []
    for number in reversed(step.talk):
        entry = state.record.talk[number]
        if entry.spot != here:
            continue
        if entry.kind == "output":
            break
        if entry.kind == "remark":
            found.append(number)
    return tuple(reversed(found))


def remarks_in(state: RunState, step: StepAt) -> frozenset[int]:
    """Numbers of the remarks that the replay holds."""
    talk = state.record.talk
    return frozenset(talk[number].number for number in step.talk if talk[number].kind == "remark")


def tell(state: RunState, book: Book, number: int) -> str:
    """One entry, for an agent. What others wrote is quoted line by line, so that it cannot pass for something else."""
    entry = state.record.talk[number]
    where = f"{entry.spot}, round {entry.n}" if entry.n else entry.spot
    who = entry.role or _PERSON
    match entry.kind:
        case "output":
            return f"{who} presented ({where}):\n{_quoted(_content(book, entry))}"
        case "remark":
            remark = state.record.remarks[entry.number]
            kind = remark.kind + (f" to {remark.target}" if remark.target else "")
            change = f" (was {remark.was}, is {remark.now})" if remark.was and remark.now else ""
            return f"{who} said ({where}), {kind} [{remark.id}]{change}:\n{_quoted(remark.text)}"
        case "answer" if entry.role == ENGINE:
            return f"set aside ({where}):\n{_quoted(chr(10).join(changes(state, book, entry)))}"
        case "answer":
            return f"{who} answered ({where}):\n{_quoted(chr(10).join(changes(state, book, entry)))}"
        case "decision":
            return f"{who} chose “{entry.text}” ({where})"
        case "back":
            return f"{who} came back from {entry.text} to {where}"
        case "undone":
            return f"{who} took this round back ({where})"


def changes(state: RunState, book: Book, entry: TalkEntry) -> list[str]:
    """What one saving of answers changed, each with its question."""
    asked = state.record.asked.get(entry.spot)
    questions = asked.questions if asked else {}

    def question(name: str) -> str:
        return plain_question(questions.get(name) or name)

    old = book.object(entry.old)
    new = book.object(entry.ref.digest) if entry.ref else {}
    lines = [f"{question(name)} → {told(new[name])}" for name in sorted(new) if new[name] != old.get(name)]
    gone = [name for name in sorted(old) if name not in new]
    lines += [f"{question(name)} → no answer any more (was: {told(old[name])})" for name in gone]
    return lines


def _content(book: Book, entry: TalkEntry) -> str:
    text = book.text(entry.ref.digest).strip() if entry.ref else ""
    words = text.split(None, MOST_WORDS)
    if len(words) > MOST_WORDS:
        text = text[: len(text) - len(words[-1])].rstrip() + "\n… (cut here)"
    most = MOST_WORDS * _LETTERS
    return text if len(text) <= most else text[:most] + f"\n… ({len(text) - most} more characters)"


def _quoted(text: str) -> str:
    return "\n".join(f"> {line}".rstrip() for line in text.splitlines())
