"""What a run is given and bounded by: inputs, settings, limits."""

from __future__ import annotations

import re

from reconvene.core.definition.workflow import Input, Limits, Setting
from reconvene.wire.phase_tree import Roster
from reconvene.wire.problems import shown
from reconvene.wire.reading import SETTING_ROOTS, Reading
from reconvene.wire.yaml_reader import Mapping, Node, Scalar, plain

_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def read_inputs(reading: Reading, root: Mapping) -> dict[str, Input]:
    found = {}
    for name, node in root.mapping("inputs").entries.items():
        reading.name(name, root.mapping("inputs").line_of(name), "an input")
        if not isinstance(node, Mapping):
            found[name] = Input(type=str(node.value) if isinstance(node, Scalar) and node.value else "text")
            continue
        kind = node.text("type", "text")
        found[name] = Input(
            type=kind,
            required=node.flag("required"),
            default=_constant(reading, node, kind),
            description=node.text("description"),
        )
    return found


def read_settings(reading: Reading, root: Mapping) -> dict[str, Setting]:
    found = {}
    for name, node in root.mapping("settings").entries.items():
        reading.name(name, root.mapping("settings").line_of(name), "a setting")
        if isinstance(node, Mapping):
            with reading.inside(setting=name):
                found[name] = _setting(reading, name, node)
    return found


def _setting(reading: Reading, name: str, node: Mapping) -> Setting:
    default = node.get("default")
    kind = node.text("type") or _kind_of(default)
    about = node.text("description")
    variable = _variable(reading, node)
    if node.get("expr") is not None:
        if default is not None:
            message = f"setting '{shown(name)}' has both 'default' and 'expr'"
            reading.problems.add(node.line_of("expr"), message, "keep one of them")
        expr = reading.expression(node, "expr", SETTING_ROOTS)
        return Setting(type=kind, expr=expr, description=about, env=variable)
    if variable and not node.wrote("default"):
        return Setting(type=kind, default="" if kind == "text" else None, description=about, env=variable)
    if not node.wrote("default"):
        reading.problems.add(node.line, f"setting '{shown(name)}' needs 'default'", "or an expression over inputs")
        return Setting(type=kind, description=about)
    if kind != "text" and isinstance(default, Scalar) and isinstance(default.value, str):
        expr = reading.source(default, "'default'", SETTING_ROOTS)
        return Setting(type=kind, expr=expr, description=about, env=variable)
    return Setting(type=kind, default=_constant(reading, node, kind), description=about, env=variable)


def _variable(reading: Reading, node: Mapping) -> str:
    name = node.text("env")
    if name and not _VARIABLE.fullmatch(name):
        message = f"'env': '{shown(name)}' is not the name of an environment variable"
        reading.problems.add(node.line_of("env"), message, "such as RECONVENE_CODER")
        return ""
    return name


def _constant(reading: Reading, node: Mapping, kind: str) -> object:
    """The default, if it is of the declared kind."""
    default = node.get("default")
    if default is None:
        return None
    value = plain(default)
    number = isinstance(value, int | float) and not isinstance(value, bool)
    wrong = {"number": not number, "bool": not isinstance(value, bool), "text": not isinstance(value, str)}
    wrong["project"] = wrong["text"]
    if value is not None and wrong.get(kind, False):
        hint = "put it in quotes" if kind == "text" and isinstance(default, Scalar) else f"the type says {kind}"
        reading.problems.add(default.line, f"'default' must be of type {kind}", hint)
    return value


def _kind_of(node: Node | None) -> str:
    match node:
        case Scalar(value=bool()):
            return "bool"
        case Scalar(value=int() | float()):
            return "number"
        case Scalar() | None:
            return "text"
        case _:
            return "json"


def read_limits(reading: Reading, root: Mapping, roster: Roster) -> Limits:
    node = root.get("limits")
    if not isinstance(node, Mapping):
        return Limits()
    usual = Limits()
    calls = node.get("calls")
    groups = dict(calls.entries) if isinstance(calls, Mapping) else {}
    total = calls.integer("total", usual.calls) if isinstance(calls, Mapping) else node.integer("calls", usual.calls)
    groups.pop("total", None)
    for name in groups:
        if not roster.knows_group(name) and isinstance(calls, Mapping):
            message = f"'calls': there is no group '{shown(name)}'"
            reading.problems.add_unknown(calls.line_of(name), message, name, [*roster.groups, "total"])
    return Limits(
        entries=node.integer("entries", usual.entries),
        rounds=node.integer("rounds", usual.rounds),
        calls=total,
        group_calls={name: calls.integer(name, 0) for name in groups} if isinstance(calls, Mapping) else {},
        undo=node.integer("undo", usual.undo),
        concurrency=node.integer("concurrency", usual.concurrency),
        children=node.integer("children", usual.children),
    )
