"""A run in a process that is not allowed to write large files: as close to a full disk as a test may come."""

from __future__ import annotations

import asyncio
import os
import random
import resource
import signal

from reconvene.errors import StoreError
from reconvene.testing.scripted import ScriptedAgents
from reconvene.wire.workflow_file import parse_workflow
from reconvene.wiring import open_engine

_WORKFLOW = """
name: w
agents: {small: {}, large: {}}
phases:
  - {id: one, agents: [small]}
  - {id: two, agents: [large]}
"""
_RUN = "w-1"


def _agents() -> ScriptedAgents:
    return ScriptedAgents({"small": "done", "large": lambda assignment: random.Random(1).randbytes(400_000).hex()})


def fill_the_disk(home: str) -> dict[str, object]:
    os.environ["RECONVENE_STORE_WAIT"] = "0"
    engine = open_engine(home, runner=_agents())
    engine.start(parse_workflow(_WORKFLOW))
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # then a write that is too large fails like one to a full disk
    _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (500_000, hard))
    try:
        engine.drive_sync(_RUN)
    except StoreError as error:
        return {"message": error.message, "hint": error.hint, "seq": engine.load(_RUN).seq}
    raise AssertionError("the disk was not full")


def carry_on(home: str) -> dict[str, object]:
    engine = open_engine(home, runner=_agents())
    state = engine.drive_sync(_RUN)
    asyncio.run(engine.close())
    return {"status": state.status}
