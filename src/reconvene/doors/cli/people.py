"""`people` and its commands: who may do what in this home, and the tokens that prove who somebody is."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

import click
from msgspec import to_builtins
from msgspec.structs import replace

from reconvene.authority import require_person
from reconvene.core.facts.actors import ROLES
from reconvene.core.person.permitted import require_role
from reconvene.desk_wiring import forget_person
from reconvene.doors.cli.common import Call, answer, command, note, open_engine, put, put_json, put_table
from reconvene.doors.cli.text import clean
from reconvene.doors.shared.people_words import one_word
from reconvene.errors import Forbidden, UserError
from reconvene.home import is_there, require_fit
from reconvene.language.times import duration, later
from reconvene.people_ports import Person
from reconvene.people_wiring import acting, are_set_up, open_people, owns
from reconvene.settings import TOKEN_VARIABLE, system_user
from reconvene.surroundings import SystemClock

if TYPE_CHECKING:
    from reconvene.people_ports import People, Token

_USUAL = "90d"
_ROLE = click.Choice(ROLES)
_TEAM = click.option("--team", "teams", multiple=True, metavar="TEAM", help="A team that they are in; may be repeated.")
_ACCOUNT = click.option(
    "--account", default=None, metavar="USER", help="Their account here, where it is not their name."
)


def _opened(call: Call, what: str) -> People:
    """For an admin; while there is none, for whoever owns the home."""
    require_person(what)
    require_fit(call.place)
    if not is_there(call.place):
        open_engine(call)  # makes the home
    if are_set_up(call.home):
        require_role(acting(call.home), "admin", what)
    elif not owns(call.home):
        raise Forbidden(
            f"{what} is for whoever owns the home {call.home}, as long as nobody is set up", hint="ask them to do it"
        )
    return open_people(call.home)


def _known(people: People, name: str) -> Person:
    found = people.find(name)
    if found is None:
        raise UserError(f"there is nobody called {name!r} here", hint="see who is: reconvene people")
    return found


@command("""
Example:
  reconvene people add ada --role decider --team finance
  reconvene people add bob --role decider --account bsmith
""")
@click.argument("name")
@click.option("--role", type=_ROLE, required=True, help="What they may do; each role may do what those before it may.")
@_TEAM
@_ACCOUNT
def add(call: Call, name: str, role: str, teams: tuple[str, ...], account: str | None) -> int:
    """Add NAME to the people of this home.

    A viewer reads. A reviewer also remarks and edits. A decider also starts, decides, pauses and ends runs. An admin
    also says who the people are, hands checkpoints over and deletes runs. From the first person on, whoever is not
    among the people can only read.
    """
    known = next(one for one in ROLES if one == role)
    person = Person(one_word("a name", name), known, _teams(teams), _account(account), SystemClock().now())
    with closing(_opened(call, "to say who the people are")) as people:
        people.add(person)
        if not any(one.role == "admin" for one in people.everyone()):
            note("nobody is an admin yet: until somebody is, whoever owns this home counts as one")
    return _tell(call, person, "is one of the people here")


def _teams(teams: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(sorted({one_word("the name of a team", team) for team in teams}))


def _account(account: str | None) -> str:
    return one_word("an account", account) if account else ""


@command("Example:\n  reconvene people change ada --role admin")
@click.argument("name")
@click.option("--role", type=_ROLE, default=None, help="Another role.")
@_TEAM
@click.option("--no-team", is_flag=True, help="In no team any more, but for those that --team names.")
@_ACCOUNT
def change(call: Call, name: str, role: str | None, teams: tuple[str, ...], no_team: bool, account: str | None) -> int:
    """Change what NAME may do here. What is not named stays. It holds at once, also for tokens."""
    with closing(_opened(call, "to say who the people are")) as people:
        person = _known(people, name)
        before = () if no_team else person.teams
        person = replace(
            person,
            role=next((one for one in ROLES if one == role), person.role),
            teams=tuple(sorted({*before, *_teams(teams)})),
            account=person.account if account is None else _account(account),
        )
        people.change(person)
    return _tell(call, person, "is changed")


@command("Example:\n  reconvene people remove ada")
@click.argument("name")
def remove(call: Call, name: str) -> int:
    """Remove NAME from the people of this home. Their tokens admit nobody any more. What they did stays on record.

    What they prepared and did not send is dropped. Whoever is added by this name later is somebody else.
    """
    with closing(_opened(call, "to say who the people are")) as people:
        person = _known(people, name)
        people.remove(name)
        forget_person(call.home, name)
    return answer(call, {"removed": to_builtins(person)}, f"{name} is none of the people here any more")


@command("""
Examples:
  reconvene people token ada
  reconvene people token ada --expires 30d --label laptop
