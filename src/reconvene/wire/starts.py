"""What an option starts (`start`): the workflow must be there, and must get every input that it cannot do without."""

from __future__ import annotations

from reconvene.core.definition.workflow import Input, Start, Workflow
from reconvene.core.working.children import text_input
from reconvene.errors import WorkflowError
from reconvene.wire.packaged import packaged
from reconvene.wire.problems import shown
from reconvene.wire.reading import Reading
from reconvene.wire.resources import Unreadable, read_text
from reconvene.wire.written_inputs import read_inputs
from reconvene.wire.yaml_reader import Mapping, Scalar, read_yaml


class Starts:
    def __init__(self, reading: Reading, root: Mapping) -> None:
        self._reading = reading
        self._root = root
        self._name = root.text("name")

    def of(self, option: Mapping) -> Start | None:
        node = option.get("start")
        if not isinstance(node, Mapping):
            return None
        if option.flag("undo"):
            message = "'start' and 'undo' exclude each other: runs that have been started are not taken back"
            self._reading.add(option.line_of("undo"), message, "make two options of it")
        pieces = self._reading.expression(node, "each")
        with self._reading.inside(pieces=pieces):
            inputs = {
                name: self._reading.source(source, f"'{shown(name)}'")
                for name, source in node.mapping("inputs").entries.items()
                if isinstance(source, Scalar)
            }
        start = Start(node.text("workflow"), pieces, inputs)
        if start.workflow:
            self._check(node, start)
        return start

    def _check(self, node: Mapping, start: Start) -> None:
        inputs = self._inputs_of(node, start.workflow)
        if inputs is None:
            return
        problems = self._reading.problems
        for name in start.inputs:
            if name not in inputs and name != "feature":
                message = f"'start': {shown(start.workflow)} has no input '{shown(name)}'"
                problems.add_unknown(node.mapping("inputs").line_of(name), message, name, inputs)
        given = {*start.inputs, *self._root.mapping("inputs").entries, text_input(Workflow("", (), inputs=inputs))}
        missing = [n for n, spec in inputs.items() if spec.required and spec.default is None and n not in given]
        if missing:
            message = f"'start': {shown(start.workflow)} needs the input '{shown(missing[0])}'"
            problems.add(node.line, message, f"write inputs: {{{missing[0]}: …}}")

    def _inputs_of(self, node: Mapping, workflow: str) -> dict[str, Input] | None:
        """The inputs of that workflow; None where it is not there (a problem) or cannot be read (its own problem)."""
        if workflow == self._name:
            return read_inputs(Reading("", {}), self._root)
        known = packaged()
        if workflow not in known:
            message = f"'start': there is no workflow '{shown(workflow)}'"
            self._reading.add_unknown(
                node.line_of("workflow"), message, workflow, [*([self._name] if self._name else []), *known]
            )
            return None
        try:
            root = read_yaml(read_text(known[workflow]), workflow)
        except (Unreadable, WorkflowError):
            return None
        return read_inputs(Reading("", {}), root) if isinstance(root, Mapping) else None
