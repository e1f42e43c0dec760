"""The desk of a home: `desk.sqlite`, and the folder `uploads/` beside it.

Nothing here is a fact of a run. Whoever loses or deletes these files loses drafts, ticks, marks, sign-ins and uploads,
and no decision, remark or output: those are in the log.
"""

from __future__ import annotations

import os
from datetime import timedelta

from reconvene.adapters.desk.desk_file import DeskFile, earlier
from reconvene.adapters.desk.person_marks import PersonMarks
from reconvene.adapters.desk.signed_in import SignedIn
from reconvene.adapters.desk.upload_files import UploadFiles
from reconvene.desk_ports import KEPT_DAYS, KEPT_HOURS

FILE, FOLDER = "desk.sqlite", "uploads"  # of a home
_OF_RUNS = ("drafts", "ticks", "marks", "snoozes")


class HomeDesk(PersonMarks, SignedIn, UploadFiles):
    """desk_ports.Desk. Safe to share between threads. A forked child must open its own."""

    def __init__(self, home: str | os.PathLike[str]) -> None:
        root = os.path.abspath(home)
        self._file = DeskFile(os.path.join(root, FILE))
        self._folder = os.path.join(root, FOLDER)

    def drop_run(self, run: str) -> None:
        with self._file.transaction():
            for table in _OF_RUNS:
                self._file.do(f"DELETE FROM {table} WHERE run = ?", run)
            self._drop("run = ?", run)

    def drop_person(self, person: str) -> None:
        with self._file.transaction():
            for table in (*_OF_RUNS, "requests", "sessions"):
                self._file.do(f"DELETE FROM {table} WHERE person = ?", person)
            self._drop("person = ?", person)

    def sweep(self, now: str) -> None:
        with self._file.transaction():
            self._file.do("DELETE FROM requests WHERE at <= ?", earlier(now, timedelta(hours=KEPT_HOURS)))
            self._file.do("DELETE FROM sessions WHERE expires <= ?", now)
            self._file.do("DELETE FROM snoozes WHERE until <> '' AND until <= ?", now)
            self._file.do("DELETE FROM drafts WHERE doc = '' AND at < ?", earlier(now, timedelta(days=KEPT_DAYS)))
            self._sweep_uploads(now)

    def close(self) -> None:
        self._file.close()
