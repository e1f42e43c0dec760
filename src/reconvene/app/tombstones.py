"""What stays of runs that were deleted: read, and checked against its seal."""

from __future__ import annotations

import msgspec

from reconvene.app.misfits import misfit
from reconvene.app.signing import Signer, shown
from reconvene.app.views.soundness import Gone
from reconvene.app.views.who import is_proved
from reconvene.chain_ports import Deleted
from reconvene.errors import StoreError
from reconvene.ports import EventLog
from reconvene.wire import chain
from reconvene.wire.seals import decode_seal, signed_bytes


class Tombstone(msgspec.Struct, frozen=True, omit_defaults=True):
    """Who deleted a run, and when. `name`: of its workflow."""

    at: str
    by: str = ""
    user: str = ""
    door: str = ""
    name: str = ""


def left_of(log: EventLog, run: str) -> Deleted | None:
    return next((one for one in log.deleted() if one.run == run), None)


def link_of(run: str, head: int, value: bytes, doc: str) -> bytes:
    """What is signed: the deletion, as if it were one more append."""
    return chain.link(value or chain.BEGINNING, run, head + 1, False, doc.encode("utf-8", "surrogatepass"))


def gone(left: Deleted, signed_by: str = "") -> Gone:
    try:
        said = msgspec.json.decode(left.doc, type=Tombstone)
    except (msgspec.DecodeError, UnicodeError):
        said = Tombstone("", "somebody")
    proved = is_proved(said.by, said.user)
    return Gone(left.run, left.head, left.chain.hex(), said.at, said.by, said.user, proved, said.name, signed_by)


def checked(left: Deleted, signer: Signer | None) -> Gone:
    """DoesNotFit where it was changed since."""
    where = f"what is left of {left.run}"
    try:
        said = msgspec.json.decode(left.doc, type=Tombstone)
        seal = decode_seal(left.seal) if left.seal else None
    except (msgspec.DecodeError, UnicodeError, StoreError) as error:
        raise misfit(left.run, 0, where, "who deleted it, and when", error, _RESTORE) from error
    if seal is None and said.user:
        raise misfit(left.run, 0, where, "a signature, or why there is none", "nothing", _RESTORE)
    if seal is None or not seal.signed_by:
        return gone(left)
    link = link_of(left.run, left.head, left.chain, left.doc)
    if signer is not None and not signer.valid(seal.signed_by, signed_bytes(link, seal.on_behalf_of), seal.signature):
        raise misfit(left.run, 0, where, f"a signature of {shown(seal.signed_by)} over it", "another", _RESTORE)
    return gone(left, seal.signed_by)


_RESTORE = "Restore the store from a backup."
