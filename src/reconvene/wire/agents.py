"""Agents: how each of them runs, what it is told, and the gates that outputs must pass, of an agent or of a step."""

from __future__ import annotations

import re
from typing import Literal, cast

from msgspec.structs import replace

from reconvene.core import kit_finder
from reconvene.core.definition.workflow import Agent, Gate, Loop
from reconvene.wire.agent_tools import Tools
from reconvene.wire.problems import shown
from reconvene.wire.reading import COMMAND_ROOTS, GATE_ROOTS, VARIABLE, Named, Reading
from reconvene.wire.yaml_reader import Mapping, Node, Scalar

_Kind = Literal["model", "command", "python", "recorded", "survey"]
Sandbox = Literal["auto", "strict", "off"]
_RUNNERS = ("command", "python", "recorded", "survey")
_FUNCTION = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*:[A-Za-z_]\w*(\.[A-Za-z_]\w*)*")
_NAMED = re.compile(r"\{\{\s*(settings|inputs)\b")
_CODE = re.compile(r"[A-Z][A-Z0-9_]*")


class Gates:
    """Written where they are used, or used by name."""

    def __init__(self, reading: Reading, root: Mapping) -> None:
        self._reading = reading
        self._named = Named(reading, root, "gates", "gate", ("agent or step", "gate"))
        self.check_all_used = self._named.check_all_used

    def of(self, owner: Mapping) -> tuple[Gate, ...]:
        return tuple(gate for each in self._named.spread(owner.get("gate")) for gate in self._gates(each))

    def _gates(self, node: Mapping) -> list[Gate]:
        """One mapping may hold several rules; each becomes a gate of its own, so that each says what failed."""
        gates = []
        if node.get("min_chars") is not None:
            gates.append(Gate(min_chars=node.integer("min_chars", 1)))
        if headings := node.texts("headings"):
            gates.append(Gate(headings=headings))
        if about := node.texts("specific_to"):
            gates.append(Gate(kit="reading.specific_to", about=about))
        if name := node.text("kit"):
            self._reading.kit(name, node.line_of("kit"), kit_finder.gate)
            gates.append(Gate(kit=name, about=node.texts("about"), options=node.plain("options")))
        if node.get("if") is not None:
            gates.append(Gate(when=self._reading.expression(node, "if", GATE_ROOTS)))
        if question := node.text("ask"):
            gates.append(Gate(ask=question))
        if not set(node.key_lines) - {"retry_with", "code", "example", "append"}:
            message = "a gate needs one of min_chars, headings, specific_to, if, ask, kit"
            self._reading.add(node.line, message, "such as min_chars: 200")
        retry_with, code = self._reading.template(node, "retry_with"), node.text("code")
        if code and not _CODE.fullmatch(code):
            hint = "capital letters and _, such as NO_GAPS_ADDRESSED"
            self._reading.add(node.line_of("code"), f"'code': '{shown(code)}' is not a code", hint)
        example = self._reading.prompt(node, "example", template=False)
        append = self._reading.template(node, "append")
        if append and [gate for gate in gates if not gate.when]:
            hint = "put the other rules into a gate of their own"
            self._reading.add(node.line_of("append"), "'append' goes with 'if' alone", hint)
        if append and retry_with:
            hint = "an output that something is added to is not sent back: keep one of the two"
            self._reading.add(node.line_of("append"), "'append' beside 'retry_with'", hint)
        return [replace(gate, retry_with=retry_with, code=code, example=example, append=append) for gate in gates]


