"""The templates of run ids and run folders, tried out at load with what they will see.

So most of what no run could use is refused before any run starts. What comes out when one starts is checked again then.
"""

from __future__ import annotations

from collections.abc import Mapping as Dict

from reconvene.core.paths import safe_path, why_no_run_id
from reconvene.errors import UserError
from reconvene.language import templates
from reconvene.wire.problems import shown
from reconvene.wire.reading import RUN_ID_ROOTS, WORKSPACE_ROOTS, Reading
from reconvene.wire.yaml_reader import Mapping, Scalar


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
            reading.problems.add(root.line_of("run_id"), f"'run_id' gives '{shown(run)}', which {why}", hint)
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
        reading.problems.add(node.line, f"'workspace': {error.message[0].lower()}{error.message[1:]}", example)
    if len(folders) == 2 and folders[0] == folders[1]:
        message = "'workspace' gives every run the same folder; each needs one of its own"
        reading.problems.add(node.line, message, example)
    return template


def _tried(reading: Reading, root: Mapping, key: str, template: str, seen: Dict[str, object]) -> str | None:
    """None where it is already known to be wrong, or is now."""
    if templates.check(template) is not None:
        return None
    try:
        return templates.render(template, seen)
    except templates.TemplateError as error:
        reading.problems.add(root.line_of(key), f"'{key}': {error.message}", f"it sees {', '.join(seen)}")
        return None
