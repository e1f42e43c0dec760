"""`--recorded`: what a recording gives a run, and what is said before it is played."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from reconvene.doors.cli.common import Call, say
from reconvene.doors.cli.named_workflow import file_of
from reconvene.doors.cli.text import one_line

if TYPE_CHECKING:
    from reconvene.core.definition.run_inputs import Values
    from reconvene.wire.recordings import Recording


def recording_of(workflow: str, inputs: tuple[str, ...]) -> Recording:
    from reconvene.doors.cli.typed_values import split_pair
    from reconvene.wire.recordings import recording

    return recording(file_of(workflow), dict(split_pair(pair, "--input") for pair in inputs))


def filled_in(home: str, played: Recording, given: Values) -> Values:
    """The inputs given, and of those left out the recording's. Its project and its databases are new ones."""
    from msgspec import to_builtins

    from reconvene.materials import documents, source
    from reconvene.wiring import new_databases, new_project

    values: Values = {**played.case.inputs, **given}
    wanted = {spec.type: name for name, spec in played.workflow.inputs.items() if name not in given}
    if "project" in wanted and played.project:
        values[wanted["project"]] = new_project(home, played.workflow.name, played.project)
    if "documents" in wanted and played.documents:
        values[wanted["documents"]] = to_builtins(documents(str(played.documents), os.environ))
    if "sources" in wanted and played.sources:
        made = new_databases(home, played.workflow.name, played.sources)
        values[wanted["sources"]] = [source(path, os.environ, recorded=True) for path in made]
    return values


def introduce(call: Call, played: Recording, given: tuple[str, ...], *, wait: bool) -> None:
    """Who works on what. `given`: the inputs typed, as name=value. `wait`: until the person has read it."""
    from reconvene.core.shown.summaries import summary_in
    from reconvene.doors.cli.typed_values import split_pair

    workflow, typed = played.workflow, dict(split_pair(pair, "--input") for pair in given)
    say(f"{workflow.name}: {one_line(workflow.description)}" if workflow.description else workflow.name)
    but = f" but {' and '.join(played.real)}" if played.real else ""
    say(f"All agents{but} are recorded: no model is asked, nothing leaves this machine.")
    say("What you say changes what they answer all the same.")
    for name, spec in workflow.inputs.items():
        value = played.case.inputs.get(name, spec.default)
        told = spec.type in ("text", "file") and typed.get(name, value) == value
        if told and isinstance(value, str) and value.strip():
            say(f"\n{name}: {one_line(summary_in(value))}")
    if material := [
        *(sorted(one.name for one in played.documents.iterdir()) if played.documents else ()),
        *played.sources,
    ]:
        say(f"\nreal files, which the recorded agents really read: {', '.join(material)}")
    say()
    if wait:
        from reconvene.doors.cli.ask import ask_text

        stops = len(played.case.answers)
        say(
            f"The run stops and asks you, about {stops} time{'s' * (stops != 1)}. The arrow keys choose, and Enter "
            "takes what is marked; where choices have numbers, type one. Leave at any stop with “Pause here” or "
            "Ctrl-C: what was done is on record. This goes on:\n"
            f"  {call.command('resume')}\n"
        )
        ask_text("Press Enter to begin")
