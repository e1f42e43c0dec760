"""Ways to damage a home: by accident, and on purpose by somebody who knows how it is made.

What counts as damage: whatever changes what is stored of runs, that is the rows of the tables below, SQLite's own
structure, or the branches of the history. Bytes that belong to none of it (free pages, leases, comments of the schema)
have no meaning, and changing them is no damage. A history that is behind is none, either: it catches up by itself.
"""

from __future__ import annotations

import json
import shutil
import sqlite3
import zlib
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from hashlib import sha1
from pathlib import Path
from random import Random
from typing import NamedTuple

from reconvene.adapters.keys import OwnKey
from reconvene.wire import chain
from reconvene.wire.seals import Seal, encode_seal, signed_bytes

TABLES = ("runs", "appends", "artefacts", "unchained", "deleted", "snapshots")
MASK = (1 << 32) - 1

Damage = Callable[[Path, Random], str]


def store_of(home: Path) -> Path:
    return home / "reconvene.db"


@contextmanager
def opened(home: Path) -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(store_of(home))) as store:
        yield store
        store.commit()


def meaning(home: Path) -> object:
    """What the store says; the error where it cannot be read."""
    try:
        with opened(home) as store:
            rows = {table: store.execute(f"SELECT rowid, * FROM {table} ORDER BY rowid").fetchall() for table in TABLES}
            checks = store.execute("PRAGMA integrity_check").fetchall()
            return rows, checks, store.execute("PRAGMA user_version").fetchall()
    except (sqlite3.Error, OverflowError, UnicodeError) as error:
        return str(error)


# --- single values ---


def flipped(data: bytes, chance: Random) -> bytes:
    """Not one of the bits without a meaning that fill up the last byte of what is compressed."""
    while True:
        at = chance.randrange(len(data))
        changed = data[:at] + bytes([data[at] ^ 1 << chance.randrange(8)]) + data[at + 1 :]
        if (whole := _unpacked(data)) is None or _unpacked(changed) != whole:
            return changed


def _unpacked(data: bytes) -> bytes | None:
    try:
        return zlib.decompress(data)
    except zlib.error:
        return None


def _some(store: sqlite3.Connection, sql: str, chance: Random) -> tuple[object, ...]:
    found: tuple[object, ...] = chance.choice(store.execute(sql).fetchall())
    return found


def flip(table: str, column: str, where: str = "1") -> Damage:
    def damage(home: Path, chance: Random) -> str:
        with opened(home) as store:
            sql = f"SELECT rowid, CAST({column} AS BLOB), typeof({column}) FROM {table}"
            row, data, kind = _some(store, f"{sql} WHERE {where} AND length({column}) > 0", chance)
            assert isinstance(data, bytes)
            value = "CAST(? AS TEXT)" if kind == "text" else "?"
            update = f"UPDATE OR IGNORE {table} SET {column} = {value} WHERE rowid = ?"
            while not store.execute(update, (flipped(data, chance), row)).rowcount:
                pass  # another row has that name
        return f"a bit of {table}.{column} in row {row}"

    return damage


def put(table: str, column: str, value: str, where: str = "1") -> Damage:
    def damage(home: Path, chance: Random) -> str:
        with opened(home) as store:
            (row,) = _some(store, f"SELECT rowid FROM {table} WHERE {where}", chance)
            store.execute(f"UPDATE {table} SET {column} = {value} WHERE rowid = ?", (row,))
        return f"{table}.{column} = {value} in row {row}"

    return damage


def remove(table: str, where: str = "1") -> Damage:
    def damage(home: Path, chance: Random) -> str:
        with opened(home) as store:
            (row,) = _some(store, f"SELECT rowid FROM {table} WHERE {where}", chance)
            store.execute(f"DELETE FROM {table} WHERE rowid = ?", (row,))
        return f"row {row} of {table} is gone"

    return damage


def add(sql: str) -> Damage:
    def damage(home: Path, chance: Random) -> str:
        with opened(home) as store:
            store.execute(sql)
        return sql

    return damage


