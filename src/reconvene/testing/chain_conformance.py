"""What every EventLog promises of its chain, as tests; part of the suite in `conformance.py`."""

from __future__ import annotations

from reconvene.core.facts.ids import digest_of
from reconvene.errors import Conflict
from reconvene.ports import Append, EventLog
from reconvene.testing.samples import UNICODE, paused, refused, remark, row
from reconvene.wire import chain


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
        value = chain.BEGINNING
        for one, seq in zip(self.log.stored("run-1"), (2, 3, 4), strict=True):
            assert one.seq == seq
            value = chain.value(chain.link(value, "run-1", seq, one.packed, one.data), one.seal)
            assert one.chain == value
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
        assert kept.chain == chain.value(seen[0], kept.seal) != chain.value(seen[0], b"")

    def test_a_refused_append_and_one_without_events_leave_the_chain(self) -> None:
        self.log.append("run-1", 0, Append([paused("a")]))
        before = self.log.stored("run-1")
        refused(Conflict, lambda: self.log.append("run-1", 0, Append([paused("b")])))
        self.log.append("run-1", 1, Append([], {"d1": b"x"}, row("run-1")))
        assert self.log.stored("run-1") == before

    def test_an_audit_finds_nothing_in_a_sound_store_and_names_a_content_that_is_not_what_it_says(self) -> None:
        contents = [b"", b"short", b"long " * 400, b"".join(b"line %d\n" % n for n in range(20_000))]
        self.log.append("run-1", 0, Append([paused("a")], {digest_of(data): data for data in contents}))
        assert list(self.log.audit()) == []
        self.log.append("run-1", 1, Append([paused("b")], {digest_of(b"other"): b"not that"}))
        assert [digest_of(b"other") in fault.where for fault in self.log.audit()] == [True]
