"""Agents: how each of them runs, and what it is told."""

from __future__ import annotations

import re
from typing import Literal

from reconvene.core.definition.workflow import Agent
from reconvene.wire.problems import shown
from reconvene.wire.reading import COMMAND_ROOTS, Reading
from reconvene.wire.written_gates import Gates
from reconvene.wire.yaml_reader import Mapping, Node, Scalar, plain

_RUNNERS = ("command", "python", "recorded", "survey")
_FUNCTION = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*:[A-Za-z_]\w*(\.[A-Za-z_]\w*)*")
_NAMED = re.compile(r"\{\{\s*(settings|inputs)\b")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


class Agents:
    """Reads `agents`; afterwards `recordings` holds what the recorded ones replay."""

    def __init__(self, reading: Reading, root: Mapping, gates: Gates) -> None:
        self._reading = reading
        self._root = root
        self._gates = gates
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
        line = self._root.mapping("agents").line_of(name)
        node = written if isinstance(written, Mapping) else Mapping({}, line)
        self._reading.name(name, line, "an agent")
        return Agent(
            name=name,
            kind=self._kind(name, node),
            prompt=self._reading.prompt(node) or self._reading.default_prompt(name, line),
            model=node.text("model", "auto"),
            command=_command(node),
            command_line=self._command_line(node),
            or_model=bool(_command_template(node)) and node.get("model") is not None,
            python=self._python(node),
            recorded=self._recorded(name, node),
            remit=node.text("remit"),
            schema=self._reading.contract(node, "contract"),
            gates=self._gates.of(node),
            retries=node.integer("retries", 2),
            timeout=self._reading.seconds(node, "timeout", 1800.0),
            effects=node.flag("effects"),
            always=node.flag("always"),
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
        spec = node.text("python")
        if spec and not _FUNCTION.fullmatch(spec):
            message = f"'python': '{shown(spec)}' does not name a function"
            self._reading.problems.add(node.line_of("python"), message, "write package.module:function")
        return spec

    def _recorded(self, name: str, node: Mapping) -> str:
        value = node.get("recorded")
        if value is None or _is_false(value):
            return ""
        recording = node.text("recorded", name)
        if recording not in self.recordings:
            self.recordings[recording] = self._reading.recording(recording, node.line_of("recorded"))
        return recording

    def _env(self, node: Mapping) -> tuple[str, ...]:
        for each in node.scalars("env"):
            if not _VARIABLE.fullmatch(str(each.value)):
                message = f"'env': '{shown(each.value)}' is not the name of an environment variable"
                self._reading.problems.add(each.line, message, "names only, no values")
        return node.texts("env")


def _command_template(node: Mapping) -> str:
    """A command that the settings or inputs of the run name. Other braces are the shell's business."""
    text = node.text("command")
    return text if _NAMED.search(text) else ""


def _command(node: Mapping) -> tuple[str, ...]:
    command = node.get("command")
    if _command_template(node):
        return ()
    if isinstance(command, Scalar):
        return ("sh", "-c", str(command.value))
    return node.texts("command")


def _options(node: Mapping) -> dict[str, object]:
    options = node.plain("options")
    tools = node.get("tools")
    return options if tools is None else {**options, "tools": plain(tools)}


def _is_false(node: Node | None) -> bool:
    return isinstance(node, Scalar) and node.value is False
