"""What every Desk promises, as tests. Subclass `DeskConformance`, say how to open your desk, and let pytest run it.

It must not know any store, and needs nothing from pytest but the names of its methods.
"""

from __future__ import annotations

import io
import tempfile
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from pathlib import Path

from reconvene.desk_ports import MOST_DRAFT, MOST_KEY, Desk, Draft, Kept, Mark, Reply, Snooze, Upload
from reconvene.errors import Conflict, ReconveneError, StoreError, UserError
from reconvene.testing.samples import UNICODE, refused

T0, T1, T2 = (f"2026-03-01T09:0{minute}:00.000Z" for minute in range(3))
DAY_LATER, WEEK_LATER = "2026-03-02T09:00:00.001Z", "2026-03-08T09:00:00.001Z"
OF_A = ("ada", "run-1", "C1")
REPLY = Reply(201, (("Location", "/api/v1/runs/run-1"),), b'{"run": "run-1"}\x00\xff')


class DeskConformance:
    """Each test starts with an empty desk."""

    def make_desk(self, folder: Path) -> Desk:
        """Open the desk kept in `folder` (empty at first). Called again in a test, it opens the same once more."""
        raise NotImplementedError

    def setup_method(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="reconvene-desk-", ignore_cleanup_errors=True)
        self._opened: list[Desk] = []

    def teardown_method(self) -> None:
        for desk in self._opened:
            desk.close()
        self._folder.cleanup()

    def open(self) -> Desk:
        self._opened.append(self.make_desk(Path(self._folder.name)))
        return self._opened[-1]

    @cached_property
    def desk(self) -> Desk:
        return self.open()

    # -- drafts

    def test_a_draft_is_kept_with_a_revision_that_grows(self) -> None:
        assert self.desk.draft(*OF_A) == Draft()
        assert self.desk.keep_draft(*OF_A, UNICODE, 0, T0) == Draft(1, UNICODE, T0)
        assert self.desk.keep_draft(*OF_A, "{}", 1, T1) == Draft(2, "{}", T1)
        assert self.open().draft(*OF_A) == Draft(2, "{}", T1)

    def test_of_two_pages_with_the_same_revision_the_second_is_refused_and_overwrites_nothing(self) -> None:
        self.desk.keep_draft(*OF_A, "first", 0, T0)
        other = self.open()
        other.keep_draft(*OF_A, "of the other page", 1, T1)
        refused(Conflict, lambda: self.desk.keep_draft(*OF_A, "late", 1, T2))
        assert self.desk.draft(*OF_A).doc == "of the other page"

    def test_a_draft_that_was_sent_is_gone_and_its_revision_does_not_come_back(self) -> None:
        self.desk.keep_draft(*OF_A, "first", 0, T0)
        self.desk.drop_draft(*OF_A, T1)
        assert self.desk.draft(*OF_A).doc == ""
        refused(Conflict, lambda: self.desk.keep_draft(*OF_A, "of a page that slept", 1, T2))
        refused(Conflict, lambda: self.desk.keep_draft(*OF_A, "of one that never saw it", 0, T2))

    def test_drafts_are_apart_by_person_run_and_checkpoint(self) -> None:
        others = [("bob", "run-1", "C1"), ("ada", "run-2", "C1"), ("ada", "run-1", "C2")]
        self.desk.keep_draft(*OF_A, "mine", 0, T0)
        assert [self.desk.draft(*other) for other in others] == [Draft()] * 3

    def test_all_drafts_of_a_run_are_found_but_those_that_were_sent_or_are_of_others(self) -> None:
        self.desk.keep_draft("ada", "run-1", "C2", "second", 0, T1)
        self.desk.keep_draft(*OF_A, "first", 0, T0)
        for other in (("bob", "run-1", "C1"), ("ada", "run-2", "C1"), ("ada", "run-1", "C3")):
            self.desk.keep_draft(*other, "other", 0, T0)
        self.desk.drop_draft("ada", "run-1", "C3", T1)
        found = self.desk.drafts("ada", "run-1")
        assert [(name, one.doc) for name, one in found.items()] == [("C1", "first"), ("C2", "second")]

    def test_a_draft_that_is_too_long_is_refused_and_the_kept_one_stays(self) -> None:
        self.desk.keep_draft(*OF_A, "short", 0, T0)
        refused(UserError, lambda: self.desk.keep_draft(*OF_A, "x" * (MOST_DRAFT + 1), 1, T1))
        assert self.desk.draft(*OF_A) == Draft(1, "short", T0)

    def test_text_that_is_not_unicode_is_refused(self) -> None:
        refused(ReconveneError, lambda: self.desk.keep_draft(*OF_A, "half a pair \ud83d", 0, T0))
        assert self.desk.draft(*OF_A) == Draft()

    # -- marks

    def test_a_tick_holds_the_digest_that_was_looked_at(self) -> None:
        self.desk.tick("ada", "run-1", "plan.md", "d1", T0)
        self.desk.tick("ada", "run-1", "todo.md", "d2", T0)
        self.desk.tick("ada", "run-1", "plan.md", "d3", T1)
        self.desk.tick("ada", "run-1", "todo.md", "", T1)
        assert self.desk.ticked("ada", "run-1") == {"plan.md": "d3"}
        assert self.desk.ticked("bob", "run-1") == {}

    def test_marks_only_go_forward(self) -> None:
        assert self.desk.mark("ada", "run-1") == Mark()
        self.desk.mark_seen("ada", "run-1", 9, T0)
        self.desk.mark_read("ada", "run-1", 7, T1)
        self.desk.mark_seen("ada", "run-1", 4, T1)
        self.desk.mark_read("ada", "run-1", 5, T0)
        assert self.desk.mark("ada", "run-1") == Mark(7, T1, 9, T1)

    def test_when_somebody_was_last_here_is_known_over_all_runs(self) -> None:
        assert self.desk.last_here("ada") == ""
        self.desk.mark_seen("ada", "run-1", 9, T1)
        self.desk.mark_seen("ada", "run-2", 1, T0)
        self.desk.mark_seen("bob", "run-2", 1, T2)
        assert self.desk.last_here("ada") == T1

    def test_a_snooze_ends_at_its_time_or_with_a_change_where_asked(self) -> None:
        self.desk.snooze("ada", "run-1", Snooze(T1))
        self.desk.snooze("ada", "run-2", Snooze("", 12))
        assert self.desk.snoozed("ada", T0) == {"run-1": Snooze(T1), "run-2": Snooze("", 12)}
        assert list(self.desk.snoozed("ada", T1)) == ["run-2"]
        assert self.desk.snoozed("bob", T0) == {}
        held = self.desk.snoozed("ada", T2)["run-2"]
        assert (held.holds(T2, 12), held.holds(T2, 13)) == (True, False)
        self.desk.wake("ada", "run-2")
        assert self.desk.snoozed("ada", T2) == {}
        refused(UserError, lambda: self.desk.snooze("ada", "run-1", Snooze("")))

    # -- requests

    def test_a_request_is_begun_once_and_repeated_from_what_was_answered(self) -> None:
        assert self.desk.claim("ada", "k", "print", now=T0) == Kept(T0)
        assert self.open().claim("ada", "k", "print", now=T1) == Kept(T0, again=True)
        self.desk.answer("ada", "k", REPLY, T0)
        assert self.open().claim("ada", "k", "print", now=T2) == Kept(T0, again=True, reply=REPLY)
        assert self.desk.claim("bob", "k", "print", now=T0) == Kept(T0)

    def test_of_many_at_once_exactly_one_begins_a_request(self) -> None:
        desks = [self.open() for _ in range(4)]
        with ThreadPoolExecutor(8) as pool:
            done = [pool.submit(desks[n % 4].claim, "ada", "k", "print", now=T0) for n in range(24)]
        assert sum(not one.result().again for one in done) == 1

    def test_the_same_key_for_something_else_is_told(self) -> None:
        self.desk.claim("ada", "k", "print", now=T0)
        assert self.desk.claim("ada", "k", "another", now=T1) == Kept(T0, again=True, other=True)
        self.desk.answer("ada", "k", REPLY, T0)
        assert self.desk.claim("ada", "k", "another", now=T1) == Kept(T0, again=True, other=True, reply=REPLY)

    def test_a_request_without_effect_is_let_go_and_an_answer_stays(self) -> None:
        self.desk.claim("ada", "k", "print", now=T0)
        self.desk.let_go("ada", "k")
        assert self.desk.claim("ada", "k", "print", now=T1) == Kept(T1)
        self.desk.answer("ada", "k", REPLY, T0)
        self.desk.let_go("ada", "k")
        assert self.desk.claim("ada", "k", "print", now=T0) == Kept(T0, again=True, reply=REPLY)

    def test_answers_are_kept_for_a_day(self) -> None:
        self.desk.claim("ada", "k", "print", now=T0)
        self.desk.answer("ada", "k", REPLY, T0)
        assert self.desk.claim("ada", "k", "print", now=DAY_LATER) == Kept(DAY_LATER)

    def test_a_key_has_a_length(self) -> None:
        for key in ("", "k" * (MOST_KEY + 1)):
            refused(UserError, lambda key=key: self.desk.claim("ada", key, "f", now=T0))  # type: ignore[misc]

    # -- sessions

    def test_a_session_is_found_by_its_secret_until_it_expires_or_ends(self) -> None:
        self.desk.begin_session("s1", "ada", T0, T2)
        found = self.open().session("s1", T1)
        assert found is not None
        assert (found.person, found.made, found.expires) == ("ada", T0, T2)
        assert self.desk.session("s1", T2) is None
        assert self.desk.session("s2", T1) is None
        self.desk.end_session("s1")
        assert self.desk.session("s1", T1) is None

    def test_that_a_session_was_used_is_noted_to_the_minute(self) -> None:
        self.desk.begin_session("s1", "ada", T0, WEEK_LATER)
        self.desk.session("s1", T0[:-5] + ".500Z")
        assert self.desk.sessions("ada", T0)[0].used == T0
        self.desk.session("s1", T2)
        assert self.desk.sessions("ada", T2)[0].used == T2

    def test_all_sessions_of_a_person_end_at_once(self) -> None:
        for secret, person in (("s1", "ada"), ("s2", "ada"), ("s3", "bob")):
            self.desk.begin_session(secret, person, T0, T2)
        assert self.desk.end_sessions("ada") == 2
        assert self.desk.sessions("ada", T0) == []
        assert self.desk.session("s3", T1) is not None

    # -- uploads

    def test_an_upload_is_kept_by_its_digest_and_only_for_its_person(self) -> None:
        kept = self.keep(b"figures", "figures.csv")
        assert (kept.size, kept.name, kept.run) == (7, "figures.csv", "")
        assert self.open().upload("ada", kept.digest) == kept
        assert self.desk.upload("bob", kept.digest) is None
        path = Path(self.desk.upload_path(kept))
        assert (path.name, path.read_bytes()) == ("figures.csv", b"figures")

    def test_the_same_bytes_again_are_the_same_upload_with_the_newest_name(self) -> None:
        first = self.keep(b"figures", "old.csv")
        second = self.keep(b"figures", "new.csv")
        assert second.digest == first.digest
        assert [one.name for one in self.desk.uploads("ada")] == ["new.csv"]
        assert Path(self.desk.upload_path(second)).name == "new.csv"
        refused(StoreError, lambda: self.desk.upload_path(first))

    def test_a_name_cannot_lead_elsewhere(self) -> None:
        for name in ("../../etc/passwd", "..\\..\\evil.txt", "/etc/passwd", "..", "", "a\x00b\n.md", ".ssh", "é" * 400):
            path = Path(self.desk.upload_path(self.keep(b"x", name)))
            assert path.read_bytes() == b"x"
            assert path.parent.parent == Path(self.desk.upload_path(self.keep(b"other", "o"))).parent.parent

    def test_what_nobody_used_goes_after_a_week_and_what_a_run_was_given_goes_with_it(self) -> None:
        unused, used = self.keep(b"1", "a"), self.keep(b"2", "b")
        self.desk.use_upload("ada", used.digest, "run-1")
        self.desk.sweep(DAY_LATER)
        assert len(self.desk.uploads("ada")) == 2
        self.desk.sweep(WEEK_LATER)
        assert [one.digest for one in self.desk.uploads("ada")] == [used.digest]
        assert self.desk.upload("ada", unused.digest) is None
        self.desk.drop_run("run-1")
        assert self.desk.uploads("ada") == []

    def test_an_upload_can_be_dropped(self) -> None:
        kept = self.keep(b"1", "a")
        self.desk.drop_upload("ada", kept.digest)
        assert self.desk.uploads("ada") == []
        refused(StoreError, lambda: self.desk.upload_path(kept))

    def keep(self, data: bytes, name: str) -> Upload:
        return self.desk.keep_upload("ada", name, io.BytesIO(data), T0)

    # -- what goes

    def test_what_was_of_a_run_goes_with_it(self) -> None:
        self._fill()
        self.desk.drop_run("run-1")
        assert self.desk.draft(*OF_A) == Draft()
        assert (self.desk.ticked("ada", "run-1"), self.desk.mark("ada", "run-1")) == ({}, Mark())
        assert self.desk.snoozed("ada", T0) == {}
        assert self.desk.session("s1", T0) is not None

    def test_what_was_of_a_person_goes_with_them(self) -> None:
        self._fill()
        self.desk.drop_person("ada")
        assert (self.desk.draft(*OF_A), self.desk.uploads("ada")) == (Draft(), [])
        assert self.desk.session("s1", T0) is None
        assert self.desk.claim("ada", "k", "print", now=T0) == Kept(T0)

    def test_a_sweep_leaves_what_may_still_be_asked_for(self) -> None:
        self._fill()
        self.desk.sweep(T1)
        assert self.desk.draft(*OF_A).doc == "{}"
        assert self.desk.session("s1", T0) is not None
        assert self.desk.claim("ada", "k", "print", now=T0).again
        assert len(self.desk.uploads("ada")) == 1

    def _fill(self) -> None:
        self.desk.keep_draft(*OF_A, "{}", 0, T0)
        self.desk.tick("ada", "run-1", "plan.md", "d1", T0)
        self.desk.mark_read("ada", "run-1", 7, T0)
        self.desk.snooze("ada", "run-1", Snooze(T2))
        self.desk.begin_session("s1", "ada", T0, T2)
        self.desk.claim("ada", "k", "print", now=T0)
        self.keep(b"1", "a")
