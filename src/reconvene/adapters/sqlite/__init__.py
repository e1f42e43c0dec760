"""The event log in one SQLite file. Importing it stays light: listing the inbox must not load the event types."""

from reconvene.adapters.sqlite.log import SqliteLog

__all__ = ["SqliteLog"]
