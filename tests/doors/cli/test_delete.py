"""`delete`: a run goes with what no other run needs; its id, its head, who did it and when stay."""

from __future__ import annotations

import sqlite3
import subprocess
from contextlib import closing
from pathlib import Path

import pytest

from commands import Command
from reconvene.settings import system_user as user
from reconvene.wiring import open_log

RUN, OTHER = "flow-1", "flow-2"
SECRET = "the number of the account is 4711"
FLOW = """\
name: flow
agents: {writer: {command: [sh, -c, 'cat >/dev/null; echo hello > draft.md']}}
phases:
- {id: draft, agents: [writer], checkpoint: {prompt: Good?, approval_required: true}}
"""


@pytest.fixture
def folder(tmp_path: Path, reconvene: Command) -> Path:
    (tmp_path / "flow.yaml").write_text(FLOW, encoding="utf-8")
    for run in (RUN, OTHER):
        assert reconvene("run", "flow.yaml").code == 3
        (tmp_path / ".reconvene/runs" / run / "draft.md").write_text(f"{run}: {SECRET} of {run}\n" * 400)
        said = f"{SECRET} in {run}"
        assert reconvene("decide", run, "--option", "Continue", "--latest", "--feedback", said).code == 0
    return tmp_path


def home(folder: Path) -> Path:
    return folder / ".reconvene"


def holding(folder: Path, text: str) -> list[str]:
    """The files of the home in which this stands."""
    import zlib

    found = []
    for file in home(folder).rglob("*"):
        data = file.read_bytes() if file.is_file() else b""
        if file.parent.parent.name == "objects":
            data = zlib.decompress(data)
        if text.encode() in data:
            found.append(file.name)
    return found


def test_a_script_must_say_yes(folder: Path, reconvene: Command) -> None:
    done = reconvene("delete", RUN)
    assert done.code == 64
    assert "--yes" in done.err
    assert reconvene("show", RUN).code == 0


def test_nothing_of_it_stays_but_who_deleted_it(folder: Path, reconvene: Command) -> None:
    assert holding(folder, f"{SECRET} in {RUN}")
    assert reconvene("delete", RUN, "--yes").code == 0
    assert holding(folder, f"{SECRET} of {RUN}") == []
    assert holding(folder, f"{SECRET} in {RUN}") == []
    assert holding(folder, f"{SECRET} of {OTHER}")
    assert not (home(folder) / "runs" / RUN).exists()
    assert not (home(folder) / "manifests" / f"{RUN}.json").exists()
    (row,) = reconvene("runs", "--deleted", "--json").objects
    assert (row["run"], row["by"], row["user"], row["proved"], row["workflow"]) == (RUN, user(), user(), True, "flow")
    assert RUN in reconvene("runs", "--deleted").out
    assert RUN not in reconvene("runs").out


def test_the_other_run_is_whole_and_the_home_fits_together(folder: Path, reconvene: Command) -> None:
    reconvene("delete", RUN, "--yes")
    done = reconvene("verify", "--json")
    assert done.code == 0
    (gone,) = done.object["deleted"]  # type: ignore[misc]
    assert gone["signed_by"].startswith("ed25519:")
    assert f"{RUN}: deleted" in reconvene("verify").out
    assert f"{RUN}: deleted" in reconvene("verify", RUN).out
    assert SECRET in reconvene("files", OTHER, "draft.md").out
    git = ["git", "-C", str(home(folder) / "history.git"), "fsck", "--strict", OTHER]
    assert subprocess.run(git, check=False, capture_output=True).returncode == 0


def test_its_id_is_not_given_out_again_and_nothing_can_be_done_with_it(folder: Path, reconvene: Command) -> None:
    reconvene("delete", OTHER, "--yes")
    assert reconvene("new", "flow.yaml", "--json").object["run"] == "flow-3"
    for words in (["show", OTHER], ["remark", OTHER, "hello"], ["resume", OTHER], ["export", OTHER, "x.zip"]):
        done = reconvene(*words)
        assert done.code == 64, words
        assert "was deleted" in done.err, words


def test_deleting_again_clears_what_a_crash_left(folder: Path, reconvene: Command) -> None:
    reconvene("delete", RUN, "--yes")
    heads = home(folder) / "history.git/refs/heads"
    (heads / RUN).write_text((heads / OTHER).read_text())
    assert reconvene("delete", RUN).code == 0
    assert not (heads / RUN).exists()
    assert reconvene("verify").code == 0


def test_a_file_that_the_person_changed_stays(folder: Path, reconvene: Command) -> None:
    draft = home(folder) / "runs" / RUN / "draft.md"
    draft.write_text("mine\n")
    done = reconvene("delete", RUN, "--yes")
    assert done.code == 0
    assert "draft.md" in done.err
    assert draft.read_text() == "mine\n"


def test_it_is_refused_while_a_process_drives_the_run(folder: Path, reconvene: Command) -> None:
    with closing(open_log(home(folder))) as log:
        assert log.acquire(RUN, "somebody")
        done = reconvene("delete", RUN, "--yes")
        assert done.code == 64
        assert "driving" in done.err
    assert reconvene("delete", RUN, "--yes").code == 0


def test_a_damaged_run_can_be_deleted_and_takes_nothing_of_others(folder: Path, reconvene: Command) -> None:
    with closing(sqlite3.connect(home(folder) / "reconvene.db")) as store:
        store.execute("UPDATE appends SET events = '[{}]' WHERE key = (SELECT min(key) FROM appends)")
        store.commit()
    assert reconvene("delete", RUN, "--yes").code == 0
    assert reconvene("verify").code == 0


@pytest.mark.parametrize(
    "harm",
    [
        "UPDATE deleted SET doc = replace(doc, 'terminal', 'elsewhere')",
        "UPDATE deleted SET head = head + 1",
        "UPDATE deleted SET chain = randomblob(16)",
        "UPDATE deleted SET doc = '{'",
        "DELETE FROM deleted",
        "DELETE FROM runs WHERE head < 0",
        "UPDATE runs SET head = -1 WHERE head < 0",
    ],
)
def test_what_is_left_cannot_be_changed_unseen(harm: str, folder: Path, reconvene: Command) -> None:
    reconvene("delete", RUN, "--yes")
    with closing(sqlite3.connect(home(folder) / "reconvene.db")) as store:
        assert store.execute(harm).rowcount == 1
        store.commit()
    assert reconvene("verify").code == 1