def swap(table: str, columns: str, where: str = "1") -> Damage:
    names = columns.split(", ")

    def damage(home: Path, chance: Random) -> str:
        with opened(home) as store:
            rows = store.execute(f"SELECT rowid, {columns} FROM {table} WHERE {where}").fetchall()
            pairs = [(one, other) for one in rows for other in rows if one[0] < other[0] and one[1:] != other[1:]]
            one, other = chance.choice(pairs)
            sets = ", ".join(f"{name} = ?" for name in names)
            store.execute(f"UPDATE {table} SET {sets} WHERE rowid = ?", (*other[1:], one[0]))
            store.execute(f"UPDATE {table} SET {sets} WHERE rowid = ?", (*one[1:], other[0]))
        return f"{columns} of rows {one[0]} and {other[0]} of {table}"

    return damage


# --- logs, by somebody who knows how the chain is made ---


class Row:
    def __init__(self, key: int, packed: int, data: bytes, seal: bytes | None) -> None:
        self.key, self.packed, self.data, self.seal = key, packed, data, seal or b""


def rows_of(store: sqlite3.Connection, number: int) -> list[Row]:
    columns = "key, typeof(events) = 'blob', CAST(events AS BLOB), seal"
    found = store.execute(f"SELECT {columns} FROM appends WHERE key >> 32 = ? ORDER BY key", (number,))
    return [Row(*row) for row in found]


def write_anew(home: Path, number: int, change: Callable[[list[Row], str], None]) -> None:
    """The change, and every value of the chain after it; what is derived is made again, and the history is gone."""
    with opened(home) as store:
        rows = rows_of(store, number)
        (run,) = store.execute("SELECT run FROM runs WHERE id = ?", (number,)).fetchone()
        change(rows, run)
        store.execute("DELETE FROM appends WHERE key >> 32 = ?", (number,))
        value = chain.BEGINNING
        for row in rows:
            value = chain.value_after(chain.link(value, run, row.key & MASK, bool(row.packed), row.data), row.seal)
            text = "?" if row.packed else "CAST(? AS TEXT)"
            sql = f"INSERT INTO appends (key, events, chain, seal) VALUES (?, {text}, ?, ?)"
            store.execute(sql, (row.key, row.data, value, row.seal or None))
        store.execute("UPDATE runs SET head = ? WHERE id = ?", (rows[-1].key & MASK, number))
        store.execute("DELETE FROM snapshots WHERE run = ?", (run,))
    derive(home, run)


def derive(home: Path, run: str) -> None:
    from reconvene.app.session import index_row, state_of
    from reconvene.ports import Append
    from reconvene.wiring import open_log

    with closing(open_log(home)) as log:
        state = state_of(log, run)
        log.append(run, state.seq, Append([], row=index_row(state)))


def _runs(home: Path) -> list[tuple[int, str]]:
    """Those of this release, with all that people did signed."""
    sql = "SELECT id, run FROM runs WHERE head > 0 AND id NOT IN (SELECT run FROM unchained) AND run LIKE 'flow-_'"
    with opened(home) as store:
        return [(int(number), str(run)) for number, run in store.execute(sql)]


def _without_history(home: Path) -> None:
    shutil.rmtree(home / "history.git")


def cut_with_care(home: Path, chance: Random) -> str:
    number, run = chance.choice(_runs(home))
    cut = chance.randrange(1, 3)
    write_anew(home, number, lambda rows, _: rows.__delitem__(slice(-cut, None)))
    return f"the last {cut} appends of {run}, with care"


def reword_with_care(home: Path, chance: Random) -> str:
    """Text of a person, with the chain written anew and the history gone: only the signature is left to show it."""
    number, run = chance.choice(_runs(home))

    def change(rows: list[Row], _: str) -> None:
        row = chance.choice([row for row in rows if row.seal and b"Say more" in row.data])
        row.data = row.data.replace(b"Say more", b"Say less")

    write_anew(home, number, change)
    _without_history(home)
    return f"a remark of {run}, with care"


