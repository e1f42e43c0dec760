"""Who acts: a name that the account of the system or a token proves, and what that person may do. Knows no store."""

from __future__ import annotations

from typing import Final, Literal

from msgspec import Struct

Role = Literal["viewer", "reviewer", "decider", "admin"]
ROLES: tuple[Role, ...] = ("viewer", "reviewer", "decider", "admin")  # each may do what those before it may
UNKNOWN: Final = "unknown"  # people are set up, and this is none of them
TEAM = "team:"  # before the name of a team, where people and teams are named together


class Actor(Struct, frozen=True):
    """`user` is proved, "" = nothing proves who it is."""

    user: str = ""
    role: Role | Literal["", "unknown"] = ""  # "" = nobody is set up: everybody may do everything
    teams: tuple[str, ...] = ()
    served: bool = False  # a process acts for them that they did not start: it signs with its own key, on their behalf

    def may(self, role: Role) -> bool:
        if not self.role:
            return True
        return self.role in ROLES and ROLES.index(self.role) >= ROLES.index(role)

    def is_among(self, who: tuple[str, ...]) -> bool:
        """Whether one of these names, or teams, is theirs."""
        return bool(self.user) and (self.user in who or any(f"{TEAM}{team}" in who for team in self.teams))


NOBODY = Actor()
