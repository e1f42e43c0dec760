"""What is asked of whoever keeps the people of a home, their roles and their tokens. Nothing here does anything."""

from __future__ import annotations

from typing import Protocol

from msgspec import Struct

from reconvene.core.facts.actors import Actor, Role


class Person(Struct, frozen=True, omit_defaults=True):
    """`account`: whom the system knows them as, where that is not their name. Who was removed and is added anew is
    somebody else, of the same name."""

    name: str
    role: Role
    teams: tuple[str, ...] = ()
    account: str = ""
    since: str = ""  # when they were added; "" = before that was kept

    def actor(self, *, served: bool = False) -> Actor:
        return Actor(self.name, self.role, self.teams, served, self.since)


class Token(Struct, frozen=True, omit_defaults=True):
    """What is known of a token. The token itself is nowhere."""

    id: str
    person: str
    label: str
    made: str
    expires: str  # from then on it admits nobody
    revoked: str = ""  # when; "" = it was not


class People(Protocol):
    """The people of one home. Names are unique, and so are accounts. See reconvene.testing.people_conformance."""

    def everyone(self) -> list[Person]:
        """By name."""

    def find(self, name: str) -> Person | None: ...

    def by_account(self, account: str) -> Person | None:
        """Who has this account; else who has no account, and this name."""

    def by_token(self, token: str, now: str) -> Person | None:
        """Whom it admits now. Nobody once it has run out, was revoked, or its person is gone."""

    def token(self, token: str, now: str) -> Token | None:
        """What is known of it, as long as it admits somebody."""

    def known_token(self, token: str) -> Token | None:
        """What is known of it, also once it admits nobody any more; None where its person is gone, too."""

    def add(self, person: Person) -> None:
        """UserError where the name or the account is taken."""

    def change(self, person: Person) -> None:
        """The one of this name; `since` stays. UserError where there is none, the account is taken, or no admin would
        be left."""

    def remove(self, name: str) -> None:
        """With all tokens. UserError where there is nobody of this name, or others would be left without an admin."""

    def issue(self, name: str, label: str, now: str, expires: str) -> tuple[Token, str]:
        """A new token, which is told this once."""

    def tokens(self, name: str = "") -> list[Token]:
        """Of one person, or of everyone; the newest last."""

    def revoke(self, token: str, now: str) -> Token:
        """By its id. UserError where there is none."""

    def moment(self) -> object:
        """Another one whenever anybody has changed something, also another process; cheap to ask for."""

    def close(self) -> None: ...
