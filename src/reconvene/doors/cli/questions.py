"""The questions of a checkpoint at a terminal: the menu, and each answer saved the moment it is given.

Which word means what is `shared.menu`'s business, how a field is asked `ask.py`'s. Decides nothing: an option or
anything else that is picked goes back to whoever asked.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from reconvene.doors.cli.ask import ask_field, ask_text
from reconvene.doors.cli.stops import explain_stale
from reconvene.doors.shared.fields import asked, needed, unanswered
from reconvene.doors.shared.menu import Menu, build, find
from reconvene.errors import UserError

if TYPE_CHECKING:
    from reconvene.app.engine import Engine
    from reconvene.app.views.read_model import Checkpoint, Field
    from reconvene.doors.cli.draw_checkpoint import Paper

MOVED = "moved"
_TITLE = "Your choice:"


class Questions:
    """One person in front of one checkpoint's questions."""

    def __init__(self, engine: Engine, run: str, by: str, paper: Paper) -> None:
        self._engine = engine
        self._run = run
        self._by = by
        self._paper = paper

    def choose(self, checkpoint: Checkpoint, extras: Sequence[tuple[str, str]]) -> str | int:
        """Answers until something else is picked: an option's index, an extra's word, or MOVED."""
        current: Checkpoint | None = checkpoint
        while current is not None and current.id == checkpoint.id:
            menu = build(current, extras)
            self._paper.menu(menu, current)
            found = self._picked(menu, current)
            if isinstance(found, list):
                if not all(self._answer(current, field) for field in found):
                    return MOVED
                current = self._now()
            else:
                return found
        return MOVED

    def needed(self, checkpoint: Checkpoint) -> bool:
        """Ask what must be answered before the checkpoint can be left. Whether anything was asked."""
        fields = needed(checkpoint)
        return bool(fields) and all(self._answer(checkpoint, field) for field in fields)

    def _picked(self, menu: Menu, checkpoint: Checkpoint) -> str | int | list[Field]:
        """Fields to answer, an option's index, or an extra's word; asked until it is one of them."""
        still_open = unanswered(checkpoint)
        if still_open:
            self._paper.line(f"  Enter answers {_open(still_open)}", "dim")
        while True:
            typed = ask_text(_TITLE)
            if not typed.strip():
                if still_open:
                    return still_open
                self._paper.line(f"everything is answered; choose one of: {menu.left}", "yellow")
                continue
            entry = find(menu, typed)
            if isinstance(entry, str):
                self._paper.line(entry, "yellow")
            elif entry.why_not:
                self._paper.line(f"“{entry.name}” is not possible any more: {entry.why_not}", "yellow")
                self._paper.line(f"what you can do: answer a question, {menu.left}", "yellow")
            elif entry.kind == "field":
                return [checkpoint.fields[int(entry.key)]]
            else:
                return entry.key

    def _answer(self, checkpoint: Checkpoint, field: Field) -> bool:
        """Ask one question and save what is answered. False: the checkpoint is not open any more."""
        from reconvene.core.facts.commands import SaveDraft

        answers = checkpoint.answers or {}
        self._paper.choices(field, answers)
        answer = ask_field(field, answers.get(field.id, field.default))
        if answer == answers.get(field.id):
            return True
        try:
            self._engine.submit(self._run, SaveDraft(checkpoint.id, {field.id: answer}, self._by))
        except UserError as error:
            self._paper.line(explain_stale(error), "yellow")
            now = self._now()
            return now is not None and now.id == checkpoint.id
        return True

    def _now(self) -> Checkpoint | None:
        from reconvene.app import queries

        return queries.standing(self._engine, self._run).checkpoint


def _open(fields: Sequence[Field]) -> str:
    return f"“{asked(fields[0])}”" if len(fields) == 1 else f"the {len(fields)} open ones in turn"
