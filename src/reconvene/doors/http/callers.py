"""Who asks: the holder of the start-up link, or of a session that was opened with it. Nobody else is admitted.

A link is good for one start of the server. The browser that the server opens itself gets a ticket instead, which is
good once: command lines can be read by others on the machine. Of what a browser keeps, only a hash is known here.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
import time
from typing import Literal

from msgspec import Struct
from starlette.requests import HTTPConnection

from reconvene.errors import Forbidden

COOKIE = "reconvene"
ROLES = ("viewer", "reviewer", "decider", "admin")
_DAYS = 30
_TICKET = 300  # seconds in which a ticket must be used

Role = Literal["viewer", "reviewer", "decider", "admin"]


class Caller(Struct, frozen=True):
    """Who asks, proved; and by what: a header that no page can make a browser send, or a cookie, which it can."""

    name: str
    role: Role = "admin"
    teams: tuple[str, ...] = ()
    by_cookie: bool = False

    @property
    def door(self) -> str:
        return "browser" if self.by_cookie else "rest"

    def may(self, role: Role) -> bool:
        return ROLES.index(self.role) >= ROLES.index(role)

    def require(self, role: Role, what: str) -> None:
        """`what`: "to decide"."""
        if not self.may(role):
            raise Forbidden(
                f"{self.name} is a {self.role}; {what}, one must be a {role}",
                hint=f"ask an admin: reconvene people change {self.name} --role {role}",
            )


class Callers:
    """Of one server. `owner`: whom the link admits."""

    def __init__(self, owner: str) -> None:
        self._owner = owner
        self.link = secrets.token_urlsafe(32)
        self._tickets: dict[str, float] = {}
        self._sessions: dict[str, float] = {}

    def ticket(self) -> str:
        made = secrets.token_urlsafe(32)
        self._tickets[_hash(made)] = time.monotonic() + _TICKET
        return made

    def admit(self, given: str) -> str:
        """What the browser keeps from now on; "" where this is neither the link's token nor a ticket."""
        until = self._tickets.pop(_hash(given), 0.0)
        if time.monotonic() >= until and not hmac.compare_digest(given.encode(), self.link.encode()):
            return ""
        session = secrets.token_urlsafe(32)
        self._sessions[_hash(session)] = time.time() + _DAYS * 86_400
        return session

    def leave(self, session: str) -> None:
        self._sessions.pop(_hash(session), None)

    def find(self, asks: HTTPConnection) -> Caller | None:
        named = asks.headers.getlist("authorization")
        if named:
            kind, _, token = named[0].partition(" ")
            good = kind.casefold() == "bearer" and hmac.compare_digest(token.strip().encode(), self.link.encode())
            return Caller(self._owner) if good and len(named) == 1 else None
        session = asks.cookies.get(COOKIE, "")
        if session and self._sessions.get(_hash(session), 0.0) > time.time():
            return Caller(self._owner, by_cookie=True)
        return None


def _hash(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()
