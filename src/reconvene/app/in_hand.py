"""A run that this process is about to drive: what `submit` hands over to `drive`."""

from __future__ import annotations

from msgspec import Struct

from reconvene.app.files import Files
from reconvene.app.session import Session


class InHand(Struct, frozen=True):
    """A run whose lease is held, to be driven: under this token its tasks are claimed."""

    session: Session
    files: Files
    holder: str
    claim: str
    tidied: bool = False  # edits are on record and the folder is as the log says, a moment ago
