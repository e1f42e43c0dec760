"""The people of a home, in a SQLite file of its own beside the log.

Tokens are stored as digests, from which nobody gets back to a token: each holds 256 bits of chance, so that a plain
SHA-256 is enough.

The rule that an admin is left is kept in the transaction that would break it: two processes cannot do it together.
"""

from __future__ import annotations

import hashlib
import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

from reconvene.adapters.shared.private_folders import make_private_folder
from reconvene.adapters.shared.sqlite_faults import store_error
from reconvene.core.facts.actors import ROLES, Role
from reconvene.core.person.lookalikes import skeleton
from reconvene.errors import StoreError, UserError
from reconvene.people_ports import Person, Token

_VERSION = 2  # of the layout below
_BUSY = 20.0  # seconds that another process may take
_PREFIX = "rcv_"  # by which scanners of secrets know one
_LAYOUT = """
CREATE TABLE people (
    name TEXT PRIMARY KEY, role TEXT NOT NULL, teams TEXT NOT NULL, account TEXT UNIQUE, since TEXT NOT NULL DEFAULT ''
) WITHOUT ROWID;
CREATE TABLE tokens (
    id TEXT PRIMARY KEY, person TEXT NOT NULL REFERENCES people ON DELETE CASCADE, digest BLOB NOT NULL UNIQUE,
    label TEXT NOT NULL, made TEXT NOT NULL, expires TEXT NOT NULL, revoked TEXT NOT NULL DEFAULT ''
) WITHOUT ROWID;
CREATE INDEX tokens_person ON tokens (person);
"""
_STEPS = {1: "ALTER TABLE people ADD COLUMN since TEXT NOT NULL DEFAULT ''"}  # from a layout to the next
_PERSON = "SELECT name, role, teams, coalesce(account, ''), since FROM people"
_TOKEN = "SELECT id, person, label, made, expires, revoked FROM tokens"


