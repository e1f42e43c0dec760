"""`rounds`: every round of a run, those rolled back included, and how a retry differs from what it replaced."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from reconvene.app.views.who import told
from reconvene.authority import require_person
from reconvene.doors.cli.common import BY, COUNT, DOOR, Call, command, open_run, put, put_json, put_table, say
from reconvene.doors.cli.text import clean, one_line
from reconvene.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from reconvene.app.engine import Engine
    from reconvene.app.views.all_rounds import Round
    from reconvene.app.views.comparison import Asked, Comparison, Facts

_HEAD = ("NO", "PHASE", "ITEM", "ROUND", "STARTED", "SECS", "AGENTS", "ATTEMPTS", "COST", "OUTCOME")
_SOMETIMES = {"ITEM": "item", "COST": "cost"}  # columns that are shown where a round has one


@command("""
Examples:
  reconvene rounds two-step-1
  reconvene rounds two-step-1 --compare 2     # what differed in the retry of round 2
  reconvene rounds two-step-1 --prune --keep 1
""")
@click.argument("run", required=False)
@click.option("--compare", "compared", default="", metavar="N", help="How the tries of round N (or R7) differ.")
@click.option("--phase", default="", metavar="PHASE", help="With --compare: the phase whose round N is meant.")
@click.option("--prune", is_flag=True, help="Remove the folders kept of rolled-back rounds; the log keeps it all.")
@click.option("--keep", type=COUNT, default=0, metavar="K", help="With --prune: keep the newest K.")
@click.option("--yes", is_flag=True, help="With --prune: do not ask.")
@BY
def rounds(call: Call, run: str | None, compared: str, phase: str, prune: bool, keep: int, yes: bool) -> int:
    """Every round of RUN in order: who worked, how long, what it cost, and whether it stands or was rolled back.

    --compare shows for one round what the person asked to change when they rolled it back, simple facts about each
    try, and a diff of the outputs between each try that was rolled back and the one that stands.

    --prune removes the folders kept of rolled-back rounds from the run's folder. Their bytes stay in the log: --compare
    works as before.
    """
    from reconvene.app import round_tries as looking

    if prune and compared:
        raise UserError("--prune and --compare do not go together", hint="prune later; --compare still works then")
    if prune:
        require_person("to remove what is kept")
    engine, found = open_run(call, run)
    if prune:
        return _prune(call, engine, found, keep, ask=call.interactive and not yes)
    if compared:
        _put_comparison(call, found, looking.compare(engine, found, compared, phase))
        return 0
    rows = looking.rounds(engine, found)
    if call.as_json:
        put_json({"run": found, "rounds": [row.shown() for row in rows]})
    elif not rows:
        put(f"no round of {found} has begun yet; go on with: {call.command('resume', found)}")
    else:
        _put_rounds(call, found, rows)
    return 0


def _prune(call: Call, engine: Engine, run: str, keep: int, *, ask: bool) -> int:
    from reconvene.core.person.undoing import prunable

    before = prunable(engine.load(run), keep)
    if not before and not call.as_json:
        put(f"{run} keeps no folders of rolled-back rounds" + f" beyond the newest {keep}" * bool(keep))
        return 0
    if ask:
        from reconvene.doors.cli.ask import ask_yes

        for archive in before:
            put(f"  {archive.folder}/  ({_files(len(archive.paths))}, {archive.size} bytes)")
        these = "this folder" if len(before) == 1 else f"these {len(before)} folders"
        if not ask_yes(f"Remove {these}?", default=False):
            put("nothing was removed")
            return 0
    pruned, changed = engine.prune(run, keep=keep, by=call.by, door=DOOR)
    spared = [path for path in changed if any(path in archive.paths for archive in before)]
    if call.as_json:
        put_json({"run": run, "pruned": pruned, "spared": spared})
        return 0
    for path in spared:
        put(f"{path} stays: you changed it, and that is nowhere else")
    for archive in pruned:
        put(f"removed {archive.folder}/  ({_files(len(archive.paths))})")
    return 0


def _files(count: int) -> str:
    return f"{count} file{'s' * (count != 1)}"


def _put_rounds(call: Call, run: str, rows: tuple[Round, ...]) -> None:
    absent = [title for title, name in _SOMETIMES.items() if not any(getattr(row, name) for row in rows)]
    shown = [column for column, title in enumerate(_HEAD) if title not in absent]
    cells = [[row[column] for column in shown] for row in map(_cells, rows)]
    put_table(cells, [_HEAD[column] for column in shown], map(_below, rows))
    undone = [row for row in rows if row.undone and not row.undone.within]
    if undone:
        put(f"\nwhat differed in a retry: {call.command('rounds', run, '--compare', f'R{undone[-1].serial}')}")


def _cells(row: Round) -> tuple[object, ...]:
    named = f"{row.n} {row.name}" if row.name != "main" else str(row.n)
    return (
        f"R{row.serial}",
        row.phase,
        one_line(row.item, 40),
        named + " (extra)" * (row.extra and row.name != "extra"),
        row.started[:16].replace("T", " "),
        f"{row.seconds:.0f}" if row.seconds >= 10 else f"{row.seconds:.1f}",
        len(row.agents),
        row.attempts,
        f"${row.cost:.2f}" if row.cost else "",
        "waits for you" if row.waiting else row.outcome,
    )


def _below(row: Round) -> Iterator[str]:
    """What does not fit into a cell."""
    if row.missing:
        yield f"     without {', '.join(map(one_line, row.missing))}"
    if row.undone is None:
        return
    if row.undone.within:
        yield f"     with R{row.undone.within}, which it is part of"
        return
    by = f"by {one_line(told(row.undone.by, row.undone.user))}: " if row.undone.by else ""
    said = "".join(f"; {one_line(remark.id)} {one_line(remark.text, 80)}" for remark in row.undone.remarks)
    yield f"     {by}{one_line(row.undone.why)}{said}"
    if row.undone.archived:
        yield f"     kept in {one_line(row.undone.folder)}/ ({_files(len(row.undone.archived))})"
    elif row.undone.folder:
        yield f"     was kept in {one_line(row.undone.folder)}/, pruned since; the log still has it all"


# --- how tries differ ---


def _put_comparison(call: Call, run: str, found: Comparison) -> None:
    if call.as_json:
        from msgspec import to_builtins

        put_json({"run": run, **to_builtins(found)})
        return
    numbers = {facts.serial: number for number, facts in enumerate(found.tries, 1)}
    put(f"{found.phase}, round {found.n}: {len(found.tries)} {'tries' if len(found.tries) > 1 else 'try'}\n")
    head = ("", *(f"TRY {numbers[facts.serial]} (R{facts.serial})" for facts in found.tries))
    put_table(_fact_rows(found.tries), head)
    for asked in found.asked:
        put()
        for line in _asked_lines(asked, numbers):
            say(line)
    _put_differences(found)


def _fact_rows(tries: tuple[Facts, ...]) -> Iterator[tuple[object, ...]]:
    yield ("outcome", *(facts.outcome for facts in tries))
    yield ("seconds", *(f"{facts.seconds:.1f}" for facts in tries))
    yield ("attempts", *(facts.attempts for facts in tries))
    yield ("gate rejections", *(len(facts.rejections) for facts in tries))
    for agent in dict.fromkeys(agent for facts in tries for agent in facts.characters):
        yield (f"length, {agent}", *(_length(facts, agent) for facts in tries))
    if any(facts.missing for facts in tries):
        yield ("missing", *(", ".join(facts.missing) or "nobody" for facts in tries))
    if any(facts.cost for facts in tries):
        yield ("cost", *(f"${facts.cost:.2f}" for facts in tries))
    if any(facts.gaps for facts in tries):
        for title, name in (("gaps addressed", "addressed"), ("gaps resolved", "resolved"), ("new gaps", "raised")):
            yield (title, *(_ids(facts.gaps.get(name)) if facts.gaps else "" for facts in tries))
        yield ("reviewer", *((str(facts.gaps.get("verdict", "")) if facts.gaps else "") for facts in tries))
    if any(facts.archive for facts in tries):
        yield ("archive", *(facts.archive for facts in tries))


def _length(facts: Facts, agent: str) -> str:
    return f"{facts.characters[agent]} characters" if agent in facts.characters else "nothing"


def _ids(found: object) -> str:
    """The count, and the first few by name."""
    ids = tuple(map(str, found)) if isinstance(found, list | tuple) else ()
    if not ids:
        return "0"
    return f"{len(ids)}: {', '.join(ids[:2])}{' …' * (len(ids) > 2)}"


def _asked_lines(asked: Asked, numbers: Mapping[int, int]) -> Iterator[str]:
    by = f" by {one_line(told(asked.by, asked.user))}" if asked.by else ""
    when = asked.at[:16].replace("T", " ")
    yield f"try {numbers[asked.serial]} was rolled back{by} ({when}): {one_line(asked.why)}"
    if not asked.fields and not asked.remarks:
        yield "  - nothing was asked to change"
    for name, value in asked.fields.items():
        if value not in (None, "", [], {}):
            yield f"  - {one_line(name)}: {one_line(value, 400)}"
    for remark in asked.remarks:
        yield f"  - {one_line(remark.id)} {one_line(remark.kind)}: {one_line(remark.text, 400)}"


def _put_differences(found: Comparison) -> None:
    if not found.standing:
        put("\nno try stands yet" if len(found.tries) > 1 else "\nthere is no other try to compare it with")
    for difference in found.differences:
        put(f"\n{one_line(difference.what)}, R{difference.old} → R{difference.new}: {difference.summary}")
        if difference.diff:
            put(clean(difference.diff).rstrip("\n"))
