"""The four checkpoint patterns as packaged workflows: every option of each, through the real engine."""

from __future__ import annotations

import sqlite3
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
import yaml

from reconvene.prompts.documents import tokens
from reconvene.wire import replies
from reconvene.wire.packaged import packaged
from reconvene.wire.workflow_file import load_workflow

from .conftest import WORKFLOWS, Sit

SNIPPETS = Path(__file__).parents[1] / "fixtures" / "seed004"
PATTERNS = {
    "review-before-changes": "07-pattern-review.yaml",
    "quality-gate": "08-pattern-quality-gate.yaml",
    "skip-optional": "09-pattern-skip-optional.yaml",
    "early-exit": "10-pattern-early-exit.yaml",
}


@pytest.mark.parametrize("name", PATTERNS)
def test_the_checkpoint_is_the_one_of_the_specification_unchanged(name: str) -> None:
    (wanted,) = yaml.safe_load((SNIPPETS / PATTERNS[name]).read_text(encoding="utf-8"))
    phases = yaml.safe_load((WORKFLOWS / name / "workflow.yaml").read_text(encoding="utf-8"))["phases"]
    (found,) = [phase for phase in phases if phase["id"] == wanted["id"]]
    assert found["checkpoint"] == wanted["checkpoint"]


# --- review before changes ------------------------------------------------------------------------------------------


def test_nothing_is_changed_before_the_plan_was_reviewed(sit: Sit) -> None:
    table = sit("review-before-changes")
    assert table.state.status == "waiting"
    assert table.open.phase == "implementation"
    assert [Path(path).name for path in table.open.show_files] == ["plan.md"]
    assert table.files == ["plan.md"]
    assert "Revision 1" in table.file("plan.md")


def test_a_plan_that_looks_good_is_carried_out(sit: Sit) -> None:
    table = sit("review-before-changes").decide("Looks good, proceed")
    assert table.state.status == "completed"
    assert table.files == ["CHANGES.md", "bank_transfer.py", "plan.md"]
    assert table.counts == {"planning": 1, "implementation": 1, "changes": 1}
    assert table.decisions == [("implementation", "continue")]
    code = python(table.file("bank_transfer.py"))
    assert code["offered"](set())
    assert code["reference"](1234) != code["reference"](1243)


def test_a_remark_changes_the_plan_and_the_code_made_from_it(sit: Sit) -> None:
    table = sit("review-before-changes")
    first = table.file("plan.md")
    table.decide("Revise plan", "new context: keep it behind a flag, so that support can switch it off")
    second = table.file("plan.md")
    assert "flag" not in first
    assert "Revision 2, after [FB-001]" in second
    assert "behind the flag `bank_transfer`" in second
    table.decide("Looks good, proceed")
    assert table.counts == {"planning": 2, "implementation": 2, "changes": 1}
    assert table.decisions[0][:3] == ("implementation", "repeat_phase", "planning")
    assert "keep it behind a flag" in table.decisions[0][3]
    code = python(table.file("bank_transfer.py"))
    assert not code["offered"](set())
    assert code["offered"]({"bank_transfer"})


def test_revising_without_a_word_still_gives_another_plan(sit: Sit) -> None:
    table = sit("review-before-changes")
    first = table.file("plan.md")
    table.decide("Revise plan")
    assert "Try the migration on a copy" not in first
    assert "Try the migration on a copy" in table.file("plan.md")


@pytest.mark.parametrize(
    ("said", "step"),
    [
        ("tests first please", "Write the failing tests first"),
        ("how do we roll back?", "takes them out again"),
        ("a smaller first version", "by hand, from a list"),
        ("ask the tax office", 'Settle with whoever asked: "ask the tax office" [FB-001]'),
    ],
)
def test_whatever_is_said_becomes_part_of_the_plan(sit: Sit, said: str, step: str) -> None:
    assert step in sit("review-before-changes").decide("Revise plan", said).file("plan.md")


