"""Requests that are carried out once, and who is signed in: `Requests` and `WebSessions` in the desk's file."""

from __future__ import annotations

import hashlib
import json
from datetime import timedelta
from typing import cast

from reconvene.adapters.desk.desk_file import DeskFile, earlier
from reconvene.desk_ports import KEPT_HOURS, MOST_KEY, Kept, Reply, WebSession
from reconvene.errors import UserError

_ONE = "person = ? AND key = ?"
_FOUND = f"SELECT fingerprint, at, status, headers, body FROM requests WHERE {_ONE} AND at > ?"
_CLAIM = "INSERT OR REPLACE INTO requests (person, key, fingerprint, at, until) VALUES (?, ?, ?, ?, '')"
_ANSWER = f"UPDATE requests SET at = ?, status = ?, headers = ?, body = ? WHERE {_ONE}"
_SESSION = "SELECT person, made, used, expires FROM sessions WHERE"
_USED = timedelta(minutes=1)  # a session's last use is not noted more exactly


class SignedIn:
    _file: DeskFile

    # --- requests ---

    def claim(self, person: str, key: str, fingerprint: str, *, now: str) -> Kept:
        if not 0 < len(key) <= MOST_KEY:
            raise UserError(f"A request's key has 1 to {MOST_KEY} characters; this one has {len(key)}.")
        with self._file.transaction():
            row = self._file.row(_FOUND, person, key, earlier(now, timedelta(hours=KEPT_HOURS)))
            if row:
                return _kept(row, fingerprint)
            self._file.do(_CLAIM, person, key, fingerprint, now)
            return Kept(now)

    def answer(self, person: str, key: str, reply: Reply, now: str) -> None:
        self._file.do(_ANSWER, now, reply.status, json.dumps(reply.headers), reply.body, person, key)

    def let_go(self, person: str, key: str) -> None:
        self._file.do(f"DELETE FROM requests WHERE {_ONE} AND status IS NULL", person, key)

    # --- sessions ---

    def begin_session(self, secret: str, person: str, now: str, expires: str) -> None:
        self._file.do("INSERT INTO sessions VALUES (?, ?, ?, ?, ?)", _hashed(secret), person, now, now, expires)

    def session(self, secret: str, now: str) -> WebSession | None:
        name = _hashed(secret)
        row = self._file.row(f"{_SESSION} id = ? AND expires > ?", name, now)
        if row is None:
            return None
        found = WebSession(*cast("tuple[str, str, str, str]", row))
        if found.used < earlier(now, _USED):
            self._file.do("UPDATE sessions SET used = ? WHERE id = ?", now, name)
            found = found._replace(used=now)
        return found

    def sessions(self, person: str, now: str) -> list[WebSession]:
        rows = self._file.rows(f"{_SESSION} person = ? AND expires > ? ORDER BY made", person, now)
        return [WebSession(*cast("tuple[str, str, str, str]", row)) for row in rows]

    def end_session(self, secret: str) -> None:
        self._file.do("DELETE FROM sessions WHERE id = ?", _hashed(secret))

    def end_sessions(self, person: str) -> int:
        return self._file.do("DELETE FROM sessions WHERE person = ?", person)


def _hashed(secret: str) -> bytes:
    return hashlib.sha256(secret.encode()).digest()


def _kept(row: tuple[object, ...], fingerprint: str) -> Kept:
    asked, since, status, headers, body = cast("tuple[str, str, int | None, str, bytes]", row)
    told = tuple((str(name), str(value)) for name, value in json.loads(headers)) if status is not None else ()
    reply = Reply(status, told, body) if status is not None else None
    return Kept(since, again=True, other=asked != fingerprint, reply=reply)
