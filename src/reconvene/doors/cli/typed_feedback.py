"""Feedback at a terminal: typed or written in an editor, recorded at once, shown as it was understood, and put right.

What was typed is never lost: whatever interrupts or fails before it is recorded, it is recorded as a comment. A line
that was not ended is no remark yet: it is kept beside the log, and stands in the line when the person comes back. A
model that reads a remark, and the person who puts it right, come after that.
"""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from reconvene.app.model_reader import Entry
from reconvene.app.ordered_option import ordered
from reconvene.core.kit_finder import reader
from reconvene.doors.cli.ask import ask_text, pick, tick
from reconvene.doors.cli.common import DOOR, note
from reconvene.doors.cli.own_editor import Sheet, editor
from reconvene.doors.cli.text import clean
from reconvene.doors.cli.unsent_answers import Unsent
from reconvene.doors.shared.form import again, read, write
from reconvene.doors.shared.remarks import agrees, has_kind, in_line, joined, understood, understood_better, with_text
from reconvene.errors import ReconveneError, UserError

if TYPE_CHECKING:
    from reconvene.app.engine import Engine
    from reconvene.app.model_reader import OnRecord
    from reconvene.app.views.read_model import Remark
    from reconvene.core.facts.commands import RemarkIn
    from reconvene.doors.cli.draw_checkpoint import Screen

_WORDS = ""  # no option is called so
MORE = "more, or an empty line:"


class _Heard:
    """What the person has said so far, and what of it is on record."""

    def __init__(self, record: OnRecord) -> None:
        self.text = ""
        self.entries: list[Entry] | None = None  # None: not looked at yet
        self.record = record

    @property
    def unrecorded(self) -> str:
        if self.entries is None:
            return self.text.strip()
        known = [remark.text for remark in self.record.remarks]
        return "\n".join(entry.remark.text for entry in self.entries if entry.remark.text not in known).strip()

    def keep(self, entries: list[Entry]) -> None:
        self.entries = entries
        self.record.become(entries)


