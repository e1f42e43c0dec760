"""Who the people of a home are, and as whom this process acts there.

A token in the environment proves who somebody is, else the account of the system does. Where nobody is set up,
everybody who can open the home may do everything. While no admin is set up, whoever owns the home is one.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from msgspec.structs import replace

from reconvene.core.facts.actors import UNKNOWN, Actor
from reconvene.core.facts.named_people import TEAM
from reconvene.errors import Forbidden
from reconvene.home import PEOPLE
from reconvene.settings import TOKEN_VARIABLE, person_token, system_user

if TYPE_CHECKING:
    from reconvene.people_ports import People, Person


def open_people(home: str | os.PathLike[str]) -> People:
    """The file is made with the first person."""
    from reconvene.adapters.sqlite.people_file import SqlitePeople

    return SqlitePeople(_file(home))


def are_set_up(home: str | os.PathLike[str]) -> bool:
    """Looks only for the file: every command asks it."""
    return os.path.lexists(_file(home))


def acting(home: str | os.PathLike[str], now: str = "") -> Actor:
    """As whom this process acts. Forbidden where a token was given that admits nobody."""
    user = system_user()
    if not are_set_up(home):
        return Actor(user)
    people = open_people(home)
    try:
        everyone = people.everyone()
        if not everyone:
            return Actor(user)
        if token := person_token():
            from reconvene.surroundings import SystemClock

            found = people.by_token(token, now or SystemClock().now())
            if found is None:
                raise Forbidden(
                    f"the token in {TOKEN_VARIABLE} admits nobody here: it ran out, was revoked, or is another home's",
                    hint=f"ask an admin for a new one: reconvene people token NAME; or unset {TOKEN_VARIABLE}",
                )
            return found.actor(served=True)
        listed = people.by_account(user)
    finally:
        people.close()
    actor = listed.actor() if listed is not None else Actor(user, UNKNOWN)
    return _as_owner(home, actor, everyone)


def person(home: str | os.PathLike[str], name: str) -> Actor:
    """Who somebody of this proved name is now, and what they may do."""
    if not are_set_up(home):
        return Actor(name)
    people = open_people(home)
    try:
        everyone = people.everyone()
    finally:
        people.close()
    if not everyone:
        return Actor(name)
    found = next((one for one in everyone if one.name == name), None)
    actor = found.actor() if found is not None else Actor(name, UNKNOWN)
    account = (found.account if found is not None else "") or name
    return _as_owner(home, actor, everyone) if account == system_user() else actor


def _as_owner(home: str | os.PathLike[str], actor: Actor, everyone: Sequence[Person]) -> Actor:
    """The account of this process: while no admin is set up, whoever owns the home is one, whatever they are listed
    as."""
    none = not any(one.role == "admin" for one in everyone)
    return replace(actor, role="admin") if none and owns(home) else actor


def deciders(home: str | os.PathLike[str]) -> frozenset[str] | None:
    """Names, and teams as team:NAME, of whoever may decide; None where nobody is set up."""
    if not are_set_up(home):
        return None
    people = open_people(home)
    try:
        everyone = people.everyone()
    finally:
        people.close()
    able = [one for one in everyone if one.actor().may("decider")]
    names = {one.name for one in able} | {f"{TEAM}{team}" for one in able for team in one.teams}
    return frozenset(names) if everyone else None


def owns(home: str | os.PathLike[str]) -> bool:
    try:
        return os.stat(home).st_uid == os.geteuid()
    except FileNotFoundError:
        return True  # it is made with what is done now


def _file(home: str | os.PathLike[str]) -> str:
    return os.path.join(os.path.abspath(home), PEOPLE)
