"""Where phases stand to each other, and who works in them: what moves and references are checked against.

Made in a first pass over the whole file, because a phase may name phases that come after it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from reconvene.core.definition.workflow import Rounds
from reconvene.wire.problems import shown
from reconvene.wire.reading import Reading
from reconvene.wire.yaml_reader import Mapping, Scalar

EXTRA = "extra"  # what rounds are called that were ordered with `again`
_NOT_IDS = ("previous", "current")


@dataclass(frozen=True, slots=True)
class PhaseNode:
    """One phase: `path` leads from the outermost phase to it, `eaches` names those on it that loop over items."""

    id: str
    path: tuple[str, ...]
    eaches: tuple[str, ...]
    number: int  # in the order of the file
    asks: bool
    rounds: Rounds
    line: int

    @property
    def parents(self) -> tuple[str, ...]:
        return self.path[:-1]


class PhaseTree:
    def __init__(self, reading: Reading, root: Mapping) -> None:
        self._reading = reading
        self._by_id: dict[str, PhaseNode] = {}
        self._by_line: dict[tuple[int, int], PhaseNode] = {}
        self._count = 0
        for phase in root.mappings("phases"):
            self._add(phase, (), ())

    def of(self, phase: Mapping) -> PhaseNode:
        return self._by_line[phase.line, phase.column]

    def find(self, phase_id: str, line: int, what: str) -> PhaseNode | None:
        """The phase of that id, or None with a problem noted."""
        found = self._by_id.get(phase_id)
        if found is None:
            message = f"{what}: there is no phase '{shown(phase_id)}'"
            self._reading.add_unknown(line, message, phase_id, self._by_id)
        return found

    def on_the_way(self, here: PhaseNode, target: PhaseNode) -> bool:
        """Whether the target is here, around here, or before that in the same enclosing phases (rule 16)."""
        return self.same_pass(here, target) and target.number <= self._number_at(here, len(target.parents))

    def same_pass(self, here: PhaseNode, target: PhaseNode) -> bool:
        """Whether every phase around the target is also around here, or is here itself (rule 17)."""
        depth = len(target.parents)
        return depth < len(here.path) and here.path[:depth] == target.parents

    def before(self, here: PhaseNode) -> list[str]:
        """The phases that can be run again from here."""
        return [each.id for each in self._by_id.values() if self.on_the_way(here, each)]

    def has_earlier_visit(self, here: PhaseNode) -> bool:
        """Whether `previous` can ever mean anything there."""
        if here.eaches or here.rounds.max > 1:
            return True
        return any(each is not here and each.asks and self.same_pass(here, each) for each in self._by_id.values())

    def _number_at(self, here: PhaseNode, depth: int) -> int:
        around = self._by_id.get(here.path[depth])
        return around.number if around else here.number

    def _add(self, phase: Mapping, parents: tuple[str, ...], eaches: tuple[str, ...]) -> None:
        phase_id = phase.text("id")
        node = phase.get("id")
        self._count += 1
        if phase.get("each") is not None:
            eaches = (*eaches, phase_id)
        checkpoint = phase.get("checkpoint")
        asks = checkpoint is not None and not (isinstance(checkpoint, Scalar) and checkpoint.value is False)
        with self._reading.inside(phase=phase_id):
            rounds = _rounds(self._reading, phase)
        line = node.line if node else phase.line
        found = PhaseNode(phase_id, (*parents, phase_id), eaches, self._count, asks, rounds, line)
        self._by_line[phase.line, phase.column] = found
        if phase_id:
            self._register(found)
        for child in phase.mappings("phases"):
            self._add(child, found.path, eaches)

    def _register(self, phase: PhaseNode) -> None:
        if phase.id in _NOT_IDS:
            self._reading.add(phase.line, f"'{phase.id}' cannot be the id of a phase", "goto uses that word")
        elif phase.id in self._by_id:
            first = self._by_id[phase.id].line
            message = f"the phase id '{shown(phase.id)}' is used twice, on lines {first} and {phase.line}"
            self._reading.add(phase.line, message, "ids are unique in the whole workflow")
        elif self._reading.name(phase.id, phase.line, "a phase"):
            self._by_id[phase.id] = phase


def _rounds(reading: Reading, phase: Mapping) -> Rounds:
    node = phase.get("rounds")
    if not isinstance(node, Mapping):
        return Rounds()
    plan = node.texts("plan") or ("main",)
    if EXTRA in plan:
        message = f"'plan': '{EXTRA}' cannot be the name of a round"
        reading.add(node.line_of("plan"), message, "rounds that are ordered with again are called that")
    until = reading.expression(node, "until")
    open_ended = bool(until) and not node.wrote("plan")
    if open_ended and not node.wrote("max"):
        reading.add(node.line_of("until"), "a loop without a limit: 'until' needs 'max'", "such as max: 10")
    most = node.integer("max", len(plan))
    if len(plan) > most:
        message = f"the plan holds {len(plan)} rounds, 'max' allows {most}"
        reading.add(node.line_of("max"), message, f"set max: {len(plan)} or more")
    folder = node.get("folder")
    named = reading.path(folder, "'folder'") if isinstance(folder, Scalar) else ""
    return Rounds(plan, most, until, node.integer("undo", 2), open_ended, named)


class Roster:
    """The agents and groups a workflow declares."""

    def __init__(self, reading: Reading, root: Mapping, declared: Mapping) -> None:
        """`declared` is the file as written: an agent with a mistake in it is still an agent that steps may name."""
        self._reading = reading
        self.agents = tuple(declared.mapping("agents").entries)
        self.declared_groups = tuple(declared.mapping("groups").entries)
        self.names = (*self.agents, *self.declared_groups)
        named = declared.mapping("agents")
        self.with_tools = tuple(name for name in self.agents if named.mapping(name).get("tools") is not None)
        groups = root.mapping("groups")
        self.groups = {name: self._group(groups, name) for name in groups.entries}

    def spread(self, nodes: Iterable[Scalar]) -> tuple[str, ...]:
        """Agents in the order given, groups spread, nobody twice."""
        found: dict[str, None] = {}
        for node in nodes:
            name = str(node.value)
            if name in self.declared_groups:
                found.update(dict.fromkeys(self.groups.get(name, ())))
            elif name in self.agents:
                found[name] = None
            else:
                message = f"there is no agent or group '{shown(name)}'"
                self._reading.add_unknown(node.line, message, name, self.names)
        return tuple(found)

    def _group(self, groups: Mapping, name: str) -> tuple[str, ...]:
        line = groups.line_of(name)
        self._reading.name(name, line, "a group")
        if name in self.agents:
            self._reading.add(line, f"'{shown(name)}' is both an agent and a group", "rename one of them")
        members: dict[str, None] = {}
        for node in groups.scalars(name):
            if node.value in self.agents:
                members[str(node.value)] = None
            else:
                message = f"group '{shown(name)}': there is no agent '{shown(node.value)}'"
                self._reading.add_unknown(node.line, message, str(node.value), self.agents)
        return tuple(members)
