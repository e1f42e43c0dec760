"""`--model`, `--agent` and `reconvene.toml`: who carries agents out, said once, on record, and shown."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from commands import Command, Done, call, process
from reconvene.settings import system_user

FLOW = """
name: flow
agents:
  writer: {retries: 0}
  reviewer: {model: "openai:gpt", retries: 0, contract: {verdict: string}}
groups: {team: [writer, reviewer]}
phases:
  - id: draft
    steps: [{agents: [writer]}, {agents: [reviewer], output: review}]
    checkpoint: {approval_required: true}
"""
ANSWER = """cat >/dev/null; echo '{"verdict": "fine"}'"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / "flow.yaml").write_text(FLOW)
    return tmp_path / "project"


@pytest.fixture
def own(tmp_path: Path) -> Path:
    """The person's own settings file."""
    path = Path(f"{tmp_path}.config") / "reconvene" / "reconvene.toml"
    path.parent.mkdir(parents=True)
    return path


@pytest.fixture
def reconvene(folder: Path) -> Command:
    return partial(
        call, cwd=folder, RECONVENE_HOME=None, OPENAI_API_KEY="no key", OLLAMA_BASE_URL="http://127.0.0.1:9/v1"
    )


def held(reconvene: Command, run: str = "flow-1") -> dict[str, str]:
    rows = reconvene("show", run, "--json").object.get("bindings", [])
    assert isinstance(rows, list)
    return {row.get("agent", ""): row["who"] for row in rows}


def parked(done: Done) -> Done:
    assert done.code == 3, done.err
    return done


def refused(done: Done, *words: str) -> None:
    assert done.code == 64, done.out
    for word in words:
        assert word in done.err


def test_a_command_in_a_models_place_is_told_the_contract_and_recorded(reconvene: Command, folder: Path) -> None:
    keep = f'cat > {folder}/asked; echo \'{{"verdict": "fine"}}\''
    parked(reconvene("run", "flow.yaml", "--agent", f"writer={ANSWER}", "--agent", f"reviewer={keep}", "--by", "Ada"))
    assert '"verdict"' in (folder / "asked").read_text()
    assert reconvene("show", "--json").object["context"]["review"] == {"verdict": "fine"}  # type: ignore[index]
    told = reconvene("show").out
    assert "carried out by\n" in told
    assert f"writer: {ANSWER} (Ada [claimed by {system_user()}], 20" in told
    assert "AgentsBound" in reconvene("log").out
    assert "by=Ada" in reconvene("log").out


def test_a_group_is_bound_in_one_word(reconvene: Command) -> None:
    parked(reconvene("run", "flow.yaml", "--agent", f"team={ANSWER}"))
    assert held(reconvene) == {"reviewer": ANSWER, "writer": ANSWER}


def test_a_binding_is_changed_with_resume_and_travels_with_a_fork(reconvene: Command) -> None:
    reconvene("new", "flow.yaml", "--model", "openai:one")
    first = len(reconvene("log", "flow-1").out.splitlines())
    assert held(reconvene) == {"": "openai:one"}
    parked(reconvene("resume", "flow-1", "--agent", f"team={ANSWER}"))
    assert held(reconvene) == {"": "openai:one", "reviewer": ANSWER, "writer": ANSWER}
    assert reconvene("fork", "flow-1", "--at", str(first)).code == 0
    assert held(reconvene, "flow-1-fork-1") == held(reconvene)
    parked(reconvene("resume", "flow-1-fork-1"))
    reconvene("fork", "flow-1", "--at", str(first), "--agent", "writer=cat")
    assert held(reconvene, "flow-1-fork-2") == held(reconvene) | {"writer": "cat"}


@pytest.mark.parametrize("option", ["Try again", "Try again with another model", "try"])
def test_where_an_agent_failed_another_one_does_it(reconvene: Command, option: str) -> None:
    parked(reconvene("run", "flow.yaml", "--agent", "writer=false", "--agent", f"reviewer={ANSWER}"))
    refused(reconvene("decide", "--option", "Try again with another model"), "needs the other model", "--model")
    done = parked(reconvene("decide", "--option", option, "--agent", "writer=cat", "--json"))
    assert not done.object["checkpoint"]["attention"]  # type: ignore[index]
    assert held(reconvene)["writer"] == "cat"


def test_a_function_is_looked_for_beside_the_workflow_first(reconvene: Command, folder: Path, tmp_path: Path) -> None:
    there = folder / "flows"
    there.mkdir()
    (there / "flow.yaml").write_text(FLOW)
    answer = "{'text': 'fine', 'value': {'verdict': 'by hand'}}"
    (there / "at_hand.py").write_text(f"def answer(assignment):\n    return {answer}\n")
    bound_to = ("--agent", "team=python:at_hand:answer")
    parked(reconvene("run", "flows/flow.yaml", *bound_to))
    assert reconvene("show", "--json").object["context"]["review"] == {"verdict": "by hand"}  # type: ignore[index]
    assert held(reconvene) == dict.fromkeys(("reviewer", "writer"), "python:at_hand:answer")
    assert reconvene("rollback").code == 3  # from another folder, and in a process of its own

    parked(reconvene("run", "flows/flow.yaml", "--agent", f"team={ANSWER}"))
    words = ("decide", "flow-2", "--option", "Continue", *bound_to)
    assert call(*words, cwd=there, RECONVENE_HOME=None).code == 0  # where the workflow lies
    alone = process("run", "flow.yaml", *bound_to, cwd=folder, RECONVENE_HOME=None)
    refused(alone, "there is no Python module 'at_hand'", "beside the workflow")


