"""Drive one run until it stops: agents in parallel, one mailbox, one writer.

What arrives together shares one commit. Nothing is acknowledged before it is durable. The driver keeps no truth of its
own: kill it at any point, and the next one folds the log and does exactly the rest.
"""

from __future__ import annotations

import asyncio

from msgspec.structs import replace

from reconvene.app import given_material, tool_pages, turns
from reconvene.app.backoff import USUAL, Park, Patience
from reconvene.app.chance import Chance, SystemChance
from reconvene.app.check_scripts import run_check
from reconvene.app.claimed_work import own_work
from reconvene.app.discretion import Discretion
from reconvene.app.effects import Done, Fault, answered_before, assignment, run_task
from reconvene.app.files import Files, Scan
from reconvene.app.left_behind import awaited, leftovers_of, settled, told
from reconvene.app.project_branch import Branch
from reconvene.app.provider_wait import ProviderWaits
from reconvene.app.session import Session
from reconvene.app.telling import NAMED, tell_passed, tell_recorded
from reconvene.app.turns import Posted, TurnsOf
from reconvene.app.unrecorded import Keeping, Mail, Unrecorded
from reconvene.core.facts.commands import Claim, Command, HoldTask, RecordAttempt, RecordFault, Resume
from reconvene.core.facts.events import ProviderAwaited, Usage
from reconvene.core.facts.ids import digest_of, parse_task
from reconvene.core.facts.state import RunState
from reconvene.core.run.plan import RunCheck, RunTask, Work
from reconvene.core.shown.settled_agents import settled_agent
from reconvene.core.working import spending
from reconvene.errors import ReconveneError, StoreError, UserError
from reconvene.language.times import later, seconds_until, spelled
from reconvene.ports import AgentRunner, Assignment, Listener, Progress, Projects
from reconvene.sandbox_ports import Left

_POLL = 0.25  # seconds between looks at what other processes appended
_LONGEST_WAIT = 60.0  # cap on how long an agent that failed may ask to hold back
_COUNT = 1.0  # seconds between two lines of a countdown


