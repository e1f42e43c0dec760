"""Reviews as models really write them: read with precision and recall, and no doubtful one as an approval.

Forms 01 to 28 are by somebody who had not seen the reader, 51 to 68 by its author before it could read them.
"""

from __future__ import annotations

import pytest
from measured_reviews import Count, Form, forms, measured

from reconvene.kits.gaps.review import review_in
from reconvene.kits.gaps.review_places import About

EVERY = forms()
NO_APPROVAL = [
    "I would approve this if the limit were named.",
    "Approved? Not yet.",
    "The Engineer says that this is approved.",
    "This was approved in round 1, but the text has changed since.",
    "It is not clear to me why this should be approved.",
    "I'd love to approve this, but the limit is missing.",
    "Once the limit is named, I approve it.",
    "I approve it once the limit is named.",
    "I accept that the limit is hard to name, but it has to be named.",
    "I accept the argument, not the proposal.",
    "The order is accepted, and the parcel is sent.",
    "A refund is approved when the parcel arrives.",
    "Ready for another round.",
    "Almost approved.",
    "It should be approved by legal first.",
    "I recommend not to approve it.",
    "Can it be approved? Not before the limit is named.",
    "Should this be approved? Yes and no.",
    "Accepted with reservations.",
    "The user must decide whether it is approved.",
    "My first impression: approved. On second reading: no.",
    "Looks good at first sight; needs revision.",
    "I withdraw my approval.",
    "Approval pending.",
    "Resolved? No.",
    "Passes none of the checks.",
]


@pytest.mark.parametrize("part", ["verdicts", "issues", "issues' states", "issues' severities", "gaps", "differences"])
def test_what_reviews_say_is_read_right(part: str):
    count = measured(EVERY)[part]
    assert count.precision >= 0.97, count.wrong
    assert count.recall >= 0.97, count.wrong


@pytest.mark.parametrize("form", EVERY, ids=lambda form: form.name)
def test_no_doubtful_form_is_read_as_an_approval_without_a_doubt(form: Form):
    certain = {one.gap for one in form.read.verdicts if not one.doubt and one.verdict.startswith("approved")}
    assert not certain & set(form.truth["doubtful"])


@pytest.mark.parametrize("above", ["", "### Verdict\n\n"], ids=["in running text", "as a verdict"])
@pytest.mark.parametrize("said", NO_APPROVAL)
def test_words_of_approval_that_are_none_approve_nothing_for_certain(said: str, above: str):
    about = About((("GAP-FLOW-001", "Retries"),), ("GAP-FLOW-001",))
    read = review_in(f"## Review: GAP-FLOW-001\n\n{above}{said}\n", 2, about)
    assert not [one for one in read.verdicts if one.verdict.startswith("approved") and not one.doubt]


@pytest.mark.parametrize("said", ["Approved.", "I approve this.", "In my view this can be approved as it stands."])
def test_a_plain_approval_in_running_text_is_certain(said: str):
    about = About((("GAP-FLOW-001", "Retries"),), ("GAP-FLOW-001",))
    (judged,) = review_in(f"## Review: GAP-FLOW-001\n\nThe table is complete.\n\n{said}\n", 2, about).verdicts
    assert (judged.verdict, judged.doubt) == ("approved", "")


def test_a_wrong_reading_would_be_seen():
    form = EVERY[0]
    truth = {**form.truth, "verdicts": {**form.truth["verdicts"], "GAP-FLOW-001": "rejected"}, "issues": []}
    counts = measured([Form(form.name, form.text, truth)])
    assert counts["verdicts"].recall < 1
    assert counts["verdicts"].precision < 1
    assert counts["issues"].precision == 0
    assert str(Count(1, 2, 4)) == "precision 0.500, recall 0.250 (1 of 4, 2 found)"
