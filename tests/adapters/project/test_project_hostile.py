"""Whatever an agent leaves in its worktree is content: nothing of it runs, and nothing outside is touched."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.adapters.project.support import Driven, everything, git

from reconvene.errors import AgentError
from reconvene.ports import Assignment
from reconvene.testing.scripted import ScriptedAgents

Begin = Callable[..., Driven]

TWICE = """
name: twice
inputs: {project: {type: project, required: true}}
agents:
  first: {command: ["sh", "-c", %s], retries: 0}
  second: {command: ["sh", "-c", "ls -A; echo second > second.txt"], retries: 0}
phases:
  - {id: one, agents: [first], place: project}
  - {id: two, agents: [second], place: project}
"""


def twice(script: str) -> str:
    return TWICE % json.dumps(script)


def test_planted_hooks_filters_monitors_and_drivers_never_run(begin: Begin, project: Path, tmp_path: Path):
    """Planted everywhere an agent can reach through git from where it works."""
    trap = tmp_path / "sprung"
    bait = tmp_path / "bait.sh"
    bait.write_text(f"#!/bin/sh\necho sprung >> '{trap}'\ncat\n")
    bait.chmod(0o755)
    script = f"""
        dir=$(git rev-parse --absolute-git-dir)
        mkdir -p "$dir/hooks"
        for hook in pre-commit post-commit post-checkout post-index-change reference-transaction update pre-receive; do
          cp '{bait}' "$dir/hooks/$hook"
        done
        git config core.fsmonitor '{bait}'
        git config core.hooksPath "$dir/hooks"
        git config filter.evil.clean '{bait}'
        git config filter.evil.smudge '{bait}'
        git config filter.evil.process '{bait}'
        git config diff.evil.textconv '{bait}'
        git config diff.evil.command '{bait}'
        git config diff.external '{bait}'
        git config core.pager '{bait}'
        git config alias.add '!{bait}'
        printf '* filter=evil diff=evil ident text eol=crlf\\n' > .gitattributes
        printf 'a\\nb $Id$\\n' > victim.txt
        mkdir inner && cd inner && git init -q . && git config core.fsmonitor '{bait}' && echo i > i
    """
    run = begin(twice(script), project)
    assert run.on().status == "completed"
    assert not trap.exists()
    assert git(project, "cat-file", "blob", "reconvene/twice-1:victim.txt") == "a\nb $Id$"
    assert git(project, "cat-file", "blob", "reconvene/twice-1:inner/i") == "i"
    assert git(project, "cat-file", "blob", "reconvene/twice-1:second.txt") == "second"
    diff = run.text(run.events("AttemptEnded")[0].diff.digest)
    assert "+b $Id$" in diff


def test_the_trap_of_the_test_above_would_spring(tmp_path: Path, project: Path):
    trap = tmp_path / "sprung"
    git(project, "config", "core.fsmonitor", f"echo sprung >> '{trap}'; false")
    git(project, "status")
    assert trap.exists()


@pytest.mark.parametrize(
    "script",
    [
        "rm .git; ln -s /etc/hostname .git",
        "rm .git; git init -q .; git add -A; git commit -qm mine",
        "echo 'gitdir: /tmp/elsewhere' > .git",
        "rm .git",
    ],
)
def test_a_replaced_git_file_is_noticed_and_the_attempt_counts_as_failed(begin: Begin, project: Path, script: str):
    run = begin(twice(f"echo a > a; {script}"), project)
    assert run.on().status == "waiting"
    (ended,) = run.events("AttemptEnded")
    assert ended.verdict == "failed"
    assert "replaced the `.git` file" in ended.why
    assert git(project, "branch", "--list", "reconvene/*") == ""


def test_commits_of_the_agent_stay_below_the_engines(begin: Begin, project: Path):
    script = "echo 1 > one; git add one; git commit -qm 'First thought'; echo 2 > two"
    run = begin(twice(script), project)
    assert run.on().status == "completed"
    assert git(project, "log", "--format=%s", "main..reconvene/twice-1").split("\n") == ["two", "one", "First thought"]
    git(project, "fsck", "--strict")


@pytest.mark.parametrize(
    "script",
    [
        "git checkout -q --orphan other; git commit -qm 'No past'; echo a > a",
        "echo a > a; git reset -q --hard HEAD~1; echo a > a; git add -A; git commit -qm 'Another past'",
        "rm -rf $(git rev-parse --absolute-git-dir)/objects; echo a > a",
        "echo 1234567890123456789012345678901234567890 > $(git rev-parse --absolute-git-dir)/HEAD; echo a > a",
        "d=$(git rev-parse --absolute-git-dir); rm $d/HEAD; mkfifo $d/HEAD; echo a > a",
    ],
)
def test_a_past_that_the_agent_made_up_is_not_taken_but_its_work_is(begin: Begin, project: Path, script: str):
    main = git(project, "rev-parse", "HEAD")
    run = begin(twice(script), project)
    assert run.on().status == "completed"
    assert git(project, "rev-parse", "reconvene/twice-1~2") == main
    assert git(project, "show", "reconvene/twice-1:a") == "a"
    git(project, "fsck", "--strict")


def test_links_out_of_the_tree_are_neither_followed_nor_taken(begin: Begin, project: Path, tmp_path: Path):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "private.txt").write_text("mine")
    before = everything(outside)
    links = f"ln -s '{outside}' door; ln -s '{outside}/private.txt' ferry.link; rm -r run.sh; ln -s '{outside}' run.sh"
    run = begin(twice(links), project)
    assert run.on().status == "completed"
    assert everything(outside) == before
    taken = git(project, "ls-tree", "-r", "reconvene/twice-1")
    assert "120000" not in taken
    assert "\trun.sh" in taken
    assert "private.txt" not in taken


ANSWERS = """
name: answers
inputs: {project: {type: project, required: true}}
agents: {coder: {retries: 0}}
phases: [{id: code, agents: [coder], place: project}]
"""


def test_files_of_an_answer_are_written_only_inside_the_tree(begin: Begin, project: Path, tmp_path: Path):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "target.txt").write_text("mine")
    (project / "door").symlink_to(outside)
    (project / "link.txt").symlink_to(outside / "target.txt")
    git(project, "add", "-A")
    git(project, "commit", "-qm", "Links")
    files = {
        "door/x.txt": "through a folder",
        "link.txt": "through a file",
        "../up.txt": "above",
        ".git": "gitdir: /tmp",
        ".git/hooks/pre-commit": "evil",
        "ok/deep/file.py": "fine = 1\n",
        "run.sh": "#!/bin/sh\necho changed\n",
    }
    run = begin(ANSWERS, project, runner=ScriptedAgents({"coder": {"text": "done", "files": files}}))
    assert run.on().status == "completed"
    assert sorted(os.listdir(outside)) == ["target.txt"]
    assert (outside / "target.txt").read_text() == "mine"
    assert git(project, "show", "reconvene/answers-1:ok/deep/file.py") == "fine = 1"
    assert git(project, "ls-tree", "reconvene/answers-1", "run.sh").startswith("100755 ")
    assert git(project, "ls-tree", "reconvene/answers-1", "link.txt").startswith("120000 ")
    (ended,) = run.events("AttemptEnded")
    assert {line.partition(":")[0] for line in ended.ignored} == {
        "door/x.txt", "link.txt", "../up.txt", ".git", ".git/hooks/pre-commit",
    }  # fmt: skip


def test_odd_things_in_the_tree_are_no_reason_to_lose_the_work(begin: Begin, project: Path):
    script = (
        "mkfifo pipe; rm ferry.py; mkfifo ferry.py; mkdir locked; echo a > locked/a; chmod 000 locked; echo b > 'b c'"
    )
    run = begin(twice(script), project)
    assert run.on().status == "completed"
    names = git(project, "ls-tree", "-r", "--name-only", "reconvene/twice-1").split("\n")
    assert "b c" in names
    assert "locked/a" in names
    assert "ferry.py" not in names


def test_what_an_attempt_leaves_behind_is_gone_for_the_next_one_but_for_what_git_ignores(begin: Begin, project: Path):
    seen: list[list[str]] = []

    def work(assignment: Assignment) -> object:
        folder = Path(assignment.folder)
        seen.append(sorted(os.listdir(folder)))
        assert (folder / "run.sh").stat().st_mode & stat.S_IXUSR
        (folder / "cache").mkdir(exist_ok=True)
        (folder / "cache" / "big").write_text("kept")
        (folder / "junk.txt").write_text("junk")
        (folder / "README.md").unlink()
        (folder / "run.sh").chmod(stat.S_IRUSR)
        return [AgentError("broke"), "bad", "good"][len(seen) - 1]

    text = ANSWERS.replace("retries: 0", "command: [x], gate: {if: \"output.text == 'bad'\"}")
    run = begin(text, project, runner=ScriptedAgents({"coder": work}))
    assert run.on().status == "completed"
    assert [event.verdict for event in run.events("AttemptEnded")] == ["failed", "rejected", "accepted"]
    clean = [".git", ".gitignore", "README.md", "ferry.py", "run.sh"]
    assert seen == [clean, sorted([*clean, "cache"]), sorted([*clean, "cache"])]
    assert git(project, "show", "--name-only", "--format=", "reconvene/answers-1").split() == [
        "README.md", "junk.txt", "run.sh",
    ]  # fmt: skip


def test_a_very_long_diff_is_cut_and_names_every_file(begin: Begin, project: Path):
    run = begin(twice("for i in 1 2 3; do yes 'a line of text' | head -20000 > big$i.txt; done"), project)
    assert run.on().status == "completed"
    diff = run.text(run.events("AttemptEnded")[0].diff.digest)
    assert len(diff) < 80_000
    assert diff.startswith("\\ this diff is too long to show whole; all 3 files that changed:\n")
    for name in ("big1.txt", "big2.txt", "big3.txt"):
        assert f"\\ {name}: new, +20000 -0\n" in diff
        assert f"+++ b/{name}\n" in diff
    assert diff.count("more lines of the diff of this file are not shown") == 3