class Agents:
    """Reads `agents`; afterwards `recordings` holds what the recorded ones replay."""

    def __init__(self, reading: Reading, root: Mapping, gates: Gates) -> None:
        self._reading = reading
        self._written = root.mapping("agents")
        self._gates = gates
        self._sandbox = root.text("sandbox", "auto")
        self._tools = Tools(reading)
        self.recordings: dict[str, object] = {}

    def read(self) -> dict[str, Agent]:
        found = {}
        for name in self._written.entries:
            with self._reading.inside(agent=name):
                found[name] = self._agent(name, self._written.mapping(name))
        return found

    def _agent(self, name: str, node: Mapping) -> Agent:
        line = self._written.line_of(name)
        self._reading.name(name, line, "an agent")
        self._check_sandbox(name, node)
        settled = not _NAMED.search(node.text("command"))  # other braces are the shell's business
        return Agent(
            name=name,
            kind=self._kind(name, node),
            prompt=self._reading.prompt(node) or self._reading.default_prompt(name, line),
            model=node.text("model", "auto"),
            command=_command(node) if settled else (),
            command_line="" if settled else self._reading.template(node, "command", COMMAND_ROOTS),
            or_model=not settled and node.get("model") is not None,
            python=self._python(node),
            beside=self._reading.folder_of_module(node.text("python").partition(":")[0]),
            recorded=self._recorded(name, node),
            remit=node.text("remit"),
            schema=self._reading.contract(node, "contract"),
            gates=self._gates.of(node),
            retries=node.integer("retries", 2),
            timeout=self._reading.seconds(node, "timeout", 1800.0),
            effects=node.flag("effects"),
            always=node.flag("always"),
            env=self._env(node),
            options=node.plain("options"),
            line=line,
            sandbox=cast(Sandbox, node.text("sandbox", self._sandbox)),
            network=node.get("network") is None or node.flag("network"),
            devices=node.texts("devices"),
            sockets=node.texts("sockets"),
            tools=self._tools.of(name, node, uses_tools=self._is_model(node) or _is_set(node.get("recorded"))),
            loop=_loop(node.mapping("loop")) if node.get("loop") is not None else None,
            survey="" if (looks := node.text("survey")) == "project" else looks,
        )

    def _is_model(self, node: Mapping) -> bool:
        return not any(_is_set(node.get(key)) for key in _RUNNERS) or node.get("model") is not None

    def _check_sandbox(self, name: str, node: Mapping) -> None:
        """What keeps a command in means nothing for who works in the engine's own process, or is no program at all."""
        for key in ("sandbox", "network", "devices", "sockets"):
            trusted = key == "sandbox" and node.text("sandbox") == "off"  # in a workflow that is strict
            if node.wrote(key) and _is_set(node.get("python")) and not trusted:
                message = f"agent '{shown(name)}': '{key}' is for a command; a function shares the engine's process"
                self._reading.add(node.line_of(key), message, f"remove '{key}', or let a command call the function")
        if node.text("sandbox", self._sandbox) == "strict" and "docker" in node.texts("sockets"):
            message = f"agent '{shown(name)}': whoever may use docker's socket can do anything here: that is no sandbox"
            self._reading.add(node.line_of("sockets"), message, "remove docker, or write sandbox: auto")
        for key, known, below in (("devices", ("gpu",), "/dev/"), ("sockets", ("docker", "own"), "/")):
            for each in node.scalars(key):
                value = str(each.value)
                if value not in known and (".." in value or not value.startswith(below)):
                    message = f"'{key}': '{shown(value)}' is neither {' nor '.join(known)} nor a path below {below}"
                    self._reading.add(each.line, message, f"such as {key}: [{known[0]}]")

    def _kind(self, name: str, node: Mapping) -> _Kind:
        ways = [key for key in _RUNNERS if _is_set(node.get(key))]
        if len(ways) > 1:
            message = f"agent '{shown(name)}' has {' and '.join(ways)}"
            self._reading.add(node.line_of(ways[1]), message, "an agent is run in one way: keep one of them")
        return cast(_Kind, ways[0]) if ways else "model"

    def _python(self, node: Mapping) -> str:
        spec = node.text("python")
        if spec and not _FUNCTION.fullmatch(spec):
            message = f"'python': '{shown(spec)}' does not name a function"
            self._reading.add(node.line_of("python"), message, "write package.module:function")
        return spec

    def _recorded(self, name: str, node: Mapping) -> str:
        if not _is_set(node.get("recorded")):
            return ""
        recording = node.text("recorded", name)
        if recording not in self.recordings:
            self.recordings[recording] = self._reading.recording(recording, node.line_of("recorded"))
        return recording

    def _env(self, node: Mapping) -> tuple[str, ...]:
        for each in node.scalars("env"):
            if not VARIABLE.fullmatch(str(each.value)):
                message = f"'env': '{shown(each.value)}' is not the name of an environment variable"
                self._reading.add(each.line, message, "names only, no values")
        return node.texts("env")


def _command(node: Mapping) -> tuple[str, ...]:
    command = node.get("command")
    return ("sh", "-c", str(command.value)) if isinstance(command, Scalar) else node.texts("command")


def _is_set(node: Node | None) -> bool:
    return node is not None and not (isinstance(node, Scalar) and node.value is False)


def _loop(node: Mapping) -> Loop:
    usual, cost = Loop(), node.get("cost")
    return Loop(
        node.integer("turns", usual.turns),
        node.integer("tokens", usual.tokens),
        float(cost.value) if isinstance(cost, Scalar) and isinstance(cost.value, int | float) else usual.cost,
    )
