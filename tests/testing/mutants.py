"""The engine broken on purpose, in ways in which it could break: a simulation that does not notice proves nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest
from msgspec.structs import replace

from reconvene.app import driver, effects, files, session
from reconvene.core.facts import events as e
from reconvene.core.run import handle as handling
from reconvene.core.run.plan import work
from reconvene.core.working import attempts
from reconvene.core.working.steps import open_tasks
from reconvene.errors import Conflict, StoreError

Mutant = Callable[[pytest.MonkeyPatch], None]
MUTANTS: dict[str, Mutant] = {}


def mutant(function: Mutant) -> Mutant:
    MUTANTS[function.__name__] = function
    return function


@mutant
def appends_without_comparing(patch: pytest.MonkeyPatch) -> None:
    """Whatever others appended meanwhile, it is appended behind it."""
    before = session.Session._append

    def append(self: session.Session, state: Any, recorded: Any, artefacts: Any) -> None:
        log, real = self._log, self._log.append
        vars(log)["append"] = lambda run, seq, given: real(run, log.head(run), given)
        try:
            before(self, state, recorded, artefacts)
        finally:
            del vars(log)["append"]

    patch.setattr(session.Session, "_append", append)


@mutant
def acknowledges_what_could_not_be_written(patch: pytest.MonkeyPatch) -> None:
    before = session.Session._append

    def append(self: session.Session, *args: Any) -> None:
        try:
            before(self, *args)
        except Conflict:
            raise
        except StoreError:
            pass

    patch.setattr(session.Session, "_append", append)


@mutant
def forgets_that_others_may_have_begun(patch: pytest.MonkeyPatch) -> None:
    """What the process that died had begun is simply begun."""

    def claim(tx: Any, command: Any) -> None:
        if not tx.state.ended and (mine := tuple(name for name, task in open_tasks(tx) if task.claim != tx.claim)):
            tx.emit(e.TasksClaimed(at=tx.now, tasks=mine, claim=tx.claim))

    patch.setattr(handling, "_claim", claim)


@mutant
def begins_what_nobody_took_up(patch: pytest.MonkeyPatch) -> None:
    """A mistake of this engine that the simulation found."""
    patch.setattr(driver, "own_work", lambda session, *_: work(session.state, session.book))


@mutant
def keeps_leases_that_a_locked_store_did_not_take_back(patch: pytest.MonkeyPatch) -> None:
    """Another one."""
    patch.setattr(session.Leases, "give_back_left", lambda self: None)


@mutant
def overlooks_what_people_wrote(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(files.Files, "_edits", lambda self, *args: (None, {}))


@mutant
def tries_again_what_acted_and_failed(patch: pytest.MonkeyPatch) -> None:
    before = attempts.end

    def end(tx: Any, task: Any, ended: Any, wrong: Any, *, retryable: bool = True, begun: bool = False) -> None:
        before(tx, task, ended, wrong, retryable=retryable, begun=False)

    patch.setattr(attempts, "end", end)


@mutant
def does_not_show_the_newest_remark(patch: pytest.MonkeyPatch) -> None:
    before = effects.shown

    def shown(*args: Any) -> Any:
        view = before(*args)
        texts: list[Mapping[str, str]] = list(view.remarks)
        return replace(view, prompt=view.prompt.replace(texts[-1]["text"], "…")) if texts else view

    patch.setattr(effects, "shown", shown)


@mutant
def believes_the_clock(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(session.Session, "now", lambda self: self._clock.now())


@mutant
def forgets_requests(patch: pytest.MonkeyPatch) -> None:
    """The same request is carried out as often as it comes."""
    before = session.Session.do_all

    def do_all(self: session.Session, *args: Any, **more: Any) -> None:
        before(self, *args[:4], **{name: value for name, value in more.items() if name != "request"})

    patch.setattr(session.Session, "do_all", do_all)


@mutant
def tells_before_it_is_written(patch: pytest.MonkeyPatch) -> None:
    """Answers are told as done when they come, and not when they are on disk."""
    before = driver.Driver._perform

    async def perform(self: driver.Driver, effect: Any) -> None:
        await before(self, effect)
        said = driver.Progress(self._session.run, getattr(effect, "task", ""), "", "done")
        self._listener(said)

    patch.setattr(driver.Driver, "_perform", perform)
