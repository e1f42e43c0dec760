"""The SQLite log where it can hurt: several processes, kill -9, full disks, locks, damaged and foreign files."""

from __future__ import annotations

import json
import os
import random
import signal
import sqlite3
import stat
import subprocess
import sys
import zlib
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from reconvene.adapters.sqlite import SqliteLog
from reconvene.adapters.sqlite.presence import Presence
from reconvene.core.facts.events import Paused, RemarkAdded
from reconvene.core.facts.ids import digest_of
from reconvene.errors import StoreError
from reconvene.ports import Append, IndexRow
from reconvene.testing.chain_conformance import chain_holds

AT = "2026-03-01T09:00:00.000Z"

PRELUDE = """
import json, os, random, subprocess, sys
from reconvene.adapters.sqlite import SqliteLog
from reconvene.core.facts.events import Paused
from reconvene.core.facts.ids import digest_of
from reconvene.errors import Conflict, StoreError
from reconvene.ports import Append, IndexRow
path, name = sys.argv[1:]
def say(thing): print(json.dumps(thing), flush=True)
def row(head): return IndexRow("run-1", "w", "running", "s", "u", str(head))
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "home" / "log.db"


@pytest.fixture
def log(path: Path) -> Iterator[SqliteLog]:
    opened = SqliteLog(path, busy_timeout=0.05)
    yield opened
    opened.close()


@contextmanager
def process(script: str, path: Path, name: str = "p") -> Iterator[subprocess.Popen[str]]:
    """A real one, talking JSON lines; never left behind."""
    child = subprocess.Popen(
        [sys.executable, "-c", PRELUDE + script, str(path), name],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with child:
        try:
            yield child
        finally:
            child.kill()


def heard(child: subprocess.Popen[str]) -> Any:
    assert child.stdout
    return json.loads(child.stdout.readline())


def started_together(children: list[subprocess.Popen[str]]) -> list[Any]:
    """Let them go once all are ready; what each of them then says."""
    assert [heard(child) for child in children] == ["ready"] * len(children)
    for child in children:
        assert child.stdin
        child.stdin.write("go\n")
        child.stdin.flush()
    return [heard(child) for child in children]


def paused(by: object) -> Paused:
    return Paused(at=AT, by=str(by))


def remark(text: str) -> RemarkAdded:
    return RemarkAdded(at=AT, id="FB-001", number=1, kind="comment", text=text)


def row(run: str = "run-1", status: str = "waiting", doc: str = "{}") -> IndexRow:
    return IndexRow(run, "workflow", status, AT, AT, doc)


def writers(log: SqliteLog) -> list[str]:
    return [event.by for _, event in log.read("run-1") if isinstance(event, Paused)]


# -- several processes


RACE = """
log = SqliteLog(path, busy_timeout=300)
say("ready"); sys.stdin.readline()
won = []
for place in range(100):
    try:
        data = f"{name}{place}".encode()
        log.append("run-1", place, Append([Paused(at="t", by=name)], {digest_of(data): data}, row(place)))
        won.append(place)
    except Conflict:
        pass
say(won)
"""


def test_four_processes_that_race_for_every_place_win_each_exactly_once(path: Path) -> None:
    with ExitStack() as stack:
        children = [stack.enter_context(process(RACE, path, str(name))) for name in range(4)]
        won = started_together(children)
    winners = {place: str(name) for name, places in enumerate(won) for place in places}
    assert sum(len(places) for places in won) == len(winners) == 100
    log = SqliteLog(path)
    assert writers(log) == [winners[place] for place in range(100)]
    for place in range(100):
        written = f"{winners[place]}{place}".encode()
        assert log.artefact(digest_of(written)) == written
    assert chain_holds(log, "run-1")
    log.close()


CREATE = """
say("ready"); sys.stdin.readline()
say(SqliteLog(path, busy_timeout=300).append("run-" + name, 0, Append([Paused(at="t")])))
"""


def test_processes_that_create_the_same_log_at_the_same_moment_all_succeed(path: Path) -> None:
    with ExitStack() as stack:
        children = [stack.enter_context(process(CREATE, path, str(name))) for name in range(4)]
        assert started_together(children) == [1, 1, 1, 1]


APPEND = """
log = SqliteLog(path)
head = log.head("run-1")
while True:
    by = str(head)
    data = by.encode() * 50
    head = log.append("run-1", head, Append([Paused(at="t", by=by)], {digest_of(data): data}, row(head + 1)))
    say(head)
