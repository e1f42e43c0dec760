"""A conversation on the real engine: every process may be the last. What was answered and said is there for another."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st
from support.stage import Stage

from exploring import examples
from reconvene.app import queries
from reconvene.core.facts.commands import SaveDraft
from reconvene.core.facts.events import DraftSaved

WORKFLOW = """
name: talk
agents: {b: {}}
phases:
  - id: questions
    rounds: {max: 3}
    steps: [{agents: [b], reads: [conversation], output: questions}]
    checkpoint:
      fields: [{each: "context.questions.list", type: item, into: answers, blank: deferred}]
      options:
        - {label: Done, then: continue}
        - {label: Discuss, remark: required, then: again}
  - id: approaches
    rounds: {max: 3}
    steps: [{agents: [b], reads: [conversation], output: approaches}]
    checkpoint:
      fields: [{id: pick, type: choice, options: ["x", "y"], into: approach}]
      options:
        - {label: Choose, then: continue}
        - {label: Discuss, remark: required, then: again}
        - {label: Back, then: {goto: questions}}
"""
QUESTIONS = {"value": {"list": [{"id": "q1", "text": "One?"}, {"id": "q2", "text": "Two?"}]}}
ACTIONS = st.lists(st.sampled_from(["answer", "answer", "discuss", "back", "leave", "restart"]), max_size=12)


@examples(12)
@given(actions=ACTIONS)
def test_no_answer_is_lost_whichever_process_comes_next(actions: list[str]) -> None:
    with tempfile.TemporaryDirectory() as home:
        stage = Stage(Path(home), WORKFLOW, {"b": QUESTIONS})
        stage.drive()
        notebook: dict[str, dict[str, object]] = {"questions": {}, "approaches": {}}
        said: list[str] = []
        for turn, action in enumerate([*actions, "restart"]):
            if stage.state.ended:
                break
            phase = stage.state.world.top.phase
            match action:
                case "answer":
                    fields = stage.point.fields
                    field = fields[turn % len(fields)]
                    answer = field.options[turn % 2] if field.options else f"answer {turn}"
                    stage.engine.submit(stage.run, SaveDraft(stage.point.id, {field.id: answer}, by="ann"))
                    notebook[phase][field.id] = answer
                case "discuss" if "Discuss" in stage.labels:
                    said.append(f"remark {turn}.")
                    stage.decide("Discuss", said[-1])
                    assert all(text in stage.agents.of("b")[-1].prompt for text in said)
                case "back" if "Back" in stage.labels:
                    stage.decide("Back")
                case "leave":
                    stage.decide("Done" if phase == "questions" else "Choose")
                case "restart":
                    before, talk = queries.standing(stage.engine, stage.run), queries.talk(stage.engine, stage.run)
                    stage = stage.other()
                    assert queries.standing(stage.engine, stage.run) == before
                    assert queries.talk(stage.engine, stage.run) == talk
            if not stage.state.ended:
                found = queries.standing(stage.engine, stage.run).checkpoint
                assert found is not None
                assert found.answers == notebook[stage.state.world.top.phase]
        logged = "".join(stage.engine.log.artefact(event.fields).decode() for event in stage.events(DraftSaved))
        assert all(str(answer) in logged for mine in notebook.values() for answer in mine.values())
        while not stage.state.ended:  # however it was left, it can be brought to an end
            stage.decide("Done" if stage.state.world.top.phase == "questions" else "Choose")


AGENT = """
import json, os, sys
home = sys.argv[1]
prompt = sys.stdin.read()
number = len([name for name in os.listdir(home) if name.startswith("prompt")]) + 1
with open(os.path.join(home, f"prompt{number}"), "w", encoding="utf-8") as file:
    file.write(prompt)
if "What the person says now" in prompt and not os.path.exists(os.path.join(home, "gate")):
    with open(os.path.join(home, "started"), "w") as pipe:
        pipe.write("go")
    os.read(os.open(os.path.join(home, "never"), os.O_RDONLY), 1)
print(json.dumps({"list": [{"id": "q1", "text": "One?"}, {"id": "q2", "text": "Two?"}]}))
"""


def test_a_kill_in_the_middle_of_a_discussion_loses_neither_answers_nor_words(tmp_path: Path) -> None:
    home = tmp_path / "notes"
    home.mkdir()
    for pipe in ("started", "never"):
        os.mkfifo(home / pipe)
    held = os.open(home / "never", os.O_RDWR)
    (tmp_path / "agent.py").write_text(AGENT, encoding="utf-8")
    command = json.dumps([sys.executable, str(tmp_path / "agent.py"), str(home)])
    (tmp_path / "talk.yaml").write_text(WORKFLOW.replace("{b: {}}", f"{{b: {{command: {command}}}}}"), encoding="utf-8")

    def start(*words: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-m", "reconvene.doors.cli", *words],
            cwd=tmp_path,
            env={**os.environ, "RECONVENE_BY": "ann"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    assert start("run", "talk.yaml").wait() == 3
    talking = start("decide", "talk-1", "--option", "Discuss", "--field", "q2=because", "--feedback", "why two?")
    assert (home / "started").read_text() == "go"  # opens once the agent works
    os.killpg(talking.pid, signal.SIGKILL)
    talking.communicate()
    (home / "gate").touch()
    os.write(held, b".")  # lets the agent go that outlived its engine, whenever it gets there
    assert start("resume", "talk-1").wait() == 3
    prompts = [(home / f"prompt{number}").read_text(encoding="utf-8") for number in (2, 3)]
    assert "why two?" in prompts[0]
    assert "[q2] “Two?” → because" in prompts[0]
    assert prompts[1].startswith(prompts[0].rstrip("\n")), "the same prompt, and at most why it is sent again"
    told, _ = start("show", "talk-1", "--json").communicate()
    found = json.loads(told)
    assert found["checkpoint"]["answers"] == {"q2": "because"}
    assert [row["text"] for row in found["talk"] if row["kind"] == "remark"] == ["why two?"]
    assert [row["kind"] for row in found["talk"]] == ["output", "remark", "answer", "decision", "output"]
    os.close(held)
