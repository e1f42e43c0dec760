"""`demo`: the packaged workflows at work, offline. One story told in full, then four small patterns in a line each.

On a terminal the person decides; elsewhere the answers packaged with each workflow are taken. Everything goes the way of
any other run: this only chooses what to start and what to print.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from reconvene.doors.cli.common import DOOR, Call, command, note, put, put_json
from reconvene.doors.cli.options import checkpoint_in
from reconvene.doors.cli.progress import Silent, Written
from reconvene.doors.cli.text import clean, nearest, one_line
from reconvene.errors import UserError
from reconvene.settings import person

if TYPE_CHECKING:
    from reconvene.app.engine import Engine
    from reconvene.doors.cli.options import CheckpointShape
    from reconvene.doors.cli.progress import Watcher
    from reconvene.wire.answers import Answer

STORY = "market-entry"
STORY_FILE = "memo.md"
PATTERNS = ("review-before-changes", "quality-gate", "skip-optional", "early-exit")

_OPENING = """\
Shall Northlight Ferries, a company that does not exist, buy two ships? Four specialists look at it at the same time, a
moderator draws it together, a writer keeps the memo. All of them are recorded: no model is asked, nothing leaves this
machine, and still what you say changes what they conclude.
"""
_HINT = """\
When you are asked, choose "Look again" and correct a figure of the brief, for example:
  correction: Revenue is $900M, not $850M
  missing factor: the harbour is closed for 6 weeks each winter
"""


@command(
    epilog="""
Examples:
  reconvene demo
  reconvene demo quality-gate
