"""What a run is given and bounded by, inputs, settings and limits, and the templates of its id and its folder.

The templates are tried out at load with what they will see: most of what no run could use is refused before any run
starts. What comes out when one starts is checked again then.
"""

from __future__ import annotations

from collections.abc import Mapping as Dict

from msgspec.structs import replace

from reconvene.core.definition.workflow import Input, Limits, Setting
from reconvene.core.paths import safe_path, why_no_run_id
from reconvene.errors import UserError
from reconvene.language import templates
from reconvene.wire.phase_tree import Roster
from reconvene.wire.problems import shown
from reconvene.wire.reading import RUN_ID_ROOTS, SETTING_ROOTS, VARIABLE, WORKSPACE_ROOTS, Reading
from reconvene.wire.yaml_reader import Mapping, Node, Scalar, plain

_MOST_DOLLARS = 1e9
_LIMITS = ("entries", "rounds", "undo", "concurrency", "children")


def read_inputs(reading: Reading, root: Mapping) -> dict[str, Input]:
    found, inputs = {}, root.mapping("inputs")
    for name, written in inputs.entries.items():
        reading.name(name, inputs.line_of(name), "an input")
        node = inputs.mapping(name)
        kind = str(written.value) if isinstance(written, Scalar) and written.value else node.text("type", "text")
        found[name] = Input(
            type=kind,
            required=node.flag("required"),
            default=_constant(reading, node, kind),
            description=node.text("description"),
        )
    return found


def read_settings(reading: Reading, root: Mapping) -> dict[str, Setting]:
    found, written = {}, root.mapping("settings")
    for name, node in written.entries.items():
        group, dot, own = name.partition(".")
        reading.name(own if dot else group, written.line_of(name), "a setting")
        if dot and reading.name(group, written.line_of(name), "a group of settings") and group in written.entries:
            message = f"'{shown(group)}' is a setting, and a group with '{shown(own)}' in it"
            reading.add(written.line_of(name), message, "rename one of them")
        if isinstance(node, Mapping):
            with reading.inside(setting=name):
                found[name] = _setting(reading, name, node)
    return found


def _setting(reading: Reading, name: str, node: Mapping) -> Setting:
    default = node.get("default")
    kind = node.text("type") or _kind_of(default)
    variable = node.text("env")
    if variable and not VARIABLE.fullmatch(variable):
        message = f"'env': '{shown(variable)}' is not the name of an environment variable"
        reading.add(node.line_of("env"), message, "such as RECONVENE_CODER")
        variable = ""
    setting = Setting(type=kind, description=node.text("description"), env=variable)
    if node.get("expr") is not None:
        if default is not None:
            message = f"setting '{shown(name)}' has both 'default' and 'expr'"
            reading.add(node.line_of("expr"), message, "keep one of them")
        return replace(setting, expr=reading.expression(node, "expr", SETTING_ROOTS))
    if variable and not node.wrote("default"):
        return replace(setting, default="" if kind == "text" else None)
    if not node.wrote("default"):
        reading.add(node.line, f"setting '{shown(name)}' needs 'default'", "or an expression over inputs")
        return setting
    if kind != "text" and isinstance(default, Scalar) and isinstance(default.value, str):
        return replace(setting, expr=reading.source(default, "'default'", SETTING_ROOTS))
    return replace(setting, default=_constant(reading, node, kind))


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
        reading.add(default.line, f"'default' must be of type {kind}", hint)
    return value


def _kind_of(node: Node | None) -> str:
    if isinstance(node, Scalar):
        return "bool" if isinstance(node.value, bool) else "number" if isinstance(node.value, int | float) else "text"
    return "text" if node is None else "json"


def read_limits(reading: Reading, root: Mapping, roster: Roster) -> Limits:
    node, usual = root.mapping("limits"), Limits()
    calls = node.mapping("calls")
    groups = [name for name in calls.entries if name != "total"]
    for name in groups:
        if name not in roster.declared_groups:
            message = f"'calls': there is no group '{shown(name)}'"
            reading.add_unknown(calls.line_of(name), message, name, [*roster.groups, "total"])
    costs = node.mapping("cost")
    payers = [name for name in costs.entries if name != "total"]
    for name in payers:
        if name not in roster.names:
            message = f"'cost': there is no agent or group '{shown(name)}'"
            reading.add_unknown(costs.line_of(name), message, name, [*roster.names, "total"])
    counts = {key: node.integer(key, getattr(usual, key)) for key in _LIMITS}
    return Limits(
        **counts,
        calls=calls.integer("total", node.integer("calls", usual.calls)),
        group_calls={name: calls.integer(name, 0) for name in groups},
        cost=_dollars(reading, costs, "total") or _dollars(reading, node, "cost"),
        costs={name: _dollars(reading, costs, name) for name in payers},
    )


def _dollars(reading: Reading, node: Mapping, key: str) -> float:
    """0 where it is not written."""
    written = node.get(key)
    if not isinstance(written, Scalar) or not isinstance(written.value, int | float):
        return 0.0
    amount = float(written.value)
    if not 0 < amount < _MOST_DOLLARS:
        reading.add(written.line, f"'{shown(key)}' must be an amount of USD above 0", "such as cost: 20")
        return 0.0
    return amount


def read_run_id(reading: Reading, root: Mapping) -> str:
    """Whether it is the same for every number is not asked here: such a workflow can be run once."""
    template = reading.template(root, "run_id", frozenset())
    if not template:
        return ""
    name = root.text("name") or "name"
    for seen in ({"year": "2026", "n": "001", "name": name}, {"year": "2027", "n": "1002", "name": name}):
        run = _tried(reading, root, "run_id", template, seen)
        if run is None:
            break
        if why := why_no_run_id(run):
            hint = 'such as "REPORT-{{ year }}-{{ n }}"'
            reading.add(root.line_of("run_id"), f"'run_id' gives '{shown(run)}', which {why}", hint)
            break
    else:
        reading.template(root, "run_id", RUN_ID_ROOTS)  # names in a branch that was not taken
    return template


def read_workspace(reading: Reading, root: Mapping) -> str:
    node = root.get("workspace")
    if not isinstance(node, Scalar):
        return ""
    before = len(reading.problems)
    template = reading.path(node, "'workspace'", frozenset())
    if len(reading.problems) > before:
        return template
    name = root.text("name") or "name"
    tried = [_tried(reading, root, "workspace", template, {"run": run, "name": name}) for run in ("run-1", "run-2")]
    folders = [folder for folder in tried if folder is not None]
    if len(folders) == 2:
        reading.template(root, "workspace", WORKSPACE_ROOTS)  # names in a branch that was not taken
    example = 'such as "reports/{{ run }}"'
    try:
        folders = [safe_path(folder) for folder in folders]
    except UserError as error:
        reading.add(node.line, f"'workspace': {error.message[0].lower()}{error.message[1:]}", example)
    if len(folders) == 2 and folders[0] == folders[1]:
        message = "'workspace' gives every run the same folder; each needs one of its own"
        reading.add(node.line, message, example)
    return template


def _tried(reading: Reading, root: Mapping, key: str, template: str, seen: Dict[str, object]) -> str | None:
    """None where it is already known to be wrong, or is now."""
    if templates.check(template) is not None:
        return None
    try:
        return templates.render(template, seen)
    except templates.TemplateError as error:
        reading.add(root.line_of(key), f"'{key}': {error.message}", f"it sees {', '.join(seen)}")
        return None
