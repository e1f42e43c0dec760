"""How an attempt ends: what its verdict means for the task, on record with all that the attempt brought."""

from __future__ import annotations

from typing import Literal

from msgspec.structs import replace

from reconvene.core.facts import events as e
from reconvene.core.facts.ids import task_id
from reconvene.core.facts.round import StepAt, TaskAt
from reconvene.core.facts.rows import Note
from reconvene.core.paths import matches
from reconvene.core.shown import scope
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


def takeable(tx: Transaction, agents: tuple[str, ...]) -> bool:
    """Whether a person may count what a gate sent back last, of each of these agents: it is whole, and only a rule is
    against it."""
    return bool(agents) and all(_sent_back(tx, agent) is not None for agent in agents)


def take(tx: Transaction, agents: tuple[str, ...]) -> None:
    """What a gate sent back last counts, because a person says so."""
    for agent in agents:
        note, step = _sent_back(tx, agent), tx.round.open
        if note is None or note.output is None or step is None or step.tasks[agent].status != "missing":
            continue
        task = step.tasks[agent]
        whole = e.AttemptEnded(
            at=tx.now, task=note.task, attempt=note.attempt, verdict="accepted", then="done", output=note.output,
            value=note.value, files=note.files,
        )  # fmt: skip
        whole = gates.completed(tx, whole, task)
        tx.emit(
            e.OutputForced(
                at=tx.now,
                task=note.task,
                source=f"{note.task}#{note.attempt}",
                passed=False,
                output=whole.output or note.output,
                value=whole.value,
                files=whole.files,
            )
        )
        claims.judge(tx, step, task, whole)


def _sent_back(tx: Transaction, agent: str) -> Note | None:
    """Nothing that lacks files or is not in the form: it could not be used."""
    round_ = tx.frame.round
    step = round_.open if round_ is not None else None
    if round_ is None or step is None or agent not in step.tasks:
        return None
    name, notes = task_id(round_.serial, step.index, agent), tx.state.record.notes
    mine = (notes[number] for number in range(len(notes), 0, -1) if notes[number].task == name)
    note = next(mine, None)
    definition = tx.phase.steps[step.index]
    schema = definition.schema if definition.schema is not None else tx.book.workflow.agents[agent].schema
    if note is None or note.verdict != "rejected" or note.output is None or definition.place == "project":
        return None
    if schema is not None and note.value is None:
        return None
    there = [file.path for file in note.files]
    whole = all(any(matches(path, wanted) for path in there) for wanted in scope.writes(tx.state, tx.book, definition))
    return note if whole and (there or tx.book.text(note.output.digest).strip()) else None
