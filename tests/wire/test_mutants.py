"""2,000 spoilt workflows: each is refused with problems, or loads and can be run; nothing else is ever raised."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from mutants import mutant

from reconvene.adapters.guest.helper import Helper
from reconvene.adapters.workspace import FolderWorkspace
from reconvene.app.new_runs import NewRuns
from reconvene.core.definition.run_inputs import complete_inputs, complete_settings
from reconvene.core.definition.workflow import Workflow
from reconvene.errors import Bug, ReconveneError, WorkflowError
from reconvene.language import guest
from reconvene.surroundings import SystemClock
from reconvene.testing.memory import MemoryLog
from reconvene.testing.play import Play
from reconvene.wire.pins import pin, unpin
from reconvene.wire.resources import Folder
from reconvene.wire.workflow_file import parse_workflow

TURNS = 25


@pytest.fixture(autouse=True, scope="module")
def _guest() -> Iterator[None]:
    """Some of what they say would never end."""
    before, helper = guest.here(), Helper()
    guest.lodge(helper)
    yield
    guest.lodge(before)
    helper.close()


def loaded(number: int) -> Workflow | None:
    text, folder = mutant(number)
    try:
        workflow = parse_workflow(text, "workflow.yaml", Folder(folder))
    except WorkflowError as error:
        refused = error
    else:
        assert unpin(pin(workflow)) == workflow
        return workflow
    assert refused.problems, "refused without a problem"
    assert all(problem.message and str(problem) for problem in refused.problems)
    return None


def walk(workflow: Workflow) -> None:
    """Start it and go on for a while, as agents and a person would who say yes to everything."""
    inputs = complete_inputs(workflow, {name: _given(spec.type) for name, spec in workflow.inputs.items()})
    game = Play(workflow, inputs, complete_settings(workflow, {}, inputs, machine={"model": True, "git": True}))
    for _ in range(TURNS):
        if game.working():
            game.finish(game.working()[0], "# Review: fine\n\nAll is well, GAP-1 is closed.", value=_ANSWER)
        elif game.labels:
            point = game.state.world.open
            assert point is not None
            chosen = next(option for option in point.options if option.available)
            fields = {field.id: _answer(field.type, field.options) for field in (*point.fields, *chosen.fields)}
            game.decide(chosen.label, "correction: not quite", fields=fields)
        else:
            return


_ANSWER: Mapping[str, object] = {"level": "complex", "list": [{"id": "a", "title": "A"}], "verdict": "APPROVE"}


def _given(kind: str) -> object:
    return {"number": 3, "bool": True, "json": {"a": [1]}, "files": {}, "folder": {}}.get(kind, "a text")


def _answer(kind: str, options: tuple[str, ...]) -> object:
    if options:
        return options[0]
    return {"number": 1, "confirm": True, "agents": []}.get(kind, "an answer")


def _workspace(run: str, folder: str) -> FolderWorkspace:
    return FolderWorkspace(folder, f"{folder}.json")


def tried(number: int, home: Path) -> bool:
    """Whether it could be run."""
    workflow = loaded(number)
    if workflow is None:
        return False
    try:
        _, folder = NewRuns(MemoryLog(), SystemClock(), str(home), _workspace).free(workflow)
        assert Path(folder).resolve().is_relative_to(home.parent.resolve())
        walk(workflow)
    except Bug:
        raise
    except ReconveneError:
        pass  # a sentence for whoever started it
    return True


@pytest.mark.parametrize("share", range(2))
def test_some_spoilt_workflows_are_refused_or_run(tmp_path: Path, share: int) -> None:
    assert sum(tried(number, tmp_path / "home") for number in range(share, 200, 2)) > 5


SHARES = 20


@pytest.mark.torture
@pytest.mark.parametrize("share", range(SHARES))
def test_two_thousand_spoilt_workflows_are_refused_or_run(tmp_path: Path, share: int) -> None:
    for number in range(share, 2000, SHARES):
        try:
            tried(number, tmp_path / "home")
        except Exception as error:
            raise AssertionError(f"mutant {number}: {error!r}") from error
