"""A whole run that is mended on its way and taken up again after its end, with a fuse that may kill it anywhere."""

from __future__ import annotations

import asyncio
import os

from reconvene.app.engine import Engine
from reconvene.app.reopening import reopen
from reconvene.app.upgrading import fit, upgrade
from reconvene.core.facts.commands import AnswerCheckpoint, RemarkIn
from reconvene.core.facts.state import RunState
from reconvene.wire.workflow_file import parse_workflow
from support.crashing import RUN, open_engine, workflow_text
from support.fuse import Fuse, note, noted

_OPTIONS = ("Once more", "Go on", "Go on", "Go on", "Go on")  # the last two after the end


def play(home: str, place: str = "", at: int = 0, agents: int = 3, seed: int = 0) -> dict[str, object]:
    """Upgraded at the second checkpoint, ended, reopened at the first phase, and ended again."""
    fuse = Fuse(place, at)
    engine = open_engine(home, fuse, seed)
    if not engine.log.head(RUN):
        engine.start(parse_workflow(workflow_text(agents)), by="ann")
    for line in noted(os.path.join(home, "decisions.txt")):  # whoever never heard back says it again
        checkpoint, _, number = line.partition(" ")
        _decide(engine, checkpoint, int(number))
    while True:
        state = asyncio.run(engine.drive(RUN, by="ann", door="test"))
        if state.ended and state.record.reopened:
            break
        _go_on(engine, home, state, agents)
    engine.commit_history(RUN)
    asyncio.run(engine.close())
    return {"status": state.status, "passed": dict(fuse.passed)}


def _go_on(engine: Engine, home: str, state: RunState, agents: int) -> None:
    number = len(state.record.decisions)
    if state.ended:
        reopen(engine, RUN, "gather", remarks=(RemarkIn("one thing more"),), grants={"calls": 5}, by="ann", door="test")
    elif number == 1 and not state.record.upgrades:
        upgrade(engine, fit(engine, RUN, parse_workflow(_mended(agents)), by="ann", door="test"))
    else:
        assert state.world.open is not None
        note(os.path.join(home, "decisions.txt"), f"{state.world.open.id} {number}")
        _decide(engine, state.world.open.id, number)


def _decide(engine: Engine, checkpoint: str, number: int) -> None:
    remarks = (RemarkIn(f"remark {number}"),)
    engine.submit(RUN, AnswerCheckpoint(checkpoint, _OPTIONS[number], remarks=remarks, by="ann", door="test"))


def _mended(agents: int) -> str:
    """A phase more on either side of the one that is under way, and other words in a file."""
    text = workflow_text(agents).replace("tasks so far", "tasks until now").replace("Good enough?", "Good enough now?")
    text = text.replace("phases:\n", "phases:\n  - {id: early, agents: [editor]}\n")
    return text.replace("  - id: conclude\n", "  - {id: sort, agents: [editor], output: sorted}\n  - id: conclude\n")