class Driver:
    def __init__(
        self,
        session: Session,
        runner: AgentRunner,
        files: Files,
        listener: Listener,
        claim: str,
        by: str,
        door: str,
        judge_model: str = "",
        projects: Projects | None = None,
        patience: Patience = USUAL,
        discretion: Discretion | None = None,
        keeping: Keeping | None = None,
        chance: Chance | None = None,
    ) -> None:
        self._session = session
        self._runner = runner
        self._files = files
        self._listener = listener
        self._claim = claim
        self._by = by
        self._door = door
        self._projects = projects
        self._leftovers = leftovers_of(runner)
        self._branch = Branch(projects, listener)
        self._judge_model = judge_model
        self._mailbox: asyncio.Queue[Mail | None] = asyncio.Queue()  # None: time to look what others appended
        self._keeping = keeping or Keeping()
        self._kept = Unrecorded(session, self._keeping, listener, self._mail)
        self._running: dict[Work, asyncio.Task[None]] = {}
        self._begun: set[Work] = set()  # of those, the ones that wait for nothing any more
        self._holding: dict[str, float] = {}
        self._paged = False
        self._ignored: set[str] = set()
        self._unrecorded = 0.0  # USD: what the results in the mailbox cost
        self._patience = patience
        self._discretion = discretion or Discretion()
        self._secrets = self._discretion.of(session.book.workflow)
        self._waits = ProviderWaits(patience, (chance or SystemChance()).fraction)
        self._slots = asyncio.Semaphore(session.book.workflow.limits.concurrency)

    def post(self, command: Command) -> None:
        """Put a command into the mailbox, from the driver's own event loop."""
        self._mailbox.put_nowait(Done(command, {}))

    async def drive(self, *, tidied: bool = False, at_once: bool = False) -> None:
        """`tidied`: edits are on record, and the files were as the log says a moment ago. `at_once`: also before the
        time until which the run should wait for its provider."""
        session = self._session
        session.refresh()
        left = await settled(self._runner, session.state, self._claim)
        if not await self._until_over(awaited(session.state, left)):
            return
        if not at_once and session.state.awaits is not None and not await self._until_due():
            return
        scan = None if tidied else self._look_before()
        self._tell_ignored(scan)
        if scan is not None and not scan.settled:
            self._files.restore(session, scan)
        kept = self._kept.taken_up()  # before the claim: what was finished is not in doubt
        first: list[Command] = [scan.command] if scan and scan.command else []
        first += [one.command for one in kept]
        running = {one.task: told(one) for one in left}
        claim, resume = Claim(self._by, self._door, running), Resume(self._by, self._door)
        if session.state.awaits is not None:
            commands = [*first, resume, claim]  # tasks that wait are free again, then taken
        else:
            commands = [*first, claim, *([resume] if session.state.paused else [])]
        blobs = {digest: data for one in kept for digest, data in one.blobs.items()}
        outcomes = session.submit(commands, {**blobs, **(scan.blobs if scan else {})}, self._claim)
        if (error := outcomes[commands.index(claim)]) is not None:  # one that cannot go on must not be tried again
            raise error
        self._kept.recorded(kept)
        self._recorded()
        async with asyncio.TaskGroup() as group:
            ticks = group.create_task(self._tick())
            try:
                while True:
                    effects = own_work(session, self._claim, self._by, self._door)
                    self._start(effects, group)
                    self._stop(effects)
                    if not self._running and self._mailbox.empty() and not self._kept.later:
                        return
                    await self._receive()
            finally:
                ticks.cancel()

    def _look_before(self) -> Scan:
        """Edits at a stop, or while the run was paused, are the person's who has it go on. What a process that died in
        the middle of work left may be anybody's."""
        state = self._session.state
        left = [] if state.world.open is not None or state.paused else at_work(state)
        return self._files.found(self._session, left) if left else self._files.scan(self._session, self._by, self._door)

    async def _until_over(self, waited: list[Left]) -> bool:
        """Wait until these have ended, as the person wants. False: not now."""
        session, leftovers = self._session, self._leftovers
        if leftovers is None:
            return True
        for left in waited:
            agent = parse_task(left.task)[2]
            said = f"waiting until it has ended: {told(left)}. Ctrl-C leaves it at work."
            self._listener(Progress(session.run, left.task, agent, "waiting", said))
            while leftovers.is_alive(left):
                mail = await self._mail(_POLL)
                if mail is not None:
                    session.submit([mail.command], mail.blobs, self._claim)
                elif session.behind():
                    session.refresh()
                if session.state.paused or session.state.ended:
                    return False
        return True

    async def _mail(self, seconds: float) -> Mail | None:
        try:
            return await asyncio.wait_for(self._mailbox.get(), seconds)
        except TimeoutError:
            return None

    async def _until_due(self) -> bool:
        """Wait for the time from which the provider may be asked again, if that is within bounds. False: not now."""
        session, awaits = self._session, self._session.state.awaits
        assert awaits is not None
        loop = asyncio.get_running_loop()
        left = seconds_until(session.now(), awaits.not_before)
        if left > self._patience.total:
            return False
        due = loop.time() + left
        what = "waiting"
        while (left := due - loop.time()) > 0:
            told = f"trying again in {spelled(left)}"
            if what == "waiting":
                told = f"{awaits.why} Trying again in {spelled(left)}."
            self._listener(Progress(session.run, "provider", awaits.model, what, told))
            what = "countdown"
            if not await self._still(awaits, min(left, _COUNT)):
                return False
        self._listener(Progress(session.run, "provider", awaits.model, "countdown"))
        return True

    async def _still(self, awaits: ProviderAwaited, seconds: float) -> bool:
        """Whether the run waits for this as before, so many seconds later; what comes by mail is recorded."""
        session = self._session
        if (mail := await self._mail(seconds)) is not None:
            session.submit([mail.command], mail.blobs, self._claim)
        elif session.behind():
            session.refresh()
        return session.state.awaits == awaits and not session.state.paused

    async def _tick(self) -> None:
        while True:
            await asyncio.sleep(_POLL)
            self._mailbox.put_nowait(None)

    def _start(self, effects: list[Work], group: asyncio.TaskGroup) -> None:
        for effect in effects:
            if effect not in self._running:
                self._running[effect] = group.create_task(self._perform(effect))

    def _stop(self, effects: list[Work]) -> None:
        """Cancel what is no longer wanted, once. A plain pause lets agents that have begun finish."""
        state = self._session.state
        patient = state.paused and not state.pause_now
        for effect, task in self._running.items():
            if effect not in effects and not (patient and effect in self._begun) and not task.cancelling():
                task.cancel()

    async def _perform(self, effect: Work) -> None:
        try:
            done = await self._work(effect)
        except asyncio.CancelledError:
            if isinstance(effect, RunCheck):
                return
            done = Done(RecordAttempt(effect.task, effect.attempt, cancelled=True, why="cancelled before it began"), {})
        finally:
            self._running.pop(effect, None)
            self._begun.discard(effect)
        if isinstance(done.command, RecordAttempt):
            self._unrecorded += done.command.usage.cost
        done = replace(done, command=self._secrets.blank_in(done.command))
        self._kept.finished(done, effects=isinstance(effect, RunTask) and self._has_effects(effect))
        self._mailbox.put_nowait(done)

    def _has_effects(self, effect: RunTask) -> bool:
        return self._session.book.workflow.agents[effect.agent].effects

    async def _work(self, effect: Work) -> Done:
        session = self._session
        if isinstance(effect, RunCheck):
            self._begun.add(effect)
            return await run_check(self._runner, session.state, session.book, effect, self._listener)
        try:
            window = await self._runner.window(settled_agent(session.state, session.book, effect.agent))
            assigned = assignment(session.state, session.book, effect, self._projects, window)
            assigned = assigned._replace(takes=self._keeping.takes)
        except UserError as error:
            why = error.message + (f" ({error.hint})" if error.hint else "")
            return Done(RecordAttempt(effect.task, effect.attempt, failed=True, retryable=False, why=why), {})
        hold = self._holding.pop(effect.task, 0.0)
        if hold:
            await asyncio.sleep(hold)
        async with self._slots:  # whoever waits for a provider holds no place
            if spending.reached(session.state, session.book, effect.agent, self._unrecorded):
                return Done(HoldTask(effect.task, effect.attempt), {})
            done = await self._attempt(effect, assigned)
        if isinstance(done, Fault):
            return self._after_fault(effect, done)
        self._waits.over(effect.task)
        if done.wait:
            self._holding[effect.task] = min(done.wait, _LONGEST_WAIT)
        return done

    async def _attempt(self, effect: RunTask, assigned: Assignment) -> Done | Fault:
        self._begun.add(effect)
        answered = answered_before(self._session.state, self._session.book, effect)
        if assigned.agent.tools and assigned.agent.kind in ("model", "recorded"):
            post = self._mailbox.put_nowait
            record = TurnsOf(self._session, effect.task, effect.attempt, post, self._secrets)
            of = self._session.state, self._session.book
            assigned = assigned._replace(
                turns=record, documents=given_material.documents(*of), sources=given_material.sources(*of)
            )
            if not self._paged and (folder := tool_pages.folder_due(*of)):
                self._paged = True
                if (pages := await tool_pages.made(self._runner, *of, assigned, folder)) is not None:
                    self._mailbox.put_nowait(pages)
        return await run_task(
            self._runner, assigned, self._listener, self._judge_model, self._projects, answered, self._discretion,
            self._secrets,
        )  # fmt: skip

    def _after_fault(self, effect: RunTask, fault: Fault) -> Done:
        """The provider failed, not the agent: the same attempt again after a while, or when the run is resumed."""
        error, run = fault.error, self._session.run
        then = self._waits.after_failure(effect.task, error.retry_after)
        step = then.step
        why = error.message + (f" ({error.hint})" if error.hint else "")
        reply: bytes = getattr(error, "reply", b"")
        command = RecordFault(
            effect.task,
            effect.attempt,
            fault.model,
            error.outcome,
            why,
            then.times,
            answer=fault.answer,
            reply=digest_of(reply) if reply else "",
            usage=getattr(error, "usage", None) or Usage(),
        )
        if isinstance(step, Park):
            self._waits.over(effect.task)
            not_before = later(self._session.now(), step.seconds)
            command = replace(command, not_before=not_before)
            told = f"{error.message} It is left until later."
        else:
            self._holding[effect.task] = step.seconds
            command = replace(command, wait=round(step.seconds, 3))
            told = f"{error.message} Trying again in {spelled(step.seconds)}."
        self._listener(Progress(run, effect.task, effect.agent, "waiting", told))
        return Done(command, {**fault.blobs, **({digest_of(reply): reply} if reply else {})})

    async def _receive(self) -> None:
        """Wait for news, take all there is, and append it in one commit."""
        news: list[Mail | None] = [*self._kept.later] or [await self._mailbox.get()]
        self._kept.later.clear()
        while not self._mailbox.empty():
            news.append(self._mailbox.get_nowait())
        self._unrecorded = 0.0
        posted = [mail for mail in news if isinstance(mail, Posted)]
        batch = [mail for mail in news if isinstance(mail, Done)]
        if not posted and not batch:
            self._look_at_others()
        if posted:
            await self._kept.until_recorded([*posted], lambda: turns.record(self._session, posted, self._claim))
        if batch:
            await self._kept.until_recorded([*batch], lambda: self._record(batch))
            self._recorded()

    def _look_at_others(self) -> None:
        """What other processes appended. A store that is locked or full now is looked at again in a moment."""
        try:
            if self._session.behind():
                self._session.refresh()
                self._files.restore(self._session)
        except StoreError as error:
            if not error.passing:
                raise

    def _record(self, batch: list[Done]) -> None:
        session = self._session
        blobs: dict[str, bytes] = {}
        for done in batch:
            blobs |= done.blobs
        scan = self._files.found(session, at_work(session.state))
        self._tell_ignored(scan)
        commands = [*([scan.command] if scan.command else []), *(done.command for done in batch)]
        for error in session.submit(commands, {**blobs, **scan.blobs}, self._claim):
            if error is not None:
                raise error

    def _tell_ignored(self, scan: Scan | None) -> None:
        """Of what lies in the folder of the run and is not taken, each once."""
        for why in [one for one in scan.ignored if one not in self._ignored][:NAMED] if scan is not None else ():
            self._ignored.add(why)
            self._listener(Progress(self._session.run, "", "", "warning", f"not taken from the folder: {why}"))

    def _recorded(self) -> None:
        """Tell what became of it, and bring folder and branch to where the log is."""
        session = self._session
        tell_recorded(session, self._listener)
        self._files.sync(session)
        self._branch.sync(session.state)
        tell_passed(session, self._listener)


def first_error(group: BaseExceptionGroup[BaseException]) -> BaseException:
    """The one to tell: ours before others."""
    for error in group.exceptions:
        if isinstance(error, BaseExceptionGroup):
            return first_error(error)
        if isinstance(error, ReconveneError):
            return error
    return group.exceptions[0]


def at_work(state: RunState) -> list[str]:
    """The agents of the open step that have not ended."""
    step = state.world.top.round.open if state.world.cursor and state.world.top.round else None
    return [name for name in step.order if step.tasks[name].status == "open"] if step is not None else []
