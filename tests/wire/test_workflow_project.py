"""What the loader says about projects: places, reads, surveys, commands from settings."""

from __future__ import annotations

import pytest

from reconvene.errors import WorkflowError
from reconvene.wire.pins import pin, unpin
from reconvene.wire.workflow_file import parse_workflow

GOOD = """
name: coding
inputs: {project: {type: project, default: "."}}
settings: {coder: {type: text, env: RECONVENE_CODER}}
agents:
  scout: {survey: project}
  coder: {command: "{{ settings.coder }}", model: auto}
  lister: {command: "docker ps --format '{{.Names}}'"}
phases:
  - {id: look, agents: [scout]}
  - id: code
    steps:
      - {agents: [coder], place: project, reads: [project.diff, project.files]}
      - {agents: [coder], place: project.read}
      - {agents: [lister], place: private, when: "project.changed"}
"""


def test_everything_about_projects_is_read_and_pinned():
    workflow = unpin(pin(parse_workflow(GOOD)))
    assert [step.place for step in workflow.phases[1].steps] == ["project", "project.read", ""]
    coder = workflow.agents["coder"]
    assert (coder.kind, coder.command, coder.command_line, coder.or_model) == (
        "command", (), "{{ settings.coder }}", True,
    )  # fmt: skip
    assert workflow.agents["scout"].kind == "survey"
    assert workflow.agents["lister"].command == ("sh", "-c", "docker ps --format '{{.Names}}'")
    assert workflow.settings["coder"].env == "RECONVENE_CODER"


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('inputs: {project: {type: project, default: "."}}', "", "place: project needs an input of type project"),
        ('inputs: {project: {type: project, default: "."}}', "", "reads: 'project.diff' needs an input"),
        ('inputs: {project: {type: project, default: "."}}', "", "agent 'scout': survey needs an input"),
        ('{project: {type: project, default: "."}}', "{a: project, b: project}", "a and b are both projects"),
        ("place: project.read", "place: projects", "projects"),
        ("place: project.read", "place: project, writes: [a.md]", "'writes' is for files of the run"),
        ('{command: "{{ settings.coder }}", model: auto}', "{model: auto, tools: [files]}", "coder has tools"),
        ("project.files", "project.file", "'project.file' is not something to read"),
        ("env: RECONVENE_CODER", "env: 'not a name'", "is not the name of an environment variable"),
        ("survey: project", "survey: project, python: 'a:b'", "has python and survey"),
        ("{{ settings.coder }}", "{{ settings.coder", "'command'"),
        ('default: "."', "default: 3", "must be of type project"),
    ],
)
def test_a_mistake_is_named(old: str, new: str, said: str):
    assert old in GOOD
    with pytest.raises(WorkflowError) as caught:
        parse_workflow(GOOD.replace(old, new))
    assert said in caught.value.message
