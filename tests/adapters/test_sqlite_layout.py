"""The layout of the store: old ones are brought up, whole or not at all; newer ones are refused and left alone."""

from __future__ import annotations

import hashlib
import json
import os
import re
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from reconvene.adapters.sqlite import SqliteLog, layout
from reconvene.core.facts.events import Paused
from reconvene.errors import StoreError
from reconvene.ports import Append, IndexRow

# A step as a real one would be: a new column, and a table built anew from the old one. `die` kills the process where a
# test says so, and does nothing elsewhere.
STEP = """
SELECT die(1);
ALTER TABLE runs ADD COLUMN team TEXT;
SELECT die(2);
CREATE TABLE appends_anew (key INTEGER PRIMARY KEY, events TEXT NOT NULL, kept INTEGER NOT NULL DEFAULT 1);
INSERT INTO appends_anew (key, events) SELECT key, events FROM appends;
SELECT die(3);
DROP TABLE appends;
SELECT die(4);
ALTER TABLE appends_anew RENAME TO appends;
CREATE TABLE moves (n INTEGER); INSERT INTO moves VALUES (1);
SELECT die(5);
"""

# What a release with one step more does: `release PATH STEPS DIE_AT`, then one command.
RELEASE = """
import json, os, signal, sqlite3, sys
from reconvene.adapters.sqlite import SqliteLog, layout
from reconvene.errors import StoreError
path, folder, die_at, patience = sys.argv[1:]

class Connection(sqlite3.Connection):
    def __init__(self, *given, **named):
        super().__init__(*given, **named)
        self.create_function("die", 1, lambda n: os.kill(os.getpid(), signal.SIGKILL) if str(n) == die_at else n)

plain = sqlite3.connect
sqlite3.connect = lambda *given, **named: plain(*given, **named, factory=Connection)
layout.FOLDER, layout.STEPS = folder, tuple(sorted(os.listdir(folder)))
layout.NEWEST = len(layout.STEPS)
print("ready", flush=True)
sys.stdin.readline()
try:
    log = SqliteLog(path, busy_timeout=float(patience))
    print(json.dumps([event.by for _, event in log.read("run-1")]), flush=True)
except StoreError as error:
    print(json.dumps(error.message + " " + error.hint), flush=True)
"""

