"""Workflow files → `core.definition.workflow.Workflow`, valid or refused with every problem at once.

The order: text → nodes (yaml_reader) → in one spelling (spellings), only what the grammar knows (shapes) → the parts,
each checking what it refers to. All of them report into one list, so a person mends a file in one go.
"""

from __future__ import annotations

import re
from collections.abc import Mapping as Dict
from pathlib import Path
from typing import cast

from reconvene.core import kit_finder
from reconvene.core.definition.workflow import FileSpec, Replan, Workflow
from reconvene.core.paths import why_no_run_id
from reconvene.core.shown.scope import TEMPLATE_ROOTS
from reconvene.errors import Problem, WorkflowError
from reconvene.wire.agents import Agents, Gates, Sandbox
from reconvene.wire.grammar import REMOVED, TABLES
from reconvene.wire.names.check import check_names
from reconvene.wire.names.unfenced import unfenced
from reconvene.wire.phase_tree import PhaseTree, Roster
from reconvene.wire.phases import Phases
from reconvene.wire.problems import shown
from reconvene.wire.reading import TASK_ROOTS, Reading, Use
from reconvene.wire.resources import Folder, Unreadable, read_text
from reconvene.wire.shapes import Grammar, Table, fit
from reconvene.wire.spellings import SPELLINGS, rewritten
from reconvene.wire.values import Values
from reconvene.wire.written_inputs import read_inputs, read_limits, read_run_id, read_settings, read_workspace
from reconvene.wire.yaml_reader import Mapping, Scalar, read_yaml

_GRAMMAR = Grammar(TABLES, SPELLINGS, rewritten, REMOVED)
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*")
_HEADING = re.compile(r"#{1,6} \S[^\n]*")
_SOURCE = re.compile(r"output(\.[A-Za-z_][A-Za-z0-9_]*)?")


def load(path: Path) -> Workflow:
    """The workflow in this file, or in `workflow.yaml` of this folder, with the files beside it."""
    return _parsed(*_found(path))[0]


def warnings(path: Path) -> list[Problem]:
    """What is not wrong in this workflow, and yet hardly meant. WorkflowError where something is wrong."""
    workflow, uses = _parsed(*_found(path))
    return unfenced(workflow, uses)


def _found(path: Path) -> tuple[str, str, Folder]:
    file = path / "workflow.yaml" if path.is_dir() else path
    try:
        text = read_text(file)
    except Unreadable as error:
        problem = Problem(str(path), error.line, f"this workflow cannot be read: {error}", error.hint)
        hint = "" if error.hint else "reconvene workflows lists the packaged ones"
        raise WorkflowError([problem], hint=hint) from None
    return text, file.name, Folder(file.parent)


def parse(text: str, file: str, resources: Dict[str, str]) -> Workflow:
    """The workflow in this text. `resources`: relative path → text of the files beside it."""
    return _parsed(text, file, resources)[0]


def _parsed(text: str, file: str, resources: Dict[str, str]) -> tuple[Workflow, list[Use]]:
    """It, and every expression and template in it."""
    written = read_yaml(text, file)
    reading = Reading(file, resources)
    if not isinstance(written, Mapping):
        reading.add(written.line, "a workflow is a mapping with 'name', 'agents' and 'phases'")
        reading.problems.raise_any()
    assert isinstance(written, Mapping)
    root = fit(written, Table("workflow"), "the workflow", _GRAMMAR, reading.problems)
    assert isinstance(root, Mapping)  # a table keeps whatever fits
    fits = not len(reading.problems)
    workflow = _build(reading, root, written, text, file)
    if fits:  # what did not fit was left out, and might have written any name
        check_names(workflow, reading.uses, reading.problems)
    reading.problems.raise_any()
    return workflow, reading.uses


def _build(reading: Reading, root: Mapping, written: Mapping, text: str, file: str) -> Workflow:
    values = Values(reading, root.texts("kits"))
    roster = Roster(reading, root, written)
    tree = PhaseTree(reading, root)
    gates = Gates(reading, root)
    agents = Agents(reading, root, gates)
    phases = Phases(reading, root, tree, roster, values, gates).read()
    inputs = read_inputs(reading, root)
    replan = _replan(root, tree, values)
    values.check_reads([*inputs, *written.mapping("inputs").entries])
    roles = agents.read()
    gates.check_all_used()
    for role in roles.values():
        if role.kind == "survey":
            values.needs_project(role.line, f"agent '{role.name}': survey")
    values.check_project(inputs)
    if reopen := root.text("reopen"):
        tree.find(reopen, root.line_of("reopen"), "reopen")
    files, templates = _files(reading, root, tree)
    return Workflow(
        name=_name(reading, root),
        phases=phases,
        description=root.text("description"),
        file=file,
        source=text,
        inputs=inputs,
        settings=read_settings(reading, root),
        limits=read_limits(reading, root, roster),
        agents=roles,
        groups=roster.groups,
        files=files,
        templates=templates,
        recordings=agents.recordings,
        names=values.names,
        run_id=read_run_id(reading, root),
        workspace=read_workspace(reading, root),
        reopen=reopen,
        kits=_kits(reading, root),
        outcome=reading.expression(root, "outcome"),
        completeness=reading.expression(root, "completeness"),
        closing=reading.template(root, "closing"),
        sandbox=cast(Sandbox, root.text("sandbox", "auto")),
        replan=replan,
    )


