"""`reconvene talk`: the whole conversation, with every version and every question in the words it had."""

from __future__ import annotations

from pathlib import Path

import pytest

from commands import call

FLOW = """
name: ask-first
agents:
  analyst: {recorded: true, gate: {if: "output.value.list.length < 1", retry_with: Ask something.}}
phases:
  - id: questions
    title: Questions first
    rounds: {max: 9}
    agents: [analyst]
    output: questions
    checkpoint:
      question: What do you answer?
      fields: [{each: "context.questions.list", type: item, into: answers, blank: deferred}]
      options:
        - {label: Done}
        - {label: Discuss, remark: required, then: again}
"""
SAID = """
entries:
  - {agent: analyst, attempt: 1, round: 1, value: {list: []}}
  - {agent: analyst, round: 1, value: {list: [{id: where, text: "Where is it kept?"}, {id: who, text: "Who reads it?"}]}}
  - {agent: analyst, round: 2, value: {reply: Reworded., list: [{id: where, text: "On which disk?"}, {id: who, text: "Who reads it?"}]}}
"""  # noqa: E501


@pytest.fixture
def talked(tmp_path: Path) -> Path:
    (tmp_path / "recorded").mkdir()
    (tmp_path / "recorded" / "analyst.yaml").write_text(SAID)
    (tmp_path / "flow.yaml").write_text(FLOW)
    call("run", "flow.yaml", "--no-input", cwd=tmp_path)
    first = ("decide", "ask-first-1", "--option", "Discuss", "--latest", "--feedback", "Which disk?")
    call(*first, "--field", "where=in a file", cwd=tmp_path)
    return tmp_path


def test_it_tells_every_version_and_every_answer_in_order(talked: Path):
    told = call("talk", "ask-first-1", "--markdown", cwd=talked)
    assert told.code == 0, told.err
    text = told.out
    parts = [
        "## Questions first (questions)",
        "Sent back to **analyst**",
        "Ask something.",
        "presented, version 1",
        "Where is it kept?",
        "> Which disk? [FB-001]",
        "- Where is it kept? → in a file",
        "chose “Discuss”",
        "presented, version 2",
        "On which disk?",
    ]
    places = [text.index(part) for part in parts]
    assert places == sorted(places), text


def test_the_open_question_shows_both_wordings(talked: Path):
    shown = call("show", "ask-first-1", "--json", cwd=talked)
    fields = {field["id"]: field for field in shown.object["checkpoint"]["fields"]}
    assert fields["where"]["note"] == "you answered “in a file” when it was asked as “Where is it kept?”: still right?"
    assert not fields["who"].get("note")


def test_as_json_for_scripts_and_by_phase(talked: Path):
    told = call("talk", "ask-first-1", "--json", cwd=talked)
    kinds = [one["kind"] for one in told.object["talk"]]
    assert kinds == ["sent back", "presented", "said", "answered", "chose", "presented"]
    wrong = call("talk", "ask-first-1", "--phase", "nowhere", cwd=talked)
    assert wrong.code != 0
    assert "phases: questions" in wrong.err
