"""`show`, `log`, `files`, `diff`: one run, looked at. Nothing here changes it."""

from __future__ import annotations

import json
import re
import sys
from typing import TYPE_CHECKING

import click

from reconvene.app.views.who import told as by_whom
from reconvene.core.facts.named_people import named
from reconvene.doors.cli.common import (
    BY,
    COUNT,
    OPEN,
    Call,
    command,
    note,
    open_run,
    pasted,
    put,
    put_json,
    put_table,
    say,
)
from reconvene.doors.cli.text import (
    clean,
    one_line,
    to_json,
    ungated,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from reconvene.app.engine import Engine
    from reconvene.app.views.beside import Review
    from reconvene.app.views.companion_talk import Spent
    from reconvene.app.views.mendings import Bound, Upgraded
    from reconvene.app.views.read_model import Budget, Child, Decision, Event, Late, Remark, RunInFull

_RANGE = re.compile(r"(\d*)\.\.(\d*)|(\d+)")
_NOT_TAKEN = "files that were not taken"
_ENDED = ("completed", "failed", "aborted")


@command("""
Examples:
  reconvene show two-step-1
  reconvene show two-step-1 --since      # what changed since you last had a say
""")
@click.argument("run", required=False)
@click.option("--since", "news", is_flag=True, help="Only what changed since you last decided, remarked or read it.")
@BY
def show(call: Call, run: str | None, news: bool) -> int:
    """Where RUN stands: what is done and what is to come, its files, remarks and decisions, its open checkpoint.

    At a checkpoint also what the remarks made there weigh, which remarks nobody has answered yet, whether another round
    would likely change anything; of each option who would work, what that takes, and what speaks against it.
    """
    from msgspec.structs import replace

    from reconvene.app import queries
    from reconvene.app.measures import review
    from reconvene.app.outlook import with_outlook
    from reconvene.app.views.companion_talk import spent

    engine, found = open_run(call, run)
    if news:
        return _put_news(call, engine, found)
    shown, beside = queries.show(engine, found), review(engine, found)
    if shown.checkpoint is not None:
        shown = replace(shown, checkpoint=with_outlook(engine, found, shown.checkpoint, beside))
    put_run(call, shown, beside, spent(engine.load(found)))
    return 0


def _put_news(call: Call, engine: Engine, run: str) -> int:
    from reconvene.app.since import since
    from reconvene.desk_wiring import read_up_to
    from reconvene.doors.shared.news_lines import lines

    found = since(engine, run, call.by, read_up_to(call.home, call.by, run))
    if call.as_json:
        put_json({"run": run, "since": found})
        return 0
    for line in lines(found):
        say(line)
    return 0


def put_run(call: Call, shown: RunInFull, beside: Review | None, talked: Spent | None) -> None:
    from msgspec.structs import replace

    from reconvene.doors.cli.stops import report, was_shown
    from reconvene.doors.shared.advice import talk_lines

    found = shown.run
    if call.as_json:
        put_json(shown, review=beside or {}, **({"companion": talked} if talked else {}))
        was_shown(call, shown)
        return
    if talked is not None:
        tokens = talked.input_tokens + talked.output_tokens
        price = f", {tokens:,} tokens, ${talked.cost:.4f} beside the agents' cost" if tokens else ""
        put(f"companion  {talked.said} entries{price}: {call.command('chat', found)}")
    _put_details(shown)
    if shown.talk:
        put(f"the talk at {shown.phase}")
        for line in talk_lines(shown.talk):
            say(f"  {line}")
        put()
    if beside is not None:
        _put_review(beside, found)
    report(call, replace(shown, passed_over=(), unasked=(), unshown=()))


def _put_review(review: Review, run: str) -> None:
    from reconvene.doors.shared.advice import Section, sections, weighed

    told = [Section("said at this checkpoint", tuple(map(weighed, review.remarks)))] if review.remarks else []
    for one in [
        *told,
        *sections(review, ledger=pasted(f"reconvene ledger {run}"), whole=pasted(f"reconvene show {run}")),
    ]:
        put(one.title)
        for line in one.lines:
            say(f"  {line}")
        put()


def _put_details(shown: RunInFull) -> None:
    from msgspec import structs

    from reconvene.doors.cli.stops import not_asked

    put(f"workflow   {shown.workflow}\nworkspace  {shown.workspace}")
    if shown.project:
        put(f"project    {clean(shown.project.path)}, branch {clean(shown.project.branch)}")
    if shown.parent:
        put(f"parent     {shown.parent} (this is its piece {one_line(shown.title)!r})")
    for line in _cost(shown.usage.budgets):
        say(line)
    _put_list("carried out by", map(_bound, shown.bindings))
    _put_list("to do", [f"[{'x' if row.done else ' '}] {one_line(row.what)}" for row in shown.todo])
    _put_list("runs that it started", map(_child, shown.children))
    _put_list("files", [f"{file.path}  ({file.size} bytes, {file.by})" for file in shown.files], put)
    _put_list(_NOT_TAKEN, [pasted(one_line(line, 300)) for line in shown.not_taken])
    _put_list("decisions", map(_decision, shown.decisions))
    _put_list("decisions about trouble", map(_decision, shown.settled))
    _put_list("mended", _mended(shown))
    _put_list("remarks", map(_remark, shown.remarks))
    _put_list("remarks that were taken back", map(_remark, shown.withdrawn))
    _put_list("checkpoints that were not asked", not_asked(structs.replace(shown, unasked=(), unshown=(), found=())))
    _put_list("outputs whose gate could not be asked", [f"! {one_line(one.text, 300)}" for one in shown.unasked])
    _put_list("agents that were not shown everything", [f"! {one_line(one.text, 300)}" for one in shown.unshown])
    _put_list("gates that ask a model", _unjudged(shown))
    _put_list("answers that came too late (kept and counted, without effect)", map(_late, shown.late))
    put()


def _cost(budgets: tuple[Budget, ...]) -> Iterable[str]:
    """What was spent, of which limit. Nothing where there is no limit and nothing that could have a price."""
    from reconvene.core.working.spending import dollars

    for one in budgets:
        if not (one.allowed or one.cost or one.tokens):
            continue
        known = one.calls - one.unpriced
        parts = [dollars(one.cost) + (f" of {dollars(one.allowed)} allowed" if one.allowed else "")]
        if one.unpriced:
            parts += [f"cost known for {known} of {one.calls} calls", f"{one.tokens:,} tokens without a price"]
        who = one.name.partition(".")[2]
        yield f"cost       {f'{who}: ' if who else ''}{'; '.join(parts)}"


def _put_list(title: str, lines: Iterable[str], tell: Callable[[str], None] = say) -> None:
    for number, line in enumerate(lines):
        if not number:
            put(f"\n{title}")
        tell(f"  {line}")


def _bound(one: Bound) -> str:
    """`reviewer: ollama:qwen3 (Ada, 2026-11-16 14:02)`"""
    whom = one.agent or ("agents whose model is left open" if one.fallback else "all agents of a model")
    told = ", ".join(part for part in (one.source, by_whom(one.by, one.user), one.at[:16].replace("T", " ")) if part)
    return f"{whom}: {one_line(one.who, 200)} ({told})"


def _decision(one: Decision) -> str:
    from reconvene.doors.shared.advice import from_where

    item = f" of {one_line(one.item)}" if one.item else ""
    source, since = from_where(one.source) if one.source else "", f"with {', '.join(one.since)}" if one.since else ""
    approved = f"with {named(one.approved[:-1], 'and')}" if one.approved else ""
    answers = ", ".join(f"{name}: {one_line(str(value), 80)}" for name, value in one.answers.items())
    by = "; ".join(part for part in (by_whom(one.by, one.user), approved, answers, source, since) if part)
    return f"{one.phase}{item}: {one_line(one.option)}" + (f" ({by})" if by else "")


def _mended(shown: RunInFull) -> list[str]:
    """Every upgrade and every reopening, in order."""
    told = [(one.at, f"{_upgraded(one)}{_left(one)}", by_whom(one.by, one.user)) for one in shown.upgrades]
    for one in shown.reopened:
        where = f" at {one.phase}" if one.phase else ""
        added = "".join(f", {name} +{more:g}" for name, more in one.grants.items())
        told.append((one.at, f"reopened{where} after it was {one.status}{added}", by_whom(one.by, one.user)))
    return [f"{at[:16].replace('T', ' ')}  {text}" + (f" ({by})" if by else "") for at, text, by in sorted(told)]


def _upgraded(one: Upgraded) -> str:
    return f"from round {one.rounds + 1} on: workflow {one.workflow[:8]}, instead of {one.before[:8]}"


def _left(one: Upgraded) -> str:
    return f", without {', '.join(one.dropped)}" if one.dropped else ""


def _child(child: Child) -> str:
    outcome = f" ({child.outcome})" if child.outcome not in ("", child.status) else ""
    where = f" at {child.phase}" if child.phase and child.status in OPEN else ""
    return f"{child.run}  {child.status}{where}{outcome}  {one_line(child.title)}"


def _unjudged(shown: RunInFull) -> list[str]:
    if shown.judged_by:
        return [f"{shown.judged_by} answers them"]
    return [f"{ungated(shown.unjudged)}"] if shown.unjudged else []


def _remark(remark: Remark) -> str:
    by, origin = by_whom(remark.by, remark.user), f"in {remark.origin}" if remark.origin else ""
    gone = f"taken back by {remark.withdrawn or 'somebody'}" if remark.withdrawn is not None else ""
    told = ", ".join(part for part in (by, origin, gone) if part)
    target = (f" to {remark.target}" if remark.target else "") + (f" on {remark.lines}" if remark.lines else "")
    text = one_line(remark.text or remark.path, 200)
    return f"{remark.id} {remark.kind}{target}: {text}" + (f" ({told})" if told else "")


def _late(row: Late) -> str:
    cost = f", ${row.cost:.2f}" if row.cost else ""
    return f"{row.task} attempt {row.attempt}{cost}: {one_line(row.text, 200)}"


@command()
@click.argument("run", required=False)
@click.option("--follow", "-f", is_flag=True, help="Go on printing as events come, until the run ends.")
@click.option("--after", type=COUNT, default=0, metavar="SEQ", help="Only events after this one.")
@click.option("--limit", type=COUNT, default=0, metavar="N", help="At most N events; 0 = all.")
def log(call: Call, run: str | None, follow: bool, after: int, limit: int) -> int:
    """RUN's events, one per line; with --json each line is an object with seq, type and at."""
    import time

    from reconvene.app import queries

    engine, found = open_run(call, run)
    last, left = after, limit or sys.maxsize
    while True:
        ended = False
        while page := queries.events(engine, found, last, min(left, queries.PAGE)):
            for event in page:
                sys.stdout.write((to_json(event) if call.as_json else _event_line(event)) + "\n")
                ended = event.type == "RunEnded"
            last, left = page[-1].seq, left - len(page)
            if not left:
                return 0
        sys.stdout.flush()
        row = engine.log.index_row(found)
        if not follow or ended or row is None or row.status in _ENDED:
            return 0
        time.sleep(0.25)


def _event_line(event: Event) -> str:
    """The event's own words, its longest ones cut."""
    facts = dict(event.facts)
    if facts.get("by") and facts.get("user"):
        facts["by"] = by_whom(str(facts["by"]), str(facts.pop("user")))
    told = " ".join(f"{key}={one_line(_told(value), 60)}" for key, value in facts.items())
    return f"{event.seq:>5}  {event.at}  {event.type}" + (f"  {told}" if told else "")


def _told(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


@command()
@click.argument("run", required=False)
@click.argument("path", required=False)
def files(call: Call, run: str | None, path: str | None) -> int:
    """RUN's files, and which it changed in a project; or, with PATH, the content of one of its own."""
    from reconvene.app import queries
    from reconvene.doors.shared.glance import project_lines

    engine, found = open_run(call, run)
    if path is not None:
        data = queries.file(engine, found, path)
        if call.as_json:
            put_json({"path": path, "text": data.decode(errors="replace")})
        elif sys.stdout.isatty():
            put(data.decode(errors="replace").removesuffix("\n"))
        else:
            sys.stdout.flush()
            sys.stdout.buffer.write(data)
        return 0
    rows = queries.files(engine, found)
    if call.as_json:
        put_json(rows)
        return 0
    if rows:
        put_table([(row.phase, row.by, row.size, row.path) for row in rows], ("PHASE", "BY", "BYTES", "PATH"))
    project = project_lines(queries.standing(engine, found).project)
    for line in project:
        say(line)
    if not rows and not project:
        put(f"{found} has no files yet")
    if not call.as_json and (left := queries.not_taken(engine, found)):
        _put_list(_NOT_TAKEN, [one_line(line, 300) for line in left])
    return 0


@command("Examples:\n  reconvene diff                  # what the last round did\n  reconvene diff two-step-1 1..2")
@click.argument("run", required=False)
@click.argument("rounds", required=False, metavar="[ROUND..ROUND]")
def diff(call: Call, run: str | None, rounds: str | None) -> int:
    """What changed in RUN's files, and in its project, between two rounds; without them, in the last round."""
    from reconvene.app import queries

    if run is not None and rounds is None and _RANGE.fullmatch(run):
        run, rounds = None, run
    old, new = _rounds(rounds or "")
    engine, found = open_run(call, run)
    text = queries.diff(engine, found, old, new)
    if call.as_json:
        put_json({"run": found, "old": old, "new": new, "diff": text})
    elif text:
        sys.stdout.write(clean(text) if sys.stdout.isatty() else text)
        if not text.endswith("\n"):
            sys.stdout.write("\n")
    else:
        note("no difference")
    return 0


def _rounds(text: str) -> tuple[str, str]:
    """`1..3` → both ends; `2` → what round 2 did; an end left out is the query's to choose."""
    from reconvene.errors import UserError

    if not text:
        return "", ""
    found = _RANGE.fullmatch(text)
    if found is None:
        raise UserError(f"{text!r} is not ROUND..ROUND", hint="write the rounds' numbers, as in 1..2")
    if found[3]:
        return str(int(found[3]) - 1) if int(found[3]) > 1 else "", found[3]
    return found[1], found[2]
