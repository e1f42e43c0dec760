"""The gap tracker's place in a run: what it knows while a round is under way, and after it was undone."""

from __future__ import annotations

from reconvene.kits.gaps.records import opened
from reconvene.testing.play import Play
from reconvene.wire.workflow_file import parse_workflow

CLOSE = """
name: close
inputs: {gaps: text}
agents: {engineer: {retries: 0}, reviewer: {retries: 0}}
phases:
  - id: refine
    rounds: {max: 3, until: context.gaps.complete}
    track: {kit: gaps, into: gaps, given: inputs.gaps, proposals: proposals, review: review}
    steps: [{agents: [engineer], output: proposals}, {agents: [reviewer], output: review}]
    checkpoint:
      options:
        - {label: Continue, then: continue}
        - {label: Redo, undo: true, then: again, fields: [{id: reason, type: text, into: gaps.orders.redo.reason}]}
"""
GIVEN = "- GAP-A-001 (HIGH): No error recovery when an agent fails\n- GAP-A-002 (LOW): Names are vague\n"
PROPOSAL = "## Gap Resolution: GAP-A-001\n\n**Confidence:** HIGH\n\n### Proposed Solution\nRetry twice, then ask.\n"
REVIEW = "## Review: Round 1\n\n1. GAP-A-001: Recovery - **APPROVED**\n\n- [x] Examples are there\n\n**REVISE**\n"


def test_the_retry_of_the_first_round_knows_the_gaps_that_were_given() -> None:
    play = Play(parse_workflow(CLOSE), {"gaps": GIVEN})
    play.finish("engineer", PROPOSAL)
    play.finish("reviewer", REVIEW)
    play.decide("Redo", fields={"reason": "too thin"})
    play.finish("engineer", PROPOSAL)
    play.finish("reviewer", REVIEW)
    assert play.labels == ["Continue", "Redo"], "an output was sent back for gaps that the person had listed"
    book = opened(play.context()["gaps"])
    assert [(gap.id, gap.state) for gap in book.gaps.values()] == [("GAP-A-001", "resolved"), ("GAP-A-002", "open")]
    assert [redo.reason for redo in book.redos] == ["too thin"]


def test_an_output_about_a_gap_that_nobody_listed_is_sent_back_from_the_first_round_on() -> None:
    play = Play(parse_workflow(CLOSE), {"gaps": GIVEN})
    (ended, *_) = play.finish("engineer", PROPOSAL.replace("A-001", "A-009"))
    assert ended.verdict == "rejected"  # type: ignore[union-attr]
    assert "GAP-A-009" in ended.why  # type: ignore[union-attr]


def test_a_proposal_is_found_where_the_workflow_keeps_it() -> None:
    written = CLOSE.replace("output: proposals}", 'output: proposals, writes: ["pass {{ round.n }}/answer.txt"]}')
    play = Play(parse_workflow(written), {"gaps": GIVEN})
    play.finish("engineer", PROPOSAL, files={"pass 1/answer.txt": PROPOSAL})
    assert _where(play) == "pass 1/answer.txt, lines 1–6"
    loose = Play(parse_workflow(CLOSE), {"gaps": GIVEN})
    loose.finish("engineer", PROPOSAL)
    assert _where(loose) == "the proposals of round 1, lines 1–6"


def _where(play: Play) -> str:
    proposal = opened(play.context()["gaps"]).gaps["GAP-A-001"].proposal
    assert proposal is not None
    return proposal.where
