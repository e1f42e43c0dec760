"""The names of values: who writes them, where they live, and whether what a step reads exists.

Rule 5 of the language: a name lives in the innermost `each` body that holds all its writers.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from itertools import takewhile

from reconvene.core import kit_finder
from reconvene.core.definition.workflow import OUTPUT_FORMS, OUTPUT_WORDS, Input
from reconvene.core.shown.reads import PROJECT_WORDS
from reconvene.core.shown.scope import ENGINE_NAMES
from reconvene.language.closest import closest
from reconvene.wire.phase_tree import PhaseNode
from reconvene.wire.problems import shown
from reconvene.wire.reading import Reading
from reconvene.wire.yaml_reader import Scalar

# What a workflow may not write: the names `context` already has, and the word for the talk in `reads`.
RESERVED_NAMES = frozenset((*ENGINE_NAMES, "conversation"))
_OUTPUT_READS = tuple(f"{word}.{form}" for word in OUTPUT_WORDS for form in OUTPUT_FORMS)
READ_WORDS = (*_OUTPUT_READS, "files", "values", "conversation", *PROJECT_WORDS)
_PATH = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)*")
_LOOKS_LIKE_FILE = re.compile(r".*/.*|.*\.\w+", re.DOTALL)


class Values:
    def __init__(self, reading: Reading, kits: tuple[str, ...] = ()) -> None:
        self._reading = reading
        self._kits = kits
        self._homes: dict[str, tuple[str, ...]] = {}
        self._reads: list[Scalar] = []
        self._needing_project: list[tuple[int, str]] = []  # line and words of whatever needs a project

    def written(self, path: str, line: int, what: str, here: PhaseNode) -> None:
        """Notes a writer. `path` may lead into the value; its root is the name."""
        name = path.partition(".")[0]
        if not _PATH.fullmatch(path):
            hint = "use letters, digits and _, with dots between the parts"
            self._reading.add(line, f"{what}: '{shown(path)}' cannot be the name of a value", hint)
        elif name in RESERVED_NAMES or name in READ_WORDS:
            message = f"{what}: '{name}' is kept by the engine and cannot be written"
            self._reading.add(line, message, "choose another name")
        else:
            before = self._homes.get(name)
            self._homes[name] = here.eaches if before is None else _shared(before, here.eaches)

    def read(self, nodes: tuple[Scalar, ...]) -> tuple[str, ...]:
        """Notes what a step reads; checked once all writers are known."""
        self._reads.extend(nodes)
        return tuple(str(node.value) for node in nodes)

    @property
    def names(self) -> dict[str, str]:
        """Value name → id of the `each` phase it lives in, "" for the run."""
        return {name: home[-1] if home else "" for name, home in self._homes.items()}

    def check_reads(self, inputs: Collection[str]) -> None:
        for node in self._reads:
            self._check_read(node, str(node.value), inputs)

    def needs_project(self, line: int, what: str) -> None:
        """Notes what makes sense only with an input of type project."""
        self._needing_project.append((line, what))

    def check_project(self, inputs: Mapping[str, Input]) -> None:
        named = [name for name, spec in inputs.items() if spec.type == "project"]
        if len(named) > 1:
            self._reading.add(0, f"the inputs {' and '.join(named)} are both projects", "a run has one")
        if named:
            return
        words = [(node.line, f"reads: '{node.value}'") for node in self._reads if node.value in PROJECT_WORDS]
        for line, what in [*self._needing_project, *words]:
            hint = "add to inputs: project: {type: project, default: .}"
            self._reading.add(line, f"{what} needs an input of type project", hint)

    def _check_read(self, node: Scalar, text: str, inputs: Collection[str]) -> None:
        root, dot, rest = text.partition(".")
        problem, otherwise = f"reads: '{shown(text)}' is not something to read", ""
        known: Collection[str]
        if text in READ_WORDS or text in self._homes or (root == "inputs" and dot and rest in inputs):
            return
        if root == "inputs" and dot:
            problem, text, known = f"reads: there is no input '{shown(rest)}'", rest, inputs
            otherwise = f"declare it: inputs: {{{shown(rest)}: {{type: text}}}}"
        elif root in OUTPUT_WORDS or self._is_word(root, rest):
            if rest in OUTPUT_FORMS and root in self._words():
                return
            known = [f"{word}.{form}" for word in self._words() for form in OUTPUT_FORMS]
        elif root == "project" and dot and "/" not in text:
            known = PROJECT_WORDS
        elif root in ("settings", "context", "phase", "item", "up", "groups") and dot and "/" not in text:
            hint = "name the value itself; prompts can use {{" + shown(text) + "}}"
            self._reading.add(node.line, problem, hint)
            return
        elif _LOOKS_LIKE_FILE.fullmatch(text):
            clean = self._reading.path(node, "reads", frozenset())
            if clean != text:
                self._reading.add(node.line, f"reads: '{shown(text)}' has a shorter spelling", f"write '{clean}'")
            return
        else:
            problem = f"reads: nothing writes a value '{shown(text)}'"
            known = [*self._homes, *READ_WORDS, *(f"inputs.{name}" for name in inputs)]
            otherwise = f"a step writes it with output: {shown(text)}"
        self._reading.add_unknown(node.line, problem, text, known, column=node.column, else_=otherwise)

    def _words(self) -> tuple[str, ...]:
        """What stands before `.full` and `.summary`: the engine's words, and those of kits."""
        return (*OUTPUT_WORDS, *kit_finder.read_words(self._kits))

    def _is_word(self, root: str, form: str) -> bool:
        """Whether such a word is meant, perhaps misspelt or of a kit that is not named, and not a file."""
        near = root in self._words() and closest(form.casefold(), OUTPUT_FORMS)
        return "/" not in root and (form in OUTPUT_FORMS or bool(near))


def _shared(one: tuple[str, ...], other: tuple[str, ...]) -> tuple[str, ...]:
    """The loops both lie in."""
    return tuple(here for here, _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other)))
