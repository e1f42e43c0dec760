"""Feedback at a terminal: typed or written in an editor, shown as it was understood, put right, then recorded at once.

What was typed is never lost: whatever interrupts or fails before it is recorded, it is recorded as a comment. How a
text is understood is the core's business; what follows from it is the engine's.
"""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from reconvene.doors.cli.ask import pick
from reconvene.doors.cli.common import DOOR, note
from reconvene.doors.cli.editor import Sheet, editor
from reconvene.doors.cli.text import clean
from reconvene.doors.cli.understanding import change, typed
from reconvene.doors.shared.form import again, read, write
from reconvene.doors.shared.remarks import Entry, agrees, has_kind, in_line, understood
from reconvene.errors import ReconveneError, UserError

if TYPE_CHECKING:
    from reconvene.app.engine import Engine
    from reconvene.app.views.model import Remark
    from reconvene.core.facts.commands import RemarkIn
    from reconvene.doors.cli.paper import Paper

MORE = "more, or an empty line:"


class _Heard:
    """What the person has said so far and nobody has recorded yet."""

    def __init__(self, text: str = "") -> None:
        self.text = text
        self.entries: list[Entry] | None = None  # None: not looked at yet

    @property
    def unrecorded(self) -> str:
        if self.entries is None:
            return self.text.strip()
        return "\n".join(entry.remark.text for entry in self.entries).strip()


class Hearing:
    """Hears one person at one checkpoint, as often as they like."""

    def __init__(self, engine: Engine, run: str, by: str, paper: Paper) -> None:
        self._engine = engine
        self._run = run
        self._by = by
        self._paper = paper
        self._agents = tuple(engine.session(run).book.workflow.agents)

    def typed(self, title: str) -> list[Remark]:
        """Lines until an empty one. Answers what was recorded."""
        heard = _Heard()
        with self._never_lost(heard):
            self._listen(heard, title)
            heard.entries = self._understood(heard.text)
            if heard.text and not heard.entries:
                self._paper.line("understood: nothing to add", "dim")
            return self._settle(heard)

    def comment(self, title: str) -> list[Remark]:
        """A word in a conversation: one text, recorded as it is, without asking how it is meant."""
        from reconvene.core.kit_finder import reader

        heard = _Heard()
        with self._never_lost(heard):
            heard.text = typed(title)
            if not heard.text.strip():
                return []
            heard.entries = [Entry(reader().typed(heard.text))]
            return self._record(heard)

    def written(self) -> list[Remark]:
        """The form, in the person's editor."""
        heard = _Heard()
        with self._never_lost(heard):
            self._write(heard, [])
            if not heard.entries:
                self._paper.line("nothing was written", "dim")
            return self._settle(heard)

    def _listen(self, heard: _Heard, title: str) -> None:
        line = heard.text = typed(title)
        if agrees(line):  # or is empty: that is all
            return
        while line.strip():
            line = typed(MORE)
            # A line with a kind of its own is not the end of the sentence above it.
            between = "\n\n" if has_kind(line) else "\n"
            heard.text = f"{heard.text}{between}{line}".rstrip()

    def _understood(self, text: str) -> list[Entry]:
        found = understood(text, self._agents)
        if found.note:
            note(found.note)
        return found.entries

    def _write(self, heard: _Heard, entries: list[Entry]) -> None:
        """Opened again as long as something is wrong with it and the person goes on changing it."""
        sheet = Sheet(write(entries, self._agents, about=self._run))
        while True:
            given = sheet.text
            try:
                sheet.edit()
            except UserError as error:
                self._paper.line(f"{error.message}; {error.hint}", "yellow")
            finally:
                found = read(clean(sheet.text), self._agents)
                heard.entries = list(found.entries)
            if sheet.code:
                self._paper.line(f"the editor ended with code {sheet.code}; look well at what was saved", "yellow")
            if not found.problems or sheet.text == given or sheet.code:
                return
            sheet = Sheet(again(sheet.text, found.problems))

    def _settle(self, heard: _Heard) -> list[Remark]:
        """Show how it was understood until the person says it is right, then record it."""
        while heard.entries:
            self._show(heard.entries)
            choice = pick("Is that what you mean?", self._choices(heard.entries), "right")
            match choice:
                case "right":
                    return self._record(heard)
                case "more":
                    more = _Heard()
                    with self._never_lost(more):
                        self._listen(more, "What else?")
                    heard.entries += self._understood(more.text)
                case "editor":
                    self._write(heard, heard.entries)
                case "none":
                    heard.entries = []
                case _:
                    change(heard.entries, int(choice), self._agents)
        return []

    def _choices(self, entries: list[Entry]) -> list[tuple[str, str]]:
        several = len(entries) > 1
        return [
            ("right", "Right, record it" if not several else "Right, record them"),
            *((str(index), f"Change {index + 1}: {in_line(entry)}") for index, entry in enumerate(entries)),
            ("more", "Say more"),
            *([("editor", "Write it in your editor")] if editor() else []),
            ("none", "Drop all of it" if several else "Drop it"),
        ]

    def _show(self, entries: list[Entry]) -> None:
        self._paper.line()
        self._paper.line("understood as:", "bold")
        for number, entry in enumerate(entries, 1):
            self._paper.line(f"  {number}. {in_line(entry)}")
            if entry.rule:
                self._paper.line(f"     {entry.rule}", "dim")

    # --- recording ---

    def _record(self, heard: _Heard) -> list[Remark]:
        from reconvene.app.views.projections import remark

        known = len(self._engine.load(self._run).record.remarks)
        entries = heard.entries or []
        while entries:
            self._add(entries[0].remark)
            del entries[0]  # only now: what could not be recorded is still unrecorded
        remarks = self._engine.load(self._run).record.remarks
        fresh = [remarks[number] for number in sorted(remarks) if number > known and remarks[number].by == self._by]
        return list(map(remark, fresh))

    def _add(self, remark: RemarkIn) -> None:
        from reconvene.core.facts.commands import AddRemark

        self._engine.submit(self._run, AddRemark(remark, by=self._by, door=DOOR))

    @contextmanager
    def _never_lost(self, heard: _Heard) -> Iterator[None]:
        with _hanging_up_is_an_error():
            try:
                yield
            except BaseException:
                self._keep(heard)
                raise

    def _keep(self, heard: _Heard) -> None:
        """Whatever has not been recorded, as a comment; where even that fails, on the screen for the person to copy."""
        from reconvene.core.facts.commands import RemarkIn

        text = heard.unrecorded
        if agrees(text):
            return
        told = f"kept as a comment: {text}"
        try:
            self._add(RemarkIn(text))
        except ReconveneError as error:
            told = f"this could not be recorded ({error.message}):\n{text}"
        heard.entries = []
        with suppress(OSError):  # the terminal may be gone
            self._paper.line(told, "yellow")


@contextmanager
def _hanging_up_is_an_error() -> Iterator[None]:
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
