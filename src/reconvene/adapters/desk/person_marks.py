"""What people prepare, have looked at, have read and put off: `Drafts` and `Marks` in the desk's file."""

from __future__ import annotations

from typing import cast

from reconvene.adapters.desk.desk_file import DeskFile
from reconvene.desk_ports import MOST_DRAFT, MOST_TICKS, Draft, Mark, Snooze
from reconvene.errors import Conflict, UserError

_ONE_DRAFT = "person = ? AND run = ? AND checkpoint = ?"
_DRAFTS = "SELECT checkpoint, revision, doc, at FROM drafts WHERE person = ? AND run = ? AND doc <> '' ORDER BY at"
_MARK = """INSERT INTO marks (person, run, {0}, {0}_at) VALUES (?, ?, ?, ?) ON CONFLICT (person, run) DO UPDATE
    SET {0} = max({0}, excluded.{0}), {0}_at = max({0}_at, excluded.{0}_at)"""
_HELD = "SELECT run, until, seq FROM snoozes WHERE person = ? AND (until = '' OR until > ?)"


class PersonMarks:
    _file: DeskFile

    # --- drafts ---

    def draft(self, person: str, run: str, checkpoint: str) -> Draft:
        found = self._file.row(f"SELECT revision, doc, at FROM drafts WHERE {_ONE_DRAFT}", person, run, checkpoint)
        return Draft(*cast("tuple[int, str, str]", found)) if found else Draft()

    def drafts(self, person: str, run: str) -> dict[str, Draft]:
        found = self._file.rows(_DRAFTS, person, run)
        return {str(row[0]): Draft(*cast("tuple[int, str, str]", row[1:])) for row in found}

    def keep_draft(self, person: str, run: str, checkpoint: str, doc: str, revision: int, now: str) -> Draft:
        if len(doc) > MOST_DRAFT:
            raise UserError(
                f"This draft has {len(doc):,} characters; at most {MOST_DRAFT:,} are kept.",
                hint="Send a part of it as remarks, or put long texts into a file.",
            )
        with self._file.transaction():
            found = self.draft(person, run, checkpoint)
            if found.revision != revision:
                raise Conflict(
                    f"This draft has changed elsewhere: it is at revision {found.revision}, not {revision}.",
                    hint="Nothing was overwritten. Load it again, and add what you typed.",
                )
            self._put(person, run, checkpoint, doc, revision + 1, now)
        return Draft(revision + 1, doc, now)

    def drop_draft(self, person: str, run: str, checkpoint: str, now: str) -> None:
        with self._file.transaction():
            if (found := self.draft(person, run, checkpoint)).doc:
                self._put(person, run, checkpoint, "", found.revision + 1, now)

    def _put(self, person: str, run: str, checkpoint: str, doc: str, revision: int, now: str) -> None:
        put = "INSERT OR REPLACE INTO drafts (person, run, checkpoint, revision, at, doc) VALUES (?, ?, ?, ?, ?, ?)"
        self._file.do(put, person, run, checkpoint, revision, now, doc)

    # --- ticks ---

    def tick(self, person: str, run: str, path: str, digest: str, now: str) -> None:
        if not digest:
            self._file.do("DELETE FROM ticks WHERE person = ? AND run = ? AND path = ?", person, run, path)
            return
        with self._file.transaction():
            self._file.do("INSERT OR REPLACE INTO ticks VALUES (?, ?, ?, ?, ?)", person, run, path, digest, now)
            counted = self._file.row("SELECT count(*) FROM ticks WHERE person = ? AND run = ?", person, run)
            if cast("tuple[int]", counted)[0] > MOST_TICKS:
                raise UserError(f"At most {MOST_TICKS:,} files of a run can be ticked.")

    def ticked(self, person: str, run: str) -> dict[str, str]:
        found = self._file.rows("SELECT path, digest FROM ticks WHERE person = ? AND run = ?", person, run)
        return dict(cast("list[tuple[str, str]]", found))

    # --- how far they are ---

    def mark_read(self, person: str, run: str, seq: int, now: str) -> None:
        self._file.do(_MARK.format("read"), person, run, seq, now)

    def mark_seen(self, person: str, run: str, seq: int, now: str) -> None:
        self._file.do(_MARK.format("seen"), person, run, seq, now)

    def mark(self, person: str, run: str) -> Mark:
        found = self._file.row(
            "SELECT read, read_at, seen, seen_at FROM marks WHERE person = ? AND run = ?", person, run
        )
        return Mark(*cast("tuple[int, str, int, str]", found)) if found else Mark()

    def last_here(self, person: str) -> str:
        found = self._file.row("SELECT max(max(seen_at, read_at)) FROM marks WHERE person = ?", person)
        return cast("str | None", found[0] if found else None) or ""

    # --- what they put off ---

    def snooze(self, person: str, run: str, snooze: Snooze) -> None:
        if not snooze.until and not snooze.seq:
            raise UserError("Say until when the run is put off, or that a change ends it.")
        self._file.do("INSERT OR REPLACE INTO snoozes VALUES (?, ?, ?, ?)", person, run, *snooze)

    def wake(self, person: str, run: str) -> None:
        self._file.do("DELETE FROM snoozes WHERE person = ? AND run = ?", person, run)

    def snoozed(self, person: str, now: str) -> dict[str, Snooze]:
        found = cast("list[tuple[str, str, int]]", self._file.rows(_HELD, person, now))
        return {run: Snooze(until, seq) for run, until, seq in found}
