"""Who may decide the open checkpoint, and how many must: names and teams, approvals, handing over.

An approval is bound to the version that its person saw, and to a choice: an option with its answers. It counts as long
as the checkpoint has that version and its person may decide. Only proved names count, whatever people call themselves.
"""

from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import replace

from reconvene.core.facts import commands as c
from reconvene.core.facts import events as e
from reconvene.core.facts.actors import Actor
from reconvene.core.facts.book import Book, to_json
from reconvene.core.facts.ids import digest_of
from reconvene.core.facts.named_people import TEAM, is_name, named
from reconvene.core.facts.state import RunState
from reconvene.core.person.checkpoint import approved_digest
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
    point = tx.state.world.open
    several = max((option.needs for option in point.options), default=1) if point is not None else 1
    to = " ".join((user or "NAME", *["NAME"] * (several - 1)))
    you = f"you are {user}" if user else "nothing proves who you are"
    raise Forbidden(
        f"This waits for {named(deciders(tx.state))}, and {you}. Nothing was done.",
        hint=f"Remarks are welcome: reconvene remark {run} …; one of them, or an admin, can hand it over: "
        f"reconvene assign {run} {to}",
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


def barred(state: RunState, person: Callable[[str], Actor]) -> tuple[str, ...]:
    """Of those who chose, who may not decide any more. `person`: who somebody of this name is now. Who was added since
    is another, whatever their name."""
    able = {
        one.user
        for one in state.world.pending.approvals
        if (actor := person(one.user)).may("decider") and is_one_of_them(state, actor) and actor.since <= one.at
    }
    return tuple(one.user for one in state.world.pending.approvals if one.user not in able)


def counting(state: RunState, barred: tuple[str, ...] = ()) -> tuple[e.ApprovalRecorded, ...]:
    """The approvals of what is open as it is now."""
    now = approved_digest(state)
    return tuple(one for one in state.world.pending.approvals if one.version == now and one.user not in barred)


def with_earlier_answers(
    tx: Transaction, offered: e.OptionOffered, command: c.AnswerCheckpoint, *, shown: bool
) -> c.Answers:
    """What is not answered is as this person answered it before; else as those did who chose the same option, where
    that was shown. Nobody is recorded with answers that they neither gave nor saw."""
    same = [one for one in counting(tx.state, command.barred) if one.option == offered.label]
    mine = _own(tx, command)
    if mine is not None and mine.option == offered.label:
        own = answers_of(tx.book, mine)
        if mine not in same:  # what the checkpoint itself asks may have been answered otherwise since
            own = {field.id: own[field.id] for field in offered.fields if field.id in own}
        return own | command.fields
    if not shown or not same:
        return command.fields
    theirs = {one.user: answers_of(tx.book, one) for one in same}
    first = next(iter(theirs.values()))
    for name in dict.fromkeys(name for answers in theirs.values() for name in answers):
        if name not in command.fields and any(answers.get(name) != first.get(name) for answers in theirs.values()):
            said = ", ".join(f"{answers.get(name, 'nothing')} ({user})" for user, answers in theirs.items())
            raise Refused(f"{name} was answered differently: {said}.", hint=f"Add --field {name}=…", field=name)
    return first | command.fields


def bound_remarks(state: RunState) -> dict[str, str]:
    """What was said with an approval that counts: remark → whose."""
    return {id: one.user for one in counting(state) for id in (*one.remarks, *one.notes)}


def answers_of(book: Book, one: e.ApprovalRecorded) -> c.Answers:
    return book.object(one.fields) if one.fields else {}


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
    now, version = approved_digest(tx.state), _without_own(tx)[1]
    others = tuple(
        one.user
        for one in tx.state.world.pending.approvals
        if one.user not in (tx.user, *command.barred) and one.choice == choice and one.version in (now, version)
    )
    if len(others) + 1 >= offered.needs:
        return (*others, tx.user)
    ids = add_remarks(tx, command.remarks, command.by, command.door)
    notes, version = _without_own(tx)
    mine = _own(tx, command)
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


def _own(tx: Transaction, command: c.AnswerCheckpoint) -> e.ApprovalRecorded | None:
    """What this person chose before: they, and not somebody who had their name."""
    chose = (one for one in tx.state.world.pending.approvals if one.user == tx.user)
    return next((one for one in chose if one.user not in command.barred), None)


def _without_own(tx: Transaction) -> tuple[tuple[str, ...], str]:
    """What this person said here and stands in the version so far; and the version without it."""
    state, pending = tx.state, tx.state.world.pending
    said = [one for one in on_record.remarks_here(state) if one.user == tx.user and not one.diff]
    notes = tuple(one.id for one in said if one.id not in pending.notes)
    here = state.world.open.id if state.world.open is not None else ""
    aside = replace(pending, checkpoint=here, notes=(*pending.notes, *notes))
    return notes, approved_digest(replace(state, world=replace(state.world, pending=aside)))
