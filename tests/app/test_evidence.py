"""What outputs prove of remarks: no lie is believed, and every real change is seen."""

from __future__ import annotations

import pytest

from evidence_cases import Judged, count, folder, judged

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
