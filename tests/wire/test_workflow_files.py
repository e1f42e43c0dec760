"""The files around a workflow: found beside it, and never outside."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from reconvene.errors import WorkflowError
from reconvene.wire.workflow_file import load_workflow, parse_workflow
from reconvene.wire.yaml_reader import MAX_BYTES


def write(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder / "workflow.yaml"


def refusal(path: Path) -> WorkflowError:
    with pytest.raises(WorkflowError) as caught:
        load_workflow(path)
    return caught.value


def test_a_prompt_is_the_file_named_like_the_agent_or_the_one_it_names(tmp_path: Path) -> None:
    file = write(
        tmp_path,
        {
            "workflow.yaml": "name: w\nagents: {a: {}, b: {prompt: other/b.txt}, c: {prompt: You are c.}, d: {}}\n"
            "phases: [{id: x, agents: a, prompt: step.md}]",
            "prompts/a.md": "You are a.",
            "prompts/c.md": "not this one",
            "other/b.txt": "You are b.",
            "step.md": "Do x.",
        },
    )
    found = load_workflow(file)
    assert [agent.prompt for agent in found.agents.values()] == ["You are a.", "You are b.", "You are c.", ""]
    assert found.phases[0].steps[0].prompt == "Do x."


def test_a_folder_stands_for_its_workflow_file(tmp_path: Path) -> None:
    write(tmp_path, {"workflow.yaml": "name: w\nphases: [{id: a}]"})
    assert load_workflow(tmp_path).name == "w"
    assert load_workflow(str(tmp_path)).file == "workflow.yaml"


def test_templates_come_from_their_folder_or_stand_in_the_file(tmp_path: Path) -> None:
    file = write(
        tmp_path,
        {
            "workflow.yaml": "name: w\nphases: [{id: a}]\nfiles:\n- {path: a.md, template: a.j2}\n"
            "- {path: b.md, template: 'B {{ run }}'}\n- {path: '{{ task }}.md', each: tasks, from: output.full}\n",
            "templates/a.j2": "A",
        },
    )
    found = load_workflow(file)
    assert [found.templates.get(spec.template) for spec in found.files] == ["A", "B {{ run }}", None]
    assert (found.files[2].each, found.files[2].source) == ("tasks", "output.full")


def test_templates_that_only_others_include_are_kept_too(tmp_path: Path) -> None:
    text = "name: w\nphases: [{id: a}]\nfiles: [{path: a.md, template: a.j2}]"
    parts = {"templates/a.j2": "{% include 'part.j2' %}", "templates/part.j2": "P", "templates/logo.png": "no text"}
    found = load_workflow(write(tmp_path, {"workflow.yaml": text, **parts}))
    assert found.templates == {"a.j2": "{% include 'part.j2' %}", "part.j2": "P"}


def test_recordings_are_parsed_and_kept_with_the_workflow(tmp_path: Path) -> None:
    file = write(
        tmp_path,
        {
            "workflow.yaml": "name: w\nagents: {a: {recorded: true}, b: {recorded: talk}}\nphases: [{id: x}]",
            "recorded/a.yaml": "- {output: hi}",
            "recorded/talk.yaml": "rounds: [1, 2]",
        },
    )
    found = load_workflow(file)
    assert found.recordings == {"a": [{"output": "hi"}], "talk": {"rounds": [1, 2]}}
    assert [(agent.kind, agent.recorded) for agent in found.agents.values()] == [
        ("recorded", "a"),
        ("recorded", "talk"),
    ]


def test_a_mistake_in_another_file_names_that_file(tmp_path: Path) -> None:
    file = write(
        tmp_path,
        {
            "workflow.yaml": "name: w\nagents: {a: {recorded: true}, b: {}}\nphases: [{id: x, agents: [a, b]}]",
            "recorded/a.yaml": "a: 1\na: 2\n",
            "prompts/b.md": "fine\n{{ broken\n",
        },
    )
    places = [(problem.file, problem.line) for problem in refusal(file).problems]
    assert places == [("prompts/b.md", 2), ("recorded/a.yaml", 2)]


def test_a_contract_may_be_a_file(tmp_path: Path) -> None:
    file = write(
        tmp_path,
        {
            "workflow.yaml": "name: w\nagents: {a: {contract: schemas/a.json}}\nphases: [{id: x, agents: a}]",
            "schemas/a.json": '{"type": "object"}',
        },
    )
    assert load_workflow(file).agents["a"].schema == {"type": "object"}


def test_a_missing_prompt_names_the_nearest_file(tmp_path: Path) -> None:
    text = "name: w\nagents: {a: {prompt: prompts/wirter.md}}\nphases: [{id: x, agents: a}]"
    (problem,) = refusal(write(tmp_path, {"workflow.yaml": text, "prompts/writer.md": "x"})).problems
    assert problem.hint == "did you mean 'prompts/writer.md'?"
    assert problem.line == 2


def test_a_link_that_leaves_the_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "secret.md").write_text("secret")
    inside = tmp_path / "inside"
    text = "name: w\nagents: {a: {}, b: {prompt: sub/secret.md}}\nphases: [{id: x, agents: a}]"
    file = write(inside, {"workflow.yaml": text, "prompts/.keep": ""})
    (inside / "prompts" / "a.md").symlink_to(tmp_path / "secret.md")
    (inside / "sub").symlink_to(tmp_path)
    messages = [problem.message for problem in refusal(file).problems]
    assert len(messages) == 2
    assert all("leaves the workflow's folder" in message for message in messages)


def test_a_link_inside_the_folder_is_followed(tmp_path: Path) -> None:
    text = "name: w\nagents: {a: {}}\nphases: [{id: x, agents: a}]"
    file = write(tmp_path, {"workflow.yaml": text, "prompts/real.md": "Hello"})
    (tmp_path / "prompts" / "a.md").symlink_to("real.md")
    assert load_workflow(file).agents["a"].prompt == "Hello"


def test_files_that_are_no_small_text_are_refused_not_read(tmp_path: Path) -> None:
    text = "name: w\nagents: {a: {}, b: {}, c: {}, d: {}, e: {}}\nphases: [{id: x, agents: a}]"
    file = write(tmp_path, {"workflow.yaml": text, "prompts/a.md": "x" * (MAX_BYTES + 1)})
    (tmp_path / "prompts" / "b.md").write_bytes(b"\xff\xfe\xff")
    (tmp_path / "prompts" / "c.md").mkdir()
    os.mkfifo(tmp_path / "prompts" / "d.md")
    (tmp_path / "prompts" / "e.md").symlink_to("e.md")
    assert len(refusal(file).problems) == 5


@pytest.mark.parametrize("name", ["nothing.yaml", "folder", "fifo", "binary", "huge"])
def test_a_workflow_that_cannot_be_read_says_so(tmp_path: Path, name: str) -> None:
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "binary").write_bytes(b"\xff\x00")
    (tmp_path / "huge").write_bytes(b"#" * (MAX_BYTES + 1))
    error = refusal(tmp_path / name)
    assert "cannot be read" in error.message
    assert error.hint or error.problems[0].hint


def test_resources_may_be_given_as_a_mapping() -> None:
    found = parse_workflow("name: w\nagents: {a: {}}\nphases: [{id: x, agents: a}]", resources={"prompts/a.md": "Hi"})
    assert found.agents["a"].prompt == "Hi"
