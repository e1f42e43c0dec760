"""The home: found upwards like `.git`, made where a run starts, ignored by git, never taken for another folder."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
from functools import partial
from pathlib import Path

import pytest

from commands import Command, Done, call, process
from exploring import part
from reconvene import home

WORKFLOW = """
name: short
agents: {writer: {command: [sh, -c, "cat >/dev/null; echo text > text.md"]}}
phases: [{id: draft, agents: [writer], checkpoint: {approval_required: true}}]
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A project with a folder in it, and nothing that names a home."""
    (tmp_path / "project" / "src" / "deep").mkdir(parents=True)
    (tmp_path / "project" / "short.yaml").write_text(WORKFLOW)
    return tmp_path / "project"


@pytest.fixture
def reconvene(folder: Path) -> Command:
    return at(folder)


def at(folder: Path, command: Command = call) -> Command:
    """The command in this folder, with nothing that names a home."""
    return partial(command, cwd=folder, RECONVENE_HOME=None)


def parked(done: Done) -> None:
    assert done.code == 3, done.err


def entries(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


# --- found ---


def test_a_home_is_found_from_every_folder_below(reconvene: Command, folder: Path) -> None:
    parked(reconvene("run", "short.yaml"))
    deep = at(folder / "src" / "deep")
    assert [row["run"] for row in deep("inbox", "--json").objects] == ["short-1"]
    parked(deep("run", "../../short.yaml"))
    assert len(reconvene("runs", "--json").objects) == 2
    assert entries(folder) == {".reconvene", "short.yaml", "src"}
    assert entries(folder / "src" / "deep") == set()


def test_commands_that_are_told_to_be_typed_find_the_same_home(reconvene: Command, folder: Path) -> None:
    parked(reconvene("run", "short.yaml"))
    assert "decide with: reconvene decide short-1" in at(folder / "src")("inbox").out
    told = at(folder.parent)("inbox", "--home", "project/.reconvene").out
    assert "decide with: reconvene --home project/.reconvene decide short-1" in told


def test_the_nearest_home_counts(reconvene: Command, folder: Path) -> None:
    parked(reconvene("run", "short.yaml"))
    (folder / "src" / ".reconvene").mkdir()  # empty: no home
    below = at(folder / "src")
    assert len(below("inbox", "--json").objects) == 1
    parked(below("run", "../short.yaml", "--home", ".reconvene"))
    assert len(below("runs", "--json").objects) == 1
    assert len(reconvene("runs", "--json").objects) == 1


def test_the_option_wins_over_the_variable_and_the_variable_over_what_is_found(folder: Path) -> None:
    for place in (".reconvene", "named", "given"):
        parked(call("run", "short.yaml", "--home", place, cwd=folder, RECONVENE_HOME=None))
    parked(call("run", "short.yaml", cwd=folder, RECONVENE_HOME="named"))
    assert len(call("runs", "--json", cwd=folder, RECONVENE_HOME=None).objects) == 1
    assert len(call("runs", "--json", cwd=folder, RECONVENE_HOME="named").objects) == 2
    assert len(call("runs", "--json", "--home", "given", cwd=folder, RECONVENE_HOME="named").objects) == 1


def test_the_home_folder_of_the_person_ends_the_search(folder: Path) -> None:
    """A run started there once must not collect the runs of every project."""
    parked(call("run", "short.yaml", cwd=folder, RECONVENE_HOME=None))
    below = partial(call, cwd=folder / "src" / "deep", RECONVENE_HOME=None, HOME=str(folder))
    where = f"looked for .reconvene in {folder}/src/deep up to {folder}/src"
    assert below("inbox").out.startswith(f"no runs here ({where})\n")
    assert len(call("inbox", "--json", cwd=folder, RECONVENE_HOME=None, HOME=str(folder)).objects) == 1


def test_another_file_system_ends_the_search(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = home._device
    monkeypatch.setattr(home, "_device", lambda place: real(place) + (place == str(folder)))
    assert list(home.upwards(str(folder / "src" / "deep"))) == [str(folder / "src" / "deep"), str(folder / "src")]


def test_the_search_ends_below_the_root() -> None:
    assert list(home.upwards("/")) == ["/"]
    assert "/" not in list(home.upwards("/usr"))


def test_without_any_home_lists_say_where_they_looked_and_how_to_begin(folder: Path) -> None:
    below = at(folder / "src")
    for words in (("inbox",), ("runs",), ("queue",)):
        done = below(*words)
        assert done.code == 0
        first, second = done.out.splitlines()
        assert first.startswith(f"no runs here (looked for .reconvene in {folder}/src up to /")
        assert second == "start one with: reconvene run WORKFLOW, or see one at work: reconvene demo"
        assert below(*words, "--json").json == []
    refused = below("resume")
    assert refused.code == 64
    assert "there are no runs here (looked for .reconvene in " in refused.err
    assert entries(folder / "src") == {"deep"}


# --- made ---


def test_a_run_makes_the_home_where_it_is_started_and_git_does_not_see_it(folder: Path) -> None:
    subprocess.run(["git", "init", "-q", str(folder)], check=True)
    below = at(folder / "src", process)
    parked(below("run", "../short.yaml"))
    made = folder / "src" / ".reconvene"
    assert stat.S_IMODE(made.stat().st_mode) == 0o700
    assert (made / ".gitignore").read_text().splitlines()[-1] == "*"
    status = subprocess.run(
        ["git", "status", "--porcelain", "-uall"], cwd=folder, capture_output=True, text=True, check=True
    )
    assert status.stdout == "?? short.yaml\n"


def test_what_a_person_wrote_there_for_git_stays(reconvene: Command, folder: Path) -> None:
    (folder / ".reconvene").mkdir()
    (folder / ".reconvene" / ".gitignore").write_text("scratch\n")
    parked(reconvene("run", "short.yaml"))
    assert (folder / ".reconvene" / ".gitignore").read_text() == "scratch\n"


@pytest.mark.parametrize(
    "words", [("run", "bad.yaml"), ("run", "missing.yaml"), ("check", "short.yaml"), ("demo", "x")]
)
def test_what_starts_no_run_makes_no_home(reconvene: Command, folder: Path, words: tuple[str, ...]) -> None:
    (folder / "bad.yaml").write_text("name: bad\n")
    reconvene(*words)
    assert ".reconvene" not in entries(folder)


@pytest.mark.parametrize("name", part(["market-entry", "scenario-planning", "spec-refinement", "brainstorm"], 4))
def test_all_that_a_demo_makes_lies_in_the_home(tmp_path: Path, name: str) -> None:
    assert at(tmp_path)("demo", name).code == 0
    assert entries(tmp_path) == {".reconvene"}


# --- named wrongly ---


@pytest.mark.parametrize(
    "words", [("inbox",), ("runs",), ("queue",), ("show", "x"), ("stats",), ("doctor",), ("resume",)]
)
def test_a_home_that_is_named_and_not_there_is_an_error(
    reconvene: Command, folder: Path, words: tuple[str, ...]
) -> None:
    done = reconvene(*words, "--home", "recnovene")
    assert (done.code, done.out) == (64, "")
    assert "error: there is no home recnovene: the folder does not exist\n" in done.err
    assert "hint: to make a home, start a run: reconvene --home recnovene run WORKFLOW\n" in done.err
    assert "recnovene" not in entries(folder)


def test_the_one_that_was_meant_is_named(reconvene: Command, folder: Path) -> None:
    parked(reconvene("run", "short.yaml"))
    far = at(folder / "src")("inbox", "--home", "a/recnovene").err
    assert f"without --home, {folder}/.reconvene is found: reconvene runs" in far
    assert "there is one near: reconvene --home .reconvene runs" in reconvene("inbox", "--home", "recnovene").err
    assert "there is one near: reconvene --home ./.reconvene runs" in reconvene("inbox", "--home", ".").err
    assert "there is one near: reconvene --home .reconvene runs" in reconvene("inbox", "--home", ".reconvene/runs").err


def test_a_folder_that_is_no_home_is_an_error_and_stays_as_it_is(reconvene: Command, folder: Path) -> None:
    for words in (("inbox",), ("run", "short.yaml"), ("new", "short.yaml"), ("demo",), ("doctor",)):
        done = reconvene(*words, "--home", ".")
        assert done.code == 64
        assert ". is not a home: it holds other files, and no reconvene.db" in done.err
        assert "reconvene --home ./.reconvene run WORKFLOW" in done.err
    assert entries(folder) == {"short.yaml", "src"}


def test_a_file_is_no_home(reconvene: Command, folder: Path) -> None:
    for words in (("inbox",), ("run", "short.yaml")):
        done = reconvene(*words, "--home", "short.yaml")
        assert done.code == 64
        assert "short.yaml cannot be a home: it is a file" in done.err
        assert "reconvene --home .reconvene run WORKFLOW" in done.err
    named = call("inbox", cwd=folder, RECONVENE_HOME="short.yaml")
    assert (named.code, named.out) == (64, "")


def test_an_empty_folder_may_become_a_home_and_is_none_before(reconvene: Command, folder: Path) -> None:
    (folder / "state").mkdir()
    done = reconvene("inbox", "--home", "state")
    assert done.code == 64
    assert "state is not a home: there is no reconvene.db in it" in done.err
    assert "reconvene --home state run WORKFLOW" in done.err
    parked(reconvene("run", "short.yaml", "--home", "state"))
    assert (folder / "state" / ".gitignore").exists()


# --- damaged ---


def test_an_empty_store_is_an_error_and_not_a_new_one(reconvene: Command, folder: Path) -> None:
    (folder / ".reconvene").mkdir()
    store = folder / ".reconvene" / "reconvene.db"
    store.touch()
    for words in (("inbox",), ("run", "short.yaml"), ("runs", "--json")):
        done = reconvene(*words)
        assert (done.code, done.out) == (1, "")
        assert "reconvene.db is damaged: it is empty" in done.err
        assert "rm " in done.err
    assert store.stat().st_size == 0
    assert entries(folder / ".reconvene") == {"reconvene.db"}


def test_a_home_that_lost_its_store_is_an_error_also_from_below(reconvene: Command, folder: Path) -> None:
    parked(reconvene("run", "short.yaml"))
    (folder / ".reconvene" / "reconvene.db").unlink()
    for command in (reconvene, at(folder / "src")):
        done = command("inbox")
        assert (done.code, done.out) == (1, "")
        assert ".reconvene/reconvene.db is missing. Still there: history.git, manifests, runs." in done.err
        assert "begin anew: mv " in done.err
    assert reconvene("run", "short.yaml").code == 1


def test_what_a_killed_process_left_before_there_was_a_store_is_no_obstacle(reconvene: Command, folder: Path) -> None:
    (folder / ".reconvene" / "recorded" / "brainstorm-1").mkdir(parents=True)
    (folder / ".reconvene" / "recorded" / "brainstorm-1" / "a").touch()
    (folder / ".reconvene" / "reconvene.db.new").write_bytes(b"half of a sto")
    parked(reconvene("run", "short.yaml"))
    assert not (folder / ".reconvene" / "reconvene.db.new").exists()


# --- folders of runs ---


def test_a_new_home_beside_the_folders_of_an_old_one_takes_other_folders(reconvene: Command, folder: Path) -> None:
    (folder / "short.yaml").write_text(WORKFLOW + 'workspace: "work/{{ run }}"\n')
    parked(reconvene("run", "short.yaml"))
    (folder / "work" / "short-1" / "text.md").write_text("what a person made of it")
    shutil.rmtree(folder / ".reconvene")
    parked(reconvene("run", "short.yaml"))
    parked(reconvene("run", "short.yaml", "--home", "other"))
    assert [row["run"] for row in reconvene("runs", "--json").objects] == ["short-2"]
    assert [row["run"] for row in reconvene("runs", "--json", "--home", "other").objects] == ["short-3"]
    assert {path: os.listdir(folder / "work" / path) for path in entries(folder / "work")} == {
        name: ["text.md"] for name in ("short-1", "short-2", "short-3")
    }
    assert (folder / "work" / "short-1" / "text.md").read_text() == "what a person made of it"


@pytest.mark.parametrize("workspace", ["", 'workspace: "work/{{ run }}"'])
def test_a_copy_of_a_project_does_not_write_into_the_folders_of_the_original(folder: Path, workspace: str) -> None:
    (folder / "short.yaml").write_text(f"{WORKFLOW}{workspace}\n")
    parked(at(folder)("run", "short.yaml"))
    copy = at(Path(shutil.copytree(folder, folder.parent / "copy")))
    assert copy("accept", ".reconvene").code == 0  # a copy is another home, which nobody made yet
    place = next(folder.rglob("text.md"))
    place.write_text("what a person made of it")
    for words in (("decide", "short-1", "--option", "Continue"), ("resume", "short-1")):
        done = copy(*words)
        assert done.code == 1
        assert f"belongs to the home {folder}/.reconvene, of which " in done.err
        assert f"reconvene --home {folder}/.reconvene resume" in done.err
    assert place.read_text() == "what a person made of it"
    assert copy("show", "short-1").code == 0
    parked(copy("run", "short.yaml"))
    assert at(folder)("decide", "short-1", "--option", "Continue").code == 0


@pytest.mark.parametrize("workspace", ["", "workspace: 'reports/{{ run }}'"])
def test_a_home_that_was_moved_goes_on_where_it_is_now(folder: Path, workspace: str) -> None:
    (folder / "short.yaml").write_text(f"{WORKFLOW}{workspace}\n")
    parked(at(folder)("run", "short.yaml"))
    there = folder.rename(folder.parent / "moved")
    moved = at(there)
    next(there.rglob("text.md")).write_text("what a person made of it")
    shown = moved("show", "short-1", "--json").object
    assert str(shown["workspace"]).startswith(f"{there}/")
    assert moved("decide", "short-1", "--option", "Continue", "--json").code == 0
    assert "text.md" in moved("ledger", "short-1").out
    assert not folder.exists()
    assert moved("fork", "short-1", "--at", "4").code == 0
    assert not folder.exists()
