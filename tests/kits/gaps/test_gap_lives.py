"""Looking at gaps: choosing among them, the life of one, open gaps per round; on what the tracker makes of texts."""

from __future__ import annotations

from reconvene.kits.gaps.lives import Choice, bars, chosen, facts_of, find, life_of
from reconvene.kits.gaps.records import Book, opened
from reconvene.kits.gaps.tracker import Config, Sources, settle, track

GIVEN = """
- GAP-FLOW-001 (HIGH, blocking): No error recovery when an agent fails
- GAP-FLOW-002 (MEDIUM): No stall detection
- GAP-UX-001 (LOW): The wording of the first prompt
- GAP-UX-002 (CRITICAL): Nobody can cancel a payment
"""


def proposed(*gaps: str, new: str = "None.", also: str = "") -> str:
    sections = [
        f"## Gap Resolution: {gap}\n\n**Confidence:** HIGH\n\n### Proposed Solution\nDo this for {gap}.\n\n"
        f"### Examples\nOne.\n\n### Trade-offs\nFew.\n\n### New Gaps Introduced\n{new if gap == gaps[0] else 'None.'}\n"
        for gap in gaps
    ]
    return "\n---\n\n".join(sections) + also


def reviewed(n: int, verdicts: dict[str, str], issues: str = "", overall: str = "REVISE") -> str:
    listed = "\n".join(f"{number}. {gap}: It - **{said}**" for number, (gap, said) in enumerate(verdicts.items(), 1))
    return f"## Review: Round {n}\n\n### Proposals Reviewed\n{listed}\n\n### Issues\n{issues}\n\n**{overall}**\n"


def played() -> dict[str, object]:
    """Two closed rounds: one gap resolved in the first, one sent back, one raised; another raised in the second."""
    value = track(None, _round(1, proposed("GAP-FLOW-001", "GAP-FLOW-002", new="- GAP-FLOW-003 (LOW): Wait how long?"),
        reviewed(1, {"GAP-FLOW-001": "needs revision", "GAP-FLOW-002": "APPROVED"},
                 "- ISSUE-R1-001 (HIGH) GAP-FLOW-001: A partial round is not defined.")), Config())  # fmt: skip
    return track(value, _round(2, proposed("GAP-FLOW-001", "GAP-UX-001"),
        reviewed(2, {"GAP-FLOW-001": "APPROVED", "GAP-UX-001": "APPROVED"})), Config())  # fmt: skip


def _round(n: int, proposals: str, review: str, *, closed: bool = True) -> Sources:
    return Sources(n, given=GIVEN, proposals=proposals, review=review, closed=closed)


def ids(book: Book, choice: Choice) -> list[str]:
    return [gap.id for gap in chosen(book, choice)]


def test_open_gaps_come_first_and_the_gravest_among_them() -> None:
    assert ids(opened(played()), Choice()) == [
        "GAP-UX-002", "GAP-FLOW-003", "GAP-FLOW-001", "GAP-FLOW-002", "GAP-UX-001",
    ]  # fmt: skip


def test_every_filter_leaves_out_what_it_says_and_they_combine() -> None:
    book = opened(played())
    assert ids(book, Choice(still_open=True)) == ["GAP-UX-002", "GAP-FLOW-003"]
    assert ids(book, Choice(states=frozenset({"resolved"}))) == ["GAP-FLOW-001", "GAP-FLOW-002", "GAP-UX-001"]
    assert ids(book, Choice(severities=frozenset({"HIGH", "LOW"}))) == ["GAP-FLOW-003", "GAP-FLOW-001", "GAP-UX-001"]
    assert ids(book, Choice(blocking=True)) == ["GAP-UX-002", "GAP-FLOW-001"]
    assert ids(book, Choice(raised_in=2)) == []
    assert ids(book, Choice(blocking=True, still_open=True)) == ["GAP-UX-002"]


def test_the_bars_are_the_gaps_open_at_the_start_and_after_each_round() -> None:
    found = bars(opened(played()))
    assert [(bar.label, bar.counts) for bar in found] == [
        ("start", {"CRITICAL": 1, "HIGH": 1, "MEDIUM": 1, "LOW": 1}),
        ("round 1", {"CRITICAL": 1, "HIGH": 1, "MEDIUM": 0, "LOW": 2}),
        ("round 2", {"CRITICAL": 1, "HIGH": 0, "MEDIUM": 0, "LOW": 1}),
    ]
    rows = opened(played()).rounds
    assert [bar.total for bar in found] == [rows[0].start, *(row.end for row in rows)]


