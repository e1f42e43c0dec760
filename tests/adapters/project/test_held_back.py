"""What an agent changed in a project and is not taken into the commit: named at the stop, some of it kept aside."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.adapters.project.support import Driven, git

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


def ignored(run: Driven) -> list[str]:
    return [line for event in run.events("AttemptEnded") for line in event.ignored]  # type: ignore[attr-defined]


def branch(project: Path) -> list[str]:
    return git(project, "ls-tree", "-r", "--name-only", "reconvene/twice-1").split("\n")


def test_a_home_and_settings_of_ours_are_not_planted_in_the_project(begin: Begin, project: Path):
    run = begin(
        twice("mkdir -p sub/.Reconvene; echo x > sub/.Reconvene/reconvene.db; echo x > reconvene.toml; echo k > k"),
        project,
    )
    assert run.on().status == "completed"
    assert "k" in branch(project)
    assert not [path for path in branch(project) if "reconvene" in path.lower()]
    why = "Reconvene would act upon it; change it yourself"
    assert ignored(run)[:2] == [f"reconvene.toml: {why}", f"sub/.Reconvene/reconvene.db: {why}"]


def test_what_makes_programs_run_things_is_kept_aside_and_named(begin: Begin, project: Path):
    names = (".cursor/mcp.json", ".envrc", ".husky/pre-commit", ".vscode/tasks.json", "sub/.envrc")
    script = f"mkdir -p .cursor .husky .vscode sub; for name in {' '.join(names)}; do echo x > $name; done; echo k > k"
    run = begin(twice(script), project)
    assert run.on().status == "completed"
    assert "k" in branch(project)
    assert not set(branch(project)) & set(names)
    aside = "It is kept aside: reconvene take twice-1 --to FILE"
    assert ignored(run)[:5] == [f"{name}: it makes programs run things. {aside} {name}" for name in names]
    held = run.engine.discretion.aside
    assert held is not None
    assert held.read("twice-1", ".envrc") == b"x\n"


def test_such_a_file_of_the_persons_stays_as_it_is_and_may_be_removed(begin: Begin, project: Path):
    (project / ".envrc").write_text("of the person\n")
    (project / ".husky").mkdir()
    (project / ".husky" / "pre-commit").write_text("of the person\n")
    git(project, "add", "-A")
    git(project, "commit", "-qm", "Mine")
    run = begin(twice("echo evil >> .envrc; rm .husky/pre-commit"), project)
    assert run.on().status == "completed"
    assert git(project, "show", "reconvene/twice-1:.envrc") == "of the person"
    assert ".husky/pre-commit" not in branch(project)


@pytest.mark.parametrize(
    ("link", "target", "taken"),
    [
        ("a", "/etc/passwd", False),
        ("a", "../x", False),
        ("deep/er/a", "../../k", True),
        ("deep/er/a", "../../../k", False),
        ("a", "deep/../../x", False),
        ("a", "deep/../k", False),  # the folder may be a link itself
        ("a", "k", True),
        ("a", "./deep/not-there", True),
        ("a", "..", False),
        ("deep/a", "..", True),
    ],
)
def test_a_link_out_of_the_project_is_not_taken_and_named(
    begin: Begin, project: Path, link: str, target: str, *, taken: bool
):
    run = begin(twice(f"mkdir -p deep/er; echo k > k; ln -s {target} {link}; git add -A; git commit -qm mine"), project)
    assert run.on().status == "completed"
    assert (link in branch(project)) == taken
    assert (f"{link}: a link that leads out of the project" in ignored(run)) == (not taken)
    assert "k" in branch(project)


def test_a_secret_as_a_name_or_as_a_links_target_is_not_taken(
    begin: Begin, project: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("MY_API_KEY", "skAbc12345x6789")
    script = "k=skAbc12345; n=${k}x6789; echo x > $n.txt; ln -s x-$n lnk; echo k > k; git add -A; git commit -qm m"
    run = begin(twice(script), project)
    assert run.on().status == "completed"
    assert "k" in branch(project)
    assert ignored(run)[:2] == [
        "lnk: a link whose target holds the value of MY_API_KEY",
        "[redacted].txt: its name holds the value of MY_API_KEY",
    ]
    assert "skAbc" not in git(project, "rev-list", "--objects", "reconvene/twice-1")