def forge_an_act(home: Path, chance: Random) -> str:
    number, run = chance.choice(_runs(home))

    def change(rows: list[Row], _: str) -> None:
        last = rows[-1]
        at = chance.choice([row for row in rows if b'"RemarkAdded"' in row.data])
        said = next(one for one in json.loads(at.data) if one["type"] == "RemarkAdded")
        remarks = sum(row.data.count(b'"RemarkAdded"') for row in rows)
        forged = {**said, "v": 2, "id": f"FB-{remarks + 1:03d}", "number": remarks + 1, "text": "All is well."}
        forged = {"v": 2, **{name: value for name, value in forged.items() if name != "v"}}
        forged["at"] = json.loads(last.data)[-1]["at"] if not last.packed else "2030-01-01T00:00:00.000Z"
        data = json.dumps([forged], separators=(",", ":")).encode()
        rows.append(Row(last.key + 1, 0, data, None))

    write_anew(home, number, change)
    _without_history(home)
    return f"a remark that nobody made in {run}"


def unsign(home: Path, chance: Random) -> str:
    number, run = chance.choice(_runs(home))
    write_anew(home, number, lambda rows, _: setattr(chance.choice([one for one in rows if one.seal]), "seal", b""))
    _without_history(home)
    return f"a signature in {run}, taken away"


def replace_key(home: Path, chance: Random) -> str:
    """Another key on record than the one that signed."""
    number, run = chance.choice(_runs(home))
    digit = chance.choice("0123456789abcdef")

    def change(rows: list[Row], _: str) -> None:
        for row in rows:
            key = row.data.find(b'"key":"ed25519:') + 15
            if key >= 15:
                other = digit.encode() if row.data[key : key + 1] != digit.encode() else b"0" if digit != "0" else b"1"
                row.data = row.data[:key] + other + row.data[key + 1 :]

    write_anew(home, number, change)
    _without_history(home)
    return f"the key on record in {run}"


def sign_as_another(home: Path, chance: Random) -> str:
    """One act, signed with a key that the run does not know."""
    number, run = chance.choice(_runs(home))
    other = OwnKey(str(home / "forger"), "eve")
    key = other.ready()[0]

    def change(rows: list[Row], name: str) -> None:
        chosen, value = chance.choice([row for row in rows if row.seal]), chain.BEGINNING
        for row in rows:
            link = chain.link(value, name, row.key & MASK, bool(row.packed), row.data)
            if row is chosen:
                row.seal = encode_seal(Seal(key, other.sign(signed_bytes(link, ""))))
            value = chain.value_after(link, row.seal)

    write_anew(home, number, change)
    _without_history(home)
    return f"an act of {run}, signed by another"


# --- the history ---


def _heads(home: Path) -> Path:
    return home / "history.git" / "refs" / "heads"


def _commit(home: Path, oid: str) -> Path:
    return home / "history.git" / "objects" / oid[:2] / oid[2:]


def ref_to_nothing(home: Path, chance: Random) -> str:
    ref = chance.choice(sorted(_heads(home).iterdir()))
    ref.write_text(f"{chance.getrandbits(160):040x}\n")
    return f"{ref.name} points at nothing"


def ref_to_another(home: Path, chance: Random) -> str:
    ref, other = chance.sample(sorted(_heads(home).iterdir()), 2)
    ref.write_text(other.read_text())
    return f"{ref.name} points at {other.name}"


def ref_moved_back(home: Path, chance: Random) -> str:
    ref = chance.choice(sorted(_heads(home).iterdir()))
    head = zlib.decompress(_commit(home, ref.read_text().strip()).read_bytes()).decode()
    parent = next(line.partition(" ")[2] for line in head.split("\n") if line.startswith("parent "))
    ref.write_text(f"{parent}\n")
    return f"{ref.name} is moved back"


