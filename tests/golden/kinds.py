"""The kinds of stop at which a run may stand, what each is known by, and which of them a workflow can reach.

A golden home is called after its stop: `kind`, `kind.phase`, or `kind.phase.case` (`waiting.refine.redone`). A new kind
of stop gets its entry here; the test of the golden homes then asks for a home of it, and `make golden` makes it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple, cast

from reconvene.core.definition.workflow import End, Workflow, every_phase


class Stop(NamedTuple):
    """One home's run: its name in parts, and how it was recorded to stand."""

    kind: str
    detail: str
    row: Mapping[str, str]
    doc: Mapping[str, object]
    state: Mapping[str, object]

    @property
    def record(self) -> Mapping[str, object]:
        return cast(Mapping[str, object], self.state.get("record", {}))

    @property
    def attention(self) -> bool:
        point = self.doc["checkpoint"]
        return isinstance(point, dict) and bool(point["attention"])


class Kind(NamedTuple):
    means: str
    holds: Callable[[Stop], bool]
    reached: Callable[[Workflow], Iterable[str]]  # the stops of this kind that a workflow must have a home of


def _once(name: str) -> Callable[[Workflow], Iterable[str]]:
    return lambda workflow: [name]


def _at(stop: Stop, status: str) -> bool:
    return stop.row["status"] == status and (not stop.detail or stop.doc["phase"] == stop.detail)


def _questions(workflow: Workflow) -> list[str]:
    return [f"waiting.{phase.id}" for phase in every_phase(workflow) if phase.checkpoint is not None]


def _fails(workflow: Workflow) -> list[str]:
    """Where the workflow itself can end as failed: an option, a check or its outcome says so."""
    phases = list(every_phase(workflow))
    moves: list[object] = [rule.then for phase in phases if phase.check for rule in phase.check.rules]
    moves += [option.then for phase in phases if phase.checkpoint for option in phase.checkpoint.options]
    said = any(isinstance(move, End) and move.status == "failed" for move in moves)
    return ["failed"] if said or '"failed"' in workflow.outcome else []


def _starts(workflow: Workflow) -> list[str]:
    points = [phase.checkpoint for phase in every_phase(workflow) if phase.checkpoint]
    return ["queued"] if any(option.start for point in points for option in point.options) else []


KINDS: dict[str, Kind] = {
    "new": Kind(
        "recorded, and nobody has worked yet",
        lambda stop: stop.row["status"] == "running" and "ended" not in stop.record,
        _once("new"),
    ),
    "waiting": Kind(
        "a question of the workflow is open",
        lambda stop: _at(stop, "waiting") and not stop.attention,
        _questions,
    ),
    "attention": Kind(
        "trouble that only a person can settle",
        lambda stop: _at(stop, "waiting") and stop.attention,
        _once("attention"),
    ),
    "decided": Kind(
        "a decision is on record, and nobody has driven on",
        lambda stop: _at(stop, "running") and "decisions" in stop.record,
        _once("decided"),
    ),
    "paused": Kind("a person had it stop for a while", lambda stop: _at(stop, "paused"), _once("paused")),
    "crashed": Kind(
        "its process was killed while agents worked; files and write-ahead log as they lay",
        lambda stop: _at(stop, "running") and "ended" in stop.record,
        _once("crashed"),
    ),
    "queued": Kind("waits for its turn", lambda stop: stop.row["status"] == "queued", _starts),
    "forked": Kind("begun from another run's log", lambda stop: "-fork-" in stop.row["run"], _once("forked")),
    "completed": Kind("ended well", lambda stop: stop.row["status"] == "completed", _once("completed")),
    "failed": Kind("ended without success", lambda stop: stop.row["status"] == "failed", _fails),
    "aborted": Kind("ended by a person", lambda stop: stop.row["status"] == "aborted", _once("aborted")),
}


# Every kind of trouble; the workflow `troubles` meets them all, each in a phase of that name.
TROUBLES = ("missing", "expression", "doubt", "conflict", "check", "limit", "escalated")


def required(workflow: Workflow) -> list[str]:
    """The stops of which a packaged workflow must have a golden home."""
    return [stop for kind in KINDS.values() for stop in kind.reached(workflow)]


def missing(workflow: Workflow, stops: Iterable[str]) -> list[str]:
    """What `required` names and none of these stops is, or is a case of."""
    there = {".".join(stop.split(".")[:length]) for stop in stops for length in (1, 2, 3)}
    return [stop for stop in required(workflow) if stop not in there]


def kind_of(stop: str) -> str:
    return stop.partition(".")[0]


def check(stop: str, expected: Mapping[str, object]) -> None:
    """Whether a home is what its name says."""
    kind, detail = (*stop.split("."), "")[:2]
    runs = cast(Mapping[str, Mapping[str, object]], expected["runs"])
    run = runs[str(expected["run"])]
    row = cast(Mapping[str, str], run["row"])
    found = Stop(kind, detail, row, json.loads(row["doc"]), cast(Mapping[str, object], run["state"]))
    point = found.doc["checkpoint"]
    prompt = point.get("prompt", "") if isinstance(point, dict) else ""
    assert KINDS[kind].holds(found), f"{stop}: {row['run']} is {row['status']} at {found.doc['phase']} {prompt}"