"""
)
@click.argument("name", required=False)
@click.option("--by", default="", metavar="NAME", help="Who you are; else RECONVENE_BY, else your account's name.")
def demo(call: Call, name: str | None, by: str) -> int:
    """See agents at work, a checkpoint, and feedback that changes what comes next. Offline; nothing to set up.

    On a terminal you decide; elsewhere the decisions that come with it are taken. NAME plays one packaged workflow.
    """
    names = [_known(name)] if name else [STORY, *PATTERNS]
    if call.interactive:
        return _sit_down(call, names[0], person(by))
    ended = [_play(call, each, person(by), told=each == STORY or name is not None) for each in names]
    if call.as_json:
        put_json(ended)
    return 0 if all(summary["status"] in ("completed", "aborted") for summary in ended) else 1


def _known(name: str) -> str:
    from reconvene.doors.cli.drive import packaged_workflows

    if name not in packaged_workflows():
        raise UserError(f"there is no packaged workflow {clean(name)!r}", hint=nearest(name, packaged_workflows()))
    return name


def _folder(name: str) -> Path:
    from reconvene.doors.cli.drive import packaged_workflows

    return packaged_workflows()[name].parent


def _start(engine: Engine, name: str, by: str) -> str:
    from reconvene.wire.workflow import load_workflow

    return engine.start(load_workflow(_folder(name)), {}, by=by, door=DOOR)


# --- with a person ------------------------------------------------------------------------------------------------------


def _sit_down(call: Call, name: str, by: str) -> int:
    from reconvene.doors.cli.drive import proceed, who_decides
    from reconvene.wiring import open_engine

    if name == STORY:
        put(_OPENING)
        put(_HINT)
    engine = open_engine(call.home, say=note)
    run = _start(engine, name, by)
    code = proceed(call, engine, run, who_decides(call, None, by, False), by)
    engine = open_engine(call.home, say=note)
    put()
    _tell_files(call, engine, run)
    if name == STORY:
        put(f"\nSmaller ones: {', '.join(call.command('demo', each) for each in PATTERNS)}")
    return code


# --- with the packaged answers ------------------------------------------------------------------------------------------


def _play(call: Call, name: str, by: str, *, told: bool) -> dict[str, object]:
    """Run one workflow to its end. `told`: print everything, else two lines."""
    import asyncio

    from reconvene.app import queries
    from reconvene.doors.cli.session import keep_history
    from reconvene.wire.answers import read_answers
    from reconvene.wiring import open_engine

    file = _folder(name) / "answers.yaml"
    answers = read_answers(file.read_text(encoding="utf-8"), file.name) if file.is_file() else []
    quiet = call.as_json
    if told and name == STORY and not quiet:
        put(_OPENING)
    engine = open_engine(call.home, say=note)
    run = _start(engine, name, by)
    taken: list[Answer] = []
    with asyncio.Runner() as loop:
        try:
            while True:
                watch: Watcher = Written(put) if told and not quiet else Silent()
                loop.run(engine.drive(run, watch, by=by, door=DOOR))
                summary = queries.summary(engine, run)
                checkpoint = checkpoint_in(summary)
                if told and not quiet:
                    _tell_stop(engine, run, checkpoint, taken)
                if checkpoint is None or checkpoint.get("attention") or len(taken) == len(answers):
                    break
                taken.append(_answer(engine, run, checkpoint, answers[len(taken)], by))
                if told and not quiet:
                    _tell_answer(taken[-1])
            if not quiet:
                _tell_end(call, engine, run, name, str(summary["status"]), taken, told=told)
            keep_history(engine, run)
        finally:
            loop.run(engine.close())
    return summary


def _answer(engine: Engine, run: str, checkpoint: CheckpointShape, answer: Answer, by: str) -> Answer:
    from reconvene.core.commands import AnswerCheckpoint
    from reconvene.doors.cli.options import match_option

    label = match_option(checkpoint, answer.option)["label"]
    said = AnswerCheckpoint(checkpoint["id"], label, dict(answer.fields), answer.remarks, by=answer.by or by, door=DOOR)
    engine.submit(run, said)
    return answer


def _tell_stop(engine: Engine, run: str, checkpoint: CheckpointShape | None, taken: list[Answer]) -> None:
    from reconvene.app import queries
    from reconvene.doors.cli.session import describe

    if taken and checkpoint is not None:
        changed = _only(queries.diff(engine, run), STORY_FILE)
        if changed:
            put(f"\nWhat that changed in {STORY_FILE}:\n")
            put(changed.rstrip("\n"))
    if checkpoint is not None:
        for line in _positions(engine, run):
            put(line)
        put(f"\n── A checkpoint: the run waits for a person, and no process has to wait with it {'─' * 8}\n")
        put(describe(checkpoint))


def _positions(engine: Engine, run: str) -> Iterator[str]:
    """What each specialist holds, in a line: the one under its heading "Position"."""
    from reconvene.core.scope import context

    session = engine.session(run)
    views = context(session.state, session.book, frozenset({"views"})).get("views")
    if isinstance(views, dict):
        yield ""
        for agent, text in views.items():
            yield f"  {str(agent).ljust(12)} {one_line(str(text).partition('## Position')[2].strip().partition(chr(10))[0])}"


def _only(diff: str, path: str) -> str:
    """The part of a diff that is about one file."""
    kept: list[str] = []
    here = False
    for line in diff.splitlines(keepends=True):
        if line.startswith("--- "):
            here = line.split()[1].removeprefix("a/") == path
        if here:
            kept.append(line)
    return "".join(kept)


def _tell_answer(answer: Answer) -> None:
    put(f"\n▸ The person chooses: {answer.option}")
    for remark in answer.remarks:
        put(f"  {remark.kind}: {one_line(remark.text)}")
    put()


def _tell_end(
    call: Call, engine: Engine, run: str, name: str, status: str, taken: list[Answer], *, told: bool
) -> None:
    from reconvene.app import queries

    if not told:
        put(f"{name.ljust(22)} {' → '.join([*(one_line(answer.option) for answer in taken), status])}")
        put(f"{' ' * 22} {_in_short(engine, run)}")
        return
    if name == STORY:
        put(f"\n{STORY_FILE}, as accepted:\n")
        put(queries.file(engine, run, STORY_FILE).decode().rstrip("\n"))
    put()
    _tell_files(call, engine, run)
    if name == STORY:
        put(f"\n── Four patterns, each to its end {'─' * 50}\n")


def _in_short(engine: Engine, run: str) -> str:
    """What a small run did: how often its phases ran, what was skipped, what it left."""
    shown = engine.load(run)
    counts = [f"{phase} ×{count}" for phase, count in sorted(shown.world.counts.items()) if count > 1]
    skipped = [f"{phase} skipped" for phase in sorted(shown.world.skipped)]
    return "; ".join([*counts, *skipped, "files: " + ", ".join(sorted(shown.world.files))])


def _tell_files(call: Call, engine: Engine, run: str) -> None:
    from reconvene.app import queries

    put(f"{run} is {queries.summary(engine, run)['status']}. Its files are in {engine.load(run).workspace}:")
    for row in queries.files(engine, run):
        put(f"  {row['path']}")
    put("\nLook further:")
    for line in _further(call, run):
        put(f"  {line}")


def _further(call: Call, run: str) -> Iterator[str]:
    yield call.command("show", run)
    yield call.command("diff", run, "1..2")
    yield call.command("log", run)
