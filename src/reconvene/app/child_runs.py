"""Makes the runs that a decision started: each a log of its own, in the queue, with what its parent's person said.

Everything about them was settled in the decision; here it is only carried out, and doing that twice changes nothing.
"""

from __future__ import annotations

from itertools import count

from msgspec.structs import replace

from reconvene.app import index
from reconvene.app.new_runs import NewRuns
from reconvene.app.session import Session, book_for
from reconvene.core.facts.commands import AnswerCheckpoint, Pinned, StartRun
from reconvene.core.facts.ids import digest_of
from reconvene.core.shown.on_record import standing
from reconvene.ports import Clock, EventLog
from reconvene.wire.pins import pin
from reconvene.wire.workflow_file import load_workflow

_MOST = 1000  # names that are tried for one child


def make(log: EventLog, clock: Clock, parent: Session, key: str, new: NewRuns) -> str:
    """The id of that child, which exists afterwards. Where a stranger has its name or its folder, it gets the next."""
    state = parent.state
    planned = state.record.children[key]
    child = planned.child
    book = book_for(log, child.workflow, parent.run)
    inherited = tuple(map(state.record.remarks.__getitem__, standing(state, planned.remarks)))
    for number in count(1):
        run = child.run if number == 1 else f"{child.run}-{number}"
        if log.head(run):
            if _is_child(log, run, parent.run, key):
                return run
            continue
        folder = new.folder(book.workflow, run)
        if new.occupied(run, folder):
            if number == _MOST or folder == new.folder(book.workflow, f"{child.run}-{number + 1}"):
                new.require_empty(book.workflow, run, folder)
            continue
        session = Session.new(log, clock, run, book)
        command = StartRun(
            run,
            child.workflow,
            child.name,
            child.inputs,
            child.settings,
            folder,
            state.by,
            "queue",
            parent=parent.run,
            piece=key,
            title=child.title,
            place=child.place,
            remarks=inherited,
        )
        (outcome,) = session.submit([command])
        if outcome.error is None or _is_child(log, run, parent.run, key):
            return run
        if not log.head(run):
            raise outcome.error
    raise AssertionError("count() never ends")


def _is_child(log: EventLog, run: str, parent: str, key: str) -> bool:
    found = index.one(log, run)
    return found is not None and (found.parent, found.piece) == (parent, key)


def with_workflows(session: Session, command: AnswerCheckpoint) -> tuple[AnswerCheckpoint, dict[str, bytes]]:
    """The decision with the packaged workflows that its option starts, as they are now; and their pinned forms."""
    point = session.state.world.open
    definition = session.book.phase(point.phase).checkpoint if point and not point.attention and point.phase else None
    own = session.book.workflow.name
    wanted = {
        option.start.workflow
        for option in (definition.options if definition else ())
        if option.start is not None
        and option.start.workflow != own
        and option.label.casefold() == command.option.casefold()
    }
    if not wanted:
        return command, {}
    from reconvene.wire.packaged import packaged

    known = packaged()
    workflows, blobs = dict[str, Pinned](), dict[str, bytes]()
    for name in sorted(wanted & known.keys()):
        workflow = load_workflow(known[name])
        data = pin(workflow)
        workflows[name] = Pinned(digest_of(data), workflow)
        blobs[workflows[name].digest] = data
    return replace(command, workflows=workflows), blobs
