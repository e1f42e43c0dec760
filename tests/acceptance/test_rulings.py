"""Trouble that only a person can settle: what is asked, what is kept, and what each ruling does."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.stage import Stage

from reconvene.core.facts.events import (
    CheckPassed,
    CheckpointSkipped,
    ExpressionFailed,
    FilesEdited,
    FilesFound,
    PhaseSkipped,
    StepClosed,
)
from reconvene.errors import AgentError
from reconvene.ports import Assignment
from reconvene.testing.scripted import Reply

# --- two versions of one file ---

SHARED = """
name: w
agents: {first: {}, a: {}, b: {}, last: {}}
phases:
  - {id: one, agents: [first]}
  - {id: two, agents: [a, b]}
  - {id: three, agents: [last]}
"""


def wrote(text: str) -> dict[str, object]:
    return {"text": "done", "files": {"plan.md": text}}


def in_conflict(tmp_path: Path) -> Stage:
    a: list[Reply] = [wrote("from a\n"), wrote("agreed\n")]
    b: list[Reply] = [wrote("from b\n"), "none"]
    stage = Stage(tmp_path, SHARED, {"first": wrote("before\n"), "a": a, "b": b, "last": "done"})
    stage.drive()
    return stage


def test_two_agents_writing_one_file_is_a_conflict_that_keeps_both_versions_and_the_prior_text(tmp_path: Path) -> None:
    stage = in_conflict(tmp_path)
    assert stage.point.attention
    assert "a and b changed plan.md differently" in stage.point.prompt
    assert stage.labels == ["Try again", "Go on without it", "Use a's version", "Use b's version", "Stop the run"]
    assert stage.read("plan.md") == "before\n"
    versions = [stage.kept(stage.attempts(f"R2/0/{agent}")[0].files[0].digest) for agent in ("a", "b")]
    assert versions == ["from a\n", "from b\n"]


@pytest.mark.parametrize(
    ("ruling", "text", "calls"),
    [
        ("Use a's version", "from a\n", 2),
        ("Use b's version", "from b\n", 2),
        ("Go on without it", "before\n", 2),
        ("Try again", "agreed\n", 4),
    ],
)
def test_the_ruling_on_a_conflict_decides_what_later_agents_read(
    tmp_path: Path, ruling: str, text: str, calls: int
) -> None:
    stage = in_conflict(tmp_path)
    assert stage.decide(ruling).status == "completed"
    assert stage.read("plan.md") == text
    assert stage.agents.of("last")[0].files["plan.md"].decode() == text
    assert len(stage.agents.of("a")) + len(stage.agents.of("b")) == calls


def test_two_agents_writing_the_same_text_is_no_conflict(tmp_path: Path) -> None:
    same = wrote("same\n")
    stage = Stage(tmp_path, SHARED, {"first": wrote("before\n"), "a": same, "b": same, "last": "done"})
    assert stage.drive().status == "completed"
    assert stage.read("plan.md") == "same\n"


@pytest.mark.parametrize(("ruling", "text"), [("Go on without it", "by hand\n"), ("Use a's version", "from a\n")])
def test_what_a_person_writes_while_agents_work_stays_unless_they_choose_otherwise(
    tmp_path: Path, ruling: str, text: str
) -> None:
    def meanwhile(assignment: Assignment) -> dict[str, object]:
        stage.write("plan.md", "by hand\n")
        return wrote("from a\n")

    stage = Stage(tmp_path, SHARED, {"first": wrote("before\n"), "a": meanwhile, "b": "done", "last": "done"})
    stage.drive()
    assert "a and somebody in the workspace changed plan.md differently" in stage.point.prompt
    assert stage.read("plan.md") == "by hand\n"
    assert [found.files[0].path for found in stage.events(FilesFound)] == ["plan.md"]
    assert not stage.events(FilesEdited), "nobody has said whose it is"
    assert stage.decide(ruling).status == "completed"
    assert stage.read("plan.md") == text
    assert len(stage.events(FilesEdited)) == 1


def test_a_file_that_a_person_deletes_while_an_agent_rewrites_it_stays_deleted_until_they_choose(
    tmp_path: Path,
) -> None:
    def meanwhile(assignment: Assignment) -> dict[str, object]:
        (stage.folder / "plan.md").unlink()
        return wrote("from a\n")

    stage = Stage(tmp_path, SHARED, {"first": wrote("before\n"), "a": meanwhile, "b": "done", "last": "done"})
    stage.drive()
    assert "a and somebody in the workspace changed plan.md differently" in stage.point.prompt
    assert not (stage.folder / "plan.md").exists()
    assert stage.decide("Go on without it").status == "completed"
    assert not (stage.folder / "plan.md").exists()


# --- nobody answered ---

MISSING = """
name: w
agents: {a: {retries: 0}, b: {retries: 0}, last: {}}
phases:
  - id: one
    steps:
      - {agents: [a, b], output: notes}
      - {agents: [last], reads: [round.full, notes]}