# --- quality gate ---------------------------------------------------------------------------------------------------


def test_a_production_feature_waits_for_a_person(sit: Sit) -> None:
    table = sit("quality-gate")
    assert table.open.prompt == "All tests passing?"
    assert "2 passed, 2 failed" in table.file("test-report.md")
    assert really_failing(table.file("checkout.py")) == 2


def test_going_on_with_failing_tests_is_the_persons_choice_and_is_written_down(sit: Sit) -> None:
    table = sit("quality-gate").decide("Yes, continue")
    assert table.state.status == "completed"
    assert "2 failing tests" in table.file("release-notes.md")
    assert table.decisions == [("testing", "continue")]
    assert table.counts == {"implementation": 1, "testing": 1, "release": 1}


def test_each_fix_leaves_fewer_failing_tests(sit: Sit) -> None:
    table = sit("quality-gate").decide("No, fix tests")
    assert "Run 2: 3 passed, 1 failed" in table.file("test-report.md")
    assert really_failing(table.file("checkout.py")) == 1
    table.decide("No, fix tests")
    assert "Run 3: 4 passed, 0 failed" in table.file("test-report.md")
    assert really_failing(table.file("checkout.py")) == 0
    table.decide("Yes, continue")
    assert table.counts == {"implementation": 1, "testing": 3, "release": 1}
    assert table.decisions == [("testing", "repeat_phase", "testing")] * 2 + [("testing", "continue")]
    assert "All tests pass." in table.file("release-notes.md")


def test_the_fault_that_the_person_names_is_mended_first(sit: Sit) -> None:
    first = sit("quality-gate").decide("No, fix tests").file("checkout.py")
    named = sit("quality-gate").decide("No, fix tests", "expired carts matter most").file("checkout.py")
    assert "raise Expired" not in first
    assert "raise Expired" in named
    assert "rounding=ROUND_HALF_EVEN" in first
    assert "rounding=ROUND_HALF_EVEN" not in named


@pytest.mark.parametrize("feature", [{"name": "checkout", "flags": ["beta"]}, {"name": "checkout"}])
def test_other_features_pass_the_gate_unasked(sit: Sit, feature: dict[str, object]) -> None:
    table = sit("quality-gate", {"feature": feature})
    assert table.state.status == "completed"
    assert len(table.state.record.decisions) == 0
    assert "release-notes.md" in table.files


# --- skip optional --------------------------------------------------------------------------------------------------


def test_the_optional_phase_runs_when_it_is_wanted_now(sit: Sit) -> None:
    table = sit("skip-optional").decide("Optimize now")
    assert table.state.status == "completed"
    assert table.files == ["profile.md", "report.md", "report.sql", "tuning.md"]
    assert "Tuned" in table.file("report.md")
    assert table.context["skip_phases"] == []
    assert table.counts["performance_tuning"] == 1


def test_the_optional_phase_is_skipped_and_the_reason_is_kept_and_used(sit: Sit) -> None:
    table = sit("skip-optional").decide("Skip for now", "It runs once a month, at night.")
    assert table.state.status == "completed"
    assert table.files == ["profile.md", "report.md", "report.sql"]
    assert "It runs once a month, at night." in table.file("report.md")
    assert table.context["skip_phases"] == ["performance_tuning"]
    assert "performance_tuning" not in table.counts
    assert table.decisions == [
        ("optimization", "skip_phases", "['performance_tuning']", "It runs once a month, at night.")
    ]


def test_skipping_needs_no_reason(sit: Sit) -> None:
    table = sit("skip-optional").decide("Skip for now")
    assert table.state.status == "completed"
    assert "because" not in table.file("report.md")


def test_both_forms_of_the_report_are_sql_that_gives_the_same_rows(sit: Sit) -> None:
    table = sit("skip-optional")
    before = rows(table.file("report.sql"))
    after = rows(table.decide("Optimize now").file("report.sql"))
    assert before == after != []


