"""Agents work in a worktree of the person's project, and the person gets a branch; their checkout stays as it is."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.adapters.project.support import Driven, everything, git

from reconvene.core.facts.commands import AnswerCheckpoint, Rollback
from reconvene.ports import Assignment
from reconvene.testing.scripted import ScriptedAgents

Begin = Callable[..., Driven]

ONE = """
name: change
inputs: {project: {type: project, required: true}}
agents:
  coder: {command: ["sh", "-c", %s], retries: 1}
phases:
  - {id: code, title: Teach it Sundays, agents: [coder], place: project}
"""
OURS = (".git/objects", ".git/refs/heads/reconvene", ".git/logs/refs/heads/reconvene")


def one(script: str) -> str:
    return ONE % json.dumps(script)


def test_what_an_agent_changes_is_a_commit_on_a_branch_of_the_run(begin: Begin, project: Path):
    main = git(project, "rev-parse", "HEAD")
    run = begin(one("echo 'x = 1' > sunday.py; echo '# more' >> ferry.py; rm run.sh; pwd"), project)
    assert run.on().status == "completed"
    commit = git(project, "rev-parse", "reconvene/change-1")
    assert run.state.world.head == commit
    assert git(project, "rev-parse", f"{commit}^") == main
    assert git(project, "show", f"{commit}:sunday.py") == "x = 1"
    assert git(project, "show", "--name-status", "--format=", commit).split("\n") == [
        "M\tferry.py", "D\trun.sh", "A\tsunday.py",
    ]  # fmt: skip
    message = git(project, "show", "--no-patch", "--format=%an <%ae>%n%B", commit)
    assert message.startswith("Ada <ada@example.org>\nTeach it Sundays\n")
    assert "Reconvene-Run: change-1\nReconvene-Task: R1/0/coder\nReconvene-Agent: coder" in message


def test_the_persons_checkout_is_untouched_byte_for_byte(begin: Begin, project: Path):
    (project / "ferry.py").write_text("# half-finished thought\n")
    (project / "new.txt").write_text("not added yet")
    git(project, "add", "new.txt")
    before = everything(project, but=OURS)
    busy = (
        "echo x >> run.sh; git stash; git config user.name Eve; echo a > a; git add a; git commit -qm me; rm ferry.py"
    )
    run = begin(one(busy), project)
    assert run.on().status == "completed"
    assert everything(project, but=OURS) == before
    assert git(project, "stash", "list").count("\n") == 0
    assert git(project, "config", "user.name") == "Ada"


def test_uncommitted_work_is_not_in_the_worktree_and_the_person_is_told(begin: Begin, project: Path):
    (project / "ferry.py").write_text("# half-finished thought\n")
    run = begin(one("cat ferry.py > seen.txt"), project)
    run.on()
    assert "half-finished" not in git(project, "show", "reconvene/change-1:seen.txt")
    (note,) = [told.detail for told in run.told if told.what == "note"]
    assert "1 uncommitted change;" in note
    (opened,) = run.events("ProjectOpened")
    assert opened.uncommitted == 1


def test_the_worktree_lies_outside_the_project_and_is_gone_when_the_run_has_ended(
    begin: Begin, project: Path, tmp_path: Path
):
    run = begin(one("pwd > where.log; pwd > where"), project, home=project / ".reconvene")
    run.on()
    where = git(project, "show", "reconvene/change-1:where")
    assert [told for told in run.told if told.what == "note"] == []
    assert not where.startswith(str(project))
    assert where.startswith(str(tmp_path / "account" / "state"))
    assert not os.path.exists(where)


def test_an_agent_that_changes_nothing_is_accepted_and_leaves_no_branch(begin: Begin, project: Path):
    run = begin(one("echo nothing to do; touch build.log"), project)
    assert run.on().status == "completed"
    (ended,) = run.events("AttemptEnded")
    assert (ended.verdict, ended.commit, ended.diff) == ("accepted", "", None)
    assert git(project, "branch", "--list", "reconvene/*") == ""


GATED = """
name: gated
inputs: {project: {type: project, required: true}}
agents:
  coder:
    command:
      - sh
      - -c
      - cat > prompt.txt; ls; if [ $RECONVENE_ATTEMPT = 1 ]; then echo bad > bad.py; else echo good > good.py; fi
    gate: {if: "!output.commit || !output.diff || output.files.includes('bad.py')", retry_with: Not like that.}
