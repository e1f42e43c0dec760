"""Checkpoints, their options and fields, and the runs that an option starts."""

from __future__ import annotations

from typing import Literal, cast

from reconvene.core.definition.field_types import TYPES
from reconvene.core.definition.workflow import Checkpoint, Continue, End, Field, Input, Option, Start, Workflow
from reconvene.core.person.attention import RESERVED as RESERVED_LABELS
from reconvene.core.working.children import text_input
from reconvene.errors import WorkflowError
from reconvene.wire import who_and_when
from reconvene.wire.packaged import packaged
from reconvene.wire.phase_tree import PhaseNode
from reconvene.wire.problems import shown
from reconvene.wire.reading import ROUTED_ROOTS, Named, Reading
from reconvene.wire.resources import Unreadable, read_text
from reconvene.wire.values import Values
from reconvene.wire.written_inputs import read_inputs
from reconvene.wire.written_moves import Moves, alias_of
from reconvene.wire.yaml_reader import Mapping, Scalar, plain, read_yaml

_Remark = Literal["none", "optional", "required"]


class Checkpoints:
    def __init__(self, reading: Reading, root: Mapping, moves: Moves, values: Values) -> None:
        self._reading = reading
        self._moves = moves
        self._values = values
        self._root = root
        self._shared = Named(reading, root, "checkpoints", "checkpoint", ("phase", "checkpoint"))
        self._sets = Named(reading, root, "fields", "set of fields", ("checkpoint or option", "fields"))

    def of(self, phase: Mapping, here: PhaseNode) -> Checkpoint | None:
        node = phase.get("checkpoint")
        match node:
            case Mapping():
                return self._checkpoint(node, here)
            case Scalar(value=True):
                return Checkpoint(options=_approval(node.line), line=node.line)
            case Scalar(value=str() as name):
                shared = self._shared.find(name, node.line)
                return self._checkpoint(shared, here) if isinstance(shared, Mapping) else None
            case _:
                return None

    def check_all_used(self) -> None:
        self._shared.check_all_used()
        self._sets.check_all_used()

    def _checkpoint(self, node: Mapping, here: PhaseNode) -> Checkpoint:
        options = self._options(node, here) if node.get("options") is not None else _approval(node.line)
        fields = self._fields(node, here)
        for option in options:
            if option.fields:
                self._check_distinct((*fields, *option.fields), option.line)
        question = self._reading.template(node, "question")
        asked_of = who_and_when.read(self._reading, node, options, fields)
        return Checkpoint(
            prompt=self._reading.template(node, "prompt") or question or Checkpoint().prompt,
            question=question,
            condition=self._reading.expression(node, "condition"),
            show_files=self._reading.paths(node, "show_files"),
            status=node.text("status"),
            feedback=self._reading.template(node, "feedback"),
            fields=fields,
            options=options,
            line=node.line,
            who=asked_of.who,
            within=asked_of.within,
            remind=asked_of.remind,
            late=asked_of.late,
        )

    def _options(self, node: Mapping, here: PhaseNode) -> tuple[Option, ...]:
        seen: dict[str, int] = {}
        options = []
        for each in node.mappings("options"):
            option = self._option(each, here)
            if option.label:
                self._check_label(option.label, option.line, seen)
            options.append(option)
        return tuple(options)

    def _check_label(self, label: str, line: int, seen: dict[str, int]) -> None:
        add = self._reading.add
        folded = " ".join(label.casefold().split())
        if folded in seen and seen[folded] != line:
            message = f"the label '{shown(label)}' is used twice, on lines {seen[folded]} and {line}"
            add(line, message, "labels are how options are chosen: make them differ")
        elif folded in seen:
            add(line, f"the label '{shown(label)}' is used twice", "labels are how options are chosen")
        if folded in {each.casefold() for each in RESERVED_LABELS} or _picks_version(folded):
            message = f"the label '{shown(label)}' is reserved for questions that the engine asks itself"
            add(line, message, "use other words")
        seen.setdefault(folded, line)

    def _option(self, node: Mapping, here: PhaseNode) -> Option:
        move, skip = self._moves.of_option(node, here)
        label = node.get("label")
        return Option(
            label=" ".join(node.text("label").split()),
            then=move,
            when=self._reading.expression(node, "when"),
            recommend=self._reading.expression(node, "recommend", ROUTED_ROOTS),
            remark=cast(_Remark, node.text("remark", "none")),
            fields=self._fields(node, here),
            alias=node.text("as") or alias_of(move, skip),
            undo=node.flag("undo"),
            set=self._set(node, here),
            skip=skip,
            start=self._start(node),
            line=label.line if label else node.line,
            why_not=self._reading.template(node, "why_not"),
            needs=node.integer("needs", 1),
        )

    def _set(self, node: Mapping, here: PhaseNode) -> dict[str, object]:
        values = node.mapping("set")
        for path in values.entries:
            self._values.written(path, values.line_of(path), "set", here)
        return node.plain("set")

    # --- fields -------------------------------------------------------------------------------------------------------

    def _fields(self, node: Mapping, here: PhaseNode) -> tuple[Field, ...]:
        fields = tuple(self._field(each, here) for each in self._sets.spread(node.get("fields")))
        self._check_distinct(fields, node.line_of("fields"))
        return fields

    def _check_distinct(self, fields: tuple[Field, ...], line: int) -> None:
        ids = [field.id for field in fields if field.id]
        for twice in sorted({each for each in ids if ids.count(each) > 1}):
            self._reading.add(line, f"the field '{shown(twice)}' is asked twice", "give each field its own id")

    def _field(self, node: Mapping, here: PhaseNode) -> Field:
        field_id, each = node.text("id"), self._reading.expression(node, "each")
        kind = node.text("type", "text")
        self._check_field(node, kind)
        listed = node.get("options")
        choices_expr = self._reading.source(listed, "'options'") if isinstance(listed, Scalar) else ""
        choices = () if choices_expr else node.texts("options")
        default, default_expr = self._default(node, kind, choices)
        into = node.get("into")
        if isinstance(into, Scalar):
            self._values.written(str(into.value), into.line, "into", here)
        blank = node.get("blank")
        return Field(
            id=field_id,
            each=each,
            key=node.text("key", "id"),
            type=kind,
            prompt=self._reading.template(node, "prompt"),
            options=choices,
            options_expr=choices_expr,
            required=node.flag("required"),
            blank=plain(blank) if blank else None,
            default=default,
            default_expr=default_expr,
            into=node.text("into"),
            other=node.flag("other"),
            under=self._reading.expression(node, "under"),
        )

    def _check_field(self, node: Mapping, kind: str) -> None:
        add = self._reading.add
        single, many = node.get("id"), node.get("each")
        if not node.wrote("id") and not node.wrote("each"):
            add(node.line, "a field needs 'id', or 'each' for one field per item of a list", "such as id: reason")
        elif single is not None and many is not None:
            add(node.line_of("each"), "a field has either 'id' or 'each', not both", "keep one of them")
        if single is not None:
            self._reading.name(node.text("id"), single.line, "a field")
        if kind == "choice" and single is not None and many is None and not node.wrote("options"):
            add(node.line, "a field of type choice needs 'options'", "a list, or an expression that gives one")
        if kind == "item" and many is None and single is not None:
            add(node.line_of("type"), "the type item needs 'each'", "the items say what is asked")

    def _default(self, node: Mapping, kind: str, choices: tuple[str, ...]) -> tuple[object, str]:
        """A constant, or the source of an expression: as for settings, a string is one unless the type is literal."""
        if node.get("expr") is not None:
            return None, self._reading.expression(node, "expr", ROUTED_ROOTS)
        default = node.get("default")
        if default is None:
            return None, ""
        literal = kind in TYPES and TYPES[kind].literal
        if literal or not (isinstance(default, Scalar) and isinstance(default.value, str)):
            return plain(default), ""
        if default.value in choices:
            return default.value, ""
        if choices:
            message = f"'default': '{shown(default.value)}' is not one of the options"
            self._reading.add_unknown(default.line, message, default.value, choices)
            return None, ""
        return None, self._reading.source(default, "'default'", ROUTED_ROOTS)

    # --- what an option starts: a workflow that is there, with every input that it cannot do without ------------------

    def _start(self, option: Mapping) -> Start | None:
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
            self._check_start(node, start)
        return start

    def _check_start(self, node: Mapping, start: Start) -> None:
        inputs = self._inputs_of(node, start.workflow)
        if inputs is None:
            return
        for name in start.inputs:
            if name not in inputs and name != "feature":
                message = f"'start': {shown(start.workflow)} has no input '{shown(name)}'"
                self._reading.add_unknown(node.mapping("inputs").line_of(name), message, name, inputs)
        given = {*start.inputs, *self._root.mapping("inputs").entries, text_input(Workflow("", (), inputs=inputs))}
        missing = [n for n, spec in inputs.items() if spec.required and spec.default is None and n not in given]
        if missing:
            message = f"'start': {shown(start.workflow)} needs the input '{shown(missing[0])}'"
            self._reading.add(node.line, message, f"write inputs: {{{missing[0]}: …}}")

    def _inputs_of(self, node: Mapping, workflow: str) -> dict[str, Input] | None:
        """The inputs of that workflow; None where it is not there (a problem) or cannot be read (its own problem)."""
        own = self._root.text("name")
        if workflow == own:
            return read_inputs(Reading("", {}), self._root)
        known = packaged()
        if workflow not in known:
            message = f"'start': there is no workflow '{shown(workflow)}'"
            self._reading.add_unknown(node.line_of("workflow"), message, workflow, [own, *known])
            return None
        try:
            root = read_yaml(read_text(known[workflow]), workflow)
        except (Unreadable, WorkflowError):
            return None
        return read_inputs(Reading("", {}), root) if isinstance(root, Mapping) else None


def _approval(line: int) -> tuple[Option, ...]:
    return (
        Option("Continue", Continue(), alias="continue", line=line),
        Option("Abort", End("aborted", "aborted"), alias="abort", line=line),
    )


def _picks_version(label: str) -> bool:
    return label.startswith("use ") and label.endswith(("'s version", "’s version"))
