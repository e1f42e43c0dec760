"""`limit` says what a run may cost, and which tools ask first."""

from __future__ import annotations

from commands import Command


def test_a_limit_is_said_and_shown(reconvene: Command) -> None:
    assert reconvene("run", "quality-gate", "--recorded", "--no-input").code == 3
    done = reconvene("limit", "quality-gate-1", "--cost", "2.5")
    assert done.code == 0, done.err
    assert "quality-gate-1 may cost $2.50 in all" in done.out
    usage = reconvene("show", "quality-gate-1", "--json").object["usage"]
    assert isinstance(usage, dict)
    assert usage["budgets"][0]["allowed"] == 2.5


def test_a_tool_that_nobody_uses_is_refused(reconvene: Command) -> None:
    reconvene("run", "quality-gate", "--recorded", "--no-input")
    done = reconvene("limit", "quality-gate-1", "--ask", "telephone")
    assert done.code == 64
    assert "No agent here uses 'telephone'" in done.err


def test_what_changed_since_is_told(reconvene: Command) -> None:
    reconvene("run", "quality-gate", "--recorded", "--no-input", "--by", "ann")
    told = reconvene("show", "quality-gate-1", "--since", "--by", "ann").out
    assert "What changed, all of it is new:" in told
    assert "test-report.md (new)" in told
    reconvene("remark", "quality-gate-1", "comment: Mind the cart.", "--by", "ann")
    again = reconvene("show", "quality-gate-1", "--since", "--by", "ann").out
    assert "Nothing changed since your remark FB-001" in again
    found = reconvene("show", "quality-gate-1", "--since", "--by", "ben", "--json").object["since"]
    assert isinstance(found, dict)
    assert "said" in [one["kind"] for one in found["news"]]


def test_every_option_says_what_it_takes(reconvene: Command) -> None:
    reconvene("run", "quality-gate", "--recorded", "--no-input")
    told = reconvene("show", "quality-gate-1").out
    assert "1 call, under a minute; stops at the end of the run" in told
    assert "2 calls, under a minute; stops after that round of testing" in told