phases:
  - {id: code, agents: [coder], place: project}
"""


def test_a_rejected_attempt_leaves_nothing_but_its_reason_and_diff_in_the_next_prompt(begin: Begin, project: Path):
    run = begin(GATED, project)
    assert run.on().status == "completed"
    first, second = run.events("AttemptEnded")
    assert (first.verdict, second.verdict) == ("rejected", "accepted")
    assert "bad.py" not in run.text(second.output.digest)
    branch = git(project, "ls-tree", "--name-only", "reconvene/gated-1").split("\n")
    assert "good.py" in branch
    assert "bad.py" not in branch
    prompt = git(project, "show", "reconvene/gated-1:prompt.txt")
    assert "Not like that." in prompt
    assert "+bad" in prompt


TASKS = """
name: tasks
inputs: {project: {type: project, required: true}}
agents:
  planner: {contract: {type: array}}
  coder: {}
  spec: {}
  quality: {}
phases:
  - {id: plan, agents: [planner], output: tasks}
  - id: task
    each: {of: "context.tasks"}
    steps:
      - {agents: [coder], place: project, reads: [project.files, project.branch]}
      - {agents: [spec, quality], place: project.read, reads: [project.diff]}
  - {id: sum, agents: [spec], reads: [project.diff, project.branch], checkpoint: true}
"""


def scripted() -> ScriptedAgents:
    def code(work: Assignment) -> dict[str, object]:
        name = "one.py" if "one.py" in work.prompt else "two.py"
        return {"text": "done", "files": {name: f"{name} = True\n"}}

    def review(work: Assignment) -> str:
        Path(work.folder, "junk.txt").write_text("thrown away")
        return "fine"

    plan = [{"id": "t1", "title": "One", "files": ["one.py", "ferry.py"]}, {"id": "t2", "title": "Two", "files": []}]
    return ScriptedAgents(
        {"planner": {"value": plan}, "coder": code, "quality": review, "spec": [review, review, "summed up"]}
    )


def test_each_task_is_one_commit_and_reviewers_see_its_diff_alone(begin: Begin, project: Path):
    agents = scripted()
    run = begin(TASKS, project, runner=agents)
    assert run.on().status == "waiting"
    subjects = git(project, "log", "--format=%s", "main..reconvene/tasks-1").split("\n")
    assert subjects == ["Two", "One"]
    first, second, last = (call.prompt for call in agents.of("spec"))
    assert "+one.py = True" in first
    assert "two.py" not in first
    assert "+two.py = True" in second
    assert "one.py" not in second
    assert "+one.py = True" in last
    assert "+two.py = True" in last
    assert "reconvene/tasks-1, at " in last
    assert "junk.txt" not in git(project, "ls-tree", "-r", "--name-only", "reconvene/tasks-1")


def test_an_agent_is_shown_the_files_that_its_item_names(begin: Begin, project: Path):
    agents = scripted()
    begin(TASKS, project, runner=agents).on()
    shown = agents.of("coder")[0].prompt
    assert "#### ferry.py\ndef leaves(hour):" in shown
    assert "#### one.py\n(not there yet)" in shown
    assert "no files are named" in agents.of("coder")[1].prompt


ROUNDS = """
name: rounds
inputs: {project: {type: project, required: true}}
agents: {coder: {}}
phases:
  - id: code
    rounds: {max: 4}
    agents: [coder]
    place: project
    checkpoint:
      options:
        - {label: Again, then: again}
        - {label: Undo, undo: true, then: continue}
        - {label: Done, then: continue}
