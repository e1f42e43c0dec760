"""Drives a run of a golden home on to its end: recorded agents, and a person who takes what leads there."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable

from reconvene.app.engine import Engine
from reconvene.core.facts.commands import Abort, AnswerCheckpoint
from reconvene.core.facts.events import CheckpointOpened, FieldAsked
from reconvene.core.facts.state import RunState

_MOST_DECISIONS = 40
# The first of these that is offered is taken.
_ONWARD = (
    *("That is the company", "That is the question", "That is right", "Looks good", "Finish"),  # scenario-planning
    *("Begin", "Continue"),  # spec-refinement
    *("Leave them out", "Agree — quick design outline", "Override — straightforward"),  # brainstorm
    *("Begin — only what fails anew counts", "Begin without tests", "It is done", "Done, not tested"),
    *("Done", "Choose", "Approve", "Use my words", "Build it", "Take it as it is", "Continue to the next batch"),
    "Stop here, with the plan",
    *(
        "Accept the memo",
        "Accept",
        "Looks good, proceed",
        "Yes, continue",
        "Optimize now",
        "Fix and retry",
    ),  # the others
)
_TROUBLE = ("Raise the limit", "Count it as false")
_AGAIN, _WITHOUT, _STOP = "Try again", "Go on without it", "Stop the run"


def end(
    engine: Engine,
    run: str,
    decisions: int = _MOST_DECISIONS,
    at_stop: Callable[[str], None] = lambda run: None,
) -> RunState:
    """To its end, whatever that is. After so many decisions the person has seen enough, and ends it by hand."""
    met: Counter[str] = Counter()
    with asyncio.Runner() as loop:
        while True:
            state = loop.run(engine.drive(run, by="ann", door="golden"))
            at_stop(run)
            point = state.world.open
            if point is None:
                break
            if met.total() == decisions:
                state = engine.submit(run, Abort(by="ann", door="golden"))
                break
            met[f"{point.attention} {point.phase}"] += 1
            engine.submit(run, answered(state, met[f"True {point.phase}"]))
    assert state.ended, f"{run} is {state.status} at {state.world.top.phase}: {point and point.prompt}"
    return state


def answered(state: RunState, times: int = 2) -> AnswerCheckpoint:
    """What leads on from the checkpoint that is open; of trouble, the one that was met so often."""
    point = state.world.open
    assert point is not None, f"the run is {state.status}"
    option = _settled(point, times) if point.attention else _onward(point)
    asked = (*point.fields, *(field for one in point.options if one.label == option for field in one.fields))
    fields = {field.id: _answer(field) for field in asked if field.required}
    return AnswerCheckpoint(point.id, option, fields, by="ann", door="golden")


def _onward(point: CheckpointOpened) -> str:
    offered = [option.label for option in point.options if option.available]
    wanted = [label for label in _ONWARD if label in offered]
    assert wanted, f"none of {offered} is known to lead on from {point.phase}"
    return wanted[0]


def _settled(point: CheckpointOpened, times: int) -> str:
    """Try again at first; where that does not help, go on without; then stop."""
    offered = [option.label for option in point.options if option.available]
    use = [label for label in offered if label.startswith("Use ")]
    wanted = [*_TROUBLE, *use, *(_AGAIN, _WITHOUT, _STOP)[min(times, 3) - 1 :], _STOP]
    return next(label for label in wanted if label in offered)


def _answer(field: FieldAsked) -> object:
    if field.options:
        return field.options[0]
    return True if field.type == "confirm" else "As it is."
