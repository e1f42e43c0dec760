"""What is due is delivered at least once, with pauses that grow; what fails holds up nothing else."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

import pytest

from reconvene.app import delivering
from reconvene.app.delivering import PAUSES, Delivered, Deliverer
from reconvene.language.times import later
from reconvene.message_ports import Destination, Letter, Queued
from reconvene.ports import Append
from reconvene.testing.memory import MemoryLog
from reconvene.testing.outbox_conformance import message
from reconvene.testing.samples import NOW, paused, row


class Clock:
    def __init__(self) -> None:
        self.at = NOW

    def now(self) -> str:
        return self.at

    def go(self, seconds: float) -> None:
        self.at = later(self.at, seconds)


class Post:
    """A Sender that does as it is told: for each destination, why it fails now."""

    def __init__(self) -> None:
        self.fails: dict[str, str] = {}
        self.hangs: dict[str, asyncio.Event] = {}
        self.sent: list[tuple[str, Letter]] = []
        self.tried = 0

    async def send(self, destination: Destination, letters: Sequence[Letter]) -> list[str]:
        results: list[str] = []
        for letter in letters:
            self.tried += 1
            if destination.name in self.hangs:
                await self.hangs[destination.name].wait()
            if why := self.fails.get(destination.name, ""):
                return [*results, why]
            self.sent.append((destination.name, letter))
            results.append("")
        return results

    @property
    def ids(self) -> list[str]:
        return [letter.id for _, letter in self.sent]


class Place:
    """A store, whoever delivers from it, and the time."""

    def __init__(self, *destinations: Destination) -> None:
        self.log, self.clock, self.post = MemoryLog(), Clock(), Post()
        known = destinations or (Destination("chat", "x://"), Destination("mail", "x://"))
        self.known = {one.name: one for one in known}
        self.url = ""

    def leave(self, *ids: str, to: str = "chat") -> None:
        messages = [message(id, to) for id in ids]
        self.log.append("run-1", self.log.head("run-1"), Append([paused("a")], row=row("run-1"), messages=messages))

    def deliverer(self) -> Deliverer:
        return Deliverer(self.log, self.clock, lambda: self.known, self.post, lambda: self.url)

    def deliver(self) -> Delivered:
        return asyncio.run(self.deliverer().deliver())

    @property
    def rows(self) -> dict[str, Queued]:
        return {one.message.id: one for one in self.log.messages()}


async def until(holds: Callable[[], bool]) -> None:
    """Bounded by the number of looks."""
    for _ in range(1_000):
        if holds():
            return
        await asyncio.sleep(0)
    raise AssertionError("it never came to that")


def test_what_is_due_is_sent_once_and_in_order() -> None:
    place = Place()
    place.leave(*(f"m{n:02d}" for n in range(25)))
    assert place.deliver() == Delivered(sent=25)
    assert place.deliver() == Delivered()
    assert place.post.ids == [f"m{n:02d}" for n in range(25)]


def test_where_the_pages_are_counts_at_once_for_who_delivers_already() -> None:
    place = Place()
    delivering = place.deliverer()
    place.leave("m1")
    asyncio.run(delivering.deliver())
    place.url = "https://runs.example"
    place.leave("m2")
    asyncio.run(delivering.deliver())
    assert ["https://runs.example/runs/" in one.text for _, one in place.post.sent] == [False, True]


def test_a_service_that_fails_for_a_day_is_tried_now_and_then_and_gets_it_all_in_the_end() -> None:
    place = Place()
    place.leave("m1", "m2", "m3")
    place.post.fails["chat"] = "it answers 500"
    for _ in range(24 * 60):
        place.deliver()
        place.clock.go(60)
    assert 20 < place.post.tried < 40
    assert place.rows["m1"].error == "it answers 500"
    assert [one.state for one in place.rows.values()] == ["waiting"] * 3
    assert place.rows["m3"].attempts == 0  # nothing was tried after the first that failed
    place.post.fails.clear()
    place.clock.go(3600)
    place.deliver()
    assert place.post.ids == ["m1", "m2", "m3"]


def test_what_fails_for_three_days_is_given_up_and_says_so() -> None:
    place = Place()
    place.leave("m1")
    place.post.fails["chat"] = "it answers 500"
    for _ in range(74):
        place.deliver()
        place.clock.go(3600)
    assert (place.rows["m1"].state, place.rows["m1"].error) == ("given up", "it answers 500")
    tried = place.post.tried
    place.deliver()
    assert place.post.tried == tried
    place.log.retry_messages(place.clock.now())
    place.post.fails.clear()
    assert place.deliver().sent == 1


def test_a_home_that_was_down_for_a_month_still_sends_what_it_never_tried() -> None:
    place = Place()
    place.leave("m1")
    place.clock.go(29 * 86_400)
    assert place.deliver().sent == 1


def test_what_no_process_here_can_send_stays_for_another_and_is_given_up_after_a_month() -> None:
    place = Place()
    place.leave("m1", to="elsewhere")
    place.deliver()
    assert (place.rows["m1"].state, place.rows["m1"].attempts) == ("waiting", 0)
    place.clock.go(31 * 86_400)
    assert place.deliver() == Delivered(given_up=1)


def test_a_destination_that_hangs_does_not_hold_up_another() -> None:
    place = Place()
    place.leave("m1", to="chat")
    place.leave("m2", to="mail")

    async def both() -> None:
        hung = place.post.hangs["chat"] = asyncio.Event()
        delivering = asyncio.create_task(place.deliverer().deliver())
        await until(lambda: "m2" in place.post.ids)
        assert place.post.ids == ["m2"]
        hung.set()
        await delivering

    asyncio.run(both())
    assert place.post.ids == ["m2", "m1"]


def test_what_comes_while_a_destination_hangs_is_delivered_to_others_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(delivering, "_LOOK", 0.0)
    place = Place()
    place.leave("m1", to="chat")

    async def kept() -> None:
        place.post.hangs["chat"] = asyncio.Event()
        leaving = asyncio.Event()
        keeping = asyncio.create_task(place.deliverer().keep(leaving, lambda _: None))
        await until(lambda: place.post.tried > 0)
        place.leave("m2", to="mail")
        await until(lambda: "m2" in place.post.ids)
        leaving.set()
        await until(lambda: place.post.tried > 1)
        keeping.cancel()
        await asyncio.gather(keeping, return_exceptions=True)

    asyncio.run(kept())
    assert (place.post.ids, place.rows["m1"].state) == (["m2"], "waiting")


def test_who_leaves_does_not_wait_for_a_destination_that_failed_last() -> None:
    place = Place()
    place.leave("m1")
    place.post.fails["chat"] = "no answer within 15 s"
    place.deliver()
    place.leave("m2")
    place.leave("m3", to="mail")

    async def left() -> None:
        place.post.hangs["chat"] = asyncio.Event()
        leaving = asyncio.Event()
        leaving.set()
        await place.deliverer().keep(leaving, lambda _: None)

    asyncio.run(left())
    assert place.post.ids == ["m3"]
    assert (place.rows["m2"].state, place.rows["m2"].attempts) == ("waiting", 0)


def test_who_leaves_does_not_wait_again_for_a_destination_that_has_hung_for_as_long_already(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(delivering, "_LOOK", 0.0)
    place = Place()
    place.leave("m1", to="chat")

    async def left() -> None:
        place.post.hangs["chat"] = asyncio.Event()
        leaving, loop = asyncio.Event(), asyncio.get_running_loop()
        keeping = asyncio.create_task(place.deliverer().keep(leaving, lambda _: None, patience=5.0))
        await until(lambda: place.post.tried > 0)
        ahead = loop.time
        monkeypatch.setattr(loop, "time", lambda: ahead() + 6.0)  # it has hung for six seconds
        place.leave("m2", to="mail")
        leaving.set()
        await keeping

    asyncio.run(asyncio.wait_for(left(), 120))
    assert place.post.ids == ["m2"]
    assert "had to end" in place.rows["m1"].error


def test_two_who_deliver_at_once_send_each_message_once() -> None:
    place = Place()
    place.leave(*(f"m{n:02d}" for n in range(30)))

    async def both() -> None:
        await asyncio.gather(*(place.deliverer().deliver() for _ in range(3)))

    asyncio.run(both())
    assert sorted(place.post.ids) == [f"m{n:02d}" for n in range(30)]


def test_who_is_cancelled_in_the_middle_leaves_it_for_later_under_the_same_id() -> None:
    place = Place()
    place.leave("m1")

    async def cut_off() -> None:
        place.post.hangs["chat"] = asyncio.Event()
        delivering = asyncio.create_task(place.deliverer().deliver())
        await until(lambda: place.post.tried > 0)
        delivering.cancel()
        await asyncio.gather(delivering, return_exceptions=True)

    asyncio.run(cut_off())
    place.post.hangs.clear()
    assert "had to end" in place.rows["m1"].error
    assert place.deliver().sent == 0
    place.clock.go(PAUSES[0] + 1)
    assert place.deliver().sent == 1
    assert place.post.ids == ["m1"]


def test_a_destination_gets_the_kinds_that_it_wants() -> None:
    place = Place(Destination("chat", "x://", kinds=["failed"]))
    place.leave("m1")
    assert place.deliver() == Delivered()
    assert place.rows == {}


def test_a_destination_that_cannot_be_used_says_why_and_waits() -> None:
    place = Place(Destination("chat", "", problem="the variable CHAT_URL is not set where this runs"))
    place.leave("m1")
    assert place.deliver() == Delivered(failed=1)
    assert place.rows["m1"].error == "the variable CHAT_URL is not set where this runs"
    assert place.post.tried == 0


def test_who_keeps_delivering_does_it_once_more_when_told_to_leave_and_survives_a_store_that_fails() -> None:
    place = Place()
    told: list[str] = []

    async def kept() -> None:
        leaving = asyncio.Event()
        place.known = {}  # settings that are being changed
        good = place.deliverer()
        good._destinations = _broken
        keeping = asyncio.create_task(good.keep(leaving, told.append))
        await until(lambda: bool(told))
        good._destinations = lambda: {"chat": Destination("chat", "x://")}
        place.leave("m1")
        leaving.set()
        await keeping

    asyncio.run(kept())
    assert place.post.ids == ["m1"]
    assert told == ["messages are not delivered: it is not TOML"]


def _broken() -> dict[str, Destination]:
    from reconvene.errors import UserError

    raise UserError("it is not TOML")
