"""Who asks: somebody with a token, or with a session that was opened with one. Nobody else is admitted.

While no people are set up, the link that the server prints admits its owner, for one start of the server. The browser
that the server opens itself gets a ticket instead, which is good once: command lines can be read by others on the
machine. Once people are set up, only their tokens admit anybody, and sessions last as long as the token that opened
them. Of what a browser keeps, only a hash is kept here.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
import time
from typing import TYPE_CHECKING, Literal, Protocol

from msgspec import Struct
from starlette.requests import HTTPConnection

from reconvene.core.facts.actors import ROLES, Actor
from reconvene.core.facts.actors import Role as Role
from reconvene.core.person.permitted import require_role
from reconvene.doors.http import moments
from reconvene.language.times import later
from reconvene.ports import Request

if TYPE_CHECKING:
    from starlette.responses import Response

    from reconvene.desk_ports import WebSession
    from reconvene.people_ports import People, Person

COOKIE = "reconvene"
_DAYS = 30
_TICKET = 300  # seconds in which a ticket must be used
_FRESH = 1.0  # seconds for which it is not looked up again who it is that reads
_MOST_KNOWN = 10_000
_LINK = "link"  # in the place of the token with which a session was opened


class Caller(Struct, frozen=True):
    """Who asks, proved; and by what: a header that no page can make a browser send, or a cookie, which it can."""

    name: str
    role: Role = "admin"
    teams: tuple[str, ...] = ()
    by_cookie: bool = False
    listed: bool = False  # one of the people of the home; else the owner of the server
    since: str = ""  # when they were added
    request: Request | None = None  # what they ask for by a key of theirs: it is carried out once

    @property
    def door(self) -> Literal["browser", "rest"]:
        return "browser" if self.by_cookie else "rest"

    @property
    def actor(self) -> Actor | None:
        """As whom they act; None = as the account of the server."""
        return Actor(self.name, self.role, self.teams, True, self.since) if self.listed else None

    def may(self, role: Role) -> bool:
        return ROLES.index(self.role) >= ROLES.index(role)

    def require(self, role: Role, what: str) -> None:
        """`what`: "to decide"."""
        require_role(Actor(self.name, self.role, self.teams), role, what)


class Sessions(Protocol):
    """Where sessions are kept: a desk, or memory."""

    def begin_session(self, secret: str, person: str, now: str, expires: str) -> None: ...

    def session(self, secret: str, now: str) -> WebSession | None: ...

    def end_session(self, secret: str) -> None: ...


class Callers:
    """Of one server. `owner`: whom the link admits. `people`: those of the home, None = there are none. `secure`: the
    browser comes by https."""

    def __init__(
        self, owner: str, sessions: Sessions | None = None, people: People | None = None, *, secure: bool = False
    ) -> None:
        self._owner = owner
        self._kept: Sessions = sessions if sessions is not None else _InMemory()
        self._people = people
        self._secure = secure
        self.link = secrets.token_urlsafe(32)
        self._tickets: dict[str, float] = {}
        self._known: dict[str, tuple[float, Caller | None]] = {}  # by hash of what they showed
        self._known_at: object = None  # the moment of the people at which that was looked up

    # --- entering and leaving ---

    def ticket(self) -> str:
        made = secrets.token_urlsafe(32)
        self._tickets[_hash(made)] = time.monotonic() + _TICKET
        return made

    @property
    def are_set_up(self) -> bool:
        return self._people is not None and bool(self._people.everyone())

    def moment(self) -> object:
        """Another one whenever somebody's rights may have changed."""
        return self._people.moment() if self._people is not None else None

    def admit(self, given: str) -> str:
        """What the browser keeps from now on; "" where this admits nobody."""
        now = moments.now()
        until = later(now, _DAYS * 86_400)
        if self.are_set_up:
            assert self._people is not None
            token = self._people.token(given, now) if given else None
            if token is None:
                return ""
            person, by, ends = token.person, token.id, min(until, token.expires)
        else:
            ticket = self._tickets.pop(_hash(given), 0.0)
            if time.monotonic() >= ticket and not hmac.compare_digest(given.encode(), self.link.encode()):
                return ""
            person, by, ends = self._owner, _LINK, until
        session = f"{secrets.token_urlsafe(32)}.{by}"
        self._kept.begin_session(session, person, now, ends)
        return session

    def keep(self, answer: Response, session: str) -> None:
        """Have the browser keep it."""
        seconds = _DAYS * 86_400
        answer.set_cookie(COOKIE, session, seconds, path="/", httponly=True, samesite="lax", secure=self._secure)

    def leave(self, session: str, answer: Response | None = None) -> None:
        self._kept.end_session(session)
        self._known.pop(_key(session, cookie=True), None)
        if answer is not None:
            answer.delete_cookie(COOKIE, path="/", httponly=True, samesite="lax", secure=self._secure)

    # --- finding ---

    def whose(self, asks: HTTPConnection) -> str:
        """The person to whom the session belongs that a browser shows, also where their token no longer holds; "" =
        nobody knows it. It proves nothing."""
        shown = asks.cookies.get(COOKIE, "")
        found = self._kept.session(shown, moments.now()) if shown else None
        return found.person if found is not None else ""

    def of_session(self, session: str) -> Caller | None:
        return self._fresh(session, cookie=True)

    def find(self, asks: HTTPConnection) -> Caller | None:
        named = asks.headers.getlist("authorization")
        if named:
            kind, _, token = named[0].partition(" ")
            good = kind.casefold() == "bearer" and len(named) == 1
            return self._looked_up(asks, token.strip(), cookie=False) if good else None
        session = asks.cookies.get(COOKIE, "")
        return self._looked_up(asks, session, cookie=True) if session else None

    def _looked_up(self, asks: HTTPConnection, shown: str, *, cookie: bool) -> Caller | None:
        """Whoever changes something is looked up each time: who was removed changes nothing any more."""
        if asks.scope.get("method") not in ("GET", "HEAD"):
            self._known.pop(_key(shown, cookie=cookie), None)
        return self._fresh(shown, cookie=cookie)

    def why_unknown(self, asks: HTTPConnection) -> str:
        """Why whoever asks is nobody here; told only to who holds what was once a token."""
        named = asks.headers.getlist("authorization")
        kind, _, token = (named[0] if len(named) == 1 else "").partition(" ")
        if kind.casefold() != "bearer" or not token.strip():
            return "Send one token: Authorization: Bearer TOKEN."
        if not self.are_set_up:
            return "This is not the token of this server's link, which is another after each start."
        assert self._people is not None
        found = self._people.known_token(token.strip())
        if found is None:
            return "This token is unknown here: it is another home's, or its person was removed."
        if found.revoked:
            return f"This token was revoked at {found.revoked}."
        return f"This token ran out at {found.expires}."

    def _fresh(self, shown: str, *, cookie: bool) -> Caller | None:
        """Looked up once a second at most, and anew when anything is changed about the people."""
        key, now = _key(shown, cookie=cookie), time.monotonic()
        if (moment := self.moment()) != self._known_at:
            self._known.clear()
            self._known_at = moment
        since, caller = self._known.get(key, (-_FRESH, None))
        if now - since >= _FRESH:
            caller = self._by_session(shown) if cookie else self._by_token(shown)
            if len(self._known) >= _MOST_KNOWN:
                self._known.clear()
            self._known[key] = (now, caller)
        return caller

    def _by_token(self, token: str) -> Caller | None:
        if self.are_set_up:
            assert self._people is not None
            person = self._people.by_token(token, moments.now())
            return _listed(person) if person is not None else None
        return Caller(self._owner) if hmac.compare_digest(token.encode(), self.link.encode()) else None

    def _by_session(self, session: str) -> Caller | None:
        now = moments.now()
        found, by = self._kept.session(session, now), session.rpartition(".")[2]
        if found is None:
            return None
        if not self.are_set_up:
            return Caller(found.person, by_cookie=True) if by == _LINK else None
        assert self._people is not None
        tokens = [one for one in self._people.tokens(found.person) if one.id == by]
        holds = any(not one.revoked and one.expires > now for one in tokens)
        person = self._people.find(found.person) if holds else None
        return _listed(person, by_cookie=True) if person is not None else None


class _InMemory:
    """For a server whose sessions need not outlive it."""

    def __init__(self) -> None:
        self._sessions: dict[str, WebSession] = {}

    def begin_session(self, secret: str, person: str, now: str, expires: str) -> None:
        from reconvene.desk_ports import WebSession

        self._sessions[_hash(secret)] = WebSession(person, now, now, expires)

    def session(self, secret: str, now: str) -> WebSession | None:
        found = self._sessions.get(_hash(secret))
        return found if found is not None and found.expires > now else None

    def end_session(self, secret: str) -> None:
        self._sessions.pop(_hash(secret), None)


def _listed(person: Person, *, by_cookie: bool = False) -> Caller:
    return Caller(person.name, person.role, person.teams, by_cookie, listed=True, since=person.since)


def _key(shown: str, *, cookie: bool) -> str:
    return f"{cookie}{_hash(shown)}"


def _hash(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "replace")).hexdigest()
