"""The folder that people open, on a real disk with real links: whose change is it, and who writes where."""

from __future__ import annotations

import hashlib
import json
import os
import stat
import tempfile
from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from exploring import examples
from reconvene.adapters.workspace import FolderWorkspace, manifest
from reconvene.adapters.workspace import seen_files as survey
from reconvene.adapters.workspace.manifest import Entry
from reconvene.adapters.workspace.seen_files import MAX_BYTES
from reconvene.core.facts.ids import digest_of
from reconvene.errors import StoreError, UserError
from reconvene.ports import Change, Workspace


class Bench:
    """A workspace and the log's truth beside it."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "shared" / "run-1"
        self.manifest = folder / "state" / "run-1.json"
        self.log: dict[str, bytes] = {}
        self.again()

    def again(self) -> FolderWorkspace:
        """As a new process would open it."""
        self.workspace = FolderWorkspace(str(self.root), str(self.manifest))
        return self.workspace

    def known(self) -> dict[str, str]:
        return {path: digest_of(data) for path, data in self.log.items()}

    def append(self, files: Mapping[str, bytes | None]) -> None:
        """Into the log only: the process dies before it writes anything out."""
        for path, data in files.items():
            if data is None:
                self.log.pop(path, None)
            else:
                self.log[path] = data

    def write(self, files: Mapping[str, bytes | None]) -> None:
        self.append(files)
        self.workspace.write(files, self.known())

    def changes(self) -> list[Change]:
        return self.workspace.look(self.known()).changes

    def stale(self) -> list[str]:
        return self.workspace.stale(self.known())

    def resume(self) -> list[Change]:
        """What a driver does when it takes a run up: record the edits, then bring the rest to disk."""
        changes, stale, settled, _ = self.workspace.look(self.known())
        self.append({change.path: change.data for change in changes})
        if settled:
            assert (changes, stale) == ([], [])
            assert self.log.items() <= self.on_disk().items()
        else:
            self.workspace.write({path: self.log.get(path) for path in stale}, self.known())
        return changes

    def on_disk(self) -> dict[str, bytes]:
        files = sorted(path for path in self.root.rglob("*") if path.is_file() and not path.is_symlink())
        return {path.relative_to(self.root).as_posix(): path.read_bytes() for path in files}


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


def test_it_is_a_workspace(bench: Bench) -> None:
    port: Workspace = bench.workspace
    assert port.root == str(bench.root)


def test_nothing_is_made_before_the_first_write(bench: Bench) -> None:
    assert bench.changes() == []
    bench.write({})
    bench.write({"never/there.md": None})
    assert not bench.root.exists()
    assert not bench.manifest.exists()


def test_what_is_written_is_read_back_and_is_nobodys_change(bench: Bench) -> None:
    bench.write({"a.md": b"one", "deep/er/b.bin": b"\0\xff", "empty": b""})
    assert bench.on_disk() == bench.log
    assert bench.workspace.read("deep/er/b.bin") == b"\0\xff"
    assert bench.workspace.read("deep") is None
    assert bench.workspace.read("none/such") is None
    for workspace in (bench.workspace, bench.again()):
        assert workspace.look(bench.known()).changes == []
        assert workspace.stale(bench.known()) == []


def test_edits_additions_and_deletions_of_a_person_are_found(bench: Bench) -> None:
    bench.write({"a.md": b"one", "b.md": b"two", "c/d.md": b"three"})
    (bench.root / "a.md").write_bytes(b"ONE")
    (bench.root / "b.md").unlink()
    (bench.root / "new").mkdir()
    (bench.root / "new" / "n.md").write_bytes(b"mine")
    expected = [Change("a.md", b"ONE"), Change("b.md", None), Change("new/n.md", b"mine")]
    assert bench.changes() == expected
    assert bench.again().look(bench.known()).changes == expected
    assert bench.stale() == []


def test_a_recorded_edit_is_reported_once_and_going_back_on_it_is_an_edit_too(bench: Bench) -> None:
    bench.write({"a.md": b"one"})
    (bench.root / "a.md").write_bytes(b"two")
    assert bench.resume() == [Change("a.md", b"two")]
    assert bench.changes() == []
    (bench.root / "a.md").write_bytes(b"one")
    assert bench.again().look(bench.known()).changes == [Change("a.md", b"one")]


def test_a_recorded_deletion_is_reported_once_and_going_back_on_it_is_an_edit_too(bench: Bench) -> None:
    bench.write({"a.md": b"one", "b.md": b""})
    (bench.root / "a.md").unlink()
    assert bench.resume() == [Change("a.md", None)]
    (bench.root / "a.md").write_bytes(b"one")
    assert bench.again().look(bench.known()).changes == [Change("a.md", b"one")]


def test_an_edit_in_the_same_instant_and_of_the_same_size_is_found(bench: Bench) -> None:
    for number in range(50):
        bench.write({"a.md": b"%04d" % number})
        assert bench.changes() == []
        (bench.root / "a.md").write_bytes(b"x%03d" % number)
        assert bench.resume() == [Change("a.md", b"x%03d" % number)]


def test_an_edit_that_puts_the_time_back_is_found(bench: Bench) -> None:
    bench.write({"a.md": b"one"})
    before = (bench.root / "a.md").stat()
    (bench.root / "a.md").write_bytes(b"two")
    os.utime(bench.root / "a.md", ns=(before.st_atime_ns, before.st_mtime_ns))
    assert bench.again().look(bench.known()).changes == [Change("a.md", b"two")]


def test_a_settled_stamp_spares_reading_the_file(bench: Bench) -> None:
    bench.write({"a.md": b"one"})
    document = json.loads(bench.manifest.read_text())
    document["files"]["a.md"] |= {"digest": "f" * 32, "seen_ns": document["files"]["a.md"]["ctime_ns"] + 10**9}
    bench.manifest.write_text(json.dumps(document))
    assert bench.again().look({"a.md": "f" * 32}).changes == []  # only somebody who reads it can know better


def test_a_stamp_taken_too_early_vouches_for_nothing(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"x")
    there = (tmp_path / "f").stat()
    newest = max(there.st_mtime_ns, there.st_ctime_ns)
    assert not Entry.of("d", there, newest).vouches_for(there)
    assert not Entry.of("d", there, newest + 9_000_000).vouches_for(there)
    assert Entry.of("d", there, newest + 2_200_000_000).vouches_for(there)
    coarse = Entry("d", 5 * 10**9, 1, 5 * 10**9, 6 * 10**9)
    assert not coarse.is_settled()
    assert Entry("d", 5 * 10**9, 1, 5 * 10**9, 8 * 10**9).is_settled()


def test_what_the_engine_had_not_written_out_yet_is_no_edit(bench: Bench) -> None:
    bench.write({"a.md": b"one", "gone.md": b"old"})
    bench.append({"a.md": b"two", "new.md": b"new", "gone.md": None})
    bench.again()
    assert bench.changes() == []
    assert bench.stale() == ["a.md", "gone.md", "new.md"]
    assert bench.resume() == []
    assert bench.on_disk() == bench.log


def test_an_edit_of_a_file_that_the_engine_had_not_written_out_yet_is_found(bench: Bench) -> None:
    bench.write({"a.md": b"one", "gone.md": b"old"})
    bench.append({"a.md": b"two", "new.md": b"new", "gone.md": None})
    for name in ("a.md", "gone.md", "new.md"):
        (bench.root / name).write_bytes(b"mine")
    bench.again()
    assert [change.path for change in bench.changes()] == ["a.md", "gone.md", "new.md"]
    assert bench.stale() == []


def test_a_folder_that_vanished_is_written_again_not_taken_for_deletions(bench: Bench) -> None:
    bench.write({"a.md": b"one", "b/c.md": b"two"})
    (bench.root / "a.md").unlink()
    (bench.root / "b" / "c.md").unlink()
    (bench.root / "b").rmdir()
    bench.root.rmdir()
    assert bench.changes() == []
    assert bench.stale() == ["a.md", "b/c.md"]
    bench.write({"d.md": b"three"})  # a round closes before anybody puts the rest back
    assert bench.changes() == []
    assert bench.stale() == ["a.md", "b/c.md"]
    bench.resume()
    assert bench.on_disk() == bench.log


@pytest.mark.parametrize(
    "rubbish", [b"", b"{", b"[]", b'{"version": 1}', b'{"files": {"a": {}}, "folders": []}', b"\xff"]
)
def test_a_damaged_manifest_counts_as_none_and_loses_no_text(bench: Bench, rubbish: bytes) -> None:
    bench.write({"a.md": b"one", "b.md": b"two"})
    (bench.root / "a.md").write_bytes(b"mine")
    bench.manifest.write_bytes(rubbish)
    bench.again()
    assert bench.resume() == [Change("a.md", b"mine")]
    assert bench.changes() == []
    assert json.loads(bench.manifest.read_text())["files"].keys() == {"a.md", "b.md"}


def test_a_text_nobody_has_seen_is_not_overwritten(bench: Bench) -> None:
    bench.write({"a.md": b"one", "b.md": b"two"})
    assert bench.changes() == []
    (bench.root / "a.md").write_bytes(b"mine")
    (bench.root / "b.md").write_bytes(b"mine too")
    (bench.root / "c.md").write_bytes(b"and this")
    bench.write({"a.md": b"theirs", "b.md": None, "c.md": b"theirs"})
    assert bench.on_disk() == {"a.md": b"mine", "b.md": b"mine too", "c.md": b"and this"}
    assert bench.changes() == [
        Change("a.md", b"mine"), Change("b.md", b"mine too"), Change("c.md", b"and this"),
    ]  # fmt: skip


def test_a_reported_edit_may_be_overwritten(bench: Bench) -> None:
    bench.write({"status.md": b"rendered", "b.md": b"two"})
    (bench.root / "status.md").write_bytes(b"mine")
    (bench.root / "b.md").write_bytes(b"mine")
    assert len(bench.changes()) == 2
    bench.write({"status.md": b"rendered again", "b.md": None})
    assert bench.on_disk() == {"status.md": b"rendered again"}
    assert bench.changes() == []


def test_removal_prunes_only_empty_folders_that_the_engine_made(bench: Bench) -> None:
    (bench.root / "theirs").mkdir(parents=True)
    bench.write({"theirs/a.md": b"1", "ours/x/y.md": b"2", "ours/mixed/z.md": b"3"})
    (bench.root / "ours" / "mixed" / "note.md").write_bytes(b"a person's")
    bench.write({"theirs/a.md": None, "ours/x/y.md": None, "ours/mixed/z.md": None})
    assert sorted(path.relative_to(bench.root).as_posix() for path in bench.root.rglob("*")) == [
        "ours", "ours/mixed", "ours/mixed/note.md", "theirs",
    ]  # fmt: skip


def test_a_file_becomes_a_folder_and_back(bench: Bench) -> None:
    bench.write({"a": b"file"})
    bench.write({"a": None, "a/b": b"inner"})
    assert bench.on_disk() == {"a/b": b"inner"}
    bench.write({"a/b": None, "a": b"file"})
    assert bench.on_disk() == {"a": b"file"}
    assert bench.changes() == []


def test_a_folder_in_the_way_is_told_in_plain_words_and_the_rest_is_remembered(bench: Bench) -> None:
    (bench.root / "b.md").mkdir(parents=True)
    with pytest.raises(StoreError, match=r"'b\.md' cannot be written: a folder of that name is in the way") as error:
        bench.write({"a.md": b"1", "b.md": b"2"})
    assert "Move or remove" in error.value.hint
    assert json.loads(bench.manifest.read_text())["files"].keys() == {"a.md"}


def test_a_file_in_place_of_a_folder_is_told_in_plain_words(bench: Bench) -> None:
    bench.root.mkdir(parents=True)
    (bench.root / "a").write_bytes(b"mine")
    with pytest.raises(StoreError, match="needs a folder 'a', but a file of that name is in the way"):
        bench.write({"a/b.md": b"1"})
    assert (bench.root / "a").read_bytes() == b"mine"


def test_a_workspace_that_is_a_file_is_told_in_plain_words(bench: Bench) -> None:
    bench.root.parent.mkdir(parents=True)
    bench.root.write_bytes(b"")
    assert bench.changes() == []
    with pytest.raises(StoreError, match="cannot be used: file exists"):
        bench.write({"a.md": b"1"})


@pytest.mark.parametrize(
    "path", ["../x", "/x", "a/../../x", ".git/config", "a/.git/hooks/post-checkout", ".reconvene/x"]
)
def test_no_path_leaves_the_folder_or_reaches_git(bench: Bench, path: str) -> None:
    with pytest.raises(UserError):
        bench.workspace.write({"fine.md": b"1", path: b"x"}, {})
    with pytest.raises(UserError):
        bench.workspace.read(path)
    assert not bench.root.exists()


def test_a_link_in_place_of_a_file_is_replaced_and_never_followed(bench: Bench, tmp_path: Path) -> None:
    outside = tmp_path / "outside.txt"
    outside.write_bytes(b"secret")
    bench.write({"a.md": b"one"})
    (bench.root / "a.md").unlink()
    (bench.root / "a.md").symlink_to(outside)
    (bench.root / "leak.md").symlink_to(outside)
    assert bench.changes() == []
    assert bench.workspace.read("a.md") is None
    assert bench.stale() == ["a.md"]
    assert bench.workspace.ignored(bench.known()) == ("a.md: a link", "leak.md: a link")
    bench.resume()
    assert bench.on_disk() == {"a.md": b"one"}
    assert not (bench.root / "a.md").is_symlink()
    assert outside.read_bytes() == b"secret"
    bench.write({"leak.md": b"x"})
    bench.write({"leak.md": None})
    assert outside.read_bytes() == b"secret"


def test_nothing_is_read_written_or_removed_behind_a_linked_folder(bench: Bench, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "a.md").write_bytes(b"secret")
    (outside / "loop").symlink_to(outside)
    bench.write({"top.md": b"0", "sub/a.md": b"one"})
    (bench.root / "sub" / "a.md").unlink()
    (bench.root / "sub").rmdir()
    (bench.root / "sub").symlink_to(outside)
    assert bench.changes() == []
    assert bench.workspace.read("sub/a.md") is None
    with pytest.raises(StoreError, match="needs a folder 'sub', but a link of that name is in the way"):
        bench.workspace.write({"sub/a.md": b"two"}, bench.known())
    bench.workspace.write({"sub/a.md": None}, {"top.md": digest_of(b"0")})
    assert (outside / "a.md").read_bytes() == b"secret"
    assert sorted(path.name for path in outside.iterdir()) == ["a.md", "loop"]


def test_the_folder_itself_may_be_reached_through_a_link(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    workspace = FolderWorkspace(str(tmp_path / "link" / "run"), str(tmp_path / "m.json"))
    workspace.write({"a.md": b"1"}, {"a.md": digest_of(b"1")})
    assert (tmp_path / "real" / "run" / "a.md").read_bytes() == b"1"


def test_pipes_editors_leavings_repositories_and_unusable_names_are_passed_over(bench: Bench) -> None:
    bench.write({"a.md": b"1", "kept~": b"the log knows it"})
    os.mkfifo(bench.root / "pipe")
    (bench.root / ".git" / "hooks").mkdir(parents=True)
    (bench.root / ".git" / "hooks" / "pre-commit").write_bytes(b"#!/bin/sh")
    for name in (
        ".#a.md",
        "a.md~",
        ".a.md.swp",
        "#a.md#",
        ".DS_Store",
        "~$a.docx",
        ".reconvene-tmp-0123",
        "a\nb",
        "a\\b",
    ):
        (bench.root / name).write_bytes(b"x")
    with open(os.fsencode(bench.root) + b"/\xff\xfe.md", "wb"):
        pass
    assert bench.changes() == []
    ignored = bench.workspace.ignored(bench.known())
    assert "pipe: not a plain file" in ignored
    assert all(line.isprintable() for line in ignored)
    (bench.root / "kept~").write_bytes(b"edited")
    assert bench.changes() == [Change("kept~", b"edited")]


def test_a_file_too_large_is_neither_an_edit_nor_overwritten_and_is_named(bench: Bench) -> None:
    bench.write({"a.md": b"1"})
    with open(bench.root / "a.md", "wb") as file:
        file.truncate(MAX_BYTES + 1)
    assert bench.changes() == []
    assert bench.stale() == []
    why = "a.md: larger than 100 MB (RECONVENE_MAX_EDIT_MB)"
    assert bench.workspace.ignored(bench.known()) == bench.workspace.look(bench.known()).ignored == (why,)
    bench.write({"a.md": b"2"})
    assert (bench.root / "a.md").stat().st_size == MAX_BYTES + 1


def test_the_engine_may_write_more_than_it_takes_from_a_person(bench: Bench) -> None:
    bench.write({"big.bin": b"1" * 2000})
    few = FolderWorkspace(str(bench.root), bench.workspace._file._path, largest=1000)
    assert few.look(bench.known()).changes == []
    few.write({"big.bin": b"2"}, {"big.bin": digest_of(b"2")})
    assert bench.on_disk() == {"big.bin": b"2"}


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is unreadable to this user")
def test_what_cannot_be_read_is_not_taken_for_deleted(bench: Bench) -> None:
    bench.write({"a.md": b"1", "sub/b.md": b"2"})
    (bench.root / "a.md").chmod(0)
    (bench.root / "sub").chmod(0)
    try:
        assert bench.changes() == []
        assert bench.stale() == []
        assert len(bench.workspace.ignored(bench.known())) == 2
    finally:
        (bench.root / "sub").chmod(0o700)


def test_permissions_of_a_file_survive_rewriting_and_hard_links_are_cut(bench: Bench, tmp_path: Path) -> None:
    bench.write({"run.sh": b"1"})
    (bench.root / "run.sh").chmod(0o750)
    os.link(bench.root / "run.sh", tmp_path / "copy.sh")
    bench.write({"run.sh": b"2"})
    assert stat.S_IMODE((bench.root / "run.sh").stat().st_mode) == 0o750
    assert (tmp_path / "copy.sh").read_bytes() == b"1"


def test_what_a_crash_left_half_written_goes_with_the_next_write(bench: Bench, tmp_path: Path) -> None:
    bench.write({"a.md": b"1"})
    outside = tmp_path / "outside"
    temp = ".reconvene-tmp-" + hashlib.sha256(b"a.md").hexdigest()[:16]
    (bench.root / temp).symlink_to(outside)
    bench.write({"a.md": b"2"})
    assert sorted(path.name for path in bench.root.iterdir()) == ["a.md"]
    assert not outside.exists()


def test_writing_nothing_new_touches_nothing(bench: Bench) -> None:
    bench.write({"a.md": b"1"})
    before = (bench.root / "a.md").stat(), bench.manifest.stat()
    bench.write({})
    assert ((bench.root / "a.md").stat(), bench.manifest.stat()) == before
    bench.write({"a.md": b"1"})
    assert (bench.root / "a.md").stat() == before[0]


def reads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the files whose contents are read from now on."""
    found: list[str] = []
    read = survey.read_file
    monkeypatch.setattr(survey, "read_file", lambda folder, name: found.append(name) or read(folder, name))
    return found