def test_a_decision_that_is_refused_binds_nobody(reconvene: Command) -> None:
    parked(reconvene("run", "flow.yaml", "--agent", f"team={ANSWER}"))
    other = f"{ANSWER} # another"
    words = ("decide", "flow-1", "--option", "Continue", "--agent", f"writer={other}")
    refused(reconvene(*words, "--at", "0" * 32), "no checkpoint of flow-1 had a version that begins with 0")
    assert held(reconvene) == {"reviewer": ANSWER, "writer": ANSWER}
    assert reconvene(*words).code == 0
    assert held(reconvene) == {"reviewer": ANSWER, "writer": other}


def test_a_fork_that_could_not_be_bound_is_not_made(reconvene: Command) -> None:
    parked(reconvene("run", "flow.yaml", "--agent", f"team={ANSWER}"))
    refused(reconvene("fork", "flow-1", "--at", "3", "--model", "writer=nobody:m"), "nobody")
    assert len(reconvene("runs", "--json").objects) == 1


def test_the_field_of_that_option_takes_a_command_too(reconvene: Command) -> None:
    stopped = parked(reconvene("run", "flow.yaml", "--agent", "writer=false", "--agent", f"reviewer={ANSWER}"))
    assert "Try again with another model\n     the same work is asked of whom you name" in stopped.out
    parked(reconvene("decide", "--option", "Try again with another model", "--field", "model=cat"))
    assert held(reconvene)["writer"] == "cat"


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--model", "revewer=openai:x"), "flow has no agent or group 'revewer'"),
        (("--model", "olama:x"), "there is no provider 'olama'"),
        (("--model", "gpt-5"), "'gpt-5' does not say which provider to ask"),
        (("--model", "writer="), "names no model"),
        (("--agent", "claude -p"), "does not say for whom"),
        (("--agent", "writer="), "there is no command for writer"),
        (("--agent", "writer=python:x"), "does not name a function"),
    ],
)
def test_what_is_wrong_is_said_before_anything_starts(reconvene: Command, words: tuple[str, str], told: str) -> None:
    refused(reconvene("run", "flow.yaml", *words), told)
    assert reconvene("runs", "--json").objects == []
    reconvene("new", "flow.yaml")
    before = reconvene("log").out
    refused(reconvene("resume", "flow-1", *words), told)
    assert reconvene("log").out == before


def test_a_recording_takes_no_model(reconvene: Command) -> None:
    refused(reconvene("run", "market-entry", "--recorded", "--model", "openai:x"), "--recorded plays", "leave out")
    reconvene("new", "market-entry", "--recorded")
    refused(reconvene("resume", "--model", "openai:x"), "every agent of this run answers from a recording")


# --- settings files ---


def test_files_say_it_where_the_command_line_does_not(reconvene: Command, folder: Path, own: Path) -> None:
    own.write_text('model = "ollama:mine"\nby = "Ada"\n[models]\nwriter = "ollama:writer"\nsomebody = "ollama:x"\n')
    reconvene("new", "flow.yaml")
    assert held(reconvene) == {"": "ollama:mine", "writer": "ollama:writer"}
    (folder / "reconvene.toml").write_text('model = "ollama:project"\n\n[models]\nteam = "openai:project"\n')
    assert held(reconvene) == {"": "ollama:mine", "writer": "ollama:writer"}  # it began with that
    reconvene("new", "flow.yaml")
    assert held(reconvene, "flow-2") == {"": "ollama:project", "writer": "openai:project", "reviewer": "openai:project"}
    told = reconvene("show", "flow-2").out
    assert f"writer: openai:project ({folder}/reconvene.toml:4, Ada [claimed by {system_user()}], 20" in told
    assert "agents whose model is left open: ollama:project" in told
    reconvene("new", "flow.yaml", "--model", "openai:now")
    assert set(held(reconvene, "flow-3").values()) == {"openai:now"}


def test_a_programme_of_a_file_that_was_found_is_accepted_once(reconvene: Command, folder: Path, own: Path) -> None:
    (folder / "below").mkdir()
    below = partial(reconvene, cwd=folder / "below")
    (folder / "reconvene.toml").write_text(f"[agents]\nteam = '''{ANSWER}'''\n")
    done = below("run", "../flow.yaml")
    refused(done, f"settings file {folder}/reconvene.toml was found here", f"team runs: {ANSWER}", "reconvene accept ")
    digest = done.err.split("reconvene accept ")[1].strip()
    refused(below("accept", "0123456789abcdef"), "nothing here has the digest", digest)
    assert below("accept", digest).code == 0
    line = (own.parent / "accepted").read_text()
    assert line.startswith(digest)
    assert f"team runs: {ANSWER}" in line
    parked(below("run", "../flow.yaml"))
    (folder / "reconvene.toml").write_text("[agents]\nteam = 'cat'\n")
    refused(below("run", "../flow.yaml"), "team runs: cat")


