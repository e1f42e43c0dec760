"""Ids and folders of new runs: never outside of where runs belong, never over what is there already."""

from __future__ import annotations

import asyncio
import json
import os
import threading
from pathlib import Path

import pytest

from reconvene.app.engine import Engine
from reconvene.core.facts.events import FilesEdited
from reconvene.errors import UserError, WorkflowError
from reconvene.testing.scripted import ScriptedAgents
from reconvene.wire.workflow_file import parse_workflow
from reconvene.wiring import open_engine

BODY = """
agents: {a: {}}
phases: [{id: p, agents: [a], output: {name: text, file: text.md}, checkpoint: {approval_required: true}}]
"""


def machine(project: Path, home: str = ".reconvene") -> Engine:
    return open_engine(project / home, runner=ScriptedAgents({}, default="written by an agent"))


def started(project: Path, head: str) -> str:
    engine = machine(project)
    try:
        run = engine.start(parse_workflow(f"name: w\n{head}{BODY}", "w.yaml"))
        asyncio.run(engine.drive(run))
        return run
    finally:
        engine.log.close()


def everything(folder: Path) -> dict[str, str]:
    """What a person had there: path → content."""
    return {str(file.relative_to(folder)): file.read_text() for file in folder.rglob("*") if file.is_file()}


# --- ids ---


@pytest.mark.parametrize(
    ("run_id", "why"),
    [
        ("../../../{{ name }}", "leads out of the folder of the runs"),
        ("-rf", "begins with '-'"),
        (".hidden-{{ n }}", "begins with '.'"),
        ("a/b-{{ n }}", "holds '/'"),
        ("a\\b-{{ n }}", "holds '\\\\'"),
        ("two words {{ n }}", "holds ' '"),
        ("{{ '' }}", "is empty"),
        ("{{ name * 200 }}", "is longer than 120 characters"),
        ("tab\t{{ n }}", "holds '\\t'"),
        ("new\nline", "holds '\\n'"),
        ("R;rm -rf {{ n }}", "holds ';'"),
        ("$HOME", "holds '$'"),
        ("a..{{ n }}", "'..'"),
        ("r-{{ n }}.lock", ".lock"),
        ("NUL", "device"),
        ("com1.{{ n }}", "device"),
        ("näme-{{ n }}", "holds 'ä'"),
        ("{{ nam }}", "did you mean 'name'"),
        ("{{ inputs.topic }}", "'inputs' is not known here"),
        ("{% for i in range(10**9) %}{% endfor %}", ""),
    ],
)
def test_a_template_that_gives_no_usable_id_is_refused_at_check_with_its_line(run_id: str, why: str) -> None:
    with pytest.raises(WorkflowError) as refused:
        parse_workflow(f"name: w\nrun_id: {json.dumps(run_id)}\n{BODY}", "w.yaml")
    (problem,) = refused.value.problems
    assert (problem.file, problem.line) == ("w.yaml", 2)
    assert why in str(problem)


@pytest.mark.parametrize("name", ["a..b", "w..", "x" * 121, "nul.txt"])
def test_a_name_that_gives_no_usable_id_is_refused(name: str) -> None:
    with pytest.raises(WorkflowError, match="cannot be the name of a workflow"):
        parse_workflow(f"name: {name}\n{BODY}", "w.yaml")


@pytest.mark.parametrize("run_id", ["SCENARIO-{{ year }}-{{ n }}", "{{ name }}.{{ n }}", "only-one", "_x-{{ n }}"])
def test_usable_templates_are_taken(run_id: str) -> None:
    assert parse_workflow(f"name: w\nrun_id: '{run_id}'\n{BODY}").run_id == run_id


def test_what_a_template_gives_only_later_is_refused_at_the_start_with_its_line(tmp_path: Path) -> None:
    head = "run_id: \"{% if n == '003' %}../../{% endif %}r-{{ n }}\"\n"
    assert [started(tmp_path, head) for _ in range(2)] == ["r-001", "r-002"]
    with pytest.raises(UserError, match=r"w\.yaml:2: 'run_id' gives the run id '\.\./\.\./r-003', which leads") as no:
        started(tmp_path, head)
    assert "REPORT-{{ year }}-{{ n }}" in no.value.hint
    assert [path.name for path in tmp_path.iterdir()] == [".reconvene"]


