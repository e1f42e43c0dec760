"""Feedback at a terminal: typed or written in an editor, shown as it was understood, put right, then recorded at once.

What was typed is never lost: whatever interrupts or fails before it is recorded, it is recorded as a comment. How a
text is understood is the core's business; what follows from it is the engine's.
"""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from reconvene.doors.cli.advice import said
from reconvene.doors.cli.ask import ask_text, pick, tick
from reconvene.doors.cli.common import DOOR
from reconvene.doors.cli.editor import Sheet, editor
from reconvene.doors.cli.form import Entry, again, read, write
from reconvene.doors.cli.text import clean
from reconvene.errors import ReconveneError, UserError

if TYPE_CHECKING:
    from reconvene.app.engine import Engine
    from reconvene.core.commands import RemarkIn
    from reconvene.doors.cli.paper import Paper

MORE = "more, or an empty line:"


def understood(text: str, agents: tuple[str, ...]) -> list[Entry]:
    """The remarks in a free text. None: it only agrees."""
    from reconvene.app.listening import by_rules

    heard = by_rules(text, agents)
    return [Entry(remark, rule) for remark, rule in zip(heard.remarks, heard.rules)]


def _typed(title: str, given: str = "") -> str:
    """Bytes that are not UTF-8 come out of a terminal as halves of characters, which nothing can store."""
    return clean(ask_text(title, given)).encode("utf-8", "replace").decode()


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
    """Hears one person at one checkpoint, as often as they like. `recorded` is what came of it."""

    def __init__(self, engine: Engine, run: str, by: str, paper: Paper) -> None:
        self._engine = engine
        self._run = run
        self._by = by
        self._paper = paper
        self._agents = tuple(engine.session(run).book.workflow.agents)

    def typed(self, title: str) -> list[str]:
        """Lines until an empty one. Answers the ids of what was recorded."""
        heard = _Heard()
        with self._never_lost(heard):
            self._listen(heard, title)
            heard.entries = understood(heard.text, self._agents)
            if heard.text and not heard.entries:
                self._paper.line("understood: nothing to add", "dim")
            return self._settle(heard)

    def written(self) -> list[str]:
        """The form, in the person's editor."""
        heard = _Heard()
        with self._never_lost(heard):
            self._write(heard, [])
            return self._settle(heard)

    def _listen(self, heard: _Heard, title: str) -> None:
        line = heard.text = _typed(title)
        if not understood(line, self._agents):  # empty, or agreement: that is all
            return
        while line.strip():
            line = _typed(MORE)
            heard.text = f"{heard.text}\n{line}".rstrip()

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

    def _settle(self, heard: _Heard) -> list[str]:
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
                    heard.entries += understood(more.text, self._agents)
                case "editor":
                    self._write(heard, heard.entries)
                case "none":
                    heard.entries = []
                case _:
                    self._change(heard.entries, int(choice))
        return []

    def _choices(self, entries: list[Entry]) -> list[tuple[str, str]]:
        several = len(entries) > 1
        return [
            ("right", "Right, record it" if not several else "Right, record them"),
            *((str(index), f"Change {index + 1}: {_in_line(entry)}") for index, entry in enumerate(entries)),
            ("more", "Say more"),
            *([("editor", "Write it in your editor")] if editor() else []),
            ("none", "Drop all of it" if several else "Drop it"),
        ]

    def _show(self, entries: list[Entry]) -> None:
        self._paper.line()
        self._paper.line("understood as:", "bold")
        for number, entry in enumerate(entries, 1):
            self._paper.line(f"  {number}. {_in_line(entry)}")
            if entry.rule:
                self._paper.line(f"     {entry.rule}", "dim")

    # --- putting right ---

    def _change(self, entries: list[Entry], index: int) -> None:
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
                entries[index - 1 : index + 1] = [_joined(entries[index - 1], entries[index])]
            case "back":
                pass
            case _:
                entries[index] = Entry(self._changed(remark, what), "as you put it")

    def _changed(self, remark: RemarkIn, what: str) -> RemarkIn:
        from msgspec.structs import replace

        from reconvene.core.feedback import KINDS

        match what:
            case "kind":
                kind = pick("What is it?", [(kind, kind) for kind in KINDS], remark.kind)
                asks = kind == "reaction" and not remark.target
                return replace(remark, kind=kind, target=self._target(remark) if asks else remark.target)
            case "text":
                text = _typed("Its words:", remark.text).strip()
                return _with_text(remark, text, self._agents) if text else remark
            case "target":
                return replace(remark, target=self._target(remark))
            case _:
                was = _typed("What it said:", remark.was).strip()
                return replace(remark, was=was, now=_typed("What it should say:", remark.now).strip())

    def _target(self, remark: RemarkIn) -> str:
        named = [part.strip() for part in remark.target.split(",")]
        return ", ".join(tick("For whom? (nobody ticked = everybody)", self._agents, named, {}))

    # --- recording ---

    def _record(self, heard: _Heard) -> list[str]:
        from reconvene.core.scope import remarks_here

        known = {remark.id for remark in remarks_here(self._engine.load(self._run))}
        entries = heard.entries or []
        while entries:
            self._add(entries[0].remark)
            del entries[0]  # only now: what could not be recorded is still unrecorded
        return [one.id for one in remarks_here(self._engine.load(self._run)) if one.id not in known]

    def _add(self, remark: RemarkIn) -> None:
        from reconvene.core.commands import AddRemark

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
        from reconvene.core.commands import RemarkIn

        text = heard.unrecorded
        if not text or not understood(text, self._agents):
            return
        told = f"kept as a comment: {text}"
        try:
            self._add(RemarkIn(text))
        except ReconveneError as error:
            told = f"this could not be recorded ({error.message}):\n{text}"
        heard.entries = []
        with suppress(OSError):  # the terminal may be gone
            self._paper.line(told, "yellow")


def _in_line(entry: Entry) -> str:
    remark = entry.remark
    return said(remark.kind, remark.text, remark.target, remark.was, remark.now)


def _joined(first: Entry, second: Entry) -> Entry:
    from msgspec.structs import replace

    one, other = first.remark, second.remark
    kind = one.kind if one.kind != "comment" else other.kind
    figures = one if one.was or one.now else other
    targets = dict.fromkeys(part for part in (one.target, other.target) if part)
    between = "\n" if "\n" in one.text + other.text else " "
    joined = replace(
        one,
        text=f"{one.text}{between}{other.text}",
        kind=kind,
        target=", ".join(targets),
        was=figures.was,
        now=figures.now,
    )
    return Entry(joined, "joined by you")


def _with_text(remark: RemarkIn, text: str, agents: tuple[str, ...]) -> RemarkIn:
    """New words may name new figures; the kind stays what it is."""
    from msgspec.structs import replace

    found = [entry.remark for entry in understood(text, agents) if entry.remark.now]
    was, now = (found[0].was, found[0].now) if found else ("", "")
    return replace(remark, text=text, was=was, now=now)


@contextmanager
def _hanging_up_is_an_error() -> Iterator[None]:
    """A closed terminal would end the process at once; here it is an exception, so that words can be kept."""

    def gone(number: int, frame: object) -> None:
        raise EOFError("the terminal is gone")

    numbers = [getattr(signal, name) for name in ("SIGHUP", "SIGTERM") if hasattr(signal, name)]
    before = [signal.signal(number, gone) for number in numbers]
    try:
        yield
    finally:
        for number, handler in zip(numbers, before):
            signal.signal(number, handler)