# --- early exit -----------------------------------------------------------------------------------------------------


def test_critical_issues_are_shown(sit: Sit) -> None:
    table = sit("early-exit")
    assert [Path(path).name for path in table.open.show_files] == ["validation-report.md"]
    assert "Critical issues: 3" in table.file("validation-report.md")


def test_a_retry_has_fewer_issues_and_a_clean_one_needs_nobody(sit: Sit) -> None:
    table = sit("early-exit").decide("Fix and retry")
    assert "Critical issues: 1" in table.file("validation-report.md")
    table.decide("Fix and retry")
    assert "Critical issues: 0" in table.file("validation-report.md")
    assert table.state.status == "completed"
    assert table.state.outcome == "validated"
    assert table.counts == {"import": 1, "validation": 3}
    assert table.decisions == [("validation", "repeat_phase", "validation")] * 2


def test_what_the_person_calls_intended_is_no_longer_critical(sit: Sit) -> None:
    table = sit("early-exit").decide("Fix and retry", "clarification: the shared number is intended")
    assert table.state.status == "completed"
    assert "has the number of Dahl AS (intended, as you said)" in table.file("validation-report.md")


def test_aborting_ends_the_run_and_keeps_why(sit: Sit) -> None:
    table = sit("early-exit").decide("Abort workflow", "Sales must settle the numbers first")
    assert table.state.status == "aborted"
    assert table.decisions == [("validation", "abort", "Sales must settle the numbers first")]
    assert table.files == ["customers.csv", "validation-report.md"]


def test_retrying_for_ever_is_stopped_by_a_limit_that_is_named(sit: Sit) -> None:
    table = sit("quality-gate")
    for _ in range(9):
        table.decide("No, fix tests")
    fix = next(option for option in table.open.options if option.label == "No, fix tests")
    assert not fix.available
    assert "limit entries (10" in fix.why_not
    assert table.decide("Yes, continue").state.status == "completed"


# --- what agents wrote, put to the test -----------------------------------------------------------------------------


def python(source: str) -> dict[str, Any]:
    names: dict[str, Any] = {}
    exec(compile(source, "written by an agent", "exec"), names)
    return names


def really_failing(source: str) -> int:
    """The report is not only words: its two doubtful tests, done on the code."""
    code = python(source)
    rounded = code["total"]([Decimal("0.005")]) == Decimal("0.00")
    try:
        code["pay"]([Decimal(1)], 31)
        refused = False
    except code["Expired"]:
        refused = True
    return [rounded, refused].count(False)


def rows(sql: str) -> list[tuple[object, ...]]:
    database = sqlite3.connect(":memory:")
    database.executescript(
        "CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT);"
        "CREATE TABLE orders (customer INTEGER, placed TEXT, total INTEGER);"
        "INSERT INTO customers VALUES (1, 'Adler'), (2, 'Brook');"
        "INSERT INTO orders VALUES (1, '2025-01-03', 5), (1, '2025-01-09', 6), (2, '2025-02-01', 7);"
    )
    *before, last = [part for part in sql.split(";") if part.strip()]
    for statement in before:
        database.execute(statement)
    found = sorted(database.execute(last).fetchall())
    database.close()
    return found


@pytest.mark.parametrize("name", PATTERNS)
def test_a_model_that_plays_it_is_told_what_to_do_and_shown_an_example(name: str) -> None:
    workflow = load_workflow(packaged()[name])
    for agent in workflow.agents.values():
        assert agent.prompt.startswith("You "), agent.name
        assert "xample" in agent.prompt
        assert "about another matter" in agent.prompt
        assert tokens(agent.prompt) < 300


def test_what_the_check_of_early_exit_asks_for_is_promised_by_the_validator() -> None:
    schema = load_workflow(packaged()["early-exit"]).agents["validator"].schema
    assert isinstance(schema, dict)
    assert "critical" in schema["required"]
    assert replies.validate(schema, schema["examples"][0]) == []
