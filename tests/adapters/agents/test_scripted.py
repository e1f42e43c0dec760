"""The scripted agents that other tests rely on."""

from __future__ import annotations

import asyncio

import pytest

from reconvene.core.definition.workflow import Agent
from reconvene.errors import AgentError
from reconvene.ports import AgentRunner, Answer, Assignment
from reconvene.testing.scripted import ScriptedAgents


def assign(agent: str = "a", **rest: object) -> Assignment:
    whole = Assignment("r", f"R1/0/{agent}", 1, Agent(name=agent), "Go.", {}, (), None)
    return whole._replace(**rest)  # type: ignore[arg-type]


def ask(agents: AgentRunner, assignment: Assignment) -> Answer:
    return asyncio.run(agents.run(assignment, lambda _: None))


def test_replies_come_in_order_and_the_last_repeats() -> None:
    agents = ScriptedAgents({"a": ["one", AgentError("no"), "two"], "b": "always"})
    assert ask(agents, assign()).text == "one"
    with pytest.raises(AgentError, match="no"):
        ask(agents, assign())
    assert [ask(agents, assign()).text for _ in range(2)] == ["two", "two"]
    assert ask(agents, assign("b")).text == "always"
    assert [call.agent.name for call in agents.calls] == ["a", "a", "a", "a", "b"]
    assert len(agents.of("b")) == 1


def test_a_callable_answers_by_what_it_is_asked() -> None:
    async def later(assignment: Assignment) -> object:
        return {"text": "later", "files": {"x": assignment.prompt}}

    agents = ScriptedAgents({"a": [lambda assignment: assignment.prompt, later]})
    assert ask(agents, assign()).text == "Go."
    assert ask(agents, assign()).files == {"x": b"Go."}


def test_contracts_hold_for_scripted_agents_too() -> None:
    agents = ScriptedAgents({"a": [{"value": {"n": 1}}, {"n": "x"}, '{"n": 2}']})
    schema = {"type": "object", "properties": {"n": {"type": "number"}}}
    assert ask(agents, assign(schema=schema)).value == {"n": 1}
    with pytest.raises(AgentError, match="n should be a number"):
        ask(agents, assign(schema=schema))
    assert ask(agents, assign(schema=schema)).value == {"n": 2}


def test_an_unknown_agent_is_refused_unless_there_is_a_default() -> None:
    with pytest.raises(AgentError, match="Nothing is scripted for the agent 'z'"):
        ask(ScriptedAgents({}), assign("z"))
    assert ask(ScriptedAgents({}, default="x"), assign("z")).text == "x"
