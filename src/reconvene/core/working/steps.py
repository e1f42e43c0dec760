"""One step of a round: who works and what they are shown, and at the barrier what their outputs become. Rule 9."""

from __future__ import annotations

from reconvene.core.definition.workflow import Phase, Step
from reconvene.core.facts import events as e
from reconvene.core.facts.ids import parse_task, task_id
from reconvene.core.facts.round import StepAt, TaskAt
from reconvene.core.facts.state import Frame
from reconvene.core.shown import reads, scope
from reconvene.core.shown.conversation import WORD, Replay, replay
from reconvene.core.shown.scope import value_key
from reconvene.core.working import rendering, spending
from reconvene.core.working.moves import fund, undo_refused
from reconvene.core.working.transaction import Transaction
from reconvene.errors import KitFailed
from reconvene.language.counting import counted


def start_step(tx: Transaction, frame: Frame, step: Step, index: int, serial: int) -> bool:
    where = f"round {serial} step {index + 1}"
    if step.when:
        wanted = tx.truth(step.when, f"when of {where}")
        if wanted is None:
            return False
        if not wanted:
            tx.emit(e.StepSkipped(at=tx.now, serial=serial, step=index))
            return True
    agents = _agents(tx, frame, step, index, where)
    if agents is None:
        return False
    if not agents:
        tx.emit(e.StepSkipped(at=tx.now, serial=serial, step=index))
        return True
    paid = _paid_for(tx, frame, agents, where)
    if paid is None:
        return False
    dear = tuple(agent for agent in agents if agent not in paid)
    if not paid:
        tx.emit(e.StepSkipped(at=tx.now, serial=serial, step=index))
        return True
    funded = fund(tx.state, tx.book, paid)
    if not funded.agents:
        key = f"limit {funded.limit} at {where}"
        if tx.state.world.rulings.get(key):
            tx.emit(e.StepSkipped(at=tx.now, serial=serial, step=index))
            return True
        tx.met(
            "limit",
            key,
            f"limit {funded.limit} ({counted(funded.size, 'agent call')}) is reached at {frame.phase}",
            paths=(funded.limit, str(funded.size)),
        )
        return False
    tasks = _starts(tx, step, funded.agents, where)
    if tasks is None:
        return False
    rendering.render(tx)
    told = replay(tx.state, tx.book) if WORD in (step.reads or ()) else Replay()
    tx.emit(
        e.StepStarted(
            at=tx.now,
            serial=serial,
            step=index,
            claim=tx.claim,
            remarks=len(tx.state.record.remarks),
            reads=reads.shared(tx.state, tx.book, step),
            tasks=tasks,
            unfunded=(*funded.unfunded, *dear),
            limit=funded.limit,
            talk=told.entries,
            untold=told.left_out,
        )
    )
    return False


def _starts(tx: Transaction, step: Step, agents: tuple[str, ...], where: str) -> tuple[e.TaskStart, ...] | None:
    """Each with what only it is shown; None where a kit could not pick that."""
    without = tx.left_out(f"{where}, reads")
    try:
        return tuple(
            e.TaskStart(agent, reads.own(tx.state, tx.book, step, agent, without_kits=without)) for agent in agents
        )
    except KitFailed as error:
        tx.kit_failed(error, f"{where}, reads")
        return None


def _paid_for(tx: Transaction, frame: Frame, agents: tuple[str, ...], where: str) -> tuple[str, ...] | None:
    """Those that no limit of cost keeps from beginning, or that a person goes on without; None = a person must say."""
    over = {agent: limit for agent in agents if (limit := spending.reached(tx.state, tx.book, agent))}
    if not over:
        return agents
    before = len(tx.state.world.trouble)
    for limit in {limit.name: limit for limit in over.values()}.values():
        key = f"limit {limit.name} at {where}"
        if not tx.state.world.rulings.get(key):
            tx.met("limit", key, limit.sentence(frame.phase), paths=(limit.name, str(limit.raises)))
    if len(tx.state.world.trouble) > before:
        return None
    return tuple(agent for agent in agents if agent not in over)


