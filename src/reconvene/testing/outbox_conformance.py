"""What every store of logs promises of its outbox, as tests. `LogConformance` holds them.

It must not know any store, and needs nothing from pytest but the names of its methods.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from typing import TYPE_CHECKING

from reconvene.chain_ports import Deleted, Unneeded
from reconvene.errors import Conflict
from reconvene.message_ports import Message, Notice, Queued
from reconvene.ports import Append
from reconvene.testing.samples import NOW, UNICODE, paused, refused, row

if TYPE_CHECKING:
    from reconvene.ports import EventLog

LATER, MUCH_LATER = "2026-03-01T09:05:00.000Z", "2026-03-04T09:00:00.000Z"


def message(id: str, to: str = "chat", run: str = "run-1", asks: str = "") -> Message:
    return Message(id, to, Notice("waiting", run, "two-step", 1, NOW, asks=asks, who=("ada",)))


class OutboxConformance:
    if TYPE_CHECKING:

        @cached_property
        def log(self) -> EventLog: ...

        def open(self) -> EventLog: ...

    def leave(self, *messages: Message, run: str = "run-1") -> None:
        self.log.append(run, self.log.head(run), Append([paused("a")], row=row(run), messages=messages))

    def claimed(self, *to: str, now: str = NOW, until: str = LATER) -> list[Queued]:
        return self.log.claim_messages(now, until, to or ("chat",))

    def test_a_message_is_there_with_its_event_and_after_the_log_is_opened_again(self) -> None:
        sent = message("m1", asks=UNICODE)
        self.leave(sent)
        assert self.open().messages() == [Queued(sent, "waiting", NOW, NOW, 0, "", NOW)]

    def test_an_append_that_is_refused_leaves_no_message(self) -> None:
        self.leave()
        lost = Append([paused("b")], messages=[message("m1")], followers=("chat",))
        refused(Conflict, lambda: self.log.append("run-1", 0, lost))
        assert self.log.messages() == []
        assert self.log.followers("run-1") == ()

    def test_the_followers_of_a_run_stay_until_others_are_named(self) -> None:
        assert self.log.followers("run-1") == ()
        self.log.append("run-1", 0, Append([paused("a")], row=row("run-1"), followers=("chat", "mail")))
        self.leave()
        assert self.open().followers("run-1") == ("chat", "mail")
        self.log.append("run-1", 2, Append([paused("a")], followers=()))
        assert self.log.followers("run-1") == ()

    def test_messages_are_claimed_oldest_first_for_the_destinations_that_are_asked_for(self) -> None:
        self.leave(message("m2"), message("m1"), message("other", "mail"))
        self.leave(message("m3", "log"), message("m0"))
        assert [one.message.id for one in self.claimed("chat", "log")] == ["m2", "m1", "m3", "m0"]
        assert self.claimed("chat", "log") == []
        assert self.log.claim_messages(NOW, LATER, ()) == []

    def test_no_more_are_claimed_than_are_asked_for(self) -> None:
        self.leave(*(message(f"m{n}") for n in range(5)))
        assert [len(self.log.claim_messages(NOW, LATER, ["chat"], 2)) for _ in range(4)] == [2, 2, 1, 0]

    def test_of_many_who_claim_at_once_each_gets_others(self) -> None:
        self.leave(*(message(f"m{n:02d}") for n in range(40)))
        logs = [self.open() for _ in range(4)]
        with ThreadPoolExecutor(8) as pool:
            done = [pool.submit(logs[n % 4].claim_messages, NOW, LATER, ["chat"], 3) for n in range(20)]
        found = [one.message.id for each in done for one in each.result()]
        assert sorted(found) == [f"m{n:02d}" for n in range(40)]

    def test_a_claim_ends_and_the_word_of_who_held_it_counts_no_more(self) -> None:
        self.leave(message("m1"))
        (first,) = self.claimed()
        (second,) = self.claimed(now=LATER, until=MUCH_LATER)
        assert (first.attempts, second.attempts) == (1, 2)
        self.log.settle_message("m1", first.attempts, LATER, error="too late", again=NOW)
        assert self.claimed(now=LATER) == []
        self.log.settle_message("m1", second.attempts, LATER)
        assert [one.state for one in self.log.messages()] == ["delivered"]
        self.log.settle_message("m1", second.attempts, LATER, error="no", again=NOW)
        assert [one.state for one in self.log.messages()] == ["delivered"]

    def test_a_message_that_failed_is_due_again_at_its_time_with_the_reason(self) -> None:
        self.leave(message("m1"))
        self.claimed()
        self.log.settle_message("m1", 1, NOW, error="answers 500", again=LATER)
        assert self.claimed(now=NOW) == []
        (kept,) = self.log.messages()
        assert (kept.state, kept.error, kept.due, kept.attempts) == ("waiting", "answers 500", LATER, 1)
        assert len(self.claimed(now=LATER, until=MUCH_LATER)) == 1

    def test_a_message_that_was_put_back_was_not_tried(self) -> None:
        self.leave(message("m1"))
        self.claimed()
        self.log.put_back("m1", 1, NOW)
        assert [(one.attempts, one.due) for one in self.log.messages()] == [(0, NOW)]
        assert len(self.claimed()) == 1

    def test_a_message_that_nobody_wants_is_gone(self) -> None:
        self.leave(message("m1"), message("m2"))
        self.claimed()
        self.log.drop_message("m1", 1)
        self.log.drop_message("m2", 7)
        assert [one.message.id for one in self.log.messages()] == ["m2"]

    def test_what_was_tried_for_too_long_is_given_up_and_can_be_tried_again(self) -> None:
        self.leave(message("m1"), message("m2"), message("m3", "mail"))
        for n in (1, 2):
            self.log.claim_messages(NOW, NOW, ["chat"], 1)
            self.log.settle_message(f"m{n}", 1, NOW, error="answers 500" * (n == 1), again=LATER)
        self.log.put_back("m3", 1, NOW)
        assert self.log.tidy_messages(tried=NOW, untried=NOW, done=NOW, now=LATER) == 0
        assert self.log.tidy_messages(tried=LATER, untried=NOW, done=NOW, now=LATER) == 1
        assert [one.state for one in self.log.messages()] == ["waiting", "delivered", "given up"]
        assert self.claimed(now=MUCH_LATER) == []
        assert self.log.retry_messages(MUCH_LATER, "chat") == 1
        assert [one.message.id for one in self.claimed(now=MUCH_LATER)] == ["m1"]
        assert self.log.tidy_messages(tried=MUCH_LATER, untried=LATER, done=NOW, now=MUCH_LATER) == 1
        assert {one.message.id: one.state for one in self.log.messages()}["m3"] == "given up"

    def test_what_is_over_is_forgotten_after_a_while(self) -> None:
        self.leave(message("m1"), message("m2"))
        self.log.claim_messages(NOW, LATER, ["chat"], 1)
        self.log.settle_message("m1", 1, NOW)
        self.log.tidy_messages(tried=NOW, untried=NOW, done=LATER, now=LATER)
        assert [one.message.id for one in self.log.messages()] == ["m2"]

    def test_the_messages_and_followers_of_a_run_go_with_it(self) -> None:
        self.leave(message("m1"))
        self.leave(message("m2", run="run-2"), run="run-2")
        self.log.append("run-1", 1, Append([], followers=("chat",)))
        chain = self.log.chain("run-1")[-1][1]
        self.log.delete(Deleted("run-1", 1, chain, "{}", b""), lambda: Unneeded(frozenset(), frozenset()))
        assert [one.message.id for one in self.log.messages()] == ["m2"]
        assert self.log.followers("run-1") == ()
