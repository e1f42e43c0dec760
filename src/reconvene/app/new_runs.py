"""What a new run begins with: an id and a folder that are free, its inputs and settings, or another run's log.

Ids and folders come from templates of the workflow, so what comes out is checked here, whatever was checked before. A
folder that holds anything is somebody's: a new run takes another number, or is refused where there is no other. What
the runs are that a decision starts was settled in the decision; making one twice changes nothing.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable
from itertools import count

from msgspec.structs import replace

from reconvene.app.session import Session, book_for, due_at, index_row, state_after, state_of
from reconvene.app.signing import Signer, to_sign
from reconvene.core.definition.bindings import EVERYONE, fitting
from reconvene.core.definition.workflow import Workflow
from reconvene.core.facts.actors import Actor
from reconvene.core.facts.commands import AnswerCheckpoint, Pinned, StartRun
from reconvene.core.facts.events import AgentsBound, AnyEvent, Forked
from reconvene.core.facts.evolve import fold
from reconvene.core.facts.ids import digest_of
from reconvene.core.facts.state import EMPTY, RunState
from reconvene.core.paths import safe_path, why_no_run_id
from reconvene.core.shown.on_record import standing
from reconvene.errors import Conflict, Refused, StoreError, UserError
from reconvene.language import templates
from reconvene.ports import Append, Clock, EventLog, Request, Workspace
from reconvene.wire.pins import pin

_MOST = 1 << 20  # numbers that are looked at for a free one
_MOST_NAMES = 1000  # that are tried for one child


class NewRuns:
    def __init__(
        self,
        log: EventLog,
        clock: Clock,
        home: str,
        workspace_for: Callable[[str, str], Workspace],
        signer: Signer | None = None,
    ) -> None:
        self._log = log
        self._signer = signer
        self._clock = clock
        self._home = home
        self._workspace_for = workspace_for
        self._last: dict[tuple[str, ...], int] = {}  # by what makes an id: the number that was free the last time

    def free(self, workflow: Workflow) -> tuple[str, str]:
        """An unused id, with the first unused number there is by doubling and halving, and its folder."""
        year = self._clock.now()[:4] if workflow.run_id else ""
        if _id(workflow, year, 1) == _id(workflow, year, 2):
            return self._only(workflow, _id(workflow, year, 1))
        made_of = (workflow.run_id, workflow.name, year)
        low = max(self._last.get(made_of, 0) - 1, 0)  # that number may be free still
        high, step = low + 1, 1
        while self._taken(workflow, _id(workflow, year, high)):
            low, high, step = high, high + step, step * 2
            if high > _MOST:
                raise _at_fault(workflow, "run_id", f"gives no free id in {_MOST} numbers", "use {{ n }} as it is")
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if self._taken(workflow, _id(workflow, year, middle)) else (low, middle)
        self._last[made_of] = high
        run = _id(workflow, year, high)
        return run, self.folder(workflow, run)

    def _only(self, workflow: Workflow, run: str) -> tuple[str, str]:
        if self._log.head(run):
            message = f"always gives {run!r}, and there is such a run already"
            raise _at_fault(workflow, "run_id", message, "add {{ n }} to it: every run needs an id of its own")
        folder = self.folder(workflow, run)
        self.require_empty(workflow, run, folder)
        return run, folder

    def _taken(self, workflow: Workflow, run: str) -> bool:
        return self._log.head(run) > 0 or self.occupied(run, self.folder(workflow, run))

    def occupied(self, run: str, folder: str) -> bool:
        return self._workspace_for(run, folder).occupied()

    def require_empty(self, workflow: Workflow, run: str, folder: str) -> None:
        if self.occupied(run, folder):
            raise UserError(
                f"Run {run} of {workflow.name} cannot start: its folder {folder} is not empty, and what is in it is "
                "not touched.",
                hint=f"Move the folder away: mv {folder} {folder}-old",
            )

    def folder(self, workflow: Workflow, run: str) -> str:
        """Where the files of this run lie: below the home, or where the workflow says, below the project's folder."""
        if why := why_no_run_id(run):
            raise UserError(f"{run!r} cannot be the id of a run: it {why}.")
        if not workflow.workspace:
            return os.path.join(self._home, "runs", run)
        try:
            relative = safe_path(templates.render(workflow.workspace, {"run": run, "name": workflow.name}))
        except UserError as error:
            message = error.message.rstrip(".")
            raise _at_fault(workflow, "workspace", f"cannot be used: {message[0].lower()}{message[1:]}") from None
        project = os.path.dirname(self._home)
        folder = os.path.join(project, relative)
        if not _inside(os.path.realpath(folder), os.path.realpath(project)):
            message = f"gives {relative!r}, which a link leads out of {project}"
            raise _at_fault(workflow, "workspace", message, "name a folder that lies in it")
        if _is_home(folder, self._home):
            message = f"gives {relative!r}, which lies in {self._home}, where the state of all runs is kept"
            raise _at_fault(workflow, "workspace", message, "name another folder, or leave 'workspace' out")
        return folder

    def placed(self, state: RunState, workflow: Workflow) -> RunState:
        """The state with the folder of the run where it lies now. The log has it in full; in a home that was moved with
        its files it is in the same place beside the home as before."""
        folder, project = state.workspace, os.path.dirname(self._home)
        if not folder or _inside(folder, project) or os.path.lexists(folder):
            return state
        if _inside(os.path.realpath(folder), os.path.realpath(project)):
            return state
        try:
            return replace(state, workspace=self.folder(workflow, state.run))
        except UserError:  # what the workflow says cannot be used here: whoever writes there is told
            return state

    def make_child(self, parent: Session, key: str) -> str:
        """The id of the run that a decision of this one started under this key; it exists afterwards. Where a
        stranger has its name or its folder, it gets the next."""
        state = parent.state
        planned = state.record.children[key]
        child = planned.child
        book = book_for(self._log, child.workflow, parent.run)
        inherited = tuple(map(state.record.remarks.__getitem__, standing(state, planned.remarks)))
        for number in count(1):
            run = child.run if number == 1 else f"{child.run}-{number}"
            if self._log.head(run):
                if _is_child(self._log, run, parent.run, key):
                    return run
                continue
            folder = self.folder(book.workflow, run)
            if self.occupied(run, folder):
                if number == _MOST_NAMES or folder == self.folder(book.workflow, f"{child.run}-{number + 1}"):
                    self.require_empty(book.workflow, run, folder)
                continue
            session = Session.new(self._log, self._clock, run, book)
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
                bindings=fitting(book.workflow, [held.binding for held in state.record.bindings.values()]),
            )
            (error,) = session.submit([command])
            if error is None or _is_child(self._log, run, parent.run, key):
                return run
            if not self._log.head(run):
                raise error
        raise AssertionError("count() never ends")

    def _bound_now(self, forked: Forked, state: RunState, agents: Iterable[str]) -> list[AgentsBound]:
        """Whoever carries the source's agents out today does so in the fork, also where it was bound later."""
        today = state_of(self._log, forked.source).record.bindings
        held = {name: today[name].binding for name in (EVERYONE, *agents) if name in today}
        if held == {name: at.binding for name, at in state.record.bindings.items()}:
            return []
        now = tuple(sorted(held.values(), key=lambda one: one.agent))
        return [AgentsBound(at=forked.at, bindings=now, by=forked.by, user=forked.user, door=forked.door)]

    def fork(self, run: str, at: int, by: str, door: str, actor: Actor, request: Request | None = None) -> str:
        """A new run with this one's log up to `at` (0 = all of it): remarks travel, open work starts anew."""
        events = self._log.read(run)
        if not events:
            raise UserError(f"There is no run {run!r}.")
        if at < 0 or at > events[-1][0]:
            told = f"Run {run} has events 1 to {events[-1][0]}; {at} is not one of them."
            raise Refused(told, hint=f"reconvene log {run}", field="at")
        prefix, state = rest_point(run, events[: at or len(events)])
        if not prefix:
            told = f"Nothing had been started at event {at} of {run}."
            raise Refused(told, hint=f"reconvene log {run}", field="at")
        book = book_for(self._log, state.workflow, run)  # refuses what nobody could drive, before anything is written
        number = 1
        while True:
            new = f"{run}-fork-{number}"
            if why := why_no_run_id(new):
                raise UserError(f"{run} cannot be forked: the id {new!r} {why}.")
            folder = os.path.join(os.path.dirname(state.workspace), new)
            if self._log.head(new) or self.occupied(new, folder):
                number += 1
                continue
            forked = Forked(
                at=max(self._clock.now(), state.updated),
                run=new,
                source=run,
                source_seq=len(prefix),
                source_chain=next((value for seq, value in self._log.chain(run) if seq >= len(prefix)), b"").hex(),
                workspace=folder,
                by=by,
                user=actor.user,
                door=door,
            )
            try:
                own: list[AnyEvent] = [forked, *self._bound_now(forked, state, book.workflow.agents)]
                made = to_sign(self._signer, actor, state, fold(own, state), own)
                row, due = index_row(made.state), due_at(made.state)
                both = [*prefix, *made.events]
                self._log.append(new, 0, Append(both, row=row, seal=made.seal, due=due, request=request))
                return new
            except Conflict:
                number += 1


