"""The raw floor: what the disk and SQLite alone cost for the same durability. No engine can be below it."""

from __future__ import annotations

import asyncio
import sqlite3
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from bench.stepper import Turn

ROW = b"x" * 1024


def connect(path: Path | str) -> sqlite3.Connection:
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("PRAGMA synchronous=FULL")
    connection.execute("CREATE TABLE IF NOT EXISTS log (seq INTEGER PRIMARY KEY, run TEXT, data BLOB)")
    return connection


def commit(connection: sqlite3.Connection, rows: int = 1, run: str = "r") -> None:
    """One durable transaction of `rows` rows of 1 KB."""
    connection.execute("BEGIN IMMEDIATE")
    connection.executemany("INSERT INTO log (run, data) VALUES (?, ?)", [(run, ROW)] * rows)
    connection.execute("COMMIT")


def stepped(path: Path, count: int, turn: Turn) -> None:
    """`count` commits, one after the other."""
    connection = connect(path)
    for _ in range(count):
        turn()
        commit(connection)
    connection.close()


def fanout(path: Path, agents: int, rounds: int, seconds: float) -> float:
    """`agents` sleeps at the same time, then one commit holding all their outputs; `rounds` times."""

    async def all_rounds() -> float:
        begun = time.perf_counter()
        for _ in range(rounds):
            await asyncio.gather(*(asyncio.sleep(seconds) for _ in range(agents)))
            commit(connection, agents)
        return time.perf_counter() - begun

    connection = connect(path)
    commit(connection)
    taken = asyncio.run(all_rounds())
    connection.close()
    return taken


def resume(path: Path | str) -> float:
    """Open the database, read a short log, record a decision, then an output with the next checkpoint."""
    begun = time.perf_counter()
    connection = connect(path)
    connection.execute("SELECT data FROM log WHERE run = ? ORDER BY seq", ("r",)).fetchall()
    commit(connection)
    commit(connection, 2)
    taken = time.perf_counter() - begun
    connection.close()
    return taken
