"""The outbox of a log in memory, for tests. It passes the same conformance suite as the real one."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from threading import Lock

from reconvene.message_ports import Message, Queued, Routes


class MemoryOutbox:
    _lock: Lock

    def __init__(self) -> None:
        self.routes: Callable[[], Routes] = Routes
        self._outbox: dict[str, Queued] = {}
        self._since: dict[str, str] = {}
        self._followers: dict[str, tuple[str, ...]] = {}

    def _leave(self, run: str, messages: Sequence[Message], followers: tuple[str, ...] | None) -> None:
        """Within an append."""
        for one in messages:
            at = one.notice.at
            self._outbox[one.id], self._since[one.id] = Queued(one, "waiting", at, at, 0, "", at), at
        if followers is not None:
            self._followers[run] = followers

    def _forget(self, run: str) -> None:
        self._followers.pop(run, None)
        for id in [one.message.id for one in self._outbox.values() if one.message.notice.run == run]:
            del self._outbox[id]

    def followers(self, run: str) -> tuple[str, ...]:
        with self._lock:
            return self._followers.get(run, ())

    def claim_messages(self, now: str, until: str, to: Collection[str], limit: int = 20) -> list[Queued]:
        with self._lock:
            waiting = [one for one in self._outbox.values() if one.state == "waiting" and one.due <= now]
            found = [one for one in waiting if one.message.to in to][:limit]
            claimed = [one._replace(due=until, attempts=one.attempts + 1) for one in found]
            self._outbox |= {one.message.id: one for one in claimed}
            return claimed

    def settle_message(self, id: str, attempt: int, now: str, *, error: str = "", again: str = "") -> None:
        with self._lock:
            if (one := self._own(id, attempt)) is not None:
                done = one._replace(state="delivered", error="", changed=now)
                self._outbox[id] = one._replace(error=error, due=again, changed=now) if error else done

    def put_back(self, id: str, attempt: int, due: str) -> None:
        with self._lock:
            if (one := self._own(id, attempt)) is not None:
                self._outbox[id] = one._replace(due=due, attempts=attempt - 1)

    def drop_message(self, id: str, attempt: int) -> None:
        with self._lock:
            if self._own(id, attempt) is not None:
                del self._outbox[id]

    def _own(self, id: str, attempt: int) -> Queued | None:
        one = self._outbox.get(id)
        return one if one is not None and (one.state, one.attempts) == ("waiting", attempt) else None

    def messages(self, limit: int = 0) -> list[Queued]:
        with self._lock:
            return list(reversed(self._outbox.values()))[: limit or None]

    def retry_messages(self, now: str, to: str = "") -> int:
        with self._lock:
            rows = [one for one in self._outbox.values() if one.state != "delivered" and to in ("", one.message.to)]
            for one in rows:
                self._outbox[one.message.id] = one._replace(state="waiting", due=now, changed=now)
                self._since[one.message.id] = now
            return len(rows)

    def tidy_messages(self, *, tried: str, untried: str, done: str, now: str) -> int:
        given_up = 0
        with self._lock:
            for id, one in list(self._outbox.items()):
                since = self._since[id]
                if one.state == "waiting" and ((one.attempts and since < tried) or since < untried):
                    given_up += 1
                    one = self._outbox[id] = one._replace(state="given up", changed=now)
                if one.state != "waiting" and one.changed < done:
                    del self._outbox[id]
        return given_up
