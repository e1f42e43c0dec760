"""What good looks like: the four success measures, their targets and warnings, and how many measurements each has."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from msgspec import Struct

MOST_ROUNDS = 3.0  # per phase
GOOD_MINUTES, MOST_MINUTES = 20.0, 30.0  # per round
RATE_TARGET = (0.2, 0.3)  # of checkpoints that lead to another round
RATE_LOW, RATE_HIGH = 0.1, 0.5

Judgement = Literal["ok", "off target", "warning", "failure", "unknown"]


class Reading(Struct, frozen=True):
    name: str
    value: float | None
    shown: str
    target: str
    judgement: Judgement
    say: str = ""
    measured: int = 0  # how many measurements it rests on

    def line(self) -> str:
        mark = {"ok": "✓", "off target": "~", "warning": "!", "failure": "✗", "unknown": "·"}[self.judgement]
        say = f": {self.say}" if self.say else ""
        return f"{mark} {self.name} {self.shown} (target {self.target}; n = {self.measured}){say}"


def completeness(answers: Sequence[str]) -> Reading:
    """answers: yes | partly | no, one per run that was asked."""
    target = "“yes, they captured everything”"
    if not answers:
        return Reading("completeness", None, "not asked yet", target, "unknown")
    yes, count = answers.count("yes"), len(answers)
    shown = answers[0] if count == 1 else f"{yes} of {count} yes"
    if yes == count:
        return Reading("completeness", 1.0, shown, target, "ok", measured=count)
    say = "Important context was missed for the person"
    return Reading("completeness", yes / count, shown, target, "failure", say, count)


def rounds_per_phase(rounds: Sequence[int]) -> Reading:
    name, target = "rounds per phase", f"< {MOST_ROUNDS:g} on average"
    if not rounds:
        return Reading(name, None, "none yet", target, "unknown")
    mean = sum(rounds) / len(rounds)
    judgement: Judgement = "ok" if mean < MOST_ROUNDS else "warning" if mean > MOST_ROUNDS else "off target"
    say = "Checkpoints may be too granular" if judgement == "warning" else ""
    return Reading(name, mean, f"{mean:.1f}", target, judgement, say, len(rounds))


def minutes_per_round(minutes: Sequence[float]) -> Reading:
    name, target = "minutes per round", f"< {GOOD_MINUTES:g}"
    if not minutes:
        return Reading(name, None, "none yet", target, "unknown")
    mean, slow = sum(minutes) / len(minutes), sum(one > MOST_MINUTES for one in minutes)
    judgement: Judgement = "failure" if slow else "ok" if mean < GOOD_MINUTES else "off target"
    say = f"The person waited more than {MOST_MINUTES:g} minutes for {slow} of {len(minutes)} rounds" if slow else ""
    return Reading(name, mean, f"{mean:.1f}", target, judgement, say, len(minutes))


def iteration_rate(iterations: int, decisions: int) -> Reading:
    low, high = RATE_TARGET
    name, target = "iteration rate", f"{low:.0%}–{high:.0%} of checkpoints".replace("%–", "–")
    if not decisions:
        return Reading(name, None, "no checkpoint yet", target, "unknown")
    rate = iterations / decisions
    judgement: Judgement = "ok" if low <= rate <= high else "off target"
    say = ""
    if rate < RATE_LOW:
        judgement, say = "warning", "Too low: checkpoints may be unnecessary overhead"
    elif rate > RATE_HIGH:
        judgement, say = "warning", "Too high: initial context gathering may be insufficient"
    return Reading(name, rate, f"{rate:.0%}", target, judgement, say, decisions)


def bar(value: float, most: float, width: int) -> str:
    """A plain bar; anything above nothing shows at least one cell."""
    if most <= 0 or value <= 0 or width <= 0:
        return ""
    return "█" * max(1, min(width, round(width * value / most)))
