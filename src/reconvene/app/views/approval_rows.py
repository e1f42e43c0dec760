"""What each of several people chose at an open checkpoint, as doors show it."""

from __future__ import annotations

from msgspec import Struct


class Approval(Struct, frozen=True, omit_defaults=True):
    """What one of several people chose, where an option needs more than one. `counts`: nothing was changed since."""

    user: str
    by: str
    option: str
    choice: str  # the same where option and answers are the same
    at: str
    version: str  # of the checkpoint: what was shown
    counts: bool = False
    remarks: tuple[str, ...] = ()  # their ids
