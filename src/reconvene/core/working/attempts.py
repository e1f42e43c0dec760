"""How an attempt ends: what its verdict means for the task, on record with all that the attempt brought."""

from __future__ import annotations

from typing import Literal

from msgspec.structs import replace

from reconvene.core.facts import events as e
from reconvene.core.facts.round import StepAt, TaskAt
from reconvene.core.working import claims, gates
from reconvene.core.working.gates import Rejection
from reconvene.core.working.transaction import Transaction


def end(
    tx: Transaction,
    task: TaskAt,
    ended: e.AttemptEnded,
    wrong: Rejection,
    *,
    retryable: bool = True,
    begun: bool = False,
) -> None:
    """`ended` has its verdict; what follows from it is settled here. One that acts on the world and was begun is not
    begun again without a question, whatever became of it."""
    then: Literal["done", "retry", "missing", "ask"] = "done"
    acted = tx.book.workflow.agents[task.agent].effects and (begun or ended.output is not None)
    if ended.verdict == "doubt" or (acted and ended.verdict != "accepted"):
        then = "ask"
    elif ended.verdict == "cancelled":
        then = "retry"
    elif ended.verdict != "accepted":
        then = "retry" if retryable and task.tries < tx.book.workflow.agents[task.agent].retries else "missing"
    retry, done = then == "retry", then == "done"
    step = tx.round.open
    if done:
        ended = gates.completed(tx, ended, task)
    tx.emit(
        ended := replace(
            ended,
            then=then,
            judged=claims.version(tx) if done else 0,
            why=wrong.why,
            code=wrong.code,
            claim=tx.claim if retry and not tx.state.paused else "",
            example=tx.keep_text(wrong.example) if then in ("retry", "ask") and wrong.example else "",
            failures=wrong.failures,
        )
    )
    if done and step is not None:
        claims.judge(tx, step, task, ended)


def judge_again(tx: Transaction, agents: tuple[str, ...], *, without: bool) -> None:
    """Outputs that waited for a person; `without`: they are taken as they are. What they cost is on record."""
    for agent in agents:
        found = _waiting(tx, agent)
        if found is None:
            continue
        step, task, ended = found
        again = replace(ended, at=tx.now, usage=e.Usage(), verdict="accepted")
        verdict, wrong = ("accepted", gates.NOTHING) if without else gates.judged_again(tx, again, step, task)
        end(tx, task, replace(again, verdict=verdict), wrong)


def _waiting(tx: Transaction, agent: str) -> tuple[StepAt, TaskAt, e.AttemptEnded] | None:
    step = tx.frame.round.open if tx.frame.round else None
    task = step.tasks.get(agent) if step is not None else None
    if step is None or task is None or task.unjudged is None:
        return None
    return step, task, task.unjudged