"""


def test_every_append_acknowledged_before_a_kill_is_there_after_it(path: Path) -> None:
    for acknowledged_at_least in (1, 7, 40, 3, 25):
        with process(APPEND, path) as child:
            acknowledged = 0
            for _ in range(acknowledged_at_least):
                acknowledged = heard(child)
            os.kill(child.pid, signal.SIGKILL)
            assert child.stdout
            for line in child.stdout:  # what it still said before it died
                acknowledged = int(line)
        log = SqliteLog(path)
        head = log.head("run-1")
        assert head in (acknowledged, acknowledged + 1)
        assert writers(log) == [str(n) for n in range(head)]
        for n in range(head):
            data = str(n).encode() * 50
            assert log.artefact(digest_of(data)) == data
        found = log.index_row("run-1")
        assert found
        assert found.doc == str(head)
        assert chain_holds(log, "run-1")
        log.close()


# -- leases


HOLD = """
log = SqliteLog(path)
assert log.acquire("run-1", name)
helper = subprocess.Popen(["cat"], stdin=subprocess.PIPE)
say("held"); sys.stdin.readline()
"""


def test_the_lease_of_a_killed_process_is_taken_over_at_once(log: SqliteLog, path: Path) -> None:
    with process(HOLD, path) as child:
        assert heard(child) == "held"
        assert not log.acquire("run-1", "me")
        os.kill(child.pid, signal.SIGKILL)
        child.wait()
        assert log.acquire("run-1", "me")
    assert len(list((path.parent / "processes").iterdir())) == 1  # the dead one's sign is gone, mine is up


def test_a_process_that_is_only_stopped_keeps_its_lease(log: SqliteLog, path: Path) -> None:
    with process(HOLD, path) as child:
        assert heard(child) == "held"
        os.kill(child.pid, signal.SIGSTOP)
        assert not log.acquire("run-1", "me")


def test_a_run_is_no_longer_driven_when_its_process_was_killed(log: SqliteLog, path: Path) -> None:
    assert log.driven() == frozenset()
    assert not (path.parent / "processes").exists()  # looking puts no sign up
    with process(HOLD, path) as child:
        assert heard(child) == "held"
        assert log.driven() == {"run-1"}
        os.kill(child.pid, signal.SIGSTOP)
        assert log.driven() == {"run-1"}
        os.kill(child.pid, signal.SIGKILL)
        child.wait()
        assert log.driven() == frozenset()
        assert len(list((path.parent / "processes").iterdir())) == 1  # looking tidies nothing away
        assert log.acquire("run-1", "me")
        assert log.driven() == {"run-1"}


def test_of_many_heirs_of_a_dead_process_exactly_one_gets_the_lease(path: Path) -> None:
    with process(HOLD, path) as child:
        assert heard(child) == "held"
    logs = [SqliteLog(path) for _ in range(4)]
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(lambda log: log.acquire("run-1", "heir"), logs)).count(True) == 1
    for log in logs:
        log.close()


def test_what_dead_processes_left_behind_is_swept_by_the_next_one(log: SqliteLog, path: Path) -> None:
    for _ in range(3):
        with process(HOLD, path) as child:
            assert heard(child) == "held"
    (path.parent / "processes" / "README").write_text("not ours to remove")
    assert log.acquire("another run", "me")
    assert len(list((path.parent / "processes").iterdir())) == 2


def test_closing_gives_up_every_lease_and_takes_the_sign_of_life_down(log: SqliteLog, path: Path) -> None:
    other = SqliteLog(path)
    assert other.acquire("run-1", "holder")
    assert not log.acquire("run-1", "holder")  # the same name elsewhere is somebody else
    other.close()
    assert log.acquire("run-1", "me")
    log.close()
    assert not list((path.parent / "processes").iterdir())


# -- the disk


def test_a_full_disk_is_said_plainly_and_the_log_goes_on_when_there_is_space(log: SqliteLog) -> None:
    log.append("run-1", 0, Append([paused(0)], row=row()))
    pages = log._connection.execute("PRAGMA page_count").fetchone()[0]
    log._connection.execute(f"PRAGMA max_page_count={pages + 3}")
    artefacts = {"small": b"x", "big": random.Random(1).randbytes(50_000)}
    with pytest.raises(StoreError, match="disk is full") as caught:
        log.append("run-1", 1, Append([paused(1)], artefacts, row(status="failed")))
    assert "Free some space" in caught.value.hint
    assert log.head("run-1") == 1
    assert writers(log) == ["0"]
    assert log.index() == [row()]
    with pytest.raises(StoreError, match="small"):
        log.artefact("small")

    log._connection.execute("PRAGMA max_page_count=1000000")
    assert log.append("run-1", 1, Append([paused(1)], {"small": b"x"}, row())) == 2
    assert writers(log) == ["0", "1"]


FAILING_WRITE = """
import resource
log = SqliteLog(path)
head = log.append("run-1", 0, Append([Paused(at="t", by="0")], row=row(1)))
hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
resource.setrlimit(resource.RLIMIT_FSIZE, (os.path.getsize(path + "-wal") + 10_000, hard))
try:
    log.append("run-1", head, Append([Paused(at="t", by="1")], {"big": random.Random(1).randbytes(100_000)}, row(2)))
    say("not refused")
