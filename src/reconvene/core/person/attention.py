"""The attention checkpoint: trouble only a person can settle, its reserved options, what each choice means. Rule 3."""

from __future__ import annotations

from collections.abc import Iterable

from reconvene.core.definition.bindings import either
from reconvene.core.definition.workflow import Continue, End, Goto
from reconvene.core.facts import commands as c
from reconvene.core.facts import events as e
from reconvene.core.facts.round import TaskAt
from reconvene.core.person import rulings
from reconvene.core.person.binding import bind
from reconvene.core.person.checkpoint import WITHOUT, emit_opened
from reconvene.core.person.remarking import add_remarks
from reconvene.core.working import acting, attempts
from reconvene.core.working.attempts import judge_again
from reconvene.core.working.moves import make_move, move_refused
from reconvene.core.working.transaction import Transaction
from reconvene.errors import Refused

AGAIN = "Try again"
WAIT = "Wait until it has ended"
TAKE = "Take the output as it is"
REBIND = "Try again with another model"
WHO = "model"  # the field of that option
TRUE = "Count it as true"
FALSE = "Count it as false"
RAISE = "Raise the limit"
STOP = "Stop the run"
_MOST_SHOWN = 4000  # characters of an unusable answer
RESERVED = (AGAIN, WAIT, TAKE, REBIND, WITHOUT, TRUE, FALSE, RAISE, STOP)


def _use_label(agent: str) -> str:
    return f"Use {agent}'s version"


def open_attention(tx: Transaction) -> None:
    troubles = tx.state.world.trouble
    came, advice = _what_came(tx)
    told = "\n".join([*(f"- {trouble.message}" for trouble in troubles), *came])
    labels: list[str] = []
    kinds = {trouble.kind for trouble in troubles}
    if any(trouble.boolean for trouble in troubles):
        labels += [TRUE, FALSE]
    if "rejected" in kinds:
        labels.append(TAKE)
    if acting.tried_again(tx.state, tx.book):  # what could be done twice is never what is suggested
        labels += [WAIT] * _at_work(tx) + [WITHOUT]
    if kinds & {"missing", "doubt", "rejected", "conflict", "check", "acting", "escalated", "kit", "expression"}:
        labels.append(AGAIN)
    if "missing" in kinds and attempts.takeable(tx, _missing(troubles)):
        labels.append(TAKE)
    if "limit" in kinds:
        labels.append(RAISE)
    if kinds - {"expression"} or any(not trouble.boolean for trouble in troubles):
        labels.append(WITHOUT)
    labels += [_use_label(agent) for trouble in troubles if trouble.kind == "conflict" for agent in trouble.agents]
    labels += [REBIND] * bool(_bindable(tx, troubles))
    labels.append(STOP)
    options = (
        *(rulings.options(tx) if "calls" in kinds else ()),
        *(
            e.OptionOffered(label, index=-1, fields=_fields(tx, troubles))
            if label == REBIND
            else e.OptionOffered(label, index=-1, remark="optional")
            for label in dict.fromkeys(labels)
        ),
    )
    if kinds == {"expression"} and not any(trouble.paths for trouble in troubles):
        how = f"reconvene upgrade {tx.state.run} --to {tx.book.workflow.file or 'FILE'}"
        advice += f"\n\nThe mistake may be in the workflow: correct it there, then: {how}"
    theirs = (e.Stretch(1, 2 + told.count("\n")),)  # why something failed may be told in an agent's words
    prompt = f"This needs you before the run can go on:\n{told}{advice}"
    emit_opened(tx, prompt=prompt, options=options, attention=True, filled=e.Filled(theirs))


def _missing(troubles: Iterable[e.Trouble]) -> tuple[str, ...]:
    return tuple(agent for trouble in troubles if trouble.kind == "missing" for agent in trouble.agents)


def _at_work(tx: Transaction) -> bool:
    """Whether an agent of a process that died still is."""
    step = tx.frame.round.open if tx.frame.round else None
    return step is not None and any(task.running for task in step.tasks.values())


def _bindable(tx: Transaction, troubles: Iterable[e.Trouble]) -> list[str]:
    """The missing agents that somebody else could carry out."""
    agents = tx.book.workflow.agents
    return [name for name in dict.fromkeys(_missing(troubles)) if agents[name].kind not in ("recorded", "survey")]


def _fields(tx: Transaction, troubles: Iterable[e.Trouble]) -> tuple[e.FieldAsked, ...]:
    names = ", ".join(_bindable(tx, troubles))
    return (e.FieldAsked(WHO, prompt=f"Who for {names}? (provider:name, or a command line)", required=True),)


def _rebind(tx: Transaction, point: e.CheckpointOpened, command: c.AnswerCheckpoint) -> None:
    """To whom the field names; without it, a binding must have been made since the person was asked."""
    names, said = _bindable(tx, tx.state.world.trouble), str(command.fields.get(WHO) or "").strip()
    if said:
        bind(tx, tuple(either(said, name) for name in names), command.by, command.door)
    elif not any(held.at >= point.at for held in tx.state.record.bindings.values()):
        raise Refused(f"{REBIND!r} needs the other model.", hint="Add --model provider:name, or --agent 'NAME=command'")


