"""Who did something, as it is told: a name that the system or a token proves, or one that somebody only claims."""

from __future__ import annotations


def is_proved(by: str, user: str) -> bool:
    """`user`: for whom the system vouches, "" = for nobody, as in logs of older releases."""
    return bool(user) and by == user


def told(by: str, user: str) -> str:
    """A proved name as it is; a claimed one with who claimed it, where that is known."""
    return f"{by} [claimed by {user}]" if by and user and by != user else by
