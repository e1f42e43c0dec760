"""Where an option or a rule leads, checked against the phases, and the check of a phase: rules or a script."""

from __future__ import annotations

import shlex
from typing import Literal, assert_never, cast

from reconvene.core.definition.workflow import Again, Check, Continue, End, Goto, Move, Rule
from reconvene.wire.phase_tree import PhaseNode, PhaseTree, Roster
from reconvene.wire.reading import Reading
from reconvene.wire.yaml_reader import Mapping, Scalar

_ABORTED = {"abort", "aborted", "abandon", "abandoned"}
_FAILED = {"fail", "failed"}
_Status = Literal["completed", "failed", "aborted"]


class Moves:
    def __init__(self, reading: Reading, tree: PhaseTree, roster: Roster) -> None:
        self._reading = reading
        self._tree = tree
        self._roster = roster

    def of_option(self, option: Mapping, here: PhaseNode) -> tuple[Move, tuple[str, ...]]:
        """What choosing an option does: its move, and the phases it skips."""
        nodes, word = option.scalars("skip"), option.word("skip")
        skip = tuple(str(each.value) for each in nodes if self._tree.find(str(each.value), each.line, word))
        move = self.of_then(option, here)
        if isinstance(move, Again) and not option.flag("undo"):
            self.check_room(here, option.line_of("then"))
        return move, skip

    def of_then(self, owner: Mapping, here: PhaseNode) -> Move:
        """The move under `then`: a word or a mapping. Without one: continue."""
        node = owner.get("then")
        if isinstance(node, Mapping):
            return self._mapping(node, here)
        word = node.value if isinstance(node, Scalar) else "continue"
        return Again() if word == "again" else Continue(leave=word == "leave")

    def goto(self, target: str, rerun: bool, here: PhaseNode, line: int, what: str = "goto") -> Move:
        if target == "current":
            target = here.id
        if target == "previous":
            return self._previous(rerun, here, line)
        place = self._tree.find(target, line, what)
        if place is not None:
            self._check_reach(place, rerun, here, line, what)
        return Goto(target, rerun)

    def check_room(self, here: PhaseNode, line: int) -> None:
        """An extra round that can never fit is a mistake, not a surprise at the checkpoint (rule 15)."""
        needed = len(here.rounds.plan) + 1
        if not here.rounds.open_ended and needed > here.rounds.max:
            message = f"another round of phase '{here.id}' can never fit: its rounds end at {here.rounds.max}"
            self._reading.add(line, message, f"set rounds: {{max: {needed}}}")

    def _mapping(self, node: Mapping, here: PhaseNode) -> Move:
        kinds = [key for key in ("again", "goto", "end") if key in node.entries]
        if len(kinds) != 1:
            what = "a move is one of again, goto, end" + (f", not {' and '.join(kinds)}" if kinds else "")
            self._reading.add(node.line, what, "or the words continue, leave, again")
            return Continue()
        (kind,) = kinds
        for key, owner in (("rerun", "goto"), ("status", "end")):
            if key in node.entries and kind != owner:
                self._reading.add(node.line_of(key), f"'{key}' belongs to {owner}, not to {kind}")
        match kind:
            case "again":
                agents = [each for each in node.scalars("again") if isinstance(each.value, str)]
                return Again(self._roster.spread(agents))
            case "goto":
                target, line = node.text("goto"), node.line_of("goto")
                return self.goto(target, node.flag("rerun"), here, line, node.word("goto"))
            case _:
                return _end(node.text("end"), node.text("status"))

    def _previous(self, rerun: bool, here: PhaseNode, line: int) -> Move:
        if rerun:
            self._reading.add(line, "goto previous cannot be rerun", "name the phase to run again")
        elif not self._tree.has_earlier_visit(here):
            message = f"goto previous: no checkpoint can have been visited before phase '{here.id}'"
            self._reading.add(line, message, "remove this option")
        return Goto("previous")

    def _check_reach(self, target: PhaseNode, rerun: bool, here: PhaseNode, line: int, what: str) -> None:
        add = self._reading.add
        if rerun and not self._tree.on_the_way(here, target):
            where = "comes after" if self._tree.same_pass(here, target) else "is not on the way to"
            before = [] if self._reading.problems.full else self._tree.before(here)[-8:]
            hint = "phases that can run again from here: " + ", ".join(before)
            add(line, f"{what}: phase '{target.id}' {where} '{here.id}', so it cannot run again from here", hint)
        elif not rerun and not target.asks:
            hint = f"add rerun: true to run it again, or give '{target.id}' a checkpoint"
            add(line, f"{what}: phase '{target.id}' has no checkpoint, so there is no visit to reopen", hint)
        elif not rerun and not self._tree.same_pass(here, target):
            message = f"{what}: phase '{target.id}' lies inside '{target.parents[-1]}', which has ended at '{here.id}'"
            add(line, message, f"go to '{target.parents[0]}' with rerun: true instead")

    # --- the check of a phase -----------------------------------------------------------------------------------------

    def check_of(self, phase: Mapping, here: PhaseNode) -> Check | None:
        node = phase.get("check")
        if not isinstance(node, Mapping):
            return None
        if not node.wrote("rules") and not node.wrote("script"):
            self._reading.add(node.line, "a check needs 'rules' or 'script'", "such as [{if: …, then: ask}]")
        elif node.wrote("rules") and node.wrote("script"):
            self._reading.add(node.line_of("script"), "a check has either rules or a script", "keep one of them")
        return Check(
            rules=tuple(self._rule(each, here) for each in node.mappings("rules")),
            script=self._script(node),
            max=node.integer("max", 2),
            timeout=self._reading.seconds(node, "timeout", Check().timeout),
        )

    def _script(self, node: Mapping) -> tuple[str, ...]:
        script = node.get("script")
        if not isinstance(script, Scalar):
            return node.texts("script")
        try:
            words = tuple(shlex.split(str(script.value)))
        except ValueError as error:
            hint = "or write it as a list"
            self._reading.add(script.line, f"'script' is not a command line: {str(error).lower()}", hint)
            return ()
        if not words:
            self._reading.add(script.line, "'script' names no program")
        return words

    def _rule(self, node: Mapping, here: PhaseNode) -> Rule:
        if not node.wrote("if"):
            self._reading.add(node.line, "a rule needs 'if'", 'such as if: "context.review.score < 7"')
        elif not node.wrote("then"):
            self._reading.add(node.line, "a rule needs 'then'", "retry, ask, abort or a move")
        return Rule(
            when=self._reading.expression(node, "if"),
            then=self._then(node, here),
            say=self._reading.template(node, "say"),
        )

    def _then(self, node: Mapping, here: PhaseNode) -> Move | None:
        line = node.line_of("then")
        match node.get("then"):
            case Mapping() | Scalar(value="again"):
                move = self.of_then(node, here)
                if isinstance(move, Again):
                    self.check_room(here, line)
                return move
            case Scalar(value="retry"):
                return self.goto("current", True, here, line) if here.id else Goto("", True)
            case Scalar(value="abort"):
                return End("gap check", "failed")
            case Scalar(value="continue"):
                return Continue()
            case _:
                return None


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
    usual = "aborted" if word in _ABORTED else "failed" if word in _FAILED else "completed"
    return End(outcome, cast(_Status, status or usual))
