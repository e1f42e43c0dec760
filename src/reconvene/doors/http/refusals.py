"""Refusals that HTTP has a word of its own for."""

from __future__ import annotations

from reconvene.errors import Refused, UserError


class Missing(UserError):
    """There is no such thing: 404."""


class WhichVersion(UserError):
    """A decision that does not say what was shown: 428."""


class WrongField(Refused):
    """One thing that was filled in does not fit: 422, with its name."""

    def __init__(self, field: str, message: str, *, hint: str = "") -> None:
        super().__init__(message, hint=hint, field=field)


class TooLarge(UserError):
    """413."""


class Unreadable(UserError):
    """A request that is no JSON, or no request at all: 400."""


class WrongMedia(UserError):
    """A body of another media type: 415."""
