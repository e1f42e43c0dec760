"""A home that is damaged says so, with the next command; what may only be read can be read; leftovers can be swept."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from commands import Command
from reconvene.wiring import open_engine

RUN = "two-step-1"
TESTS = Path(__file__).parents[2]


@pytest.fixture
def home(folder: Path, reconvene: Command) -> Path:
    assert reconvene("run", "two-step.yaml", "--no-input").code == 3
    assert reconvene("remark", RUN, "Say more.").code == 0
    return folder / ".reconvene"


def beside(home: Path) -> list[Path]:
    return [path for end in ("-wal", "-shm") if (path := home / f"reconvene.db{end}").exists()]


# --- damage ---


def flipped(home: Path) -> None:
    store = home / "reconvene.db"
    data = bytearray(store.read_bytes())
    for at in range(4096, len(data), 512):
        data[at] ^= 0xFF
    store.write_bytes(data)


def truncated(home: Path) -> None:
    os.truncate(home / "reconvene.db", (home / "reconvene.db").stat().st_size // 2)


def emptied(home: Path) -> None:
    os.truncate(home / "reconvene.db", 0)


def removed(home: Path) -> None:
    for path in (home / "reconvene.db", *beside(home)):
        path.unlink()


def without_contents(home: Path) -> None:
    with closing(sqlite3.connect(home / "reconvene.db")) as store, store:
        assert store.execute("DELETE FROM artefacts WHERE CAST(data AS TEXT) LIKE '# Draft%'").rowcount


def cut(home: Path) -> None:
    """As where a write-ahead log was lost: the store is whole, and older."""
    with closing(sqlite3.connect(home / "reconvene.db")) as store, store:
        (head,) = store.execute("SELECT max(key & 0xffffffff) FROM appends").fetchone()
        store.execute("DELETE FROM appends WHERE (key & 0xffffffff) = ?", (head,))
        (now,) = store.execute("SELECT max(key & 0xffffffff) FROM appends").fetchone()
        store.execute("UPDATE runs SET head = ?", (now,))
        store.execute("DELETE FROM snapshots")


def replaced(home: Path) -> None:
    removed(home)
    fresh = home.parent / "fresh"
    open_engine(str(fresh)).log.close()
    shutil.copy(fresh / "reconvene.db", home / "reconvene.db")


@pytest.mark.parametrize("damage", [flipped, truncated, emptied, removed, without_contents, cut, replaced])
def test_damage_is_noticed_and_the_next_command_is_named(
    home: Path, reconvene: Command, damage: Callable[[Path], None]
) -> None:
    damage(home)
    found = reconvene("doctor")
    said = found.out + found.err
    assert found.code == 1
    assert "reconvene restore FILE" in said or "reconvene verify" in said or "Restore it from a backup" in said, said
    assert "nothing is lost" not in said.lower()


def test_a_store_that_knows_no_run_says_so_through_every_door(home: Path, reconvene: Command) -> None:
    replaced(home)
    said = "he store knows no run, and yet there are folders of two-step-1: it was lost or replaced"
    for words in (
        *(("inbox",), ("runs",), ("show", RUN), ("log", RUN), ("files", RUN), ("decide", RUN, "--option", "Continue")),
        *(("remark", RUN, "hello"), ("run", "two-step.yaml", "--no-input"), ("serve", "--port", "0"), ("mcp",)),
    ):
        found = reconvene(*words)
        assert said in found.out + found.err, words
    assert not (home / "runs" / "two-step-2").exists()


def test_a_history_that_is_gone_is_told_and_made_again(home: Path, reconvene: Command) -> None:
    shutil.rmtree(home / "history.git")
    found = reconvene("doctor")
    assert found.code == 1
    told = f"✗ commits            the git history has no commit of {RUN}; to make it: reconvene verify {RUN} --mend"
    assert told in found.out
    assert reconvene("verify", RUN, "--mend").code == 0
    assert reconvene("doctor").code == 0


# --- only to be read ---

_CALLS = """
import json, sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from commands import call
for words in json.loads(sys.argv[2]):
    done = call(*words, cwd=Path.cwd())
    print(json.dumps([words, done.code, done.out, done.err]))
