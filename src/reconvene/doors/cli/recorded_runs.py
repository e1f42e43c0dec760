"""`--recorded`: what a recording gives a new run, and what a person is told of it before it starts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from reconvene.doors.cli.common import Call, put, say, split_pair
from reconvene.doors.cli.text import one_line

if TYPE_CHECKING:
    from reconvene.core.definition.run_inputs import Values
    from reconvene.wire.recordings import Recording


def filled_in(home: str, played: Recording, given: Mapping[str, object]) -> Values:
    """The inputs given, and of those left out the recording's. Its project is a new one, never the person's."""
    from reconvene.wiring import new_project

    values: Values = {**played.case.inputs, **given}
    wanted = [name for name, spec in played.workflow.inputs.items() if spec.type == "project" and name not in given]
    if wanted and played.project:
        values[wanted[0]] = new_project(home, played.workflow.name, played.project)
    return values


def introduce(call: Call, played: Recording, given: Iterable[str], *, wait: bool) -> None:
    """Who works on what. `given`: the inputs typed, as name=value. `wait`: until the person has read it."""
    from reconvene.core.shown.context import summary_in

    workflow, typed = played.workflow, dict(split_pair(pair, "--input") for pair in given)
    say(f"{workflow.name}: {one_line(workflow.description)}")
    but = f" but {' and '.join(played.real)}" if played.real else ""
    say(f"All agents{but} are recorded: no model is asked, nothing leaves this machine.")
    say("What you say changes what they answer all the same.")
    for name, spec in workflow.inputs.items():
        value = played.case.inputs.get(name, spec.default)
        told = spec.type in ("text", "file") and typed.get(name, value) == value
        if told and isinstance(value, str) and value.strip():
            say(f"\n{name}: {one_line(summary_in(value))}")
    put()
    if wait:
        _wait(call, played)


def _wait(call: Call, played: Recording) -> None:
    from reconvene.doors.cli.ask import ask_text

    stops = len(played.case.answers)
    say(
        f"The run stops and asks you, about {stops} time{'s' * (stops != 1)}. The arrow keys choose, Enter takes what "
        "is marked. Leave at any stop with “Pause here” or Ctrl-C: nothing is lost, and this goes on:\n"
        f"  {call.command('resume')}\n"
    )
    ask_text("Press Enter to begin")