class Hearing:
    """Hears one person at one checkpoint, as often as they like."""

    def __init__(self, engine: Engine, run: str, by: str, screen: Screen) -> None:
        self._engine = engine
        self._run = run
        self._by = by
        self._screen = screen
        workflow = engine.session(run).book.workflow
        self._agents, self._kits = tuple(workflow.agents), workflow.kits
        self.order = ""  # what the person told the engine to do, when they were last heard
        self.ask_back: Callable[[], None] | None = None  # what a question mark alone does

    def typed(self, title: str) -> Sequence[Remark]:
        """Lines until an empty one. Answers what was recorded."""
        heard = self._heard()
        with self._never_lost(heard):
            self._listen(heard, title)
            self._improve(heard, heard.text, self._sort(heard, heard.text))
            self.order = ordered(self._kits, heard.text)
            if heard.text and not heard.entries and not self.order:
                self._screen.line("understood: nothing to add", "dim")
            return self._settle(heard)

    def comment(self, title: str) -> Sequence[Remark]:
        """A word in a conversation: one text, recorded as it is, without asking how it is meant."""
        heard = self._heard()
        with self._never_lost(heard):
            heard.text = self._line(title)
            if not heard.text.strip():
                return []
            heard.keep([Entry(reader(self._kits).typed(heard.text))])
            return self._recorded(heard)

    def written(self) -> Sequence[Remark]:
        """The form, in the person's editor."""
        heard = self._heard()
        with self._never_lost(heard):
            self._write(heard, [])
            if not heard.entries:
                self._screen.line("nothing was written", "dim")
            return self._settle(heard)

    def _heard(self) -> _Heard:
        from reconvene.app.model_reader import OnRecord

        return _Heard(OnRecord(self._engine, self._run, self._by, DOOR))

    def _sort(self, heard: _Heard, text: str) -> list[Entry]:
        """What was said last, read by rules, on record with the rest."""
        entries = understood(text, self._agents, self._kits)
        heard.keep([*(heard.entries or ()), *entries])
        return entries

    def _improve(self, heard: _Heard, text: str, entries: list[Entry]) -> None:
        """The same, read by a model where there is one."""
        better = understood_better(text, self._agents, entries, self._kits)
        if better.note:
            note(better.note)
        if better.entries is not entries:
            heard.keep([entry for entry in heard.entries or () if entry not in entries] + better.entries)

    def _listen(self, heard: _Heard, title: str) -> None:
        line = self._line(title)
        while line.strip() == "?" and self.ask_back is not None:
            self.ask_back()
            line = self._line(title)
        heard.text = line
        if agrees(line, self._kits):  # or is empty: that is all
            return
        while line.strip():
            line = self._line(MORE)
            # A line with a kind of its own is not the end of the sentence above it.
            between = "\n\n" if has_kind(line, self._kits) else "\n"
            heard.text = f"{heard.text}{between}{line}".rstrip()

    def _line(self, title: str) -> str:
        """One line. What was begun at this checkpoint and not ended stands in it."""
        point = self._engine.load(self._run).world.open
        begun = Unsent(self._engine.home, self._run, point.id if point else "", _WORDS)
        before = str(begun.before().get(_WORDS, ""))

        def keep(text: str) -> None:
            if text := _storable(text).strip():
                begun.keep({_WORDS: text})
                with suppress(OSError):  # the terminal may be gone
                    self._screen.line(f"kept, and offered here again: {text}", "yellow")

        typed = _typed(title, before, keep)
        if before:
            begun.keep({})
        return typed

    def _write(self, heard: _Heard, entries: list[Entry]) -> None:
        """Opened again as long as something is wrong with it and the person goes on changing it."""
        sheet = Sheet(write(entries, self._agents, about=self._run, kits=self._kits))
        while True:
            before = sheet.text
            try:
                sheet.edit()
            except UserError as error:
                self._screen.line(f"{error.message}; {error.hint}", "yellow")
            finally:
                found = read(clean(sheet.text), self._agents, self._kits)
                heard.keep(list(found.entries))
            if sheet.code:
                self._screen.line(f"the editor ended with code {sheet.code}; look well at what was saved", "yellow")
            if not found.problems or sheet.text == before or sheet.code:
                return
            sheet = Sheet(again(sheet.text, found.problems))

    def _settle(self, heard: _Heard) -> Sequence[Remark]:
        """Show how it was understood until the person says it is right. Every change is recorded as it is made."""
        while entries := list(heard.entries or ()):
            self._show(entries)
            match pick("Is that what you mean?", self._choices(entries), "right"):
                case "right":
                    return self._recorded(heard)
                case "more":
                    more = self._heard()
                    with self._never_lost(more):
                        self._listen(more, "What else?")
                        fresh = self._sort(heard, more.text)
                        more.entries = []
                    self._improve(heard, more.text, fresh)
                case "editor":
                    self._write(heard, entries)
                case "none":
                    heard.keep([])
                case choice:
                    _change(entries, int(choice), self._agents, self._kits)
                    heard.keep(entries)
        return []

    def _choices(self, entries: list[Entry]) -> list[tuple[str, str]]:
        several = len(entries) > 1
        return [
            ("right", "Right"),
            *((str(index), f"Change {index + 1}: {in_line(entry)}") for index, entry in enumerate(entries)),
            ("more", "Say more"),
            *([("editor", "Write it in your editor")] if editor() else []),
            ("none", "Drop all of it" if several else "Drop it"),
        ]

    def _show(self, entries: list[Entry]) -> None:
        self._screen.line()
        self._screen.line("understood as:", "bold")
        for number, entry in enumerate(entries, 1):
            self._screen.line(f"  {number}. {in_line(entry)}")
            if entry.rule:
                self._screen.line(f"     {entry.rule}", "dim")

    # --- recording ---

    def _recorded(self, heard: _Heard) -> Sequence[Remark]:
        from reconvene.app.views.projections import remarks
        from reconvene.doors.cli.large_remarks import say_what_is_too_large

        say_what_is_too_large(self._engine, self._run, (remark.text for remark in heard.record.remarks))
        return remarks(self._engine.load(self._run), heard.record.remarks)

    @contextmanager
    def _never_lost(self, heard: _Heard) -> Iterator[None]:
        with hanging_up_is_an_error():
            try:
                yield
            except BaseException:
                self._keep(heard)
                raise

    def _keep(self, heard: _Heard) -> None:
        """Whatever has not been recorded, as a comment; where even that fails, on the screen for the person to copy."""
        from reconvene.core.facts.commands import AddRemark, RemarkIn

        text = heard.unrecorded
        if not agrees(text, self._kits):
            told = f"kept as a comment: {text}"
            try:
                self._engine.submit(self._run, AddRemark(RemarkIn(text), by=self._by, door=DOOR))
            except ReconveneError as error:
                told = f"this could not be recorded ({error.message}):\n{text}"
        elif kept := heard.record.remarks:
            told = f"kept as it was understood: {', '.join(remark.id for remark in kept)}"
        else:
            return
        heard.entries = []
        with suppress(OSError):  # the terminal may be gone
            self._screen.line(told, "yellow")