""")
@click.argument("name")
@click.option("--expires", default=_USUAL, show_default=True, metavar="TIME", help="After how long: 12h, 30d, 8w.")
@click.option("--label", default="", metavar="TEXT", help="What it is for, so that you know it again.")
def token(call: Call, name: str, expires: str, label: str) -> int:
    """Make a token for NAME and print it, this once. Whoever holds it acts as NAME: hand it over with care.

    It is used by `reconvene --server`, by scripts, and by whoever shares an account: RECONVENE_TOKEN holds it.
    """
    seconds = duration(expires)
    if seconds <= 0:
        raise UserError(f"--expires {expires} is no time", hint="such as 12h, 30d or 8w")
    now = SystemClock().now()
    with closing(_opened(call, "to make a token")) as people:
        _known(people, name)
        made, secret = people.issue(name, clean(label), now, later(now, seconds))
    if call.as_json:
        put_json({**to_builtins(made), "token": secret})
        return 0
    put(secret)
    note(f"token {made.id} of {name}, until {made.expires[:16].replace('T', ' ')}; it is not shown again")
    note(f"use it: export {TOKEN_VARIABLE}=…; take it back: {call.command('people', 'revoke', made.id)}")
    return 0


@command("Example:\n  reconvene people revoke 1f0c9a1b")
@click.argument("token", metavar="ID")
def revoke(call: Call, token: str) -> int:
    """Revoke the token ID, as `reconvene people` lists it: from now on it admits nobody."""
    with closing(_opened(call, "to revoke a token")) as people:
        gone = people.revoke(token, SystemClock().now())
    return answer(call, to_builtins(gone), f"token {gone.id} of {gone.person} admits nobody any more")


@command(
    """
Examples:
  reconvene people
  reconvene people add ada --role admin
  reconvene people token ada --expires 30d
""",
    commands=(add, change, remove, token, revoke),
)
def people(call: Call) -> int:
    """The people of this home: what each may do, and which tokens they hold."""
    if not are_set_up(call.home):
        return _none(call)
    with closing(open_people(call.home)) as found:
        everyone, tokens = found.everyone(), found.tokens()
    if not everyone:
        return _none(call)
    me = acting(call.home)
    if call.as_json:
        of = {one.name: [to_builtins(each) for each in tokens if each.person == one.name] for one in everyone}
        told = [{**to_builtins(one), "tokens": of[one.name]} for one in everyone]
        put_json({"people": told, "you": to_builtins(me)})
        return 0
    rows = [(one.name, one.role, ", ".join(one.teams), one.account or one.name) for one in everyone]
    put_table(rows, ("NAME", "ROLE", "TEAMS", "ACCOUNT"))
    if tokens:
        put()
        now = SystemClock().now()
        held = [(one.id, one.person, one.label, _state(one, now)) for one in tokens]
        put_table(held, ("TOKEN", "OF", "LABEL", "UNTIL"))
    role = "none of them: you can only read" if me.role not in ROLES else f"{me.user}, {me.role}"
    put(f"\nyou are {role}")
    return 0


def _state(one: Token, now: str) -> str:
    if one.revoked:
        return f"revoked {one.revoked[:16].replace('T', ' ')}"
    return f"{'ran out ' if one.expires <= now else ''}{one.expires[:16].replace('T', ' ')}"


def _none(call: Call) -> int:
    first = call.command("people", "add", system_user(), "--role", "admin")
    told = f"nobody is set up: whoever can open this home may do everything\nset somebody up: {first}"
    return answer(call, {"people": [], "you": {"user": system_user()}}, told)


def _tell(call: Call, person: Person, what: str) -> int:
    teams = f", in {', '.join(person.teams)}" if person.teams else ""
    return answer(call, to_builtins(person), f"{person.name} {what}: {person.role}{teams}")
