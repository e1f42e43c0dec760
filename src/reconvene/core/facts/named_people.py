"""People and teams as checkpoints name them: `ada`, `team:finance`. Imports nothing: lists of runs use it."""

from __future__ import annotations

from collections.abc import Collection, Iterable

TEAM = "team:"  # before the name of a team


def is_name(text: str) -> bool:
    """Whether this may stand where people and teams are named."""
    name = text.removeprefix(TEAM)
    return bool(name) and name.isprintable() and not any(sign.isspace() for sign in name) and TEAM not in name


def is_among(user: str, teams: Iterable[str], who: Collection[str]) -> bool:
    """Whether one of these names, or teams, is this person's."""
    return bool(user) and (user in who or any(f"{TEAM}{team}" in who for team in teams))


def named(who: Iterable[str], last: str = "or") -> str:
    """`ada, bob or team finance`"""
    names = [f"team {one.removeprefix(TEAM)}" if one.startswith(TEAM) else one for one in who]
    return f"{', '.join(names[:-1])} {last} {names[-1]}" if len(names) > 1 else "".join(names)