"""


@pytest.mark.parametrize(
    ("ruling", "status", "calls"),
    [("Try again", "completed", 2), ("Go on without it", "completed", 1), ("Stop the run", "aborted", 1)],
)
def test_a_step_without_any_output_asks_and_each_ruling_does_what_it_says(
    tmp_path: Path, ruling: str, status: str, calls: int
) -> None:
    broken = AgentError("The line was cut.")
    stage = Stage(tmp_path, MISSING, {"a": [broken, "a's note"], "b": [broken, "b's note"], "last": "done"})
    assert stage.drive().status == "waiting"
    assert "no agent of this step gave an output" in stage.point.prompt
    assert "a: The line was cut." in stage.point.prompt
    assert stage.decide(ruling, "be brave").status == status
    assert len(stage.agents.of("a")) == len(stage.agents.of("b")) == calls
    if ruling == "Try again":
        assert "a's note" in stage.asked("R1/1/last")
    if ruling == "Go on without it":
        assert stage.events(StepClosed)[0].missing == ("a", "b")
        assert "a gave no output this round" in stage.asked("R1/1/last")
    if status == "completed":
        assert "be brave" in stage.asked("R1/1/last")


def test_one_missing_agent_does_not_hold_the_others_up(tmp_path: Path) -> None:
    stage = Stage(tmp_path, MISSING, {"a": AgentError("gone"), "b": "b's note", "last": "done"})
    assert stage.drive().status == "completed"
    assert "a gave no output this round" in stage.asked("R1/1/last")


# --- expressions ---

LOOP = "(() => { while (true) {} })()"
HOARD = "(() => { const all = []; while (true) all.push('x'.repeat(100000)); })()"


def guarded(when: str = "true", condition: str = "true") -> str:
    return f"""
name: w
agents: {{a: {{}}}}
phases:
  - id: one
    when: {when!r}
    agents: [a]
    checkpoint: {{condition: {condition!r}, options: [{{label: Go on, then: continue}}]}}
"""


@pytest.mark.parametrize("endless", [LOOP, HOARD], ids=["loops", "hoards"])
def test_a_condition_that_does_not_come_to_an_end_is_asked(tmp_path: Path, endless: str) -> None:
    stage = Stage(tmp_path, guarded(condition=endless), {"a": "done"})
    assert stage.drive().status == "waiting"
    assert stage.labels == ["Go on"]
    assert len(stage.events(ExpressionFailed)) == 1
    assert stage.decide("Go on").status == "completed"


def test_a_condition_that_fails_is_recorded_and_passed_over(tmp_path: Path) -> None:
    stage = Stage(tmp_path, guarded(condition="context.feature.name.first > 1"), {"a": "done"})
    assert stage.drive().status == "completed"
    assert len(stage.events(ExpressionFailed)) == len(stage.events(CheckpointSkipped)) == 1


@pytest.mark.parametrize("endless", [LOOP, HOARD], ids=["loops", "hoards"])
@pytest.mark.parametrize(("ruling", "calls"), [("Count it as true", 1), ("Count it as false", 0)])
def test_a_when_that_does_not_come_to_an_end_is_the_persons_to_answer(
    tmp_path: Path, endless: str, ruling: str, calls: int
) -> None:
    stage = Stage(tmp_path, guarded(when=endless, condition="false"), {"a": "done"})
    assert stage.point.attention
    assert stage.labels == ["Count it as true", "Count it as false", "Try again", "Stop the run"]
    assert "failed" in stage.point.prompt
    assert stage.decide(ruling).status == "completed"
    assert len(stage.agents.calls) == calls
    assert len(stage.events(PhaseSkipped)) == 1 - calls


# --- checks ---


def checked(script: str) -> str:
    return f"""
name: w
agents: {{a: {{command: [sh, -c, "cat >/dev/null; echo done"]}}}}
phases:
  - {{id: one, agents: [a], check: {{script: [sh, -c, {json.dumps(script)}], max: 1}}}}
"""


@pytest.mark.parametrize("ruling", ["Try again", "Go on without it"])
def test_a_check_script_that_fails_is_reported_and_ruled_on(tmp_path: Path, ruling: str) -> None:
    times = tmp_path / "times"
    script = f"cat >/dev/null; if test -e {times}; then exit 0; fi; touch {times}; echo out of order >&2; exit 3"
    stage = Stage(tmp_path / "home", checked(script))
    assert stage.drive().status == "waiting"
    assert "the check of one failed" in stage.point.prompt
    assert "out of order" in stage.point.prompt
    assert stage.decide(ruling).status == "completed"
    assert len(stage.events(CheckPassed)) == 1


def test_a_check_that_is_never_content_stops_at_its_limit_and_names_it(tmp_path: Path) -> None:
    stage = Stage(tmp_path, checked("""cat >/dev/null; echo '{"action": "retry", "say": "no figures"}'"""))
    assert stage.drive().status == "waiting"
    assert "limit check.max (1) of one is reached and the gap is still there: no figures" in stage.point.prompt
    assert len(stage.events(StepClosed)) == 2