@contextmanager
def hanging_up_is_an_error() -> Iterator[None]:
    """A closed terminal would end the process at once; here it is an exception, so that words can be kept."""
    numbers = [getattr(signal, name) for name in ("SIGHUP", "SIGTERM") if hasattr(signal, name)]
    before = [signal.signal(number, _hung_up) for number in numbers]
    try:
        yield
    finally:
        for number, handler in zip(numbers, before):
            signal.signal(number, handler)


def _hung_up(number: int, frame: object) -> None:
    from prompt_toolkit.application.current import get_app_or_none

    app = get_app_or_none()
    if app is None or app.loop is None:
        raise EOFError("the terminal is gone")

    def leave() -> None:
        if app.future is not None and not app.future.done():
            app.exit(exception=EOFError("the terminal is gone"))

    # Raised here it would end in the event loop of the question, which shows it and waits for a key.
    app.loop.call_soon_threadsafe(leave)


# --- putting right how a remark was understood ---


def _typed(title: str, before: str = "", broken_off: Callable[[str], None] = lambda _: None) -> str:
    return _storable(ask_text(title, before, broken_off))


def _storable(text: str) -> str:
    """Bytes that are not UTF-8 come out of a terminal as halves of characters, which nothing can store."""
    return clean(text).encode("utf-8", "replace").decode()


def _change(entries: list[Entry], index: int, agents: tuple[str, ...], kits: tuple[str, ...]) -> None:
    """One entry put right, joined with the one before it, or dropped."""
    remark = entries[index].remark
    what = pick(
        f"What about {index + 1}?",
        [
            ("kind", f"Its kind (now: {remark.kind})"),
            ("text", "Its words"),
            ("target", f"Whom it is for (now: {remark.target or 'everybody'})"),
            ("values", f"The values (now: {remark.was or '?'} → {remark.now or '?'})"),
            *([("join", f"Join it with {index}")] if index else []),
            ("drop", "Drop it"),
            ("back", "Leave it as it is"),
        ],
    )
    match what:
        case "drop":
            del entries[index]
        case "join":
            entries[index - 1 : index + 1] = [joined(entries[index - 1], entries[index])]
        case "back":
            pass
        case _:
            entries[index] = Entry(_changed(remark, what, agents, kits), "as you put it")


def _changed(remark: RemarkIn, what: str, agents: tuple[str, ...], kits: tuple[str, ...]) -> RemarkIn:
    from msgspec.structs import replace

    match what:
        case "kind":
            kind = pick("What is it?", [(kind, kind) for kind in reader(kits).kinds], remark.kind)
            asks = kind == "reaction" and not remark.target
            return replace(remark, kind=kind, target=_target(remark, agents) if asks else remark.target)
        case "text":
            text = _typed("Its words:", remark.text).strip()
            return with_text(remark, text, agents, kits) if text else remark
        case "target":
            return replace(remark, target=_target(remark, agents))
        case _:
            was = _typed("What it said:", remark.was).strip()
            return replace(remark, was=was, now=_typed("What it should say:", remark.now).strip())


def _target(remark: RemarkIn, agents: tuple[str, ...]) -> str:
    named = [part.strip() for part in remark.target.split(",")]
    return ", ".join(tick("For whom? Nobody is everybody", agents, named, {}))


def said_here(engine: Engine, run: str, by: str) -> tuple[RemarkIn, ...]:
    """What this person said at the open checkpoint. Given again with a decision, it stays one remark."""
    from reconvene.core.facts.commands import RemarkIn
    from reconvene.core.shown.on_record import remarks_here

    here = remarks_here(engine.load(run))
    return tuple(
        RemarkIn(one.text, one.kind, one.target, one.was, one.now, on=one.anchor)
        for one in here
        if one.by == by and one.kind != "edit" and one.checkpoint
    )
