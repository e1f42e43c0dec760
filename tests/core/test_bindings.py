"""Bindings: who carries an agent out. Which agents are meant, what stays, what counts before what, and for how long."""

from __future__ import annotations

import pytest

from reconvene.core.definition.bindings import Binding, carried_out, either, expanded, fitting, runs
from reconvene.core.facts import commands as c
from reconvene.core.facts.evolve import fold
from reconvene.core.run.plan import RunTask
from reconvene.core.shown.settled_agents import settled_agent
from reconvene.errors import Refused
from reconvene.prompts.context import Shown, shown
from reconvene.testing.play import Play
from reconvene.wire.workflow_file import parse_workflow

TEAM = """
name: team
settings: {tool: {default: ""}}
agents:
  writer: {prompt: "Write.", gate: {min_chars: 3}, retries: 0}
  reviewer:
    model: anthropic:claude
    options: {temperature: 0.2, anthropic_thinking: {type: enabled}, base_url: "http://one.example"}
    retries: 0
  coder: {command: "{{ settings.tool }}", model: auto, retries: 0}
  tester: {command: [pytest, -q], retries: 0}
groups: {authors: [writer, reviewer]}
phases: [{id: p, agents: [writer, reviewer, coder, tester]}]
"""


def play() -> Play:
    return Play(parse_workflow(TEAM), {}, {"tool": ""})


def bound(game: Play, *bindings: Binding) -> dict[str, str]:
    """Who carries whom out, after these."""
    game.do(c.BindAgents(bindings, by="ann", door="test"))
    return carriers(game)


def carriers(game: Play) -> dict[str, str]:
    agents = [settled_agent(game.state, game.book, name) for name in game.workflow.agents]
    return {one.name: one.model if one.kind == "model" else " ".join(one.command) or one.python for one in agents}


def view(game: Play, agent: str) -> Shown:
    effect = next(one for one in game.effects() if isinstance(one, RunTask) and one.agent == agent)
    return shown(game.state, game.book, effect.task)


AS_WRITTEN = {"writer": "auto", "reviewer": "anthropic:claude", "coder": "auto", "tester": "pytest -q"}


def test_a_model_for_everyone_is_for_agents_of_a_model_only() -> None:
    game = play()
    assert carriers(game) == AS_WRITTEN
    everyone = dict.fromkeys(("writer", "reviewer", "coder"), "ollama:qwen3")
    assert bound(game, Binding(model="ollama:qwen3")) == AS_WRITTEN | everyone


def test_what_is_said_of_one_agent_counts_before_its_group_and_everyone_in_any_order() -> None:
    said = (
        Binding("reviewer", model="google:gemini"),
        Binding("authors", command=("claude", "-p")),
        Binding(model="ollama:qwen3"),
    )
    want = {"writer": "claude -p", "reviewer": "google:gemini", "coder": "ollama:qwen3", "tester": "pytest -q"}
    assert bound(play(), *said) == bound(play(), *reversed(said)) == want


def test_a_binding_holds_until_it_is_changed_and_a_model_for_everyone_replaces_every_model() -> None:
    game = play()
    bound(game, Binding("tester", model="openai:a"), Binding("writer", command=("cat",)))
    after = bound(game, Binding(model="ollama:b"))
    assert after == {"writer": "cat", "reviewer": "ollama:b", "coder": "ollama:b", "tester": "ollama:b"}
    assert fold(game.log) == game.state


def test_a_default_fills_in_only_what_the_workflow_leaves_open() -> None:
    after = bound(play(), Binding(model="ollama:b", fallback=True))
    assert after == AS_WRITTEN | {"writer": "ollama:b", "coder": "ollama:b"}


def test_the_same_binding_again_is_no_event() -> None:
    game = play()
    assert game.do(c.BindAgents((Binding(model="ollama:b"),)))
    assert game.do(c.BindAgents((Binding(model="ollama:b"),))) == []


def test_prompt_and_gates_stay_and_options_of_another_provider_go() -> None:
    game = play()
    bound(game, Binding("writer", command=("cat",)), Binding("reviewer", model="openai:gpt"))
    assert "\nWrite.\n" in view(game, "writer").prompt
    assert view(game, "writer").agent.gates == game.workflow.agents["writer"].gates != ()
    assert view(game, "reviewer").agent.options == {"temperature": 0.2}
    bound(game, Binding("reviewer", model="anthropic:other"))
    assert view(game, "reviewer").agent.options == game.workflow.agents["reviewer"].options