def _agents(tx: Transaction, frame: Frame, step: Step, index: int, where: str) -> tuple[str, ...] | None:
    """Who works in this step. In an extra round for chosen agents, a step runs those of its agents that were chosen or
    always take part; if there are none, all of them."""
    if step.agents_expr:
        named = tx.names(step.agents_expr, f"agents of {where}")
        if named is None:
            return None
        unknown = [str(name) for name in named if name not in tx.book.workflow.agents]
        if unknown:
            known = ", ".join(tx.book.workflow.agents)
            tx.met(
                "expression",
                f"agents of {where}",
                f"`{step.agents_expr}` names unknown agents {', '.join(unknown)} (known: {known})",
            )
            return None
        return tuple(dict.fromkeys(str(name) for name in named))
    chosen = frame.round.agents if frame.round else ()
    if not chosen:
        return step.agents
    everywhere = {agent for other in tx.phase.steps for agent in other.agents}
    additional = tuple(agent for agent in chosen if agent not in everywhere)
    roles = tx.book.workflow.agents
    here = tuple(agent for agent in step.agents if agent in chosen or roles[agent].always)
    if index == 0:
        return (*here, *additional) or step.agents
    return here or step.agents


def close_step(tx: Transaction, frame: Frame, step: StepAt) -> bool:
    where = f"round {frame.round.serial if frame.round else 0} step {step.index + 1}"
    step = _force_best(tx, step)
    tasks = [step.tasks[agent] for agent in step.order]
    if _step_trouble(tx, step, tasks, where):
        return False
    definition = tx.phase.steps[step.index]
    done = [task for task in tasks if task.status == "done"]
    missing = (*(task.agent for task in tasks if task.status != "done"), *step.missing)
    tx.emit(
        e.StepClosed(
            at=tx.now,
            serial=frame.round.serial if frame.round else 0,
            step=step.index,
            missing=missing,
            values=_values(tx, definition, done),
            files=_files(tx, step, definition, done),
        )
    )
    rendering.render_tasks(tx, done, step.index)
    return True


def _force_best(tx: Transaction, step: StepAt) -> StepAt:
    """At the limit of undoing, a task that failed again takes the best output that this round has had: the latest that
    passed its gates, else the one that broke the fewest rules."""
    round_ = tx.frame.round
    if tx.phase.steps[step.index].place == "project":
        return step  # the words without the commit they speak of would be no output
    if round_ is None or not tx.state.record.undone.get(f"{tx.frame.address}/{round_.n}", 0):
        return step
    if not undo_refused(tx.state, tx.book):
        return step
    for agent in step.order:
        if step.tasks[agent].status == "missing":
            best = _best(tx, step.index, agent, round_.n)
            if best is not None:
                tx.emit(best)
    now = tx.frame.round
    return now.open if now is not None and now.open is not None else step


def _best(tx: Transaction, index: int, agent: str, n: int) -> e.OutputForced | None:
    address, record = tx.frame.address, tx.state.record
    task = task_id(tx.frame.round.serial if tx.frame.round else 0, index, agent)
    for number in range(len(record.rollbacks), 0, -1):
        undone = record.rollbacks[number]
        for output in undone.outputs if (undone.scope, undone.n) == (address, n) else ():
            if (output.step, output.agent) == (index, agent):
                source = task_id(undone.serial, index, agent)
                return e.OutputForced(
                    at=tx.now,
                    task=task,
                    source=source,
                    passed=True,
                    output=output.output,
                    value=output.value,
                    files=output.files,
                )
    newest_first = (record.notes[number] for number in range(len(record.notes), 0, -1))
    sent_back = [
        note
        for note in newest_first
        if (note.scope, note.n) == (address, n) and note.output and parse_task(note.task)[1:] == (index, agent)
    ]
    if not sent_back:
        return None
    least = min(sent_back, key=lambda note: note.failures)
    assert least.output is not None
    return e.OutputForced(
        at=tx.now,
        task=task,
        source=f"{least.task}#{least.attempt}",
        passed=False,
        output=least.output,
        value=least.value,
        files=least.files,
    )


