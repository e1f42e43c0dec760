"""Who may decide the open checkpoint, and how many must: names and teams, approvals, handing over.

An approval is bound to the version that its person saw, and to a choice: an option with its answers. It counts as long
as the checkpoint has that version. Only proved names count, whatever people call themselves.
"""

from __future__ import annotations

from msgspec.structs import replace

from reconvene.core.facts import commands as c
from reconvene.core.facts import events as e
from reconvene.core.facts.actors import Actor
from reconvene.core.facts.book import to_json
from reconvene.core.facts.ids import digest_of
from reconvene.core.facts.named_people import TEAM, is_name, named
from reconvene.core.facts.state import RunState
from reconvene.core.person.checkpoint import current_digest
from reconvene.core.person.remarking import add_remarks
from reconvene.core.shown import on_record
from reconvene.core.working.transaction import Transaction
from reconvene.errors import Forbidden, Refused, StaleDecision

# --- who ---


def deciders(state: RunState) -> tuple[str, ...]:
    """Names and teams who may decide what is open; () = whoever may decide anything."""
    pending = state.world.pending
    if state.world.open is None or not pending.who:
        return ()
    return (*pending.who, *(one for one in pending.escalated if one not in pending.who))


def is_one_of_them(state: RunState, actor: Actor) -> bool:
    who = deciders(state)
    return not who or actor.is_among(who)


def require_one_of_them(tx: Transaction) -> None:
    """Forbidden where the open checkpoint waits for others."""
    if is_one_of_them(tx.state, tx.actor):
        return
    run, user = tx.state.run, tx.actor.user
    you = f"you are {user}" if user else "nothing proves who you are"
    raise Forbidden(
        f"This waits for {named(deciders(tx.state))}, and {you}. Nothing was done.",
        hint=f"Remarks are welcome: reconvene remark {run} …; one of them, or an admin, can hand it over: "
        f"reconvene assign {run} {user or 'NAME'}",
    )


def assign(tx: Transaction, command: c.Assign) -> None:
    point = tx.state.world.open
    if point is None:
        raise Refused(
            f"Run {tx.state.run} is {tx.state.status}: there is no checkpoint to hand over.",
            hint=f"reconvene show {tx.state.run}",
        )
    if command.checkpoint not in ("", point.id):
        raise StaleDecision(
            f"Checkpoint {command.checkpoint} is not open any more.", hint=f"reconvene show {tx.state.run}"
        )
    if tx.actor.role not in ("", "admin"):
        require_one_of_them(tx)
    who = tuple(dict.fromkeys(command.who))
    if wrong := next((one for one in who if not is_name(one)), None if who else ""):
        raise Refused(f"{wrong!r} is neither a name nor a team.", hint=f"such as ada, or {TEAM}finance")
    if not who:
        raise Refused("To whom?", hint=f"reconvene assign {tx.state.run} NAME")
    few = max(option.needs for option in point.options)
    if len(who) < few and not any(one.startswith(TEAM) for one in who):
        label = next(option.label for option in point.options if option.needs == few)
        raise Refused(
            f"{label!r} needs {few} different people, and these are {len(who)}.",
            hint=f"reconvene assign {tx.state.run} NAME NAME …, or a team",
        )
    if who != tx.state.world.pending.who or tx.state.world.pending.escalated:
        tx.emit(e.CheckpointAssigned(at=tx.now, checkpoint=point.id, who=who, by=command.by, door=command.door))


# --- how many ---


def counting(state: RunState) -> tuple[e.ApprovalRecorded, ...]:
    """The approvals of what is open as it is now."""
    now = current_digest(state)
    return tuple(one for one in state.world.pending.approvals if one.version == now)


def with_earlier_answers(tx: Transaction, offered: e.OptionOffered, given: c.Answers) -> c.Answers:
    """What is not answered is as those say who chose the same option before."""
    answers: c.Answers = {}
    for one in counting(tx.state):
        if one.option == offered.label and one.fields:
            answers |= tx.book.object(one.fields)
    return answers | given


def approved(
    tx: Transaction,
    point: e.CheckpointOpened,
    offered: e.OptionOffered,
    command: c.AnswerCheckpoint,
    answers: c.Answers,
) -> tuple[str, ...]:
    """Everybody who has chosen exactly this, this person last; () where they are too few: then it is on record."""
    if not tx.user:
        raise Forbidden(
            f"{offered.label!r} needs {offered.needs} different people, and nothing proves who you are.",
            hint="Decide from your own account, or with your token: reconvene people token NAME",
        )
    choice = digest_of(to_json([offered.label, answers]))
    now, version = current_digest(tx.state), _without_own(tx)[1]
    others = tuple(
        one.user
        for one in tx.state.world.pending.approvals
        if one.user != tx.user and one.choice == choice and one.version in (now, version)
    )
    if len(others) + 1 >= offered.needs:
        return (*others, tx.user)
    ids = add_remarks(tx, command.remarks, command.by, command.door)
    notes, version = _without_own(tx)
    mine = next((one for one in tx.state.world.pending.approvals if one.user == tx.user), None)
    if not notes and mine is not None and (mine.choice, mine.version) == (choice, version):
        return ()  # said already
    tx.emit(
        e.ApprovalRecorded(
            at=tx.now,
            checkpoint=point.id,
            option=offered.label,
            choice=choice,
            version=version,
            was=now if now != version else "",
            digest=command.digest,
            fields=tx.keep(answers).digest if answers else "",
            source=command.source,
            since=command.since,
            remarks=ids,
            notes=notes,
            by=command.by,
            door=command.door,
        )
    )
    return ()


def _without_own(tx: Transaction) -> tuple[tuple[str, ...], str]:
    """What this person said here and stands in the version so far; and the version without it."""
    state, pending = tx.state, tx.state.world.pending
    said = [one for one in on_record.remarks_here(state) if one.user == tx.user and not one.diff]
    notes = tuple(one.id for one in said if one.id not in pending.notes)
    aside = replace(pending, notes=(*pending.notes, *notes))
    return notes, current_digest(replace(state, world=replace(state.world, pending=aside)))