def test_the_persons_own_file_needs_no_word(reconvene: Command, own: Path) -> None:
    own.write_text(f"[agents]\nteam = '''{ANSWER}'''\n")
    parked(reconvene("run", "flow.yaml"))


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('model = "x:y"\nmodell = "x"\n', "reconvene.toml:2: there is no setting 'modell' (did you mean model?)"),
        ('model = "x:y\n', "reconvene.toml:1: "),
        ('\n[agents]\nwriter = "cat \'"\n', "reconvene.toml:3: "),
        ("[models]\nwriter = 3\n", "reconvene.toml:2: 'writer' should be a text"),
        ('agents = "cat"\n', "reconvene.toml:1: 'agents' should be a table"),
        ('model = "x:y"\nsettings = 3\n', "reconvene.toml:2: 'settings' should be a table"),
        ('by = "Eve"\n', "reconvene.toml:1: 'by' says who you are: a project cannot"),
        ('model = "olama:x"\n', "there is no provider 'olama'"),
    ],
)
def test_what_is_wrong_in_a_file_has_its_line(reconvene: Command, folder: Path, text: str, told: str) -> None:
    (folder / "reconvene.toml").write_text(text)
    refused(reconvene("new", "flow.yaml"), told)


# --- settings of workflows ---

ASKS = """\
name: asking
inputs: {documents: {type: documents}}
settings:
  planning.interactive: {type: bool, default: "inputs.documents.length > 0"}
  planning.cycles: {type: number, default: 3}
phases:
- id: plan
  checkpoint: {condition: settings.planning.interactive, options: [{label: Go on, then: continue}]}
"""


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("", 0),
        ("[settings]\nplanning.interactive = true\n", 3),
        ("[settings.planning]\ninteractive = true\n", 3),
        ("[settings]\nplanning = {interactive = true, cycles = 5}\n", 3),
        ("[settings]\nplanning.interactive = false\nof_another_workflow = 3\n", 0),
    ],
)
def test_a_file_sets_what_workflows_ask_for(reconvene: Command, folder: Path, text: str, code: int) -> None:
    (folder / "asking.yaml").write_text(ASKS)
    (folder / "reconvene.toml").write_text(text)
    assert reconvene("run", "asking.yaml", "--no-input").code == code


def test_the_command_line_counts_before_the_projects_file_and_that_before_ones_own(
    reconvene: Command, folder: Path, own: Path
) -> None:
    (folder / "asking.yaml").write_text(ASKS)
    own.write_text("[settings]\nplanning.interactive = true\n")
    assert reconvene("run", "asking.yaml", "--no-input").code == 3
    (folder / "reconvene.toml").write_text("[settings]\nplanning.interactive = false\n")
    assert reconvene("run", "asking.yaml", "--no-input").code == 0
    assert reconvene("run", "asking.yaml", "--no-input", "--set", "planning.interactive=true").code == 3


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ('\n[settings]\nplanning.cycles = 2\nplanning.interactive = "yes"\n', 4),
        ("[settings.planning]\n# how often\ninteractive = 1\n", 3),
        ("[settings]\nplanning = {interactive = 1}\n", 2),
    ],
)
def test_a_setting_of_another_type_is_refused_with_its_line_and_an_example(
    reconvene: Command, folder: Path, text: str, line: int
) -> None:
    (folder / "asking.yaml").write_text(ASKS)
    (folder / "reconvene.toml").write_text(text)
    told = f"reconvene.toml:{line}: the setting 'planning.interactive' takes a bool"
    refused(reconvene("run", "asking.yaml", "--no-input"), told, "as in ")
    assert reconvene("runs", "--json").objects == []


# --- eject ---


def test_a_packaged_workflow_is_copied_to_be_changed(reconvene: Command, folder: Path) -> None:
    done = reconvene("eject", "market-entry", "mine")
    assert done.code == 0
    assert "reconvene check mine/workflow.yaml" in done.out
    assert "reconvene run ./mine --recorded" in done.out
    assert reconvene("check", "mine/workflow.yaml").code == 0
    parked(reconvene("run", "./mine", "--recorded", "--no-input"))
    refused(reconvene("eject", "market-entry", "mine"), "mine is not empty")
    refused(reconvene("eject", "markt-entry", "other"), "market-entry")
    refused(reconvene("eject", "market-entry", "flow.yaml"), "is not a folder")
    assert not (folder / "other").exists()


def test_a_folder_here_does_not_stand_in_for_a_packaged_workflow(reconvene: Command, folder: Path) -> None:
    (folder / "market-entry").mkdir()
    (folder / "market-entry" / "workflow.yaml").write_text(FLOW)
    assert reconvene("check", "market-entry/workflow.yaml").code == 0
    parked(reconvene("run", "market-entry", "--recorded", "--no-input"))
