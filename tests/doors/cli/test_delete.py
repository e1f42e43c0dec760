"""`delete`: a run goes with what no other run needs; its id, its head, who did it and when stay."""

from __future__ import annotations

import sqlite3
import subprocess
import zipfile
from contextlib import closing
from pathlib import Path

import msgspec
import pytest

from commands import Command
from reconvene.adapters.keys import OwnKey
from reconvene.adapters.workspace.held_files import HeldFiles
from reconvene.app.misfits import DoesNotFit
from reconvene.app.references import named_in
from reconvene.app.signing import sealing
from reconvene.app.tombstones import Tombstone, checked, link_of
from reconvene.chain_ports import Deleted
from reconvene.core.facts.actors import Actor
from reconvene.core.facts.events import WorkflowUpgraded
from reconvene.doors.cli.unsent_answers import Unsent
from reconvene.settings import system_user as user
from reconvene.showing_ports import Showing, Viewer
from reconvene.wiring import open_log, showings

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


def test_what_lies_beside_the_log_goes_too(folder: Path, reconvene: Command) -> None:
    """Files that were held back, which versions were shown to whom, and answers that nobody sent."""
    aside = HeldFiles(str(home(folder) / "held"))
    for run in (RUN, OTHER):
        aside.keep(run, "key.txt", SECRET.encode())
        showings(home(folder)).note(run, Showing("v" * 32, Viewer("u", "n", "terminal")))
        Unsent(str(home(folder)), run, "CP-001", "Continue").keep({"note": SECRET})

    every = {(place, run) for place in ("held", "shown", "unsent") for run in (RUN, OTHER)}

    def beside() -> set[tuple[str, str]]:
        return {(place, run) for place, run in every if [*(home(folder) / place).glob(f"{run}*")]}

    assert beside() == every
    assert reconvene("delete", RUN, "--yes").code == 0
    assert beside() == {("held", OTHER), ("shown", OTHER), ("unsent", OTHER)}


def test_contents_of_every_workflow_that_it_went_on_with_go_and_those_of_others_stay(
    folder: Path, reconvene: Command
) -> None:
    """Both digests of an upgrade count as used, the one before and the one after."""
    for run, number in ((OTHER, 2), ("flow-3", 3)):
        if run == "flow-3":
            assert reconvene("run", "flow.yaml").code == 3
        (folder / "flow.yaml").write_text(FLOW.replace("Good?", f"Good {number}?"), encoding="utf-8")
        assert reconvene("upgrade", run, "--to", "flow.yaml", "--no-drive").code in (0, 3)

    with closing(open_log(home(folder))) as log:
        logs = [(run, event) for run in (OTHER, "flow-3") for _, event in log.read(run)]
    upgrades = {run: event for run, event in logs if isinstance(event, WorkflowUpgraded)}
    before = {run: (one.before, one.workflow) for run, one in upgrades.items()}
    assert all(set(digests) <= set(named_in(upgrades[run])) for run, digests in before.items())
    assert before[OTHER][1] == before["flow-3"][0]  # the one's later workflow is the other's earlier one
    assert reconvene("export", OTHER, "run.zip").code == 0
    with zipfile.ZipFile(folder / "run.zip") as archive:
        assert {f"artefacts/{digest}" for digest in before[OTHER]} <= set(archive.namelist())
    assert reconvene("delete", "flow-3", "--yes").code == 0
    with closing(sqlite3.connect(home(folder) / "reconvene.db")) as store:
        kept = {str(name) for (name,) in store.execute("SELECT digest FROM artefacts")}
    assert before["flow-3"][1] not in kept
    assert set(before[OTHER]) <= kept
    assert reconvene("verify").code == 0


def test_with_the_last_run_every_content_is_gone(folder: Path, reconvene: Command) -> None:
    """So each of them is named by an event: a digest that nobody counts would stay for ever, and miss from exports."""
    for run in (RUN, OTHER):
        assert reconvene("delete", run, "--yes").code == 0
    with closing(sqlite3.connect(home(folder) / "reconvene.db")) as store:
        assert store.execute("SELECT digest FROM artefacts").fetchall() == []


def test_a_fork_gets_another_id_than_one_that_was_deleted(folder: Path, reconvene: Command) -> None:
    for number in (1, 2):
        assert reconvene("fork", RUN, "--at", "9", "--json").object["run"] == f"{RUN}-fork-{number}"
        assert reconvene("delete", f"{RUN}-fork-{number}", "--yes").code == 0


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


def test_no_bit_of_a_seal_of_a_deletion_can_be_changed_unseen(tmp_path: Path) -> None:
    """No chain covers it: what it says must be written as it is written here."""
    signer = OwnKey(str(tmp_path / "own"), "ann")
    doc = msgspec.json.encode(Tombstone("2026-03-01T09:00:00.000Z", "ann", "ann", "terminal", "flow")).decode()
    seal = sealing(signer, Actor("ann"))[1](link_of(RUN, 7, b"v" * 16, doc))
    left = Deleted(RUN, 7, b"v" * 16, doc, seal)
    assert checked(left, signer).signed_by == signer.own()
    for at in range(len(seal)):
        for bit in range(8):
            changed = seal[:at] + bytes([seal[at] ^ 1 << bit]) + seal[at + 1 :]
            with pytest.raises(DoesNotFit):
                checked(left._replace(seal=changed), signer)