def _replan(root: Mapping, tree: PhaseTree, values: Values) -> Replan | None:
    node, line = root.mapping("replan"), root.line_of("replan")
    phase = node.text("phase") or root.text("replan")
    target = tree.find(phase, line, "replan") if phase else None
    if target is None:
        return None
    written = node.mapping("set")
    for path in written.entries:
        values.written(path, written.line_of(path), "set", target)
    return Replan(phase, node.plain("set") if written.entries else {})


def _name(reading: Reading, root: Mapping) -> str:
    name = root.text("name")
    if name and not _NAME.fullmatch(name):
        hint = "use letters, digits, - and _"
        reading.add(root.line_of("name"), f"'{shown(name)}' cannot be the name of a workflow", hint)
    elif name and (why := why_no_run_id(f"{name}-1")):
        hint = "run ids are made of it; use letters, digits, - and _"
        reading.add(root.line_of("name"), f"'{shown(name)}' cannot be the name of a workflow: it {why}", hint)
    return name


def _kits(reading: Reading, root: Mapping) -> tuple[str, ...]:
    """Those that are named, and those of others that a tracker or a gate needs: without them the run cannot go on."""
    for each in root.scalars("kits"):
        reading.kit(str(each.value), each.line, kit_finder.kit)
    return tuple(dict.fromkeys((*root.texts("kits"), *(k for k in reading.kits if not kit_finder.packaged(k)))))


def _files(reading: Reading, root: Mapping, tree: PhaseTree) -> tuple[tuple[FileSpec, ...], dict[str, str]]:
    templates = reading.shared_templates()
    specs = []
    for node in root.mappings("files"):
        path = node.get("path")
        roots = TASK_ROOTS if node.get("each") is not None else TEMPLATE_ROOTS
        name, template = "", node.get("template")
        if isinstance(template, Scalar) and (found := reading.rendered(template)):
            name = found[0] or f"inline:{node.text('path')}"
            templates[name] = found[1]
        spec = FileSpec(
            path=reading.path(path, "'path'", roots) if isinstance(path, Scalar) else "",
            template=name,
            each=node.text("each"),
            source=node.text("from") or ("output" if node.text("each") == "tasks" else ""),
            section=node.text("section"),
            after=node.text("after"),
        )
        if spec.after:
            tree.find(spec.after, node.line_of("after"), "after")
        _check_file(reading, node, spec)
        specs.append(spec)
    return tuple(specs), templates


def _check_file(reading: Reading, node: Mapping, spec: FileSpec) -> None:
    add = reading.add
    if not node.wrote("template") and not node.wrote("each"):
        add(node.line, "a file needs 'template', or 'each'", "a file name in templates/, or the template itself")
    if node.wrote("from") and spec.each != "tasks":
        add(node.line_of("from"), "'from' needs 'each: tasks'", "or use 'template'")
    if spec.after and spec.each:
        add(node.line_of("after"), f"'after' has no meaning beside 'each: {spec.each}'", "remove one of them")
    if spec.each == "tools" and (node.wrote("template") or "{" in spec.path):
        add(node.line, "'each: tools' makes its own pages, in the folder that 'path' names", "path: tools, each: tools")
    if spec.each == "rejected" and node.wrote("template"):
        add(node.line_of("template"), "'each: rejected' keeps the outputs as they came", "remove 'template'")
    if spec.section and (spec.each or not _HEADING.fullmatch(spec.section)):
        hint = "such as section: '## Feedback', in a file with a template"
        add(node.line_of("section"), f"'section': '{shown(spec.section)}' is not a Markdown heading", hint)
    if spec.source and not _SOURCE.fullmatch(spec.source):
        add(node.line_of("from"), f"'from': '{shown(spec.source)}' is not a part of the output", "such as output.full")
