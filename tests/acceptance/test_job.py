"""A job from its documents to its result, each step in a process of its own, with a model that really drives tools."""

from __future__ import annotations

import json
import sqlite3
import subprocess
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from commands import Done
from forks import Forks
from reconvene.testing.openai_server import Calls, OpenAIServer, Reply, Say, Seen

PLAN = """# Plan

## Phases

1. Load the figures
2. Write the report

## Method

Ask the table, then write.

## Success criteria

The report names the total.
"""
WORKSPACE = """# Workspace

## Task

Report on the figures.

## Context

The total is 100 (figures.db, table figures).

## Constraints

None are known.
"""
TO_DO = ("load", "report")
TODOS = "- {id: load, text: Load the figures}\n- {id: report, text: Write the report, after: [load]}\n"


def call(tool: str, **arguments: object) -> tuple[str, str]:
    return tool, json.dumps(arguments)


def answer(*, complete: bool) -> Say:
    return Say(
        json.dumps(
            {
                "summary": "The figures are loaded and a short report is written.",
                "job_complete": complete,
                "deliverables": ["report.md"] if complete else [],
                "assumptions": ["The figures are complete."],
                "questions": [] if complete else [{"id": "currency", "text": "Which currency?"}],
            }
        )
    )


def model(seen: Seen) -> Reply:
    """Looks at the material, plans, works, and says when it is done."""
    messages = seen.body["messages"]
    assert isinstance(messages, list)
    turn, text = sum(message["role"] == "assistant" for message in messages), json.dumps(messages)
    if "You carry out one to-do" in text:
        done = "load" if "The to-do `load`" in text else "report"
        if turn:
            return Say(f"{done} is done.")
        written = call("write_file", path=f"{done}.md", text=f"# {done}\n\n{'100 €' if 'euros' in text else '100 $'}\n")
        return Calls((written, call("run_command", command=f"echo {done} > {done}.log")))
    if any(said in text for said in ("Plan the job that is", "The person has read your plan", "wants it planned anew")):
        if turn == 0:
            return Calls((call("list_documents"), call("describe_source", source="figures.db")))
        if turn == 1:
            asked = call("query_source", source="figures.db", query="select sum(amount) as total from figures")
            return Calls((call("read_document", name="notes.md"), asked))
        if turn == 2:
            outside = (
                call("write_file", path="report.md", text="early"),
                call("write_file", path="../x", text="out"),
                call("run_command", command="echo changed > plan.md; echo early > report.md; echo over"),
            )
            todos = TODOS + "# once more\n" * ("wants it planned anew" in text)
            files = {"workspace.md": WORKSPACE, "plan.md": PLAN, "todos.yaml": todos}
            return Calls((*(call("write_file", path=path, text=data) for path, data in files.items()), *outside))
        return answer(complete=False)
    if turn == 0:
        return Calls((call("write_file", path="workspace.md", text=WORKSPACE + "\nIt is done.\n"),))
    return answer(complete=True)


@pytest.fixture
def server() -> Iterator[OpenAIServer]:
    with OpenAIServer(model) as running:
        yield running