"""


def numbered(work: Assignment) -> dict[str, object]:
    return {"text": "", "files": {f"{work.task.replace('/', '-')}.txt": "x"}}


def test_undoing_a_round_rewinds_the_branch(begin: Begin, project: Path):
    run = begin(ROUNDS, project, runner=ScriptedAgents({"coder": numbered}))
    run.on()
    first = git(project, "rev-parse", "reconvene/rounds-1")
    run.engine.submit(run.run, AnswerCheckpoint("", "Again"))
    run.on()
    second = git(project, "rev-parse", "reconvene/rounds-1")
    assert git(project, "rev-parse", f"{second}^") == first
    run.engine.submit(run.run, Rollback())
    run.on()
    third = git(project, "rev-parse", "reconvene/rounds-1")
    assert third != second
    assert git(project, "rev-parse", f"{third}^") == first
    assert "R2-0-coder.txt" not in git(project, "ls-tree", "--name-only", third)
    run.engine.submit(run.run, AnswerCheckpoint("", "Undo"))
    run.on()
    assert git(project, "rev-parse", "reconvene/rounds-1") == first


def test_a_branch_that_the_person_went_on_with_is_left_to_them(begin: Begin, project: Path, tmp_path: Path):
    run = begin(ROUNDS, project, runner=ScriptedAgents({"coder": numbered}))
    run.on()
    other = tmp_path / "other"
    git(project, "worktree", "add", "-q", str(other), "reconvene/rounds-1")
    (other / "mine.txt").write_text("by hand")
    git(other, "add", "-A")
    git(other, "commit", "-qm", "By hand")
    mine = git(other, "rev-parse", "HEAD")
    run.engine.submit(run.run, AnswerCheckpoint("", "Again"))
    run.on()
    assert git(project, "rev-parse", "reconvene/rounds-1") == mine
    (note,) = [told.detail for told in run.told if told.what == "note"]
    assert "is checked out at" in note
    git(project, "worktree", "remove", "--force", str(other))
    run.engine.submit(run.run, AnswerCheckpoint("", "Again"))
    run.on()
    assert git(project, "rev-parse", "reconvene/rounds-1") == mine
    note = [told.detail for told in run.told if told.what == "note"][-1]
    assert "changed by somebody else" in note
    work = run.state.world.head
    assert f"merge {work[:12]}" in note
    assert git(project, "cat-file", "-t", work) == "commit"


def test_a_branch_name_that_is_taken_is_left_alone(begin: Begin, project: Path):
    git(project, "branch", "reconvene/change-1", "HEAD~1")
    before = git(project, "rev-parse", "reconvene/change-1")
    run = begin(one("echo a > a"), project)
    run.on()
    assert git(project, "rev-parse", "reconvene/change-1") == before
    assert git(project, "show", "reconvene/change-1-2:a") == "a"


def test_a_branch_called_reconvene_does_not_stand_in_the_way(begin: Begin, project: Path):
    git(project, "branch", "reconvene")
    begin(one("echo a > a"), project).on()
    assert git(project, "show", "reconvene-change-1:a") == "a"


def test_a_fork_gets_a_branch_of_its_own_from_where_it_forked(begin: Begin, project: Path):
    run = begin(ROUNDS, project, runner=ScriptedAgents({"coder": numbered}))
    run.on()
    first = git(project, "rev-parse", "reconvene/rounds-1")
    forked = Driven(run.engine, run.engine.fork(run.run))
    forked.engine.submit(forked.run, AnswerCheckpoint("", "Again"))
    forked.on()
    assert git(project, "rev-parse", "reconvene/rounds-1") == first
    assert git(project, "rev-parse", "reconvene/rounds-1-fork-1^") == first


def test_several_agents_of_a_step_change_the_project_one_after_the_other(begin: Begin, project: Path):
    text = ROUNDS.replace("agents: {coder: {}}", "agents: {coder: {}, tester: {}}").replace(
        "agents: [coder]", "agents: [coder, tester]"
    )
    run = begin(text, project, runner=ScriptedAgents({"coder": numbered, "tester": numbered}))
    run.on()
    files = git(project, "ls-tree", "--name-only", "reconvene/rounds-1").split("\n")
    assert {"R1-0-coder.txt", "R1-0-tester.txt"} <= set(files)
    told = git(project, "log", "--format=%(trailers:key=Reconvene-Agent,valueonly)", "main..reconvene/rounds-1")
    assert told.split() == ["tester", "coder"]


@pytest.mark.parametrize("kind", ["detached", "below", "linked", "shallow", "sha256"])
def test_any_way_of_having_a_checkout_will_do(begin: Begin, project: Path, tmp_path: Path, kind: str):
    (project / "docs").mkdir()
    (project / "docs" / "a.md").write_text("a\n")
    git(project, "add", "-A")
    git(project, "commit", "-qm", "Docs")
    folder = project
    if kind == "detached":
        git(project, "checkout", "-q", "--detach", "HEAD~1")
    elif kind == "below":
        folder = project / "docs"
    elif kind == "linked":
        folder = tmp_path / "linked"
        git(project, "worktree", "add", "-q", str(folder), "-b", "side")
    elif kind == "shallow":
        folder = tmp_path / "shallow"
        git(tmp_path, "clone", "-q", "--depth", "1", f"file://{project}", str(folder))
    elif kind == "sha256":
        folder = tmp_path / "longer ids"
        git(tmp_path, "init", "-q", "--object-format=sha256", str(folder))
        git(folder, "commit", "-q", "--allow-empty", "-m", "Start")
    head = git(folder, "rev-parse", "HEAD")
    run = begin(one("git log --oneline >/dev/null; echo b > b.md; git add b.md; git commit -qm Own"), folder)
    assert run.on().status == "completed"
    assert git(folder, "rev-parse", "reconvene/change-1^") == head
    where = "docs/b.md" if kind == "below" else "b.md"
    assert git(folder, "show", f"reconvene/change-1:{where}") == "b"


def test_a_repository_without_a_commit_gets_its_first_one_on_the_branch(begin: Begin, tmp_path: Path):
    folder = tmp_path / "empty"
    folder.mkdir()
    git(folder, "init", "-q")
    run = begin(one("echo a > a"), folder)
    assert run.on().status == "completed"
    assert git(folder, "ls-tree", "--name-only", "reconvene/change-1") == "a"
    git(folder, "merge", "-q", "reconvene/change-1")
    assert (folder / "a").read_text() == "a\n"


def test_a_folder_without_git_is_refused_with_the_next_command(begin: Begin, tmp_path: Path):
    folder = tmp_path / "plain folder"
    folder.mkdir()
    run = begin(one("echo a > a"), folder)
    assert run.on().status == "waiting"
    point = run.state.world.open
    assert point is not None
    assert "is not the working folder of a git repository" in point.prompt
    assert f"git -C '{folder}' init" in point.prompt
    git(folder, "init", "-q")
    run.engine.submit(run.run, AnswerCheckpoint("", "Try again"))
    assert run.on().status == "completed"


def test_submodules_are_left_alone(begin: Begin, project: Path, tmp_path: Path):
    inner = tmp_path / "inner"
    inner.mkdir()
    git(inner, "init", "-q")
    (inner / "i").write_text("i")
    git(inner, "add", "-A")
    git(inner, "commit", "-qm", "Inner")
    git(project, "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(inner), "inner")
    git(project, "commit", "-qm", "With a submodule")
    before = git(project, "ls-tree", "HEAD", "inner")
    run = begin(one("rmdir inner; echo a > a"), project)
    assert run.on().status == "completed"
    assert git(project, "ls-tree", "reconvene/change-1", "inner") == before
    assert git(project, "show", "--name-only", "--format=", "reconvene/change-1") == "a"
