"""The history, in real repositories, read back with the real git."""

from __future__ import annotations

import itertools
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
from datetime import UTC, datetime
from pathlib import Path

import pygit2
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from reconvene.adapters.git import GitHistory
from reconvene.adapters.git.message import ENGINE, Person, compose, person_of, seconds_of, seq_of
from reconvene.core.facts.ids import digest_of
from reconvene.errors import Bug, StoreError, UserError
from reconvene.ports import Commit, History

ARTEFACTS: dict[str, bytes] = {}
NUMBERS = itertools.count()
needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")


def kept(data: bytes) -> str:
    ARTEFACTS[digest_of(data)] = data
    return digest_of(data)


def blob(digest: str) -> bytes:
    return ARTEFACTS[digest]


def commit(seq: int, files: dict[str, bytes], **fields: object) -> Commit:
    made = Commit(
        seq=seq,
        files={path: kept(data) for path, data in files.items()},
        subject=f"Round {seq}",
        body="",
        trailers=(("Reconvene-Phase", "draft"),),
        author="Ada Lovelace",
        at=f"2026-03-01T10:00:{seq % 60:02d}.123Z",
    )
    return made._replace(**fields)  # type: ignore[arg-type]


def versions(count: int) -> list[Commit]:
    files: dict[str, bytes] = {"a.md": b"start\n", "deep/er/b.md": b"b\n"}
    made = []
    for seq in range(1, count + 1):
        files[f"notes/{seq % 5}/n.md"] = b"version %d\n" % seq
        if seq % 4 == 0:
            files.pop(f"notes/{(seq - 2) % 5}/n.md", None)
        made.append(commit(seq * 3, dict(files)))
    return made