def _step_trouble(tx: Transaction, step: StepAt, tasks: list[TaskAt], where: str) -> bool:
    """All that only a person can settle about this step, met at once."""
    before = len(tx.state.world.trouble)
    _held_trouble(tx, tasks, where)
    if len(tx.state.world.trouble) > before:
        return True
    for task in tasks:
        if task.unjudged is not None and task.unjudged.verdict == "doubt":
            message = f"{task.why} The output of {task.agent} is kept, and nobody has judged it"
            tx.met("kit", f"kit at {where}, output of {task.agent}", message, agents=(task.agent,))
    refused = [task for task in tasks if task.unjudged is not None and task.unjudged.verdict != "doubt"]
    if refused:
        message = "\n- ".join(map(_refused, refused))
        tx.met("rejected", f"rejected at {where}", message, agents=tuple(task.agent for task in refused))
    doubtful = [task for task in tasks if task.status == "ask" and task.unjudged is None]
    if doubtful:
        message = "\n- ".join(map(_doubt, doubtful))
        tx.met("doubt", f"doubt at {where}", message, agents=tuple(task.agent for task in doubtful))
    elif (
        "missing" not in step.settled
        and tx.phase.steps[step.index].missing == "ask"
        and not any(task.status in ("done", "ask") for task in tasks)
    ):
        reasons = "; ".join(f"{task.agent}: {task.why}" for task in tasks if task.why)
        tx.met(
            "missing",
            f"missing at {where}",
            f"no agent of this step gave an output. {reasons}",
            agents=tuple(task.agent for task in tasks),
        )
    if "conflict" not in step.settled:
        for path, agents in sorted(_conflicts(tx, step, tasks).items()):
            with_person = " and you" if path in tx.state.world.edited else ""
            with_person = " and somebody in the workspace" if path in tx.state.world.found else with_person
            tx.met(
                "conflict",
                f"conflict on {path} at {where}",
                f"{' and '.join(agents)}{with_person} changed {path} differently; the text from before stays unless "
                "you choose",
                agents=agents,
                paths=(path,),
            )
    return len(tx.state.world.trouble) > before


def _refused(task: TaskAt) -> str:
    return f"the output of {task.agent} is not accepted: {task.why.rstrip('.')}. It has acted: this agent has effects"


def _doubt(task: TaskAt) -> str:
    if task.running:
        return (
            f"{task.agent} is still at work: {task.running}. The process that started it ended, so its outcome will "
            "not be recorded, and this agent has effects"
        )
    why = task.why or "the process ended before the outcome was recorded"
    return f"{task.agent} may have acted already: {why.rstrip('.')}, and this agent has effects"


def _held_trouble(tx: Transaction, tasks: list[TaskAt], where: str) -> None:
    """What a limit of cost kept from beginning, asked once for each limit."""
    held: dict[str, list[str]] = {}
    limits: dict[str, spending.CostLimit] = {}
    for task in tasks:
        limit = spending.reached(tx.state, tx.book, task.agent) if task.status == "held" else None
        if limit is not None:
            limits[limit.name] = limit
            held.setdefault(limit.name, []).append(task.agent)
    for name, agents in held.items():
        waiting = f"{', '.join(agents)} {'has' if len(agents) == 1 else 'have'} not begun"
        tx.met(
            "limit",
            f"limit {name} within {where}",
            f"{limits[name].sentence(tx.frame.phase)}; {waiting}",
            agents=tuple(agents),
            paths=(name, str(limits[name].raises)),
        )


