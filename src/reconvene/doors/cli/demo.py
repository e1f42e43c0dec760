"""`demo`: the packaged workflows at work, offline. One story told in full, then four small patterns in a line each.

On a terminal the person decides; elsewhere the answers packaged with each workflow are taken. Every run goes the way of
any other: this only chooses what to start and what to print.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from reconvene.doors.cli.common import DOOR, Call, command, note, put, put_json
from reconvene.doors.cli.options import checkpoint_in
from reconvene.doors.cli.progress import Silent, Written
from reconvene.doors.cli.text import clean, nearest, one_line, wrapped
from reconvene.errors import UserError
from reconvene.settings import person

if TYPE_CHECKING:
    from reconvene.app.engine import Engine
    from reconvene.core.state import RunState
    from reconvene.core.workflow import Workflow
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
    ended = [_play(call, each, person(by), _telling(call, each, alone=name is not None)) for each in names]
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

    folder = _folder(name)
    workflow = _recorded(load_workflow(folder), folder)
    inputs = _yaml(folder / "inputs.yaml")
    return engine.start(workflow, inputs if isinstance(inputs, dict) else {}, by=by, door=DOOR)


def _recorded(workflow: Workflow, folder: Path) -> Workflow:
    """A workflow for models, answered from the recording that comes with it."""
    from msgspec.structs import replace

    team = _yaml(folder / "recorded" / "team.yaml")
    if team is None or any(agent.kind == "recorded" for agent in workflow.agents.values()):
        return workflow
    agents = {name: replace(agent, kind="recorded", recorded="team") for name, agent in workflow.agents.items()}
    return replace(workflow, agents=agents, recordings={"team": team})


def _yaml(file: Path) -> object:
    from reconvene.wire.yaml_reader import plain, read_yaml

    return plain(read_yaml(file.read_text(encoding="utf-8"), file.name)) if file.is_file() else None


# --- with a person ----------------------------------------------------------------------------------------------------


def _sit_down(call: Call, name: str, by: str) -> int:
    from reconvene.doors.cli.drive import proceed, who_decides
    from reconvene.wiring import open_engine

    if name == STORY:
        put(wrapped(_OPENING))
        put(wrapped(_HINT))
    engine = open_engine(call.home, say=note)
    run = _start(engine, name, by)
    code = proceed(call, engine, run, who_decides(call, None, by, False), by)
    engine = open_engine(call.home, say=note)
    if name == STORY:
        _tell_changes(engine, run)
    put()
    _tell_files(call, engine, run)
    if name == STORY:
        put(wrapped(f"\nSmaller ones: {', '.join(call.command('demo', each) for each in PATTERNS)}"))
    return code


def _tell_changes(engine: Engine, run: str) -> None:
    """From the first round to the end."""
    from reconvene.app import queries

    state = engine.load(run)
    changed = _part(queries.diff(engine, run, "1"), STORY_FILE) if state.record.rounds > 1 else ""
    if changed:
        put(f"\nWhat your words changed in {STORY_FILE}:\n\n{changed.rstrip()}")


# --- with the packaged answers ----------------------------------------------------------------------------------------


def _play(call: Call, name: str, by: str, telling: _Mute) -> dict[str, object]:
    """Run one workflow to its end with its own answers, or to where they do not help."""
    import asyncio

    from reconvene.app import queries
    from reconvene.doors.cli.session import keep_history
    from reconvene.wire.answers import read_answers
    from reconvene.wiring import open_engine

    file = _folder(name) / "answers.yaml"
    answers = read_answers(file.read_text(encoding="utf-8"), file.name) if file.is_file() else []
    engine = open_engine(call.home, say=note)
    run = _start(engine, name, by)
    telling.start()
    taken: list[Answer] = []
    with asyncio.Runner() as loop:
        try:
            while True:
                loop.run(engine.drive(run, telling.watch(), by=by, door=DOOR))
                summary = queries.summary(engine, run)
                checkpoint = checkpoint_in(summary)
                if checkpoint is None:
                    break
                telling.stop(engine, run, checkpoint, first=not taken)
                if checkpoint.get("attention") or len(taken) == len(answers):
                    break
                taken.append(_answer(engine, run, checkpoint, answers[len(taken)], by))
                telling.answer(taken[-1])
            telling.end(call, engine, run, taken)
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


def _telling(call: Call, name: str, *, alone: bool) -> _Mute:
    if call.as_json:
        return _Mute(name)
    return _Full(name, more=not alone) if alone or name == STORY else _Brief(name)


class _Mute:
    """For scripts: nothing is told on the way."""

    def __init__(self, name: str) -> None:
        self._name = name

    def watch(self) -> Watcher:
        return Silent()

    def start(self) -> None:
        pass

    def stop(self, engine: Engine, run: str, checkpoint: CheckpointShape, *, first: bool) -> None:
        pass

    def answer(self, answer: Answer) -> None:
        pass

    def end(self, call: Call, engine: Engine, run: str, taken: list[Answer]) -> None:
        pass


class _Brief(_Mute):
    """Two lines when it is over."""

    def end(self, call: Call, engine: Engine, run: str, taken: list[Answer]) -> None:
        state = engine.load(run)
        put(f"{self._name.ljust(22)} {' → '.join([*(one_line(answer.option) for answer in taken), state.status])}")
        put(f"{' ' * 22} {_in_short(state)}")


class _Full(_Mute):
    """Everything: who works, what is asked, what is said, what that changed."""

    def __init__(self, name: str, *, more: bool) -> None:
        super().__init__(name)
        self._more = more

    def watch(self) -> Watcher:
        return Written(put)

    def start(self) -> None:
        if self._name == STORY:
            put(wrapped(_OPENING))

    def stop(self, engine: Engine, run: str, checkpoint: CheckpointShape, *, first: bool) -> None:
        from reconvene.app import queries
        from reconvene.doors.cli.session import describe

        changed = "" if first else _part(queries.diff(engine, run), STORY_FILE)
        if changed:
            put(f"\nWhat that changed in {STORY_FILE}:\n\n{changed.rstrip()}")
        for line in _positions(engine, run):
            put(line)
        put("\n── A checkpoint: the run waits for a person, no process has to ──\n")
        put(wrapped(describe(checkpoint)))

    def answer(self, answer: Answer) -> None:
        put(f"\n▸ The person chooses: {one_line(answer.option)}")
        for remark in answer.remarks:
            put(f"  {remark.kind}: {one_line(remark.text)}")
        put()

    def end(self, call: Call, engine: Engine, run: str, taken: list[Answer]) -> None:
        from reconvene.app import queries

        if STORY_FILE in engine.load(run).world.files:
            put(f"\n{STORY_FILE}, in the end:\n\n{queries.file(engine, run, STORY_FILE).decode().rstrip()}")
        put()
        _tell_files(call, engine, run)
        if self._more:
            put(f"\n── Four patterns, each to its end {'─' * 55}\n")


def _part(diff: str, path: str) -> str:
    """The part of a diff that is about one file."""
    kept: list[str] = []
    here = False
    for line in diff.splitlines(keepends=True):
        if line.startswith("--- "):
            here = line.split()[1].removeprefix("a/") == path
        if here:
            kept.append(line)
    return "".join(kept)


def _positions(engine: Engine, run: str) -> Iterator[str]:
    """What each specialist holds, in a line: the first under its heading "Position"."""
    from reconvene.core.scope import context

    session = engine.session(run)
    views = context(session.state, session.book, frozenset({"views"})).get("views")
    if isinstance(views, dict):
        yield ""
        for agent, text in views.items():
            position = str(text).partition("## Position")[2].strip().split("\n")[0]
            yield f"  {str(agent).ljust(12)} {one_line(position)}"


def _in_short(state: RunState) -> str:
    """What a small run did: which phases ran more than once, what was skipped, what it left."""
    counts = [f"{phase} ×{count}" for phase, count in sorted(state.world.counts.items()) if count > 1]
    skipped = [f"{phase} skipped" for phase in sorted(state.world.skipped)]
    return "; ".join([*counts, *skipped, "files: " + ", ".join(sorted(state.world.files))])


def _tell_files(call: Call, engine: Engine, run: str) -> None:
    state = engine.load(run)
    put(f"{run} is {state.status}. Its files are in {state.workspace}:")
    for path in sorted(state.world.files):
        put(f"  {path}")
    put("\nLook further:")
    rounds = ["1..2"] if state.record.rounds > 1 else []
    for words in (("show", run), ("diff", run, *rounds), ("log", run)):
        put(f"  {call.command(*words)}")