def test_an_id_that_never_changes_serves_for_one_run(tmp_path: Path) -> None:
    assert started(tmp_path, "run_id: only\n") == "only"
    with pytest.raises(UserError, match="always gives 'only', and there is such a run already") as no:
        started(tmp_path, "run_id: only\n")
    assert "{{ n }}" in no.value.hint


def test_a_template_that_soon_repeats_itself_ends_with_a_sentence(tmp_path: Path) -> None:
    head = "run_id: \"r{{ n[2:3] if n < '003' else 2 }}\"\n"
    assert [started(tmp_path, head) for _ in range(2)] == ["r1", "r2"]
    with pytest.raises(UserError, match="gives no free id"):
        started(tmp_path, head)


def test_a_run_id_from_a_person_is_looked_up_and_opens_nothing(tmp_path: Path) -> None:
    started(tmp_path, "")
    (tmp_path / "secret").mkdir()
    engine = machine(tmp_path)
    for given in ("../secret", "../../etc/passwd", "-rf", "", ".", "w-1/../../secret", "\0"):
        if given:
            with pytest.raises(UserError, match="There is no run"):
                engine.find(given)
    engine.log.close()


# --- folders ---


@pytest.mark.parametrize(
    ("workspace", "why"),
    [
        ("/tmp/{{ run }}", "absolute"),
        ("../{{ run }}", "leaves the workspace"),
        ("x/../../{{ run }}", "leaves the workspace"),
        ("{{ '..' }}/{{ run }}", "leaves the workspace"),
        ("{{ '/' }}{{ run }}", "absolute"),
        (".git/{{ run }}", "keeps for itself"),
        (".Reconvene/{{ run }}", "keeps for itself"),
        ("{{ '.reconvene' }}/{{ run }}", "keeps for itself"),
        ("reports", "the same folder"),
        ("reports/{{ name }}", "the same folder"),
        ("reports/{{ rnu }}", "did you mean 'run'"),
    ],
)
def test_a_folder_that_runs_cannot_have_is_refused_at_check(workspace: str, why: str) -> None:
    with pytest.raises(WorkflowError) as refused:
        parse_workflow(f'name: w\nworkspace: "{workspace}"\n{BODY}', "w.yaml")
    assert why in str(refused.value)
    assert refused.value.problems[0].line == 2


