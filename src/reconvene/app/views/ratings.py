"""The stop meter: what the last round changed, what another would likely change, and where people disagree for good.

Agents rate items from 1 to 9. Per item: median, spread, and disagreement by the RAND/UCLA rule (the interpercentile
range IPR = P70 − P30 is larger than the range adjusted for symmetry, IPRAS = 2.35 + 1.5·|5 − (P30 + P70)/2|).

An item is STABLE between the last two rounds in which it was rated when all four hold:
  its median stays in the same band (1–3, 4–6, 7–9; a median of 3.5 or 6.5 belongs to the higher one),
  the median moves by at most 1, disagreement neither appears nor vanishes,
  and at most a quarter of those who rated it both times moved by 2 or more.
Fewer than two common raters: stability is unknown.

Whoever stands three or more from the median, in another band, stands apart: named with the reason given, and such an
item is never called settled, whatever the rule says of the others. Who was not asked in the last round keeps the rating
given before; nobody knows whether it still holds, so that is not called stable either.

A stable disagreement is a finding, told with the best argument of each side, never averaged away. All of it is advice:
nothing here stops or starts a round. Knows ratings; nothing of where they come from.
"""

from __future__ import annotations

import statistics
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from reconvene.app.views.rating_replies import HIGHEST, LOWEST, Rating, Ratings, identity, parse_ratings, same_item

__all__ = ["Argument", "ItemMeter", "Joined", "Meter", "Move", "Rating", "Ratings", "Spread", "measure",
           "parse_ratings", "percentile", "spread", "with_unheard"]  # fmt: skip

MOST_MEDIAN_SHIFT = 1.0
MOST_MOVERS = 0.25
MOVED = 2.0

APART = 3.0  # from the median
_BARS = "·▁▂▃▄▅▆▇█"

Verdict = Literal["settled", "open", "disagreement", "single", "apart", "unasked"]


class Spread(Struct, frozen=True):
    """One item in one round."""

    n: int
    median: float
    low: float
    high: float
    p30: float
    p70: float
    ipr: float
    ipras: float
    disagreement: bool  # IPR > IPRAS

    @property
    def band(self) -> str:
        return _band(self.median)


def _band(rating: float) -> str:
    return "low" if rating < 3.5 else "middle" if rating < 6.5 else "high"


