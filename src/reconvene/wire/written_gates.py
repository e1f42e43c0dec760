"""Gates: the rules that an output must pass, of an agent or of a step, written there or used by name."""

from __future__ import annotations

import re

from msgspec.structs import replace

from reconvene.core import kit_finder
from reconvene.core.definition.workflow import Gate
from reconvene.wire.named import Named
from reconvene.wire.problems import shown
from reconvene.wire.reading import GATE_ROOTS, Reading
from reconvene.wire.yaml_reader import Mapping

_CODE = re.compile(r"[A-Z][A-Z0-9_]*")


class Gates:
    def __init__(self, reading: Reading, root: Mapping) -> None:
        self._reading = reading
        self._named = Named(reading, root, "gates", "gate", ("agent or step", "gate"))

    def of(self, owner: Mapping) -> tuple[Gate, ...]:
        return tuple(gate for each in self._named.spread(owner.get("gate")) for gate in self._gates(each))

    def check_all_used(self) -> None:
        self._named.check_all_used()

    def _gates(self, node: Mapping) -> list[Gate]:
        """One mapping may hold several rules; each becomes a gate of its own, so that each says what failed."""
        gates = []
        if node.get("min_chars") is not None:
            gates.append(Gate(min_chars=node.integer("min_chars", 1)))
        if headings := node.texts("headings"):
            gates.append(Gate(headings=headings))
        if about := node.texts("specific_to"):
            gates.append(Gate(kit="reading.specific_to", about=about))
        if name := node.text("kit"):
            options = node.plain("options")
            gates.append(Gate(kit=self._known(name, node), about=node.texts("about"), options=options))
        if node.get("if") is not None:
            gates.append(Gate(when=self._reading.expression(node, "if", GATE_ROOTS)))
        if question := node.text("ask"):
            gates.append(Gate(ask=question))
        if not set(node.key_lines) - {"retry_with", "code", "example"}:
            message = "a gate needs one of min_chars, headings, specific_to, if, ask, kit"
            self._reading.problems.add(node.line, message, "such as min_chars: 200")
        retry_with, code = self._reading.template(node, "retry_with"), self._code(node)
        example = self._reading.prompt(node, "example", template=False)
        return [replace(gate, retry_with=retry_with, code=code, example=example) for gate in gates]

    def _known(self, name: str, node: Mapping) -> str:
        self._reading.kit(name, node.line_of("kit"), kit_finder.gate)
        return name

    def _code(self, node: Mapping) -> str:
        code = node.text("code")
        if code and not _CODE.fullmatch(code):
            message = f"'code': '{shown(code)}' is not a code"
            self._reading.problems.add(
                node.line_of("code"), message, "capital letters and _, such as NO_GAPS_ADDRESSED"
            )
        return code