def _conflicts(tx: Transaction, step: StepAt, tasks: list[TaskAt]) -> dict[str, tuple[str, ...]]:
    by_path: dict[str, dict[str, str]] = {}
    for task in tasks:
        for file in _task_files(tx, step, task):
            by_path.setdefault(file.path, {})[task.agent] = file.digest
    if not by_path:
        return {}
    edited = tx.state.world.edited
    return {
        path: tuple(versions)
        for path, versions in by_path.items()
        if len(set(versions.values())) > 1 or (path in edited and edited[path] not in versions.values())
    }


def _task_files(tx: Transaction, step: StepAt, task: TaskAt) -> tuple[e.FileOut, ...]:
    if task.status != "done":
        return ()
    definition = tx.phase.steps[step.index]
    if definition.output_file and task.output is not None:
        path = scope.output_file(tx.state, tx.book, definition)
        return (*task.files, e.FileOut(path, task.output.digest, task.output.size))
    return task.files


def _files(tx: Transaction, step: StepAt, definition: Step, done: list[TaskAt]) -> tuple[e.FileOut, ...]:
    disputed = _conflicts(tx, step, done)
    merged: dict[str, e.FileOut] = {}
    for task in done:
        for file in _task_files(tx, step, task):
            if file.path not in disputed or step.use.get(file.path) == task.agent:
                merged[file.path] = file
    known = tx.state.world.files
    return tuple(
        file
        for path, file in merged.items()
        if path not in known or known[path].digest != file.digest or known[path].person
    )


def _values(tx: Transaction, definition: Step, done: list[TaskAt]) -> tuple[e.ValueWrite, ...]:
    if not definition.output:
        return ()
    owner = tx.book.workflow.names.get(definition.output, "")
    key = value_key(tx.state.world.cursor, owner, definition.output)
    scalar = len(definition.agents) == 1 and not definition.agents_expr
    return tuple(
        e.ValueWrite(key, task.value or task.output, task.agent, "" if scalar else task.agent)
        for task in done
        if task.output is not None
    )


def at_work(step: StepAt, phase: Phase) -> list[TaskAt]:
    """Whose turn it is. Who changes the project builds on what the one before has changed."""
    tasks = [step.tasks[agent] for agent in step.order]
    if phase.steps[step.index].place != "project":
        return [task for task in tasks if task.status == "open"]
    first = next((task for task in tasks if task.status in ("open", "suspended")), None)
    return [first] if first is not None and first.status == "open" else []


def suspended(step: StepAt, phase: Phase) -> list[TaskAt]:
    """Whose calls wait for a person, where nobody else of the step can go on."""
    waiting = [task for task in map(step.tasks.__getitem__, step.order) if task.status == "suspended"]
    if waiting and any(task.parked is None for task in at_work(step, phase)):
        return []
    return waiting


def await_provider(tx: Transaction) -> bool:
    """Where everybody whose turn it is has a provider that fails, the run waits until the last may be asked again."""
    round_ = tx.frame.round
    if round_ is None or round_.open is None:
        return False
    tasks = at_work(round_.open, tx.phase)
    faults = [task.parked for task in tasks if task.parked is not None]
    if not faults or len(faults) < len(tasks):
        return False
    last = max(faults, key=lambda fault: fault.not_before)
    tx.emit(
        e.ProviderAwaited(
            at=tx.now,
            tasks=tuple(fault.task for fault in faults),
            model=", ".join(dict.fromkeys(fault.model for fault in faults)),
            outcome=last.outcome,
            why="; ".join(dict.fromkeys(fault.why for fault in faults)),
            since=min(task.since for task in tasks),
            not_before=last.not_before,
        )
    )
    return True


def open_tasks(tx: Transaction) -> list[tuple[str, TaskAt]]:
    round_ = tx.frame.round
    if round_ is None or round_.open is None:
        return []
    step = round_.open
    return [
        (task_id(round_.serial, step.index, agent), step.tasks[agent])
        for agent in step.order
        if step.tasks[agent].status == "open"
    ]
