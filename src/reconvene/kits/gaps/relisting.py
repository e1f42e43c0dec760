"""A second list of gaps by the same hand: what it says anew about the first.

One job: a list that replaces another → ratings put right, gaps put aside or taken up again. Nothing is taken out: what
is not listed any more is deferred, where a person can reopen it. It must not know how lists are written.
"""

from __future__ import annotations

import msgspec

from reconvene.kits.gaps.found import Found
from reconvene.kits.gaps.gap_states import Ledger, Origin
from reconvene.kits.gaps.records import is_open

_LEFT_OUT = "left out of the list when it was looked at again"


def relist(ledger: Ledger, found: list[Found], origin: Origin) -> None:
    mine = [gap.id for gap in ledger.book.gaps.values() if gap.raised_by == origin.by and gap.raised_in == ledger.round]
    listed = set()
    for made, said in _made(ledger, found, origin):
        listed.add(made)
        _put_right(ledger, made, said, origin.by)
    for name in mine:
        gap = ledger.book.gaps[name]
        if name not in listed and is_open(gap):
            ledger.move(gap, "deferred", origin.by, _LEFT_OUT)


def _made(ledger: Ledger, found: list[Found], origin: Origin) -> list[tuple[str, Found]]:
    """Each entry with the gap it stands for, the merged ones under the gap that carries on."""
    ledger.reserve(found)
    made = []
    for one in found:
        gap = ledger.raise_one(one, origin)
        kept = ledger.find(gap.id) if gap is not None else None
        made += [(kept.id, one)] if kept is not None else []
    return made


def _put_right(ledger: Ledger, name: str, said: Found, by: str) -> None:
    gap = ledger.book.gaps[name]
    if gap.state == "deferred" and gap.history[-1].why == _LEFT_OUT:
        gap = ledger.move(gap, "open", by, "listed again")
    if said.severity:
        gap = ledger.rate(gap, said.severity, by, "looked at again")
    ledger.put(
        msgspec.structs.replace(
            gap,
            blocking=gap.blocking if said.blocking is None else said.blocking,
            detail=said.detail or gap.detail,
            spec_lines=said.about or gap.spec_lines,
        )
    )
