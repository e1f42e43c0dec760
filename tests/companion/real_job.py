"""The job workflow as people start it, driven by a model at a loopback server that really uses its tools: what the
companion is asked about. One run waits for the review of its plan, one for that of its result, one was aborted."""

from __future__ import annotations

import asyncio
import json
import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import NamedTuple

import pytest
from msgspec import to_builtins

from commands import Done, call
from reconvene import materials
from reconvene.app.engine import Engine
from reconvene.core.definition.bindings import Binding
from reconvene.core.facts.commands import Abort, AnswerCheckpoint, RemarkIn
from reconvene.core.facts.events import AnyEvent
from reconvene.testing.openai_server import Calls, OpenAIServer, Reply, Say, Seen
from reconvene.wire.packaged import packaged
from reconvene.wire.workflow_file import load_workflow
from reconvene.wiring import open_engine

MODEL = "openai:gpt-4o-mini"
CONTRACTS = """\
# Contracts

## Section 1: Parties

The buyer is Northwind, the seller is Tailspin.

## Section 2: Prices

All prices are of 2024, in euros.

## Section 3: Returns

Goods may be returned within thirty days.
"""
PLAN = """\
# Plan

## Method

Take the figures from the database and not from the contracts: the contracts are older. The trade-off is that prices
agreed upon by word of mouth are missed.

## Phases

### Phase 1: Load

Load the figures and sum them up.

### Phase 2: Compare and report

Compare the sums with the contracts, then write the report.

## Data validation

Every amount must be a positive number; rows that are not are listed apart.

## Success criteria

The report names the total.
"""
WORKSPACE = """\
# Workspace

## Task

Report on the figures.

## Context

The total is 100. Section 3 of the contracts is left out: returns have no figures.

### Methodology

Sums are made by SQL, and checked by hand.

## Constraints

None are known.
"""
TODOS = "- {id: load, text: Load the figures}\n- {id: report, text: Write the report, after: [load]}\n"
REPORT = """\
# Report

The figures were summed up.

## Key findings

- The total is 100 euros.
- No amount is negative.
"""


def _call(tool: str, **arguments: object) -> tuple[str, str]:
    return tool, json.dumps(arguments)


def model(seen: Seen) -> Reply:
    """Plans, works, and says when it is done."""
    messages = seen.body["messages"]
    assert isinstance(messages, list)
    turn, text = sum(message["role"] == "assistant" for message in messages), json.dumps(messages)
    if "You carry out one to-do" in text:
        done = "load" if "The to-do `load`" in text else "report"
        if turn:
            return Say(f"{done} is done.")
        if done == "load":
            return Calls((_call("write_file", path="figures.md", text="# Figures\n\n40 and 60.\n"),))
        return Calls(
            (_call("write_file", path="report.md", text=REPORT), _call("run_command", command="echo done > done.log"))
        )
    if "Plan the job that is described" in text or "The person has read your plan" in text:
        if turn == 0:
            asked = _call("query_source", source="figures.db", query="select sum(amount) as total from figures")
            return Calls((_call("read_document", name="contracts.md"), asked))
        if turn == 1:
            files = {"workspace.md": WORKSPACE, "plan.md": PLAN, "todos.yaml": TODOS}
            outside = _call("write_file", path="report.md", text="too early")
            return Calls((*(_call("write_file", path=path, text=data) for path, data in files.items()), outside))
        return _answer(complete=False)
    if turn == 0:
        return Calls((_call("write_file", path="workspace.md", text=f"{WORKSPACE}\nIt is done.\n"),))
    return _answer(complete=True)


def _answer(*, complete: bool) -> Say:
    said = {
        "summary": "The report is written." if complete else "The figures are to be summed up and reported.",
        "job_complete": complete,
        "deliverables": ["report.md"] if complete else [],
        "assumptions": ["The figures are complete."],
        "questions": [],
    }
    return Say(json.dumps(said), 50, 20)


class Desk(NamedTuple):
    """Runs of a home: `planned` waits for the review of its plan, `done` for that of its result, `failed` was
    aborted there."""

    folder: Path
    environment: dict[str, str]
    planned: str
    done: str
    failed: str

    def type(self, *words: str, **more: str | None) -> Done:
        return call(*words, cwd=self.folder, **{**self.environment, **more})

    def ask(self, run: str, question: str, *more: str, **environment: str | None) -> dict[str, object]:
        found = self.type("ask", run, question, "--json", *more, **environment)
        assert found.code == 0, found.err
        return found.object

    def events(self, run: str) -> list[tuple[int, AnyEvent]]:
        from reconvene.wiring import open_log

        with closing(open_log(self.folder / "home")) as log:
            return log.read(run)


@contextmanager
def desk(folder: Path) -> Iterator[Desk]:
    environment = {
        "RECONVENE_HOME": str(folder / "home"),
        "XDG_CONFIG_HOME": f"{folder}.config",
        "XDG_STATE_HOME": f"{folder}.state",
        "RECONVENE_SANDBOX": "off",
        "RECONVENE_BY": "ann",
        "OPENAI_API_KEY": "not-a-key",
    }
    (folder / "contracts.md").write_text(CONTRACTS, encoding="utf-8")
    with closing(sqlite3.connect(folder / "figures.db")) as database:
        database.execute("create table figures (amount integer)")
        database.execute("insert into figures values (40), (60)")
        database.commit()
    with pytest.MonkeyPatch.context() as patch, OpenAIServer(model) as server:
        for name, value in {**environment, "OPENAI_BASE_URL": server.url}.items():
            patch.setenv(name, value)
        engine = open_engine(folder / "home")
        jobs = _Jobs(engine, folder)
        planned = jobs.start()
        done, failed = engine.fork(planned), engine.fork(planned)
        jobs.decide(done, "Approve")
        jobs.decide(done, "Refuse", "No logs, please")
        engine.submit(failed, Abort("ann", "test", (RemarkIn("The figures are of the wrong year"),)))
        engine.log.close()
    yield Desk(folder, environment, planned, done, failed)


class _Jobs:
    def __init__(self, engine: Engine, folder: Path) -> None:
        self._engine = engine
        self._given = {
            "description": "Report on the figures",
            "documents": to_builtins(materials.documents(str(folder / "contracts.md"), os.environ)),
            "sources": [materials.source(str(folder / "figures.db"), os.environ)],
        }

    def start(self) -> str:
        run = self._engine.start(
            load_workflow(packaged()["job"]), self._given, by="ann", bindings=(Binding("", model=MODEL),)
        )
        self._drive(run)
        return run

    def decide(self, run: str, option: str, *said: str) -> None:
        remarks = tuple(RemarkIn(text) for text in said)
        self._engine.submit(run, AnswerCheckpoint("", option, remarks=remarks, by="ann", door="test"))
        self._drive(run)

    def _drive(self, run: str) -> None:
        asyncio.run(self._engine.drive(run, by="ann", door="test"))
        self._engine.commit_history(run)