def git(repository: str | Path, *arguments: str) -> str:
    environ = {
        "PATH": os.environ["PATH"], "HOME": "/nonexistent", "LC_ALL": "C",
        "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1",
    }  # fmt: skip
    done = subprocess.run(
        ["git", "-C", str(repository), *arguments], env=environ, capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 0, done.stderr
    assert "warning" not in done.stderr
    return done.stdout


@pytest.fixture
def history(tmp_path: Path) -> GitHistory:
    return GitHistory(str(tmp_path / "history.git"))


def contents(history: GitHistory, commit_id: str) -> dict[str, bytes]:
    repository, index = pygit2.Repository(history.path), pygit2.Index()
    index.read_tree(repository[commit_id].peel(pygit2.Tree))
    return {entry.path: repository[entry.id].read_raw() for entry in index}


def ids(history: GitHistory, run: str = "run-1") -> list[str]:
    return [commit_id for commit_id, _ in history.commits(run)]


def test_it_is_a_history_and_looking_at_none_makes_none(history: GitHistory) -> None:
    port: History = history
    assert port.last_seq("run-1") == 0
    assert port.commits("run-1") == []
    with pytest.raises(UserError, match="no history yet"):
        port.diff("run-1", "", "")
    assert not os.path.exists(history.path)


def test_every_commit_holds_exactly_the_files_it_was_given(history: GitHistory) -> None:
    made = versions(12)
    history.commit("run-1", made, blob)
    listed = history.commits("run-1")
    assert [one.seq for _, one in listed] == [one.seq for one in made]
    for (commit_id, _), one in zip(listed, made, strict=True):
        assert contents(history, commit_id) == {path: blob(digest) for path, digest in one.files.items()}
    assert history.last_seq("run-1") == made[-1].seq


def test_a_commit_is_told_back_as_it_was_given(history: GitHistory) -> None:
    given = commit(7, {"a": b"1"}, subject="Decided: Continue", body="first\n\nsecond\n  indented")
    history.commit("run-1", [given], blob)
    [(_, told)] = history.commits("run-1")
    trailers = (*given.trailers, ("Reconvene-Run", "run-1"), ("Reconvene-Seq", "7"))
    assert told == given._replace(files={}, trailers=trailers, at="2026-03-01T10:00:07.000Z")


def test_the_same_log_gives_the_same_ids_in_one_go_or_in_pieces(history: GitHistory, tmp_path: Path) -> None:
    made = versions(10)
    history.commit("run-1", made, blob)
    other = GitHistory(str(tmp_path / "other.git"))
    for one in made[:4]:
        other.commit("run-1", [one], blob)
    other.commit("run-1", made[4:7], blob)
    GitHistory(other.path).commit("run-1", made[7:], blob)
    assert ids(other) == ids(history)


def test_a_deleted_repository_is_made_again_with_the_same_ids(history: GitHistory) -> None:
    made = versions(5)
    history.commit("run-1", made, blob)
    before = ids(history)
    shutil.rmtree(history.path)
    assert history.last_seq("run-1") == 0
    history.commit("run-1", made, blob)
    assert ids(history) == before


def test_what_is_there_already_is_not_added_again(history: GitHistory) -> None:
    made = versions(5)
    history.commit("run-1", made[:3], blob)
    history.commit("run-1", made, blob)
    history.commit("run-1", made, blob)
    history.commit("run-1", [], blob)
    assert [one.seq for _, one in history.commits("run-1")] == [3, 6, 9, 12, 15]


def test_an_unchanged_file_is_loaded_once(history: GitHistory) -> None:
    asked: list[str] = []

    def counting(digest: str) -> bytes:
        asked.append(digest)
        return blob(digest)

    made = versions(20)
    history.commit("run-1", made[:10], counting)
    history.commit("run-1", made[10:], counting)
    assert len(asked) == len(set(asked))


def test_runs_have_branches_of_their_own(history: GitHistory) -> None:
    names = ["run-1", "SCENARIO-2026-001", "a/b", "a b", "a-b", "-x", "..", "x.lock", "@{u}", "über", "x" * 300]
    for number, run in enumerate(names, 1):
        history.commit(run, [commit(number, {"f": run.encode()})], blob)
    for number, run in enumerate(names, 1):
        [(commit_id, told)] = history.commits(run)
        assert contents(history, commit_id) == {"f": run.encode()}
        assert told.seq == number
    branches = {path.name for path in Path(history.path, "refs", "heads").iterdir()}
    assert len(branches) == len(names)
    assert {"run-1", "SCENARIO-2026-001"} <= branches


def test_a_diff_between_two_commits_of_one_run(history: GitHistory) -> None:
    history.commit(
        "run-1",
        [commit(1, {"a.md": b"one\n", "n/b.md": b"x\n"}), commit(2, {"a.md": b"two\n", "n/c.md": b"y\n"})],
        blob,
    )
    history.commit("run-2", [commit(1, {"other": b"run\n"})], blob)
    old, new = ids(history)
    text = history.diff("run-1", old, new)
    assert "-one\n+two\n" in text
    assert "deleted file" in text
    assert "+y" in text
    only = history.diff("run-1", old, new, "a.md")
    assert "+++ b/a.md" in only
    assert "n/" not in only
    assert "n/b.md" in history.diff("run-1", old, new, "n")
    assert "+one" in history.diff("run-1", "", old)
    assert history.diff("run-1", old, "") == text
    assert history.diff("run-1", old[:8], new[:8]) == text
    assert history.diff("run-1", new, new) == ""
    [foreign] = ids(history, "run-2")
    for wrong in (foreign, "0" * 40, "HEAD", "main", "x", "../x"):
        with pytest.raises(UserError, match="There is no commit"):
            history.diff("run-1", wrong, new)


@needs_git
def test_plain_git_reads_it(history: GitHistory) -> None:
    history.commit("run-1", versions(6), blob)
    history.commit(
        "run-1", [commit(40, {"é.md": b"x\n"}, author="Zoë", subject="Edited by Zoë", body="a remark")], blob
    )
    assert git(history.path, "fsck", "--strict", "--no-dangling") == ""
    assert git(history.path, "log", "--format=%H", "--reverse").split() == ids(history)
    who = git(history.path, "log", "-1", "--date=iso-strict", "--format=%an|%ae|%cn|%ce|%ad|%cd", "run-1").strip()
    when = "2026-03-01T10:00:40+00:00"
    assert who == f"Zoë|zo@reconvene.invalid|Reconvene|engine@reconvene.invalid|{when}|{when}"
    trailers = git(history.path, "log", "-1", "--format=%(trailers:only,unfold)", "run-1").strip().split("\n")
    assert trailers == ["Reconvene-Phase: draft", "Reconvene-Run: run-1", "Reconvene-Seq: 40"]
    shown = git(history.path, "show", "run-1")
    assert "Edited by Zoë" in shown
    assert "+x" in shown
    assert git(history.path, "rev-parse", "--is-bare-repository").strip() == "true"


@needs_git
def test_what_somebody_pushed_is_kept_and_does_not_confuse_the_seq(history: GitHistory, tmp_path: Path) -> None:
    made = versions(3)
    history.commit("run-1", made[:2], blob)
    git(tmp_path, "clone", "-q", history.path, "clone")
    (tmp_path / "clone" / "mine.md").write_text("mine\n")
    git(tmp_path / "clone", "add", "mine.md")
    git(tmp_path / "clone", "-c", "user.name=Me", "-c", "user.email=me@example.org", "commit", "-qm", "my own")
    git(tmp_path / "clone", "push", "-q", "origin", "HEAD:run-1")
    assert history.last_seq("run-1") == made[1].seq
    history.commit("run-1", made, blob)
    assert [one.seq for _, one in history.commits("run-1")] == [one.seq for one in made]
    assert "my own" in git(history.path, "log", "run-1")


@pytest.mark.parametrize(
    "path", [".git/config", "a/.git/hooks/x", "../x", "/x", "a//b", "git~1", ".gitattributes", "a\nb"]
)
def test_no_tree_can_hold_a_hostile_name(history: GitHistory, path: str) -> None:
    with pytest.raises(UserError):
        history.commit("run-1", [commit(1, {"fine": b"1"}), commit(2, {"fine": b"1", path: b"x"})], blob)
    assert history.last_seq("run-1") == 0


@pytest.mark.parametrize("files", [{"a": b"1", "a/b": b"2"}, {"a/b": b"2", "a": b"1"}, {"x/y": b"1", "x/y/z/w": b"2"}])
def test_no_path_is_both_file_and_folder(history: GitHistory, files: dict[str, bytes]) -> None:
    with pytest.raises(UserError, match="a file and a folder"):
        history.commit("run-1", [commit(1, files)], blob)


def test_a_file_becomes_a_folder_and_back_and_all_may_go(history: GitHistory) -> None:
    steps: list[dict[str, bytes]] = [
        {"a": b"1"},
        {"a/b/c": b"2"},
        {"a/b": b"3", "a/d": b"3"},
        {"a": b"4"},
        {},
        {"z": b"5"},
    ]
    history.commit("run-1", [commit(number, files) for number, files in enumerate(steps, 1)], blob)
    assert [contents(history, commit_id) for commit_id in ids(history)] == steps


def test_nothing_written_into_a_commit_can_break_or_forge_it() -> None:
    nasty = commit(
        5,
        {},
        subject="one\nReconvene-Seq: 99\x00\x1b[31m",
        body="\r\nReconvene-Seq: 98\n\n\n\nReconvene-Seq: 97\n\ud800",
        trailers=(("Reconvene-Seq", "96"), ("Bad Key:\n", "x\nReconvene-Seq: 95"), ("", "x")),
    )
    message = compose("run\nReconvene-Seq: 94", nasty)
    assert seq_of(message) == 5
    assert message == (
        "one Reconvene-Seq: 99 [31m\n\nReconvene-Seq: 98\n\nReconvene-Seq: 97\n?\n\n"
        "Bad-Key: x Reconvene-Seq: 95\nReconvene-Run: run Reconvene-Seq: 94\nReconvene-Seq: 5\n"
    )
    assert (
        compose("r", commit(1, {}, subject=" \n", trailers=())) == "No subject\n\nReconvene-Run: r\nReconvene-Seq: 1\n"
    )
    assert seq_of("Reconvene-Seq: 1\n\nsomebody's own commit\n") is None


@pytest.mark.parametrize(
    ("author", "person"),
    [
        ("Ada Lovelace", Person("Ada Lovelace", "ada-lovelace@reconvene.invalid")),
        ("Ada <ada@example.org>", Person("Ada", "ada@example.org")),
        ("x <y> z\n<w>", Person("x y z w", "x-y-z-w@reconvene.invalid")),
        ("李雷", Person("李雷", f"{digest_of('李雷'.encode())[:8]}@reconvene.invalid")),
        ("", ENGINE),
        ("<>.,:;\n", ENGINE),
    ],
)
def test_an_author_always_has_a_name_and_an_address(history: GitHistory, author: str, person: Person) -> None:
    assert person_of(author) == person
    history.commit("run-1", [commit(1, {}, author=author)], blob)
    [(_, told)] = history.commits("run-1")
    assert person_of(told.author) == person


def test_a_time_that_is_none_is_a_bug_not_a_guess() -> None:
    assert seconds_of("1970-01-01T00:00:05.999Z") == 5
    with pytest.raises(Bug):
        seconds_of("yesterday")


def test_nobodys_set_up_takes_part(tmp_path: Path) -> None:
    """A home full of traps: broken configuration, attributes, a template with hooks. None of them is even read."""
    home = tmp_path / "home"
    (home / ".config" / "git").mkdir(parents=True)
    (home / "template" / "hooks").mkdir(parents=True)
    (home / "template" / "hooks" / "post-commit").write_text("#!/bin/sh\ntouch trapped\n")
    (home / ".gitconfig").write_text("[this is not\n a configuration")
    (home / ".config" / "git" / "config").write_text("[init\n")
    (home / ".config" / "git" / "attributes").write_text("* -diff filter=trap\n")
    script = (
        "import sys\n"
        "from reconvene.adapters.git import GitHistory\n"
        "from reconvene.ports import Commit\n"
        "h = GitHistory(sys.argv[1])\n"
        "c = Commit(1, {'a.txt': 'd'}, 's', '', (), 'Ada', '2026-03-01T10:00:00.000Z')\n"
        "h.commit('r', [c], lambda digest: b'text\\n')\n"
        "print(h.diff('r', '', ''))\n"
    )
    environ = {
        **os.environ, "HOME": str(home), "XDG_CONFIG_HOME": str(home / ".config"), "GIT_DIR": str(home),
        "GIT_TEMPLATE_DIR": str(home / "template"), "GIT_CONFIG_GLOBAL": str(home / ".gitconfig"),
    }  # fmt: skip
    done = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path / "h.git")],
        env=environ, cwd=home, capture_output=True, text=True, check=False, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "+text" in done.stdout
    assert not (tmp_path / "h.git" / "hooks" / "post-commit").exists()


