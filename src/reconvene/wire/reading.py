"""What every part of the loader shares: where problems go, the files beside the workflow, and the checks of leaves
(expressions, templates, paths, contracts). Knows no part of the language.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from collections.abc import Mapping as Dict
from contextlib import contextmanager
from typing import NamedTuple, TypeVar

from reconvene.core.paths import safe_path
from reconvene.core.shown.scope import ROOTS, TEMPLATE_ROOTS
from reconvene.errors import UserError, WorkflowError
from reconvene.language import expressions, templates
from reconvene.language.times import duration
from reconvene.wire.problems import Problems, did_you_mean, shown
from reconvene.wire.resources import Folder, Unreadable, leaves_folder
from reconvene.wire.yaml_reader import Mapping, Node, Scalar, Sequence, items_of, plain, read_yaml

GATE_ROOTS = ROOTS | {"output"}
CALL_ROOTS = ROOTS | {"tool", "args", "agent"}
ROUTED_ROOTS = ROOTS | {"routing"}
SETTING_ROOTS = frozenset({"inputs", "settings", "machine"})
COMMAND_ROOTS = frozenset({"inputs", "settings"})
RUN_ID_ROOTS = frozenset({"name", "year", "n"})
WORKSPACE_ROOTS = frozenset({"run", "name"})
TASK_ROOTS = TEMPLATE_ROOTS | {"task", "output", "text"}

VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")  # of the environment
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")
_FILE = re.compile(r"\S+\.(md|txt|j2)")
_CONTRACT_FILE = re.compile(r"\S+\.(json|yaml|yml)")
_TEMPLATE_PART = re.compile(r"\{\{.*?\}\}|\{%.*?%\}|\{#.*?#\}", re.DOTALL)
_LONGEST_PATH = 500


T = TypeVar("T")


class Where(NamedTuple):
    """In which phase, at which of its steps (by number), by which agent, for which setting, for the pieces that which
    expression gives: as far as that decides what is seen."""

    phase: str = ""
    step: str = ""
    agent: str = ""
    setting: str = ""
    pieces: str = ""


class Use(NamedTuple):
    """One expression or template. `what` names it in messages; `line` and `column` say where its text begins, `file` in
    which file ("" = the workflow itself)."""

    text: str
    what: str
    roots: frozenset[str]
    where: Where
    line: int
    column: int = 0
    template: bool = False
    file: str = ""


class Reading:
    """One workflow being read."""

    def __init__(self, file: str, resources: Dict[str, str]) -> None:
        self.problems = Problems(file)
        self.add, self.add_unknown = self.problems.add, self.problems.add_unknown
        self._resources = resources
        self._checked: dict[tuple[str, frozenset[str]], str | None] = {}
        self._where = Where()
        self.uses: list[Use] = []  # every sound expression and template so far
        self.kits: dict[str, None] = {}  # those that something needs

    @contextmanager
    def inside(self, **where: str) -> Iterator[None]:
        """What is read in here belongs to this phase, agent, setting, or list of pieces."""
        before, self._where = self._where, self._where._replace(**where)
        yield
        self._where = before

    # --- leaves -----------------------------------------------------------------------------------------------------

    def expression(self, owner: Mapping, key: str, roots: frozenset[str] = ROOTS) -> str:
        """The source under `key`, checked; "" where there is none."""
        node = owner.get(key)
        return self.source(node, f"'{owner.word(key)}'", roots) if isinstance(node, Scalar) else ""

    def source(self, node: Scalar, what: str, roots: frozenset[str] = ROOTS) -> str:
        text = str(node.value).lower() if isinstance(node.value, bool) else str(node.value)
        if (text, roots) not in self._checked:
            self._checked[text, roots] = expressions.check(text, roots)
        wrong = self._checked[text, roots]
        if wrong:
            self.add(node.line, f"{what}: {wrong}", column=node.column)
        else:
            self.uses.append(Use(text, what, roots, self._where, node.line, node.column))
        return text

    def template(self, owner: Mapping, key: str, roots: frozenset[str] = TEMPLATE_ROOTS) -> str:
        node = owner.get(key)
        return self.template_text(node, f"'{owner.word(key)}'", roots) if isinstance(node, Scalar) else ""

    def template_text(self, node: Scalar, what: str, roots: frozenset[str] = TEMPLATE_ROOTS) -> str:
        """A template, checked. `roots`: the names that it may take from outside; none = it is not filled in."""
        text = str(node.value)
        if self._sound(text, what, node.text_line or node.line) and roots:
            self.uses.append(Use(text, what, roots, self._where, node.line, node.column, template=True))
        return text

    def _template_file(self, file: str, line: int, what: str, *, used: bool = True) -> str | None:
        """The text of a file beside the workflow, a template, checked; None with a problem noted."""
        text = self.resource(file, line, what)
        if text is not None and self._sound(text, "template", 1, file=file) and used:
            self.uses.append(Use(text, "template", TEMPLATE_ROOTS, self._where, 1, template=True, file=file))
        return text

    def _sound(self, text: str, what: str, first_line: int, file: str = "") -> bool:
        wrong = templates.check(text)
        if wrong:
            line, message = wrong
            self.add(first_line + max(line, 1) - 1, f"{what}: {message}", file=file)
        return not wrong

    def paths(self, owner: Mapping, key: str) -> tuple[str, ...]:
        """Workspace paths or patterns, which may be templates."""
        return tuple(self.path(node, f"'{key}'") for node in owner.scalars(key))

    def path(self, node: Scalar, what: str, roots: frozenset[str] = TEMPLATE_ROOTS) -> str:
        """A workspace path in its one spelling. What a template adds is checked again when it is rendered."""
        text = str(node.value)
        if len(text) > _LONGEST_PATH:
            self.add(node.line, f"{what}: a path of {len(text)} characters is too long")
            return text
        self.template_text(node, what, roots)
        bare = _TEMPLATE_PART.sub("x", text)
        try:
            clean = safe_path(bare)
        except UserError as error:
            self.add(node.line, f"{what}: {error.message[0].lower()}{error.message[1:]}", error.hint)
            return text
        return clean if bare == text else text

    def name(self, text: str, line: int, what: str) -> bool:
        """Whether this may name a phase, an agent, a group, an input: ids and file names are made of them."""
        if _NAME.fullmatch(text):
            return True
        hint = "use letters, digits, _ and -, beginning with a letter"
        self.add(line, f"'{shown(text)}' cannot be the name of {what}", hint)
        return False

    def seconds(self, owner: Mapping, key: str, default: float) -> float:
        node = owner.get(key)
        if not isinstance(node, Scalar):
            return default
        value = duration(node.value)
        if value > 0:
            return value
        self.add(node.line, f"'{key}': '{shown(node.value)}' is not a duration", 'such as 90 or "10m"')
        return default

    def kit(self, name: str, line: int, find: Callable[[str], T]) -> T | None:
        """What `find` has under this name of a kit, or of something in one; None, and a problem, where it has none."""
        try:
            found = find(name)
        except UserError as error:
            self.add(line, error.message, error.hint)
            return None
        self.kits[name.partition(".")[0]] = None
        return found

    # --- files beside the workflow ------------------------------------------------------------------------------------

    def folder_of_module(self, name: str) -> str:
        """The workflow's folder, where this Python module lies in it; else ""."""
        top = name.partition(".")[0]
        there = top and (f"{top}.py" in self._resources or f"{top}/__init__.py" in self._resources)
        return self._resources.path if there and isinstance(self._resources, Folder) else ""

    def prompt(self, owner: Mapping, key: str = "prompt", *, template: bool = True) -> str:
        """A prompt written here, or the text of the file it names. `template` False: taken as it is."""
        node = owner.get(key)
        if not isinstance(node, Scalar):
            return ""
        text = str(node.value)
        if not _FILE.fullmatch(text):
            return self.template_text(node, f"'{key}'") if template else text
        return (self._template_file if template else self.resource)(text, node.line, f"'{key}'") or ""

    def default_prompt(self, agent: str, line: int) -> str:
        name = f"prompts/{agent}.md"
        return (self._template_file(name, line, f"agent '{agent}'") or "") if name in self._resources else ""

    def rendered(self, node: Scalar) -> tuple[str, str] | None:
        """A template of the engine's own files: name and text. What has blanks or braces is the template itself."""
        text = str(node.value)
        if re.search(r"\s|\{[{%]", text):
            return "", self.template_text(node, "'template'")
        here = leaves_folder(text) or (text in self._resources and f"templates/{text}" not in self._resources)
        name = text if here else f"templates/{text}"
        found = self._template_file(name, node.line, "'template'")
        return None if found is None else (text, found)

    def shared_templates(self) -> dict[str, str]:
        """All of templates/, by the names under which templates include each other."""
        found = {}
        for file in self._resources:
            if file.startswith("templates/") and _FILE.fullmatch(file):
                found[file.removeprefix("templates/")] = self._template_file(file, 0, "templates/", used=False) or ""
        return found

    def recording(self, name: str, line: int) -> object:
        file = f"recorded/{name}.yaml"
        found = self.resource(file, line, "'recorded'")
        return None if found is None else self._parsed(found, file)

    def contract(self, owner: Mapping, key: str) -> object:
        """A JSON Schema written here or in a file; None where there is none."""
        node = owner.get(key)
        if node is None:
            return None
        if isinstance(node, Mapping):
            return self._schema(plain(node), node.line, key)
        text = str(plain(node))
        if not _CONTRACT_FILE.fullmatch(text):
            self.add(node.line, f"'{key}' must be a JSON Schema", "a mapping, or a .json or .yaml file")
            return None
        found = self.resource(text, node.line, f"'{key}'")
        return None if found is None else self._schema(self._parsed(found, text), node.line, key)

    def resource(self, name: str, line: int, what: str) -> str | None:
        """The text of a file beside the workflow, or None with a problem noted."""
        if leaves_folder(name):
            self.add(line, f"{what}: '{shown(name)}' is outside the workflow's folder", "keep it inside")
            return None
        try:
            return self._resources[name]
        except KeyError:
            hint = did_you_mean(name, [each for each in self._resources if each.count("/") <= 1])
            self.add(line, f"{what}: there is no file '{shown(name)}' beside the workflow", hint)
        except Unreadable as error:
            self.add(line, f"{what}: '{shown(name)}' cannot be read: {error}")
        return None

    def _parsed(self, text: str, file: str) -> object:
        try:
            return plain(read_yaml(text, file))
        except WorkflowError as error:
            for each in error.problems:
                self.add(each.line, each.message, each.hint, file=each.file, column=each.column)
            return None

    def _schema(self, schema: object, line: int, key: str) -> object:
        from reconvene.wire.contracts import wrong_with

        if wrong := wrong_with(schema):
            self.add(line, f"'{key}' is not a JSON Schema: {shown(wrong, 160)}")
        return schema