def _what_came(tx: Transaction) -> tuple[list[str], str]:
    """What missing agents answered last, unusable as it is, and what a person can do with it."""
    step = tx.frame.round.open if tx.frame.round else None
    tasks = [step.tasks[agent] for agent in step.order] if step else []
    missing = [task for task in tasks if task.status == "missing"]
    lines: list[str] = []
    for task in tasks:
        sent_back = task.unjudged is not None and task.unjudged.verdict != "doubt"
        if (sent_back or task in missing) and task.rejected is not None:
            text = tx.book.text(task.rejected.digest).strip()
            more = f"\n… ({len(text) - _MOST_SHOWN} more characters)" if len(text) > _MOST_SHOWN else ""
            quoted = "\n".join(f"> {line}" for line in (text[:_MOST_SHOWN] + more).splitlines())
            lines.append(f"\nWhat came from {task.agent}:\n\n{quoted}\n")
    taken = f" “{TAKE}” counts it in spite of what is said above." if attempts.takeable(tx, _agents(missing)) else ""
    advice = (
        f"\n\n“{AGAIN}” asks once more: say with it what should be different.{taken} “{WITHOUT}” keeps "
        "what was there before, if anything was, and you go on by hand."
    )
    return lines, advice if missing else ""


def _agents(tasks: Iterable[TaskAt]) -> tuple[str, ...]:
    return tuple(task.agent for task in tasks)


# Kinds of trouble, and rulings after which agents work on and are shown what was said.
_SHOWN = {**dict.fromkeys(("missing", "doubt", "rejected", "conflict"), ("again",)), "calls": ("calls",)}
_RULINGS = {
    AGAIN: "again",
    WAIT: "wait",
    TAKE: "take",
    REBIND: "again",
    WITHOUT: "without",
    TRUE: "true",
    FALSE: "false",
    RAISE: "raise",
}


def settle(tx: Transaction, point: e.CheckpointOpened, label: str, command: c.AnswerCheckpoint, key: str) -> None:
    ids = add_remarks(tx, command.remarks, command.by, command.door)
    stop = label == STOP
    if label == REBIND:
        _rebind(tx, point, command)
    tx.emit(
        e.DecisionRecorded(
            at=tx.now,
            checkpoint=point.id,
            number=point.number,
            phase=point.phase,
            scope=point.scope,
            serial=point.serial,
            option=label,
            decision="attention",
            move=End("aborted", "aborted") if stop else Continue(),
            remarks=ids,
            feedback="\n".join(r.text for r in command.remarks if r.text.strip()),
            by=command.by,
            door=command.door,
            digest=command.digest,
            key=key,
            attention=True,
            source=command.source,
            since=command.since,
            acts=acting.tried_again(tx.state, tx.book) if label == AGAIN else (),
        )
    )
    if stop:
        tx.emit(e.RunEnded(at=tx.now, status="aborted", outcome="aborted", by=command.by))
        return
    troubles = tx.state.world.trouble
    ruling = "calls" if rulings.rule(tx, label, command) else _RULINGS.get(label, "use")
    chosen = {_use_label(agent): agent for trouble in troubles for agent in trouble.agents}.get(label, "")
    for trouble in troubles:
        if ruling == "calls" and trouble.kind != "calls":
            continue  # asked again at the next stop
        fitting = _ruling_for(trouble, ruling, chosen)
        tx.emit(
            e.TroubleSettled(
                at=tx.now,
                key=trouble.key,
                kind=trouble.kind,
                ruling=fitting,
                use=chosen if fitting == "use" else "",
                agents=_going_on(tx, trouble) if fitting == "calls" else trouble.agents,
                paths=trouble.paths,
                claim=tx.claim,
                remarks=len(tx.state.record.remarks) if fitting in _SHOWN.get(trouble.kind, ()) else 0,
            )
        )
    if ruling == "wait":
        return
    waiting = tuple(agent for trouble in troubles if trouble.kind == "kit" for agent in trouble.agents)
    judge_again(tx, waiting, without=ruling != "again")
    if ruling == "take":
        refused = (agent for trouble in troubles if trouble.kind == "rejected" for agent in trouble.agents)
        judge_again(tx, tuple(refused), without=True)
        attempts.take(tx, _missing(troubles))
    if tx.frame.stage == "closed":
        _after_check(tx, point, ruling, {trouble.kind: trouble for trouble in troubles})


def _going_on(tx: Transaction, trouble: e.Trouble) -> tuple[str, ...]:
    """Those with a call that was ruled on; the others wait on."""
    step = tx.round.open
    return tuple(name for name in trouble.agents if step is not None and step.tasks[name].status == "open")


def _ruling_for(trouble: e.Trouble, ruling: str, chosen: str) -> str:
    """One answer settles all that was asked: a ruling that does not fit a trouble means "go on without it". To wait
    settles nothing."""
    if ruling == "wait":
        return ruling
    if trouble.kind == "calls":  # they wait on unless they are what was answered
        return "without" if ruling == "without" else "calls"
    fitting = {
        "missing": ("again", "take"),
        "doubt": ("again",),
        "rejected": ("again", "take"),
        "acting": ("again",),
        "kit": ("again",),
        "check": ("again",),
        "escalated": ("again",),
        "limit": ("raise",),
        "expression": ("again", "true", "false") if trouble.boolean else ("again",),
        "conflict": ("again", "use") if chosen in trouble.agents else ("again",),
    }
    return ruling if ruling in fitting.get(trouble.kind, ()) else "without"


def _after_check(tx: Transaction, point: e.CheckpointOpened, ruling: str, troubles: dict[str, e.Trouble]) -> None:
    """A check asked: the phase once more (or its script, if that is what failed), or on as it is."""
    trouble = troubles.get("check") or troubles.get("escalated")
    if trouble is None:
        return
    frame = tx.frame
    if ruling != "again":
        if frame.checked != point.serial:
            tx.emit(e.CheckPassed(at=tx.now, serial=point.serial, phase=frame.phase, scope=frame.scope))
        return
    if frame.checked != point.serial:
        return  # the script runs again: see plan
    move = Goto(frame.phase, rerun=True)
    refused = move_refused(tx, move)
    if refused:
        raise Refused(f"{tx.frame.phase} cannot run again: {refused}.")
    make_move(tx, move)
