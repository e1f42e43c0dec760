"""Which texts speak of the same things: by the words of substance they share, rare ones counting more."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping

from reconvene.kits.reading import terms, tongues

MOST = 3


def nearest(text: str, others: Mapping[str, str], most: int = MOST) -> tuple[str, ...]:
    """The names of the texts most like this one, nearest first; ties in the order given. Of no text: the first."""
    if not text:
        return tuple(others)[:most]
    tongue = tongues.of(text)
    bags = {name: set(terms.content(other, tongue)) for name, other in others.items()}
    spread = Counter(word for bag in bags.values() for word in bag)
    weight = {word: math.log(1 + len(bags) / count) for word, count in spread.items()}
    mine = set(terms.content(text, tongue))

    def likeness(name: str) -> float:
        bag = bags[name]
        whole = math.sqrt(sum(weight[word] for word in bag)) or 1.0
        return sum(weight[word] for word in bag & mine) / whole

    return tuple(sorted(others, key=likeness, reverse=True)[:most])
