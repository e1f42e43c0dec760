"""Every valid YAML snippet of the checkpoint flow's specification loads unchanged."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from reconvene.core.definition.workflow import Checkpoint, Continue, End, Goto, Phase
from reconvene.wire.workflow_file import load_workflow, parse_workflow

FOLDER = Path(__file__).parents[1] / "fixtures" / "seed004"
SNIPPETS = sorted(FOLDER.glob("[0-9]*.yaml"))
BEFORE = "name: seed\nagents: {worker: {}}\nphases:\n- {id: planning, agents: [worker]}\n"
AFTER = "\n".join(
    f"- {{id: {name}, agents: [worker]}}" for name in ("phase_3", "phase_4", "documentation", "performance_tuning")
)


def wrapped(snippet: str) -> str:
    """The snippet, untouched, where it belongs in a workflow."""
    match snippet.split(":")[0]:
        case "checkpoint":
            middle = "- id: here\n  agents: [worker]\n" + textwrap.indent(snippet, "  ")
        case "options":
            middle = "- id: here\n  agents: [worker]\n  checkpoint:\n" + textwrap.indent(snippet, "    ")
        case "on_select":
            option = "  checkpoint:\n    options:\n    - label: Choose\n" + textwrap.indent(snippet, "      ")
            middle = "- id: here\n  agents: [worker]\n" + option
        case _:
            middle = snippet
    return f"{BEFORE}{middle}\n{AFTER}\n"


def asked(name: str) -> Checkpoint:
    (file,) = FOLDER.glob(f"{name}-*.yaml")
    phase: Phase = parse_workflow(wrapped(file.read_text())).phases[1]
    assert phase.checkpoint is not None
    return phase.checkpoint


def test_all_ten_snippets_are_there() -> None:
    assert len(SNIPPETS) == 10


@pytest.mark.parametrize("file", SNIPPETS, ids=lambda file: file.stem)
def test_the_snippet_loads_unchanged(file: Path) -> None:
    assert parse_workflow(wrapped(file.read_text())).phases[1].checkpoint


def test_the_custom_checkpoint_means_what_the_specification_says() -> None:
    found = asked("02")
    assert found.condition == "context.subagents_spawned > 0"
    assert found.show_files == ("{{output_dir}}/plan.md", "{{output_dir}}/architecture.md")
    assert [(each.label, each.then, each.skip, each.alias, each.remark) for each in found.options] == [
        ("Continue", Continue(), (), "continue", "none"),
        ("Redo This Phase", Goto("here", True), (), "repeat_phase", "none"),
        ("Skip Next 2 Phases", Continue(), ("phase_3", "phase_4"), "skip_phases", "optional"),
        ("Abort Workflow", End("aborted", "aborted"), (), "abort", "none"),
    ]


def test_the_patterns_mean_what_the_specification_says() -> None:
    assert asked("07").options[1].then == Goto("planning", True)
    assert asked("08").options[1].then == Goto("testing", True)
    assert asked("09").options[1].skip == ("performance_tuning",)
    assert asked("10").options[1].alias == "abort"


def test_the_two_step_example_loads() -> None:
    found = load_workflow(FOLDER / "two-step.yaml")
    assert found.phases[1].checkpoint
    again = found.phases[1].checkpoint.options[1]
    assert (again.then, again.remark) == (Goto("draft", True), "optional")
    assert found.agents["reviewer"].command == ("sh", "-c", "cat; echo reviewed")