def test_writing_and_listing_need_no_git_library(tmp_path: Path) -> None:
    script = (
        "import sys\n"
        "from reconvene.adapters.git import GitHistory\n"
        "from reconvene.ports import Commit\n"
        "c = Commit(1, {'a/b.txt': 'd'}, 's', '', (), 'Ada', '2026-03-01T10:00:00.000Z')\n"
        "for _ in range(2):\n"
        "    h = GitHistory(sys.argv[1])\n"
        "    h.commit('r', [c], lambda digest: b'text')\n"
        "assert (h.last_seq('r'), len(h.commits('r'))) == (1, 1)\n"
        "assert 'pygit2' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", script, str(tmp_path / "h.git")], check=True, timeout=300)


NAMES = st.sampled_from(["a", "a.b", "a-b", "a0", "ab", "é", "B", "z" * 40])
PATHS = st.lists(NAMES, min_size=1, max_size=3).map("/".join)
TEXTS = st.text(max_size=40)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    files=st.dictionaries(PATHS, st.binary(max_size=30), max_size=6),
    subject=TEXTS,
    body=TEXTS,
    author=st.one_of(TEXTS, st.just("'Ada' <'ada.'@ex.org.>"), st.just(" .Zoë, <z@ex.org>")),
    seconds=st.integers(0, 2**31),
)
def test_the_ids_are_those_that_the_git_library_would_give(
    history: GitHistory, files: dict[str, bytes], subject: str, body: str, author: str, seconds: int
) -> None:
    folders = {path.rsplit("/", depth)[0] for path in files for depth in range(1, path.count("/") + 1)}
    files = {path: data for path, data in files.items() if path not in folders}
    at = datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S.000Z")
    run = f"run-{next(NUMBERS)}"
    first = commit(1, {"first": b"1"})
    second = commit(2, files, subject=subject, body=body, author=author, at=at)
    history.commit(run, [first, second], blob)
    [parent, made] = ids(history, run)
    repository = pygit2.Repository(history.path)
    index = pygit2.Index()
    for path, data in files.items():
        index.add(pygit2.IndexEntry(path, repository.create_blob(data), pygit2.enums.FileMode.BLOB))
    person = person_of(author)
    signed = pygit2.Signature(person.name, person.email, seconds, 0, "utf-8")
    engine = pygit2.Signature(ENGINE.name, ENGINE.email, seconds, 0, "utf-8")
    tree = index.write_tree(repository)
    assert made == str(repository.create_commit(None, signed, engine, compose(run, second), tree, [parent]))


