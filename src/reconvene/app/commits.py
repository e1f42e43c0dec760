"""The log as commits: one per round, item or phase done or left, decision, edit and undo, with the files as they were
then."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress

from reconvene.app.session import state_after
from reconvene.core.facts import events as e
from reconvene.core.facts.state import EMPTY, RunState
from reconvene.errors import ReconveneError
from reconvene.ports import Commit, EventLog, History

CHAIN = "Reconvene-Chain"  # the trailer that names an append's last event and the value of the chain after it

_AT_THE_END = (e.FilesRendered, e.RunEnded)
_COMMITTED = (
    *(e.RoundClosed, e.ItemDone, e.PhaseClosed, e.DecisionRecorded, e.FilesEdited, e.RoundUndone, e.ArchivesPruned),
    *(e.WorkflowUpgraded, e.RunReopened, e.Replanned, e.Reran),
)


def catch_up(log: EventLog, history: History, run: str, known: Iterable[RunState] = ()) -> None:
    """Commit what the history has not got yet. `known`: earlier states, newest first, so that not all is folded."""
    done = history.last_seq(run)
    events, values = log.read(run, done), log.chain(run, done)
    if values:
        _tell_witness(log, history, run, *values[-1])
    if any(_may_commit(event, ended=True) for _, event in events):
        state = _start(events, known)
        if state.seq < done:
            events = log.read(run, state.seq)
        made = (commit for commit in commits(run, events, state) if commit.seq > done)
        if values and not done:  # so that no branch is ever without its note
            history.note_head(run, values[-1][0], values[-1][1].hex())
        history.commit(run, _with_values(made, values), log.artefact)
    if values:
        history.note_head(run, values[-1][0], values[-1][1].hex())


def note(log: EventLog, history: History, run: str, seq: int) -> None:
    """The log's last event, beside the history: it shows, too, what was recorded and is in no commit."""
    for last, value in log.chain(run, seq - 1)[-1:]:
        _tell_witness(log, history, run, last, value)
        with suppress(ReconveneError):  # a copy of the log: whatever keeps it back must not keep the run back
            history.note_head(run, last, value.hex())


def _tell_witness(log: EventLog, history: History, run: str, seq: int, value: bytes) -> None:
    """What it noted before stays where the log does not say the same any more: that is what it is for."""
    if history.witness is None:
        return
    before, noted = history.witness.noted(run)
    if noted and (before > seq or [one.hex() for _, one in log.chain(run, before - 1)[:1]] != [noted]):
        return
    history.witness.note(run, seq, value.hex())


def _with_values(made: Iterable[Commit], values: list[tuple[int, bytes]]) -> Iterator[Commit]:
    """Each with the value of the chain after the append that holds its event: whoever cuts the log off, or writes it
    anew, must write the history anew as well."""
    rest = iter(values)
    seq, value = next(rest, (0, b""))
    for commit in made:
        while seq < commit.seq:
            seq, value = next(rest, (commit.seq, b""))
        trailer = ((CHAIN, f"{seq} {value.hex()}"),) if value else ()
        yield commit._replace(trailers=commit.trailers + trailer)


def commits(run: str, events: Iterable[tuple[int, e.AnyEvent]], state: RunState = EMPTY) -> Iterator[Commit]:
    """Of the events after this state; those that it already holds are passed over."""
    for seq, event in events:
        if seq <= state.seq:
            continue
        left = _left(state, event)
        state = state_after(run, state, seq, event)
        described = _describe(state, event, left)
        if described is not None:
            subject, body, trailers, author = described
            files = {path: version.digest for path, version in state.files.items()}
            yield Commit(seq, files, subject, body, trailers, author, event.at, _marks(event, left))


def _left(before: RunState, event: e.AnyEvent) -> tuple[str, ...]:
    """The passes of phases that end without being done, because an earlier phase is done anew; the innermost first."""
    if not isinstance(event, e.Reran):
        return ()
    return tuple(frame.scope for frame in reversed(before.world.cursor[event.depth :]))


def _marks(event: e.AnyEvent, left: tuple[str, ...]) -> tuple[tuple[str, ...], ...]:
    match event:
        case e.Reran():
            return tuple(("phases", scope) for scope in left)
        case e.ItemDone():
            return (("items", event.scope, event.key),)
        case e.PhaseClosed():
            return (("phases", event.scope),)
    return ()


def _start(events: list[tuple[int, e.AnyEvent]], known: Iterable[RunState]) -> RunState:
    """The first of the known states that does not already hold something still to be committed."""
    for state in known:
        held = (event for seq, event in events if seq <= state.seq)
        if not any(_may_commit(event, ended=bool(state.ended)) for event in held):
            return state
    return EMPTY


def _may_commit(event: e.AnyEvent, *, ended: bool) -> bool:
    return isinstance(event, _COMMITTED) or (ended and isinstance(event, _AT_THE_END))


_Described = tuple[str, str, tuple[tuple[str, str], ...], str]


def _describe(state: RunState, event: e.AnyEvent, left: tuple[str, ...]) -> _Described | None:
    match event:
        case e.Reran() if left:
            return (
                f"{left[0]}: left, {event.target} is done anew",
                "",
                (("Phase", left[0]), ("Rerun", event.target)),
                "Reconvene",
            )
        case e.RoundClosed():
            agents = (
                ", ".join(output.agent for output in state.world.top.round.outputs) if state.world.top.round else ""
            )
            return (
                f"{event.phase}: round {event.n}",
                f"Worked: {agents}" if agents else "",
                (("Phase", event.phase), ("Round", str(event.n)), ("Round-Serial", str(event.serial))),
                "Reconvene",
            )
        case e.ItemDone():
            return f"{event.scope}: {event.key} done", "", (("Phase", event.scope), ("Item", event.key)), "Reconvene"
        case e.PhaseClosed():
            return f"{event.scope}: done", "", (("Phase", event.scope), ("Ended-By", event.ended_by)), "Reconvene"
        case e.DecisionRecorded():
            return (
                f"{event.phase}: {event.option}",
                event.feedback,
                (
                    *(("Phase", event.phase), ("Decision", event.decision), ("Checkpoint", event.checkpoint)),
                    *((("Source", event.source),) if event.source else ()),
                    *((("Approved-By", ", ".join(event.approved)),) if event.approved else ()),
                ),
                event.by or "person",
            )
        case e.FilesEdited():
            paths = ", ".join(file.path for file in event.files)
            return f"Edited {paths}"[:200], "", (("Edit", paths),), event.by or "person"
        case e.RoundUndone():
            return (
                f"{event.phase}: round {event.n} undone",
                event.why,
                (("Phase", event.phase), ("Round", str(event.n)), ("Round-Serial", str(event.serial))),
                event.by or "person",
            )
        case e.ArchivesPruned():
            paths = ", ".join(event.paths)
            return f"Pruned {paths}"[:200], "", (("Pruned", paths),), event.by or "person"
        case e.WorkflowUpgraded():
            digests = (("Workflow-Before", event.before), ("Workflow", event.workflow))
            return "Workflow upgraded", "", digests, event.by or "person"
        case e.Replanned():
            return (
                "Planned anew",
                "",
                (("Phase", event.target), ("Was-At", event.phase or "its end")),
                event.by or "person",
            )
        case e.RunReopened():
            return "Run reopened", "", (("Phase", event.phase or "none"), ("Was", event.status)), event.by or "person"
        case e.FilesRendered() | e.RunEnded() if state.ended:
            return f"Run {state.ended}", "", (("Outcome", state.outcome or state.ended),), "Reconvene"
    return None
