"""What every EventLog promises of requests: an append carries one out once, and it is known where."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from typing import TYPE_CHECKING

from reconvene.chain_ports import Deleted, Unneeded
from reconvene.errors import Conflict, Repeated
from reconvene.language.times import later
from reconvene.ports import REQUESTS_KEPT, Append, EventLog, Request
from reconvene.testing.samples import NOW, paused, refused, row

_MARK = "ab" * 32


class RequestConformance:
    if TYPE_CHECKING:  # of the suite that this is a part of

        @cached_property
        def log(self) -> EventLog: ...

        def open(self) -> EventLog: ...

    def _asked(self, log: EventLog, run: str, at: int, mark: str = _MARK, now: str = NOW) -> int:
        return log.append(run, at, Append([paused("a"), paused("b")], row=row(run), request=Request(mark, now)))

    def test_a_request_is_carried_out_by_one_append_and_it_is_known_where(self) -> None:
        assert self.log.carried_out(_MARK) is None
        self._asked(self.log, "run-1", 0)
        other = self.open()
        assert other.carried_out(_MARK) == ("run-1", 2)
        refused(Repeated, lambda: self._asked(other, "run-1", 2))
        refused(Repeated, lambda: self._asked(other, "run-2", 0))
        assert (other.head("run-1"), other.head("run-2")) == (2, 0)
        assert self._asked(other, "run-1", 2, mark="cd" * 32) == 4

    def test_what_was_not_appended_carries_nothing_out(self) -> None:
        self.log.append("run-1", 0, Append([paused("a")], row=row("run-1")))
        refused(Conflict, lambda: self._asked(self.log, "run-1", 0))
        assert self.log.carried_out(_MARK) is None

    def test_of_many_at_once_one_carries_a_request_out(self) -> None:
        logs = [self.open() for _ in range(4)]

        def attempt(number: int) -> bool:
            try:
                self._asked(logs[number % 4], f"run-{number}", 0)
            except Repeated:
                return False
            return True

        with ThreadPoolExecutor(8) as pool:
            assert sum(pool.map(attempt, range(16))) == 1
        assert len(self.log.heads()) == 1

    def test_requests_are_forgotten_in_time_and_with_their_run(self) -> None:
        self._asked(self.log, "run-1", 0)
        self._asked(self.log, "run-2", 0, "cd" * 32, later(NOW, REQUESTS_KEPT + 1))
        assert self.log.carried_out(_MARK) is None
        self.log.delete(Deleted("run-2", 2, b"", "{}", b""), lambda: Unneeded((), ()))
        assert self.log.carried_out("cd" * 32) is None
