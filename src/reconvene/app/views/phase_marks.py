"""Where a run stands in its workflow: each phase with its rounds and its checkpoint, done, at work or to come. Pure.

Any workflow can be shown so: groups hold their phases, a phase that goes through a list shows the rounds of the item in
hand, and rounds that a person added stand among those of the plan.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from msgspec import Struct

from reconvene.app.views.all_rounds import Round
from reconvene.core.definition.workflow import Phase, Workflow
from reconvene.core.facts import events as e
from reconvene.core.facts.state import RunState

Standing = Literal["done", "here", "skipped", "to come"]

_MOST = 8  # rounds of a phase that are shown: the latest


class RoundMark(Struct, frozen=True):
    name: str
    state: Standing
    serial: int = 0  # 0: it is to come
    undone: bool = False


class PhaseMark(Struct, frozen=True):
    id: str
    title: str
    state: Standing
    note: str = ""
    rounds: tuple[RoundMark, ...] = ()
    more: int = 0  # rounds that are not shown
    asks: Literal["", "to come", "open", "decided"] = ""  # its checkpoint
    phases: tuple[PhaseMark, ...] = ()


def phase_marks(
    workflow: Workflow, state: RunState, events: Sequence[e.AnyEvent], rounds: Sequence[Round]
) -> tuple[PhaseMark, ...]:
    """`rounds`: those that the events tell of."""
    known = _Known(state, events, rounds)
    return tuple(known.mark(phase) for phase in workflow.phases)


class _Known:
    """What the log tells of phases."""

    def __init__(self, state: RunState, events: Sequence[e.AnyEvent], rounds: Sequence[Round]) -> None:
        self._state = state
        self._rounds: dict[str, list[Round]] = {}
        for one in rounds:
            self._rounds.setdefault(one.phase, []).append(one)
        self._entered = {event.phase for event in events if isinstance(event, e.PhaseEntered)}
        self._decided = {event.phase for event in events if isinstance(event, e.DecisionRecorded)}
        self._inside = {frame.phase: frame for frame in state.world.cursor if frame.phase} if not state.ended else {}

    def mark(self, phase: Phase) -> PhaseMark:
        standing = self._standing(phase)
        inner = tuple(self.mark(one) for one in phase.phases)
        made = self._round_marks(phase, standing) if not inner else ()
        return PhaseMark(
            phase.id,
            phase.title or phase.id.replace("_", " "),
            standing,
            self._note(phase, standing),
            made[-_MOST:],
            max(0, len(made) - _MOST),
            self._asks(phase),
            inner,
        )

    def _standing(self, phase: Phase) -> Standing:
        if phase.id in self._inside:
            return "here"
        if phase.id in self._state.world.skipped and phase.id not in self._state.world.closed:
            return "skipped"
        done = phase.id in self._state.world.closed or (self._state.ended and phase.id in self._entered)
        return "done" if done else "to come"

    def _round_marks(self, phase: Phase, standing: Standing) -> tuple[RoundMark, ...]:
        had = self._rounds.get(phase.id, [])
        if had and standing == "here":  # of the item in hand
            had = [one for one in had if one.place == had[-1].place]
        begun = [RoundMark(one.name, _of_round(one), one.serial, one.undone is not None) for one in had]
        if standing in ("done", "skipped"):
            return tuple(begun)
        planned = sum(not one.extra and one.undone is None for one in had)
        ahead = () if phase.rounds.open_ended else phase.rounds.plan[planned:]
        return (*begun, *(RoundMark(name, "to come") for name in ahead if phase.steps))

    def _asks(self, phase: Phase) -> Literal["", "to come", "open", "decided"]:
        point = self._state.world.open
        if point is not None and point.phase == phase.id:
            return "open"
        if phase.checkpoint is None:
            return ""
        return "decided" if phase.id in self._decided else "to come"

    def _note(self, phase: Phase, standing: Standing) -> str:
        frame = self._inside.get(phase.id)
        if frame is not None:
            item = f"{frame.item.key}, " if frame.item else ""
            if phase.phases:
                return item.removesuffix(", ")
            if self._state.world.open is not None and self._state.world.top.phase == phase.id:
                return f"{item}round {frame.round.n}, asks" if frame.round else f"{item}asks"
            return f"{item}round {frame.round.n}" if frame.round else item.removesuffix(", ")
        if standing == "skipped":
            return "skipped"
        if standing == "done":
            count = len([one for one in self._rounds.get(phase.id, []) if one.undone is None])
            return f"{count} round{'s' * (count != 1)}" if count else ""
        names = [name for name in phase.rounds.plan if name != "main"]
        return ", ".join(names) if names else "for each of a list" if phase.each else ""


def _of_round(one: Round) -> Standing:
    return "here" if one.outcome == "open" else "done"
