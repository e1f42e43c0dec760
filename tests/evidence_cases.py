"""Agents that lie, ignore, hide, or really change their text: cases in JSON, played through the engine and counted.

Each case is a round of texts, remarks on them, and the texts of the next round, with what became of each remark. The
folder is the one of the fixtures, or what EVIDENCE_CASES names. `python -m tests.evidence_cases` prints each remark
and the count.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from reconvene.app.views.ledger import Entry, ledger
from reconvene.core.facts import commands as c
from reconvene.core.facts.events import Passage
from reconvene.testing.play import Play
from reconvene.wire.workflow_file import parse_workflow

FIXTURES = Path(__file__).parent / "fixtures" / "evidence_cases"
Case = dict[str, Any]
VARIABLE = "EVIDENCE_CASES"


class Judged(NamedTuple):
    """One remark of a case. `wanted`: open, declined or closed."""

    case: str
    kind: str
    id: str
    wanted: str
    entry: Entry
    named: bool  # a passage that really changed is named as evidence

    @property
    def closed(self) -> bool:
        return not self.entry.open

    @property
    def false_closing(self) -> bool:
        """Counted as answered though nothing was; or as taken up though it was declined, or the other way round."""
        got = "declined" if self.entry.status == "declined" else "closed"
        return self.closed and got != self.wanted

    @property
    def seen(self) -> bool:
        return self.wanted == "closed" and not self.false_closing and (self.closed or self.named)


class Count(NamedTuple):
    remarks: int
    false_closings: int
    real: int  # changes
    closed: int  # of them
    seen: int  # of them: closed, or open with the changed passage named
    declined: int
    known_declined: int  # of them

    def __str__(self) -> str:
        return (
            f"{self.remarks} remarks: {self.false_closings} closed falsely; of {self.real} real changes {self.closed} "
            f"closed, {self.seen} seen; of {self.declined} declined {self.known_declined} known"
        )


def folder() -> Path:
    return Path(os.environ.get(VARIABLE) or FIXTURES)


def cases(where: Path) -> Iterator[Case]:
    for file in sorted(where.glob("*.json")):
        yield json.loads(file.read_text(encoding="utf-8"))


def play(case: Case) -> Play:
    agents = case["agents"]
    workflow = f"""
name: case
agents: {{{", ".join(f"{name}: {{}}" for name in agents)}}}
phases:
  - id: work
    rounds: {{max: 3}}
    steps:
      - {{agents: [{", ".join(agents)}], output: texts}}
    checkpoint:
      options:
        - {{label: More, then: again}}
        - {{label: Done, then: continue}}
"""
    game = Play(parse_workflow(workflow))
    for name, texts in agents.items():
        game.finish(name, texts["before"]["output"] or " ", files=texts["before"]["files"])
    for remark in case["remarks"]:
        said = c.RemarkIn(remark["text"], remark["kind"], remark["target"])
        game.do(c.AddRemark(said, by="ann", door="test"))
    game.decide("More")
    for name, texts in agents.items():
        game.finish(name, texts["after"]["output"] or " ", files=texts["after"]["files"])
    return game


def judged(where: Path) -> Iterator[Judged]:
    for case in cases(where):
        yield from judged_in(case)


def judged_in(case: Case) -> Iterator[Judged]:
    game = play(case)
    book = ledger(game.log, lambda ref: game.blobs[ref.digest].decode())
    for entry in book:
        wanted = case["expected"][entry.id]
        spots = [spot for answer in entry.standing.values() for spot in answer.evidence]
        named = _named(spots, wanted.get("changed", ()), wanted.get("removed", ()))
        yield Judged(case["id"], case["kind"], entry.id, wanted["state"], entry, named)


def _named(spots: Iterable[Passage], changed: Iterable[str], removed: Iterable[str]) -> bool:
    """Whether one of the passages holds words that are known to have come, or, where none came, to have gone."""
    wanted = [_plain(one) for one in changed]
    gone = [] if wanted else [_plain(one) for one in removed]
    return any(
        any(one in _plain(spot.now) for one in wanted) or any(one in _plain(spot.was) for one in gone) for spot in spots
    )


def _plain(text: str) -> str:
    return " ".join(text.split())


def count(rows: Iterable[Judged]) -> Count:
    every = list(rows)
    real = [one for one in every if one.wanted == "closed"]
    declined = [one for one in every if one.wanted == "declined"]
    return Count(
        len(every),
        sum(one.false_closing for one in every),
        len(real),
        sum(one.closed and not one.false_closing for one in real),
        sum(one.seen for one in real),
        len(declined),
        sum(one.entry.status == "declined" for one in declined),
    )


def main() -> None:
    rows = list(judged(folder()))
    for one in rows:
        mark = "FALSE" if one.false_closing else "seen" if one.seen else "missed" if one.wanted == "closed" else "ok"
        print(f"{mark:7}{one.case} {one.id}: wanted {one.wanted}, is {one.entry.status}")
    print(count(rows))


if __name__ == "__main__":
    main()
