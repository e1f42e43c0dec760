"""Questions that are put to an agent once, about an output that is not wrong: which of two things it means, how grave a
new gap is. Given again as it was, the output stands, and a person sees it.
"""

from __future__ import annotations

from reconvene.core.extensions import Judged, Objection
from reconvene.kits.gaps.gap_ids import ISSUE
from reconvene.kits.gaps.outputs import Review
from reconvene.kits.gaps.proposals import proposals_in
from reconvene.kits.gaps.review import review_in
from reconvene.kits.gaps.verdicts import APPROVALS
from reconvene.kits.gaps.vocabulary import GRAVE


def one_meaning(output: Judged) -> Objection | None:
    """An approval beside a new grave issue, or beside a ruling that is not followed, on the same gap."""
    if not output.first:
        return None
    round = max((int(found[1] or 0) for found in ISSUE.finditer(output.text)), default=0)
    review = review_in(output.text, round)
    asked = [*_graves(review, round), *_rulings(review)]
    if not asked:
        return None
    why = "; ".join(dict.fromkeys(asked))
    return Objection("CONTRADICTION", f"{why}. Which is meant? Put one of the two right, or say why both stand.")


def _graves(review: Review, round: int) -> list[str]:
    approved = {one.gap for one in review.verdicts if one.verdict in APPROVALS and one.gap}
    fresh = [
        one for one in review.issues if one.state == "open" and (not one.id or one.id.startswith(f"ISSUE-R{round}-"))
    ]
    return [
        f"{one.gap} is approved, and {one.id or 'an issue'} ({one.severity}) is raised on it"
        for one in fresh
        if one.gap in approved and one.severity in GRAVE
    ]


def _rulings(review: Review) -> list[str]:
    approved = bool(review.verdicts) and all(one.verdict in APPROVALS for one in review.verdicts)
    return [
        f"{one.id} is not followed, and everything is approved"
        for one in review.rulings
        if approved and not one.followed
    ]


def rated(output: Judged) -> Objection | None:
    """New gaps of the engineer without a severity."""
    if not output.first:
        return None
    found = proposals_in(output.text, 1)
    new = [*(one for solved in found.resolutions for one in solved.new), *found.new]
    bare = [one.id or one.title for one in new if one.severity is None and not one.parent]
    if not bare:
        return None
    names = ", ".join(bare[:8])
    form = "`- GAP-AREA-NNN (HIGH): the question`"
    return Objection("UNRATED", f"say how grave each new gap is ({names}): {form}, by the definitions you were given.")
