"""One tiny call to each agent: bounded, never raising, and without the agent's gates and contract."""

from __future__ import annotations

import asyncio

from reconvene.app.trial_calls import PROMPT, SECONDS, TOKENS, Trial, try_all
from reconvene.core.definition.workflow import Agent, Gate
from reconvene.core.facts.events import Usage
from reconvene.errors import AgentError
from reconvene.ports import Answer
from reconvene.testing.scripted import Reply, ScriptedAgents


def tried(reply: Reply, agent: Agent | None = None) -> tuple[Trial, ScriptedAgents]:
    runner = ScriptedAgents({"a": reply})
    (trial,) = asyncio.run(try_all(runner, [agent or Agent("a")]))
    return trial._replace(seconds=0.0), runner


def test_an_answer_is_told_with_its_tokens_and_cost() -> None:
    usage = Usage(model="m", input_tokens=12, output_tokens=1, cost=0.002, requests=1)
    assert tried(Answer("OK", None, False, {}, (), usage, b"", b""))[0] == Trial(True, 0.0, 13, 0.002, "OK")


def test_a_failure_is_an_answer() -> None:
    assert tried(AgentError("It broke.", hint="Mend it."))[0] == Trial(False, problem="It broke.", hint="Mend it.")
    assert tried("   ")[0].problem == "it replied with nothing"


def test_who_says_more_than_it_may_answers_all_the_same() -> None:
    cut = AgentError("The reply was cut short.", outcome="length")
    assert tried(cut)[0] == Trial(True, reply=f"(more than {TOKENS} tokens)")


def test_a_call_is_bounded_and_asks_for_nothing_but_a_word() -> None:
    agent = Agent("a", schema={"type": "object"}, gates=(Gate(min_chars=500),), timeout=9000, options={"top_p": 1})
    _, runner = tried("OK", agent)
    (work,) = runner.calls
    assert (work.prompt, work.schema, work.agent.schema, work.agent.gates) == (PROMPT, None, None, ())
    assert (work.agent.timeout, work.agent.options) == (SECONDS, {"top_p": 1, "max_tokens": TOKENS})
