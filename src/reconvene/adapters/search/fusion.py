"""A ranking by words and one by meaning as one: reciprocal rank fusion, and a place that words cannot lose. Pure.

Scores of full text and of vectors cannot be compared, ranks can. What both find stands before what one of them finds.
But where a passage holds most of the words that were asked for, full text is seldom wrong: what it puts among the first
and is sure of stays there. Meaning then orders the first places and fills those that are left.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Sequence
from typing import TypeVar

FIRST = 3  # places that a person looks at before anything else
_FLAT = 10  # the greater, the less the first places count

T = TypeVar("T", bound=Hashable)


def fused(words: Sequence[T], meaning: Sequence[T] = (), sure: Collection[T] = ()) -> list[tuple[T, float]]:
    """The best first, with their scores. sure: of the first by words, those that hold most of what was asked."""
    scores: dict[T, float] = {}
    for ranking in (words, meaning):
        for rank, one in enumerate(ranking, 1):
            scores[one] = scores.get(one, 0.0) + 1 / (_FLAT + rank)
    ranked = sorted(scores, key=lambda one: -scores[one])  # of equals, what words found comes first
    held = [one for one in words[:FIRST] if one in sure]
    others = [one for one in ranked if one not in held]
    kept = {*held, *others[: FIRST - len(held)]}
    return [(one, scores[one]) for one in sorted(ranked, key=lambda one: one not in kept)]
