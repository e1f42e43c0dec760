"""Where an option or a rule leads, checked against the phases."""

from __future__ import annotations

from typing import NamedTuple, assert_never

from reconvene.core.definition.workflow import Again, Continue, End, Goto, Move
from reconvene.wire.phase_tree import Place, Places, Roster
from reconvene.wire.reading import Reading
from reconvene.wire.yaml_reader import Mapping, Scalar

_ABORTED = {"abort", "aborted", "abandon", "abandoned"}
_FAILED = {"fail", "failed"}


class Selected(NamedTuple):
    """What choosing an option does: its move, the phases it skips, the name it is recorded under."""

    move: Move
    skip: tuple[str, ...]
    alias: str


class Moves:
    def __init__(self, reading: Reading, places: Places, roster: Roster) -> None:
        self._reading = reading
        self._places = places
        self._roster = roster

    def of_option(self, option: Mapping, here: Place) -> Selected:
        skip = self._phases(option, "skip")
        move = self.of_then(option, here)
        if isinstance(move, Again) and not option.flag("undo"):
            self.check_room(here, option.line_of("then"))
        return Selected(move, skip, option.text("as") or alias_of(move, skip))

    def of_then(self, owner: Mapping, here: Place) -> Move:
        """The move under `then`: a word or a mapping. Without one: continue."""
        node = owner.get("then")
        if isinstance(node, Mapping):
            return self._mapping(node, here)
        word = node.value if isinstance(node, Scalar) else "continue"
        return Again() if word == "again" else Continue(leave=word == "leave")

    def goto(self, target: str, rerun: bool, here: Place, line: int, what: str = "goto") -> Move:
        if target == "current":
            target = here.id
        if target == "previous":
            return self._previous(rerun, here, line)
        place = self._places.find(target, line, what)
        if place is not None:
            self._check_reach(place, rerun, here, line, what)
        return Goto(target, rerun)

    def again(self, owner: Mapping, key: str) -> Again:
        return Again(self._roster.spread(tuple(node for node in owner.scalars(key) if isinstance(node.value, str))))

    def check_room(self, here: Place, line: int) -> None:
        """An extra round that can never fit is a mistake, not a surprise at the checkpoint (rule 15)."""
        needed = len(here.rounds.plan) + 1
        if not here.rounds.open_ended and needed > here.rounds.max:
            message = f"another round of phase '{here.id}' can never fit: its rounds end at {here.rounds.max}"
            self._reading.add(line, message, f"set rounds: {{max: {needed}}}")

    def _mapping(self, node: Mapping, here: Place) -> Move:
        given = [key for key in ("again", "goto", "end") if key in node.entries]
        if len(given) != 1:
            what = "a move is one of again, goto, end" + (f", not {' and '.join(given)}" if given else "")
            self._reading.add(node.line, what, "or the words continue, leave, again")
            return Continue()
        for key, owner in (("rerun", "goto"), ("status", "end")):
            if key in node.entries and given[0] != owner:
                self._reading.add(node.line_of(key), f"'{key}' belongs to {owner}, not to {given[0]}")
        match given[0]:
            case "again":
                return self.again(node, "again")
            case "goto":
                target, line = node.text("goto"), node.line_of("goto")
                return self.goto(target, node.flag("rerun"), here, line, node.word("goto"))
            case _:
                return _end(node.text("end"), node.text("status"))

    def _previous(self, rerun: bool, here: Place, line: int) -> Move:
        if rerun:
            self._reading.add(line, "goto previous cannot be rerun", "name the phase to run again")
        elif not self._places.has_earlier_visit(here):
            message = f"goto previous: no checkpoint can have been visited before phase '{here.id}'"
            self._reading.add(line, message, "remove this option")
        return Goto("previous")

    def _check_reach(self, target: Place, rerun: bool, here: Place, line: int, what: str) -> None:
        add = self._reading.add
        if rerun and not self._places.on_the_way(here, target):
            where = "comes after" if self._places.same_pass(here, target) else "is not on the way to"
            hint = "phases that can run again from here: " + ", ".join(self._before(here))
            add(line, f"{what}: phase '{target.id}' {where} '{here.id}', so it cannot run again from here", hint)
        elif not rerun and not target.asks:
            hint = f"add rerun: true to run it again, or give '{target.id}' a checkpoint"
            add(line, f"{what}: phase '{target.id}' has no checkpoint, so there is no visit to reopen", hint)
        elif not rerun and not self._places.same_pass(here, target):
            message = f"{what}: phase '{target.id}' lies inside '{target.parents[-1]}', which has ended at '{here.id}'"
            add(line, message, f"go to '{target.parents[0]}' with rerun: true instead")

    def _before(self, here: Place) -> list[str]:
        return [] if self._reading.problems.full else self._places.before(here)[-8:]

    def _phases(self, owner: Mapping, key: str) -> tuple[str, ...]:
        found = []
        for node in owner.scalars(key):
            if self._places.find(str(node.value), node.line, owner.word(key)):
                found.append(str(node.value))
        return tuple(found)


def alias_of(move: Move, skip: tuple[str, ...]) -> str:
    """The name under which context.checkpoints records a choice."""
    match move:
        case Continue():
            return "skip_phases" if skip else "continue"
        case Again():
            return "again"
        case Goto(rerun=rerun):
            return "repeat_phase" if rerun else "goto"
        case End(status=status):
            return "abort" if status == "aborted" else "end"
        case _:
            assert_never(move)


def _end(outcome: str, status: str) -> End:
    word = outcome.casefold()
    match status:
        case "completed" | "failed" | "aborted":
            return End(outcome, status)
        case _:
            return End(outcome, "aborted" if word in _ABORTED else "failed" if word in _FAILED else "completed")