"""
_READ = (
    *(["inbox"], ["runs"], ["show", RUN], ["log", RUN], ["files", RUN], ["files", RUN, "draft.md"], ["ledger", RUN]),
    *(["verify"], ["output", RUN], ["doctor"], ["rounds", RUN]),
)


def read_only(home: Path, *calls: list[str]) -> list[tuple[list[str], int, str, str]]:
    bwrap = shutil.which("bwrap")
    if bwrap is None:
        pytest.skip("bubblewrap makes the mount that may only be read")
    bound = ["--dev-bind", "/", "/", "--ro-bind", str(home), str(home)]
    words = [bwrap, *bound, sys.executable, "-c", _CALLS, str(TESTS), json.dumps(calls)]
    done = subprocess.run(words, cwd=home.parent, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    return [tuple(json.loads(line)) for line in done.stdout.splitlines()]


@pytest.mark.parametrize("left", ["nothing", "a write-ahead log"])
def test_a_home_that_may_only_be_read_can_be_read(
    home: Path, folder: Path, reconvene: Command, tmp_path: Path, left: str
) -> None:
    if left == "a write-ahead log":  # as a process leaves it that was killed
        log = open_engine(str(home)).log
        copy = {path.name: path.read_bytes() for path in (home / "reconvene.db", *beside(home))}
        with closing(sqlite3.connect(home / "reconvene.db")) as store:
            store.execute("PRAGMA wal_autocheckpoint=0")
            assert reconvene("remark", RUN, "In the log alone.").code == 0
            copy = {path.name: path.read_bytes() for path in (home / "reconvene.db", *beside(home))}
        log.close()
        for name in ("reconvene.db", "reconvene.db-wal"):
            (home / name).write_bytes(copy[name])
        (home / "reconvene.db-shm").unlink(missing_ok=True)
        assert (home / "reconvene.db-wal").stat().st_size
    found = read_only(home, *_READ, ["remark", RUN, "hello"], ["backup", str(tmp_path / "copy.zip")])
    *read, said, kept = found
    assert [(words, code) for words, code, _, err in read if code] == []
    ledger = next(out for words, _, out, _ in read if words[0] == "ledger")
    assert ("In the log alone." in ledger) == (left != "nothing")
    assert "Say more." in ledger
    assert (said[1], "is read-only" in said[3]) == (1, True)
    assert (kept[1], (tmp_path / "copy.zip").exists()) == (0, True), kept[3]


# --- leftovers ---


def test_what_ended_processes_left_is_named_and_swept(home: Path, reconvene: Command) -> None:
    old = [home / "runs" / RUN / ".reconvene-tmp-0123", home / "reconvene.db.new", home / "history.git" / "HEAD.lock"]
    dead, notes = home / "processes" / "0123456789abcdef", home / "manifests" / "gone-1.json"
    young = home / "runs" / RUN / ".reconvene-tmp-4567"
    dead.parent.mkdir(exist_ok=True)
    for path in (*old, dead, notes, young):
        path.write_text("{}")
    for path in old:
        os.utime(path, (0, 0))
    found = reconvene("doctor")
    assert (found.code, "and 4 more; to remove: reconvene doctor --sweep" in found.out) == (0, True), found.out
    assert all(path.exists() for path in (*old, dead, notes))
    swept = reconvene("doctor", "--sweep")
    assert (swept.code, "5 of 5 removed" in swept.out) == (0, True)
    assert not any(path.exists() for path in (*old, dead, notes))
    assert young.exists()
    assert (home / "shown" / f"{RUN}.jsonl").exists()
    assert "leftovers" not in reconvene("doctor").out


def test_work_that_is_not_recorded_yet_is_named(home: Path, reconvene: Command) -> None:
    place = home / "finished" / RUN
    place.mkdir(parents=True)
    (place / "0.finished").write_bytes(b"")
    found = reconvene("doctor")
    assert (found.code, f"to record it: reconvene resume {RUN}" in found.out) == (1, True)
