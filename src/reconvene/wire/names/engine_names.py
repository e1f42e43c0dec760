"""The engine's own names, as kinds: what `context` holds besides the workflow's values, and the other roots.

One job: these tables. They describe what `core.scope`, `core.on_record` and the gap tracker build; a test compares them
with real runs.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

from reconvene.core import kit_finder
from reconvene.errors import UserError
from reconvene.wire.names.kinds import (
    ANYTHING,
    FLAG,
    NUMBER,
    TEXT,
    TEXTS,
    Kind,
    Later,
    ListOf,
    Plain,
    Record,
    alternatives,
    either,
    map_of,
    record,
    with_parts,
)
from reconvene.wire.names.schema_kinds import kind_of

REMARK = record(
    **dict.fromkeys(
        ("id", "kind", "text", "target", "by", "phase", "round", "at", "path", "lines", "was", "now", "level",
         "reason", "opinion", "because", "read_by", "checkpoint", "origin"),
        TEXT,
    )
)  # fmt: skip
ROUND = record(n=NUMBER, name=TEXT, extra=FLAG, agents=TEXTS, last=FLAG, serial=NUMBER, missing=TEXTS, max=NUMBER)
PHASE = record(id=TEXT, entry=NUMBER, iteration=NUMBER)
FEEDBACK = record(count=NUMBER, all=ListOf(REMARK), here=ListOf(REMARK), major=FLAG)
PROJECT = record(path=TEXT, branch=TEXT, base=TEXT, head=TEXT, changed=FLAG)
MACHINE = record(model=FLAG, git=FLAG, coder=TEXT)
TASK = record(agent=TEXT, attempt=NUMBER)
ROUTING = record(affected=TEXTS)
CHECKPOINTS = ListOf(
    record(phase=TEXT, decision=TEXT, target=TEXT, skipped=TEXTS, feedback=TEXT, option=TEXT, by=TEXT, timestamp=TEXT)
)
DELIVERABLES = ListOf(record(phase=TEXT, path=TEXT, size=NUMBER, time=TEXT))
GAP_CHECKS = ListOf(record(phase=TEXT, action=TEXT, message=TEXT, count=NUMBER, agents=TEXTS, timestamp=TEXT))
DECISIONS = ListOf(
    record(phase=TEXT, round=NUMBER, at=TEXT, option=TEXT, decision=TEXT, checkpoint=TEXT, by=TEXT, remarks=TEXTS,
           feedback=FLAG, level=TEXT, again=FLAG, last=FLAG, extra=FLAG)
)  # fmt: skip
ATTEMPTS = ListOf(
    record(at=TEXT, phase=TEXT, round=NUMBER, serial=NUMBER, step=NUMBER, agent=TEXT, attempt=NUMBER, verdict=TEXT,
           then=TEXT, code=TEXT, why=TEXT)
)  # fmt: skip
ROLLBACKS = ListOf(
    record(at=TEXT, phase=TEXT, round=NUMBER, serial=NUMBER, by=TEXT, why=TEXT, folder=TEXT, pruned=FLAG, dropped=FLAG,
           fields=map_of(ANYTHING), remarks=ListOf(REMARK))
)  # fmt: skip
FILES = ListOf(record(name=TEXT, text=TEXT))


def item_of(kind: Kind) -> Kind:
    """What `item` is, given what the list holds: records with their key and index; anything else is a `value`."""
    place: dict[str, Kind] = {"key": TEXT, "index": NUMBER}
    every = alternatives(kind)
    plain = [one for one in every if isinstance(one, Plain | ListOf)]
    records = [with_parts(one, place) for one in every if not isinstance(one, Plain | ListOf)]
    if not every:
        return ANYTHING
    return either(*records, *([Record({"value": either(*plain), **place})] if plain else []))


def by_phase(ids: Iterable[str], kind: Kind) -> Record:
    return Record(dict.fromkeys(ids, kind))


def phases(ids: tuple[str, ...]) -> Record:
    """`context.phases`"""
    return record(iteration_counts=by_phase(ids, NUMBER), skipped=by_phase(ids, TEXT), ended=by_phase(ids, TEXT))


def fields_of(kits: tuple[str, ...]) -> Record:
    """`kit.NAME.FIELD`: what a field holds is the kit's business."""

    def fields(name: str) -> Kind:
        try:
            return Record(dict.fromkeys(kit_finder.kit(name).fields, ANYTHING))
        except UserError:  # reported where it is named
            return ANYTHING

    return Record({name: Later(partial(fields, name)) for name in kits})


def tracked(kit: str) -> Kind:
    """What the tracker of a kit keeps; worked out only where somebody looks at it."""
    return Later(lambda: kind_of(kit_finder.tracker(kit).schema()))
