"""What every EventLog promises of its chain, as tests; part of the suite in `conformance.py`."""

from __future__ import annotations

from functools import partial

from reconvene.chain_ports import Deleted, Unneeded
from reconvene.core.facts.ids import digest_of
from reconvene.errors import Conflict, ReconveneError, StoreError
from reconvene.ports import Append, EventLog
from reconvene.testing.samples import UNICODE, paused, refused, remark, row
from reconvene.wire import chain


def chain_holds(log: EventLog, run: str) -> bool:
    """Whether each append of a run from its beginning has the value that follows from those before it."""
    value, found = chain.BEGINNING, []
    for one in log.stored(run):
        value = chain.value_after(chain.link(value, run, one.seq, one.packed, one.data), one.seal)
        found.append(value == one.chain)
    return bool(found) and all(found)


class ChainConformance:
    """`log` and `open` come from the suite."""

    @property
    def log(self) -> EventLog:
        raise NotImplementedError

    def open(self) -> EventLog:
        raise NotImplementedError

    def test_each_append_has_a_value_that_follows_from_all_before_it(self) -> None:
        self.log.append("run-1", 0, Append([paused("a"), paused("b")]))
        self.log.append("run-1", 2, Append([remark("and on " * 2_000)]))
        again = self.open()
        again.append("run-1", 3, Append([paused(UNICODE)]))
        assert [one.seq for one in self.log.stored("run-1")] == [2, 3, 4]
        assert chain_holds(self.log, "run-1")
        assert self.log.chain("run-1") == [(one.seq, one.chain) for one in self.log.stored("run-1")]
        assert self.log.chain("run-1", 2) == self.log.chain("run-1")[1:]
        assert self.log.unchained("run-1") == 0

    def test_the_chains_of_runs_are_apart(self) -> None:
        for run in ("run-1", "run-2"):
            self.log.append(run, 0, Append([paused("a")]))
        assert self.log.chain("run-1") != self.log.chain("run-2")
        assert self.log.runs() == ["run-1", "run-2"]
        assert self.log.chain("nobody") == []
        assert self.log.stored("nobody") == []

    def test_a_seal_is_put_on_the_link_and_kept_and_covered_by_the_value(self) -> None:
        seen: list[bytes] = []

        def seal(link: bytes) -> bytes:
            seen.append(link)
            return b"seal of " + link

        self.log.append("run-1", 0, Append([paused("a")], seal=seal))
        (kept,) = self.log.stored("run-1")
        assert seen == [chain.link(chain.BEGINNING, "run-1", 1, kept.packed, kept.data)]
        assert kept.seal == b"seal of " + seen[0]
        assert kept.chain == chain.value_after(seen[0], kept.seal) != chain.value_after(seen[0], b"")

    def test_a_refused_append_and_one_without_events_leave_the_chain(self) -> None:
        self.log.append("run-1", 0, Append([paused("a")]))
        before = self.log.stored("run-1")
        refused(Conflict, lambda: self.log.append("run-1", 0, Append([paused("b")])))
        self.log.append("run-1", 1, Append([], {digest_of(b"x"): b"x"}, row("run-1")))
        assert self.log.stored("run-1") == before

    def test_whoever_appends_next_goes_on_from_the_newest_value(self) -> None:
        """Also who appended before, and knows only what they left."""
        other = self.open()
        for place, log in enumerate((self.log, other, other, self.log, other, self.log)):
            last = self.log if log is other else other
            if place:
                refused(Conflict, partial(last.append, "run-1", place - 1, Append([paused("late")], row=row("run-1"))))
            log.append("run-1", place, Append([paused(str(place))], row=row("run-1")))
            assert chain_holds(self.log, "run-1")

    def test_an_audit_finds_nothing_in_a_sound_store_and_names_a_content_that_is_not_what_it_says(self) -> None:
        contents = [b"", b"short", b"long " * 400, b"".join(b"line %d\n" % n for n in range(20_000))]
        self.log.append("run-1", 0, Append([paused("a")], {digest_of(data): data for data in contents}))
        assert list(self.log.audit()) == []
        self.log.append("run-1", 1, Append([paused("b")], {digest_of(b"other"): b"not that"}))
        assert [digest_of(b"other") in fault.where for fault in self.log.audit()] == [True]

    # -- logs from elsewhere, and deleted ones

    def test_a_log_from_elsewhere_is_taken_byte_for_byte_and_goes_on(self) -> None:
        self.log.append("run-1", 0, Append([paused("a")], seal=lambda link: b"seal"))
        self.log.append("run-1", 1, Append([remark("and on " * 2_000)]))
        rows = self.log.stored("run-1")
        assert self.log.adopt("run-2", rows, 0, Append([paused("b")], {digest_of(b"x"): b"x"}, row("run-2"))) == 3
        assert self.log.stored("run-2")[:2] == rows
        assert self.log.read("run-2")[:2] == self.log.read("run-1")
        assert self.log.artefact(digest_of(b"x")) == b"x"
        assert self.log.index_row("run-2") == row("run-2")
        last = self.log.stored("run-2")[2]
        assert last.chain == chain.value_after(chain.link(rows[1].chain, "run-2", 3, last.packed, last.data), b"")

    def test_a_log_from_before_the_chain_stays_so_and_what_follows_covers_it(self) -> None:
        self.log.append("run-1", 0, Append([paused("a")]))
        self.log.append("run-1", 1, Append([paused("b")]))
        first, second = self.log.stored("run-1")
        self.log.adopt("run-2", [first._replace(chain=b""), second._replace(chain=b"")], 2, Append([paused("c")]))
        assert self.log.unchained("run-2") == 2
        value = chain.BEGINNING
        for one in self.log.stored("run-2"):
            value = chain.value_after(chain.link(value, "run-2", one.seq, one.packed, one.data), one.seal)
        assert [bytes(one.chain) for one in self.log.stored("run-2")] == [b"", b"", value]

    def test_a_log_from_elsewhere_is_not_put_over_one_that_is_there(self) -> None:
        self.log.append("run-1", 0, Append([paused("a")]))
        self.log.append("run-2", 0, Append([paused("b")]))
        rows = self.log.stored("run-1")
        refused(Conflict, lambda: self.log.adopt("run-2", rows, 0, Append([paused("c")], {digest_of(b"x"): b"x"})))
        assert [event for _, event in self.log.read("run-2")] == [paused("b")]
        refused(StoreError, lambda: self.log.artefact(digest_of(b"x")))

    def test_a_deleted_run_leaves_its_id_its_head_and_what_others_need(self) -> None:
        shared = b"".join(b"line %d of what both hold\n" % n for n in range(2_000))
        own = shared + b"and a line of its own\n"
        contents = {digest_of(data): data for data in (shared, own, b"short")}
        self.log.append("run-1", 0, Append([paused("a"), paused("b")], contents, row("run-1")))
        self.log.append("run-2", 0, Append([paused("c")], {digest_of(shared): shared}, row("run-2")))
        other = self.open()
        other.append("run-1", 2, Append([paused("d")], {digest_of(b"late"): b"late"}, row("run-1")))
        left = Deleted("run-1", 3, self.log.chain("run-1")[-1][1], "{}", b"seal")
        kept = {digest_of(shared)}
        gone = {digest_of(data) for data in (own, b"short", b"late")}
        refused(Conflict, lambda: self.log.delete(left._replace(head=2), lambda: Unneeded(gone, kept)))
        self.log.delete(left, lambda: Unneeded(gone, kept))
        assert self.log.deleted() == other.deleted() == [left]
        assert self.log.artefact(digest_of(shared)) == shared
        for digest in gone:
            refused(StoreError, partial(self.log.artefact, digest))
        assert self.log.head("run-1") == 3
        assert self.log.read("run-1") == []
        assert self.log.index() == [row("run-2")]
        assert self.log.runs() == ["run-2"]
        assert list(self.log.audit()) == []
        for log in (self.log, other):
            for seq in (0, 3):
                refused(ReconveneError, partial(log.append, "run-1", seq, Append([paused("x")])))

    def test_what_somebody_deleted_is_stored_again_when_it_is_put_again(self) -> None:
        data = b"".join(b"line %d\n" % n for n in range(5_000))
        other = self.open()
        other.append("run-1", 0, Append([paused("a")], {digest_of(data): data}, row("run-1")))
        self.log.delete(Deleted("run-1", 1, b"", "{}"), lambda: Unneeded({digest_of(data)}, ()))
        refused(StoreError, lambda: other.artefact(digest_of(data)))
        other.append("run-2", 0, Append([paused("b")], {digest_of(data): data}, row("run-2")))
        assert self.log.artefact(digest_of(data)) == data
        assert list(self.log.audit()) == []
