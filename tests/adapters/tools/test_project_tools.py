"""The person's project through tools: at the run's commit, read and never changed."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from tool_bench import Bench, Entry

from reconvene.adapters.project.commit_files import CommitFiles
from reconvene.adapters.tools import Reach
from reconvene.ports import ProjectWork
from reconvene.tool_ports import ToolResult

PROJECT = Entry("project")


def git(folder: Path, *words: str) -> str:
    named = ["-c", "user.name=Ann", "-c", "user.email=ann@example.org"]
    return subprocess.run(
        ["git", *named, *words], cwd=folder, capture_output=True, text=True, check=True
    ).stdout.strip()


@pytest.fixture
def project(bench: Bench) -> Path:
    """With a commit, work since then that is not committed, and whatever a project may hold."""
    folder = bench.root / "project"
    (folder / "src" / "deep").mkdir(parents=True)
    git(folder, "init", "--quiet")
    (folder / "src" / "main.py").write_text("def main() -> None:\n    print('Hello')\n")
    (folder / "src" / "deep" / "größe.txt").write_text("hello\nübergröße\n")
    (folder / "README.md").write_text("# Hello\n")
    (folder / "data.bin").write_bytes(b"\0\1hello")
    (folder / ".gitignore").write_text(".env\n")
    (folder / "-e").write_text("option\n")
    os.symlink("/etc/passwd", folder / "link")
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--message=Start")
    (folder / ".env").write_text("KEY=hello-secret\n")
    (folder / "README.md").write_text("# Hello, changed since\n")
    bench.reach = Reach(project=CommitFiles(bench.environ))
    bench.work = ProjectWork(str(folder))
    return folder


def test_files_are_listed_read_and_searched_as_they_are_in_the_commit(bench: Bench, project: Path) -> None:
    listed, below, read, found, same, inside = bench.calls(
        PROJECT,
        ("list_project_files", {}),
        ("list_project_files", {"below": "src/deep"}),
        ("read_project_file", {"path": "README.md"}),
        ("search_project", {"text": "hello"}),
        ("search_project", {"text": "HELLO", "ignore_case": True}),
        ("search_project", {"text": "Hello", "below": "src"}),
    )
    assert listed.text.splitlines() == [
        "-e (7 bytes)", ".gitignore (5 bytes)", "README.md (8 bytes)", "data.bin (7 bytes)",
        "link (a link or another repository: not read)", "src/deep/größe.txt (19 bytes)", "src/main.py (39 bytes)",
    ]  # fmt: skip
    assert below.text == "src/deep/größe.txt (19 bytes)"
    assert read.text == "[README.md, lines 1 to 1 of 1]\n# Hello"
    assert found.text == "src/deep/größe.txt:1: hello"
    assert same.text.splitlines() == [
        "README.md:1: # Hello", "src/deep/größe.txt:1: hello", "src/main.py:2: print('Hello')",
    ]  # fmt: skip
    assert inside.text == "src/main.py:2: print('Hello')"


def test_the_runs_commit_counts_not_what_is_checked_out(bench: Bench, project: Path) -> None:
    first = git(project, "rev-parse", "HEAD")
    git(project, "commit", "--quiet", "--all", "--message=Next")
    assert "changed since" in bench.call(PROJECT, "read_project_file", path="README.md").text
    bench.work = ProjectWork(str(project), head=first)
    assert "changed since" not in bench.call(PROJECT, "read_project_file", path="README.md").text
    assert "No file" in bench.call(PROJECT, "search_project", text="changed since").text


def test_a_project_that_is_a_part_of_a_repository_shows_only_that(bench: Bench, project: Path) -> None:
    bench.work = ProjectWork(str(project / "src"))
    listed, read, found, outside = bench.calls(
        PROJECT,
        ("list_project_files", {}),
        ("read_project_file", {"path": "main.py", "lines": 1}),
        ("search_project", {"text": "Hello"}),
        ("read_project_file", {"path": "../README.md"}),
    )
    assert listed.text.splitlines() == ["deep/größe.txt (19 bytes)", "main.py (39 bytes)"]
    assert "def main" in read.text
    assert found.text == "main.py:2: print('Hello')"
    assert outside.failed


@pytest.mark.parametrize(
    "path", [".env", "link", "../secret", "/etc/passwd", ".git/config", "src", "HEAD:README.md", "none"]
)
def test_nothing_else_can_be_read(bench: Bench, project: Path, path: str) -> None:
    result = bench.call(PROJECT, "read_project_file", path=path)
    assert result.failed
    assert "root:" not in result.text


@pytest.mark.parametrize(
    "text", ["--open-files-in-pager=touch pwned", "-O", "a\nb", "(a+)+$", "'; touch pwned; '", "\\"]
)
def test_no_text_is_an_option_or_a_pattern(bench: Bench, project: Path, text: str) -> None:
    result = bench.call(PROJECT, "search_project", text=text)
    assert "No file of the project holds" in result.text or result.failed
    assert not list(bench.root.rglob("pwned"))


def test_nothing_in_the_project_is_changed_and_nothing_of_it_is_run(bench: Bench, project: Path) -> None:
    git(project, "config", "core.fsmonitor", "touch pwned")
    git(project, "config", "diff.x.textconv", "touch pwned; cat")
    (project / ".gitattributes").write_text("* diff=x filter=x\n")
    git(project, "add", ".gitattributes")
    git(project, "commit", "--quiet", "--message=Attributes")
    (project / "pwned").unlink(missing_ok=True)
    before = git(project, "status", "--porcelain")
    (project / "pwned").unlink(missing_ok=True)
    for name, arguments in (
        ("list_project_files", {}), ("read_project_file", {"path": "README.md"}), ("search_project", {"text": "Hello"}),
    ):  # fmt: skip
        bench.call(PROJECT, name, **arguments)
    assert not (project / "pwned").exists()
    assert git(project, "status", "--porcelain") == before


def test_what_is_large_is_cut_and_said(bench: Bench, project: Path) -> None:
    for number in range(1_100):
        (project / f"f{number}.txt").write_text("a word\n")
    (project / "big.txt").write_bytes(b"line\n" * 3_000_000)
    git(project, "add", "--all")
    git(project, "commit", "--quiet", "--message=More")
    listed, found, read = bench.calls(
        PROJECT,
        ("list_project_files", {}),
        ("search_project", {"text": "a word"}),
        ("read_project_file", {"path": "big.txt", "lines": 5}),
    )
    assert listed.text.endswith("[cut: only 1,000 are shown; name a folder with `below`]")
    assert len(found.text.splitlines()) == 201
    assert read.text.splitlines()[-1] == "[cut: only the first 10,485,760 of 15,000,000 bytes of this file can be read]"


@pytest.mark.parametrize("gone", ["none", "folder", "empty"])
def test_without_a_project_or_a_commit_it_is_said(bench: Bench, project: Path, gone: str) -> None:
    if gone == "none":
        bench.work = None
    elif gone == "folder":
        bench.work = ProjectWork(str(project / "nowhere"))
    else:
        (bench.root / "new").mkdir()
        git(bench.root / "new", "init", "--quiet")
        bench.work = ProjectWork(str(bench.root / "new"))
    result: ToolResult = bench.call(PROJECT, "list_project_files")
    assert result.failed
    told = {"none": "this run was given no project", "folder": "is not there any more", "empty": "has no commit yet"}
    assert told[gone] in result.text