def require_own_folder(folder: str, home: str) -> None:
    """The rules of `NewRuns.folder` once more, whenever a run's folder is used: a link may have come there since."""
    project = os.path.dirname(home)
    chosen = _inside(folder, project) and not _inside(folder, home)  # by the workflow's `workspace`
    if chosen:
        astray = not _inside(os.path.realpath(folder), os.path.realpath(project)) or _is_home(folder, home)
    else:
        astray = os.path.islink(folder)
    if astray:
        link = _first_link(folder, project) if chosen else folder
        raise StoreError(
            f"The folder {folder} of a run is not used: {link} is a link and leads to {os.path.realpath(link)}."
            " Nothing was read or written there.",
            hint=f"Move the link away: mv {link} {link}-old. Then go on with: reconvene resume",
        )


def _first_link(folder: str, above: str) -> str:
    path = above
    for name in os.path.relpath(folder, above).split(os.sep):
        path = os.path.join(path, name)
        if os.path.islink(path):
            return path
    return folder


def _is_home(folder: str, home: str) -> bool:
    """Whether the home is this folder or one above it, under whatever name (disks that ignore case, links)."""
    path, home = os.path.realpath(folder), os.path.realpath(home)
    while True:
        if path == home or (os.path.exists(path) and os.path.exists(home) and os.path.samefile(path, home)):
            return True
        if path == os.path.dirname(path):
            return _inside(home, os.path.realpath(folder))
        path = os.path.dirname(path)


