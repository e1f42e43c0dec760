"""What the agents' adapters ask of whoever keeps programs in, and of whoever knows what was left at work."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol, runtime_checkable

if TYPE_CHECKING:
    from reconvene.core.definition.workflow import Agent


class Ground(NamedTuple):
    """Of a folder that is lent to an agent: what there it may change, what it may read, and what it must not see."""

    writable: tuple[str, ...] = ()
    readable: tuple[str, ...] = ()
    hidden: tuple[str, ...] = ()


class Start(NamedTuple):
    """A program as it would be started, and what it is to be kept from."""

    agent: Agent
    argv: tuple[str, ...]
    env: Mapping[str, str]
    folder: str  # where it works, and may write
    ground: Ground = Ground()
    copies: Mapping[str, str] = MappingProxyType({})  # below the person's own folder → whose private copy it gets there
    moved: Mapping[str, str] = MappingProxyType({})  # variables that must name such a copy, as far as they are set
    logins: tuple[str, ...] = ()  # names of files in these copies that hold a login, which a program may renew
    alone: tuple[str, ...] = ()  # argv for where it cannot have a sandbox of its own; () = the same
    read_only: bool = False  # in its folder, too: AgentError where nothing can keep it from writing there


class Kept(NamedTuple):
    """A program as it is really started. level: what keeps it in, as it is recorded.

    stand_in: what is started instead, and starts it: a keeper, which ends what it leaves behind, or a sandbox.
    """

    argv: tuple[str, ...]
    env: Mapping[str, str]
    level: str
    stand_in: Literal["", "keeper", "sandbox"] = ""
    started: Callable[[int], None] | None = None  # wants to know the process
    handles: tuple[int, ...] = ()  # open files that what is started is given


class Sandbox(Protocol):
    """Keeps programs from what is not theirs."""

    def scratch(self) -> str:
        """Where attempts get their private folders."""

    def keep(self, start: Start) -> AbstractContextManager[Kept]:
        """For one attempt; afterwards nothing of it is left. AgentError where it is asked for and cannot be had."""

    def close(self) -> None: ...


class Left(NamedTuple):
    """A program of an agent that acts on the world, still at work though the process that started it is gone."""

    key: str
    task: str
    attempt: int
    pid: int
    command: str
    since: float  # seconds since 1970


@runtime_checkable
class Leftovers(Protocol):
    """What is at work for runs although whoever started it is gone."""

    def possible(self) -> bool:
        """Whether anything might be there. Costs next to nothing."""

    def of(self, run: str) -> list[Left]:
        """Only for who holds the run's lease. All else is ended when this returns, but agents that act on the world."""

    def is_alive(self, left: Left) -> bool: ...

    def end(self, left: Iterable[Left]) -> None: ...

    def end_own(self) -> None:
        """At once, all that this process has started."""
