"""The value's shape as a JSON schema, for the check of names in expressions and templates."""

from __future__ import annotations

import msgspec

from reconvene.kits.gaps import records as book
from reconvene.kits.gaps.vocabulary import ORDER, STATES

Schema = dict[str, object]  # JSON Schema, or a part of one

_TEXT: Schema = {"type": "string"}
_NUMBER: Schema = {"type": "number"}
_FLAG: Schema = {"type": "boolean"}
_TEXTS: Schema = {"type": "array", "items": _TEXT}


def _object(**parts: object) -> Schema:
    return {"type": "object", "properties": parts, "additionalProperties": False}


def _list(items: object) -> Schema:
    return {"type": "array", "items": items}


def schema() -> Schema:
    types = (book.Gap, book.Issue, book.Conflict, book.Decision, book.Row, book.Check, book.Similar, book.Merge)
    shapes, parts = msgspec.json.schema_components((*types, book.Noticed, book.Redo))
    gap, issue, conflict, decision, row, check, similar, merge, noticed, redo = shapes
    some = _list(_object(id=_TEXT, text=_TEXT, title=_TEXT, severity=_TEXT, blocking=_FLAG, state=_TEXT, note=_TEXT))
    value = _object(
        list=_list(gap),
        open=_NUMBER,
        open_ids=_TEXTS,
        open_list=some,
        by_severity=_object(**dict.fromkeys(ORDER, _NUMBER)),
        counts=_object(**dict.fromkeys(STATES, _NUMBER)),
        total=_NUMBER,
        critical=some,
        highs=some,
        blocking_open=some,
        deferred=some,
        accepted=some,
        resolved_total=_NUMBER,
        known=_TEXTS,
        issues=_list(issue),
        conflicts=_list(conflict),
        questions=_list(_object(id=_TEXT, text=_TEXT)),
        decisions=_list(decision),
        due=_list(decision),
        rounds=_list(row),
        this_round=row,
        state=_TEXT,
        stalled=_NUMBER,
        warning=_object(
            rules=_TEXTS,
            why=_TEXTS,
            gaps=_TEXTS,
            line=_TEXT,
            rows=_TEXTS,
            text=_TEXT,
            weight_net=_NUMBER,
            redo=_FLAG,
        ),
        verdict=_TEXT,
        checks=_list(check),
        complete=_FLAG,
        blocked=some,
        all_blocked=_FLAG,
        must_decide=_FLAG,
        next=_TEXT,
        engineer_empty=_FLAG,
        reviewer_empty=_FLAG,
        both_empty=_TEXT,
        may_accept=_FLAG,
        why_not_accept=_TEXT,
        scope=_TEXT,
        focus=_TEXTS,
        assign=_TEXT,
        similar=_list(similar),
        merges=_list(merge),
        errors=_list(noticed),
        outcome=_TEXT,
        adjustments=redo,
        redos=_list(redo),
        read=_TEXTS,
        orders={"type": "object"},
    )
    return value | {"$defs": parts}