def settle(folder: Path) -> None:
    """Files as if they had been written a minute ago: a stamp taken now vouches for them."""
    for path in folder.rglob("*.md"):
        past = path.stat().st_mtime_ns - 60_000_000_000
        os.utime(path, ns=(past, past))


def test_many_files_that_nobody_touched_are_read_by_one_process_and_by_no_later_one(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(manifest, "_TICK_NS", -1)  # the moment after a write is over at once
    bench.write({f"notes/{n}.md": b"%d" % n for n in range(30)})
    settle(bench.root)
    bench.again()
    read = reads(monkeypatch)
    assert bench.changes() == []
    assert len(read) == 30
    bench.write({})
    bench.again()
    read.clear()
    assert bench.changes() == []
    assert bench.stale() == []
    assert read == []
    (bench.root / "notes/7.md").write_text("mine")
    assert [change.path for change in bench.changes()] == ["notes/7.md"]


def test_a_few_small_files_are_not_worth_a_manifest_of_their_own(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """Reading them again costs less than writing one durably."""
    monkeypatch.setattr(manifest, "_TICK_NS", -1)
    bench.write({"a.md": b"1", "b.md": b"2"})
    settle(bench.root)
    before = bench.manifest.stat()
    bench.again()
    assert bench.changes() == []
    bench.write({})
    assert bench.manifest.stat() == before


PATHS = st.sampled_from(["a", "b.md", "d/e", "d/f/g"])
TEXTS = st.sampled_from([b"1", b"2", b"3", b"4"])
FILES = st.dictionaries(PATHS, st.one_of(st.none(), TEXTS), max_size=3)


class Life(RuleBasedStateMachine):
    """A person and an engine at work on the same folder, and crashes wherever they can come."""

    @initialize()
    def begin(self) -> None:
        self.kept = tempfile.TemporaryDirectory(prefix="life-")
        self.bench = Bench(Path(self.kept.name))
        self.touched: set[str] = set()
        self.ever: set[bytes] = set()  # every text that the log ever held

    def append(self, files: Mapping[str, bytes | None]) -> None:
        self.bench.append(files)
        self.ever |= set(self.bench.log.values())

    @rule(files=FILES)
    def engine_works(self, files: dict[str, bytes | None]) -> None:
        self.scan()
        self.append(files)
        self.bench.workspace.write(files, self.bench.known())

    @rule(files=FILES)
    def crash_before_writing(self, files: dict[str, bytes | None]) -> None:
        self.append(files)
        self.bench.again()
        self.resume()

    @rule(files=FILES, done=st.integers(0, 3), edits=st.dictionaries(PATHS, st.one_of(st.none(), TEXTS), max_size=2))
    def crash_before_the_manifest(
        self, files: dict[str, bytes | None], done: int, edits: dict[str, bytes | None]
    ) -> None:
        self.scan()
        self.append(files)
        before = self.bench.manifest.read_bytes() if self.bench.manifest.exists() else None
        self.bench.workspace.write(dict(list(files.items())[:done]), self.bench.known())
        if before is None:
            self.bench.manifest.unlink(missing_ok=True)
        else:
            self.bench.manifest.write_bytes(before)
        for path, data in edits.items():
            self.person_edits(path, data)
        self.bench.again()
        self.resume()

    @rule(path=PATHS, data=st.one_of(st.none(), TEXTS, st.binary(min_size=1, max_size=2)))
    def person_edits(self, path: str, data: bytes | None) -> None:
        target = self.bench.root / path
        if data is not None:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(data)
            self.touched.add(path)
        elif target.exists():
            target.unlink()
            self.touched.add(path)

    @rule(path=PATHS, data=st.binary(min_size=2, max_size=3), files=FILES)
    def person_edits_under_the_engines_hands(self, path: str, data: bytes, files: dict[str, bytes | None]) -> None:
        self.scan()
        self.person_edits(path, data)
        self.append(files)
        self.bench.workspace.write(files, self.bench.known())
        assert data in self.ever or data in self.bench.on_disk().values(), "a text was lost"

    @rule()
    def scan(self) -> None:
        on_disk = self.bench.on_disk()
        found = self.bench.changes()
        assert {change.path for change in found} <= self.touched, "an edit was invented"
        self.append({change.path: change.data for change in found})
        assert set(on_disk.values()) <= self.ever, "a text was lost"
        self.bench.workspace.write({}, self.bench.known())
        self.touched.clear()
        assert self.bench.changes() == []

    @rule()
    def resume(self) -> None:
        self.scan()
        self.bench.resume()
        assert self.bench.on_disk() == self.bench.log

    @rule()
    def another_process_takes_over(self) -> None:
        self.bench.again()

    @invariant()
    def looking_changes_nothing(self) -> None:
        if hasattr(self, "bench"):
            watcher = FolderWorkspace(str(self.bench.root), str(self.bench.manifest))
            known = self.bench.known()
            assert watcher.look(known).changes == watcher.look(known).changes
            assert not {change.path for change in watcher.look(known).changes} & set(watcher.stale(known))

    def teardown(self) -> None:
        if hasattr(self, "kept"):
            self.kept.cleanup()


TestLife = Life.TestCase
TestLife.settings = examples(60, stateful_step_count=20)