except StoreError as error:
    say(error.message)
resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
log.append("run-1", head, Append([Paused(at="t", by="2")], row=row(2)))
say([event.by for _, event in log.read("run-1")])
"""


def test_a_write_that_the_system_refuses_leaves_nothing_and_can_be_tried_again(path: Path) -> None:
    with process(FAILING_WRITE, path) as child:
        assert "the disk reported an error" in heard(child)
        assert heard(child) == ["0", "2"]
    log = SqliteLog(path)
    assert writers(log) == ["0", "2"]
    log.close()


def test_a_locked_database_is_said_plainly_and_can_still_be_read(log: SqliteLog, path: Path) -> None:
    log.append("run-1", 0, Append([paused(0)], row=row()))
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(StoreError, match="is locked") as caught:
        log.append("run-1", 1, Append([paused(1)], row=row()))
    assert "try again" in caught.value.hint
    with pytest.raises(StoreError, match="is locked"):
        log.acquire("run-1", "me")
    assert writers(log) == ["0"]
    assert log.index() == [row()]
    other.execute("ROLLBACK")
    other.close()
    assert log.append("run-1", 1, Append([paused(1)], row=row())) == 2


def test_a_file_that_is_no_database_is_refused_and_left_alone(path: Path) -> None:
    path.parent.mkdir()
    path.write_bytes(b"Dear diary, " * 500)
    with pytest.raises(StoreError, match="not a Reconvene log"):
        SqliteLog(path)
    assert path.read_bytes() == b"Dear diary, " * 500


def test_somebody_elses_database_is_refused_and_left_alone(path: Path) -> None:
    path.parent.mkdir()
    other = sqlite3.connect(path)
    other.execute("CREATE TABLE recipes (name)")
    other.commit()
    other.close()
    before = path.read_bytes()
    with pytest.raises(StoreError, match="not a Reconvene log"):
        SqliteLog(path)
    assert path.read_bytes() == before


def test_an_empty_file_is_no_store_and_is_left_alone(path: Path) -> None:
    path.parent.mkdir()
    path.touch()
    with pytest.raises(StoreError, match="is damaged: it is empty") as caught:
        SqliteLog(path)
    assert "backup" in caught.value.hint
    assert [(file.name, file.stat().st_size) for file in path.parent.iterdir()] == [(path.name, 0)]


KILLED_WHILE_IT_IS_MADE = """
import os, signal, sys
from reconvene.adapters.sqlite import SqliteLog, layout
take = layout._take_steps
def die(connection, version):
    take(connection, version)
    os.kill(os.getpid(), signal.SIGKILL)
