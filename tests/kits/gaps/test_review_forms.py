"""Reviews as models really write them, by somebody who has not seen the reader: read with precision and recall."""

from __future__ import annotations

import pytest
from measured_reviews import Count, Form, forms, measured

EVERY = forms()


@pytest.mark.parametrize("part", ["verdicts", "issues", "issues' states", "issues' severities", "gaps", "differences"])
def test_what_reviews_say_is_read_right(part: str):
    count = measured(EVERY)[part]
    assert count.precision >= 0.97, count.wrong
    assert count.recall >= 0.97, count.wrong


@pytest.mark.parametrize("form", EVERY, ids=lambda form: form.name)
def test_no_doubtful_form_is_read_as_an_approval_without_a_doubt(form: Form):
    certain = {one.gap for one in form.read.verdicts if not one.doubt and one.verdict.startswith("approved")}
    assert not certain & set(form.truth["doubtful"])


def test_a_wrong_reading_would_be_seen():
    form = EVERY[0]
    truth = {**form.truth, "verdicts": {**form.truth["verdicts"], "GAP-FLOW-001": "rejected"}, "issues": []}
    counts = measured([Form(form.name, form.text, truth)])
    assert counts["verdicts"].recall < 1
    assert counts["verdicts"].precision < 1
    assert counts["issues"].precision == 0
    assert str(Count(1, 2, 4)) == "precision 0.500, recall 0.250 (1 of 4, 2 found)"
