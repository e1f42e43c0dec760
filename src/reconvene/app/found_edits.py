"""What a person changed in the workspace: found, and put on record before anything that follows."""

from __future__ import annotations

from typing import NamedTuple

from reconvene.app.files import Files, Scan
from reconvene.app.session import Leases, Session, Sessions
from reconvene.app.signing import Signer
from reconvene.core.facts.actors import Actor
from reconvene.errors import Refused


class Editor(NamedTuple):
    """Who changed what lies in the folder of a run, and the session in which that is recorded."""

    session: Session
    by: str
    door: str


def editor(session: Session, signer: Signer | None, sessions: Sessions, by: str, door: str) -> Editor:
    """Who acts here at this machine. Somebody whom this process serves cannot have written into its folders: that was
    the account that it runs under, and whoever decides has to see it first."""
    account = signer.user if signer is not None else ""
    if not session.actor.served or not account or session.actor.user == account:
        return Editor(session, by, door)
    return Editor(sessions.open(session.run, Actor(account)), account, "folder")


def record_edits(
    session: Session, files: Files, leases: Leases, by: str, door: str, *, tidy: bool = False, held: bool = False
) -> list[str]:
    """The changed paths. `tidy`: the log is about to move on. Disk and log must agree before that, edits or not: after
    an undo, whatever a crash left there unnoted would look like a new edit. `held`: the lease is ours already."""
    scan = files.scan(session, by, door, claims=tidy)
    if tidy:
        _require_taken(session, files, scan)
    if scan.settled:
        return []
    command = scan.command
    if command is not None:
        session.do(command, scan.blobs)  # where it is refused, the edits stay on disk, and are found again
    if held:
        files.restore(session, scan)
    elif tidy or command is not None:
        with leases.held(session.run) as ours:
            if ours:
                files.restore(session, scan)
    return [edit.path for edit in command.edits] if command is not None else []


def _require_taken(session: Session, files: Files, scan: Scan) -> None:
    """Whoever decides goes by what they wrote into a file of the run. Where that cannot be taken, nothing goes on: the
    file would be written over, and their words with it."""
    known = files.known(session)
    held = [why for why in scan.ignored if why.partition(": ")[0] in known]
    if held:
        raise Refused(
            f"What lies in the folder of {session.run} instead of a file of the run cannot be taken: {'; '.join(held)}."
            " Nothing was done.",
            hint="Put a plain file there (RECONVENE_MAX_EDIT_MB says how large it may be), or move it away.",
        )