def commit_flipped(home: Path, chance: Random) -> str:
    ref = chance.choice(sorted(_heads(home).iterdir()))
    file = _commit(home, ref.read_text().strip())
    head, _, body = zlib.decompress(file.read_bytes()).partition(b"\0")
    file.chmod(0o600)
    file.write_bytes(zlib.compress(head + b"\0" + flipped(body, chance)))
    return f"a bit of the last commit of {ref.name}"


def commit_forged(home: Path, chance: Random) -> str:
    """A commit that is whole, and says another value of the chain."""
    ref = chance.choice([one for one in sorted(_heads(home).iterdir()) if one.name.startswith("flow-")])
    data = zlib.decompress(_commit(home, ref.read_text().strip()).read_bytes()).partition(b"\0")[2]
    at = data.index(b"Reconvene-Chain: ") + 17
    at = data.index(b" ", at) + 1
    data = data[:at] + f"{chance.getrandbits(128):032x}".encode() + data[at + 32 :]
    whole = b"commit %d\0%b" % (len(data), data)
    oid = sha1(whole, usedforsecurity=False).hexdigest()
    _commit(home, oid).parent.mkdir(exist_ok=True)
    _commit(home, oid).write_bytes(zlib.compress(whole))
    ref.write_text(f"{oid}\n")
    note = home / "history.git" / "reconvene" / f"{ref.name}.head"
    note.write_text(" ".join([*note.read_text().split()[:2], oid]))
    return f"a forged commit of {ref.name}"


def note_changed(home: Path, chance: Random) -> str:
    note = chance.choice(sorted((home / "history.git" / "reconvene").glob("flow-*.head")))
    seq, value, tip = note.read_text().split()
    changes = [(str(int(seq) + 1), value, tip), (seq, f"{chance.getrandbits(128):032x}", tip), (seq, value, "0" * 40)]
    note.write_text(" ".join(chance.choice(changes)))
    return f"the note of the head of {note.stem}"


def frame_flipped(home: Path, chance: Random) -> str:
    """What makes the folder a repository: git would not read it, or another branch."""
    file = home / "history.git" / chance.choice(["config", "HEAD"])
    lines = file.read_text().split("\n")
    at = chance.choice([number for number, line in enumerate(lines) if line and "filemode" not in line])
    lines[at] = flipped(lines[at].strip().encode(), chance).decode("latin-1")
    file.write_text("\n".join(lines))
    return f"{file.name} of the history: {lines[at]!r}"


def blobs_swapped(home: Path, chance: Random) -> str:
    """The next commit would hold one file under the name of another."""
    note = chance.choice(sorted((home / "history.git" / "reconvene").glob("flow-*.json")))
    found = json.loads(note.read_text())
    if not found["blobs"] or chance.random() < 0.5:
        found["tip"] = f"{chance.getrandbits(160):040x}"
    else:
        found["blobs"][chance.choice(sorted(found["blobs"]))] = f"{chance.getrandbits(160):040x}"
    note.write_text(json.dumps(found))
    return f"the note of the files of {note.stem}"


# --- the file ---


def raw_flip(home: Path, chance: Random) -> str:
    file = store_of(home)
    data = file.read_bytes()
    file.write_bytes(flipped(data, chance))
    return "a bit of the file"