def test_what_a_person_put_aside_since_shows_as_now() -> None:
    value = played()
    value["orders"] = {"defer": {"GAP-FLOW-003": True}}
    found = bars(opened(settle(value, 2, "ann", "2026-01-01T00:00:00Z")))
    assert [bar.label for bar in found] == ["start", "round 1", "round 2", "now"]
    assert found[-1].counts == {"CRITICAL": 1, "HIGH": 0, "MEDIUM": 0, "LOW": 0}


def test_before_the_first_round_has_closed_there_is_only_now() -> None:
    assert bars(opened(None)) == []
    value = track(None, Sources(1, given=GIVEN, proposals=proposed("GAP-FLOW-001", new="- GAP-X-001: Y")), Config())
    assert [(bar.label, bar.total) for bar in bars(opened(value))] == [("now", 5)]


def test_a_duplicate_in_the_list_is_not_counted_at_the_start() -> None:
    twice = GIVEN + "- GAP-FLOW-009 (HIGH): No error recovery when an agent fails\n"
    value = track(None, Sources(1, given=twice, proposals="", review="", closed=True), Config())
    book = opened(value)
    assert bars(book)[0].total == book.rounds[0].start == 4


def test_the_life_of_a_gap_is_told_round_by_round() -> None:
    book = opened(played())
    gap = find(book, " gap-flow-001 ")
    assert gap is not None
    life = life_of(book, gap)
    assert [(moment.round, moment.what, moment.text.split(":")[0], moment.by) for moment in life.moments] == [
        (1, "state", "open", "person"),
        (1, "state", "proposed", "engineer"),
        (1, "state", "needs revision", "reviewer"),
        (1, "issue", life.moments[3].text.split(":")[0], ""),
        (2, "state", "proposed", "engineer"),
        (2, "state", "resolved", "reviewer"),
    ]
    assert life.moments[3].text.startswith("ISSUE-R1-001 (HIGH, ")
    assert [issue.id for issue in life.issues] == ["ISSUE-R1-001"]


def test_a_life_holds_decisions_relations_and_what_it_was_split_into() -> None:
    value = played()
    value["orders"] = {"defer": {"GAP-FLOW-003": True}, "rationale": "not now"}
    book = opened(settle(value, 2, "ann", "2026-01-01T00:00:00Z"))
    gap = find(book, "GAP-FLOW-003")
    assert gap is not None
    life = life_of(book, gap)
    assert [(decision.by, decision.decision) for decision in life.decisions] == [("ann", "deferred")]
    assert [(moment.what, moment.by) for moment in life.moments][-2:] == [("state", "ann"), ("decision", "ann")]
    assert "not now" in life.moments[-1].text


def test_gaps_that_wait_for_one_another_name_each_other() -> None:
    text = "- GAP-A-001: One thing\n\n## GAP-B-001: Another matter\nBlocked by: GAP-A-001\n"
    book = opened(track(None, Sources(0, given=text), Config()))
    one, other = find(book, "GAP-A-001"), find(book, "GAP-B-001")
    assert one is not None
    assert other is not None
    assert [gap.id for gap in life_of(book, other).waits_for] == ["GAP-A-001"]
    assert [gap.id for gap in life_of(book, one).holds_up] == ["GAP-B-001"]


def test_what_a_round_did_is_told_from_its_row_and_without_one_from_the_gaps() -> None:
    facts = facts_of(opened(played()), 1)
    assert facts.addressed == ("GAP-FLOW-001", "GAP-FLOW-002")
    assert (facts.resolved, facts.raised, facts.verdict) == (("GAP-FLOW-002",), ("GAP-FLOW-003",), "REVISE")
    early = track(
        None, Sources(1, given=GIVEN, proposals=proposed("GAP-FLOW-001", new="- GAP-FLOW-007: How?")), Config()
    )
    facts = facts_of(opened(early), 1)
    assert (facts.addressed, facts.resolved, facts.raised) == (("GAP-FLOW-001",), (), ("GAP-FLOW-007",))
