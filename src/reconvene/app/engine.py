"""The application: start, submit, drive, fork. Doors call this; it calls the core and the ports."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping

from msgspec.structs import replace

from reconvene.app import changed_calls, new_runs, run_values
from reconvene.app.backoff import USUAL, Patience
from reconvene.app.chance import Chance
from reconvene.app.discretion import Discretion
from reconvene.app.driver import Driver, first_error
from reconvene.app.files import Files
from reconvene.app.found_edits import editor, record_edits
from reconvene.app.in_hand import InHand
from reconvene.app.left_behind import settle
from reconvene.app.project_branch import Branch
from reconvene.app.run_ids import named_run
from reconvene.app.session import Leases, Session, Sessions, driven_at
from reconvene.app.shown_versions import on_what_was_shown
from reconvene.app.signing import Signer
from reconvene.app.strays import require_known
from reconvene.app.telling import silent, tell_passed
from reconvene.app.unrecorded import Keeping, record_late
from reconvene.core import kit_finder
from reconvene.core.definition.bindings import Binding
from reconvene.core.definition.workflow import Workflow
from reconvene.core.facts.actors import Actor
from reconvene.core.facts.book import Book
from reconvene.core.facts.commands import (
    IN_FILES,
    AddRemark,
    AnswerCheckpoint,
    Command,
    GoOn,
    Lapse,
    Pause,
    PruneArchives,
    RecordChild,
    Replan,
    Rollback,
)
from reconvene.core.facts.state import RunState
from reconvene.core.person import permitted
from reconvene.core.person.undoing import Archive, prunable
from reconvene.core.run.handle import handle, record
from reconvene.core.run.plan import plan, unmade_children
from reconvene.errors import Busy, KitFailed
from reconvene.ports import AgentRunner, Clock, EventLog, History, Listener, Projects, Request, Surroundings, Workspace
from reconvene.wire import replies

_MOMENTS = (0.01, 0.03)  # seconds to wait for a lease that is held for a moment only


class Engine:
    def __init__(
        self,
        log: EventLog,
        clock: Clock,
        runner: AgentRunner,
        workspace_for: Callable[[str, str], Workspace],
        history_for: Callable[[], History],
        home: str,
        judge_model: str = "",
        projects: Projects | None = None,
        surroundings: Surroundings | None = None,
        patience: Patience = USUAL,
        discretion: Discretion | None = None,
        signer: Signer | None = None,
        actor: Actor | None = None,
        person: Callable[[str], Actor] = Actor,
        keeping: Keeping | None = None,
        chance: Chance | None = None,
    ) -> None:
        """`actor`: who acts where a call names nobody; None = the account of this process. `person`: who somebody of
        this name is now, and what they may do. `chance`: None = the system's."""
        self.log = log
        self.projects = projects
        self.surroundings = surroundings
        self.home = home
        self._clock = clock
        self.runner = runner
        self.judge_model = judge_model  # answers what gates ask; "" = nobody does
        self._patience = patience
        self.keeping = keeping or Keeping()
        self.discretion = discretion or Discretion()
        self._workspace_for = workspace_for
        self._history_for = history_for
        self.signer = signer  # of what people do through this engine
        self.actor = actor or Actor(signer.user if signer is not None else "")
        self.person = person
        self.new = new_runs.NewRuns(log, clock, home, workspace_for, signer)
        self._drivers: dict[str, Driver] = {}
        self.leases = Leases(log, chance)
        self._sessions = Sessions(log, clock, self.new.placed, signer)
        self._handed_over: dict[str, InHand] = {}  # run → what `submit` left for the `drive` that follows

    # --- starting and finding ---

    def start(
        self,
        workflow: Workflow,
        inputs: Mapping[str, object] | None = None,
        *,
        settings: Mapping[str, object] | None = None,
        by: str = "",
        door: str = "python",
        bindings: tuple[Binding, ...] = (),
        driving: bool = False,
        prepared: run_values.Prepared | None = None,
        actor: Actor | None = None,
        notify: tuple[str, ...] = (),
        request: Request | None = None,
    ) -> str:
        """Record a new run; nothing works yet. Inputs, settings and bindings are checked against the workflow.

        `driving`: the caller calls `drive` next. Until then nobody else takes the run up. `actor`: for whom. `notify`:
        the destinations that are told of this run beside those of the settings."""
        permitted.require_role(actor or self.actor, "decider", "to start a run")
        given = workflow, inputs or {}, settings or {}, bindings, prepared or run_values.Prepared()
        begins = run_values.beginning(*given, self.surroundings, self.discretion)
        blobs = begins.blobs
        book = Book(workflow, lambda name: blobs[name] if name in blobs else self.log.artefact(name), replies.validate)
        while True:
            run, folder = self.new.free(workflow)
            holder = self.leases.take(run) if driving else ""
            session = Session.new(self.log, self._clock, run, book, self.signer, actor or self.actor)
            session.followers, session.request = notify or None, request
            error, *_ = session.submit([begins.command(run, folder, by, door), *begins.prepared.said], blobs)
            if error is None:
                self._sessions.keep(session)
                if session.state.world.files:  # templates that people may read before anybody works
                    self.files(session).restore(session)
                if holder:
                    self._handed_over[run] = InHand(session, self.files(session), holder, self.leases.chance.token())
                return run
            if holder:
                self.leases.give_back(run, holder)
            if self.log.head(run) == 0:
                raise error

    def foreseen(self, workflow: Workflow, inputs: Mapping[str, object]) -> list[str]:
        """What would stop a run of this workflow hours from now, and can be mended before it starts."""
        unfit = self.projects.unfit if self.projects is not None else None
        return [why for path in run_values.projects(workflow, inputs) if (why := unfit(path))] if unfit else []

    def find(self, prefix: str) -> str:
        """The run that this id, or unique beginning of one, names."""
        if not self.log.head(prefix):
            require_known(self.log, self.home)
        return named_run(self.log, prefix)

    # --- reading and writing ---

    def session(self, run: str, actor: Actor | None = None) -> Session:
        return self._sessions.open(run, actor or self.actor)

    def _at_work(self, run: str) -> Session:
        """The engine itself goes on with the run: for that nobody needs a role."""
        return self._sessions.open(run, replace(self.actor, role=""))

    def now(self) -> str:
        return self._clock.now()

    def load(self, run: str) -> RunState:
        return self.session(run).state

    def submit(
        self,
        run: str,
        command: Command,
        blobs: Mapping[str, bytes] | None = None,
        *,
        driving: bool = False,
        once: bool = False,
        actor: Actor | None = None,
        request: Request | None = None,
    ) -> RunState:
        """Record one command, durably, without driving the run on. What a person did in the workspace comes first.

        A decision is on disk before anything that follows from it is worked out. `driving`: the caller calls `drive`
        next, which does that. Where nobody else holds the lease it is taken now. `once`: Repeated where the same
        decision is on record already; else that changes nothing. `actor`: for whom. `request`: that this carries out.
        """
        session = self.session(run, actor)
        permitted.require(session.actor, command)  # before anything is written, edits included
        command = self.discretion.said(session.book.workflow, command)
        files = self.files(session)
        holder = self.leases.take(run) if driving else ""
        claim = self.leases.chance.token() if holder else ""
        try:
            tidied = False
            if isinstance(command, Replan) or (
                isinstance(command, AnswerCheckpoint | Rollback) and session.state.world.open is not None
            ):
                whose = editor(session, self.signer, self._sessions, command.by, command.door)
                record_edits(whose.session, files, self.leases, whose.by, whose.door, tidy=True, held=bool(holder))
                session = session if whose.session is session else self.session(run, actor)
                tidied = True
            if isinstance(command, AnswerCheckpoint):
                changed_calls.check(session, command)
                command, pinned = new_runs.with_workflows(session, command)
                blobs = {**(blobs or {}), **pinned}
            decided = isinstance(command, AnswerCheckpoint | Rollback)
            as_shown = on_what_was_shown(self.log, once, self.person)
            first = as_shown if decided else record if isinstance(command, Lapse) else handle
            session.do(command, blobs, claim, first, request)
            if first is not handle and not holder:
                session.do(GoOn())
        except BaseException as error:
            if isinstance(error, KitFailed) and isinstance(command, AnswerCheckpoint | Rollback):  # it stays said
                session.submit([AddRemark(said, command.by, command.door) for said in command.remarks])
            if holder:
                self.leases.give_back(run, holder)
            raise
        if holder:
            self._handed_over[run] = InHand(session, files, holder, claim, tidied)
            return session.state
        from reconvene.app.commits import note

        note(self.log, self._history_for(), run, session.state.seq)
        if session.state.ended or isinstance(command, IN_FILES):
            self._tidy(session)
        return session.state

    def _tidy(self, session: Session) -> None:
        """The folder is to be as the log says. Whoever drives the run now does this when its agents have stopped."""
        with self.leases.held(session.run) as held:
            if held:
                self.files(session).restore(session)
                if session.state.ended:
                    settle(self.runner, session.state)
                    Branch(self.projects, silent).leave(session.state)

    def scan(self, run: str, *, by: str = "", door: str = "", actor: Actor | None = None) -> list[str]:
        """Record what a person changed in the workspace; the changed paths."""
        session = self.session(run, actor)
        if session.state.ended:
            return []
        return record_edits(session, self.files(session), self.leases, by, door)

    def prune(
        self, run: str, *, keep: int = 0, by: str = "", door: str = "", actor: Actor | None = None
    ) -> tuple[list[Archive], tuple[str, ...]]:
        """Remove folders kept of undone rounds from the workspace, but for the newest `keep`: what went, and the files
        that stayed because a person changed them."""
        session = self.session(run, actor)
        files = self.files(session)
        changed = files.changed_archives(session)
        pruned = prunable(session.state, keep, changed)
        session.do(PruneArchives(keep, changed, by, door))
        if pruned:
            with self.leases.held(run) as held:
                if held:  # whoever drives the run brings its folder up to date otherwise
                    files.remove(session, [path for archive in pruned for path in archive.paths])
        return pruned, changed

    def files(self, session: Session) -> Files:
        return Files(self._workspace_for(session.run, session.state.workspace))

    # --- driving ---

    def let_go(self, run: str) -> None:
        """The `drive` for which a `submit` made ready does not follow."""
        if (in_hand := self._handed_over.pop(run, None)) is not None:
            self.leases.give_back(run, in_hand.holder)

    async def drive(
        self,
        run: str,
        listener: Listener | None = None,
        *,
        by: str = "",
        door: str = "python",
        take: bool = False,
        at_once: bool = False,
    ) -> RunState:
        """Work until the run waits for a person or for a provider, is paused, or has ended. A queued run leaves the
        queue. One that waits for a provider is not tried before its time, unless `at_once`.

        `take`: only a run that is queued, or that a process left in the middle. Of several that want to take the same
        one exactly one does; the others get Busy.
        """
        in_hand = await self._take_up(run)
        while True:
            session = await self._drive(in_hand, listener or silent, by, door, take=take, at_once=at_once)
            take = at_once = False
            # Whoever decided while the lease was still held here was kept from driving on: then it is done here.
            if session.behind():
                session.refresh()
            holder = self.leases.take(run) if plan(session.state, session.book) else ""
            if not holder:
                return session.state
            in_hand = InHand(session, self.files(session), holder, self.leases.chance.token())

    async def _take_up(self, run: str) -> InHand:
        """What the `submit` before has in hand, or the lease and the run's state."""
        handed = self._handed_over.pop(run, None)
        if handed is not None:
            return handed
        session = self._at_work(run)  # refuses what nobody could drive, before anything is written
        if not session.state.ended:
            kit_finder.require(session.book.workflow)
        holder = self.leases.take(run)
        for moment in _MOMENTS:
            if not holder:  # somebody may only be tidying up before a decision
                await asyncio.sleep(moment)
                holder = self.leases.take(run)
        if not holder:
            raise Busy(f"Another process is driving run {run}.", hint=f"reconvene log {run} --follow shows it working")
        try:
            session = self._at_work(run)
            return InHand(session, self.files(session), holder, self.leases.chance.token())
        except BaseException:
            self.leases.give_back(run, holder)
            raise

    async def _drive(
        self, in_hand: InHand, listener: Listener, by: str, door: str, *, take: bool, at_once: bool
    ) -> Session:
        """To the next stop; then the lease is given back."""
        session, files = in_hand.session, in_hand.files
        try:
            if take and session.state.status not in ("queued", "running") and not driven_at(session.state):
                raise Busy(f"Run {session.run} is {session.state.status}: somebody else took it up.")
            self._make_children(session)
            if session.state.ended:
                tell_passed(session, listener)
                record_late(session, self.keeping, listener)
                settle(self.runner, session.state)
                files.restore(session)
                Branch(self.projects, listener).leave(session.state)
                return session
            driver = Driver(
                session, self.runner, files, listener, in_hand.claim, by, door, self.judge_model, self.projects,
                self._patience, self.discretion, self.keeping, self.leases.chance,
            )  # fmt: skip
            self._drivers[session.run] = driver
            try:
                await driver.drive(tidied=in_hand.tidied, at_once=at_once)
            except BaseExceptionGroup as group:
                raise first_error(group) from None
            if session.state.ended:
                Branch(self.projects, listener).leave(session.state)
            return session
        finally:
            self._drivers.pop(session.run, None)
            self.leases.give_back(session.run, in_hand.holder)

    def make_children(self, run: str) -> None:
        """Make what the run's decisions started and a crash left unmade. Whoever drives the run does it, too."""
        with self.leases.held(run) as held:
            if held:
                self._make_children(self._at_work(run))

    def _make_children(self, session: Session) -> None:
        """Make the runs that a decision started and that have no log yet; also after the run's own end."""
        for effect in unmade_children(session.state):
            child = self.new.make_child(session, effect.key)
            session.submit([RecordChild(effect.key, child)])

    def request_pause(self, run: str, *, now: bool = False, by: str = "", door: str = "", left: bool = False) -> None:
        """Park the run that this process drives; from its own event loop (a signal handler of asyncio will do). `left`:
        until somebody takes it up again, and not until a person resumes it."""
        driver = self._drivers.get(run)
        if driver is not None:
            driver.post(Pause(by, door, now, left))
        else:
            self.submit(run, Pause(by, door, now, left))

    def drive_sync(self, run: str, listener: Listener | None = None) -> RunState:
        return asyncio.run(self.drive(run, listener))

    # --- forks and history ---

    def fork(
        self, run: str, at: int = 0, *, by: str = "", door: str = "", actor: Actor | None = None,
        request: Request | None = None,
    ) -> str:  # fmt: skip
        """A new run with this one's log up to `at` (0 = all of it): remarks travel, open work starts anew."""
        permitted.require_role(actor or self.actor, "decider", "to fork a run")
        return self.new.fork(run, at, by, door, actor or self.actor, request)

    def commit_history(self, run: str) -> None:
        """Let the git history catch up with the log."""
        from reconvene.app.commits import catch_up

        catch_up(self.log, self._history_for(), run, self._sessions.earlier(run))
        self._sessions.caught_up(run)

    def history(self) -> History:
        return self._history_for()

    async def close(self) -> None:
        for run in [*self._handed_over]:
            self.let_go(run)
        await self.runner.close()
        self.log.close()
