"""Burr (Apache) with its SQLite persister, given the same work to do.

The persister leaves SQLite at its defaults: `synchronous=FULL`, as everybody here, but a rollback journal, which costs
several fsyncs a step. It accepts a connection, so it can also be handed one in WAL mode.
Imports stay inside the functions: without Burr installed everything else still runs.
"""

from __future__ import annotations

import sqlite3
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bench.stepper import Turn


def stepped(path: Path, count: int, turn: Turn) -> None:
    """One action taken `count` times; the state is saved after each. The persister as it ships."""
    _loop(sqlite3.connect(path, check_same_thread=False), path, count, turn)


def stepped_in_wal(path: Path, count: int, turn: Turn) -> None:
    """The same on a connection in WAL mode."""
    connection = sqlite3.connect(path, check_same_thread=False)
    connection.execute("PRAGMA journal_mode=WAL")
    _loop(connection, path, count, turn)


def _loop(connection: sqlite3.Connection, path: Path, count: int, turn: Turn) -> None:
    # Its types are not complete enough for mypy --strict.
    core: Any = import_module("burr.core")
    persistence: Any = import_module("burr.core.persistence")

    def work(state: Any) -> Any:
        turn()
        return state.update(n=state["n"] + 1, text="done")

    def end(state: Any) -> Any:
        return state

    assert connection.execute("PRAGMA synchronous").fetchone() == (2,)  # FULL
    keeper = persistence.SQLitePersister(str(path), connection=connection)
    keeper.initialize()
    application = (
        core.ApplicationBuilder()
        .with_actions(
            work=core.action(reads=["n"], writes=["n", "text"])(work), end=core.action(reads=[], writes=[])(end)
        )
        .with_transitions(("work", "work", core.expr(f"n < {count}")), ("work", "end", core.default))
        .with_state(n=0, text="")
        .with_entrypoint("work")
        .with_identifiers(app_id="run")
        .with_state_persister(keeper)
        .build()
    )
    _, _, state = application.run(halt_after=["end"])
    assert state["n"] == count
    keeper.cleanup()
