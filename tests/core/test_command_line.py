"""An agent whose command the run's settings name: filled in, split into words, a model where it is empty."""

from __future__ import annotations

import pytest

from reconvene.core.definition.run_inputs import settled
from reconvene.core.definition.workflow import Agent
from reconvene.errors import UserError
from reconvene.prompts.context import shown
from reconvene.testing.play import Play
from reconvene.wire.workflow_file import parse_workflow


def agent(line: str = "{{ settings.coder }}", *, or_model: bool = False) -> Agent:
    return Agent("coder", "command", command_line=line, or_model=or_model)


def test_it_is_split_into_words_without_a_shell():
    found = settled(agent(), {"coder": "claude -p 'two words' $HOME; rm -rf x"}, {})
    assert found.kind == "command"
    assert found.command == ("claude", "-p", "two words", "$HOME;", "rm", "-rf", "x")


def test_inputs_and_further_words_may_stand_beside_it():
    assert settled(agent("{{ settings.coder }} --in {{ inputs.where }}"), {"coder": "x"}, {"where": "y"}).command == (
        "x", "--in", "y",
    )  # fmt: skip


def test_where_it_is_empty_a_model_works_if_the_workflow_says_so():
    assert settled(agent(or_model=True), {"coder": "  "}, {}).kind == "model"


@pytest.mark.parametrize(("given", "said"), [("", "has no command"), ("it's", "is no command line")])
def test_what_is_no_command_is_refused_in_words(given: str, said: str):
    with pytest.raises(UserError, match=said):
        settled(agent(), {"coder": given}, {})


CODER = """
name: coding
inputs: {project: project}
settings: {coder: {type: text, default: ""}}
agents: {coder: {command: "{{ settings.coder }}", model: auto}}
phases: [{id: code, agents: [coder], place: project}]
"""


@pytest.mark.parametrize(
    ("command", "kind", "told"), [("", "model", '<file path="folder/name">'), ("mycli", "command", "is a worktree of")]
)
def test_a_command_and_a_model_are_told_how_to_change_the_project(command: str, kind: str, told: str):
    play = Play(parse_workflow(CODER), {"project": "/p"}, {"coder": command})
    view = shown(play.state, play.book, "R1/0/coder")
    assert view.agent.kind == kind
    assert told in view.prompt
    assert view.writes == ("*",)