def test_a_link_that_leads_out_of_the_project_is_refused(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    project = tmp_path / "project"
    outside.mkdir()
    project.mkdir()
    (project / "reports").symlink_to(outside)
    with pytest.raises(UserError, match=r"w\.yaml:2: 'workspace' gives 'reports/w-1', which a link leads out of"):
        started(project, "workspace: 'reports/{{ run }}'\n")
    assert list(outside.iterdir()) == []


def test_a_link_inside_the_project_is_followed(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "reports").symlink_to(tmp_path / "elsewhere")
    started(tmp_path, "workspace: 'reports/{{ run }}'\n")
    assert everything(tmp_path / "elsewhere") == {"w-1/text.md": "written by an agent"}


@pytest.mark.parametrize("way", ["state", "linked"])
def test_the_state_of_all_runs_is_no_folder_for_one(tmp_path: Path, way: str) -> None:
    (tmp_path / "state").mkdir()
    (tmp_path / "linked").symlink_to("state")
    engine = machine(tmp_path, "state")
    workflow = parse_workflow(f"name: w\nworkspace: '{way}/history.git/{{{{ run }}}}'\n{BODY}", "w.yaml")
    with pytest.raises(UserError, match=r"w\.yaml:2: 'workspace' gives .* where the state of all runs is kept"):
        engine.start(workflow)
    engine.log.close()


# --- what is there already ---


@pytest.mark.parametrize("head", ["", "workspace: 'reports/{{ run }}'\n"])
def test_a_new_run_leaves_a_folder_with_files_alone_and_takes_the_next_number(tmp_path: Path, head: str) -> None:
    """The home was deleted, or its database: what the old run wrote is a person's now."""
    assert started(tmp_path, head) == "w-1"
    (database,) = (tmp_path / ".reconvene").glob("reconvene.db")
    old = everything(tmp_path / ("reports" if head else ".reconvene/runs"))
    assert old == {"w-1/text.md": "written by an agent"}
    for file in database.parent.glob("reconvene.db*"):
        file.unlink()
    assert started(tmp_path, head) == "w-2"
    engine = machine(tmp_path)
    assert not [event for _, event in engine.log.read("w-2") if isinstance(event, FilesEdited)]
    engine.log.close()
    now = everything(tmp_path / ("reports" if head else ".reconvene/runs"))
    assert now == {**old, "w-2/text.md": "written by an agent"}


def test_where_the_id_is_fixed_a_run_is_refused_and_nothing_is_touched(tmp_path: Path) -> None:
    mine = tmp_path / "reports" / "only"
    mine.mkdir(parents=True)
    (mine / "text.md").write_text("mine")
    with pytest.raises(UserError, match=r"its folder .*reports/only is not empty") as no:
        started(tmp_path, "run_id: only\nworkspace: 'reports/{{ run }}'\n")
    assert no.value.hint.startswith("Move the folder away")
    assert everything(tmp_path / "reports") == {"only/text.md": "mine"}
    engine = machine(tmp_path)
    assert engine.log.index() == []
    engine.log.close()


@pytest.mark.parametrize("kind", ["file", "link to nowhere", "link to files", "hidden file"])
def test_whatever_lies_there_counts_as_taken(tmp_path: Path, kind: str) -> None:
    place = tmp_path / "reports" / "w-1"
    place.parent.mkdir()
    if kind == "file":
        place.write_text("mine")
    elif kind == "link to nowhere":
        place.symlink_to("gone")
    elif kind == "link to files":
        (tmp_path / "mine").mkdir()
        (tmp_path / "mine" / "a.md").write_text("mine")
        place.symlink_to("../mine")
    else:
        place.mkdir()
        (place / ".hidden").touch()
    assert started(tmp_path, "workspace: 'reports/{{ run }}'\n") == "w-2"


def test_an_empty_folder_is_taken(tmp_path: Path) -> None:
    """A crash between making the folder and the log leaves one; so does a person who prepares it."""
    (tmp_path / "reports" / "w-1").mkdir(parents=True)
    assert started(tmp_path, "workspace: 'reports/{{ run }}'\n") == "w-1"


def test_a_run_goes_on_in_its_own_folder_with_files_in_it(tmp_path: Path) -> None:
    run = started(tmp_path, "")
    engine = machine(tmp_path)
    state = asyncio.run(engine.drive(run))
    assert (state.run, state.status) == ("w-1", "waiting")
    engine.log.close()


def test_a_fork_takes_the_next_number_where_its_folder_is_taken(tmp_path: Path) -> None:
    run = started(tmp_path, "workspace: 'reports/{{ run }}'\n")
    mine = tmp_path / "reports" / "w-1-fork-1"
    mine.mkdir()
    (mine / "a.md").write_text("mine")
    engine = machine(tmp_path)
    assert engine.fork(run) == "w-1-fork-2"
    assert engine.fork(run) == "w-1-fork-3"
    engine.log.close()


def test_many_that_start_at_once_get_an_id_and_a_folder_each(tmp_path: Path) -> None:
    workflow = parse_workflow(f"name: w\nworkspace: 'reports/{{{{ run }}}}'\n{BODY}")
    (tmp_path / "reports" / "w-3").mkdir(parents=True)
    (tmp_path / "reports" / "w-3" / "mine.md").write_text("mine")
    runs: list[str] = []
    ready = threading.Barrier(4)

    def start() -> None:
        engine = machine(tmp_path)
        ready.wait()
        for _ in range(5):
            runs.append(engine.start(workflow))
            asyncio.run(engine.drive(runs[-1]))
        engine.log.close()

    threads = [threading.Thread(target=start) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(runs, key=lambda run: int(run[2:])) == [f"w-{n}" for n in range(1, 22) if n != 3]
    assert sorted(os.listdir(tmp_path / "reports")) == sorted([*runs, "w-3"])
    assert everything(tmp_path / "reports" / "w-3") == {"mine.md": "mine"}
