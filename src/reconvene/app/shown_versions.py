"""A decision holds for what was shown: versions of checkpoints in the log, and what happened since one was shown.

A version is named by the digest that a checkpoint carries. What the person did themselves since (remarks, edits,
answers) does not make their decision stale: it goes with it. What anybody else did does, unless they were told of it
and decide anyway: then that goes with it, on record.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from msgspec import Struct
from msgspec.structs import replace

from reconvene.app.session import state_after
from reconvene.app.views.difference import difference
from reconvene.core.facts import events as e
from reconvene.core.facts.actors import Actor
from reconvene.core.facts.book import Book
from reconvene.core.facts.commands import AnswerCheckpoint, Command, Rollback
from reconvene.core.facts.state import EMPTY, RunState
from reconvene.core.person import approving
from reconvene.core.person.checkpoint import current_digest
from reconvene.core.run.handle import Handled, record
from reconvene.core.shown.drafts import ENGINE
from reconvene.errors import Repeated, StaleDecision
from reconvene.ports import EventLog

_OF_PEOPLE = (e.RemarkAdded, e.RemarkWithdrawn, e.FilesEdited, e.DraftSaved)
# What may happen while a checkpoint is open and is nobody's change to it, or follows from one.
_BESIDE = (
    e.KeyIntroduced,
    e.CompanionSaid,
    e.Imported,
    e.RemarkRead,
    e.RemarkSettled,
    e.ClaimJudged,
    e.OptionsRevised,
    e.FilesRendered,
    e.RenderFailed,
    e.ExpressionFailed,
    e.LateOutputArchived,
    e.ArchivesPruned,
    e.AgentsBound,
    e.LimitsSet,
    e.Paused,
    e.Resumed,
    e.TasksClaimed,
    e.ChildStarted,
    e.ApprovalRecorded,
    e.CheckpointAssigned,
    e.CheckpointReminded,
    e.CheckpointEscalated,
    e.CheckpointOverdue,
)


_Decision = AnswerCheckpoint | Rollback


class Version(Struct, frozen=True):
    digest: str
    state: RunState  # the last one that had it


def versions(log: EventLog, run: str, beginning: str) -> list[Version]:
    """Those of the run's checkpoints whose digest begins so, oldest first."""
    found: dict[str, Version] = {}
    for state in _states(log, run):
        if state.world.open is not None and (digest := current_digest(state)).startswith(beginning):
            found.pop(digest, None)
            found[digest] = Version(digest, state)
    return list(found.values())


def _states(log: EventLog, run: str) -> Iterator[RunState]:
    state = EMPTY
    for seq, event in log.read(run):
        state = state_after(run, state, seq, event)
        yield state


def on_what_was_shown(
    log: EventLog, once: bool, person: Callable[[str], Actor]
) -> Callable[[RunState, Command, str, Book, str, Actor], Handled]:
    """As `record`, for decisions: on the version that the command names, whoever appended meanwhile. `once`: Repeated
    where the same person took exactly this decision before. `person`: what those who chose before may do now."""

    def handled(state: RunState, command: Command, now: str, book: Book, claim: str, actor: Actor) -> Handled:
        if not isinstance(command, AnswerCheckpoint | Rollback):
            return record(state, command, now, book, claim, actor)
        if isinstance(command, AnswerCheckpoint):
            command = replace(command, barred=approving.barred(state, person))
        try:
            made = record(state, _bound(log, state, command, book, actor.user), now, book, claim, actor)
        except StaleDecision as error:
            known = versions(log, state.run, command.digest) if command.digest and not error.now else []
            raise (stale(error.message, known[-1].state, state, book) if known else error) from None
        done = any(isinstance(event, e.DecisionRecorded | e.ApprovalRecorded) for event in made.events)
        if isinstance(command, Rollback) or done:
            return made
        if once:
            raise _repeated(state, command)
        return Handled(state, [], {})

    return handled


def _repeated(state: RunState, command: AnswerCheckpoint) -> Repeated:
    number = state.record.decided.get(command.checkpoint)
    if number is None:  # it needs others, too
        return Repeated(f"you chose {command.option!r} already, and others have to: nothing was done again")
    taken = state.record.decisions[number]
    where = f"checkpoint {taken.checkpoint} ({taken.phase})"
    return Repeated(f"you decided so already, “{taken.option}” at {where}: nothing was done again")


def _bound(log: EventLog, state: RunState, command: _Decision, book: Book, user: str) -> _Decision:
    point = state.world.open
    if not command.digest or point is None or command.checkpoint not in ("", point.id):
        return command
    current = current_digest(state)
    if command.digest == current:
        return command
    found = versions(log, state.run, command.digest)
    if not found:
        raise StaleDecision(
            f"No checkpoint of run {state.run} had the version {command.digest}.", hint=f"reconvene show {state.run}"
        )
    before = found[-1].state
    own = own_since(log, before, state, command.by, user, anyway=command.anyway == current)
    if own is None:
        may = own_since(log, before, state, command.by, user, anyway=True) is not None
        told = "nothing was decided: what you saw is not what is open now; since then:"
        raise stale(told, before, state, book, anyway=may)
    return replace(command, current=current, since=own)


def stale(message: str, before: RunState, after: RunState, book: Book, *, anyway: bool = False) -> StaleDecision:
    """The refusal of a decision on what was there before, with the difference."""
    changes, now = difference(before, after, book), current_digest(after)
    hint = f"reconvene show {after.run}, then decide again"
    return StaleDecision(message, changes=changes, hint=hint, now=now, anyway=anyway)


def own_since(
    log: EventLog, before: RunState, after: RunState, by: str, user: str, *, anyway: bool = False
) -> tuple[str, ...] | None:
    """The remarks and edits that this person made in between; None where anything else changed what is shown. Whoever
    claims the same name from another account is somebody else. `anyway`: those of all people."""
    own: list[str] = []
    for _, event in log.read(after.run, before.seq, after.seq - before.seq):
        if isinstance(event, e.ApprovalRecorded) and event.fields and event.user != user and not anyway:
            return None  # what they answered is part of what is decided
        if isinstance(event, _OF_PEOPLE):
            same = event.by == by and (event.user or user) == user
            if not same and not anyway and not (isinstance(event, e.DraftSaved) and event.by == ENGINE):
                return None
            own += [event.id] if isinstance(event, e.RemarkAdded) else []
        elif not isinstance(event, _BESIDE):
            return None
    return tuple(own)
