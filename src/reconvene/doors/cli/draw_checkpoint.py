"""What a person sees at a checkpoint, drawn on a terminal: the prompt, the files, what was said so far.

Everything shown may have been written by an agent: it is cleaned first, never read as rich markup, and links show no
hidden target. Asks nothing (`terminal.py` does).
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from reconvene.app.views.who import told
from reconvene.doors.cli import pager
from reconvene.doors.cli.common import pasted
from reconvene.doors.cli.text import clean, columns, fitted, one_line, screen_width
from reconvene.doors.shared import passages
from reconvene.doors.shared.advice import changed_lines, sections, talk_lines, weighed, weight_of
from reconvene.doors.shared.asked_of import asked_of
from reconvene.doors.shared.comment_lines import still_open
from reconvene.doors.shared.fields import asked, mark, worded
from reconvene.doors.shared.glance import aside, written_lines
from reconvene.doors.shared.options import Menu, on_offer
from reconvene.doors.shared.remarks import said_in

if TYPE_CHECKING:
    from questionary import Choice
    from rich.console import Console

    from reconvene.app.engine import Engine
    from reconvene.app.views.beside import Review
    from reconvene.app.views.read_model import Checkpoint, Field, Option, Remark, Said, Written
    from reconvene.core.facts.commands import Answers

READ_ON = "Read on"
_FIRST_LINES = 8
_FEWEST_LINES = 1  # of what there is to read that are shown on the smallest screen


class Screen:
    """Draws on one terminal."""

    def __init__(self, engine: Engine, run: str) -> None:
        from rich.console import Console

        self._engine = engine
        self._run = run
        self._console: Console = Console(highlight=False)
        self._paper = ""  # all of the checkpoint, as it was drawn
        self._left = 0

    def line(self, text: str = "", style: str = "", *, whole: bool = False) -> None:
        """`whole`: never broken by us, so that a long path can be copied."""
        from rich.text import Text

        self._console.print(Text(clean(text), style=style), soft_wrap=whole)

    def checkpoint(
        self,
        headline: str,
        checkpoint: Checkpoint,
        talk: Sequence[Said] = (),
        warnings: Sequence[str] = (),
        review: Review | None = None,
        asked: int = 10,
    ) -> None:
        """One screen: where the run is, what is asked, what changed, what can be chosen; below it, what there is to
        read, as far as it fits. The rest is for `read_on`. `asked`: the lines of what is asked next."""
        with self._console.capture() as top:
            self._top(headline, checkpoint, warnings)
        with self._console.capture() as below:
            self._below(checkpoint, talk)
            if review is not None:
                self.advice(review)
        self._paper = top.get() + below.get()
        lines = below.get().rstrip("\n").split("\n")
        room = max(self._console.height - top.get().count("\n") - asked - 2, _FEWEST_LINES)
        self._left = len(lines) - room if len(lines) > room + 1 else 0
        shown = lines[: len(lines) - self._left] if self._left else lines
        self._console.file.write(top.get() + "\n".join(shown) + "\n")
        if self._left:
            how = "? reads on" if checkpoint.feedback else f"“{READ_ON}”"
            self.line(f"… {self._left} more lines: {how}", "dim")

    def _top(self, headline: str, checkpoint: Checkpoint, warnings: Sequence[str]) -> None:
        self._console.print()
        self._console.rule(style="dim")
        own = f" ({checkpoint.status})" if checkpoint.status not in ("", "waiting") else ""
        self.line(headline + own, "bold yellow" if checkpoint.attention else "dim")
        for warning in warnings:
            self.line(warning, "yellow")
        if checkpoint.question:
            self.line(passages.question_line(checkpoint), "bold")
        for line in asked_of(checkpoint):
            self.line(line, "yellow" if checkpoint.late else "")
        title, *changed = changed_lines(checkpoint) or [""]
        self._section(title, changed)
        self.open_comments(checkpoint)
        if checkpoint.feedback:  # the menu comes later
            width = max(self._console.width - 4, 20)
            told = [fitted(f"{one.label} → {aside(one)}", width) for one in on_offer(checkpoint.options)]
            self._section("Then you decide:", told)

    def _below(self, checkpoint: Checkpoint, talk: Sequence[Said]) -> None:
        self._section("the talk so far:", talk_lines(talk))
        for one in passages.to_read(checkpoint):
            self._console.print()
            self._passage(one)
        for path in checkpoint.show_files:
            self._beginning(path, self._engine.load(self._run).workspace)
        self._section("What the agents wrote:", list(map(pasted, written_lines(checkpoint))))
        self._said(checkpoint)

    @property
    def left(self) -> int:
        """How many lines of the checkpoint did not fit."""
        return self._left

    def read_on(self) -> None:
        """Everything that there is to read, with the person's pager."""
        pager.show(self._paper)

    def output(self, written: Written, text: str) -> None:
        """All that an agent wrote."""
        pager.show(f"{one_line(written.agent)}\n\n{text}")

    def _section(self, title: str, lines: Sequence[str]) -> None:
        """Nothing where there are no lines."""
        if lines:
            self._console.print()
            self.line(title, "bold")
        for line in lines:
            self._indented(line)

    def has_menu(self, checkpoint: Checkpoint) -> bool:
        """Where a stop may ask questions, its menu has one form in all rounds, also in those where it asks none."""
        session = self._engine.session(self._run)
        node = session.book.nodes.get(session.state.world.top.phase)
        point = node.phase.checkpoint if node else None
        return bool(checkpoint.fields or (point and point.fields and not checkpoint.attention))

    def menu(self, menu: Menu, checkpoint: Checkpoint) -> None:
        """Questions with their answers, then what else can be done."""
        self._console.print()
        for entry in menu.choices:
            best = "  (recommended)" if entry.key == checkpoint.fields[0].recommend else ""
            self._indented(f"{entry.number}. {entry.name}{best}")
        for entry, field in zip(menu.fields, checkpoint.fields):
            self._indented(f"{entry.number}. {mark(field, checkpoint.answers or {})} {asked(field)}")
            if field.note:
                self._indented(f"     {field.note}", "yellow")
        self._console.print()
        for entry in menu.options:
            option = checkpoint.options[int(entry.key)]
            more = "  (recommended)" if option.recommend else ""
            more += f"  → {aside(option)}" if aside(option) else ""
            more = f"  (not now: {entry.why_not})" if entry.why_not else more
            self._indented(f"{entry.number}. {entry.name} [{entry.letter}]{more}", "dim" if entry.why_not else "")
        extras = "  ".join(f"[{entry.letter}] {entry.name}" for entry in menu.entries if entry.kind == "extra")
        self._indented(extras, "dim")

    def choices(self, field: Field, answers: Answers) -> None:
        """A question in full, before it is answered."""
        self._console.print()
        if field.note:
            self._indented(field.note, "yellow")
        if field.id in answers:
            self._indented(f"your answer so far: {worded(field, answers[field.id])}", "dim")

    def markdown(self, text: str) -> None:
        from reconvene.doors.cli.plain_markdown import AsWritten

        self._console.print(AsWritten(clean(text)))

    def _passage(self, one: passages.Passage) -> None:
        """What may be words of agents stands behind a bar, line by line, however it is laid out."""
        if not one.theirs:
            return self.markdown(pasted(one.text))
        from rich.segment import Segment, Segments

        from reconvene.doors.cli.plain_markdown import AsWritten

        room = self._console.options.update_width(max(self._console.width - 2, 20))
        for line in self._console.render_lines(AsWritten(one.text), room):
            self._console.print(Segments([Segment(f"{passages.BAR} "), *line, Segment.line()]), end="")

    def file(self, path: str) -> None:
        """A whole file: Markdown as Markdown, anything else as it is."""
        text = self._content(path)
        self._console.rule(one_line(path).replace("[", r"\["), style="dim", align="left")
        if text is None:
            self.line("not there, or not text", "dim")
        elif path.endswith(".md"):
            self.markdown(text)
        else:
            self.line(text)
        self._console.rule(style="dim")

    def change(self, path: str) -> None:
        """A diff, in colours and page by page."""
        from reconvene.doors.cli import shown_change

        inside = os.path.relpath(path, self._engine.load(self._run).workspace) if os.path.isabs(path) else path
        pager.show(self._content(inside) or "there is nothing to see any more", shown_change.coloured)

    def files(self) -> list[str]:
        from reconvene.app import queries

        return [file.path for file in queries.files(self._engine, self._run)]

    def _content(self, path: str) -> str | None:
        from reconvene.app import queries
        from reconvene.errors import ReconveneError

        try:
            return queries.file(self._engine, self._run, path).decode()
        except (ReconveneError, UnicodeDecodeError):
            return None

    def _beginning(self, path: str, workspace: str) -> None:
        self._console.print()
        self.line(path, "bold", whole=True)
        text = self._content(path.removeprefix(f"{workspace}/"))
        if text is None:
            self.line("  not there, or not text", "dim")
        lines = clean(text or "").splitlines()
        for line in lines[:_FIRST_LINES]:
            self._indented(line)
        if len(lines) > _FIRST_LINES:
            self.line(f"  … {len(lines) - _FIRST_LINES} more lines", "dim")

    def _said(self, checkpoint: Checkpoint) -> None:
        """What was said here already: it will reach the agents whatever is decided."""
        from reconvene.app.views.projections import remarks
        from reconvene.core.shown.on_record import standing

        state = self._engine.load(self._run)
        every = map(state.record.remarks.__getitem__, standing(state))
        here = remarks(state, [one for one in every if one.checkpoint == checkpoint.id])
        if here:
            self._console.print()
            self.line("said here so far:", "bold")
        for one in here:
            by = f" ({told(one.by, one.user)})" if one.by else ""
            self._indented(f"{one.id} {said_in(one)}{by}")
            self._indented(f"  {weight_of(one)}", "dim")

    def open_comments(self, checkpoint: Checkpoint) -> None:
        """Before anything is approved: the comments on files that nobody has acted on."""
        lines = still_open(checkpoint.comments, f"reconvene comments {self._run}")
        self._section("Comments that are still open:", lines)

    def question(self, checkpoint: Checkpoint) -> None:
        """The workflow's own words for "what do you say?"."""
        for one in passages.wanted(checkpoint):
            self._console.print()
            self._passage(one)
        self._console.print()

    def weighed(self, remarks: Sequence[Remark]) -> None:
        """What was recorded just now, and how much it weighs."""
        self._console.print()
        for remark in remarks:
            self._indented(weighed(remark), "bold yellow" if remark.level == "major" else "green")

    def advice(self, review: Review, *, brief: bool = False) -> None:
        ledger, whole = pasted(f"reconvene ledger {self._run}"), pasted(f"reconvene show {self._run}")
        for one in sections(review, ledger=ledger, whole=whole, brief=brief):
            self._section(one.title, one.lines)

    def _indented(self, text: str, style: str = "") -> None:
        """Broken between words, its later lines a little further in than the first."""
        from rich.padding import Padding
        from rich.text import Text

        plain = clean(text)
        if not plain.strip():
            self._console.print()
            return
        inner = len(plain) - len(plain.lstrip()) + 2
        lines = Text(plain.strip(), style=style).wrap(self._console, max(self._console.width - inner - 2, 20))
        for number, line in enumerate(lines):
            line.rstrip()
            self._console.print(Padding(line, (0, 0, 0, inner + 2 * bool(number))))


def as_choice(index: int, option: Option) -> Choice:
    """An option in a list to choose from, with what it leads to."""
    import questionary

    label = one_line(option.label) + ("  (recommended)" if option.recommend else "")
    room = screen_width() - 6 - columns(label) - 4
    leads = f"  → {fitted(aside(option), room)}" if option.available and aside(option) and room > 8 else ""
    why_not = None if option.available else one_line(option.why_not or "not now", 80)
    return questionary.Choice(label + leads, index, disabled=why_not)
