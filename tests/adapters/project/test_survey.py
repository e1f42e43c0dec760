"""A survey of a project's folder: what is there, what it says, where the words occur; and what it never opens."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.adapters.project.support import Driven, everything, git

from reconvene.adapters.project.git import Git
from reconvene.adapters.project.survey import looks_secret, survey
from reconvene.core.facts.commands import AnswerCheckpoint, RemarkIn

Begin = Callable[..., Driven]


def look(folder: Path, about: str = "") -> str:
    return survey(str(folder), about, Git(os.environ, str(folder)))


def test_it_shows_the_tree_the_readme_the_latest_commits_and_lines_with_the_words(project: Path):
    text = look(project, "When the ferry leaves on Sundays, tell the passengers")
    assert "./ (4 files)\n  .gitignore\n  README.md\n  ferry.py\n  run.sh" in text
    assert "## README.md\n\n# Ferry times" in text
    assert " A script\n" in text
    assert "### ferry.py\n1: def leaves(hour):" in text
    assert text == look(project, "When the ferry leaves on Sundays, tell the passengers")


def test_a_word_is_found_in_another_form(project: Path):
    assert "### ferry.py\n2: return hour" in look(project, "It returned the wrong thing")


def test_what_git_ignores_is_not_there_and_what_is_not_committed_yet_is(project: Path):
    (project / "noise.log").write_text("ferry ferry ferry")
    (project / "fresh.py").write_text("ferry = 1\n")
    (project / ".reconvene").mkdir()
    (project / ".reconvene" / "state.txt").write_text("ferry")
    text = look(project, "ferry")
    assert "noise.log" not in text
    assert "state.txt" not in text
    assert "### fresh.py" in text


def test_it_changes_nothing_in_the_folder(project: Path):
    (project / "ferry.py").touch()  # git would refresh its index here
    before = everything(project)
    look(project, "ferry")
    assert everything(project) == before


@pytest.mark.parametrize("empty", [True, False])
def test_it_works_without_git(tmp_path: Path, empty: bool):
    folder = tmp_path / "plain"
    folder.mkdir()
    if empty:
        assert "The folder is empty." in look(folder, "ferry")
        return
    (folder / "sub").mkdir()
    (folder / "sub" / "a.txt").write_text("the ferry\n")
    (folder / "node_modules").mkdir()
    (folder / "node_modules" / "b.txt").write_text("the ferry\n")
    text = look(folder, "ferry")
    assert "### sub/a.txt\n1: the ferry" in text
    assert "node_modules" not in text
    assert "Latest commits" not in text


def test_a_folder_that_a_repository_around_it_ignores_is_looked_at_all_the_same(project: Path):
    (project / "cache").mkdir()
    (project / "cache" / "boat.txt").write_text("a boat\n")
    assert "### boat.txt\n1: a boat" in look(project / "cache", "boat")


def test_a_repository_without_a_commit_is_fine(tmp_path: Path):
    folder = tmp_path / "young"
    folder.mkdir()
    git(folder, "init", "-q")
    assert "The folder is empty." in look(folder)


def test_links_are_named_and_never_followed(project: Path, tmp_path: Path):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "a.txt").write_text("the ferry secret")
    (project / "link.txt").symlink_to(outside / "a.txt")
    (project / "door").symlink_to(outside)
    (project / "README.rst").symlink_to(outside / "a.txt")
    text = look(project, "ferry secret")
    assert "link.txt" in text
    assert "the ferry secret" not in text


def test_files_that_look_like_secrets_are_never_opened(project: Path):
    for name in (".env", "server.pem", "id_rsa", "credentials.json"):
        (project / name).write_text("FERRY_PASSWORD=hunter2")
    text = look(project, "ferry password")
    assert "hunter2" not in text
    assert "  .env\n" in text


@pytest.mark.parametrize(
    ("path", "secret"),
    [
        (".env", True),
        ("conf/.env.production", True),
        (".env.example", False),
        ("keys/server.key", True),
        (".ssh/id_ed25519", True),
        ("src/secrets.py", False),
        ("aws-credentials", True),
        ("README.md", False),
    ],
)
def test_what_looks_like_a_secret(path: str, secret: bool):
    assert looks_secret(path) is secret


def test_binary_huge_and_odd_files_do_no_harm(project: Path):
    (project / "ferry.bin").write_bytes(b"\0\1ferry" * 100)
    (project / "long.txt").write_text("ferry " * 200_000)
    (project / "bad\x1b[31mname.txt").write_text("ferry\x1b[2J\n")
    os.mkfifo(project / "ferry.pipe")
    text = look(project, "ferry")
    assert "\x1b" not in text
    assert len(text) < 30_000


def test_a_large_folder_is_cut(project: Path):
    for number in range(60):
        folder = project / f"d{number:03d}"
        folder.mkdir()
        for file in range(40):
            (folder / f"f{file}.txt").write_text("ferry\n")
    text = look(project, "ferry")
    assert "… and 10 more" in text
    assert "more lines" in text
    assert text.count("\n### ") == 10
    assert len(text) < 40_000


SCOUTED = """
name: scouted
inputs: {project: {type: project, required: true}, wish: text}
agents:
  scout: {survey: project, prompt: "{{ inputs.wish }}"}
  coder: {command: ["sh", "-c", "echo 'harbour = 1' > harbour.py"]}
phases:
  - id: look
    agents: [scout]
    output: survey
    checkpoint: {options: [{label: Again, then: {goto: look, rerun: true}}, {label: On, then: continue}]}
  - {id: code, agents: [coder], place: project}
  - {id: relook, agents: [scout], output: second}
"""


def test_a_scout_reads_the_folder_first_and_the_branch_once_the_run_has_changed_it(begin: Begin, project: Path):
    run = begin(SCOUTED, project, wish="Which boat leaves?")
    assert run.on().status == "waiting"
    assert run.state.record.project is None
    first = str(run.engine.session(run.run).book.load(run.state.world.values[":survey"].ref))
    assert "### ferry.py\n1: def leaves(hour):" in first
    run.engine.submit(run.run, AnswerCheckpoint("", "Again", remarks=(RemarkIn("and the harbour"),)))
    run.on()
    run.engine.submit(run.run, AnswerCheckpoint("", "On"))
    assert run.on().status == "completed"
    second = str(run.engine.session(run.run).book.load(run.state.world.values[":second"].ref))
    assert "### harbour.py\n1: harbour = 1" in second
    assert not (project / "harbour.py").exists()


def test_a_scout_works_where_there_is_no_git_repository(begin: Begin, tmp_path: Path):
    folder = tmp_path / "plain"
    folder.mkdir()
    (folder / "boat.txt").write_text("a boat\n")
    run = begin(SCOUTED, folder, wish="boat")
    assert run.on().status == "waiting"
    assert run.state.world.open is not None
    assert not run.state.world.open.attention
