"""`demo`: the packaged workflows at work, offline. One story told in full, then four small patterns in a line each.

What a run is given and decided lies beside the workflow; one with several `cases` shows each of them.

On a terminal the person decides; elsewhere the answers packaged with each workflow are taken. Every run goes the way of
any other: this only chooses what to start and which decisions to take. The words are in `telling.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click

from reconvene.doors.cli import telling
from reconvene.doors.cli.common import DOOR, Call, command, open_engine, put, put_json
from reconvene.doors.cli.text import clean, nearest, wrapped
from reconvene.errors import UserError
from reconvene.settings import person

if TYPE_CHECKING:
    from reconvene.app.engine import Engine
    from reconvene.app.views.model import Checkpoint, Run
    from reconvene.core.definition.workflow import Workflow
    from reconvene.core.facts.commands import RemarkIn
    from reconvene.wire.answers import Answer

STORY = "scenario-planning"
PATTERNS = ("review-before-changes", "quality-gate", "skip-optional", "early-exit")

_PARKED = 3

_HOW = (
    "\nHow it goes:\n"
    "- After each round the run stops and asks you. Enter takes what is marked, the arrow keys choose.\n"
    "- First you confirm the question: press Enter. Then the specialists work, and you are asked whether there is "
    "anything to correct or to add. Type this, and see what becomes of their conclusion:\n"
    "    {first}\n"
    "- Later, say whatever comes to your mind, or this:\n"
    "    {last}\n"
    "- There are about {stops} stops. Leave at any of them with “Pause here” or Ctrl-C: nothing is lost. Come back "
    "with\n"
    "    {resume}\n"
)
_TRY = """
When you are asked, you could say, for example:
    {first}
"""


@command(
    epilog="""
Examples:
  reconvene demo
  reconvene demo brainstorm
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
        return _sit_down(call, _chosen(_cases(names[0])), person(by))
    ended = []
    for each in [case for one in names for case in _cases(one)]:
        if each.name == PATTERNS[0] and not call.as_json and name is None:
            put(f"\n── Four patterns, each to its end {'─' * 45}\n")
        elif each.title and not call.as_json:
            put(f"\n── {each.title} {'─' * (75 - len(each.title))}\n")
        ended.append(_play(call, each, person(by), _telling(call, each.name, alone=name is not None)))
    if call.as_json:
        put_json(ended)
    return 0 if all(summary.status in ("completed", "aborted") for summary in ended) else 1


def _known(name: str) -> str:
    from reconvene.doors.cli.drive import packaged_workflows

    if name not in packaged_workflows():
        raise UserError(f"there is no packaged workflow {clean(name)!r}", hint=nearest(name, packaged_workflows()))
    return name


def _folder(name: str) -> Path:
    from reconvene.doors.cli.drive import packaged_workflows

    return packaged_workflows()[name].parent


class _Case(NamedTuple):
    """What a demo run is given and decided: files beside the workflow, or in one of its `cases`."""

    name: str
    folder: Path
    title: str = ""


def _cases(name: str) -> list[_Case]:
    folder = _folder(name)
    found = sorted(path for path in (folder / "cases").glob("*") if path.is_dir())
    return [_Case(name, path, path.name.partition("-")[2]) for path in found] or [_Case(name, folder)]


def _chosen(cases: list[_Case]) -> _Case:
    """Where there are several, the person says which."""
    from reconvene.doors.cli.ask import pick

    if len(cases) == 1:
        return cases[0]
    entries = [(case, f"{case.title}: {_given(case).get('description', '')}") for case in cases]
    return pick("Which case would you like to play?", entries)


def _given(case: _Case) -> Mapping[str, object]:
    inputs = _yaml(case.folder / "inputs.yaml")
    return inputs if isinstance(inputs, dict) else {}


def _start(call: Call, engine: Engine, case: _Case, by: str) -> str:
    from reconvene.wire.workflow import load_workflow

    folder = _folder(case.name)
    workflow = _recorded(load_workflow(folder), folder)
    inputs = {**_sample(call, folder, workflow), **_given(case)}
    settings = _yaml(case.folder / "settings.yaml")
    return engine.start(workflow, inputs, settings=settings if isinstance(settings, dict) else None, by=by, door=DOOR)


def _sample(call: Call, folder: Path, workflow: Workflow) -> dict[str, object]:
    """A project to work on, where the workflow wants one: the recording's own, never the person's."""
    from reconvene.doors.cli.sample import write_sample

    files = _yaml(folder / "recorded" / "project.yaml")
    wanted = [name for name, given in workflow.inputs.items() if given.type == "project"]
    if not wanted or not isinstance(files, dict):
        return {}
    root = write_sample(Path(call.home) / "demo", "pantry", {str(path): str(text) for path, text in files.items()})
    return {wanted[0]: str(root)}