def _id(workflow: Workflow, year: str, n: int) -> str:
    if not workflow.run_id:
        run = f"{workflow.name}-{n}"
    else:
        run = templates.render(workflow.run_id, {"year": year, "n": f"{n:03d}", "name": workflow.name})
    if why := why_no_run_id(run):
        raise _at_fault(workflow, "run_id" if workflow.run_id else "name", f"gives the run id {run!r}, which {why}")
    return run


def _inside(path: str, folder: str) -> bool:
    return path.startswith(folder + os.sep) or os.path.commonpath([path, folder]) == folder  # the first is quicker


def _at_fault(workflow: Workflow, key: str, message: str, hint: str = "") -> UserError:
    """With the line of the workflow to change."""
    lines = workflow.source.split("\n")
    line = next((number for number, text in enumerate(lines, 1) if re.match(rf"""["']?{key}["']?\s*:""", text)), 0)
    where = f"{workflow.file}:{line}" if line else workflow.file or workflow.name
    hint = hint or f'Change it there, such as {key}: "{_EXAMPLES[key]}"'
    return UserError(f"{where}: '{key}' {message}.", hint=hint)


_EXAMPLES = {"run_id": "REPORT-{{ year }}-{{ n }}", "workspace": "reports/{{ run }}", "name": "report"}


def _is_child(log: EventLog, run: str, parent: str, key: str) -> bool:
    from reconvene.app import index  # here: only who starts other runs asks

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
    from reconvene.wire.workflow_file import load_workflow

    known = packaged()
    workflows, blobs = dict[str, Pinned](), dict[str, bytes]()
    for name in sorted(wanted & known.keys()):
        workflow = load_workflow(known[name])
        data = pin(workflow)
        workflows[name] = Pinned(digest_of(data), workflow)
        blobs[workflows[name].digest] = data
    return replace(command, workflows=workflows), blobs


def rest_point(
    run: str, events: list[tuple[int, AnyEvent]], *, or_end: bool = False
) -> tuple[list[AnyEvent], RunState]:
    """The longest prefix after which the run was at rest and had not ended: it waited for a person, or for agents.
    `or_end`: an end will do as well."""
    state, best, at_best = EMPTY, 0, EMPTY
    for seq, event in events:
        state = state_after(run, state, seq, event)
        step = state.world.top.round.open if state.world.cursor and state.world.top.round else None
        waited = state.world.open is not None or (step is not None and step.open > 0)
        if or_end if state.ended else waited:
            best, at_best = seq, state
    return [event for _, event in events[:best]], at_best