layout._take_steps = die
SqliteLog(sys.argv[1])
"""


def test_a_process_that_is_killed_while_it_makes_the_store_leaves_none(path: Path) -> None:
    killed = subprocess.run([sys.executable, "-c", KILLED_WHILE_IT_IS_MADE, str(path)], timeout=300, check=False)
    assert killed.returncode == -signal.SIGKILL
    assert not path.exists()
    log = SqliteLog(path)
    assert log.append("run-1", 0, Append([paused(0)], row=row())) == 1
    log.close()
    assert not list(path.parent.glob("*.new*"))


def test_a_damaged_database_is_said_plainly(path: Path) -> None:
    log, noise = SqliteLog(path), random.Random(1)
    for n in range(50):
        log.append("run-1", n, Append([remark(noise.randbytes(1_000).hex())], row=row()))
    log.close()
    content = path.read_bytes()
    path.write_bytes(content[: 8 * 4096] + b"\xa5" * (len(content) - 8 * 4096))
    log = SqliteLog(path)
    with pytest.raises(StoreError, match="is damaged") as caught:
        log.read("run-1")
    assert "backup" in caught.value.hint
    log.close()


def test_a_database_whose_complaints_cannot_be_read_either_is_said_to_be_damaged(path: Path) -> None:
    SqliteLog(path).close()
    with closing(sqlite3.connect(path)) as store:
        store.execute("PRAGMA writable_schema=ON")
        junk = (b"CREATE TABLE runs (id", b"ru\xccns")
        change = "UPDATE sqlite_master SET sql = CAST(? AS TEXT), name = CAST(? AS TEXT) WHERE name = 'runs'"
        store.execute(change, junk)
        store.commit()
    with pytest.raises(StoreError, match="is damaged") as caught:
        SqliteLog(path)
    assert "backup" in caught.value.hint


def test_a_folder_that_may_not_be_written_is_named_with_what_to_do() -> None:
    # Not pytest's folder: nobody but its owner may enter that one, and root must become somebody else here.
    with TemporaryDirectory() as place:
        os.chmod(place, 0o555)
        message = said_by_an_ordinary_user(lambda: SqliteLog(Path(place) / "home" / "log.db"))
        assert str(Path(place) / "home") in message
        assert "--home" in message
        message = said_by_an_ordinary_user(lambda: SqliteLog(Path(place) / "log.db"))
        assert "cannot be opened" in message
        assert "--home" in message


def said_by_an_ordinary_user(attempt: Callable[[], object]) -> str:
    """The StoreError that it ends with, message and hint. Root may write anywhere, so a child gives that up first."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        said = "nothing was refused"
        try:
            if os.getuid() == 0:
                os.setuid(65534)
            attempt()
        except StoreError as error:
            said = error.message + error.hint
        except BaseException as error:
            said = repr(error)
        os.write(writer, said.encode())
        os._exit(0)
    os.close(writer)
    with open(reader, encoding="utf-8") as said_there:
        message = said_there.read()
    os.waitpid(child, 0)
    return message


def test_a_file_in_the_way_of_the_folder_is_named(tmp_path: Path) -> None:
    (tmp_path / "home").write_text("a file")
    with pytest.raises(StoreError, match=r"home.*cannot be used"):
        SqliteLog(tmp_path / "home" / "log.db")


# -- how it is kept


def test_folders_are_made_for_their_owner_only(tmp_path: Path) -> None:
    log = SqliteLog(tmp_path / "a" / "b" / "log.db")
    assert log.acquire("run-1", "me")
    for folder in ("a", "a/b", "a/b/processes"):
        assert stat.S_IMODE((tmp_path / folder).stat().st_mode) == 0o700
    log.close()


def test_appends_are_synced_also_after_leases_and_snapshots_that_are_not(log: SqliteLog) -> None:
    full = 2
    assert log._connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    assert log.acquire("run-1", "me")
    log.save_snapshot("run-1", 1, "key", b"state")
    log.release("run-1", "me")
    assert log._connection.execute("PRAGMA synchronous").fetchone() == (full,)


def test_the_write_ahead_log_starts_over_instead_of_growing_with_every_append(log: SqliteLog, path: Path) -> None:
    for number in range(200):  # at least a page each for the events and for the run's row
        log.append("run-1", number, Append([paused(number)], row=row(doc=str(number))))
    assert os.path.getsize(f"{path}-wal") < 800_000
    assert writers(log) == [str(number) for number in range(200)]


def test_content_that_shrinks_is_kept_compressed_and_other_content_as_it_is(log: SqliteLog) -> None:
    text, noise, short = b"again and " * 500, random.Random(1).randbytes(5_000), b"aaaa" * 20
    log.append("run-1", 0, Append([paused(0)], {digest_of(data): data for data in (text, noise, short)}))
    sizes = dict(log._connection.execute("SELECT digest, length(data) FROM artefacts"))
    assert sizes[digest_of(text)] < 1_000
    assert (sizes[digest_of(noise)], sizes[digest_of(short)]) == (5_000, 80)
    assert log.artefact(digest_of(text)) == text
    assert log.artefact(digest_of(noise)) == noise


def versions(count: int) -> list[bytes]:
    """Of a text that gets a line more each time."""
    lines = [f"- [{n}] the harbour of region {n * 7919} stays closed\n".encode() for n in range(3_000 + count)]
    return [b"".join(lines[: 3_000 + n]) for n in range(count)]


def stored(log: SqliteLog) -> int:
    return int(log._connection.execute("SELECT sum(length(data)) FROM artefacts").fetchone()[0])