SAID = [f"person {n}" for n in range(30)]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A store with a run in it."""
    path = tmp_path / "home" / "log.db"
    log = SqliteLog(path)
    for n, by in enumerate(SAID):
        log.append("run-1", n, Append([Paused(at="t", by=by)], row=IndexRow("run-1", "w", "waiting", "s", "u", "{}")))
    log.close()
    return path


@pytest.fixture
def steps(tmp_path: Path) -> Path:
    """The steps of a release that has one more."""
    folder = tmp_path / "steps"
    folder.mkdir()
    for name in layout.STEPS:
        (folder / name).write_text(Path(layout.FOLDER, name).read_text())
    (folder / f"{layout.NEWEST + 1:04d}_teams.sql").write_text(STEP)
    return folder


def release(path: Path, steps: Path, die_at: int = 0, patience: float = 300) -> subprocess.Popen[str]:
    """A process of that release, ready to open the store; it waits so many seconds for others."""
    child = subprocess.Popen(
        [sys.executable, "-c", RELEASE, str(path), str(steps), str(die_at), str(patience)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert child.stdout
    assert child.stdout.readline() == "ready\n"
    return child


def opened_by(path: Path, steps: Path, die_at: int = 0, patience: float = 300) -> object:
    """What it says of the store; the signal that ended it where it was killed."""
    child = release(path, steps, die_at, patience)
    said, _ = child.communicate("go\n")
    return json.loads(said) if said else child.returncode


def version(path: Path) -> int:
    connection = sqlite3.connect(path)
    found: int = connection.execute("PRAGMA user_version").fetchone()[0]
    connection.close()
    return found


def files(folder: Path) -> dict[str, str]:
    """Every file with a digest of its bytes. Not the shared memory of SQLite: it is an index, made anew when needed."""
    return {
        str(file.relative_to(folder)): hashlib.sha256(file.read_bytes()).hexdigest()
        for file in sorted(folder.rglob("*"))
        if file.is_file() and not file.name.endswith("-shm")
    }


# --- the steps of this release ---


def test_the_steps_are_all_there_in_order_and_leave_transactions_alone() -> None:
    assert sorted(os.listdir(layout.FOLDER)) == list(layout.STEPS)
    assert [int(name[:4]) for name in layout.STEPS] == list(range(1, layout.NEWEST + 1))
    for name in layout.STEPS:
        text = Path(layout.FOLDER, name).read_text()
        assert not re.search(r"(?im)^\s*(begin|commit|end|rollback|vacuum|pragma)\b", text), name


def test_a_new_store_has_taken_every_step(path: Path) -> None:
    assert version(path) == layout.NEWEST


# --- an old store ---


def test_an_old_store_is_brought_up_when_it_is_opened(path: Path, steps: Path) -> None:
    assert opened_by(path, steps) == SAID
    assert version(path) == layout.NEWEST + 1
    assert opened_by(path, steps) == SAID
    connection = sqlite3.connect(path)
    assert connection.execute("SELECT sum(kept) FROM appends").fetchone() == (len(SAID),)
    assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    connection.close()
    with pytest.raises(StoreError, match="newer release"):
        SqliteLog(path)


@pytest.mark.parametrize("die_at", [1, 2, 3, 4, 5])
def test_a_process_killed_in_the_middle_leaves_the_old_layout(path: Path, steps: Path, die_at: int) -> None:
    assert opened_by(path, steps, die_at) == -signal.SIGKILL
    log = SqliteLog(path)  # by this release, which knows nothing of the step
    assert [event.by for _, event in log.read("run-1") if isinstance(event, Paused)] == SAID
    log.append("run-1", len(SAID), Append([Paused(at="t", by="after")]))
    log.close()
    assert opened_by(path, steps) == [*SAID, "after"]
    assert version(path) == layout.NEWEST + 1


def test_of_many_that_open_an_old_store_at_once_one_brings_it_up(path: Path, steps: Path) -> None:
    children = [release(path, steps) for _ in range(4)]
    for child in children:
        assert child.stdin
        child.stdin.write("go\n")
        child.stdin.flush()
    assert [json.loads(child.communicate()[0]) for child in children] == [SAID] * 4
    connection = sqlite3.connect(path)
    assert connection.execute("SELECT count(*) FROM moves").fetchone() == (1,)
    connection.close()


def test_a_store_that_another_release_has_open_keeps_its_layout(path: Path, steps: Path) -> None:
    """It may write at any moment, in the old layout."""
    log = SqliteLog(path)
    said = str(opened_by(path, steps, patience=0.05))
    assert f"has the layout {layout.NEWEST}" in said
    assert "Nothing was changed" in said
    log.append("run-1", len(SAID), Append([Paused(at="t", by="still here")]))
    log.close()
    assert opened_by(path, steps) == [*SAID, "still here"]


def test_a_step_that_fails_changes_nothing(path: Path, steps: Path) -> None:
    (steps / f"{layout.NEWEST + 1:04d}_teams.sql").write_text(STEP + "INSERT INTO no_such_table VALUES (1);")
    assert "no such table: no_such_table" in str(opened_by(path, steps))
    log = SqliteLog(path)
    assert len(log.read("run-1")) == len(SAID)
    log.close()


def test_steps_are_taken_one_by_one_from_any_version(path: Path, steps: Path) -> None:
    (steps / f"{layout.NEWEST + 2:04d}_twice.sql").write_text("SELECT die(6);\n-- nothing but a new number")
    assert opened_by(path, steps, die_at=6) == -signal.SIGKILL
    assert version(path) == layout.NEWEST + 1
    assert opened_by(path, steps) == SAID
    assert version(path) == layout.NEWEST + 2


# --- a newer store ---


def make_newer(path: Path, *, then: str) -> None:
    """As a newer release left it. Where its process was killed, what it wrote last is in a file beside it."""
    script = f"""
import os, signal, sqlite3
connection = sqlite3.connect({str(path)!r}, isolation_level=None)
connection.execute("CREATE TABLE later (a)")
connection.execute("PRAGMA user_version=99")
{then}
"""
    subprocess.run([sys.executable, "-c", script])


@pytest.mark.parametrize(
    "then", ["connection.close()", "os.kill(os.getpid(), signal.SIGKILL)"], ids=["closed", "killed"]
)
def test_the_store_of_a_newer_release_is_refused_and_left_alone(path: Path, then: str) -> None:
    make_newer(path, then=then)
    before = files(path.parent)
    assert ("log.db-wal" in before) == ("kill" in then)
    # In a process of its own: what SQLite does at the last close must have been done.
    script = "import sys; from reconvene.adapters.sqlite import SqliteLog; SqliteLog(sys.argv[1])"
    ended = subprocess.run([sys.executable, "-c", script, str(path)], capture_output=True, text=True)
    said = f"newer release of Reconvene (its layout is 99, this release knows {layout.NEWEST})"
    assert said in ended.stderr
    assert files(path.parent) == before
    assert version(path) == 99


def test_a_refused_store_says_what_to_type(path: Path) -> None:
    make_newer(path, then="connection.close()")
    with pytest.raises(StoreError, match=re.escape(str(path))) as caught:
        SqliteLog(path)
    assert "pip install --upgrade reconvene" in caught.value.hint
    assert "Nothing was changed" in caught.value.hint


def test_a_version_that_no_release_has_is_refused(path: Path) -> None:
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA user_version=-3")
    connection.close()
    with pytest.raises(StoreError, match="its layout is -3"):
        SqliteLog(path)