@pytest.mark.parametrize(
    ("binding", "words"),
    [
        (Binding("revewer", model="a:b"), "team has no agent or group 'revewer'"),
        (Binding("looker", model="a:b"), "looker cannot be bound to a:b: it looks through the project by itself"),
        (Binding("player", command=("cat",)), "player cannot be bound to cat: it answers from a recording"),
    ],
)
def test_who_cannot_be_bound_is_said(binding: Binding, words: str) -> None:
    others = "inputs: {project: {type: project}}\nagents:\n  player: {recorded: r}\n  looker: {survey: project}\n"
    text = TEAM.replace("agents:\n", others, 1)
    workflow = parse_workflow(text, resources={"recorded/r.yaml": "{}"})
    with pytest.raises(Refused, match=words) as refused:
        expanded(workflow, [binding])
    assert fitting(workflow, [binding]) == ()
    if binding.agent == "revewer":
        assert refused.value.hint == (
            "did you mean reviewer? agents: player, looker, writer, reviewer, coder, tester; groups: authors"
        )


def test_a_model_for_everyone_where_nobody_is_a_models_is_refused() -> None:
    game = play()
    with pytest.raises(Refused, match="no agent is carried out by a model here; bound to something else: writer"):
        bound(
            game,
            Binding("authors", command=("cat",)),
            Binding("coder", command=("cat",)),
            Binding(model="ollama:b"),
        )
    commands = parse_workflow("{name: n, agents: {a: {command: [cat]}}, phases: [{id: p, agents: [a]}]}")
    with pytest.raises(Refused, match=r"no agent of n is carried out by a model: a \(command\)"):
        expanded(commands, [Binding(model="ollama:b")])


@pytest.mark.parametrize(
    ("text", "want"),
    [
        ("codex exec -", Binding("a", command=("codex", "exec", "-"))),
        ("claude -p 'two words'", Binding("a", command=("claude", "-p", "two words"))),
        ("cat | tee x", Binding("a", command=("sh", "-c", "cat | tee x"))),
        ("KEY=1 claude -p", Binding("a", command=("sh", "-c", "KEY=1 claude -p"))),
        ("python:pkg.mod:Agent.run", Binding("a", python="pkg.mod:Agent.run")),
    ],
)
def test_what_runs_an_agent_is_a_command_line_or_a_function(text: str, want: Binding) -> None:
    assert runs(text, "a") == either(text, "a") == want
    assert runs(want.who, "a") == want


def test_a_model_is_told_from_a_command() -> None:
    assert either(" ollama:qwen3:8b ", "a") == Binding("a", model="ollama:qwen3:8b")
    assert either("auto", "a").model == "auto"
    assert either("claude", "a").command == ("claude",)


@pytest.mark.parametrize("text", ["", "claude 'x", "python:no function"])
def test_what_cannot_be_run_is_refused(text: str) -> None:
    with pytest.raises(Refused):
        runs(text, "a")


def test_an_agent_without_a_binding_is_as_the_workflow_says() -> None:
    agent = parse_workflow(TEAM).agents["reviewer"]
    assert carried_out(agent, {}) is agent


# --- where an agent failed ---


def stuck() -> Play:
    game = play()
    bound(game, Binding("coder", command=("cat",)))
    for agent in game.working():
        game.fail(agent, retryable=False)
    return game


def test_at_the_attention_stop_another_model_is_bound_and_tried() -> None:
    game = stuck()
    game.decide("Try again with another model", fields={"model": "ollama:qwen3"})
    assert set(carriers(game).values()) == {"ollama:qwen3"}
    assert len(game.working()) == 4
    assert game.state.record.bindings["writer"].by == "ann"


def test_there_a_binding_that_was_just_made_will_do_and_an_older_one_will_not() -> None:
    game = stuck()
    with pytest.raises(Refused, match="needs the other model"):
        game.decide("Try again with another model")
    bound(game, Binding("writer", model="ollama:qwen3"))
    game.decide("Try again with another model")
    assert carriers(game)["writer"] == "ollama:qwen3"
    assert len(game.working()) == 4
