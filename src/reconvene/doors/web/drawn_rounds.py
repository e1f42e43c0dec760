"""The timeline of a run's rounds: a lane for each agent, a bar for each attempt, the person's decisions above.

Rounds stand side by side in their order. Within one, bars are as long as their attempts took; steps follow each other.
The time in which a run waits for a person is left out. Only measures; a template draws.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct

from reconvene.app.views.all_rounds import Round, Tried
from reconvene.core.facts import events as e
from reconvene.doors.shared.harmless import one_line

_LEFT, _LANE, _HEAD, _FOOT = 150, 20, 34, 26
_WIDE = 900  # px that the work should take
_LEAST_BAR, _LONGEST_BAR, _LEAST_ROUND, _GAP = 6.0, 340.0, 110.0, 26.0
_MOST = 24  # rounds that are drawn: the latest
_LABEL = 24
_FEW = 2  # decisions of a round that are told: the last ones


class Bar(Struct, frozen=True):
    x: float
    y: float
    width: float
    tried: Tried
    serial: int
    what: str  # done, here, bad, undone


class Label(Struct, frozen=True):
    x: float
    text: str
    serial: int = 0


class Timeline(Struct, frozen=True):
    width: int
    height: int
    lanes: tuple[tuple[float, str], ...]
    bars: tuple[Bar, ...]
    rounds: tuple[Label, ...]
    decisions: tuple[Label, ...]
    left_out: int = 0


def timeline(rounds: Sequence[Round], decided: Sequence[e.DecisionRecorded], at_work: Sequence[Tried]) -> Timeline:
    """`at_work`: attempts that have not ended, of the last round."""
    shown = [one for one in rounds if one.agents or one.tried][-_MOST:]
    left_out = sum(bool(one.agents or one.tried) for one in rounds) - len(shown)
    tried = {one.serial: [*one.tried, *(at_work if one is rounds[-1] else ())] for one in shown}
    agents = list(dict.fromkeys(each.agent for one in shown for each in tried[one.serial]))
    lanes = {agent: _HEAD + n * _LANE for n, agent in enumerate(agents)}
    scale = _scale(tried)
    x, bars, labels, ends = float(_LEFT), list[Bar](), list[Label](), dict[int, float]()
    for one in shown:
        labels.append(Label(x, _name(one), one.serial))
        width = _bars(one, tried[one.serial], x, lanes, scale, bars)
        x += max(_LEAST_ROUND, width)
        ends[one.serial] = x + _GAP / 2
        x += _GAP
    chosen: dict[int, list[str]] = {}
    for each in decided:
        chosen.setdefault(each.serial, []).append(one_line(each.option, _LABEL))
    marks = [Label(ends[serial], ", ".join(options[-_FEW:])) for serial, options in chosen.items() if serial in ends]
    height = _HEAD + len(agents) * _LANE + _FOOT
    named = tuple((float(y), one_line(agent.replace("_", " "), 20)) for agent, y in lanes.items())
    return Timeline(int(x) + 150, height, named, tuple(bars), tuple(labels), tuple(marks), left_out)


def _scale(tried: Mapping[int, Sequence[Tried]]) -> float:
    """px of a second."""
    seconds = sum(sum(_steps(each).values()) for each in tried.values())
    longest = max((one.seconds for each in tried.values() for one in each), default=0.0)
    return min(_WIDE / seconds, _LONGEST_BAR / longest) if longest else 1.0


def _steps(tried: Sequence[Tried]) -> dict[int, float]:
    """How long each step took: as its slowest agent, whose attempts follow each other."""
    of_agent: dict[tuple[int, str], float] = {}
    for one in tried:
        of_agent[one.step, one.agent] = of_agent.get((one.step, one.agent), 0.0) + one.seconds
    return {step: max(took for (at, _), took in of_agent.items() if at == step) for step, _ in sorted(of_agent)}


def _bars(
    one: Round, tried: Sequence[Tried], x: float, lanes: Mapping[str, int], scale: float, bars: list[Bar]
) -> float:
    begins = x
    for step in _steps(tried):
        ends: dict[str, float] = {}
        for each in (each for each in tried if each.step == step):
            start = ends.get(each.agent, x)
            width = max(_LEAST_BAR, each.seconds * scale)
            bars.append(Bar(start, lanes[each.agent], width, each, one.serial, _what(one, each)))
            ends[each.agent] = start + width + 1
        x = max(ends.values(), default=x)
    return x - begins


def _what(one: Round, each: Tried) -> str:
    if one.undone is not None:
        return "undone"
    if each.verdict == "at work":
        return "here"
    return "done" if each.verdict in ("accepted", "forced") else "bad"


def _name(one: Round) -> str:
    name = f", {one.name}" if one.name not in ("main", "extra") else ""
    return one_line(f"{one.phase.replace('_', ' ')} {one.n}{name}{', extra' if one.extra else ''}", 30)
