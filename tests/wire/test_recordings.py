"""The recording that comes with a workflow: found beside it, and refused with what is missing."""

from __future__ import annotations

from pathlib import Path

import pytest

from reconvene.errors import UserError
from reconvene.wire.packaged import packaged
from reconvene.wire.recordings import cases, recording

FLOW = """
name: flow
inputs: {question: {type: text}}
agents: {analyst: {command: x}}
phases: [{id: draft, agents: [analyst]}]
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (tmp_path / "workflow.yaml").write_text(FLOW, encoding="utf-8")
    return tmp_path / "workflow.yaml"


def write(file: Path, name: str, text: str) -> None:
    path = file.parent / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def test_agents_answer_from_the_recording_and_inputs_come_with_it(file: Path) -> None:
    write(file, "recorded/team.yaml", "- {says: Hello.}\n")
    write(file, "inputs.yaml", "question: Shall we?\n")
    write(file, "answers.yaml", "- {option: Continue, feedback: [shorter]}\n")
    found = recording(file, {})
    assert found.workflow.agents["analyst"].kind == "recorded"
    assert found.case.inputs == {"question": "Shall we?"}
    assert [answer.option for answer in found.case.answers] == ["Continue"]
    assert found.project == {}


def test_an_input_that_is_given_chooses_the_case(file: Path) -> None:
    write(file, "recorded/team.yaml", "- {says: Hello.}\n")
    write(file, "cases/1-small/inputs.yaml", "question: Small?\n")
    write(file, "cases/2-large/inputs.yaml", "question: Large?\n")
    assert recording(file, {}).case.name == "small"
    assert recording(file, {"question": "Large?"}).case.name == "large"
    assert recording(file, {"question": "Mine?"}).case.name == "small"
    assert [case.name for case in cases(file.parent)] == ["small", "large"]


def test_a_workflow_without_a_recording_says_what_is_missing(file: Path) -> None:
    with pytest.raises(UserError) as caught:
        recording(file, {})
    assert "flow comes with no recording" in caught.value.message
    assert "team.yaml" in caught.value.message


def test_inputs_that_are_no_mapping_are_refused_with_their_file(file: Path) -> None:
    write(file, "recorded/team.yaml", "- {says: Hello.}\n")
    write(file, "inputs.yaml", "- question\n")
    with pytest.raises(UserError, match=r"inputs\.yaml should be a mapping"):
        _ = recording(file, {}).case.inputs


def test_only_what_looks_at_the_project_itself_is_not_recorded() -> None:
    real = {name: recording(file, {}).real for name, file in packaged().items()}
    looks = ["ground", "scout", "tester", "differ", "merger"]
    assert {name: agents for name, agents in real.items() if agents} == {"brainstorm": looks}
