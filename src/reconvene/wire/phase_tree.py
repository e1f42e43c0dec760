"""Where phases stand to each other, and who works in them: what moves and references are checked against.

Made in a first pass over the whole file, because a phase may name phases that come after it.
"""

from __future__ import annotations

from dataclasses import dataclass

from reconvene.core.definition.workflow import Rounds
from reconvene.wire.problems import shown
from reconvene.wire.reading import Reading
from reconvene.wire.yaml_reader import Mapping, Scalar

EXTRA = "extra"  # what rounds are called that were ordered with `again`
_NOT_IDS = ("previous", "current")


@dataclass(frozen=True, slots=True)
class Place:
    """One phase: `path` leads from the outermost phase to it, `eaches` names those on it that loop over items."""

    id: str
    path: tuple[str, ...]
    eaches: tuple[str, ...]
    order: int
    asks: bool
    rounds: Rounds
    line: int

    @property
    def parents(self) -> tuple[str, ...]:
        return self.path[:-1]


class Places:
    def __init__(self, reading: Reading, root: Mapping) -> None:
        self._reading = reading
        self._by_id: dict[str, Place] = {}
        self._by_line: dict[tuple[int, int], Place] = {}
        self._order = 0
        for phase in root.mappings("phases"):
            self._add(phase, (), ())

    def of(self, phase: Mapping) -> Place:
        return self._by_line[phase.line, phase.column]

    def find(self, phase_id: str, line: int, what: str) -> Place | None:
        """The phase of that id, or None with a problem noted."""
        found = self._by_id.get(phase_id)
        if found is None:
            message = f"{what}: there is no phase '{shown(phase_id)}'"
            self._reading.add_unknown(line, message, phase_id, self._by_id)
        return found

    def on_the_way(self, here: Place, target: Place) -> bool:
        """Whether the target is here, around here, or before that in the same enclosing phases (rule 16)."""
        return self.same_pass(here, target) and target.order <= self._order_at(here, len(target.parents))

    def same_pass(self, here: Place, target: Place) -> bool:
        """Whether every phase around the target is also around here, or is here itself (rule 17)."""
        depth = len(target.parents)
        return depth < len(here.path) and here.path[:depth] == target.parents

    def before(self, here: Place) -> list[str]:
        """The phases that can be run again from here."""
        return [each.id for each in self._by_id.values() if self.on_the_way(here, each)]

    def has_earlier_visit(self, here: Place) -> bool:
        """Whether `previous` can ever mean anything at this place."""
        if here.eaches or here.rounds.max > 1:
            return True
        return any(each is not here and each.asks and self.same_pass(here, each) for each in self._by_id.values())

    def _order_at(self, here: Place, depth: int) -> int:
        around = self._by_id.get(here.path[depth])
        return around.order if around else here.order

    def _add(self, phase: Mapping, parents: tuple[str, ...], eaches: tuple[str, ...]) -> None:
        phase_id = phase.text("id")
        node = phase.get("id")
        line = node.line if node else phase.line
        self._order += 1
        if phase.get("each") is not None:
            eaches = (*eaches, phase_id)
        checkpoint = phase.get("checkpoint")
        asks = checkpoint is not None and not (isinstance(checkpoint, Scalar) and checkpoint.value is False)
        with self._reading.inside(phase=phase_id):
            rounds = _rounds(self._reading, phase)
        place = Place(phase_id, (*parents, phase_id), eaches, self._order, asks, rounds, line)
        self._by_line[phase.line, phase.column] = place
        self._register(place)
        for child in phase.mappings("phases"):
            self._add(child, place.path, eaches)

    def _register(self, place: Place) -> None:
        problems = self._reading.problems
        if not place.id:
            return
        if place.id in _NOT_IDS:
            problems.add(place.line, f"'{place.id}' cannot be the id of a phase", "goto uses that word")
        elif place.id in self._by_id:
            first = self._by_id[place.id].line
            message = f"the phase id '{shown(place.id)}' is used twice, on lines {first} and {place.line}"
            problems.add(place.line, message, "ids are unique in the whole workflow")
        elif self._reading.name(place.id, place.line, "a phase"):
            self._by_id[place.id] = place


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
        agents, groups = declared.get("agents"), declared.get("groups")
        self.agents = tuple(agents.entries) if isinstance(agents, Mapping) else ()
        self._declared_groups = tuple(groups.entries) if isinstance(groups, Mapping) else ()
        self.groups: dict[str, tuple[str, ...]] = {}
        node = root.get("groups")
        for name in node.entries if isinstance(node, Mapping) else ():
            self.groups[name] = self._group(node, name) if isinstance(node, Mapping) else ()

    def knows_group(self, name: str) -> bool:
        return name in self._declared_groups

    def knows(self, name: str) -> bool:
        return name in self.agents or name in self._declared_groups

    @property
    def names(self) -> tuple[str, ...]:
        return (*self.agents, *self._declared_groups)

    def spread(self, nodes: tuple[Scalar, ...]) -> tuple[str, ...]:
        """Agents in the order given, groups spread, nobody twice."""
        found: dict[str, None] = {}
        for node in nodes:
            name = str(node.value)
            if name in self._declared_groups:
                found.update(dict.fromkeys(self.groups.get(name, ())))
            elif name in self.agents:
                found[name] = None
            else:
                self.unknown(name, node.line)
        return tuple(found)

    def unknown(self, name: str, line: int) -> None:
        message = f"there is no agent or group '{shown(name)}'"
        self._reading.add_unknown(line, message, name, self.names)

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
