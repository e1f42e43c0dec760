"""A whole home as one file, and back: a copy that fits together while others go on working in the home.

A ZIP file. `backup.json` says what it holds, with the digest of every file. The git history is copied before the store:
what it names is then in the store, and what it lacks is made again from the logs. Each database is copied as SQLite
sees it at one moment. What is derived, and what belongs to processes, is left out. The person's key and their list of
homes are not in the home, and so not in a backup.

A backup is put back into a folder that is not there yet, or is empty: everything is compared with its digest first,
beside that place, and then moved there at once. Links are made last, and nothing is written through one.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import sqlite3
import stat
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from typing import TYPE_CHECKING, BinaryIO, NamedTuple

from msgspec import Struct, ValidationError, json

from reconvene.adapters.desk.home_desk import FILE as DESK
from reconvene.adapters.shared.private_folders import make_private_folder
from reconvene.adapters.shared.sqlite_faults import store_error
from reconvene.errors import StoreError, UserError
from reconvene.home import INDEX, PEOPLE, STORE

if TYPE_CHECKING:
    from reconvene.home import Home

FORMAT = 1
_SAID = "backup.json"
_HOME = "home/"
_HISTORY = "history.git"
_DATABASES = (STORE, PEOPLE, DESK)
_BESIDE_A_DATABASE = ("-wal", "-shm", "-journal")
_LEFT_OUT = ("processes", "scratch", INDEX)  # signs of life, work under way, what is made from the store
_LINK, _PIECE = 0o120000, 1 << 20


class Held(Struct, frozen=True, omit_defaults=True):
    """A file of a backup. `link`: it is one, and its content is where it leads."""

    path: str
    size: int
    digest: str  # SHA-256
    mode: int = 0o600
    link: bool = False
    quoted: bool = False  # the name is no UTF-8, and its bytes are written as %XX

    @property
    def named(self) -> str:
        from urllib.parse import unquote_to_bytes

        return os.fsdecode(unquote_to_bytes(self.path)) if self.quoted else self.path


class Contents(Struct, frozen=True, omit_defaults=True):
    """What `backup.json` says. `runs`: how many events of each the store has."""

    format: int
    made: str
    release: str
    home: str  # where it was
    runs: dict[str, int]
    files: tuple[Held, ...]


class Written(NamedTuple):
    file: str
    runs: dict[str, int]
    files: int
    size: int


# --- writing ---


def write(home: Home, file: str, now: str, release: str) -> Written:
    """UserError where something is there already, or it lies in the home."""
    folder, path = os.path.realpath(home.folder), os.path.abspath(file)
    if f"{os.path.realpath(os.path.dirname(path))}{os.sep}".startswith(f"{folder}{os.sep}"):
        raise UserError(
            f"{file} would lie in the home itself", hint="A backup belongs elsewhere, best on another disk."
        )
    new = f"{path}.new"
    try:
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))  # the name is taken from now on
        try:
            with os.fdopen(os.open(new, os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600), "w+b") as out:
                done = _written(folder, out, now, release)
                out.flush()
                os.fsync(out.fileno())
            os.replace(new, path)
        except BaseException:
            for left in (new, path):
                with suppress(OSError):
                    os.unlink(left)
            raise
    except FileExistsError:
        raise UserError(f"{file} is there already", hint="Name another file, or move it away.") from None
    except OSError as error:
        raise store_error(error, path) from error
    return Written(path, done.runs, len(done.files), os.path.getsize(path))


def _written(folder: str, out: BinaryIO, now: str, release: str) -> Contents:
    held: list[Held] = []
    with (
        zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive,
        tempfile.TemporaryDirectory() as aside,
    ):
        held += _all_of(archive, folder, _in_history(folder))
        runs: dict[str, int] = {}
        for name in _DATABASES:
            source = os.path.join(folder, name)
            if os.path.isfile(source):
                copy = os.path.join(aside, name)
                _copy_database(source, copy)
                held.append(_add_file(archive, copy, name, 0o600))
                runs = _runs(copy) if name == STORE else runs
        held += _all_of(archive, folder, _others(folder))
        said = Contents(FORMAT, now, release, folder, runs, tuple(held))
        archive.writestr(_SAID, json.encode(said))
    return said


def _in_history(folder: str) -> Iterator[str]:
    """What names objects before the objects: those are written first, so none that is named is missing."""
    every = list(_below(folder, _HISTORY))
    objects = os.path.join(_HISTORY, "objects") + os.sep
    yield from (path for path in every if not path.startswith(objects))
    yield from _below(folder, os.path.join(_HISTORY, "objects"))


def _others(folder: str) -> Iterator[str]:
    beside = {f"{name}{end}" for name in (*_DATABASES, INDEX) for end in _BESIDE_A_DATABASE}
    left_out = {*_LEFT_OUT, _HISTORY, *_DATABASES, *beside}
    for name in sorted(os.listdir(folder)):
        if name not in left_out and not name.endswith((".new", ".lock")):
            yield from _below(folder, name)


def _below(folder: str, name: str) -> Iterator[str]:
    """Files and links, in order; what vanishes meanwhile is not there."""
    path = os.path.join(folder, name)
    try:
        kind = os.lstat(path).st_mode
        if not stat.S_ISDIR(kind):
            if stat.S_ISREG(kind) or stat.S_ISLNK(kind):
                yield name
            return
        names = sorted(os.listdir(path))
    except FileNotFoundError:
        return
    for each in names:
        yield from _below(folder, os.path.join(name, each))


def _all_of(archive: zipfile.ZipFile, folder: str, paths: Iterator[str]) -> Iterator[Held]:
    for path in paths:
        full = os.path.join(folder, path)
        try:
            if os.path.islink(full):
                yield _add_link(archive, full, path)
            else:
                yield _add_file(archive, full, path, stat.S_IMODE(os.lstat(full).st_mode))
        except FileNotFoundError:
            continue


def _add_file(archive: zipfile.ZipFile, full: str, path: str, mode: int) -> Held:
    digest, size = hashlib.sha256(), 0
    name, quoted = _name(path)
    entry = zipfile.ZipInfo(_HOME + name)
    entry.compress_type, entry.external_attr = zipfile.ZIP_DEFLATED, (stat.S_IFREG | mode) << 16
    handle = os.open(full, os.O_RDONLY | os.O_NOFOLLOW)
    with os.fdopen(handle, "rb") as source, archive.open(entry, "w", force_zip64=True) as target:
        while piece := source.read(_PIECE):
            digest.update(piece)
            size += len(piece)
            target.write(piece)
    return Held(name, size, digest.hexdigest(), mode, quoted=quoted)


def _add_link(archive: zipfile.ZipFile, full: str, path: str) -> Held:
    to = os.readlink(full).encode("utf-8", "surrogateescape")
    name, quoted = _name(path)
    entry = zipfile.ZipInfo(_HOME + name)
    entry.external_attr = (_LINK | 0o777) << 16
    archive.writestr(entry, to)
    return Held(name, len(to), hashlib.sha256(to).hexdigest(), 0o777, link=True, quoted=quoted)


def _name(path: str) -> tuple[str, bool]:
    """As it is called in the file, and whether it is quoted there."""
    from urllib.parse import quote_from_bytes

    try:
        path.encode()
    except UnicodeEncodeError:
        return quote_from_bytes(os.fsencode(path)), True
    return path, False


def _copy_database(source: str, copy: str) -> None:
    """As it is at one moment, with what is still in its write-ahead log. Nobody waits for it."""
    try:
        with (
            closing(_live(source)) as live,
            closing(sqlite3.connect(copy)) as made,
        ):
            live.backup(made)
            made.execute("PRAGMA journal_mode=DELETE")
    except sqlite3.Error as error:
        raise store_error(error, source) from error


def _live(source: str) -> sqlite3.Connection:
    import pathlib

    from reconvene.adapters.sqlite.for_reading import any_database, is_read_only

    if is_read_only(source):
        return any_database(source, 60)
    return sqlite3.connect(f"{pathlib.Path(source).as_uri()}?mode=ro", uri=True, timeout=60)


def _runs(store: str) -> dict[str, int]:
    with closing(sqlite3.connect(store)) as connection:
        return dict(connection.execute("SELECT run, head FROM runs WHERE head > 0 ORDER BY id").fetchall())


# --- putting back ---


def put_back(file: str, folder: str) -> Contents:
    """UserError where something is there, or the file is no backup; then nothing was written."""
    target = os.path.abspath(folder)
    if os.path.lexists(target) and (not os.path.isdir(target) or os.path.islink(target) or os.listdir(target)):
        raise UserError(
            f"{folder} is there already: a backup is put back into a folder that is empty, or not there",
            hint="Move it away first, or name another place: --home DIR",
        )
    if not os.path.isfile(file):
        raise UserError(f"there is no file {file}")
    try:
        with zipfile.ZipFile(file) as archive, _aside(target) as aside:
            said = _said(archive, file)
            _lay_out(archive, said, aside, file)
            os.rename(aside, target)
    except zipfile.BadZipFile as error:
        raise _damaged(file, str(error)) from error
    except OSError as error:
        raise store_error(error, target) from error
    return said


@contextmanager
def _aside(target: str) -> Iterator[str]:
    """A folder beside it, which is gone afterwards unless it was moved."""
    above = os.path.dirname(target)
    if not os.path.isdir(above):
        make_private_folder(above)
    made = tempfile.mkdtemp(prefix=f".{os.path.basename(target)}-", dir=above)
    try:
        yield made
    finally:
        shutil.rmtree(made, ignore_errors=True)


def _said(archive: zipfile.ZipFile, file: str) -> Contents:
    try:
        said = json.decode(archive.read(_SAID), type=Contents)
    except KeyError:
        raise UserError(f"{file} is no backup of a home", hint="`reconvene import` takes in a single run.") from None
    except (ValidationError, ValueError, zipfile.BadZipFile) as error:
        raise _damaged(file, str(error)) from error
    if said.format != FORMAT:
        raise UserError(f"{file} is of a newer release ({said.release})", hint="Update reconvene, then try again.")
    return said


def _lay_out(archive: zipfile.ZipFile, said: Contents, folder: str, file: str) -> None:
    names = {one.named for one in said.files}
    if len(names) != len(said.files) or STORE not in names:
        raise _damaged(file, f"its list names a file twice, or no {STORE}")
    for one in said.files:
        parts = one.named.split("/")
        inside = all(part not in ("", ".", "..") and "\0" not in part for part in parts)
        if (
            not inside
            or (one.link and parts[0] != "runs")
            or any("/".join(parts[:at]) in names for at in range(1, len(parts)))
        ):
            raise _damaged(file, f"it holds a file that has no place in a home: {one.path!r}")
    for one in sorted(said.files, key=lambda one: one.link):
        path = os.path.join(folder, one.named)
        os.makedirs(os.path.dirname(path), 0o700, exist_ok=True)
        if one.link:
            os.symlink(os.fsdecode(_read(archive, one, file)), path)
        else:
            handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, one.mode & 0o700 | 0o600)
            with os.fdopen(handle, "wb") as out:
                for piece in _pieces(archive, one, file):
                    out.write(piece)
                os.fchmod(out.fileno(), one.mode & 0o777)


def _read(archive: zipfile.ZipFile, one: Held, file: str) -> bytes:
    return b"".join(_pieces(archive, one, file))


def _pieces(archive: zipfile.ZipFile, one: Held, file: str) -> Iterator[bytes]:
    """Of a file, which are what the list says; no more than it says."""
    digest, size = hashlib.sha256(), 0
    try:
        with archive.open(_HOME + one.path) as source:
            while piece := source.read(min(_PIECE, one.size - size + 1)):
                size += len(piece)
                if size > one.size:
                    break
                digest.update(piece)
                yield piece
    except KeyError:
        raise _damaged(file, f"{one.path} is missing in it") from None
    if (size, digest.hexdigest()) != (one.size, one.digest):
        raise _damaged(file, f"{one.path} is not what was written")


def _damaged(file: str, why: str) -> StoreError:
    return StoreError(f"The backup {file} is damaged: {why}.", hint="Nothing was put back. Use an earlier backup.")
