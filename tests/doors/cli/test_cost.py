"""What was spent, of which limit, and what has no price: in `show` and in `stats`."""

from __future__ import annotations

from pathlib import Path

from tests.acceptance.support.stage import Stage

from commands import Command
from reconvene.core.facts.events import Usage
from reconvene.ports import Answer

FLOW = """
name: w
limits: {cost: {a: 5, total: 20}}
agents: {a: {}, b: {}}
phases: [{id: one, agents: [a, b], checkpoint: {approval_required: true}}]
"""


def answer(cost: float, tokens: int) -> Answer:
    return Answer("done", None, False, {}, (), Usage(requests=1, cost=cost, input_tokens=tokens), b"", b"")


def spent(folder: Path, a: Answer | None = None, b: Answer | None = None, text: str = FLOW) -> None:
    stage = Stage(folder / ".reconvene", text, {"a": a or answer(1.25, 1000), "b": b or answer(0, 48_000)})
    stage.drive()
    stage.engine.log.close()


def test_show_says_what_was_spent_of_which_limit(reconvene: Command, folder: Path) -> None:
    spent(folder)
    lines = [line for line in reconvene("show", "w-1").out.splitlines() if line.startswith("cost ")]
    assert lines == [
        "cost       $1.25 of $20.00 allowed; cost known for 1 of 2 calls; 48,000 tokens without a price",
        "cost       a: $1.25 of $5.00 allowed",
    ]


def test_show_for_a_script(reconvene: Command, folder: Path) -> None:
    spent(folder)
    usage = reconvene("show", "w-1", "--json").object["usage"]
    assert isinstance(usage, dict)
    assert usage["budgets"][0] == {
        "name": "cost", "cost": 1.25, "allowed": 20.0, "calls": 2, "unpriced": 1, "tokens": 48000,
    }  # fmt: skip


def test_stats_say_what_has_no_price(reconvene: Command, folder: Path) -> None:
    spent(folder)
    out = reconvene("stats", "w-1").out
    assert "49000 tokens, $1.25\ncost known for 1 of 2 calls; 48,000 tokens without a price\n" in out


def test_nothing_is_said_where_nothing_has_a_price(reconvene: Command, folder: Path) -> None:
    text = FLOW.replace("limits: {cost: {a: 5, total: 20}}\n", "")
    spent(folder, answer(0, 0), answer(0, 0), text)
    assert "cost " not in reconvene("show", "w-1").out
    assert "without a price" not in reconvene("stats", "w-1").out
