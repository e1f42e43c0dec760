"""A file of a run in the person's editor: new comments are recorded on their lines, changes of the text as their edit.

Nothing that was written is lost: what cannot be taken (the editor failed, the person said no, somebody else changed the
file meanwhile) is kept in a file of the home, and named.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from reconvene.app.edit_command import edit_of
from reconvene.app.file_comments import comments
from reconvene.app.line_diff import diff_summary, unified_diff
from reconvene.app.model_reader import Entry, OnRecord
from reconvene.app.views.projections import remarks
from reconvene.core.facts.commands import RecordEdits
from reconvene.core.facts.events import Lines
from reconvene.core.facts.ids import digest_of
from reconvene.core.kit_finder import reader
from reconvene.core.shown.anchors import followed, make
from reconvene.doors.cli.ask import ask_yes, pick
from reconvene.doors.cli.common import DOOR
from reconvene.doors.cli.large_remarks import say_what_is_too_large
from reconvene.doors.cli.own_editor import Sheet, editor
from reconvene.doors.cli.typed_feedback import hanging_up_is_an_error
from reconvene.doors.cli.typed_lines import require_file, text_of
from reconvene.doors.cli.unsent_answers import keep_text
from reconvene.doors.shared.comment_lines import to_comment_on
from reconvene.doors.shared.comment_sheet import Noted, Reviewed, read, write
from reconvene.doors.shared.remarks import said_in
from reconvene.errors import ReconveneError, UserError

if TYPE_CHECKING:
    from reconvene.app.engine import Engine
    from reconvene.app.views.read_model import Remark
    from reconvene.doors.cli.draw_checkpoint import Screen

Confirm = Callable[[str, str], bool]  # a diff, and the question whether it is to be taken


class Made(Struct, frozen=True):
    """What came of one sitting. kept: the file with what was not taken."""

    remarks: Sequence[Remark] = ()
    edited: bool = False
    kept: str = ""


def review_at(screen: Screen, engine: Engine, run: str, by: str) -> Sequence[Remark]:
    """One file at a terminal: which, and whether changes of its text are taken, is asked."""
    shown, others = to_comment_on(engine.load(run))
    paths = [*shown, *others]
    path = pick("Which file?", [(path, path) for path in paths]) if len(paths) > 1 else paths[0]

    def confirm(diff: str, question: str) -> bool:
        screen.line(diff)
        return ask_yes(question)

    return Reviewing(engine, run, by, screen.line, confirm).review(path).remarks


class _Opened(Struct, frozen=True):
    path: str
    version: str
    text: str


class Reviewing:
    def __init__(self, engine: Engine, run: str, by: str, tell: Callable[[str], None], confirm: Confirm) -> None:
        self._engine = engine
        self._run = run
        self._by = by
        self._tell = tell
        self._confirm = confirm

    def review(self, path: str) -> Made:
        if not editor():
            raise UserError(
                "neither VISUAL nor EDITOR names an editor",
                hint=f"name one: EDITOR=nano reconvene review {self._run} {path}",
            )
        opened = self._open(path)
        before = write(self._run, path, opened.text, comments(self._engine, self._run, path))
        sheet = Sheet(before, os.path.basename(path))
        with hanging_up_is_an_error():
            try:
                sheet.edit()
            except (KeyboardInterrupt, EOFError):
                if sheet.saved != before.encode():
                    self._kept(sheet, opened, "interrupted: nothing was recorded")
                raise
        if sheet.saved == before.encode():
            self._tell("nothing was written")
            return Made()
        if sheet.code:
            return self._kept(sheet, opened, f"the editor ended with code {sheet.code}: nothing was recorded")
        try:
            sheet.saved.decode()
        except UnicodeDecodeError:
            return self._kept(sheet, opened, "what was saved is not UTF-8: nothing was recorded")
        return self._take(opened, sheet, read(sheet.text, before, opened.text))

    def _open(self, path: str) -> _Opened:
        """The file as it is, with what the person changed in the workspace on record."""
        self._engine.scan(self._run, by=self._by, door=DOOR)
        state = self._engine.load(self._run)
        require_file(state, path)
        version = state.world.files[path]
        return _Opened(path, version.digest, text_of(self._engine, path, version))

    def _take(self, opened: _Opened, sheet: Sheet, found: Reviewed) -> Made:
        for problem in found.problems:
            self._tell(problem)
        kept = ""
        taken = opened
        if found.text != opened.text:
            why = self._edit(opened, found.text)
            if why:
                kept = self._kept(sheet, opened, why).kept
            else:
                taken = _Opened(opened.path, digest_of(found.text.encode()), found.text)
        elif found.problems:
            kept = self._kept(sheet, opened, "not everything was taken").kept
        try:
            made = self._comment(taken, found)
        except ReconveneError as error:
            self._kept(sheet, opened, f"your comments could not be recorded: {error.message}")
            raise
        return Made(made, taken is not opened, kept)

    # --- an edit of the file ---

    def _edit(self, opened: _Opened, text: str) -> str:
        """The text as the person's edit of the file; why it was not taken, "" where it was."""
        old, new = opened.text.encode(), text.encode()
        diff = unified_diff(opened.path, old, new)
        if not self._confirm(diff, f"Take your changes of {opened.path} ({diff_summary(diff)})?"):
            return f"your changes of {opened.path} were not taken"
        edit = edit_of(opened.path, old, new, base=opened.version)
        try:
            self._engine.scan(self._run, by=self._by, door=DOOR)
            self._engine.submit(self._run, RecordEdits((edit.command,), self._by, DOOR), edit.contents)
        except ReconveneError as error:
            return f"your changes of {opened.path} were not taken: {error.message}"
        self._tell(f"{opened.path} is changed as you wrote it ({diff_summary(diff)})")
        return ""

    def _kept(self, sheet: Sheet, opened: _Opened, why: str) -> Made:
        try:
            path = keep_text(self._engine.home, self._run, os.path.basename(opened.path), sheet.saved)
        except OSError as error:
            self._tell(f"{why}; and it could not be kept ({error.strerror or error}):\n{sheet.text}")
            return Made(kept="-")
        self._tell(f"{why}; what you wrote is kept in {path}")
        return Made(kept=path)

    # --- comments ---

    def _comment(self, taken: _Opened, found: Reviewed) -> Sequence[Remark]:
        if not found.comments:
            return ()
        kits = self._engine.session(self._run).book.workflow.kits
        entries: list[Entry] = []
        for noted in found.comments:
            lines = self._lines(taken, found, noted)
            said = reader(kits).typed(noted.text)
            entries.append(Entry(replace(said, on=lines, lines=lines.name if lines else "")))
            if lines is None:
                self._tell(f"the line that “{noted.text}” is about is not in {taken.path}: recorded without it")
        say_what_is_too_large(self._engine, self._run, [entry.remark.text for entry in entries])
        record = OnRecord(self._engine, self._run, self._by, DOOR)
        record.become(entries)
        made = remarks(self._engine.load(self._run), record.remarks)
        for one in made:
            self._tell(f"{one.id} {said_in(one)}")
        return made

    def _lines(self, taken: _Opened, found: Reviewed, noted: Noted) -> Lines | None:
        """In the version that is on record. A comment on a line that is not part of it is about none."""
        if taken.text == found.text:
            return Lines(taken.path, taken.version, noted.first, noted.last)
        there = make(taken.path, "", found.text, noted.first, noted.last)
        place = followed(there, found.text, [taken.text]).place
        return Lines(taken.path, taken.version, place.first, place.last) if place is not None else None
