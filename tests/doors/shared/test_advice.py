"""What stands beside a checkpoint, in lines: from structs alone, without a run and without a terminal."""

from __future__ import annotations

from reconvene.app.views.beside import OpenRemark, Preview, Review, Route
from reconvene.app.views.estimates import Estimate
from reconvene.app.views.ratings import Meter
from reconvene.app.views.read_model import Change, Checkpoint
from reconvene.app.views.remark_lives import Entry, ledger_of
from reconvene.doors.shared.advice import changed_lines, never_answered, preview_line, reasons, sections, weighed
from reconvene.doors.shared.remarks import said_in

from .made import remark

ESTIMATE = Estimate(3.0, 2, None, None, "from 4 measured tasks of this run", 4)
DEBT = "it speaks of debt"
ROUTES = (Route("economist", "remit", DEBT), Route("banker", "remit", DEBT), Route("contrarian", "always", ""))
PREVIEW = Preview("One more round", ROUTES, ESTIMATE, ESTIMATE.line())
HERE = remark("FB-002", "Debt is too high", "correction", level="major", reason="a figure changes by 40 %")


def told(review: Review, *, brief: bool = False) -> dict[str, tuple[str, ...]]:
    return {one.title: one.lines for one in sections(review, ledger="LEDGER", whole="WHOLE", brief=brief)}


def test_a_preview_names_who_would_run_and_why_together_where_the_reason_is_the_same() -> None:
    assert preview_line(PREVIEW) == (
        "One more round: economist, banker (remit: it speaks of debt), contrarian (always): "
        "about 3 min, 2 agent calls (from 4 measured tasks of this run)"
    )
    assert reasons(Review((), (), PREVIEW))["contrarian"] == "always"
    assert reasons(Review((), ())) == reasons(None) == {}


def test_what_was_said_here_is_not_told_again_among_what_nobody_answered() -> None:
    review = Review((HERE,), (OpenRemark("FB-001", "comment", "shorter"), OpenRemark("FB-002", "correction", "Debt")))
    assert told(review) == {"still open": ("FB-001 comment: shorter", "all of them: LEDGER")}
    assert told(review, brief=True) == {}


def test_long_lists_are_cut_and_say_where_the_rest_is() -> None:
    meter = Meter(lines=tuple(f"line {number}" for number in range(30)))
    found = told(Review((), tuple(OpenRemark(f"FB-{n:03}", "comment", "x") for n in range(1, 11)), None, meter))
    assert found["still open"][-2:] == ("… and 2 more", "all of them: LEDGER")
    assert found["would another round change anything?"][-2:] == ("line 23", "  … 6 more lines: WHOLE")


def test_after_another_remark_only_what_it_may_have_changed_is_told() -> None:
    review = Review((HERE,), (OpenRemark("FB-001", "comment", "shorter"),), PREVIEW, Meter(lines=("one",)))
    assert list(told(review, brief=True)) == ["another round"]
    assert list(told(review)) == [
        "still open",
        "would another round change anything?",
        "another round",
    ]


def test_a_remark_is_told_with_what_it_weighs_and_nothing_in_it_reaches_a_terminal() -> None:
    assert weighed(HERE) == "▲ FB-002 correction, major: a figure changes by 40 %"
    assert weighed(remark("FB-003", "thanks")) == "· FB-003 comment"
    figures = remark("FB-004", "It is \x1b[31m3x\nnot 4x", "correction", was="4x", now="3x", target="banker")
    assert said_in(figures) == "correction to banker: It is 3x not 4x   [4x → 3x]"


def test_what_nobody_answered_is_named_at_the_end() -> None:
    left = tuple(Entry(f"FB-00{n}", n, "comment", f"remark {n}", "") for n in range(1, 5))
    answered = Entry("FB-009", 9, "comment", "done", "", status="addressed", open=False)
    assert never_answered(ledger_of((answered,)), "LEDGER") == ""
    assert never_answered(ledger_of((*left[:1], answered)), "LEDGER") == (
        "1 remark is still open: FB-001 remark 1; see: LEDGER"
    )
    assert never_answered(ledger_of(left), "LEDGER").startswith("4 remarks are still open: FB-001 remark 1; FB")


def test_those_who_say_the_same_are_named_together_and_more_than_four_are_only_named() -> None:
    lines = changed_lines(point(*(Change(f"a{n}", f"It was {max(n, 2)}.") for n in range(1, 8))))
    assert lines[0] == "What changed since the round before:"
    assert lines[1:4] == ["  a1, a2", "    was: It was 2.", "    is:  (no longer said)"]
    assert lines[-1] == "  also changed: a6, a7"
    assert changed_lines(point()) == []


def point(*changed: Change, since_try: bool = False) -> Checkpoint:
    return Checkpoint("c", "Good?", (), (), "d", "waiting", False, "", changed=changed, since_try=since_try)


def test_what_is_no_sentence_is_named_with_its_agent() -> None:
    rows = (Change("ann", "Was.", "Is.", ("a table",)), Change("bob", also=("code", "the order")))
    lines = changed_lines(point(*rows, since_try=True))
    assert lines[0] == "What changed since the try you took back:"
    assert lines[1:5] == ["  ann", "    was: Was.", "    is:  Is.", "    also a table"]
    assert lines[-1] == "  also changed: bob (code, the order)"