class Desk:
    """A folder with material, and commands that are processes of their own."""

    def __init__(self, folder: Path, server: OpenAIServer, forks: Forks) -> None:
        self.folder, self.server = folder, server
        self._forks = forks
        self._environment = {"OPENAI_API_KEY": "none", "OPENAI_BASE_URL": server.url}
        (folder / "notes.md").write_text("# Notes\n\nAll figures are of 2024.\n", encoding="utf-8")
        with closing(sqlite3.connect(folder / "figures.db")) as database:
            database.execute("create table figures (amount integer)")
            database.execute("insert into figures values (40), (60)")
            database.commit()

    def type(self, *words: str) -> Done:
        return self._forks.command(*words, cwd=self.folder, **self._environment)

    def workspace(self, name: str) -> Path:
        return self.folder / ".reconvene" / "runs" / "job-1" / name

    def calls(self) -> list[dict[str, str]]:
        found: list[dict[str, str]] = json.loads(self.type("calls", "job-1", "--json").out)["calls"]
        return found

    def git(self, *words: str) -> str:
        history = str(self.folder / ".reconvene" / "history.git")
        done = subprocess.run(["git", "--git-dir", history, *words], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def decide(self, option: str, *more: str) -> Done:
        return self.type("decide", "job-1", "--option", option, "--latest", *more)


@pytest.fixture
def desk(tmp_path: Path, server: OpenAIServer, forks: Forks) -> Desk:
    return Desk(tmp_path, server, forks)


_JOB = "job"
START = (
    "run",
    _JOB,
    "--input",
    "description=Report on the figures",
    "--model",
    "openai:gpt-4o-mini",
    "--no-input",
)


def test_a_job_is_planned_reviewed_carried_out_corrected_and_finished(desk: Desk) -> None:
    parked = desk.type(*START, "--doc", "notes.md", "--datasource", "figures.db")
    assert parked.code == 3, parked.err
    assert "Shall it be done so?" in parked.out
    assert json.loads(desk.type("show", "job-1", "--json").out)["checkpoint"]["status"] == "pending_review"
    calls = desk.calls()
    assert [(one["tool"], one["state"]) for one in calls[-3:-1]] == [("write_file", "failed")] * 2
    shell = calls[-1]["result"]  # where nothing can hold it to reading, there is none
    assert any(said in shell for said in ("Read-only", "Permission denied", "no tool 'run_command'")), shell
    assert not calls[-1]["files"]
    assert desk.workspace("plan.md").read_text(encoding="utf-8") == PLAN
    pages = [one.stem for one in desk.workspace("tools").glob("*.md")]
    assert {"query_source", "read_document", "run_command", "write_file"} <= set(pages)
    assert "100" in next(one["result"] for one in calls if one["tool"] == "query_source")
    assert "of 2024" in next(one["result"] for one in calls if one["tool"] == "read_document")
    assert not desk.workspace("report.md").exists()

    # feedback by a comment on lines, by an edit of the file itself and in words: all of it reaches the planner, as a
    # message and in its memory
    line = PLAN.splitlines().index("Ask the table, then write.") + 1
    said = desk.type("remark", "job-1", "--on", f"plan.md:{line}", "Which table? There are two.")
    assert said.code == 0, said.err
    desk.workspace("plan.md").write_text(PLAN + "3. Check it twice\n", encoding="utf-8")
    before = len(desk.server.requests)
    again = desk.decide("Request changes", "--feedback", "Use euros throughout")
    assert again.code == 3, again.err
    assert "Shall it be done so?" in again.out
    first = desk.server.requests[before].prompt
    assert "+3. Check it twice" in first
    assert "Use euros throughout" in first
    comment = first[first.index("Which table? There are two.") :]
    assert "Ask the table, then write." in comment[:400], "with the lines that it is about"
    memory = desk.workspace("workspace.md").read_text(encoding="utf-8")
    assert memory.count("## Review Feedback") == 1
    assert "Use euros throughout" in memory
    assert f"Which table? There are two. [plan.md:{line}]" in memory
    (listed,) = json.loads(desk.type("comments", "job-1", "--json").out)["comments"]
    assert (listed["status"], listed["lines"], listed["first"]) == ("open", f"plan.md:{line}", line)

    waits = desk.decide("Approve with notes", "--feedback", "Keep it short", "--field", "currency=EUR")
    assert waits.code == 3
    assert "Shall this call be made?" in waits.out
    assert "echo load > load.log" in waits.out
    assert desk.decide("Approve", "--by", "bob").code == 3  # another process; then the next to-do asks
    assert desk.workspace("load.log").read_text(encoding="utf-8") == "load\n"
    assert "currency: EUR" in desk.workspace("workspace.md").read_text(encoding="utf-8")
    reviewed = desk.decide("Approve", "--by", "eve")
    assert reviewed.code == 3, reviewed.err
    assert "Is this what you wanted?" in reviewed.out
    asked = [one for one in desk.calls() if one["ruling"]]
    assert [(one["tool"], one["ruling"], one["by"]) for one in asked] == [
        ("run_command", "approve", "bob"),
        ("run_command", "approve", "eve"),
    ]
    assert desk.workspace("report.md").read_text(encoding="utf-8") == "# report\n\n100 €\n"
    assert desk.workspace("todos/phase_01.yaml").read_text(encoding="utf-8").count("done: true") == 2

    # a correction of the result goes back to planning, without a further freeze
    before = len(desk.server.requests)
    again = desk.decide("Correct", "--feedback", "Name the year")
    assert again.code == 3, again.err
    assert "Name the year" in desk.server.requests[before].prompt
    assert "Is this what you wanted?" in again.out
    assert "Name the year" in desk.workspace("workspace.md").read_text(encoding="utf-8")
    assert desk.decide("Accept").code == 0

    # it has ended, is taken up again, planned anew, and ends for good
    taken_up = desk.type("reopen", "job-1", "--feedback", "One thing more")
    assert taken_up.code == 3, taken_up.err
    assert "Is this what you wanted?" in taken_up.out
    planned = desk.type("replan", "job-1", "Count it in thousands")
    assert planned.code == 3, planned.err
    assert "Shall it be done so?" in planned.out
    told = desk.server.requests[-1].prompt
    assert "Count it in thousands" in told
    assert "One thing more" in told
    assert desk.workspace("report.md").exists()
    assert "echo load > load.log" in desk.decide("Approve").out

    # planned anew while a call waits: the call is given up, and said to be
    assert desk.calls()[-1]["state"] == "waits"
    assert "Shall it be done so?" in desk.type("replan", "job-1", "In millions").out
    assert [one["tool"] for one in desk.calls() if one["state"] == "given up"] == ["run_command"]
    assert not [one for one in desk.calls() if one["state"] == "waits"]
    assert "echo load > load.log" in desk.decide("Approve").out
    assert "echo report > report.log" in desk.decide("Refuse", "--feedback", "no logs").out
    assert "Is this what you wanted?" in desk.decide("Refuse", "--feedback", "no logs").out
    ended = desk.decide("Accept")
    assert ended.code == 0, ended.err

    assert desk.type("verify", "job-1").code == 0
    assert desk.git("fsck", "--strict") == ""
    refs = desk.git("for-each-ref", "--format=%(refname:lstrip=3)", "refs/reconvene/job-1").split()
    items = [name for name in refs if name.startswith("items/")]
    assert items == [f"items/{scope}/{name}" for scope in ("work-1.tactics-1", "work-3.tactics-2") for name in TO_DO]
    assert "phases/work-1.strategy-1" in refs
    # the review that was corrected, and the work that was given up at a call
    assert {"phases/result-1", "phases/work-3.tactics-1"} <= set(refs)
    assert "# report" in desk.git("show", "refs/reconvene/job-1/phases/result-1:report.md")
    report = desk.git("show", "refs/reconvene/job-1/items/work-1.tactics-1/report:report.md")
    assert report == "# report\n\n100 €\n"


def test_a_job_with_nothing_to_look_at_runs_without_a_review(desk: Desk) -> None:
    started = desk.type(*START)
    assert started.code == 3
    assert "Shall this call be made?" in started.out


@pytest.mark.torture
def test_a_list_of_to_dos_that_a_person_broke_is_theirs_to_mend(desk: Desk) -> None:
    desk.type(*START, "--doc", "notes.md", "--datasource", "figures.db")
    desk.workspace("todos.yaml").write_text("- {id: a, text: x, after: [b]}\n- {id: b, text: y, after: [a]}\n")
    stopped = desk.decide("Approve")
    assert stopped.code == 3
    assert "a, b wait for each other" in stopped.out
    desk.workspace("todos.yaml").write_text(TODOS, encoding="utf-8")
    assert "Shall this call be made?" in desk.decide("Try again").out
