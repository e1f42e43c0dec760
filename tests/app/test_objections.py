"""What speaks against an option: who objects, in their own words, and never an id alone."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from reconvene.app import measures, outlook, queries
from reconvene.app.views.checkpoint_model import Option
from reconvene.core.facts import commands as c
from reconvene.testing.scripted import ScriptedAgents
from reconvene.wire.workflow_file import parse_workflow
from reconvene.wiring import open_engine

FLOW = """
name: flow
agents:
  finance: {command: x}
  market: {command: x}
  third: {command: x, remit: REMIT}
  moderator: {command: x}
phases:
  - id: assess
    rounds: {max: 4}
    steps:
      - {agents: [finance, market, third], output: views}
      - {agents: [moderator], output: synthesis}
    checkpoint:
      question: Good?
      options:
        - {label: Accept, then: continue}
        - {label: Again, then: again}
        - {label: Reject, then: {end: rejected}}
"""
GO = "Buy both ships.\n\nThey pay for themselves."


def options(home: Path, third: str, remit: str, *said: str) -> dict[str, Option]:
    agents = ScriptedAgents({"third": third}, default=GO)
    engine = open_engine(home, runner=agents)
    run = engine.start(parse_workflow(FLOW.replace("REMIT", remit)), by="ann")
    engine.drive_sync(run)
    for words in said:
        engine.submit(run, c.AddRemark(c.RemarkIn(words, "correction"), "ann"))
    point = queries.standing(engine, run).checkpoint
    assert point is not None
    found = outlook.with_outlook(engine, run, point, measures.review(engine, run))
    asyncio.run(engine.close())
    return {one.label: one for one in found.options}


@pytest.mark.parametrize(
    ("third", "remit", "words"),
    [
        ("One weak season breaks it.\n\nMore.", "the sceptic", "One weak season breaks it."),
        ("The winter is long.", "what would make the others wrong", "The winter is long."),
        ("Do not buy: the harbour freezes.", "operations", "Do not buy: the harbour freezes."),
        ("The steel is dear. I strongly object to the bow.", "steel", "I strongly object to the bow."),
        ("Fine by me.\n\n## Objections\n\n- The harbour freezes in March.", "crews", "The harbour freezes in March."),
    ],
)
def test_who_objects_is_named_with_their_words(tmp_path: Path, third: str, remit: str, words: str) -> None:
    found = options(tmp_path / "home", third, remit)["Accept"]
    assert found.against == "third objects"
    assert found.against_words == words


@pytest.mark.parametrize(
    "third",
    ["I have no objection.", "Nothing speaks against it.", "My objections are resolved.", "None.", "I do not object."],
)
def test_who_has_no_objection_is_not_said_to_have_one(tmp_path: Path, third: str) -> None:
    assert options(tmp_path / "home", third, "the sceptic")["Accept"].against == ""


def test_an_agent_that_agrees_is_no_reason_against(tmp_path: Path) -> None:
    assert options(tmp_path / "home", GO, "crews")["Accept"].against == ""


def test_what_was_said_is_the_reason_and_not_its_number(tmp_path: Path) -> None:
    found = options(tmp_path / "home", GO, "crews", "Debt is £150M, not £100M")
    assert found["Accept"].against == "nobody has looked again since ann said"
    assert found["Accept"].against_words == "Debt is £150M, not £100M"
    assert found["Reject"].against.startswith("the work so far stops here")
    assert "FB-" not in f"{found}"