@needs_git
def test_what_plain_git_has_packed_is_read_and_goes_on(history: GitHistory) -> None:
    made = versions(6)
    history.commit("run-1", made[:4], blob)
    git(history.path, "gc", "--prune=now", "--quiet")
    assert not list(Path(history.path, "objects").glob("??/*"))
    assert not Path(history.path, "refs", "heads", "run-1").exists()
    again = GitHistory(history.path)
    assert again.last_seq("run-1") == made[3].seq
    again.commit("run-1", made, blob)
    assert [one.seq for _, one in again.commits("run-1")] == [one.seq for one in made]
    git(history.path, "fsck", "--strict", "--no-dangling")
    whole = GitHistory(history.path + ".whole")
    whole.commit("run-1", made, blob)
    assert ids(again) == ids(whole)


def test_another_process_loads_only_what_is_new(history: GitHistory) -> None:
    asked: list[str] = []

    def counting(digest: str) -> bytes:
        asked.append(digest)
        return blob(digest)

    files = {f"notes/{n % 7}/{n}.md": b"text %d" % n for n in range(100)}
    history.commit("run-1", [commit(1, files)], blob)
    GitHistory(history.path).commit("run-1", [commit(2, files | {"new.md": b"new"})], counting)
    assert asked == [kept(b"new")]
    shutil.rmtree(Path(history.path, "reconvene"))  # only a cache
    GitHistory(history.path).commit("run-1", [commit(3, files | {"newer.md": b"newer"})], counting)
    assert len(asked) == 102
    assert contents(history, ids(history)[-1]) == files | {"newer.md": b"newer"}


