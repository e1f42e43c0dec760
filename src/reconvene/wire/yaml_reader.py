"""YAML text → a tree of nodes that know their line. Knows nothing of workflows.

libyaml only ever hands over a stream of events; the tree is composed here. That keeps the dangerous parts out: aliases
(bombs), deep nesting (libyaml's own composer overflows the stack), duplicate keys and foreign tags are refused while
the events pass by. Plain scalars follow YAML 1.2: `on`, `yes`, `010` and `12:30:45` are text.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

import yaml

from reconvene.wire.problems import Problems, shown

MAX_BYTES = 1_000_000
MAX_DEPTH = 50
MAX_NODES = 100_000

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_CORE_TAGS = {f"tag:yaml.org,2002:{name}" for name in ("str", "int", "float", "bool", "null", "seq", "map")}
_TEXT_TAGS = {"tag:yaml.org,2002:str", "!"}
_NULL = {"", "~", "null", "Null", "NULL"}
_BOOL = {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}
_INT = re.compile(r"[-+]?(0|[1-9][0-9]*)")
_BASED = re.compile(r"0o[0-7]+|0x[0-9a-fA-F]+")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|(0|[1-9][0-9]*)(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_NOT_JSON = re.compile(r"[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)")


@dataclass(frozen=True, slots=True)
class Scalar:
    value: str | int | float | bool | None
    line: int
    column: int = 0
    text_line: int = 0  # where the text itself begins: a block scalar's is the line below its `|`


@dataclass(frozen=True, slots=True)
class Sequence:
    items: tuple[Node, ...]
    line: int
    column: int = 0


@dataclass(frozen=True, slots=True)
class Mapping:
    entries: dict[str, Node]
    line: int
    column: int = 0
    key_lines: dict[str, int] = field(default_factory=dict)
    words: dict[str, str] = field(default_factory=dict)  # key → how the file spells it, where that is another word

    def get(self, key: str) -> Node | None:
        return self.entries.get(key)

    def wrote(self, key: str) -> bool:
        """Whether the author gave this key, also where its value was no good and is gone."""
        return key in self.key_lines

    def line_of(self, key: str) -> int:
        return self.key_lines.get(key, self.line)

    def word(self, key: str) -> str:
        """The key as the author spelled it, for messages."""
        return self.words.get(key, key)

    # What stands under a key, where it is of the kind that is asked for.

    def text(self, key: str, default: str = "") -> str:
        node = self.entries.get(key)
        return node.value if isinstance(node, Scalar) and isinstance(node.value, str) else default

    def integer(self, key: str, default: int) -> int:
        node = self.entries.get(key)
        return node.value if isinstance(node, Scalar) and isinstance(node.value, int) else default

    def flag(self, key: str) -> bool:
        node = self.entries.get(key)
        return isinstance(node, Scalar) and node.value is True

    def scalars(self, key: str) -> tuple[Scalar, ...]:
        return tuple(item for item in items_of(self.entries.get(key)) if isinstance(item, Scalar))

    def texts(self, key: str) -> tuple[str, ...]:
        return tuple(str(node.value) for node in self.scalars(key))

    def mappings(self, key: str) -> tuple[Mapping, ...]:
        return tuple(item for item in items_of(self.entries.get(key)) if isinstance(item, Mapping))

    def mapping(self, key: str) -> Mapping:
        """The mapping under `key`; an empty one where there is none."""
        node = self.entries.get(key)
        return node if isinstance(node, Mapping) else Mapping({}, self.line)

    def plain(self, key: str) -> dict[str, object]:
        return {name: plain(value) for name, value in self.mapping(key).entries.items()}


Node = Scalar | Sequence | Mapping


def read_yaml(text: str, file: str) -> Node:
    """One document of plain data. WorkflowError, with every problem found, for anything else."""
    problems = Problems(file)
    root = _read(text, problems)
    problems.raise_any()
    assert root is not None  # there is no missing root without a problem
    return root


def items_of(node: Node | None) -> tuple[Node, ...]:
    """The entries of a list, or the one value that stands for a list of one."""
    return node.items if isinstance(node, Sequence) else () if node is None else (node,)


def plain(node: Node) -> object:
    """The node as dicts, lists and scalars."""
    match node:
        case Scalar(value=value):
            return value
        case Sequence(items=items):
            return [plain(item) for item in items]
        case Mapping(entries=entries):
            return {key: plain(value) for key, value in entries.items()}


def _read(text: str, problems: Problems) -> Node | None:
    try:
        size = len(text.encode())
    except UnicodeEncodeError as error:
        problems.add(text.count("\n", 0, error.start) + 1, "this is not valid text", "save the file as UTF-8")
        return None
    if size > MAX_BYTES:
        problems.add(0, f"the file is larger than {MAX_BYTES // 1_000_000} MB", "move long texts into files beside it")
        return None
    composer = _Composer(yaml.parse(text, Loader=_LOADER), problems)
    try:
        return composer.document()
    except _Stop:
        return None
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1 if isinstance(error.position, int) else 0
        problems.add(line, "a control character or invalid byte is not allowed in YAML", "save the file as plain UTF-8")
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line, column = (mark.line + 1, mark.column + 1) if mark else (0, 0)
        opened = composer.quoted
        if error.context_mark and "quoted scalar" in str(error.context) and "end of stream" in str(error.problem):
            opened = error.context_mark.line + 1, 0
        if opened is not None:
            ends = f"ends only in line {opened[1]}" if opened[1] else "never ends"
            what = f"this is not valid YAML: a quote that begins here {ends}"
            problems.add(opened[0], what, "is a closing quote missing?")
            return None
        said = ", ".join(part for part in (error.context, error.problem) if part)
        begun = error.context_mark.line + 1 if error.context_mark else 0
        message, hint = _syntax(said, text, line, column, begun)
        problems.add(line, f"this is not valid YAML: {message}", hint, column=column)
    except yaml.YAMLError as error:
        problems.add(0, f"this is not valid YAML: {shown(error, 200)}")
    return None


_KEY_FIRST = re.compile(r"\s*(- +)?[\w.-]+:(\s|$)")
_ASTRAY = ("mapping values are not allowed", "expected <block end>", "could not find expected ':'")


# What the reader of YAML says → the same in plain words, and what to do.
_WORDS = {
    "mapping values are not allowed": (
        "there is a second ': ' in column {column}",
        "put text that contains ': ' in quotes",
    ),
    "',' or '}'": ("',' or '}}' is expected in column {column}: a '{{' in line {begun} is not closed", "write the '}'"),
    "',' or ']'": ("',' or ']' is expected in column {column}: a '[' in line {begun} is not closed", "write the ']'"),
    "cannot start any token": ("nothing can begin with {sign!r}, in column {column}", "put it in quotes"),
    "expected '-' indicator": (
        "this line is no entry of the list that begins in line {begun}",
        "begin it with '- ', or indent it as the key of the list is",
    ),
    "did not find expected key": (
        "this line is no key of what begins in line {begun}",
        "indent it as the keys above it are",
    ),
    "could not find expected ':'": (
        "a key without ':' ends before column {column}",
        "write ':' after the key; a text of several lines stands below '|'",
    ),
    "unknown escape character": (
        "in text between double quotes, '\\' begins a sign of its own, in column {column}",
        "write it twice, or use single quotes",
    ),
}


def _syntax(said: str, text: str, line: int, column: int, begun: int) -> tuple[str, str]:
    """What is wrong in plain words, and what to do; as the reader of YAML says it where it is something rarer."""
    here = "".join(text.splitlines()[line - 1 : line]) if line else ""
    if "\t" in here[: len(here) - len(here.lstrip())] or "'\\t'" in said:
        return "there is a tab in the indentation", "indent with spaces, YAML allows no tabs"
    if any(each in said for each in _ASTRAY) and _KEY_FIRST.match(here) and here.count(": ") < 2:
        hint = "keys of one entry begin in the same column, and what belongs to a key is indented below it"
        return "this line is not indented as the lines above it need", hint
    for theirs, (ours, hint) in _WORDS.items():
        if theirs in said:
            return ours.format(column=column, begun=begun or line, sign=here[column - 1 : column]), hint
    return f"it cannot be read from column {column} on", f"look at the line above, too; its reader says: {said}"


class _Stop(Exception):
    """Reading on makes no sense; the problem is already noted."""


class _Composer:
    """Composes nodes from events. Recursion is bounded: the depth is checked before each descent."""

    def __init__(self, events: Iterator[yaml.Event], problems: Problems) -> None:
        self._events = events
        self._problems = problems
        self._depth = 0
        self._nodes = 0
        self.quoted: tuple[int, int] | None = None  # lines in which a quoted text begins and ends, if it was the last

    def document(self) -> Node:
        root: Node | None = None
        for event in self._events:
            if isinstance(event, yaml.NodeEvent):
                root = self._node(event)
            elif isinstance(event, yaml.DocumentStartEvent) and root is not None:
                raise self._stop(event, "the file holds several documents", "keep one of them")
        if root is None or (isinstance(root, Scalar) and root.value is None):
            self._problems.add(0, "the file is empty")
            raise _Stop
        return root

    def _stop(self, event: yaml.Event, message: str, hint: str = "") -> _Stop:
        self._problems.add(_line(event), message, hint, column=_column(event))
        return _Stop()

    def _node(self, event: yaml.Event) -> Node:
        self._nodes += 1
        self.quoted = None
        if self._nodes > MAX_NODES:
            raise self._stop(event, f"the file holds more than {MAX_NODES} values")
        if isinstance(event, yaml.AliasEvent):
            self._problems.add(_line(event), f"aliases (*{shown(event.anchor)}) are not allowed", "write it out")
            return Scalar("", _line(event), _column(event))
        self._refuse_anchor_and_tag(event)
        if isinstance(event, yaml.ScalarEvent):
            return self._scalar(event)
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise self._stop(event, f"this is nested more than {MAX_DEPTH} deep")
        node = self._mapping(event) if isinstance(event, yaml.MappingStartEvent) else self._sequence(event)
        self._depth -= 1
        return node

    def _refuse_anchor_and_tag(self, event: yaml.Event) -> None:
        anchor = getattr(event, "anchor", None)
        if anchor is not None:
            self._problems.add(_line(event), f"anchors (&{shown(anchor)}) are not allowed", "write it out")
        tag = getattr(event, "tag", None)
        if tag is not None and tag not in _CORE_TAGS and tag != "!":
            self._problems.add(_line(event), f"the tag {shown(tag)} is not allowed", "write the plain value")

    def _sequence(self, start: yaml.Event) -> Sequence:
        items = []
        while not isinstance(event := next(self._events), yaml.SequenceEndEvent):
            items.append(self._node(event))
        return Sequence(tuple(items), _line(start), _column(start))

    def _mapping(self, start: yaml.Event) -> Mapping:
        entries: dict[str, Node] = {}
        key_lines: dict[str, int] = {}
        while not isinstance(event := next(self._events), yaml.MappingEndEvent):
            line = _line(event)
            key = self._key(self._node(event))
            value = self._node(next(self._events))
            if key is None:
                continue
            if key in entries:
                first = key_lines[key]
                self._problems.add(line, f"'{shown(key)}' is given twice, on lines {first} and {line}", "keep one")
                continue
            entries[key] = value
            key_lines[key] = line
        return Mapping(entries, _line(start), _column(start), key_lines)

    def _key(self, node: Node) -> str | None:
        if isinstance(node, Scalar) and isinstance(node.value, str):
            return node.value
        what = f"the key {shown(node.value)}" if isinstance(node, Scalar) else "a key that is a list or a mapping"
        hint = "keys are words; put it in quotes"
        if not isinstance(node, Scalar):
            hint = 'a value that begins with {{ stands in quotes: "{{ inputs.topic }}"'
        self._problems.add(node.line, f"{what} is not text", hint, column=node.column)
        return None

    def _scalar(self, event: yaml.ScalarEvent) -> Scalar:
        line = _line(event)
        if event.style in ("'", '"') and event.end_mark and event.end_mark.line + 1 > line:
            self.quoted = line, event.end_mark.line + 1
        value: str | int | float | bool | None = event.value
        # implicit[0]: a plain scalar without a tag, the only kind that may be anything but text
        if event.implicit[0] or (event.tag in _CORE_TAGS and event.tag not in _TEXT_TAGS):
            value = self._resolve(event.value, event)
        return Scalar(value, line, _column(event), line + (event.style in ("|", ">")))

    def _resolve(self, text: str, event: yaml.Event) -> str | int | float | bool | None:
        if text in _NULL:
            return None
        if text in _BOOL:
            return _BOOL[text]
        number: int | float
        if _INT.fullmatch(text) or _BASED.fullmatch(text):
            number = int(text, 0) if len(text) <= 25 else math.inf
            fits = abs(number) < 1 << 63
        elif _NOT_JSON.fullmatch(text):
            self._problems.add(_line(event), f"{text} is not a number that can be stored", "put it in quotes")
            return None
        elif _FLOAT.fullmatch(text):
            number = float(text)
            fits = math.isfinite(number)
        else:
            return text
        if not fits:
            self._problems.add(_line(event), f"the number {shown(text)} is too large", "put it in quotes")
        return number if fits else None


def _line(event: yaml.Event) -> int:
    return event.start_mark.line + 1 if event.start_mark else 0


def _column(event: yaml.Event) -> int:
    return event.start_mark.column + 1 if event.start_mark else 0
