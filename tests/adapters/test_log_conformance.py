"""Both logs of this package keep the promises of the port."""

from __future__ import annotations

from pathlib import Path

from reconvene.adapters.sqlite import SqliteLog
from reconvene.ports import EventLog
from reconvene.testing.conformance import LogConformance
from reconvene.testing.memory import MemoryLog


class TestMemoryLog(LogConformance):
    def setup_method(self) -> None:
        super().setup_method()
        self._store = MemoryLog()

    def make_log(self, folder: Path) -> EventLog:
        return self._store


class TestSqliteLog(LogConformance):
    def make_log(self, folder: Path) -> EventLog:
        return SqliteLog(folder / "home" / "log.db")
