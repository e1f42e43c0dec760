"""The gap check of a phase: rules or a script."""

from __future__ import annotations

import shlex

from reconvene.core.definition.workflow import Again, Check, Continue, End, Goto, Move, Rule
from reconvene.wire.phase_tree import Place
from reconvene.wire.reading import Reading
from reconvene.wire.written_moves import Moves
from reconvene.wire.yaml_reader import Mapping, Node, Scalar


class Checks:
    def __init__(self, reading: Reading, moves: Moves) -> None:
        self._reading = reading
        self._moves = moves

    def of(self, phase: Mapping, here: Place) -> Check | None:
        node = phase.get("check")
        if not isinstance(node, Mapping):
            return None
        if not node.wrote("rules") and not node.wrote("script"):
            self._reading.add(node.line, "a check needs 'rules' or 'script'", "such as [{if: …, then: ask}]")
        elif node.wrote("rules") and node.wrote("script"):
            message = "a check has either rules or a script"
            self._reading.add(node.line_of("script"), message, "keep one of them")
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

    def _rule(self, node: Mapping, here: Place) -> Rule:
        if not node.wrote("if"):
            self._reading.add(node.line, "a rule needs 'if'", 'such as if: "context.review.score < 7"')
        elif not node.wrote("then"):
            self._reading.add(node.line, "a rule needs 'then'", "retry, ask, abort or a move")
        return Rule(
            when=self._reading.expression(node, "if"),
            then=self._then(node, here),
            say=self._reading.template(node, "say"),
        )

    def _then(self, node: Mapping, here: Place) -> Move | None:
        line = node.line_of("then")
        then = node.get("then")
        move = self._moves.of_then(node, here) if isinstance(then, Mapping) else self._word(then, here, line)
        if isinstance(move, Again):
            self._moves.check_room(here, line)
        return move

    def _word(self, then: Node | None, here: Place, line: int) -> Move | None:
        match then:
            case Scalar(value="retry"):
                return self._moves.goto("current", True, here, line) if here.id else Goto("", True)
            case Scalar(value="again"):
                return Again()
            case Scalar(value="abort"):
                return End("gap check", "failed")
            case Scalar(value="continue"):
                return Continue()
            case _:
                return None
