"""`gaps`: the gaps that a run follows, how they converge, the life of one; and the list, edited by a person."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from reconvene.doors.cli.common import BY, COUNT, DOOR, Call, command, open_run, put, put_json, put_table, say
from reconvene.doors.cli.text import nearest, one_line, screen_width, table
from reconvene.errors import UserError

if TYPE_CHECKING:
    from reconvene.kits.gaps.lives import Choice, Life
    from reconvene.kits.gaps.records import Book, Gap

SHADES = "█▓▒░"
PLAIN = "#=+."  # what stands for each severity, the gravest first
_GAPS = ("GAP", "SEVERITY", "STATE", "RAISED", "TITLE")
_ROUNDS = ("ROUND", "START", "RESOLVED", "NEW", "END", "NET", "WEIGHT", "STATE")


@command("""
Examples:
  reconvene gaps spec-refinement-1
  reconvene gaps spec-refinement-1 --open --severity HIGH,CRITICAL
  reconvene gaps spec-refinement-1 GAP-FLOW-001        # the life of one gap
  reconvene gaps spec-refinement-1 --edit "rate GAP-FLOW-001 LOW" --edit "add HIGH blocking: who pays?"
""")
@click.argument("run", required=False)
@click.argument("gap", required=False)
@click.option(
    "--open", "still_open", is_flag=True, help="Only those that are not closed: open, proposed, needs revision."
)
@click.option("--state", "states", default="", metavar="STATE,…", help="Only those in these states.")
@click.option("--severity", "severities", default="", metavar="SEVERITY,…", help="CRITICAL, HIGH, MEDIUM, LOW.")
@click.option("--blocking", is_flag=True, help="Only those that must be closed before the work counts as done.")
@click.option(
    "--round",
    "raised_in",
    type=COUNT,
    metavar="N",
    help="Only those raised in round N; 0 = before the first.",
)
@click.option(
    "--at", "place", default="", metavar="PLACE", help="Which gaps, where the run follows some in several places."
)
@click.option(
    "--edit",
    "edits",
    multiple=True,
    metavar="LINE",
    help="Change the list, where the run stops: rate, add, drop, merge, split, defer, block, unblock, blocking, reopen."
    " May be repeated; @FILE reads lines from a file.",
)
@BY
def gaps(
    call: Call,
    run: str | None,
    gap: str | None,
    still_open: bool,
    states: str,
    severities: str,
    blocking: bool,
    raised_in: int | None,
    place: str,
    edits: tuple[str, ...],
) -> int:
    """The gaps of RUN: how grave, in which state, raised by whom, and how the rounds converge.

    With GAP, the life of one: its states round by round, issues, conflicts, decisions, what it was split into or merged
    with. A gap marked ! is blocking.

    With --edit the list is changed, wherever the run stops, and the same stop is there again. Each line is one change:
    "rate GAP-A-001 HIGH", "add HIGH blocking: what is missing", "drop GAP-A-001: why it is no gap",
    "merge GAP-A-002 into GAP-A-001", "split GAP-A-001 into: first question | second question", "defer GAP-A-001",
    "block GAP-A-002 by GAP-A-001", "unblock GAP-A-002 from GAP-A-001", "blocking GAP-A-001 no",
    "reopen GAP-A-001: why". Where one line does not fit, nothing is changed.
    """
    if edits:
        return _edit(call, run, edits)
    from reconvene.app.kit_views import tracked
    from reconvene.kits.gaps.lives import Choice
    from reconvene.kits.gaps.records import opened
    from reconvene.kits.gaps.vocabulary import SEVERITIES, STATES

    if run is not None and gap is None and run.upper().startswith("GAP-"):
        run, gap = None, run
    in_states = _words("state", states.casefold().replace("_", " "), STATES)
    choice = Choice(in_states, _words("severity", severities.upper(), SEVERITIES), blocking, raised_in, still_open)
    engine, found = open_run(call, run)
    held = tracked(engine, found, "gaps", place)
    book = opened(held.value)
    if gap is not None:
        _put_life(call, found, _life(book, found, gap))
    elif call.as_json:
        put_json(_shown(book, choice), run=found, place=held.where)
    elif held.value is None:
        put(f"no gaps of {found} are known yet; where it stands: {call.command('show', found)}")
    else:
        _put_gaps(call, found, book, choice)
    return 0


def _edit(call: Call, run: str | None, edits: tuple[str, ...]) -> int:
    from reconvene.core.facts.commands import AnswerCheckpoint
    from reconvene.core.person.permitted import require_role
    from reconvene.doors.cli.accepting import open_to_change
    from reconvene.doors.cli.decide import submit
    from reconvene.doors.cli.typed_values import read_text
    from reconvene.doors.shared.edited_list import edit_of

    engine, found = open_to_change(call, run)
    require_role(engine.actor, "decider", "to change the list of gaps")
    lines = [read_text("edit", Path(line[1:])) if line.startswith("@") else line for line in edits]
    edit = edit_of(engine, found, lines)
    point = edit.point
    decision = AnswerCheckpoint(point.id, edit.option, edit.fields, (), point.digest, call.by, DOOR)
    return submit(call, engine, found, decision, drive=True)


def _life(book: Book, run: str, name: str) -> Life:
    from reconvene.kits.gaps.lives import find, life_of

    gap = find(book, name)
    if gap is None:
        near = nearest(name.upper(), book.gaps)
        raise UserError(f"{run} knows no gap {name!r}.", hint=near or f"reconvene gaps {run} lists them all")
    return life_of(book, gap)


def _words(kind: str, text: str, known: Iterable[str]) -> frozenset[str]:
    names, found = list(known), [word.strip() for word in text.split(",") if word.strip()]
    for word in found:
        if word not in names:
            hint = f"{nearest(word, names)}; there are: {', '.join(names)}"
            raise UserError(f"there is no {kind} {word!r}", hint=hint)
    return frozenset(found)


# --- all of them ---


def _shown(book: Book, choice: Choice) -> object:
    from reconvene.kits.gaps.lives import bars, chosen
    from reconvene.kits.gaps.records import plain
    from reconvene.kits.gaps.view import value_of

    value = value_of(book)
    kept = ("open", "by_severity", "counts", "total", "state", "verdict", "warning", "complete", "scope", "outcome")
    return {
        "gaps": [plain(gap) for gap in chosen(book, choice)],
        **{name: value[name] for name in (*kept, "conflicts", "rounds")},
        "chart": [plain(bar) for bar in bars(book)],
    }


def _put_gaps(call: Call, run: str, book: Book, choice: Choice) -> None:
    from reconvene.kits.gaps.lives import chosen

    found = chosen(book, choice)
    if found:
        put_table(map(_cells, found), _GAPS, map(_below, found))
    else:
        put("no gap is like that" if book.gaps else "no gap is known yet")
    put()
    for line in _summary(book, len(found)):
        say(line)
    _put_convergence(book)
    _put_chart(book)
    if found:
        put(f"\none gap's life: {call.command('gaps', run, found[0].id)}")


def _cells(gap: Gap) -> tuple[object, ...]:
    return (
        gap.id,
        gap.severity + " !" * gap.blocking,
        gap.state,
        f"{gap.raised_in} {one_line(gap.raised_by, 12)}",
        gap.title,
    )


def _below(gap: Gap) -> Iterator[str]:
    """What does not fit into a cell."""
    told = [
        ("waits for", ", ".join(gap.blocked_by)),
        ("asks you:", one_line(gap.question, 200)),
        ("note:", one_line(gap.note, 200)),
        ("part of", gap.parent),
        ("split into", ", ".join(gap.children)),
        ("lives on in", gap.into),
    ]
    yield from (f"    {title} {what}" for title, what in told if what)


def _summary(book: Book, shown: int) -> Iterator[str]:
    still = book.open()
    graver = ", ".join(f"{sum(gap.severity == name for gap in still)} {name.lower()}" for name in _severity_names())
    yield f"{shown} of {len(book.gaps)} gaps shown; {len(still)} open" + (f": {graver}" if still else "")
    said = f"reviewer: {book.verdict}" if book.verdict != "NONE" else ""
    ended = f"outcome: {book.outcome}" if book.outcome else ""
    yield "; ".join(part for part in (f"{book.state}", said, ended, _left(book)) if part)
    if book.warning is not None:
        yield f"warning: {one_line(book.warning.get('line') or book.warning.get('text') or '')}"


def _left(book: Book) -> str:
    """What waits for the person."""
    parts = [f"{len(book.conflicts)} open conflict{'s' * (len(book.conflicts) > 1)}"] if book.conflicts else []
    asked = sum(bool(gap.question) for gap in book.open())
    parts += [f"{asked} question{'s' * (asked > 1)} for you"] if asked else []
    parts += [f"{len(book.similar)} near-duplicate{'s' * (len(book.similar) > 1)}"] if book.similar else []
    return ", ".join(parts)


def _severity_names() -> tuple[str, ...]:
    from reconvene.kits.gaps.vocabulary import ORDER

    return ORDER


def _put_convergence(book: Book) -> None:
    if not book.rounds:
        return
    put("\nconvergence")
    rows = [
        (row.round, row.start, row.resolved, row.new, row.end, _signed(row.net), _signed(row.weight_net), row.state)
        for row in book.rounds
    ]
    for line in table(rows, _ROUNDS, screen_width() - 2):
        put(f"  {line}")


def _signed(number: int) -> str:
    return f"{number:+d}" if number else "0"


def _put_chart(book: Book) -> None:
    from reconvene.kits.gaps.lives import bars

    drawn = [(bar.label, bar.counts) for bar in bars(book)]
    if drawn:
        put("\nopen gaps")
    for line in draw(drawn, _severity_names(), screen_width(), marks()):
        put(line)


def marks() -> str:
    """What stands for each severity, the gravest first. NO_COLOR and TERM=dumb ask for plain characters."""
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return PLAIN
    try:
        SHADES.encode(sys.stdout.encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return PLAIN
    return SHADES


def draw(rows: Sequence[tuple[str, Mapping[str, int]]], names: Sequence[str], width: int, signs: str) -> Iterator[str]:
    """A line per row: its label, its blocks, its total and what that is made of; then what the blocks mean."""
    if not rows:
        return
    most = max(sum(counts.values()) for _, counts in rows)
    tails = [_tail(counts, names) for _, counts in rows]
    label = max(len(name) for name, _ in rows)
    room = max(10, min(width - label - max(map(len, tails)) - 6, 60))
    for (name, counts), tail in zip(rows, tails):
        blocks = "".join(
            sign * cells for sign, cells in zip(signs, _scaled([counts[one] for one in names], most, room))
        )
        yield f"  {name:<{label}}  {blocks:<{min(room, max(most, 1))}}  {tail}".rstrip()
    yield f"  {'':<{label}}  " + "  ".join(f"{sign} {name.lower()}" for sign, name in zip(signs, names))


def _tail(counts: Mapping[str, int], names: Sequence[str]) -> str:
    made_of = ", ".join(f"{counts[name]} {name.lower()}" for name in names if counts[name])
    return f"{sum(counts.values())}" + (f": {made_of}" if made_of else "")


def _scaled(counts: Sequence[int], most: int, room: int) -> list[int]:
    """One cell for each gap while they fit; then to scale, and whatever there is shows."""
    if most <= room:
        return list(counts)
    return [max(1, count * room // most) if count else 0 for count in counts]


# --- one of them ---


def _put_life(call: Call, run: str, life: Life) -> None:
    if call.as_json:
        from reconvene.kits.gaps.records import plain

        told = plain(life)
        put_json({"run": run, **(told if isinstance(told, dict) else {})})
        return
    put(f"{life.gap.id}  {one_line(life.gap.title)}")
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
        for who, side in (("reviewer", conflict.reviewer), ("engineer", conflict.engineer)):
            say(f"  - the {who}: {one_line(side.quote, 400)} [{one_line(side.where)}]")


def _standing(life: Life) -> Iterator[str]:
    """How it stands, and what it hangs together with."""
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
    for title, others in (("waits for", life.waits_for), ("holds up", life.holds_up), ("split into", life.parts)):
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
    if gap.question:
        yield f"asks you: {one_line(gap.question)}"
    if gap.note:
        yield f"note: {one_line(gap.note)}"