def test_versions_of_a_long_content_share_what_they_have_in_common(path: Path) -> None:
    contents = versions(20)
    log = SqliteLog(path)
    log.append("run-1", 0, Append([paused(0)], {digest_of(contents[0]): contents[0]}, row()))
    first = stored(log)
    for head, data in enumerate(contents[1:], 1):
        log.close()
        log = SqliteLog(path)  # as another process would go on: nothing is known that is not on disk
        log.append("run-1", head, Append([paused(head)], {digest_of(data): data}, row()))
    assert stored(log) < first * 3
    assert all(log.artefact(digest_of(data)) == data for data in contents)
    log.close()


def test_a_long_content_that_was_stored_whole_is_read_and_stays_so(log: SqliteLog) -> None:
    data = versions(1)[0]
    log._connection.execute("INSERT INTO artefacts VALUES (?, 1, ?)", (digest_of(data), zlib.compress(data)))
    assert log.artefact(digest_of(data)) == data
    log.append("run-1", 0, Append([paused(0)], {digest_of(data): data}, row()))
    assert log._connection.execute("SELECT packed FROM artefacts WHERE digest = ?", (digest_of(data),)).fetchone() == (
        1,
    )
    assert log.artefact(digest_of(data)) == data


def test_a_content_that_looks_like_a_list_of_pieces_is_a_content(log: SqliteLog) -> None:
    data = versions(1)[0]
    log.append("run-1", 0, Append([paused(0)], {digest_of(data): data}, row()))
    lists = [found[0] for found in log._connection.execute("SELECT data FROM artefacts WHERE packed = 2")]
    assert len(lists) > 1
    log.append("run-1", 1, Append([paused(1)], {digest_of(names): names for names in lists}, row()))
    assert [log.artefact(digest_of(names)) for names in lists] == lists
    assert log.artefact(digest_of(data)) == data


@pytest.mark.parametrize("harm", ["DELETE FROM artefacts", "UPDATE artefacts SET data = x'00', packed = 0"])
def test_a_content_that_lacks_a_piece_is_refused_and_never_given_in_part(log: SqliteLog, harm: str) -> None:
    data = versions(1)[0]
    log.append("run-1", 0, Append([paused(0)], {digest_of(data): data}, row()))
    log._connection.execute(f"{harm} WHERE rowid = 3")
    with pytest.raises(StoreError) as caught:
        log.artefact(digest_of(data))
    assert "restore it from a backup" in caught.value.hint


def test_a_parked_run_takes_well_under_eight_kilobytes(path: Path) -> None:
    log, noise = SqliteLog(path), random.Random(1)
    runs = 100
    for n in range(runs):
        events = [remark(noise.randbytes(50).hex()) for _ in range(12)]
        artefacts = {f"{n}.{m}": noise.randbytes(150).hex().encode() for m in range(3)}
        log.append(f"run-{n}", 0, Append(events[:5], artefacts, row(f"run-{n}", "running", doc="d" * 1_000)))
        log.append(f"run-{n}", 5, Append(events[5:], row=row(f"run-{n}", doc="d" * 1_000)))
    log.close()
    assert path.stat().st_size / runs < 6_000


def test_a_short_append_can_be_read_with_any_sqlite_tool_and_a_long_one_is_compressed(log: SqliteLog) -> None:
    log.append("run-1", 0, Append([paused("Zoë")]))
    log.append("run-1", 1, Append([remark("and on and on " * 1_000)]))
    short, long = log._connection.execute("SELECT events FROM appends ORDER BY key").fetchall()
    assert json.loads(short[0])[0]["by"] == "Zoë"
    assert len(long[0]) < 1_000
    assert log.read("run-1", 1) == [(2, remark("and on and on " * 1_000))]


def test_listing_loads_neither_the_event_types_nor_asyncio(log: SqliteLog, path: Path) -> None:
    log.append("run-1", 0, Append([paused(0)], row=row()))
    script = (
        "import sys; from reconvene.adapters.sqlite import SqliteLog; log = SqliteLog(sys.argv[1]);"
        "assert log.index() and log.index(status='waiting') and log.index_row('run-1') and log.head('run-1') == 1;"
        "print([name for name in ('msgspec', 'asyncio', 'reconvene.wire', 'reconvene.core') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", script, str(path)], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_sign_that_its_owner_takes_down_while_others_tidy_up_is_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = str(tmp_path / "processes")
    leaving, coming = Presence(folder), Presence(folder)
    leaving.show()

    def looked(token: str) -> bool:
        leaving.hide()
        return False

    monkeypatch.setattr(coming, "_lives", looked)
    coming.show()
    assert os.listdir(folder) == [coming.token]
    coming.hide()
