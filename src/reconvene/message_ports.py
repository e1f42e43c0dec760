"""Messages that leave with an event: what they say, where they go, the outbox, and who sends them. Nothing here acts.

A message is a row of the store, written in the same append as the event that it tells of, one for each destination. A
row names a destination and never its address: addresses are secrets, and stand in a person's settings or environment.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from types import MappingProxyType
from typing import Literal, NamedTuple, Protocol

Kind = Literal["waiting", "attention", "deadline", "ended", "failed"]
KINDS: tuple[Kind, ...] = ("waiting", "attention", "deadline", "ended", "failed")
State = Literal["waiting", "delivered", "given up"]


class Notice(NamedTuple):
    """What one event is told with. Kept in the outbox: see `wire/notice_json.py`.

    `asks` is the question in one line, or how the run ended; agents may have written it. `since`: when the checkpoint
    was opened, or the run was started."""

    kind: str = ""
    run: str = ""
    workflow: str = ""
    seq: int = 0  # of the last event of the append
    at: str = ""
    asks: str = ""
    phase: str = ""
    title: str = ""
    checkpoint: str = ""
    since: str = ""
    deadline: str = ""
    who: tuple[str, ...] = ()  # who may decide; () = whoever decides


class Message(NamedTuple):
    """A notice on its way. The id stays the same however often it is sent."""

    id: str
    to: str  # the name of a destination
    notice: Notice


class Routes(NamedTuple):
    """Which destinations are told of what, by name. What follows one run the store knows: see `Outbox.followers`."""

    everybody: tuple[str, ...] = ()
    people: Mapping[str, tuple[str, ...]] = MappingProxyType({})
    workflows: Mapping[str, tuple[str, ...]] = MappingProxyType({})
    teams: Mapping[str, tuple[str, ...]] = MappingProxyType({})  # team:NAME → the people in it
    kinds: Mapping[str, frozenset[str]] = MappingProxyType({})  # that a destination wants; not there = all

    def of_person(self, who: str) -> tuple[str, ...]:
        """Of a person; of a team, its own and those of the people in it."""
        return (*self.people.get(who, ()), *(to for one in self.teams.get(who, ()) for to in self.people.get(one, ())))

    def wants(self, to: str, kind: str) -> bool:
        return to not in self.kinds or kind in self.kinds[to]


class Queued(NamedTuple):
    """A message in the outbox. `due`: when it is tried next. `attempts` counts tries, the one under way included;
    `error`: why the last one failed."""

    message: Message
    state: State
    made: str
    due: str
    attempts: int
    error: str = ""
    changed: str = ""  # when something last became of it


class Outbox(Protocol):
    """Part of every store of logs: rows are written by its appends."""

    routes: Callable[[], Routes]  # whoever appends addresses messages by these; asked where something is to be told

    def followers(self, run: str) -> tuple[str, ...]:
        """The destinations that are told of this run beside those of the routes."""

    def claim_messages(self, now: str, until: str, to: Collection[str], limit: int = 20) -> list[Queued]:
        """What is due for these destinations, the oldest first, and from now on yours: nobody else gets it before
        `until`. Of several who ask at once each gets others."""

    def settle_message(self, id: str, attempt: int, now: str, *, error: str = "", again: str = "") -> None:
        """What became of a claimed message: delivered, or why not and when it is due again. `attempt`: as claimed;
        where somebody else has claimed it since, nothing changes."""

    def put_back(self, id: str, attempt: int, due: str) -> None:
        """It was claimed and not tried."""

    def drop_message(self, id: str, attempt: int) -> None:
        """It was claimed, and nobody wants it."""

    def messages(self, limit: int = 0) -> list[Queued]:
        """Newest first; at most `limit`, 0 = all."""

    def retry_messages(self, now: str, to: str = "") -> int:
        """What waits or was given up, for one destination or all, is due now; how many."""

    def tidy_messages(self, *, tried: str, untried: str, done: str, now: str) -> int:
        """Give up what waits since before `tried` and was tried, and since before `untried` at all; forget what was
        delivered or given up before `done`. How many were given up."""


class Destination:
    """Where messages go. The address is a secret: it is in no text of this object."""

    def __init__(
        self, name: str, url: str, *, secret: str = "", kinds: Collection[str] = KINDS, problem: str = ""
    ) -> None:
        """`secret`: it is a webhook, and what is sent is signed with this. `problem`: why it cannot be used now."""
        self.name = name
        self.url = url
        self.secret = secret
        self.kinds = frozenset(kinds)
        self.problem = problem

    @property
    def way(self) -> str:
        """What it is, in a word: webhook, or the scheme of its address."""
        return "webhook" if self.secret else self.url.partition("://")[0] or "?"

    def __repr__(self) -> str:
        return f"<Destination {self.name} ({self.way})>"


class Letter(NamedTuple):
    """A message written out: as text for people, as JSON for programs."""

    id: str
    kind: str
    title: str
    text: str
    data: bytes


class Sender(Protocol):
    async def send(self, destination: Destination, letters: Sequence[Letter]) -> list[str]:
        """In this order, until one fails or time is up: for each that was tried "" or why it failed, in words without
        any part of the address. The rest was not tried."""
