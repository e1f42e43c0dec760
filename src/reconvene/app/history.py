"""The log as commits: one per round closed, item done, decision, edit and undo, with the files as they were then."""

from __future__ import annotations

from collections.abc import Iterator

from reconvene.core import events as e
from reconvene.core.evolve import evolve
from reconvene.core.state import EMPTY, RunState
from reconvene.ports import Commit, EventLog, History


def catch_up(log: EventLog, history: History, run: str) -> None:
    done = history.last_seq(run)
    if done >= log.head(run):
        return
    history.commit(run, (commit for commit in commits(log, run) if commit.seq > done), log.artefact)


def commits(log: EventLog, run: str) -> Iterator[Commit]:
    state = EMPTY
    for seq, event in log.read(run):
        state = evolve(state, event)
        described = _describe(state, event)
        if described is not None:
            subject, body, trailers, author = described
            files = {path: version.digest for path, version in state.files.items()}
            yield Commit(seq, files, subject, body, trailers, author, event.at)


_Described = tuple[str, str, tuple[tuple[str, str], ...], str]


def _describe(state: RunState, event: e.AnyEvent) -> _Described | None:
    match event:
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
        case e.DecisionRecorded():
            return (
                f"{event.phase}: {event.option}",
                event.feedback,
                (("Phase", event.phase), ("Decision", event.decision), ("Checkpoint", event.checkpoint)),
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
        case e.FilesRendered() | e.RunEnded() if state.ended:
            return f"Run {state.ended}", "", (("Outcome", state.outcome or state.ended),), "Reconvene"
    return None