@pytest.mark.parametrize("left", ["", "0123456789abcdef", "ref: refs/heads/nowhere"])
def test_a_branch_that_was_half_written_is_made_again(history: GitHistory, left: str) -> None:
    made = versions(4)
    history.commit("run-1", made[:3], blob)
    before = ids(history)
    Path(history.path, "refs", "heads", "run-1").write_text(left)
    again = GitHistory(history.path)
    assert again.last_seq("run-1") == 0
    again.commit("run-1", made, blob)
    assert ids(again)[:3] == before
    assert len(ids(again)) == 4


@needs_git
def test_files_that_a_power_cut_left_empty_are_written_again(history: GitHistory) -> None:
    made = versions(5)
    history.commit("run-1", made, blob)
    before = ids(history)
    for path in Path(history.path, "objects").glob("??/*"):
        path.chmod(0o644)
        path.write_bytes(b"")
    again = GitHistory(history.path)
    assert again.last_seq("run-1") == 0
    again.commit("run-1", made, blob)
    assert ids(again) == before
    git(history.path, "fsck", "--strict", "--no-dangling")


def test_a_branch_that_somebody_moves_at_the_same_time_is_left_to_them(history: GitHistory) -> None:
    made = versions(3)
    history.commit("run-1", made[:2], blob)
    [first, second] = ids(history)
    branch = Path(history.path, "refs", "heads", "run-1")

    def moving(digest: str) -> bytes:
        branch.write_text(f"{first}\n")
        return blob(digest)

    with pytest.raises(StoreError, match="moved by somebody else"):
        history.commit("run-1", made, moving)
    assert branch.read_text() == f"{first}\n"
    assert not Path(f"{branch}.lock").exists()
    history.commit("run-1", made, blob)
    assert ids(history)[:2] == [first, second]


