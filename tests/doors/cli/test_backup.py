"""`backup` and `restore`: a home as one file that fits together whatever happens meanwhile, put back whole or not."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import threading
import zipfile
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from commands import Command, call
from reconvene.core.facts import commands as c
from reconvene.wiring import open_engine

RUN = "two-step-1"


@pytest.fixture
def file(folder: Path, reconvene: Command) -> Path:
    """A backup of a home with people, a run at its checkpoint, a remark, and files of all sorts in its folder."""
    assert reconvene("run", "two-step.yaml", "--no-input").code == 3
    reconvene("remark", RUN, "Say more.")
    reconvene("people", "add", "ada", "--role", "decider")
    place = folder / ".reconvene" / "runs" / RUN
    (place / "tool.sh").write_text("#!/bin/sh\n")
    (place / "tool.sh").chmod(0o755)
    (place / "link").symlink_to("draft.md")
    (Path(os.fsdecode(bytes(place) + b"/caf\xe9.txt"))).write_bytes(b"\x00\xff")
    done = reconvene("backup", "home.zip")
    assert (done.code, "home.zip: 1 run, " in done.out) == (0, True), done.err
    return folder / "home.zip"


def lost(folder: Path) -> None:
    (folder / ".reconvene").rename(folder / "gone")
    shutil.rmtree(folder / "gone")


def test_a_home_that_was_lost_is_there_again_and_goes_on(file: Path, folder: Path, reconvene: Command) -> None:
    before = reconvene("log", RUN, "--json").out
    lost(folder)
    done = reconvene("restore", "home.zip")
    assert (done.code, "is there again" in done.out, "1 run" in done.out) == (0, True, True), done.err
    assert reconvene("log", RUN, "--json").out == before
    place = folder / ".reconvene" / "runs" / RUN
    assert os.access(place / "tool.sh", os.X_OK)
    assert os.readlink(place / "link") == "draft.md"
    assert Path(os.fsdecode(bytes(place) + b"/caf\xe9.txt")).read_bytes() == b"\x00\xff"
    assert "ada" in reconvene("people").out
    assert reconvene("verify").code == 0


def test_nobody_elses_work_is_held_up_and_the_copy_fits_together(folder: Path, reconvene: Command) -> None:
    assert reconvene("run", "two-step.yaml", "--no-input").code == 3
    engine, stop, said = open_engine(str(folder / ".reconvene")), threading.Event(), list[str]()

    def talk() -> None:
        while not stop.is_set() and len(said) < 400:
            said.append(f"remark {len(said)} {'x' * 2000}")
            engine.submit(RUN, c.AddRemark(c.RemarkIn(said[-1])))

    thread = threading.Thread(target=talk)
    thread.start()
    try:
        files = [f"{number}.zip" for number in range(3)]
        assert [reconvene("backup", name).code for name in files] == [0, 0, 0]
    finally:
        stop.set()
        thread.join()
        engine.log.close()
    heads = []
    for name in files:
        back = reconvene("--home", f"back-{name}", "restore", name, "--json")
        assert (back.code, back.object["sound"]) == (0, True), back.err
        heads.append(back.object["runs"][RUN])  # type: ignore[index]
    assert heads == sorted(heads)


def test_a_backup_says_what_later_events_are_known_to_have_been(file: Path, folder: Path, reconvene: Command) -> None:
    """They are lost with the home, and it is told."""
    reconvene("remark", RUN, "One more.")
    assert reconvene("decide", RUN, "--option", "Continue", "--latest").code == 3
    lost(folder)
    done = reconvene("restore", "home.zip")
    assert (done.code, RUN in done.err) == (1, True), done.out + done.err


def test_a_home_put_back_beside_the_original_leaves_its_files_alone(
    file: Path, folder: Path, reconvene: Command
) -> None:
    draft = folder / ".reconvene" / "runs" / RUN / "draft.md"
    before = draft.read_bytes()
    assert reconvene("--home", "beside", "restore", "home.zip").code == 0
    assert reconvene("--home", "beside", "show", RUN).code == 0
    refused = reconvene("--home", "beside", "decide", RUN, "--option", "Continue", "--latest")
    assert (refused.code != 0, "is a copy" in refused.err) == (True, True), refused.out + refused.err
    assert draft.read_bytes() == before


def test_what_is_there_stays(file: Path, folder: Path, reconvene: Command) -> None:
    before = reconvene("log", RUN, "--json").out
    for words in (("restore", "home.zip"), ("backup", "home.zip"), ("backup", ".reconvene/in.zip")):
        assert reconvene(*words).code == 64
    assert reconvene("log", RUN, "--json").out == before
    assert not (folder / ".reconvene" / "in.zip").exists()
    assert [one.name for one in folder.iterdir() if one.name.endswith((".new", "-"))] == []


Change = Callable[[dict[str, object], dict[str, bytes]], None]


def _named(said: dict[str, object], path: str) -> dict[str, object]:
    files = said["files"]
    assert isinstance(files, list)
    found: dict[str, object] = next(one for one in files if one["path"] == path)
    return found


def _moved(to: str) -> Change:
    def change(said: dict[str, object], parts: dict[str, bytes]) -> None:
        _named(said, "id")["path"] = to
        parts[f"home/{to}"] = parts["home/id"]

    return change


def _linked(said: dict[str, object], parts: dict[str, bytes]) -> None:
    _named(said, "id")["link"] = True


def _through_a_link(said: dict[str, object], parts: dict[str, bytes]) -> None:
    _named(said, f"runs/{RUN}/link")["path"] = "runs/x"
    _moved("runs/x/y")(said, parts)


def _other_bytes(said: dict[str, object], parts: dict[str, bytes]) -> None:
    parts["home/id"] = b"x" * len(parts["home/id"])


def _more_bytes(said: dict[str, object], parts: dict[str, bytes]) -> None:
    parts["home/id"] += b"x"


WRONG: dict[str, Change] = {
    "other bytes": _other_bytes,
    "more bytes": _more_bytes,
    "missing": lambda said, parts: parts.pop("home/id") and None,
    "outside": _moved("../outside"),
    "absolute": _moved("/tmp/outside"),
    "twice": _moved("reconvene.db"),
    "a link in the place of a file": _linked,
    "through a link": _through_a_link,
    "newer": lambda said, parts: said.update(format=99),
}


@pytest.mark.parametrize("how", WRONG)
def test_of_a_backup_in_which_anything_is_wrong_nothing_is_put_back(
    how: str, file: Path, folder: Path, reconvene: Command
) -> None:
    with zipfile.ZipFile(file) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    said = json.loads(parts.pop("backup.json"))
    WRONG[how](said, parts)
    with zipfile.ZipFile(folder / "wrong.zip", "w") as archive:
        for name, data in parts.items():
            archive.writestr(name, data)
        archive.writestr("backup.json", json.dumps(said))
    before = sorted(os.listdir(folder))
    done = reconvene("--home", "back", "restore", "wrong.zip")
    assert (done.code in (1, 64), done.out) == (True, "")
    assert ("damaged" in done.err) or ("newer release" in done.err)
    assert sorted(os.listdir(folder)) == before, "nothing is left beside it, either"
    assert not Path("/tmp/outside").exists()


def test_what_is_no_backup_is_said_to_be_none(file: Path, folder: Path, reconvene: Command) -> None:
    reconvene("export", RUN, "run.zip")
    (folder / "text.zip").write_text("text")
    for name, said in (("run.zip", "no backup of a home"), ("text.zip", "damaged"), ("none.zip", "no file none.zip")):
        done = reconvene("--home", "back", "restore", name)
        assert (done.code in (1, 64), said in done.err) == (True, True), done.err
    assert reconvene("--home", "none", "backup", "x.zip").code == 64


def test_no_agent_puts_a_home_back(file: Path, folder: Path) -> None:
    done = call("--home", "back", "restore", "home.zip", cwd=folder, RECONVENE_TASK="R1/0/writer")
    assert done.code == 64
    assert not (folder / "back").exists()


# --- what doctor finds ---


def test_doctor_looks_through_the_home(folder: Path, reconvene: Command) -> None:
    assert "fit together" not in reconvene("doctor").out, "there is none yet"
    assert reconvene("run", "two-step.yaml", "--no-input").code == 3
    sound = reconvene("doctor")
    assert (sound.code, "✓ runs               1: logs, contents, signatures and history fit together" in sound.out) == (
        0,
        True,
    )
    with closing(sqlite3.connect(folder / ".reconvene" / "reconvene.db")) as store, store:
        store.execute("UPDATE artefacts SET data = x'00' WHERE rowid = (SELECT min(rowid) FROM artefacts)")
    damaged = reconvene("doctor")
    assert (damaged.code, "✗ runs" in damaged.out, "reconvene restore FILE" in damaged.out) == (1, True, True)
    rows = reconvene("doctor", "--json")
    assert (rows.code, [one["ok"] for one in rows.objects if one["what"] == "runs"]) == (1, [False])


def test_a_store_that_was_replaced_is_told_and_so_are_folders_of_no_run(folder: Path, reconvene: Command) -> None:
    assert reconvene("run", "two-step.yaml", "--no-input").code == 3
    (folder / ".reconvene" / "runs" / "other-1").mkdir()
    assert "folders" not in reconvene("doctor").out, "it is empty"
    (folder / ".reconvene" / "runs" / "other-1" / "x.md").write_text("x")
    assert "there are folders of other-1, and the store knows no such run" in reconvene("doctor").out
    open_engine(str(folder / "fresh")).log.close()
    (folder / ".reconvene" / "reconvene.db").unlink()
    for end in ("-wal", "-shm"):
        (folder / ".reconvene" / f"reconvene.db{end}").unlink(missing_ok=True)
    shutil.copy(folder / "fresh" / "reconvene.db", folder / ".reconvene" / "reconvene.db")
    said = "the store knows no run, and yet there are folders of other-1, two-step-1: it was lost or replaced"
    for words in (("runs",), ("inbox",)):
        assert said in reconvene(*words).err
    found = reconvene("doctor")
    assert (found.code, said in found.out) == (1, True)


def test_a_content_that_was_changed_is_never_read_as_what_it_was(folder: Path, reconvene: Command) -> None:
    assert reconvene("run", "two-step.yaml", "--no-input").code == 3
    assert "Draft" in reconvene("output", RUN).out
    with closing(sqlite3.connect(folder / ".reconvene" / "reconvene.db")) as store, store:
        changed = store.execute(
            "UPDATE artefacts SET data = CAST(replace(CAST(data AS TEXT), 'Draft', 'Dreft') AS BLOB)"
            " WHERE CAST(data AS TEXT) LIKE '# Draft%'"
        )
        assert changed.rowcount >= 1
    read = reconvene("output", RUN)
    assert (read.code != 0, "Dreft" in read.out, "other bytes than the content" in read.err) == (True, False, True)
