"""One gap as a person reads it: how it stands, what it hangs together with, and its life round by round."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from reconvene.doors.cli.common import Call, put, put_json, say
from reconvene.doors.cli.text import one_line

if TYPE_CHECKING:
    from reconvene.kits.gaps.lives import Life


def put_life(call: Call, run: str, life: Life) -> None:
    if call.as_json:
        from reconvene.kits.gaps.records import plain

        told = plain(life)
        put_json({"run": run, **(told if isinstance(told, dict) else {})})
        return
    gap = life.gap
    put(f"{gap.id}  {one_line(gap.title)}")
    for line in _standing(life):
        say(f"  {line}")
    put("\nits life")
    for moment in life.moments:
        by = f" ({one_line(moment.by)})" if moment.by else ""
        where = f" [{one_line(moment.where)}]" if moment.where else ""
        what = "" if moment.what == "state" else f"{moment.what} "
        say(f"  - round {moment.round}: {what}{one_line(moment.text, 400)}{by}{where}")
    for conflict in life.conflicts:
        put(f"\nopen conflict {one_line(conflict.id)}: {one_line(conflict.title)}")
        say(f"  - the reviewer: {one_line(conflict.reviewer.quote, 400)} [{one_line(conflict.reviewer.where)}]")
        say(f"  - the engineer: {one_line(conflict.engineer.quote, 400)} [{one_line(conflict.engineer.where)}]")


def _standing(life: Life) -> Iterator[str]:
    gap = life.gap
    raised = f"raised by {one_line(gap.raised_by)} in round {gap.raised_in}" if gap.raised_by else ""
    yield ", ".join(part for part in (gap.severity, "blocking" * gap.blocking, gap.state, raised) if part)
    if gap.where:
        yield f"found in {one_line(gap.where)}"
    if gap.spec_lines:
        yield f"about line {one_line(gap.spec_lines)} of the specification"
    if gap.detail:
        yield one_line(gap.detail, 600)
    if gap.confidence:
        yield f"the engineer's confidence: {one_line(gap.confidence)}"
    if gap.proposal:
        yield f"latest proposal: round {gap.proposal.round}, {one_line(gap.proposal.where)}"
    yield from _relations(life)
    if gap.question:
        yield f"asks you: {one_line(gap.question)}"
    if gap.note:
        yield f"note: {one_line(gap.note)}"


def _relations(life: Life) -> Iterator[str]:
    gap = life.gap
    named = [("waits for", life.waits_for), ("holds up", life.holds_up), ("split into", life.parts)]
    for title, others in named:
        if others:
            yield f"{title} {', '.join(f'{other.id} ({other.state})' for other in others)}"
    if gap.parent:
        yield f"part of {gap.parent}"
    if gap.source:
        yield f"brought up by the solution of {gap.source}"
    for merge in life.merged:
        yield f"merged: {merge.id} lives on in {merge.into} ({one_line(merge.why)})"
    for pair in life.similar:
        yield f"looks like {pair.of if pair.id == gap.id else pair.id}: {one_line(pair.why)}"
