"""Who the people of the home are, for an admin: the same as `reconvene people`."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import closing
from typing import TYPE_CHECKING, TypeVar

from msgspec.structs import replace

from reconvene.doors.http import moments
from reconvene.doors.http.refusals import Missing, WrongField
from reconvene.doors.shared.people_words import one_word
from reconvene.errors import UserError
from reconvene.language.times import LONGEST, duration, later
from reconvene.people_ports import People, Person, Token
from reconvene.people_wiring import open_people

if TYPE_CHECKING:
    from reconvene.core.facts.actors import Role
    from reconvene.doors.http.callers import Caller
    from reconvene.doors.http.service import Service

T = TypeVar("T")


async def _with(service: Service, caller: Caller, what: str, work: Callable[[People], T]) -> T:
    caller.require("admin", what)

    def done() -> T:
        with closing(open_people(service.home)) as people:
            return work(people)

    return await asyncio.to_thread(done)


async def everyone(service: Service, caller: Caller) -> tuple[list[Person], list[Token]]:
    return await _with(service, caller, "to see who the people are", lambda found: (found.everyone(), found.tokens()))


async def add(service: Service, caller: Caller, name: str, role: Role, teams: Sequence[str], account: str) -> Person:
    person = Person(_word("name", name), role, _teams(teams), _word("account", account) if account else "")
    person = replace(person, since=moments.now())

    def work(people: People) -> Person:
        _named("name", lambda: people.add(person))
        return person

    return await _with(service, caller, "to say who the people are", work)


async def change(
    service: Service,
    caller: Caller,
    name: str,
    role: Role | None,
    teams: Sequence[str] | None,
    account: str | None,
) -> Person:
    """What is None stays."""

    def work(people: People) -> Person:
        before = _known(people, name)
        person = replace(
            before,
            role=role or before.role,
            teams=before.teams if teams is None else _teams(teams),
            account=before.account if account is None else _word("account", account) if account else "",
        )
        _named("role", lambda: people.change(person))
        return person

    return await _with(service, caller, "to say who the people are", work)


async def remove(service: Service, caller: Caller, name: str) -> Person:
    def work(people: People) -> Person:
        person = _known(people, name)
        _named("name", lambda: people.remove(name))
        service.desk.drop_person(name)
        return person

    return await _with(service, caller, "to say who the people are", work)


async def token(service: Service, caller: Caller, name: str, expires: str, label: str) -> tuple[Token, str]:
    """What is known of it, and the token itself, which is told this once."""
    seconds = duration(expires)
    if not 0 < seconds <= LONGEST:
        raise WrongField("expires", f"{expires!r} is no time", hint="such as 12h, 30d or 8w")

    def work(people: People) -> tuple[Token, str]:
        _known(people, name)
        now = moments.now()
        return people.issue(name, label, now, later(now, seconds))

    return await _with(service, caller, "to make a token", work)


async def revoke(service: Service, caller: Caller, id: str) -> Token:
    def work(people: People) -> Token:
        try:
            return people.revoke(id, moments.now())
        except UserError as error:
            raise Missing(error.message, hint="GET /api/v1/people lists them.") from None

    return await _with(service, caller, "to revoke a token", work)


def _known(people: People, name: str) -> Person:
    found = people.find(name)
    if found is None:
        raise Missing(f"There is nobody called {name!r} here.", hint="GET /api/v1/people lists them.")
    return found


def _teams(teams: Sequence[str]) -> tuple[str, ...]:
    return tuple(sorted({_word("teams", team) for team in teams}))


def _word(field: str, text: str) -> str:
    return _named(field, lambda: one_word(f"{'an' if field == 'account' else 'a'} {field.removesuffix('s')}", text))


def _named(field: str, work: Callable[[], T]) -> T:
    try:
        return work()
    except UserError as error:
        raise WrongField(field, error.message, hint=error.hint if " --" not in error.hint else "") from None