def _recorded(workflow: Workflow, folder: Path) -> Workflow:
    """A workflow for models, answered from the recording that comes with it."""
    from msgspec.structs import replace

    team = _yaml(folder / "recorded" / "team.yaml")
    if team is None or any(agent.kind == "recorded" for agent in workflow.agents.values()):
        return workflow
    agents = {
        name: agent if agent.kind == "survey" else replace(agent, kind="recorded", recorded="team", command_line="")
        for name, agent in workflow.agents.items()
    }
    return replace(workflow, agents=agents, recordings={"team": team})


def _yaml(file: Path) -> object:
    from reconvene.wire.yaml_reader import plain, read_yaml

    return plain(read_yaml(file.read_text(encoding="utf-8"), file.name)) if file.is_file() else None


# --- with a person ----------------------------------------------------------------------------------------------------


def _sit_down(call: Call, case: _Case, by: str) -> int:
    from reconvene.doors.cli.drive import proceed, who_decides

    engine = open_engine(call)
    run = _start(call, engine, case, by)
    if not _introduced(call, engine, run, case):
        return 0
    code = proceed(call, engine, run, who_decides(call, None, by, False), by)
    if code == _PARKED:
        return 0  # to leave a demo early is no failure
    engine = open_engine(call)
    for line in telling.changes(engine, run):
        put(line)
    put()
    if case.name == STORY:
        telling.closing(call, engine, run)
        put(wrapped(f"\nSmaller ones: {', '.join(call.command('demo', each) for each in PATTERNS)}"))
    else:
        telling.tell_files(call, engine, run)
    return code


def _introduced(call: Call, engine: Engine, run: str, case: _Case) -> bool:
    """What this is and what to try, before the first screen pushes it away. False: the person leaves here."""
    from reconvene.doors.cli.ask import ask_text

    answers = _answers(case)
    tries = [remark.text for answer in answers for remark in answer.remarks]
    put(wrapped(telling.opening(engine, run)))
    if case.name != STORY:
        put(wrapped(_TRY.format(first=tries[0])) if tries else "")
        return True
    put(wrapped(_HOW.format(stops=len(answers), first=tries[0], last=tries[-1], resume=call.command("resume", run))))
    try:
        ask_text("Press Enter to begin")
    except (KeyboardInterrupt, EOFError):
        put(f"begin with: {call.command('resume', run)}")
        return False
    return True


# --- with the packaged answers ----------------------------------------------------------------------------------------


def _answers(case: _Case) -> list[Answer]:
    from reconvene.wire.answers import read_answers

    file = case.folder / "answers.yaml"
    return read_answers(file.read_text(encoding="utf-8"), file.name) if file.is_file() else []


def _play(call: Call, case: _Case, by: str, tells: telling.Mute) -> Run:
    """Run one workflow to its end with its own answers, or to where they do not help."""
    import asyncio

    from reconvene.app import queries
    from reconvene.doors.cli.session import keep_history

    answers = _answers(case)
    engine = open_engine(call)
    run = _start(call, engine, case, by)
    tells.start(engine, run)
    taken: list[Answer] = []
    with asyncio.Runner() as loop:
        try:
            while True:
                loop.run(engine.drive(run, tells.watch(), by=by, door=DOOR))
                summary = queries.summary(engine, run)
                checkpoint = summary.checkpoint
                if checkpoint is None:
                    break
                tells.stop(engine, run, checkpoint, first=not taken)
                if checkpoint.attention or len(taken) == len(answers):
                    break
                taken.append(_answer(engine, run, checkpoint, answers[len(taken)], by, tells))
                tells.answer(taken[-1])
            tells.end(call, engine, run, taken)
            keep_history(engine, run)
        finally:
            loop.run(engine.close())
    return summary


def _answer(engine: Engine, run: str, checkpoint: Checkpoint, answer: Answer, by: str, tells: telling.Mute) -> Answer:
    """As a person does: first the remarks, then, with what follows from them in view, the decision."""
    from reconvene.core.facts.commands import AddRemark, AnswerCheckpoint
    from reconvene.doors.shared.options import match_option

    who = answer.by or by
    label = match_option(checkpoint, answer.option).label
    remarks = tuple(_heard(remark) for remark in answer.remarks)
    for remark in remarks:
        engine.submit(run, AddRemark(remark, by=who, door=DOOR))
    if remarks:
        tells.said(engine, run)
    engine.submit(run, AnswerCheckpoint(checkpoint.id, label, dict(answer.fields), remarks, by=who, door=DOOR))
    return answer


def _heard(remark: RemarkIn) -> RemarkIn:
    """With the figures that the prompt would have heard in it."""
    from msgspec.structs import replace

    from reconvene.app.listening import by_rules

    figures = next((one for one in by_rules(remark.text).remarks if one.now), None)
    return replace(remark, was=figures.was, now=figures.now) if figures and not remark.now else remark


def _telling(call: Call, name: str, *, alone: bool) -> telling.Mute:
    if call.as_json:
        return telling.Mute(name)
    if name == STORY:
        return telling.Told(name)
    return telling.Full(name) if alone else telling.Brief(name)
