"""`remark`: something said about a run, as "kind: text", as free text or as a form; later read again, replaced, taken
back or called answered."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from reconvene.doors.cli.accepting import open_to_change
from reconvene.doors.cli.common import BY, DOOR, Call, answer, command, note, put, put_json, say
from reconvene.errors import UserError
from reconvene.language.following import lines_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reconvene.app.engine import Engine
    from reconvene.app.model_reader import Entry
    from reconvene.app.views.read_model import Remark
    from reconvene.core.facts.events import Lines


@command("""
Examples:
  reconvene remark two-step-1 'correction: Revenue is $900M, not $850M'
  reconvene remark two-step-1 --understand 'Revenue is $900M, not $850M. The board approved the pivot yesterday'
  reconvene remark two-step-1 --on draft.md:12-14 'too vague: which year?'
  reconvene remark two-step-1 --form remarks.md --dry-run
  reconvene remark two-step-1 --reread FB-002 --kind 'strategic shift' --level major
  reconvene remark two-step-1 --settle FB-002          # what was done answers it
  reconvene remark two-step-1 --replace FB-001 'correction: Revenue is $950M, not $850M'
""")
@click.argument("run")
@click.argument("text", required=False)
@click.option(
    "--on",
    metavar="FILE:LINES",
    help='The lines that TEXT is about: plan.md:12, plan.md:12-14, plan.md:"words that stand there", todo:ID.',
)
@click.option("--understand", is_flag=True, help="TEXT is free text: split it, and find out what each part is.")
@click.option("--form", metavar="FILE", help="Read a filled-in form instead of TEXT; see docs/cli.md.")
@click.option("--dry-run", is_flag=True, help="Only show how it is understood.")
@click.option(
    "--reread", metavar="ID", help="Put right how a remark is read, with the next five; alone: read it again."
)
@click.option("--kind", metavar="KIND", help="What it is: correction, new context, …")
@click.option("--to", "target", metavar="AGENT", help="Whom it is for; an empty text is everybody.")
@click.option("--was", metavar="VALUE", help="The value that it corrects.")
@click.option("--now", metavar="VALUE", help="What the value is.")
@click.option("--level", type=click.Choice(["minor", "major"]), help="How much it weighs.")
@click.option("--withdraw", metavar="ID", help="Take a remark back; agents that were shown it are told.")
@click.option("--replace", "replaces", metavar="ID", help="TEXT stands in the place of this remark from now on.")
@click.option("--settle", metavar="ID", help="Say that a remark is answered, whatever the texts prove.")
@BY
def remark(
    call: Call,
    run: str,
    text: str | None,
    on: str | None,
    understand: bool,
    form: str | None,
    dry_run: bool,
    reread: str | None,
    withdraw: str | None,
    replaces: str | None,
    settle: str | None,
    **reading: str | None,
) -> int:
    """Say something about RUN, as "kind: text": every agent that works from now on is shown it.

    Without a known kind the whole text is a comment, unless --understand is given. What was said stays as it was said;
    --reread changes how it is read, and the last reading counts.

    With --on it is a comment on lines of a file. It follows them through later versions of the file; where they are
    lost it is outdated, and keeps the old lines. `comments` lists all, `review` opens a file with them in your editor.
    """
    from msgspec.structs import replace

    from reconvene.app import queries
    from reconvene.app.model_reader import OnRecord
    from reconvene.app.views.projections import remarks
    from reconvene.doors.cli.large_remarks import say_what_is_too_large
    from reconvene.doors.shared.remarks import understood_better

    hint = "see: reconvene remark --help"
    if [text, form, reread, withdraw, settle].count(None) != 4:
        raise UserError("give one of them: TEXT, --form FILE, --reread ID, --withdraw ID, --settle ID", hint=hint)
    if replaces is not None and (not text or understand):
        raise UserError("--replace ID goes with TEXT that is one remark", hint=hint)
    said = {name: value for name, value in reading.items() if value is not None}
    if on is not None and not text:
        raise UserError("--on goes with TEXT", hint=hint)
    if said and reread is None:
        raise UserError("--kind, --to, --was, --now and --level go with --reread ID", hint=hint)
    engine, found = open_to_change(call, run)
    if reread:
        return _again(call, engine, found, reread, said)
    if withdraw or settle:
        return _over(call, engine, found, withdraw, settle)
    workflow = engine.session(found).book.workflow
    agents, kits = tuple(workflow.agents), workflow.kits
    entries = _entries(text or "", form, agents, kits, understand=understand)
    about = None
    if on is not None:
        from reconvene.doors.cli.typed_lines import lines_meant

        about = lines_meant(engine, found, on, call.by, call)
        entries = [one._replace(remark=replace(one.remark, on=about, lines=about.name)) for one in entries]
    if replaces is not None:
        entries = [one._replace(remark=replace(one.remark, replaces=replaces.upper())) for one in entries]
    record = OnRecord(engine, found, call.by, DOOR)
    if not dry_run:
        record.become(entries)
    if understand:
        entries, told = understood_better(text or "", agents, entries, kits)
        entries = [one._replace(remark=replace(one.remark, on=about)) for one in entries]
        if told:
            note(told)
    if not dry_run:
        record.become(entries)
    made = remarks(engine.load(found), record.remarks)
    say_what_is_too_large(engine, found, (entry.remark.text for entry in entries))
    entries = engine.discretion.of(workflow).blank_in(entries)  # as they are on record
    if call.as_json:
        put_json(queries.summary(engine, found), understood=list(map(_told, entries)), remarks=made)
    else:
        _tell(found, entries, made, dry_run=dry_run)
        for line in _about(engine, about):
            say(line)
    return 0


def _about(engine: Engine, lines: Lines | None) -> list[str]:
    """The lines that were commented on, so that nobody comments on others by mistake."""
    if lines is None:
        return []
    text = engine.log.artefact(lines.version).decode()
    return [f"  {lines.path}:{number}  {line}" for number, line in enumerate(lines_of(text), 1)][
        lines.first - 1 : lines.last
    ]


def _entries(
    text: str, form: str | None, agents: tuple[str, ...], kits: tuple[str, ...], *, understand: bool
) -> list[Entry]:
    from reconvene.app.model_reader import Entry
    from reconvene.core.kit_finder import reader
    from reconvene.doors.shared.remarks import understood

    if form is None:
        return understood(text, agents, kits) if understand else [Entry(reader(kits).typed(text))]

    from reconvene.doors.cli.typed_values import read_text
    from reconvene.doors.shared.form import read

    found = read(read_text("--form", Path(form)), agents, kits)
    if found.problems:
        told = [f"{form}:{problem.line}: {problem.what}" for problem in found.problems]
        raise UserError("\n".join(told), hint="nothing was recorded; put it right and give it again")
    return list(found.entries)


def _again(call: Call, engine: Engine, run: str, reread: str, said: dict[str, str]) -> int:
    """A remark that is there, read anew."""
    from reconvene.app import queries
    from reconvene.app.views.projections import remarks
    from reconvene.core.facts.commands import ReadRemark
    from reconvene.doors.shared.advice import weighed
    from reconvene.doors.shared.remarks import said_in

    before = engine.log.head(run)
    engine.submit(run, ReadRemark(reread, **said, by=call.by, door=DOOR))
    state = engine.load(run)
    made = remarks(state, [one for one in state.record.remarks.values() if one.id == reread.upper()])
    for one in () if call.as_json else made:
        put(said_in(one))
        say(f"  {weighed(one)}")
    if engine.log.head(run) == before:
        told = f"{made[0].id} is read so already: there is nothing to do"
        return answer(call, queries.summary(engine, run), told, understood=[], remarks=made, nothing_to_do=True)
    return answer(call, queries.summary(engine, run), f"read again for {run}", understood=[], remarks=made)


def _over(call: Call, engine: Engine, run: str, withdraw: str | None, settle: str | None) -> int:
    """A remark that is there, taken back, or called answered."""
    from reconvene.app import queries
    from reconvene.core.facts.commands import SettleRemark, WithdrawRemark

    before, id = engine.log.head(run), (withdraw or settle or "").upper()
    command = WithdrawRemark(id, call.by, DOOR) if withdraw else SettleRemark(id, call.by, DOOR)
    engine.submit(run, command)
    summary = queries.summary(engine, run)
    if engine.log.head(run) == before:
        told = f"{id} {'was taken back' if withdraw else 'is settled'} already: there is nothing to do"
        return answer(call, summary, told, understood=[], remarks=[], nothing_to_do=True)
    return answer(call, summary, f"{'taken back' if withdraw else 'settled'}: {id}", understood=[], remarks=[])


def _told(entry: Entry) -> dict[str, str]:
    shown = {name: str(getattr(entry.remark, name)) for name in ("kind", "text", "target", "was", "now")}
    return {**shown, "rule": entry.rule}


def _tell(run: str, entries: list[Entry], made: Sequence[Remark], *, dry_run: bool) -> None:
    from reconvene.doors.shared.advice import weighed
    from reconvene.doors.shared.remarks import in_line

    if not entries:
        put(f"nothing to record for {run}: that only agrees")
    for number, entry in enumerate(entries):
        put(in_line(entry))
        if entry.rule:
            say(f"  {entry.rule}")
        if number < len(made):
            say(f"  {weighed(made[number])}")
    if entries:
        put(f"not recorded: only shown for {run}" if dry_run else f"noted for {run}")
