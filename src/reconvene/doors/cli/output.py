"""`output`: what agents wrote, what they were sent, and what came back, attempt by attempt."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import click

from reconvene.app import as_sent
from reconvene.doors.cli import pager
from reconvene.doors.cli.common import Call, command, note, open_run, put_json
from reconvene.doors.cli.text import clean, one_line
from reconvene.doors.shared.wire_text import reply_text, request_text
from reconvene.errors import StoreError, UserError

if TYPE_CHECKING:
    from reconvene.app.engine import Engine
    from reconvene.app.views.written import Attempt

_MARKS = {"accepted": "✓", "forced": "✓", "rejected": "✗ sent back", "failed": "✗ failed", "cancelled": "– cancelled"}
_PARTS = ("prompt", "reply", "output")


@command("""
Examples:
  reconvene output market-entry-1                      # the last round, by first lines
  reconvene output market-entry-1 economist            # all that it wrote there
  reconvene output market-entry-1 economist --round 1 --prompt
""")
@click.argument("run", required=False)
@click.argument("agent", required=False)
@click.option("--round", "which", default="", metavar="N", help="The round: its number in its phase, or R7.")
@click.option("--prompt", "part", flag_value="prompt", help="The prompt that was sent; with --json, the whole request.")
@click.option("--reply", "part", flag_value="reply", help="What was said in reply; with --json, as it came.")
@click.option("--all", "part", flag_value="all", help="Every attempt: prompt, reply and output.")
def output(call: Call, run: str | None, agent: str | None, which: str, part: str | None) -> int:
    """What the agents of RUN wrote in their last round; with AGENT, that agent's output in full.

    Attempts that were sent back are told with the reason. At a terminal long text is shown with PAGER, or less.
    """
    from reconvene.app import queries

    engine, found = open_run(call, run)
    rows = queries.wrote(engine, found, agent or "", which)
    if call.as_json:
        put_json({"run": found, "attempts": [_object(engine, row) for row in rows]})
        return 0
    if agent or part:
        pager.show("\n".join(_in_full(engine, rows, part or "")))
    else:
        pager.show("\n".join(_overview(engine, rows)))
        first = rows[-1]
        note(f"\nin full: {call.command('output', found, first.agent, '--round', f'R{first.serial}')}")
    return 0


def _object(engine: Engine, row: Attempt) -> dict[str, object]:
    from msgspec import to_builtins

    facts: dict[str, object] = to_builtins(row)
    del facts["rules"], facts["asked"]  # they are in the prompt
    return {**facts, **{part: _content(engine, row, part) for part in _PARTS}}


def _content(engine: Engine, row: Attempt, part: str) -> str:
    read = engine.log.artefact
    digest: str = getattr(row, part)
    try:
        content = as_sent.whole(row, read) if part == "prompt" else read(digest) if digest else b""
        return content.decode("utf-8", errors="replace")
    except StoreError as error:
        raise UserError(f"what {row.agent} wrote is no longer in the store: {error.message}") from None


# --- a round by first lines ---


def _overview(engine: Engine, rows: Sequence[Attempt]) -> Iterator[str]:
    from reconvene.app.views.written import first_lines

    yield _where(rows[0])
    for row in rows:
        yield f"\n{_mark(row)}"
        text = _content(engine, row, "output")
        for line in first_lines(text) if text.strip() else ():
            yield f"    {one_line(line, 200)}"
        yield from (f"    {line}" for line in _left(row))


def _where(row: Attempt) -> str:
    """`review of New API, round 2 (R7)`"""
    item = f" of {one_line(row.item)}" if row.item else ""
    return f"{row.phase}{item}, round {row.round} (R{row.serial})" + (", taken back since" if row.undone else "")


def _mark(row: Attempt) -> str:
    """`✗ reviewer, attempt 1, sent back: too short`"""
    word, _, rest = _MARKS.get(row.verdict, f"? {row.verdict}").partition(" ")
    attempt = f", attempt {row.attempt}" if row.attempt > 1 or row.verdict == "rejected" else ""
    facts = [f"{row.seconds:.0f} s"] if row.seconds >= 1 else []
    facts += [f"{row.tokens:,} tokens"] if row.tokens else []
    facts += [row.model] if row.model else []
    told = f" ({', '.join(facts)})" if facts else ""
    why = f": {one_line(row.why, 400)}" if row.why else ""
    return f"{word} {row.agent}{attempt}{f', {rest}' * bool(rest)}{told}{why}"


# --- in full ---


def _in_full(engine: Engine, rows: Sequence[Attempt], part: str) -> Iterator[str]:
    """Of each agent what counts in the end, after the reasons of what was sent back; with `all`, every attempt."""
    last = {(row.step, row.agent): row for row in rows}
    for number, row in enumerate(rows):
        whole = part == "all" or last[row.step, row.agent] is row
        title = f"{_mark(row)} · {_where(row)}"
        yield f"{chr(10) * bool(number)}{title}" if len(rows) > 1 or part != "" else title
        if not whole:
            continue
        if part == "all" and row.sandbox:
            yield f"\nsandbox: {row.sandbox}"
        yield from (f"  ! {line}" for line in _not_shown(row))
        for name in _PARTS if part == "all" else (part or "output",):
            yield from _part(engine, row, name, titled=part == "all")


def _not_shown(row: Attempt) -> Iterator[str]:
    from reconvene.prompts.documents import said

    for document in row.left_out:
        yield f"not all of it fitted: {one_line(said(document), 200)}"


def _left(row: Attempt) -> list[str]:
    return [f"not taken: {one_line(why, 200)}" for why in row.not_taken]


def _part(engine: Engine, row: Attempt, name: str, *, titled: bool) -> Iterator[str]:
    text = _content(engine, row, name)
    if titled:
        yield f"\n── {name} ──"
    if name != "output":
        text = request_text(text) if name == "prompt" else reply_text(text)
    if text.strip():
        yield f"\n{text.rstrip()}"
    else:
        yield f"\n({row.agent} has no {name} here)"
    if name == "output" and row.files:
        yield f"\nfiles: {', '.join(map(clean, row.files))}"
    if name == "output" and row.not_taken:
        yield from ("", *_left(row))
