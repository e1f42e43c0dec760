"""The gap check of a phase: rules or a script, in both spellings."""

from __future__ import annotations

import shlex

from reconvene.core.definition.workflow import Again, Check, Continue, End, Goto, Move, Rule
from reconvene.wire.moves import Moves
from reconvene.wire.places import Place
from reconvene.wire.reading import Reading, int_of, mappings, text_of, texts_of
from reconvene.wire.yaml_reader import Mapping, Scalar

_TWICE = (("if", "condition"), ("then", "action"), ("say", "message"))


class Checks:
    def __init__(self, reading: Reading, moves: Moves) -> None:
        self._reading = reading
        self._moves = moves

    def of(self, phase: Mapping, here: Place) -> Check | None:
        self._only_one(phase, "check", "gap_check")
        node = phase.get("check") or phase.get("gap_check")
        if not isinstance(node, Mapping):
            return None
        self._only_one(node, "rules", "criteria")
        written = [key for key in ("rules", "criteria", "script") if node.wrote(key)]
        if not written:
            self._reading.problems.add(node.line, "a check needs 'rules' or 'script'", "such as [{if: …, then: ask}]")
        elif "script" in written and len(written) > 1:
            message = "a check has either rules or a script"
            self._reading.problems.add(node.line_of("script"), message, "keep one of them")
        key = "rules" if "rules" in written else "criteria"
        return Check(
            rules=tuple(self._rule(each, here) for each in mappings(node, key)),
            script=self._script(node),
            max=int_of(node, "max", 2),
            timeout=self._reading.seconds(node, "timeout", Check().timeout),
        )

    def _only_one(self, node: Mapping, one: str, other: str) -> None:
        if node.get(one) is not None and node.get(other) is not None:
            message = f"'{one}' and '{other}' are two words for the same thing"
            self._reading.problems.add(node.line_of(other), message, "keep one of them")

    def _script(self, node: Mapping) -> tuple[str, ...]:
        script = node.get("script")
        if not isinstance(script, Scalar):
            return texts_of(node, "script")
        try:
            words = tuple(shlex.split(str(script.value)))
        except ValueError as error:
            hint = "or write it as a list"
            self._reading.problems.add(script.line, f"'script' is not a command line: {str(error).lower()}", hint)
            return ()
        if not words:
            self._reading.problems.add(script.line, "'script' names no program")
        return words

    def _rule(self, node: Mapping, here: Place) -> Rule:
        for one, other in _TWICE:
            self._only_one(node, one, other)
        condition = "if" if node.get("if") is not None else "condition"
        if not node.wrote("if") and not node.wrote("condition"):
            self._reading.problems.add(node.line, "a rule needs 'if'", 'such as if: "context.review.score < 7"')
        elif not node.wrote("then") and not node.wrote("action"):
            self._reading.problems.add(node.line, "a rule needs 'then'", "retry, ask, abort or a move")
        return Rule(
            when=self._reading.expression(node, condition),
            then=self._then(node, here),
            say=self._reading.template(node, "say") or self._reading.template(node, "message"),
        )

    def _then(self, node: Mapping, here: Place) -> Move | None:
        if isinstance(node.get("then"), Mapping):
            move: Move | None = self._moves.of_then(node, here)
            line = node.line_of("then")
        else:
            key = "then" if node.get("then") is not None else "action"
            line = node.line_of(key)
            move = self._action(text_of(node, key), node, here, line)
        if isinstance(move, Again):
            self._moves.check_room(here, line)
        elif node.get("agents") is not None:
            hint = "remove it, or use spawn_additional"
            self._reading.problems.add(node.line_of("agents"), "'agents' belongs to spawn_additional", hint)
        return move

    def _action(self, action: str, node: Mapping, here: Place, line: int) -> Move | None:
        match action:
            case "retry" | "retry_phase":
                return self._moves.goto("current", True, here, line) if here.id else Goto("", True)
            case "spawn_additional" | "again":
                return self._moves.again(node, "agents")
            case "abort":
                return End("gap check", "failed")
            case "continue":
                return Continue()
            case _:
                return None
