"""What outputs prove of remarks: no lie is believed, and every real change is seen."""

from __future__ import annotations

import pytest

from evidence_cases import Judged, count, folder, judged, judged_in

ROWS = list(judged(folder()))


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.case}-{row.id}")
def test_nothing_counts_as_answered_that_is_not(row: Judged) -> None:
    assert not row.false_closing, f"{row.entry.status}: {row.entry.standing}"


def test_nine_of_ten_real_changes_are_seen() -> None:
    counted = count(ROWS)
    assert counted.real
    assert counted.seen >= 0.9 * counted.real, str(counted)


def test_what_was_declined_with_a_reason_is_declined() -> None:
    counted = count(ROWS)
    assert counted.known_declined == counted.declined


DEPOT = "# Plan\n\nWe run the depot with 40 staff and two shifts.\n\n## Notes\n\nStaff is the main cost."
STAFF = "The depot has 46 staff, not 40"
QUARRY = "Mention that the quarry permit excludes blasting"


def status(said: str, kind: str, before: str, after: str) -> str:
    remark = {"id": "FB-001", "text": said, "kind": kind, "target": ""}
    texts = {"before": {"output": before, "files": {}}, "after": {"output": after, "files": {}}}
    case = {
        "id": "",
        "kind": "",
        "remarks": [remark],
        "agents": {"a": texts},
        "expected": {"FB-001": {"state": "open"}},
    }
    (row,) = judged_in(case)
    return row.entry.status


@pytest.mark.parametrize(
    ("said", "after"),
    [
        (STAFF, DEPOT.replace("with 40", "with all") + "\n\nIf the depot had 46 staff, costs would rise."),
        (STAFF, "## 40 staff\n\n" + DEPOT.replace("40", "46")),
        (STAFF, DEPOT.replace("40", "46") + " Forty staff are paid monthly."),
        (STAFF, DEPOT.replace("40 staff", "40 to 46 staff")),
        (STAFF, DEPOT.replace("40 staff", "40 staff rather than 46")),
        (STAFF, DEPOT.replace("40 staff", "46 staff on paper, in practice 40")),
        (f"{STAFF}, and mention the night guard", DEPOT.replace("40", "46")),
        (f"{STAFF}. Say who pays them.", DEPOT.replace("40", "46")),
        (STAFF, DEPOT + "\n\nFB-001: taken up: 46 staff"),
        (STAFF, DEPOT.replace("40", "46") + "\n\nFB-001: taken up, though the base case has 40 staff"),
    ],
)
def test_a_figure_that_was_changed_by_halves_stays_open(said: str, after: str) -> None:
    assert status(said, "correction", DEPOT, after) == "claimed"


@pytest.mark.parametrize(
    "after",
    [DEPOT.replace("40", "46"), DEPOT.replace("40 staff", "46 staff, up from 40,"), DEPOT.replace("40", "46, not 40,")],
)
def test_a_figure_in_the_place_of_the_old_one_is_addressed(after: str) -> None:
    assert status(STAFF, "correction", DEPOT, after) == "addressed"


@pytest.mark.parametrize(
    "new",
    [
        "We looked into whether the quarry permit excludes blasting and found the matter unclear.",
        "The reviewer's remark that the quarry permit excludes blasting was taken into account in our planning.",
        "The quarry permit excludes blasting.",
        "Nobody says that the quarry permit excludes blasting in the eastern pit near the river.",
    ],
)
def test_a_statement_that_is_only_spoken_of_stays_open(new: str) -> None:
    text = f'Work starts soon. {new}\n\nFB-001: taken up: "{new}"'
    assert status(QUARRY, "missing factor", "Work starts soon.", text) == "claimed"


def test_a_statement_that_is_said_and_worked_with_is_addressed() -> None:
    new = "The quarry permit excludes blasting, so the rock is cut with saws by a contractor."
    text = f'Work starts soon. {new}\n\nFB-001: taken up: "The quarry permit excludes blasting"'
    assert status(QUARRY, "missing factor", "Work starts soon.", text) == "addressed"
    also = text + "\n\nThe permit of the quarry is old."
    assert status(QUARRY, "missing factor", "Work starts soon.", also) == "claimed", "another sentence is about it"


@pytest.mark.parametrize(
    "words",
    ["declined", "declined: noted", "declined: out of scope", "declined: no change needed", "declined: see above"],
)
def test_declining_without_a_reason_of_its_own_answers_nothing(words: str) -> None:
    assert status("Two shifts cannot run the depot", "comment", DEPOT, f"{DEPOT}\n\nFB-001: {words}") == "claimed"


@pytest.mark.parametrize(
    "after",
    [
        "Debt is as before. Revenue is 150M.",
        "It is wrong that debt is 150M.",
        "Is debt 150M?",
        "The person holds that debt is 150M; we compute with the earlier figure.",
        "Debt is as before. <!-- Debt is 150M. -->",
        "Debt is 150M.\n\nAll ratios use debt of 2\u200b0M.",
        "Debt is 150M.\n\nAll ratios use debt of 2**0**M.",
    ],
)
def test_a_figure_that_is_not_held_or_an_old_one_in_disguise_proves_nothing(after: str) -> None:
    assert status("Debt is 150M, not 20M", "correction", "Debt is 20M.", after) != "addressed"