def raw_zero(home: Path, chance: Random) -> str:
    file = store_of(home)
    data = bytearray(file.read_bytes())
    at = chance.randrange(1, len(data) // 4096) * 4096
    data[at : at + 4096] = bytes(4096)
    file.write_bytes(bytes(data))
    return f"the page at {at}"


def raw_cut(home: Path, chance: Random) -> str:
    file = store_of(home)
    file.write_bytes(file.read_bytes()[: -4096 * chance.randrange(1, 4)])
    return "the end of the file"


class Kind(NamedTuple):
    name: str
    damage: Damage
    raw: bool = False  # it may hit bytes without a meaning


_LAST = "key IN (SELECT max(key) FROM appends GROUP BY key >> 32)"
_LIVE = "head > 0"

KINDS: tuple[Kind, ...] = (
    Kind("an event", flip("appends", "events")),
    Kind("an append removed", remove("appends")),
    Kind("the last append removed", remove("appends", _LAST)),
    Kind("appends swapped", swap("appends", "events")),
    Kind("appends swapped whole", swap("appends", "events, chain, seal")),
    Kind("an append twice", add("INSERT INTO appends SELECT max(key) + 1, events, chain, seal FROM appends")),
    Kind("as bytes", put("appends", "events", "CAST(events AS BLOB)", "typeof(events) = 'text'")),
    Kind("a value of the chain", flip("appends", "chain")),
    Kind("no value of the chain", put("appends", "chain", "NULL", "chain IS NOT NULL")),
    Kind("values swapped", swap("appends", "chain", "chain IS NOT NULL")),
    Kind("a seal", flip("appends", "seal", "seal IS NOT NULL")),
    Kind("no seal", put("appends", "seal", "NULL", "seal IS NOT NULL")),
    Kind("seals swapped", swap("appends", "seal", "seal IS NOT NULL")),
    Kind("the head", put("runs", "head", "head + 1", _LIVE)),
    Kind("the head less", put("runs", "head", "head - 1", _LIVE)),
    Kind("the head as text", put("runs", "head", "'many'", _LIVE)),
    Kind("the status", put("runs", "status", "CASE status WHEN 'failed' THEN 'aborted' ELSE 'failed' END", _LIVE)),
    Kind("no status", put("runs", "status", "NULL", _LIVE)),
    Kind("the start", flip("runs", "started", _LIVE)),
    Kind("the update", flip("runs", "updated", _LIVE)),
    Kind("the workflow", flip("runs", "workflow", _LIVE)),
    Kind("the document", flip("runs", "doc", _LIVE)),
    Kind("documents swapped", swap("runs", "doc", _LIVE)),
    Kind("a name", flip("runs", "run", _LIVE)),
    Kind("a run removed", remove("runs")),
    Kind("a content", flip("artefacts", "data")),
    Kind("a content replaced", put("artefacts", "data", "x'6f74686572'")),
    Kind("a content removed", remove("artefacts")),
    Kind("contents swapped", swap("artefacts", "packed, data")),
    Kind("a digest", flip("artefacts", "digest")),
    Kind("another form", put("artefacts", "packed", "(packed + 1) % 3")),
    Kind("said to be old", add("INSERT INTO unchained SELECT id, head FROM runs WHERE run = 'flow-1'")),
    Kind("said to be new", remove("unchained")),
    Kind("old for longer", put("unchained", "seq", "seq + 1")),
    Kind("a deletion", flip("deleted", "doc")),
    Kind("the head of a deleted run", put("deleted", "head", "head + 1")),
    Kind("the chain of a deleted run", flip("deleted", "chain")),
    Kind("the seal of a deletion", flip("deleted", "seal")),
    Kind("no seal of a deletion", put("deleted", "seal", "NULL")),
    Kind("a deletion hidden", remove("deleted")),
    Kind("a cached state", flip("snapshots", "data")),
    Kind("a cached state of another event", put("snapshots", "seq", "seq - 1")),
    Kind("the end cut off with care", cut_with_care),
    Kind("a remark reworded with care", reword_with_care),
    Kind("a forged remark", forge_an_act),
    Kind("a signature taken away with care", unsign),
    Kind("the key on record", replace_key),
    Kind("signed by another", sign_as_another),
    Kind("a branch to nothing", ref_to_nothing),
    Kind("a branch to another", ref_to_another),
    Kind("a branch moved back", ref_moved_back),
    Kind("a commit", commit_flipped),
    Kind("a forged commit", commit_forged),
    Kind("the note of the head", note_changed),
    Kind("the frame of the history", frame_flipped),
    Kind("the note of the files", blobs_swapped),
    Kind("a bit of the file", raw_flip, raw=True),
    Kind("a page of the file", raw_zero, raw=True),
    Kind("the end of the file", raw_cut, raw=True),
)
