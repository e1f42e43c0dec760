"""Agents and their gates."""

from __future__ import annotations

import re
from typing import Literal

from msgspec.structs import replace

from reconvene.core import kit_finder
from reconvene.core.definition.workflow import Agent, Gate
from reconvene.wire.problems import shown
from reconvene.wire.reading import (
    COMMAND_ROOTS,
    GATE_ROOTS,
    Reading,
    flag_of,
    int_of,
    line_in,
    mappings,
    scalars,
    text_of,
    texts_of,
)
from reconvene.wire.yaml_reader import Mapping, Node, Scalar, plain

_RUNNERS = ("command", "python", "recorded", "survey")
_EXTRAS = ("base_url", "temperature", "max_tokens", "tools")
_FUNCTION = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*:[A-Za-z_]\w*(\.[A-Za-z_]\w*)*")
_NAMED = re.compile(r"\{\{\s*(settings|inputs)\b")
_CODE = re.compile(r"[A-Z][A-Z0-9_]*")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


class Agents:
    """Reads `agents`; afterwards `recordings` holds what the recorded ones replay."""

    def __init__(self, reading: Reading, root: Mapping) -> None:
        self._reading = reading
        self._root = root
        self.recordings: dict[str, object] = {}

    def read(self) -> dict[str, Agent]:
        node = self._root.get("agents")
        if not isinstance(node, Mapping):
            return {}
        found = {}
        for name, each in node.entries.items():
            with self._reading.inside(agent=name):
                found[name] = self._agent(name, each)
        return found

    def _agent(self, name: str, written: Node) -> Agent:
        line = line_in(self._root, "agents", name)
        node = written if isinstance(written, Mapping) else Mapping({}, line)
        self._reading.name(name, line, "an agent")
        return Agent(
            name=name,
            kind=self._kind(name, node),
            prompt=self._reading.prompt(node) or self._reading.default_prompt(name, line),
            model=text_of(node, "model", "auto"),
            command=_command(node),
            command_line=self._command_line(node),
            or_model=bool(_command_template(node)) and node.get("model") is not None,
            python=self._python(node),
            recorded=self._recorded(name, node),
            remit=text_of(node, "remit"),
            schema=self._contract(node),
            gates=tuple(gate for each in mappings(node, "gate") for gate in self._gates(each)),
            retries=int_of(node, "retries", 2),
            timeout=self._reading.seconds(node, "timeout", 1800.0),
            effects=flag_of(node, "effects"),
            always=flag_of(node, "always"),
            env=self._env(node),
            options=_options(node),
            line=line,
        )

    def _command_line(self, node: Mapping) -> str:
        return self._reading.template(node, "command", COMMAND_ROOTS) if _command_template(node) else ""

    def _kind(self, name: str, node: Mapping) -> Literal["model", "command", "python", "recorded", "survey"]:
        given = [key for key in _RUNNERS if node.get(key) is not None and not _is_false(node.get(key))]
        if len(given) > 1:
            message = f"agent '{shown(name)}' has {' and '.join(given)}"
            self._reading.problems.add(node.line_of(given[1]), message, "an agent is run in one way: keep one of them")
        match given[:1]:
            case ["command"]:
                return "command"
            case ["python"]:
                return "python"
            case ["recorded"]:
                return "recorded"
            case ["survey"]:
                return "survey"
            case _:
                return "model"

    def _python(self, node: Mapping) -> str:
        spec = text_of(node, "python")
        if spec and not _FUNCTION.fullmatch(spec):
            message = f"'python': '{shown(spec)}' does not name a function"
            self._reading.problems.add(node.line_of("python"), message, "write package.module:function")
        return spec

    def _recorded(self, name: str, node: Mapping) -> str:
        value = node.get("recorded")
        if value is None or _is_false(value):
            return ""
        recording = text_of(node, "recorded", name)
        if recording not in self.recordings:
            self.recordings[recording] = self._reading.recording(recording, node.line_of("recorded"))
        return recording

    def _contract(self, node: Mapping) -> object:
        if node.get("contract") is not None and node.get("schema") is not None:
            message = "'contract' and 'schema' are two words for the same thing"
            self._reading.problems.add(node.line_of("schema"), message, "keep one of them")
        return self._reading.contract(node, "contract" if node.get("contract") is not None else "schema")

    def _env(self, node: Mapping) -> tuple[str, ...]:
        for each in scalars(node, "env"):
            if not _VARIABLE.fullmatch(str(each.value)):
                message = f"'env': '{shown(each.value)}' is not the name of an environment variable"
                self._reading.problems.add(each.line, message, "names only, no values")
        return texts_of(node, "env")

    def _gates(self, node: Mapping) -> list[Gate]:
        """One mapping may hold several rules; each becomes a gate of its own, so that each says what failed."""
        gates = []
        if node.get("min_chars") is not None:
            gates.append(Gate(min_chars=int_of(node, "min_chars", 1)))
        if headings := texts_of(node, "headings"):
            gates.append(Gate(headings=headings))
        if node.get("schema") is not None:
            gates.append(Gate(schema=self._reading.contract(node, "schema")))
        if about := texts_of(node, "specific_to"):
            gates.append(Gate(kit="reading.specific_to", about=about))
        if name := text_of(node, "kit"):
            gates.append(Gate(kit=self._known_gate(name, node), about=texts_of(node, "about"), options=_given(node)))
        if node.get("if") is not None:
            gates.append(Gate(when=self._reading.expression(node, "if", GATE_ROOTS)))
        if question := text_of(node, "ask"):
            gates.append(Gate(ask=question))
        if not set(node.key_lines) - {"retry_with", "code", "example"}:
            message = "a gate needs one of min_chars, headings, schema, specific_to, if, ask, kit"
            self._reading.problems.add(node.line, message, "such as min_chars: 200")
        retry_with, code = self._reading.template(node, "retry_with"), self._code(node)
        example = self._reading.prompt(node, "example", template=False)
        return [replace(gate, retry_with=retry_with, code=code, example=example) for gate in gates]

    def _known_gate(self, name: str, node: Mapping) -> str:
        self._reading.kit(name, node.line_of("kit"), kit_finder.gate)
        return name

    def _code(self, node: Mapping) -> str:
        code = text_of(node, "code")
        if code and not _CODE.fullmatch(code):
            message = f"'code': '{shown(code)}' is not a code"
            self._reading.problems.add(
                node.line_of("code"), message, "capital letters and _, such as NO_GAPS_ADDRESSED"
            )
        return code


def _command_template(node: Mapping) -> str:
    """A command that the settings or inputs of the run name. Other braces are the shell's business."""
    text = text_of(node, "command")
    return text if _NAMED.search(text) else ""


def _command(node: Mapping) -> tuple[str, ...]:
    command = node.get("command")
    if _command_template(node):
        return ()
    if isinstance(command, Scalar):
        return ("sh", "-c", str(command.value))
    return texts_of(node, "command")


def _given(node: Mapping) -> dict[str, object]:
    given = node.get("options")
    return {key: plain(value) for key, value in given.entries.items()} if isinstance(given, Mapping) else {}


def _options(node: Mapping) -> dict[str, object]:
    options = _given(node)
    for key in _EXTRAS:
        value = node.get(key)
        if value is not None:
            options[key] = plain(value)
    return options


def _is_false(node: Node | None) -> bool:
    return isinstance(node, Scalar) and node.value is False
