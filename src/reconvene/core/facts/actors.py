"""Who acts: a name that the account of the system or a token proves, and what that person may do. Knows no store."""

from __future__ import annotations

from typing import Final, Literal

from msgspec import Struct

from reconvene.core.facts.named_people import is_among

Role = Literal["viewer", "reviewer", "decider", "admin"]
ROLES: tuple[Role, ...] = ("viewer", "reviewer", "decider", "admin")  # each may do what those before it may
UNKNOWN: Final = "unknown"  # people are set up, and this is none of them


class Actor(Struct, frozen=True):
    """`user` is proved, "" = nothing proves who it is."""

    user: str = ""
    role: Role | Literal["", "unknown"] = ""  # "" = nobody is set up: everybody may do everything
    teams: tuple[str, ...] = ()
    served: bool = False  # a process acts for them that they did not start: it signs with its own key, on their behalf
    since: str = ""  # when they came; what somebody of this name did before is not theirs

    def may(self, role: Role) -> bool:
        if not self.role:
            return True
        return self.role in ROLES and ROLES.index(self.role) >= ROLES.index(role)

    def is_among(self, who: tuple[str, ...]) -> bool:
        """Whether one of these names, or teams, is theirs."""
        return is_among(self.user, self.teams, who)


NOBODY = Actor()
