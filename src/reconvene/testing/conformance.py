"""What every EventLog promises, as tests. Subclass `LogConformance`, say how to open your log, and let pytest run it.

    class TestMyLog(LogConformance):
        def make_log(self, folder):
            return MyLog(folder / "log.db")

It must not know any store, and needs nothing from pytest but the names of its methods.
"""

from __future__ import annotations

import tempfile
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property, partial
from pathlib import Path

from reconvene.core.facts.events import AnyEvent, Paused, Resumed
from reconvene.core.facts.ids import digest_of
from reconvene.errors import Conflict, ReconveneError, StoreError
from reconvene.ports import Append, EventLog
from reconvene.testing.chain_conformance import ChainConformance, chain_holds
from reconvene.testing.outbox_conformance import OutboxConformance
from reconvene.testing.request_conformance import RequestConformance
from reconvene.testing.samples import NOW, UNICODE, paused, refused, remark, row


class LogConformance(ChainConformance, OutboxConformance, RequestConformance):
    """Each test starts with an empty store."""

    def make_log(self, folder: Path) -> EventLog:
        """Open the log kept in `folder` (empty at first). Called again in a test, it opens the same store once more."""
        raise NotImplementedError

    # -- the frame of a test

    def setup_method(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="reconvene-log-", ignore_cleanup_errors=True)
        self._opened: list[EventLog] = []

    def teardown_method(self) -> None:
        for log in self._opened:
            log.close()
        self._folder.cleanup()

    def open(self) -> EventLog:
        self._opened.append(self.make_log(Path(self._folder.name)))
        return self._opened[-1]

    @cached_property
    def log(self) -> EventLog:
        """For tests that need one only."""
        return self.open()

    # -- append and read

    def test_the_first_append_starts_at_one_and_returns_the_new_head(self) -> None:
        events: list[AnyEvent] = [paused("a"), Resumed(at=NOW, by="b")]
        assert self.log.append("run-1", 0, Append(events)) == 2
        assert self.log.read("run-1") == [(1, events[0]), (2, events[1])]
        assert self.log.head("run-1") == 2

    def test_appends_are_numbered_on_without_gaps(self) -> None:
        head = 0
        for size in (1, 3, 2):
            head = self.log.append("run-1", head, Append([paused(f"{head}/{n}") for n in range(size)]))
        assert [seq for seq, _ in self.log.read("run-1")] == [1, 2, 3, 4, 5, 6]

    def test_reading_after_a_seq_gives_the_rest_also_from_the_middle_of_an_append(self) -> None:
        self.log.append("run-1", 0, Append([paused("1"), paused("2"), paused("3")]))
        self.log.append("run-1", 3, Append([paused("4"), paused("5")]))
        for after in range(7):
            assert [_by(event) for _, event in self.log.read("run-1", after)] == [str(n) for n in range(after + 1, 6)]

    def test_what_was_appended_is_there_when_the_log_is_opened_again(self) -> None:
        first = self.open()
        first.append("run-1", 0, Append([paused("a")], {digest_of(b"content"): b"content"}, row("run-1")))
        again = self.open()
        assert again.read("run-1") == [(1, paused("a"))]
        assert again.artefact(digest_of(b"content")) == b"content"
        assert again.index() == [row("run-1")]

    def test_the_logs_of_runs_are_apart(self) -> None:
        heads = {"run-1": 0, "run-2": 0, "run-10": 0}
        for n in range(4):
            for run in heads:
                heads[run] = self.log.append(run, heads[run], Append([paused(f"{run}:{n}")]))
        for run in heads:
            assert [_by(event) for _, event in self.log.read(run)] == [f"{run}:{n}" for n in range(4)]

    def test_an_unknown_run_has_no_events_no_head_no_row_no_snapshot(self) -> None:
        assert self.log.head("nobody") == 0
        assert self.log.read("nobody") == []
        assert self.log.read("nobody", 5) == []
        assert self.log.index_row("nobody") is None
        assert self.log.snapshot("nobody", "key") is None
        self.log.release("nobody", "me")

    def test_the_heads_of_all_runs_are_told_at_once(self) -> None:
        assert self.log.heads() == {}
        self.log.append("run-1", 0, Append([paused("a"), paused("b")]))
        self.log.append("run-2", 0, Append([paused("a")]))
        assert self.log.heads() == {"run-1": 2, "run-2": 1}

    def test_the_moment_is_another_once_something_was_appended_by_whomever(self) -> None:
        other = self.open()
        before = self.log.moment()
        assert self.log.moment() == before
        self.log.append("run-1", 0, Append([paused("a")]))
        own = self.log.moment()
        assert own != before
        other.append("run-2", 0, Append([paused("a")]))
        assert self.log.moment() != own

    def test_unicode_survives_everywhere(self) -> None:
        run = "überprüfung-漢字-🙂"
        index = row(run, note=UNICODE)
        self.log.append(run, 0, Append([remark(UNICODE)], {digest_of(UNICODE.encode()): UNICODE.encode()}, index))
        assert self.log.read(run) == [(1, remark(UNICODE))]
        assert self.log.artefact(digest_of(UNICODE.encode())) == UNICODE.encode()
        assert self.log.index_row(run) == index

    def test_text_that_is_not_unicode_is_refused_and_leaves_nothing(self) -> None:
        broken = Append([remark("half a pair \ud83d")], {digest_of(b"x"): b"x"})
        refused(ReconveneError, lambda: self.log.append("run-1", 0, broken))
        assert self.log.head("run-1") == 0
        refused(StoreError, lambda: self.log.artefact(digest_of(b"x")))

    def test_an_event_of_a_megabyte_is_one_like_any_other(self) -> None:
        big = remark("0123456789abcdef" * 65_536)
        self.log.append("run-1", 0, Append([paused("before"), big, paused("after")]))
        assert [event for _, event in self.log.read("run-1", 1)] == [big, paused("after")]

    def test_a_thousand_appends_are_all_there_in_order(self) -> None:
        for n in range(1000):
            assert _wins(self.log, n, str(n))
        assert [(seq, _by(event)) for seq, event in self.log.read("run-1")] == [(n + 1, str(n)) for n in range(1000)]
        assert self.log.index() == [row("run-1", "running", note="999")]

    def test_an_append_without_events_stores_the_rest_and_leaves_the_head(self) -> None:
        self.log.append("run-1", 0, Append([paused("a")], row=row("run-1")))
        assert self.log.append("run-1", 1, Append([], {digest_of(b"x"): b"x"}, row("run-1", "paused"))) == 1
        assert self.log.read("run-1") == [(1, paused("a"))]
        assert self.log.artefact(digest_of(b"x")) == b"x"
        assert self.log.index() == [row("run-1", "paused")]

    # -- compare-and-swap

    def test_an_append_at_any_other_place_than_the_head_is_a_conflict(self) -> None:
        self.log.append("run-1", 0, Append([paused("a"), paused("b")]))
        for wrong in (0, 1, 3):
            refused(Conflict, partial(self.log.append, "run-1", wrong, Append([paused("x")])))
        refused(Conflict, lambda: self.log.append("run-2", 1, Append([paused("x")])))
        assert len(self.log.read("run-1")) == 2
        assert self.log.read("run-2") == []

    def test_a_refused_append_leaves_no_event_no_artefact_and_no_index_change(self) -> None:
        self.log.append("run-1", 0, Append([paused("a")], row=row("run-1", "waiting")))
        for run, seq in (("run-1", 0), ("run-2", 7)):
            refused(
                Conflict,
                partial(self.log.append, run, seq, Append([paused("b")], {digest_of(b"x"): b"x"}, row(run, "failed"))),
            )
        assert self.log.read("run-1") == [(1, paused("a"))]
        assert self.log.index() == [row("run-1", "waiting")]
        refused(StoreError, lambda: self.log.artefact(digest_of(b"x")))

    def test_of_two_writers_exactly_one_wins_each_place(self) -> None:
        places = 50
        logs = [self.open(), self.open()]

        def write(writer: int) -> list[int]:
            return [place for place in range(places) if _wins(logs[writer], place, str(writer))]

        with ThreadPoolExecutor(2) as pool:
            won = list(pool.map(write, range(2)))
        # A writer that comes too early loses too; the log is then shorter, but never has two winners at one place.
        assert not set(won[0]) & set(won[1])
        winners = {place: str(writer) for writer in range(2) for place in won[writer]}
        events = logs[0].read("run-1")
        assert [_by(event) for _, event in events] == [winners[place] for place in range(len(events))]
        assert len(events) == len(winners)
        assert chain_holds(logs[0], "run-1")

    def test_writers_that_reload_after_a_conflict_all_get_their_events_in(self) -> None:
        logs = [self.open(), self.open()]

        def write(writer: int) -> None:
            for n in range(25):
                while not _wins(logs[writer], logs[writer].head("run-1"), f"{writer}:{n}"):
                    pass

        with ThreadPoolExecutor(2) as pool:
            list(pool.map(write, range(2)))
        written = [_by(event) for _, event in logs[1].read("run-1")]
        assert [name for name in written if name.startswith("0:")] == [f"0:{n}" for n in range(25)]
        assert [name for name in written if name.startswith("1:")] == [f"1:{n}" for n in range(25)]
        assert chain_holds(logs[0], "run-1")

    # -- artefacts

    def test_artefacts_come_back_byte_for_byte(self) -> None:
        contents = [b"", b"\x00\xff", b"short", b"a" * 5_000, bytes(range(256)) * 400, "漢字".encode() * 3_000]
        artefacts = {digest_of(data): data for data in contents}
        self.log.append("run-1", 0, Append([paused("a")], artefacts))
        for digest, data in artefacts.items():
            assert self.log.artefact(digest) == data

    def test_an_artefact_put_again_changes_nothing_and_is_shared_by_runs(self) -> None:
        self.log.append("run-1", 0, Append([paused("a")], {digest_of(b"the content"): b"the content"}))
        both = {digest_of(data): data for data in (b"the content", b"more")}
        self.log.append("run-1", 1, Append([paused("b")], both))
        self.log.append("run-2", 0, Append([paused("c")], {digest_of(b"the content"): b"the content"}))
        assert self.log.artefact(digest_of(b"the content")) == b"the content"
        assert self.log.artefact(digest_of(b"more")) == b"more"

    def test_bytes_that_are_not_what_their_digest_says_are_never_given(self) -> None:
        self.log.append("run-1", 0, Append([paused("a")], {digest_of(b"other"): b"not that"}))
        error = refused(StoreError, lambda: self.log.artefact(digest_of(b"other")))
        assert digest_of(b"other") in str(error)

    def test_an_artefact_that_is_not_there_is_a_store_error_that_names_it(self) -> None:
        error = refused(StoreError, lambda: self.log.artefact("0123abcd"))
        assert "0123abcd" in str(error)

    # -- the index

    def test_the_index_lists_the_run_that_was_started_last_first(self) -> None:
        for run, hour in (("a", 3), ("b", 1), ("c", 2)):
            self.log.append(run, 0, Append([paused(run)], row=row(run, updated=f"2026-03-01T0{hour}:00:00.000Z")))
        assert [found.run for found in self.log.index()] == ["c", "b", "a"]
        self.log.append("b", 1, Append([paused("b")], row=row("b", updated="2026-03-01T09:00:00.000Z")))
        assert [found.run for found in self.log.index()] == ["c", "b", "a"]
        assert [found.run for found in self.log.index(status="waiting")] == ["c", "b", "a"]

    def test_the_index_can_be_asked_for_one_status(self) -> None:
        for run, status in (("a", "waiting"), ("b", "completed"), ("c", "waiting")):
            self.log.append(run, 0, Append([paused(run)], row=row(run, status)))
        assert {found.run for found in self.log.index(status="waiting")} == {"a", "c"}
        self.log.append("a", 1, Append([paused("a")], row=row("a", "completed")))
        assert {found.run for found in self.log.index(status="waiting")} == {"c"}
        assert {found.run for found in self.log.index(status="completed")} == {"a", "b"}
        assert self.log.index(status="failed") == []

    def test_the_index_can_be_read_page_by_page(self) -> None:
        for run, hour in (("a", 3), ("b", 1), ("c", 2), ("d", 2), ("e", 2)):
            status = "completed" if run == "d" else "waiting"
            listed = row(run, status, updated=f"2026-03-01T0{hour}:00:00.000Z")
            self.log.append(run, 0, Append([paused(run)], {}, listed))
        assert [found.run for found in self.log.index(limit=2)] == ["e", "d"]
        everything = [found.run for found in self.log.index()]
        assert everything == ["e", "d", "c", "b", "a"]
        for number, last in enumerate(self.log.index(), 1):
            rest = self.log.index(after=last.run)
            assert [found.run for found in rest] == everything[number:]
            assert self.log.index(after=last.run, limit=2) == rest[:2]
        assert [found.run for found in self.log.index(status="waiting", after="e")] == ["c", "b", "a"]

    def test_a_run_that_changes_keeps_its_place_in_the_index(self) -> None:
        for run in ("a", "b", "c"):
            self.log.append(run, 0, Append([paused(run)], row=row(run)))
        self.log.append("a", 1, Append([paused("a")], row=row("a", updated="2026-03-01T09:00:00.000Z")))
        assert [found.run for found in self.log.index(after="b")] == ["a"]

    def test_a_log_can_be_read_page_by_page(self) -> None:
        self.log.append("run-1", 0, Append([paused("a"), paused("b"), paused("c")]))
        self.log.append("run-1", 3, Append([paused("d")]))
        for after in range(5):
            rest = self.log.read("run-1", after)
            assert [seq for seq, _ in rest] == list(range(after + 1, 5))
            for limit in (1, 2, 3, 9):
                assert self.log.read("run-1", after, limit) == rest[:limit]

    def test_an_append_without_a_row_leaves_the_index_as_it_is(self) -> None:
        self.log.append("a", 0, Append([paused("a")], row=row("a")))
        self.log.append("a", 1, Append([paused("a")]))
        self.log.append("b", 0, Append([paused("b")]))
        assert self.log.index() == [row("a")]
        assert self.log.index_row("a") == row("a")
        assert self.log.index_row("b") is None

    # -- what is due

    def test_what_is_due_is_told_from_its_time_on_the_earliest_first(self) -> None:
        for run, due in (("a", "2026-03-03"), ("b", "2026-03-01"), ("c", ""), ("d", "2026-03-02"), ("e", None)):
            self.log.append(run, 0, Append([paused(run)], row=row(run), due=due))
        assert self.log.due("2026-02") == []
        assert self.log.due("2026-03-02") == [("2026-03-01", "b"), ("2026-03-02", "d")]
        assert [run for _, run in self.log.due("9999")] == ["b", "d", "a"]
        assert [run for _, run in self.log.due("9999", limit=2)] == ["b", "d"]

    def test_an_append_that_says_nothing_of_it_leaves_what_is_due_as_it_is(self) -> None:
        first, second = self.open(), self.open()
        first.append("a", 0, Append([paused("a")], row=row("a"), due="2026-03-01"))
        first.append("a", 1, Append([paused("a")], row=row("a")))
        second.append("a", 2, Append([paused("a")], row=row("a")))
        assert first.due("9999") == [("2026-03-01", "a")]
        second.append("a", 3, Append([paused("a")], row=row("a"), due=""))
        assert first.due("9999") == []
        first.append("a", 4, Append([paused("a")], row=row("a"), due="2026-03-05"))
        assert second.due("9999") == [("2026-03-05", "a")]

    # -- snapshots

    def test_a_snapshot_comes_back_only_under_its_key_and_only_the_last_is_kept(self) -> None:
        self.log.append("run-1", 0, Append([paused("a")]))
        self.log.save_snapshot("run-1", 1, "state-1", b"old" * 1000)
        assert self.log.snapshot("run-1", "state-1") == (1, b"old" * 1000)
        assert self.log.snapshot("run-1", "state-2") is None
        self.log.save_snapshot("run-1", 5, "state-2", b"new")
        assert self.log.snapshot("run-1", "state-2") == (5, b"new")
        assert self.log.snapshot("run-1", "state-1") is None
        assert self.log.snapshot("run-2", "state-2") is None

    # -- leases

    def test_a_lease_has_one_holder_until_it_is_released(self) -> None:
        mine, theirs = self.open(), self.open()
        assert mine.acquire("run-1", "me")
        assert mine.acquire("run-1", "me")
        assert not theirs.acquire("run-1", "you")
        assert not mine.acquire("run-1", "somebody else here")
        mine.release("run-1", "me")
        assert theirs.acquire("run-1", "you")
        assert not mine.acquire("run-1", "me")

    def test_a_lease_is_only_released_by_its_holder(self) -> None:
        mine, theirs = self.open(), self.open()
        assert mine.acquire("run-1", "me")
        theirs.release("run-1", "you")
        mine.release("run-1", "somebody else here")
        assert not theirs.acquire("run-1", "you")

    def test_leases_of_different_runs_do_not_meet(self) -> None:
        mine, theirs = self.open(), self.open()
        assert mine.acquire("run-1", "me")
        assert theirs.acquire("run-2", "you")
        assert mine.acquire("run-3", "me")
        mine.release("run-1", "me")
        assert not theirs.acquire("run-3", "you")

    def test_of_many_who_want_a_lease_exactly_one_gets_it(self) -> None:
        logs = [self.open() for _ in range(4)]
        with ThreadPoolExecutor(4) as pool:
            for run in (f"run-{n}" for n in range(10)):
                got = list(pool.map(lambda n, run=run: logs[n].acquire(run, f"holder-{n}"), range(4)))
                assert got.count(True) == 1

    def test_a_run_is_driven_while_somebody_holds_its_lease(self) -> None:
        mine, theirs = self.open(), self.open()
        assert mine.driven() == frozenset()
        assert mine.acquire("run-1", "me")
        assert theirs.acquire("run-2", "you")
        assert mine.driven() == theirs.driven() == {"run-1", "run-2"}
        theirs.release("run-1", "you")
        mine.release("run-1", "me")
        assert mine.driven() == theirs.driven() == {"run-2"}

    def test_looking_who_drives_takes_no_lease_away(self) -> None:
        logs = [self.open() for _ in range(3)]
        for n in range(10):
            run = f"run-{n}"
            with ThreadPoolExecutor(3) as pool:
                looks = [pool.submit(log.driven) for log in logs[1:] for _ in range(5)]
                assert logs[0].acquire(run, "me")
                assert all(look.result() - {run} == {f"run-{before}" for before in range(n)} for look in looks)
            assert not logs[1].acquire(run, "you")
            assert run in logs[2].driven()

    def test_a_lease_does_not_stand_in_the_way_of_an_append(self) -> None:
        mine, theirs = self.open(), self.open()
        assert mine.acquire("run-1", "me")
        assert theirs.append("run-1", 0, Append([paused("a")])) == 1


def _wins(log: EventLog, place: int, name: str) -> bool:
    try:
        log.append("run-1", place, Append([paused(name)], row=row("run-1", "running", note=name)))
    except Conflict:
        return False
    return True


def _by(event: AnyEvent) -> str:
    assert isinstance(event, Paused)
    return event.by
