"""`start` in workflow files: what loads, what it becomes, and what is refused before anything runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from reconvene.core.definition.workflow import Start, Workflow
from reconvene.errors import WorkflowError
from reconvene.wire import checkpoints
from reconvene.wire.pins import pin, unpin
from reconvene.wire.workflow_file import load_workflow, parse_workflow

SKETCH = Path(__file__).parents[1] / "fixtures" / "sketches" / "brainstorm.yaml"


def workflow(start: str, inputs: str = "{description: {required: true}, depth: number}") -> Workflow:
    return parse_workflow(
        f"name: split\ninputs: {inputs}\nagents: {{a: {{}}}}\n"
        "phases:\n  - id: one\n    agents: [a]\n    checkpoint:\n      options:\n"
        f"        - {{label: Split, start: {start}, then: {{end: split}}}}\n"
    )


def started(loaded: Workflow) -> list[Start | None]:
    return [
        option.start
        for phase in loaded.phases
        for option in (phase.checkpoint.options if phase.checkpoint else ())
        if option.start
    ]


def test_the_sketch_of_brainstorming_starts_itself_for_each_piece() -> None:
    assert started(load_workflow(SKETCH)) == [Start("brainstorm", "context.triage.pieces")]


def test_a_start_with_inputs_survives_pinning() -> None:
    inputs = "{depth: item.index + 1, description: item.title}"
    loaded = workflow(f"{{workflow: split, each: 'context.feature', inputs: {inputs}}}")
    (found,) = started(loaded)
    assert found == Start("split", "context.feature", {"depth": "item.index + 1", "description": "item.title"})
    assert unpin(pin(loaded)) == loaded


def test_a_packaged_workflow_may_be_started() -> None:
    (found,) = started(workflow("{workflow: early-exit, each: '[1]'}"))
    assert found == Start("early-exit", "[1]")


def test_a_workflow_may_have_a_name_of_its_own_that_is_packaged_nowhere() -> None:
    assert started(workflow("{workflow: split, each: '[1]'}", "{}")) == [Start("split", "[1]")]


def test_an_input_that_nobody_would_give_is_named_with_the_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A folder of workflows with one that needs more than a description."""
    other = tmp_path / "needy" / "workflow.yaml"
    other.parent.mkdir()
    other.write_text("name: needy\ninputs: {brief: {required: true}, spec: {type: file, required: true}}\n")
    monkeypatch.setattr(checkpoints, "packaged", lambda: {"needy": other})
    with pytest.raises(WorkflowError) as refused:
        workflow("{workflow: needy, each: '[1]'}")
    (problem,) = refused.value.problems
    assert problem.message == "'start': needy needs the input 'spec'"
    assert (problem.hint, problem.line) == ("write inputs: {spec: …}", 9)
    workflow("{workflow: needy, each: '[1]', inputs: {spec: item.title}}")
    workflow("{workflow: needy, each: '[1]'}", "{spec: file}")