def test_threads_and_objects_that_catch_up_at_the_same_time_agree(history: GitHistory) -> None:
    made = versions(8)
    crew = [threading.Thread(target=GitHistory(history.path).commit, args=("run-1", made, blob)) for _ in range(4)]
    crew += [threading.Thread(target=GitHistory(history.path).commit, args=("run-2", made, blob)) for _ in range(2)]
    for one in crew:
        one.start()
    for one in crew:
        one.join()
    for run in ("run-1", "run-2"):
        assert [one.seq for _, one in history.commits(run)] == [one.seq for one in made]


def test_what_killed_processes_left_behind_is_in_nobodys_way(history: GitHistory) -> None:
    """Half a repository, a half-made one aside, locks of branch and HEAD."""
    made = versions(4)
    os.makedirs(os.path.join(history.path, "making", "refs"))
    os.makedirs(os.path.join(history.path, "objects"))
    history.commit("run-1", made[:2], blob)
    for name in ("HEAD.lock", "refs/heads/run-1.lock"):
        Path(history.path, name).touch()
    history.commit("run-1", made, blob)
    assert len(history.commits("run-1")) == 4
    assert not Path(history.path, "making").exists()


KILLED = """
import json, os, signal, sys
from reconvene.adapters.git import GitHistory
from reconvene.ports import Commit

path, dies_at, commits, artefacts = json.load(sys.stdin)
loads = 0

def blob(digest):
    global loads
    loads += 1
    if loads == dies_at:
        os.kill(os.getpid(), signal.SIGKILL)
    return artefacts[digest].encode()

GitHistory(path).commit("run-1", [Commit(*fields) for fields in commits], blob)
"""


@needs_git
def test_a_process_killed_in_the_middle_leaves_a_sound_repository(history: GitHistory) -> None:
    made = versions(6)
    reference = GitHistory(history.path + ".whole")
    reference.commit("run-1", made, blob)
    texts = {digest: data.decode() for digest, data in ARTEFACTS.items() if data.isascii()}
    for dies_at, first in ((1, 0), (4, 0), (2, 3)):
        history.commit("run-1", made[:first], blob)
        report = json.dumps([history.path, dies_at, [list(one) for one in made], texts])
        done = subprocess.run(
            [sys.executable, "-c", KILLED], input=report, capture_output=True, text=True, check=False, timeout=120
        )
        assert done.returncode == -signal.SIGKILL, done.stderr
        assert history.last_seq("run-1") == (made[first - 1].seq if first else 0)
        assert ids(history) == ids(reference)[:first]
        git(history.path, "fsck", "--strict", "--no-dangling")
    history.commit("run-1", made, blob)
    assert ids(history) == ids(reference)


def test_a_damaged_repository_says_how_to_get_it_back(history: GitHistory) -> None:
    history.commit("run-1", versions(2), blob)
    Path(history.path, "refs", "heads", "run-1").write_text("rubbish\n")
    with pytest.raises(StoreError, match="is damaged") as error:
        history.last_seq("run-1")
    assert "delete the folder" in error.value.hint


def test_a_branch_that_points_at_nothing_is_made_again(history: GitHistory) -> None:
    made = versions(3)
    history.commit("run-1", made, blob)
    before = ids(history)
    for folder in Path(history.path, "objects").iterdir():
        shutil.rmtree(folder)
    for name in ("pack", "info"):
        Path(history.path, "objects", name).mkdir()
    again = GitHistory(history.path)
    assert again.last_seq("run-1") == 0
    history.commit("run-1", made, blob)
    assert ids(again) == before


