"""What one agent is shown: its read-set and nothing else, every remark, what is new since it last worked."""

from __future__ import annotations

import re

from reconvene.core.facts import commands as c
from reconvene.prompts.context import shown
from reconvene.testing.play import Play
from reconvene.wire.workflow_file import parse_workflow

WORKFLOW = """
name: reading
inputs: {spec: {type: file}}
agents: {a: {prompt: "You are A."}, b: {prompt: "You are B."}, mod: {prompt: "Sum up.", remit: "fairness"}}
phases:
  - id: p
    rounds: {plan: [isolated, convergence]}
    steps:
      - {when: "round.name === 'isolated'", agents: [a, b], reads: [inputs.spec, given.md], output: findings}
      - {when: "round.name === 'convergence'", agents: [a, b], reads: [own.full, all.summary], output: findings}
      - {agents: [mod], reads: [round.full], output: synthesis}
    checkpoint: {options: [{label: Next, then: continue}]}
  - {id: q, agents: [mod], prompt: "Now write it down."}
"""


def play() -> Play:
    return Play(parse_workflow(WORKFLOW), {"spec": "THE SPEC"})


def prompt(game: Play, agent: str) -> str:
    effect = next(effect for effect in game.effects() if effect.agent == agent)
    return shown(game.state, game.book, effect.task).prompt


def told(text: str, section: str) -> str:
    found = re.search(rf"<{section}-(\w{{12}})[^>\n]*>\n(.*?)\n</{section}-\1>", text, re.DOTALL)
    return found[2] if found else ""


def document(text: str, name: str) -> str:
    found = re.search(rf'<document-(\w{{12}}) name="{re.escape(name)}"[^>\n]*>\n(.*?)\n</document-\1>', text, re.DOTALL)
    return found[2] if found else ""


def test_isolated_agents_see_what_their_step_names_and_nothing_of_each_other():
    game = play()
    text = prompt(game, "a")
    assert told(text, "role") == "You are A."
    assert "THE SPEC" in text
    assert document(text, "given.md") == "(not produced yet)"
    game.finish("b", "secret thoughts of b")
    assert "secret" not in prompt(game, "a")


def test_convergence_shows_ones_own_full_output_and_everyones_summaries():
    game = play()
    game.finish("a", "# A\n\n## Summary\nshort a\n\n## Rest\nlong a")
    game.finish("b", "# B\n\nfirst paragraph of b\n\nlong b")
    assert "long a" in prompt(game, "mod")
    assert "long b" in prompt(game, "mod")
    game.finish("mod")
    game.decide("Next")
    text = prompt(game, "a")
    assert "long a" in text
    assert "short a" in text
    assert "first paragraph of b" in text
    assert "long b" not in text


def test_every_remark_reaches_every_later_agent_and_new_ones_are_marked():
    game = play()
    game.finish("a")
    game.finish("b")
    assert "What the person said" not in prompt(game, "mod")
    game.finish("mod")
    game.do(c.AnswerCheckpoint("", "Next", {}, (c.RemarkIn("Revenue is $900M", "correction", "a"),), by="ann"))
    text = prompt(game, "a")
    assert "### New since you last worked\n\n- [FB-001] **Correction to a:** Revenue is $900M (ann, p round 1" in text
    game.finish("a")
    game.finish("b")
    game.do(c.AddRemark(c.RemarkIn("and hurry"), by="ann"))
    text = prompt(game, "mod")
    assert "[FB-001]" in text
    assert "[FB-002]" not in text, "the read-set was fixed when the step started"
    game.finish("mod")
    game.decide("Next")
    text = prompt(game, "mod")
    assert text.index("### New since") < text.index("[FB-002]") < text.index("### Earlier") < text.index("[FB-001]")


def test_an_edit_is_a_remark_with_its_diff():
    game = play()
    game.finish("a")
    game.finish("b")
    game.finish("mod")
    diff = game.keep(b"--- a/f.md\n+++ b/f.md\n-old\n+new\n")
    game.do(c.RecordEdits((c.EditIn("f.md", game.keep(b"new"), 3, diff, "+1 -1 lines"),), by="ann"))
    game.decide("Next")
    text = prompt(game, "a")
    assert "**Edit:** Edited f.md (+1 -1 lines)" in text
    assert "\n  > +new\n" in told(text, "person")


def test_without_reads_a_step_is_shown_everything_produced_so_far():
    game = play()
    for agent in ("a", "b", "mod"):
        game.finish(agent, f"text of {agent}", files={f"{agent}.md": f"file of {agent}"})
    game.decide("Next")
    for agent in ("a", "b", "mod"):
        game.finish(agent, f"text of {agent}")
    game.decide("Next")
    text = prompt(game, "mod")
    assert told(text, "role") == "Sum up.\n\nYour remit: fairness"
    assert told(text, "task") == "Now write it down."
    assert "file of a" in text
    assert document(text, "findings.b") == "text of b"
    assert document(text, "synthesis") == "text of mod"


def test_a_missing_peer_is_named_to_those_who_read_the_round():
    game = play()
    game.fail("b", retryable=False)
    game.finish("a")
    assert "b gave no output this round" in prompt(game, "mod")


def test_a_skipped_phases_value_is_shown_as_not_produced():
    game = Play(
        parse_workflow(
            "name: n\nagents: {a: {}}\nphases: [{id: p, when: 'false', agents: [a], output: x},"
            " {id: q, agents: [a], reads: [x]}]\n"
        )
    )
    assert document(prompt(game, "a"), "x") == "(not produced: phases skipped so far: p)"


NEAR = """
name: near
agents: {a: {}, b: {}, c: {}, d: {}, e: {}, mod: {}}
phases:
  - id: p
    rounds: {plan: [alone, cluster, challenge]}
    steps:
      - {when: "round.name === 'alone'", agents: [a, b, c, d, e], reads: []}
      - {when: "round.name === 'cluster'", agents: [a, b, c, d, e], reads: [near.full]}
      - {when: "round.name === 'challenge'", agents: [a, b, c, d, e], reads: [next.full]}
      - {agents: [mod], reads: []}
"""


def test_near_shows_the_three_outputs_nearest_to_ones_own_and_next_the_one_after():
    game = Play(parse_workflow(NEAR))
    said = {
        "a": "Ferries and harbours: winter ice closes the harbour.",
        "b": "The harbour and its ferries need icebreakers.",
        "c": "Ice in the harbour delays every ferry.",
        "d": "Ferries burn diesel in the harbour.",
        "e": "Tax law and pension funds.",
    }
    for agent, text in said.items():
        game.finish(agent, text)
    game.finish("mod", "Ferries, harbour, ice, winter: all of it.")
    text = prompt(game, "a")
    assert document(text, "b.full")
    assert document(text, "c.full")
    assert document(text, "d.full")
    assert "pension" not in text
    assert "all of it" not in text, "only those who work in the step are peers"
    for agent in said:
        game.finish(agent, f"{agent} clustered")
    game.finish("mod")
    assert document(prompt(game, "a"), "b.full") == "b clustered"
    assert document(prompt(game, "e"), "a.full") == "a clustered"
