"""What the first screen of a decision says is new: never "nothing", where agents wrote."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.doors.web.conftest import Parsed

from reconvene.app.since import since
from reconvene.core.facts import commands as c
from reconvene.core.facts.actors import Actor
from reconvene.testing.scripted import ScriptedAgents
from reconvene.wire.workflow_file import parse_workflow
from served_home import Ground, ground

_TWO = """
name: two
agents: {builder: {}, weigher: {}}
phases:
  - id: design
    rounds: {max: 9}
    steps: [{agents: [builder], output: built}, {agents: [weigher], output: weighed}]
    checkpoint:
      question: Shall it be built?
      fields: [{id: load, prompt: What is the load?}, {id: width, prompt: How wide?}, {id: payer, prompt: Who pays?}]
      options:
        - {label: Build, recommend: "true"}
        - {label: Again, then: again}
"""
_PAY = """
name: pay
agents: {writer: {}}
phases:
  - id: plan
    agents: [writer]
    checkpoint:
      question: Shall we pay?
      options: [{label: Approve, needs: 2}, {label: Reject, then: {end: rejected}, needs: 2}]
"""

_ABOUT = """
name: about
inputs:
  brief: {type: file}
  depth: {type: number, default: 2}
  topic: {type: text}
agents: {writer: {}}
phases:
  - id: plan
    agents: [writer]
    checkpoint:
      question: Shall it be so?
      prompt: |
        Read it.

        Shall it be so? Say what is missing.
      options: [{label: Go on}]
"""


@pytest.fixture
def made(tmp_path: Path) -> Iterator[Ground]:
    weigher = "I object: the bridge is too heavy. It must not be built so."
    agents = ScriptedAgents({"weigher": weigher}, default="The bridge stands, the river is wide.")
    with ground(tmp_path, agents) as found:
        yield found


def _page(made: Ground, run: str, name: str) -> str:
    with made.serving() as client:
        client.headers.update(made.person(name, cookie=True))
        return client.get(f"/runs/{run}/decide").text


def test_what_agents_wrote_without_files_is_new_and_an_objection_in_plain_words_is_quoted(made: Ground) -> None:
    made.workflow = parse_workflow(_TWO)
    html = _page(made, made.parked(), "ada")
    screen = Parsed(html.partition('<div class="b">')[0]).text
    assert "New to you" in screen
    assert "Nothing changed" not in screen
    assert "Wrote I object: the bridge is too heavy" in screen
    assert "Against: Weigher objects: I object: the bridge is too heavy." in screen


def test_what_it_is_about_is_what_was_typed_whole_and_the_question_stands_once(made: Ground) -> None:
    topic = "Otters of <b>this</b>\nriver, <script>alert(1)</script>\n\nMore."
    made.workflow = parse_workflow(_ABOUT)
    run = made.engine.start(made.workflow, {"brief": "# Brief\n\nhello <b>x</b>", "topic": topic}, by="Olga")
    made.drive(run)
    html = _page(made, run, "ada")
    with made.serving() as client:
        client.headers.update(made.person("ada", cookie=True))
        for page in (html, client.get(f"/runs/{run}").text):
            about = page.partition('<p class="kick">')[2].partition("</p>")[0]
            assert about == "Otters of &lt;b&gt;this&lt;/b&gt; river, &lt;script&gt;alert(1)&lt;/script&gt;"
    heading = Parsed(html.partition("<h1")[2].partition("</h1>")[0]).text
    assert heading.count("Shall it be so?") == 1, heading


def test_a_choice_that_needs_others_counts_as_having_looked(made: Ground) -> None:
    made.workflow = parse_workflow(_PAY)
    run = made.parked()
    point = made.state(run).world.open
    assert point is not None
    for name in ("ada", "bob"):
        option = "Approve" if name == "ada" else "Reject"
        actor = Actor(name, "decider", served=True)
        made.engine.submit(run, c.AnswerCheckpoint(point.id, option, by=name), actor=actor)
    found = since(made.engine, run, "bob")
    assert found.what == "you chose “Reject”"
    assert (found.decided, found.news) == ("Reject", ())
    assert [one.kind for one in since(made.engine, run, "ada").news] == ["decided"]
    assert "Since you last looked" in _page(made, run, "bob")
