"""A conversation at a real pseudo-terminal: the menu of questions, discussing, going back, resuming after a kill."""

from __future__ import annotations

import json
import re
import signal
import sys
from functools import partial
from pathlib import Path

import pytest

from commands import call
from terminals import ASKING, CLEAR, DOWN, ENTER, Terminal, ending, pexpect

# What it presents follows from what it is shown, and from nothing else.
AGENT = """
import json, sys
prompt = sys.stdin.read()
talked = "## What the person says now" in prompt
if sys.argv[1] == "triage":
    print(json.dumps({"level": "straightforward" if talked else "complex", "reasoning": "so it seems"}))
elif sys.argv[1] == "questions":
    rows = [
        {"id": "store", "text": "Which persistence layer?", "options": ["SQLite", "PostgreSQL"], "other": True},
        {"id": "live", "text": "Real-time updates?"},
        {"id": "auth", "text": "Which auth model?"},
    ]
    if talked:
        rows[1] = {"id": "stale", "text": "How stale may a page be?", "replaces": "live"}
    print(json.dumps({"reply": "Other questions." if talked else "Three questions.", "list": rows}))
else:
    rows = [{"id": "a", "title": "Small", "pros": ["quick"]}, {"id": "b", "title": "Large", "recommended": True}]
    print(json.dumps({"list": rows}))
"""
WORKFLOW = """\
name: talk
agents:
  assessor: {command: [PYTHON, AGENT, triage]}
  brain: {command: [PYTHON, AGENT, questions]}
  architect: {command: [PYTHON, AGENT, approaches]}
phases:
  - id: triage
    rounds: {max: 3}
    steps: [{agents: [assessor], reads: [conversation], output: triage}]
    checkpoint:
      prompt: "{{ context.triage | present }}"
      options:
        - {label: Agree, then: continue}
        - {label: Discuss, remark: required, then: again}
  - id: questions
    rounds: {max: 2}
    steps: [{agents: [brain], reads: [conversation], output: questions}]
    checkpoint:
      prompt: "{{ context.questions.reply }}"
      fields: [{each: "context.questions.list", type: item, into: answers, blank: deferred}]
      options:
        - {label: Done, then: continue}
        - {label: Discuss, remark: required, then: again}
        - {label: Back, then: {goto: previous}}
  - id: approaches
    rounds: {max: 3}
    steps: [{agents: [architect], reads: [answers, conversation], output: approaches}]
    checkpoint:
      prompt: "{{ context.approaches | present }}"
      fields:
        - id: pick
          type: choice
          required: true
          prompt: "Which approach?"
          options: context.approaches.list
          into: approach
      options:
        - {label: Choose, then: continue}
        - {label: Discuss, remark: required, then: again}
        - {label: Back to questions, then: {goto: questions}}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    agent = tmp_path / "agent.py"
    agent.write_text(AGENT, encoding="utf-8")
    text = WORKFLOW.replace("PYTHON", json.dumps(sys.executable)).replace("AGENT", json.dumps(str(agent)))
    (tmp_path / "talk.yaml").write_text(text, encoding="utf-8")
    return tmp_path


@pytest.fixture
def terminal(terminal: Terminal) -> Terminal:
    return partial(terminal, RECONVENE_BY="ann")


def script(folder: Path, *words: str) -> str:
    """The same command without a terminal."""
    return call(*words, cwd=folder, RECONVENE_BY="ann").out


def shown(folder: Path) -> dict[str, object]:
    found = json.loads(script(folder, "show", "talk-1", "--json"))
    assert isinstance(found, dict)
    return found


def at_questions(folder: Path) -> None:
    """A run parked at its questions, without a terminal."""
    script(folder, "run", "talk.yaml")
    script(folder, "decide", "talk-1", "--option", "Agree")


def say(child: pexpect.spawn[str], word: str) -> None:
    child.expect("Your choice")
    child.send(word + ENTER)


def test_a_whole_conversation_with_discussing_going_back_and_a_break(terminal: Terminal, folder: Path) -> None:
    child = terminal("run", "talk.yaml")
    child.expect("Level: complex")
    child.expect("Your decision")
    child.send(DOWN + ENTER)
    child.expect("what do you say")
    child.send("it is simpler than that" + ENTER)
    child.expect("the talk so far")
    child.expect(r"ann \[claimed by \S+\]: it is simpler than that")
    child.expect("Level: straightforward")
    child.expect("Your decision")
    child.send(ENTER)

    child.expect(r"1\. \[unanswered\] Which persistence layer\?")
    child.expect(r"3\. \[unanswered\] Which auth model\?")
    say(child, "1")
    child.expect("Which persistence layer")
    child.send(DOWN + ENTER)
    child.expect(r"\[answered: PostgreSQL\]")
    say(child, "answer question 2")
    child.expect("Real-time updates")
    child.send("yes please" + ENTER)
    child.expect(r"\[answered: yes please\]")
    say(child, "discuss")
    child.expect("what do you say")
    child.send("staleness matters, not real time" + ENTER)
    child.expect("brain done")
    child.expect("Other questions")
    child.expect(r"\[answered: PostgreSQL\]")
    child.expect(r"\[unanswered\] How stale may a page be\?")
    child.expect("replaces “Real-time updates.”, your answer was “yes please”")
    child.expect("Your choice")
    child.sendcontrol("c")
    assert ending(child) == 3

    told = script(folder, "show", "talk-1")
    assert "ann answered: Real-time updates? → yes please" in told
    assert re.search(r"ann \[claimed by \S+\]: staleness matters, not real time \[FB-002\]", told)
    assert "[answered: PostgreSQL]" in told

    child = terminal("resume", "talk-1")
    child.expect("the talk so far")
    child.expect("brain presented: Three questions")
    child.expect(r"ann \[claimed by \S+\]: staleness matters, not real time")
    child.expect(r"\[answered: PostgreSQL\]")
    child.expect(r"Discuss \[t\]  \(not now: limit rounds\.max \(2\)")
    say(child, "t")
    child.expect("not possible any more")
    child.expect("what you can do: answer a question, Done, Back")
    say(child, "nonsense")
    child.expect("is nothing here")
    say(child, "b")
    child.expect("waiting at triage")
    child.expect("Your decision")
    child.send(ENTER)
    child.expect("waiting at questions")
    child.expect(r"\[answered: PostgreSQL\]")
    say(child, "d")

    child.expect("waiting at approaches")
    child.expect("Large")
    child.expect("recommended")
    say(child, "back to")
    child.expect("waiting at questions")
    say(child, "done")
    child.expect("waiting at approaches")
    say(child, "choose")
    child.expect("needs an answer first")
    child.expect("b: Large")
    child.send(ENTER)  # what is recommended stands first
    child.expect("completed")
    assert ending(child) == 0
    context = shown(folder)["context"]
    assert isinstance(context, dict)
    assert context["answers"] == {"store": "PostgreSQL", "stale": "deferred", "auth": "deferred"}
    assert context["approach"] == "b"


def test_answers_survive_a_kill_in_the_middle_of_the_menu(terminal: Terminal, folder: Path) -> None:
    at_questions(folder)
    child = terminal("resume", "talk-1")
    say(child, "3")
    child.expect("Which auth model")
    child.send("tokens" + ENTER)
    child.expect(r"\[answered: tokens\]")
    child.expect("Your choice")
    child.send("1")  # typed, not entered
    child.kill(signal.SIGKILL)
    child.expect(pexpect.EOF)
    child.close()
    child = terminal("resume", "talk-1")
    child.expect(r"1\. \[unanswered\]")
    child.expect(r"3\. \[answered: tokens\]")
    say(child, "done")
    child.expect("waiting at approaches")
    child.expect("Your choice")
    child.sendcontrol("d")
    assert ending(child) == 3
    context = shown(folder)["context"]
    assert isinstance(context, dict)
    assert context["answers"] == {"store": "deferred", "live": "deferred", "auth": "tokens"}


def test_open_questions_in_turn_a_choice_in_own_words_and_an_answer_taken_back(
    terminal: Terminal, folder: Path
) -> None:
    at_questions(folder)
    child = terminal("resume", "talk-1")
    child.expect("Enter answers the 3 open ones in turn")
    say(child, "")
    child.expect("Which persistence layer")
    child.send(DOWN + DOWN + ENTER)
    child.expect("In your words")
    child.send("a text file" + ENTER)
    child.expect("Real-time updates")
    child.send(ENTER)
    child.expect("Which auth model")
    child.send("none" + ENTER)
    child.expect(r"\[answered: a text file\]")
    child.expect(r"\[unanswered\] Real-time")
    child.expect(r"\[answered: none\]")
    say(child, "auth")
    child.expect("your answer so far: none")
    child.expect(ASKING)
    child.send(CLEAR + ENTER)
    child.expect(r"3\. \[unanswered\]")
    child.expect("Your choice")
    child.sendcontrol("c")
    assert ending(child) == 3
    point = shown(folder)["checkpoint"]
    assert isinstance(point, dict)
    assert point["answers"] == {"store": "a text file"}


def test_the_menu_notices_that_somebody_else_decided(terminal: Terminal, folder: Path) -> None:
    at_questions(folder)
    child = terminal("resume", "talk-1")
    child.expect("Your choice")
    script(folder, "decide", "talk-1", "--latest", "--option", "Done", "--field", "auth=tokens", "--no-drive")
    child.send("2" + ENTER)
    child.expect("Real-time updates")
    child.send("late" + ENTER)
    child.expect("not open any more")
    child.expect("waiting at approaches")
    child.expect("Your choice")
    child.sendcontrol("c")
    assert ending(child) == 3


def test_in_trouble_everything_that_was_said_is_told(terminal: Terminal, folder: Path) -> None:
    at_questions(folder)
    (folder / "agent.py").write_text("raise SystemExit('no idea')\n", encoding="utf-8")
    script(
        folder,
        "decide",
        "talk-1",
        "--latest",
        "--option",
        "Discuss",
        "--field",
        "store=SQLite",
        "--feedback",
        "Why live?",
    )
    child = terminal("resume", "talk-1")
    child.expect("the talk so far")
    child.expect("This needs you before the run can go on")
    assert "ann answered: Which persistence layer? → SQLite" in child.before
    assert re.search(r"ann \[claimed by \S+\]: Why live\? \[FB-001\]", child.before)
    child.expect("Your decision")
    child.send(DOWN + ENTER)  # go on without it
    child.expect("what do you say")
    child.send(ENTER)
    child.expect("answered: SQLite")
    child.expect("Your choice")
    child.send("\x03")
    assert ending(child) == 3
