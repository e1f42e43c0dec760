"""A plan reviewed by line comments and by an edit, at a model with tools and at a terminal: both reach the agent."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from commands import Command, Done
from reconvene.testing.openai_server import Calls, OpenAIServer, Reply, Say, Seen
from terminals import DOWN, ENTER, Terminal, answer, ending

KNOWN = "# Task\n\nA report.\n\n# Context\n\nLittle.\n\n# Constraints\n\nNone.\n"
REST = "\n# Method\n\nBy hand.\n\n# Success criteria\n\nIt is there.\n"
PLAN = "# Phases\n\n1. Load the figures of 2023\n2. Write the report\n" + REST
EDITED = PLAN + "\nCheck it twice.\n"
REVISED = EDITED.replace("# Phases\n", "# Phases\n\nFirst words.\n").replace("of 2023", "of 2024")
TODOS = "- {id: load, text: Load the figures}\n- {id: report, text: Write the report, after: [load]}\n"


def messages(seen: Seen) -> list[dict[str, str]]:
    found = seen.body["messages"]
    assert isinstance(found, list)
    return found


def planner(seen: Seen) -> Reply:
    """Writes a plan; the second time, with the year that it was asked for. The other comment it declines."""
    text = json.dumps(messages(seen))
    again = "The person has read your plan" in text
    if not any(message["role"] == "assistant" for message in messages(seen)):
        files = {"workspace.md": KNOWN, "plan.md": REVISED if again else PLAN, "todos.yaml": TODOS}
        write = [("write_file", json.dumps({"path": path, "text": data})) for path, data in files.items()]
        return Calls(tuple(write))
    revised = "[FB-001] The year is 2024 now.\n\n[FB-002] declined: the report goes out once and is never updated."
    said = revised if again else "A short plan with two to-dos."
    return Say(
        json.dumps({"summary": said, "job_complete": False, "deliverables": [], "assumptions": [], "questions": []})
    )


@pytest.fixture
def server() -> Iterator[OpenAIServer]:
    with OpenAIServer(planner) as running:
        yield running


@pytest.fixture
def job(reconvene: Command, server: OpenAIServer, monkeypatch: pytest.MonkeyPatch) -> Done:
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    monkeypatch.setenv("OPENAI_BASE_URL", server.url)
    words = (
        "--input",
        "description=Report on the figures",
        "--model",
        "openai:gpt-4o-mini",
        "--set",
        "planning.interactive=true",
    )
    return reconvene("run", "job", *words, "--no-input")


def test_a_line_comment_and_a_direct_edit_reach_the_planner_and_the_persons_words_are_last(
    reconvene: Command, job: Done, server: OpenAIServer, tmp_path: Path
) -> None:
    assert job.code == 3, job.err
    assert reconvene("remark", "job-1", "--on", "plan.md:3", "Which year do you mean?").code == 0
    assert reconvene("remark", "job-1", "--on", "todo:report", "By when?").code == 0
    workspace = tmp_path / ".reconvene" / "runs" / "job-1"
    (workspace / "plan.md").write_text(EDITED, encoding="utf-8")
    before = len(server.requests)
    decided = reconvene("decide", "job-1", "--option", "Request changes", "--latest", "--feedback", "Be quick")
    assert decided.code == 3, decided.err

    told = messages(server.requests[before])
    prompt = next(one["content"] for one in told if "<commented-" in one["content"])
    assert "[FB-001] plan.md, line 3:\n> 1. Load the figures of 2023" in prompt
    assert "[FB-002] todos.yaml, line 2:\n> - {id: report, text: Write the report, after: [load]}" in prompt
    last = told[-1]
    assert last["role"] == "user"
    mark = last["content"].partition(">")[0].removeprefix("<person-")
    assert last["content"].startswith(f"<person-{mark}>\n## What the person said last")
    assert last["content"].endswith(f"</person-{mark}>")
    assert f"<person-{mark}>" in prompt, "it carries the mark of the prompt, which no agent can know"
    for said in ("**Comment on plan.md:** Which year do you mean?", "+Check it twice.", "Be quick"):
        assert said in last["content"]
        assert said in prompt

    # what was said stands in the agents' memory too, which goes along with every request
    memory = (workspace / "workspace.md").read_text(encoding="utf-8")
    assert memory.count("## Review Feedback") == 1
    assert "Which year do you mean? [plan.md:3]" in memory
    now = next(one["content"] for one in told if "workspace.md, as it is now" in one["content"])
    assert "## Review Feedback" in now
    assert "todos.yaml, as it is now" in messages(server.requests[before + 1])[-1]["content"]

    found = reconvene("comments", "job-1", "--json").object["comments"]
    assert isinstance(found, list)
    assert [(one["id"], one["status"], one["first"]) for one in found] == [
        ("FB-001", "applied", 5),
        ("FB-002", "declined", 2),
    ]


WORKFLOW = """\
name: planning
agents:
  planner:
    command: [sh, -c, "cat >/dev/null; printf '# Plan\\n\\n1. Load the figures\\n2. Report\\n' > plan.md; echo Planned"]
phases:
  - id: plan
    rounds: {max: 3}
    steps: [{agents: [planner], writes: [plan.md]}]
    checkpoint:
      question: Shall it be done so?
      show_files: [plan.md]
      options: [{label: Approve, then: continue}, {label: Request changes, then: again}]
"""


def test_a_person_comments_and_edits_in_their_editor_at_the_checkpoint(
    reconvene: Command, terminal: Terminal, tmp_path: Path
) -> None:
    (tmp_path / "planning.yaml").write_text(WORKFLOW, encoding="utf-8")
    script = tmp_path / "editor.sh"
    script.write_text(
        'sed -i "s/2. Report/2. Long report/; /Load the figures/a >> Which ones?" "$1"\n', encoding="utf-8"
    )
    child = terminal("run", "planning.yaml", size=(50, 120), EDITOR=f"sh {script}", RECONVENE_BY="Ada")
    answer(child, "Your decision", DOWN * 4 + ENTER)
    answer(child, "Take your changes of plan.md", "y")
    child.expect_exact("Comments that are still open:")
    child.expect_exact("FB-002 plan.md line 3")
    answer(child, "Your decision", DOWN + ENTER)
    child.expect_exact("round 2")
    child.expect_exact("Comments that are still open:")
    answer(child, "Your decision", ENTER)
    assert ending(child) == 0
    rows = reconvene("comments", "planning-1", "--json").object["comments"]
    assert isinstance(rows, list)
    assert [(row["by"], row["text"], row["quote"]) for row in rows] == [("Ada", "Which ones?", "1. Load the figures")]
