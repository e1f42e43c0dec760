"""Checkpoints, their options and fields."""

from __future__ import annotations

from typing import Literal

from reconvene.core.definition.field_types import TYPES
from reconvene.core.definition.workflow import Checkpoint, Continue, End, Field, Option
from reconvene.core.person.attention import RESERVED as RESERVED_LABELS
from reconvene.wire.named import Named
from reconvene.wire.phase_tree import Place
from reconvene.wire.problems import shown
from reconvene.wire.reading import ROUTED_ROOTS, Reading
from reconvene.wire.starts import Starts
from reconvene.wire.values import Values
from reconvene.wire.written_moves import Moves
from reconvene.wire.yaml_reader import Mapping, Scalar, plain


class Checkpoints:
    def __init__(self, reading: Reading, root: Mapping, moves: Moves, values: Values) -> None:
        self._reading = reading
        self._moves = moves
        self._values = values
        self._starts = Starts(reading, root)
        self._shared = Named(reading, root, "checkpoints", "checkpoint", ("phase", "checkpoint"))
        self._sets = Named(reading, root, "fields", "set of fields", ("checkpoint or option", "fields"))

    def of(self, phase: Mapping, here: Place) -> Checkpoint | None:
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

    def _checkpoint(self, node: Mapping, here: Place) -> Checkpoint:
        options = self._options(node, here) if node.get("options") is not None else _approval(node.line)
        fields = self._fields(node, here)
        for option in options:
            self._check_distinct((*fields, *option.fields), option.line)
        return Checkpoint(
            prompt=self._reading.template(node, "prompt") or Checkpoint().prompt,
            condition=self._reading.expression(node, "condition"),
            show_files=self._reading.paths(node, "show_files"),
            status=node.text("status"),
            feedback=self._reading.template(node, "feedback"),
            fields=fields,
            options=options,
            line=node.line,
        )

    def _options(self, node: Mapping, here: Place) -> tuple[Option, ...]:
        seen: dict[str, int] = {}
        options = []
        for each in node.mappings("options"):
            option = self._option(each, here)
            if option.label:
                self._check_label(option.label, option.line, seen)
            options.append(option)
        return tuple(options)

    def _check_label(self, label: str, line: int, seen: dict[str, int]) -> None:
        problems = self._reading.problems
        folded = " ".join(label.casefold().split())
        if folded in seen and seen[folded] != line:
            message = f"the label '{shown(label)}' is used twice, on lines {seen[folded]} and {line}"
            problems.add(line, message, "labels are how options are chosen: make them differ")
        elif folded in seen:
            problems.add(line, f"the label '{shown(label)}' is used twice", "labels are how options are chosen")
        if folded in {each.casefold() for each in RESERVED_LABELS} or _picks_version(folded):
            message = f"the label '{shown(label)}' is reserved for questions that the engine asks itself"
            problems.add(line, message, "use other words")
        seen.setdefault(folded, line)

    def _option(self, node: Mapping, here: Place) -> Option:
        selected = self._moves.of_option(node, here)
        label = node.get("label")
        return Option(
            label=" ".join(node.text("label").split()),
            then=selected.move,
            when=self._reading.expression(node, "when"),
            recommend=self._reading.expression(node, "recommend", ROUTED_ROOTS),
            remark=_remark(node),
            fields=self._fields(node, here),
            alias=selected.alias,
            undo=node.flag("undo"),
            set=self._set(node, here),
            skip=selected.skip,
            start=self._starts.of(node),
            line=label.line if label else node.line,
            why_not=self._reading.template(node, "why_not"),
        )

    def _set(self, node: Mapping, here: Place) -> dict[str, object]:
        entries = node.get("set")
        if not isinstance(entries, Mapping):
            return {}
        for path in entries.entries:
            self._values.written(path, entries.line_of(path), "set", here)
        return {path: plain(value) for path, value in entries.entries.items()}

    # --- fields -------------------------------------------------------------------------------------------------------

    def _fields(self, node: Mapping, here: Place) -> tuple[Field, ...]:
        fields = tuple(self._field(each, here) for each in self._sets.spread(node.get("fields")))
        self._check_distinct(fields, node.line_of("fields"))
        return fields

    def _check_distinct(self, fields: tuple[Field, ...], line: int) -> None:
        ids = [field.id for field in fields if field.id]
        for twice in sorted({each for each in ids if ids.count(each) > 1}):
            self._reading.add(line, f"the field '{shown(twice)}' is asked twice", "give each field its own id")

    def _field(self, node: Mapping, here: Place) -> Field:
        field_id, each = node.text("id"), self._reading.expression(node, "each")
        kind = node.text("type", "text")
        self._check_field(node, kind)
        choices, choices_expr = self._choices(node)
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

    def _choices(self, node: Mapping) -> tuple[tuple[str, ...], str]:
        choices = node.get("options")
        if isinstance(choices, Scalar):
            return (), self._reading.source(choices, "'options'")
        return node.texts("options"), ""

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


def _remark(option: Mapping) -> Literal["none", "optional", "required"]:
    match option.text("remark"):
        case "optional":
            return "optional"
        case "required":
            return "required"
        case _:
            return "none"


def _approval(line: int) -> tuple[Option, ...]:
    return (
        Option("Continue", Continue(), alias="continue", line=line),
        Option("Abort", End("aborted", "aborted"), alias="abort", line=line),
    )


def _picks_version(label: str) -> bool:
    return label.startswith("use ") and label.endswith(("'s version", "’s version"))