class Named:
    """Parts of a workflow that stand under a name, to be used by it: checkpoints, gates, sets of fields."""

    def __init__(self, reading: Reading, root: Mapping, key: str, what: str, usage: tuple[str, str]) -> None:
        """`what` is under `key`; `usage`: who may use it, and with which key."""
        self._reading = reading
        self._parts = root.mapping(key)
        self._key = key
        self._what = what
        self._usage = usage
        self._used: set[str] = set()

    def find(self, name: str, line: int) -> Node | None:
        """The part of that name; None with a problem noted, or where its own problem is."""
        self._used.add(name)
        found = self._parts.get(name)
        if found is None and not self._parts.wrote(name):
            message = f"there is no {self._what} '{shown(name)}' under '{self._key}'"
            otherwise = "" if self._parts.entries else f"write it there: {self._key}: {{{shown(name)}: …}}"
            self._reading.add_unknown(line, message, name, self._parts.entries, else_=otherwise)
        return found

    def spread(self, node: Node | None) -> tuple[Mapping, ...]:
        """A list of mappings and names, or one of them: all the mappings, in their order."""
        match node:
            case Mapping():
                return (node,)
            case Scalar(value=str() as name):
                found = self.find(name, node.line)
                return tuple(each for each in items_of(found) if isinstance(each, Mapping))
            case Sequence(items=items):
                return tuple(each for item in items for each in self.spread(item))
            case _:
                return ()

    def check_all_used(self) -> None:
        for name in self._parts.entries:
            line = self._parts.line_of(name)
            self._reading.name(name, line, f"a {self._what}")
            if name not in self._used:
                user, key = self._usage
                message = f"no {user} uses the {self._what} '{shown(name)}'"
                self._reading.add(line, message, f"write {key}: {name} in one, or remove it")