class SqlitePeople:
    """people_ports.People. `path` is made with the first person."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._made: sqlite3.Connection | None = None
        self._changes = 0

    def everyone(self) -> list[Person]:
        return [_person(row) for row in self._rows(f"{_PERSON} ORDER BY name")]

    def find(self, name: str) -> Person | None:
        return next(map(_person, self._rows(f"{_PERSON} WHERE name = ?", name)), None)

    def by_account(self, account: str) -> Person | None:
        where = "WHERE account = ? OR (account IS NULL AND name = ?) ORDER BY account IS NULL"
        return next(map(_person, self._rows(f"{_PERSON} {where}", account, account)), None)

    def by_token(self, token: str, now: str) -> Person | None:
        where = "JOIN tokens ON person = name WHERE digest = ? AND revoked = '' AND expires > ?"
        return next(map(_person, self._rows(f"{_PERSON} {where}", _digest(token), now)), None)

    def token(self, token: str, now: str) -> Token | None:
        where = "WHERE digest = ? AND revoked = '' AND expires > ?"
        return next((Token(*row) for row in self._rows(f"{_TOKEN} {where}", _digest(token), now)), None)

    def known_token(self, token: str) -> Token | None:
        return next((Token(*row) for row in self._rows(f"{_TOKEN} WHERE digest = ?", _digest(token))), None)

    def add(self, person: Person) -> None:
        with self._writing() as database:
            if database.execute("SELECT 1 FROM people WHERE name = ?", (person.name,)).fetchone():
                raise UserError(
                    f"there is somebody called {person.name} here", hint=f"reconvene people change {person.name} …"
                )
            _require_unlike(database, person.name)
            _require_free(database, person)
            database.execute("INSERT INTO people VALUES (?, ?, ?, ?, ?)", (*_row(person), person.since))

    def change(self, person: Person) -> None:
        with self._writing() as database:
            was = _role(database, person.name)
            _require_free(database, person)
            name, *rest = _row(person)
            database.execute("UPDATE people SET role = ?, teams = ?, account = ? WHERE name = ?", (*rest, name))
            if was == "admin":
                _require_admin(database, person.name)

    def remove(self, name: str) -> None:
        with self._writing() as database:
            was = _role(database, name)
            database.execute("DELETE FROM people WHERE name = ?", (name,))
            if was == "admin":
                _require_admin(database, name)

    def issue(self, name: str, label: str, now: str, expires: str) -> tuple[Token, str]:
        token = _PREFIX + os.urandom(32).hex()
        made = Token(os.urandom(4).hex(), name, label, now, expires)
        with self._writing() as database:
            _role(database, name)
            database.execute(
                "INSERT INTO tokens (id, person, digest, label, made, expires) VALUES (?, ?, ?, ?, ?, ?)",
                (made.id, name, _digest(token), label, now, expires),
            )
        return made, token

    def tokens(self, name: str = "") -> list[Token]:
        where, of = ("WHERE person = ?", (name,)) if name else ("", ())
        return [Token(*row) for row in self._rows(f"{_TOKEN} {where} ORDER BY made, id", *of)]

    def revoke(self, token: str, now: str) -> Token:
        with self._writing() as database:
            row = database.execute(f"{_TOKEN} WHERE id = ?", (token,)).fetchone()
            if row is None:
                raise UserError(f"there is no token {token!r}", hint="see them: reconvene people")
            database.execute("UPDATE tokens SET revoked = ? WHERE id = ? AND revoked = ''", (now, token))
            return Token(*database.execute(f"{_TOKEN} WHERE id = ?", (token,)).fetchone())

    def moment(self) -> object:
        """SQLite counts what other connections change; what this one does is counted here."""
        return self._changes, *self._rows("PRAGMA data_version")

    def close(self) -> None:
        if self._made is not None:
            self._made.close()
            self._made = None

    def _rows(self, question: str, *given: str | bytes) -> list[tuple[str, ...]]:
        if self._made is None and not os.path.lexists(self._path):
            return []
        try:
            return self._opened().execute(question, given).fetchall()
        except (sqlite3.Error, OSError, UnicodeError) as error:
            raise store_error(error, self._path) from error

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        """One transaction: all of it or nothing."""
        try:
            database = self._opened()
            database.execute("BEGIN IMMEDIATE")
            try:
                yield database
            except BaseException:
                database.execute("ROLLBACK")
                raise
            database.execute("COMMIT")
            self._changes += 1
        except (sqlite3.Error, OSError, UnicodeError) as error:
            raise store_error(error, self._path) from error

    def _opened(self) -> sqlite3.Connection:
        if self._made is None:
            make_private_folder(os.path.dirname(self._path))
            os.close(os.open(self._path, os.O_CREAT | os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600))
            self._made = sqlite3.connect(self._path, timeout=_BUSY, isolation_level=None, check_same_thread=False)
            _lay_out(self._made, self._path)
        return self._made


def _lay_out(database: sqlite3.Connection, path: str) -> None:
    for line in ("PRAGMA foreign_keys=ON", "PRAGMA synchronous=FULL", "PRAGMA secure_delete=ON"):
        database.execute(line)
    if _version(database) < _VERSION:
        database.execute("BEGIN IMMEDIATE")
        was = _version(database)  # somebody else may have done it meanwhile
        steps = _LAYOUT.split(";\n") if not was else [_STEPS[one] for one in range(was, _VERSION)]
        for statement in filter(str.strip, steps):
            database.execute(statement)
        database.execute(f"PRAGMA user_version={max(was, _VERSION)}")
        database.execute("COMMIT")
    if _version(database) != _VERSION:
        raise StoreError(
            f"The people of this home ({path}) were written by another release of Reconvene"
            f" (layout {_version(database)}, this release knows {_VERSION}).",
            hint="Upgrade: pip install --upgrade reconvene. Nothing was changed.",
        )


def _version(database: sqlite3.Connection) -> int:
    version: int = database.execute("PRAGMA user_version").fetchone()[0]
    return version


def _role(database: sqlite3.Connection, name: str) -> str:
    """Of somebody who must be there."""
    found = database.execute("SELECT role FROM people WHERE name = ?", (name,)).fetchone()
    if found is None:
        raise UserError(f"there is nobody called {name!r} here", hint="see who is: reconvene people")
    return str(found[0])


def _require_unlike(database: sqlite3.Connection, name: str) -> None:
    """Who reads a name must know who is meant."""
    alike = [one for (one,) in database.execute("SELECT name FROM people") if skeleton(one) == skeleton(name)]
    if alike:
        raise UserError(
            f"{name} would be taken for {alike[0]}, who is here already",
            hint="take a name that looks different; --account says which account is theirs",
        )


def _require_free(database: sqlite3.Connection, person: Person) -> None:
    """An account is one person's. A name without an account stands for the account of that name."""
    account = person.account or person.name
    taken = database.execute(
        "SELECT name FROM people WHERE name != ? AND (account = ? OR (account IS NULL AND name = ?))",
        (person.name, account, account),
    ).fetchone()
    if taken:
        raise UserError(f"the account {account} is {taken[0]}'s", hint="give each person an account of their own")


def _require_admin(database: sqlite3.Connection, without: str) -> None:
    others = database.execute("SELECT count(*), sum(role = 'admin') FROM people").fetchone()
    if others[0] and not others[1]:
        raise UserError(
            f"without {without} there would be no admin left, and nobody could change that",
            hint="make somebody else one first: reconvene people change NAME --role admin",
        )


def _row(person: Person) -> tuple[str, str, str, str | None]:
    return person.name, person.role, " ".join(person.teams), person.account or None


def _person(row: tuple[str, ...]) -> Person:
    name, role, teams, account, since = row
    known: Role = next((one for one in ROLES if one == role), "viewer")
    return Person(name, known, tuple(teams.split()), account, since)


def _digest(token: str) -> bytes:
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).digest()