def test_a_history_that_cannot_be_made_says_so(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(StoreError, match="cannot be used"):
        GitHistory(str(tmp_path / "file")).commit("r", [commit(1, {})], blob)


def test_an_artefact_that_is_missing_is_told_as_it_is(history: GitHistory) -> None:
    def missing(digest: str) -> bytes:
        raise StoreError(f"no artefact {digest}")

    with pytest.raises(StoreError, match="no artefact"):
        history.commit("run-1", versions(1), missing)
    assert history.last_seq("run-1") == 0


# --- refs of what is done ---------------------------------------------------------------------------------------------

SCOPE = "work#1/do#2"
ODD = [
    "a/b",
    "2024-01-05",
    "..",
    "x.lock",
    "-",
    "",
    "día 1",
    "@{",
    "a" * 300,
    "load",
    "Load.",
    "a\nb",
    ".hidden",
    "a..b",
]


def marked(*marks: tuple[str, ...]) -> list[Commit]:
    return [commit(seq, {"a.md": b"%d" % seq}, marks=(mark,)) for seq, mark in enumerate(marks, 1)]


def refs_in(history: GitHistory) -> dict[str, str]:
    lines = git(history.path, "for-each-ref", "--format=%(refname) %(objectname)", "refs/reconvene").splitlines()
    return dict(line.split(" ") for line in lines)


@needs_git
def test_every_mark_is_a_ref_that_plain_git_knows_whatever_it_is_called(history: GitHistory) -> None:
    marks = [
        ("phases", SCOPE),
        ("phases", "work#1"),
        ("phases", "each#1[a/b]/do#1"),
        *(("items", SCOPE, k) for k in ODD),
    ]
    history.commit("run-1", marked(*marks), blob)
    found = refs_in(history)
    assert sorted(found.values()) == sorted(ids(history))
    for name in found:
        git(history.path, "check-ref-format", name)
    assert found["refs/reconvene/run-1/items/work-1.do-2/load"] == ids(history)[3 + ODD.index("load")]
    assert found["refs/reconvene/run-1/items/work-1.do-2/2024-01-05"]
    assert found["refs/reconvene/run-1/phases/work-1.do-2"] == ids(history)[0]
    assert git(history.path, "fsck", "--strict") == ""
    assert history.unsound("run-1") == ""


@needs_git
def test_what_is_done_twice_is_found_where_it_was_done_last(history: GitHistory) -> None:
    history.commit("run-1", marked(("items", SCOPE, "load"), ("items", SCOPE, "load")), blob)
    assert list(refs_in(history).values()) == [ids(history)[1]]
    assert history.unsound("run-1") == ""


@needs_git
def test_refs_go_with_their_run_packed_or_not(history: GitHistory) -> None:
    history.commit("run-1", marked(("items", SCOPE, "load")), blob)
    history.commit("run-2", marked(("items", SCOPE, "load")), blob)
    git(history.path, "pack-refs", "--all")
    history.commit("run-1", [*marked(("items", SCOPE, "load")), commit(2, {}, marks=(("phases", SCOPE),))], blob)
    assert history.unsound("run-1") == ""
    history.forget("run-1")
    assert list(refs_in(history)) == ["refs/reconvene/run-2/items/work-1.do-2/load"]
    assert git(history.path, "fsck", "--strict") == ""


@needs_git
def test_a_ref_that_is_gone_moved_or_added_is_found(history: GitHistory) -> None:
    history.commit("run-1", marked(("items", SCOPE, "load"), ("phases", SCOPE)), blob)
    first, second = ids(history)
    name = "refs/reconvene/run-1/phases/work-1.do-2"
    git(history.path, "update-ref", name, first)
    assert f"{name} points at {first}, and should at the commit {second}" in history.unsound("run-1")
    git(history.path, "update-ref", "-d", name)
    assert f"{name} points at nothing" in history.unsound("run-1")
    git(history.path, "update-ref", name, second)
    git(history.path, "update-ref", "refs/reconvene/run-1/items/x/y", second)
    assert "no commit names it" in history.unsound("run-1")


@needs_git
def test_refs_that_a_crash_left_ahead_of_the_branch_are_no_fault_and_are_caught_up_with(history: GitHistory) -> None:
    made = marked(("items", SCOPE, "a"), ("items", SCOPE, "b"))
    history.commit("run-1", made, blob)
    git(history.path, "update-ref", "refs/heads/run-1", ids(history)[0])
    assert history.unsound("run-1") == ""
    history.commit("run-1", made, blob)
    assert len(ids(history)) == 2
    assert history.unsound("run-1") == ""