def percentile(values: Sequence[float], share: float) -> float:
    """By linear interpolation between the sorted values; share 0 is the lowest, 1 the highest."""
    ordered = sorted(values)
    place = (len(ordered) - 1) * share
    below = int(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (place - below)


def spread(values: Sequence[float]) -> Spread:
    p30, p70 = percentile(values, 0.3), percentile(values, 0.7)
    ipr, ipras = _round(p70 - p30), _round(2.35 + 1.5 * abs(5 - (p30 + p70) / 2))
    median = float(statistics.median(values))
    return Spread(len(values), median, min(values), max(values), _round(p30), _round(p70), ipr, ipras, ipr > ipras)


def _round(value: float) -> float:
    """Binary dust must not decide whether IPR > IPRAS."""
    return round(value, 9)


class Move(Struct, frozen=True):
    agent: str
    was: float
    now: float


class Argument(Struct, frozen=True):
    agent: str
    rating: float
    reason: str


class ItemMeter(Struct, frozen=True):
    """verdict: settled | open (another round would likely change it) | disagreement (stable: a finding) | apart (it is
    stable, and few stand far from the others: a finding, too) | unasked (some were not asked again, so nobody knows) |
    single (rated in one round only: nothing to compare with)."""

    item: str
    verdict: Verdict
    why: str
    now: Spread
    before: Spread | None = None
    moved: tuple[Move, ...] = ()  # everybody whose rating changed since
    missing: tuple[str, ...] = ()  # rated other items this round, or the item before, but not now
    arguments_high: tuple[Argument, ...] = ()
    arguments_low: tuple[Argument, ...] = ()
    stands: tuple[Argument, ...] = ()  # everybody's rating, the highest first
    apart: tuple[Argument, ...] = ()  # of them, who stands far from the others
    unasked: tuple[str, ...] = ()  # their ratings are of an earlier round
    chart: str = ""  # how many gave 1, 2, … 9


class Joined(Struct, frozen=True):
    item: str
    variants: tuple[str, ...]


class Meter(Struct, frozen=True):
    items: tuple[ItemMeter, ...] = ()
    rounds: int = 0
    raters: tuple[str, ...] = ()
    joined: tuple[Joined, ...] = ()  # near-duplicates taken for one item
    dropped: tuple[str, ...] = ()  # rated before, by nobody in the last round
    problems: tuple[str, ...] = ()
    advice: str = ""
    lines: tuple[str, ...] = ()  # all of it in words

    @property
    def findings(self) -> tuple[ItemMeter, ...]:
        return self.judged("disagreement")

    def judged(self, verdict: Verdict) -> tuple[ItemMeter, ...]:
        return tuple(item for item in self.items if item.verdict == verdict)


def _advice(meter: Meter) -> str:
    """One sentence for the person who decides about another round."""
    if not meter.items:
        return "Nothing was rated, so there is nothing to measure."
    if opened := meter.judged("open"):
        names = ", ".join(f"“{item.item}”" for item in opened[:3])
        more = f" and {len(opened) - 3} more" if len(opened) > 3 else ""
        return f"Another round would likely change {names}{more}."
    if single := meter.judged("single"):
        split = sum(item.now.disagreement for item in single)
        told = f"; {split} of {len(single)} divide the raters" if split else ""
        alone = f"; {_who_is_apart(single)}" if not split and any(item.apart for item in single) else ""
        return f"One round only: how stable the ratings are shows after another{told}{alone}."
    if unasked := meter.judged("unasked"):
        who = ", ".join(dict.fromkeys(agent for item in unasked for agent in item.unasked))
        return f"Those asked again hold still; nobody knows about {who}, who were not asked."
    if apart := meter.judged("apart"):
        return f"Another round would likely change little, and not all agree: {_who_is_apart(apart)}."
    kept = f" {len(meter.findings)} lasting disagreement(s) are findings in themselves." if meter.findings else ""
    return f"Another round would likely change little.{kept}"


def _who_is_apart(items: Sequence[ItemMeter]) -> str:
    named = [(item, one) for item in items for one in item.apart]
    item, one = named[0]
    more = f", and {len(named) - 1} more" if len(named) > 1 else ""
    return f"{one.agent} gives “{item.item}” {one.rating:g} against a median of {item.now.median:g}{more}"


def with_unheard(meter: Meter, remarks: Sequence[str]) -> Meter:
    """Major remarks that no agent has worked with yet come first: what was measured does not know of them."""
    if not remarks:
        return meter
    has = "(major) has" if len(remarks) == 1 else "(all major) have"
    first = f"{', '.join(remarks)} {has} not been analysed by anybody yet."
    advice = f"{first} {meter.advice}"
    return replace(meter, advice=advice, lines=(first, *meter.lines))


# --- measuring ---

_Table = dict[str, dict[str, Rating]]  # item key → agent → rating


def measure(
    rounds: Sequence[Mapping[str, Ratings | Sequence[Rating]]],
    items: Sequence[str] = (),
    asked: Collection[str] | None = None,
) -> Meter:
    """`rounds`: agent → its ratings, in the order they were run. `items`: the phase's own wording, if it has any.
    `asked`: who worked in the last round; None = all who have ratings there."""
    names = _Names(items)
    tables = [names.table(round_) for round_ in rounds]
    problems = [
        f"{agent}: {problem}"
        for agent, given in (rounds[-1].items() if rounds else ())
        if isinstance(given, Ratings)
        for problem in given.problems
    ]
    last = tables[-1] if tables else {}
    raters = tuple(dict.fromkeys(agent for given in last.values() for agent in given))
    meters = tuple(_item(names.shown(key), key, tables, raters, asked) for key in names.ordered if key in last)
    meter = Meter(
        items=meters,
        rounds=len(rounds),
        raters=raters,
        joined=tuple(names.joined()),
        dropped=tuple(names.shown(key) for key in names.ordered if key not in last and any(key in t for t in tables)),
        problems=tuple(problems),
    )
    meter = replace(meter, advice=_advice(meter))
    return replace(meter, lines=tuple(_lines(meter)))


class _Names:
    """Which item a wording belongs to. The first wording met stands for the item."""

    def __init__(self, items: Sequence[str]) -> None:
        self.ordered: list[str] = []
        self._key: dict[str, str] = {}
        self._wordings: dict[str, dict[str, str]] = {}  # key → identity → as first written
        for item in items:
            self.key(item)

    def key(self, item: str) -> str:
        name = identity(item)
        if name not in self._key:
            found = next((key for key in self.ordered if same_item(key, name)), name)
            if found not in self.ordered:
                self.ordered.append(name)
            self._key[name] = found
            self._wordings.setdefault(found, {})[name] = item
        return self._key[name]

    def table(self, round_: Mapping[str, Ratings | Sequence[Rating]]) -> _Table:
        table: _Table = {}
        for agent, given in round_.items():
            for rating in given.given if isinstance(given, Ratings) else given:
                table.setdefault(self.key(rating.item), {})[agent] = rating
        return table

    def shown(self, key: str) -> str:
        return self._wordings[key][key]

    def joined(self) -> Iterator[Joined]:
        for key in self.ordered:
            first, *others = self._wordings[key].values()
            if others:
                yield Joined(first, tuple(others))


def _item(
    shown: str, key: str, tables: Sequence[_Table], raters: tuple[str, ...], asked: Collection[str] | None
) -> ItemMeter:
    rated = [table[key] for table in tables if key in table]
    now = rated[-1]
    earlier = rated[-2] if len(rated) > 1 else {}
    after = spread([rating.rating for rating in now.values()])
    before = spread([rating.rating for rating in earlier.values()]) if earlier else None
    moved = tuple(
        Move(agent, earlier[agent].rating, now[agent].rating)
        for agent in now
        if agent in earlier and earlier[agent].rating != now[agent].rating
    )
    missing = tuple(agent for agent in dict.fromkeys((*raters, *earlier)) if agent not in now)
    unasked = tuple(agent for agent in now if asked is not None and len(tables) > 1 and agent not in asked)
    common = sum(agent in earlier and agent not in unasked for agent in now)
    stands = tuple(
        Argument(agent, rating.rating, rating.reason)
        for agent, rating in sorted(now.items(), key=lambda one: -one[1].rating)
    )
    apart = tuple(one for one in stands if _is_apart(one.rating, after))
    verdict, why = _verdict(after, before, moved, common, missing, first=len(tables) == 1, unasked=unasked)
    if apart and verdict in ("settled", "single"):
        told = ", ".join(f"{one.agent} {one.rating:g}" for one in apart)
        alone = f"far from the others: {told}"
        verdict, why = ("apart", f"stable; {alone}") if verdict == "settled" else (verdict, f"{why}; {alone}")
    high, low = _sides(now) if after.disagreement else ((), ())
    return ItemMeter(
        shown, verdict, why, after, before, moved, missing, high, low, stands, apart, unasked, _chart(stands)
    )


def _is_apart(rating: float, others: Spread) -> bool:
    return abs(rating - others.median) >= APART and _band(rating) != others.band


def _chart(stands: Sequence[Argument]) -> str:
    """A bar for each rating from 1 to 9, as high as there are people who gave it."""
    given = [max(LOWEST, min(HIGHEST, int(one.rating + 0.5))) for one in stands]
    counts = [given.count(rating) for rating in range(LOWEST, HIGHEST + 1)]
    return "".join(_BARS[min(count, len(_BARS) - 1)] for count in counts)


def _verdict(
    now: Spread,
    before: Spread | None,
    moved: tuple[Move, ...],
    common: int,
    missing: tuple[str, ...],
    *,
    first: bool,
    unasked: tuple[str, ...] = (),
) -> tuple[Verdict, str]:
    if missing:
        return "open", f"not rated by {', '.join(missing)}"
    if before is None:
        return ("single", "the first round") if first else ("open", "new in this round")
    if unasked and (common < 2 or not _unstable(now, before, moved, common)):
        return "unasked", f"not asked again: {', '.join(unasked)}"
    if common < 2:
        return "open", "fewer than two rated it in both rounds"
    if unstable := _unstable(now, before, moved, common):
        return "open", unstable
    if now.disagreement:
        return "disagreement", "the raters disagree, and another round did not change it"
    return "settled", "stable, no disagreement"


def _unstable(now: Spread, before: Spread, moved: tuple[Move, ...], common: int) -> str:
    far = sum(abs(move.now - move.was) >= MOVED for move in moved)
    if now.band != before.band:
        return f"the median went from {before.band} ({before.median:g}) to {now.band} ({now.median:g})"
    if abs(now.median - before.median) > MOST_MEDIAN_SHIFT:
        return f"the median moved from {before.median:g} to {now.median:g}"
    if now.disagreement != before.disagreement:
        return "disagreement appeared" if now.disagreement else "disagreement has just vanished"
    if far / common > MOST_MOVERS:
        return f"{far} of {common} raters moved by {MOVED:g} or more"
    return ""


def _sides(given: Mapping[str, Rating]) -> tuple[tuple[Argument, ...], tuple[Argument, ...]]:
    """The reasons of the highest and of the lowest raters; where those gave none, of the next on their side."""
    middle = (max(r.rating for r in given.values()) + min(r.rating for r in given.values())) / 2
    reasoned = [Argument(agent, r.rating, r.reason) for agent, r in given.items() if r.reason]
    above = [argument for argument in reasoned if argument.rating > middle]
    below = [argument for argument in reasoned if argument.rating < middle]
    top = max((argument.rating for argument in above), default=0.0)
    bottom = min((argument.rating for argument in below), default=0.0)
    return tuple(a for a in above if a.rating == top), tuple(a for a in below if a.rating == bottom)


# --- for a terminal ---


def _lines(meter: Meter) -> Iterator[str]:
    yield meter.advice
    for item in meter.items:
        now, was = item.now, "" if item.before is None else f" (was {item.before.median:g})"
        told = f"median {now.median:g}{was}, {now.low:g}–{now.high:g}, {now.n} raters"
        yield f"  {_MARKS[item.verdict]} {item.item}: {told}: {item.why}"
        if item.apart or now.disagreement:
            yield f"      1 {item.chart} 9   " + ", ".join(f"{one.agent} {one.rating:g}" for one in item.stands)
        for one in () if now.disagreement else item.apart:
            yield f"      {one.agent} ({one.rating:g}): {one.reason or 'no reason given'}"
        for move in item.moved:
            yield f"      {move.agent} {move.was:g} → {move.now:g}"
        for side, arguments in (("for", item.arguments_high), ("against", item.arguments_low)):
            for argument in arguments:
                yield f"      {side} ({argument.rating:g}, {argument.agent}): {argument.reason}"
    for joined in meter.joined:
        yield f"  taken for one item: “{joined.item}” = " + ", ".join(f"“{name}”" for name in joined.variants)
    for name in meter.dropped:
        yield f"  no longer rated: {name}"
    for problem in meter.problems:
        yield f"  not understood: {problem}"


_MARKS: dict[Verdict, str] = {
    "settled": "✓",
    "open": "~",
    "disagreement": "≠",
    "single": "·",
    "apart": "≠",
    "unasked": "?",
}
