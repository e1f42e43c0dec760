"""What expressions and templates of one workflow see, by place: the roots, and below them all that can be known.

A value has as many kinds as it has writers: outputs (by their contracts), fields, what options set, what the tracker
keeps. A name that none of them writes is not there. Knows no file and no line.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from reconvene.core.definition.field_types import TYPES
from reconvene.core.definition.run_inputs import ALWAYS
from reconvene.core.definition.workflow import (
    Again,
    Checkpoint,
    Field,
    Input,
    Phase,
    Setting,
    Step,
    Workflow,
    every_phase,
)
from reconvene.core.shown.scope import ENGINE_NAMES
from reconvene.wire.names import engine_names as engine
from reconvene.wire.names import in_expressions
from reconvene.wire.names.kinds import (
    ANYTHING,
    FLAG,
    NOTHING,
    NUMBER,
    OUTSIDE,
    TEXT,
    TEXTS,
    Kind,
    Later,
    Record,
    constant,
    either,
    either_of,
    element,
    map_of,
    record,
    with_parts,
)
from reconvene.wire.names.schema_kinds import kind_of
from reconvene.wire.names.uses import Use, Where

_INPUTS: dict[str, Kind] = {
    "text": TEXT,
    "number": NUMBER,
    "bool": FLAG,
    "file": TEXT,
    "files": engine.FILES,
    "folder": engine.FILES,
    "project": TEXT,
}
_GIVEN: dict[str, Kind] = {"text": TEXT, "number": NUMBER, "flag": FLAG, "texts": TEXTS}
_FIELDS = {name: _GIVEN[one.gives] for name, one in TYPES.items()}


class Known:
    def __init__(self, workflow: Workflow) -> None:
        self._workflow = workflow
        self._phases = {phase.id: phase for phase in every_phase(workflow)}
        self._parents = {child.id: phase.id for phase in self._phases.values() for child in phase.phases}
        self._values = self._written()
        self._items: dict[str, Kind] = {}
        ids = tuple(self._phases)
        inputs = Record({ALWAYS: ANYTHING, **{name: _input(each) for name, each in workflow.inputs.items()}})
        settings = Record({name: _setting(each) for name, each in workflow.settings.items()})
        self._roots: dict[str, Kind] = {
            "context": self._context(inputs, settings),
            "inputs": inputs,
            "settings": settings,
            "phase": engine.PHASE,
            "round": engine.ROUND,
            "groups": Record(dict.fromkeys(workflow.groups, TEXTS)),
            "feedback": engine.FEEDBACK,
            "drafts": self._drafts(),
            "attempts": engine.ATTEMPTS,
            "rollbacks": engine.ROLLBACKS,
            "project": engine.PROJECT,
            "kit": engine.fields_of(workflow.kits),
            "decisions": engine.DECISIONS,
            "rounds_by_phase": engine.by_phase(ids, NUMBER),
            "routing": engine.ROUTING,
            "machine": engine.MACHINE,
            "task": engine.TASK,
            **dict.fromkeys(("output_dir", "run", "workflow", "started", "updated", "name", "year", "n", "text"), TEXT),
        }
        self._roots["items"] = self._all_items("")

        self._roots["up"] = Record({each: record(round=engine.ROUND, item=self._item_later(each)) for each in ids})

    def scope(self, use: Use) -> Mapping[str, Kind]:
        """Every root that the use may name, with its kind."""
        return _Scope(use.roots, lambda root: self._root(root, use))

    def _root(self, root: str, use: Use) -> Kind:
        match root:
            case "item":
                return self._piece(use) if use.where.pieces else self._item_for(use.where)
            case "output":
                return ANYTHING if use.template else self._output(use.where)
            case "settings" if use.where.setting:
                return self._settings_before(use.where.setting)
            case _:
                return self._roots.get(root, ANYTHING)

    # --- values -------------------------------------------------------------------------------------------------------

    def _context(self, inputs: Record, settings: Record) -> Record:
        ids = tuple(self._phases)
        own: dict[str, Kind] = {
            "feature": inputs.parts[ALWAYS],
            "checkpoints": engine.CHECKPOINTS,
            "skip_phases": TEXTS,
            "phases": engine.phases(ids),
            "subagents_spawned": NUMBER,
            "deliverables": engine.DELIVERABLES,
            "gap_checks": engine.GAP_CHECKS,
            "inputs": inputs,
            "settings": settings,
        }
        # The workflow's values come first: they are what a misspelt name was most likely meant to be.
        return Record({**self._values, **dict.fromkeys(ENGINE_NAMES, TEXT), **own})

    def _written(self) -> dict[str, Kind]:
        """Value name → what its writers make of it."""
        found: dict[str, list[Kind]] = {name: [] for name in self._workflow.names}
        for path, kind in self._writers():
            name, *rest = path.split(".")
            for word in reversed(rest):
                kind = Record({word: kind})
            found.setdefault(name, []).append(kind)
        return {name: either(*kinds) if kinds else ANYTHING for name, kinds in found.items()}

    def _writers(self) -> Iterator[tuple[str, Kind]]:
        for phase in self._phases.values():
            for step in phase.steps:
                if step.output:
                    yield step.output, self._returned(phase, step)
            if phase.track is not None:
                yield phase.track.into, engine.tracked(phase.track.kit)
            if phase.checkpoint is not None:
                yield from _answers(phase.checkpoint)

    def _returned(self, phase: Phase, step: Step) -> Kind:
        """What a step's agents return: one literal agent's output itself, otherwise a map by agent."""
        extra = self._additional(phase)
        if len(step.agents) == 1 and not step.agents_expr:
            return either_of(self._output_of(step, agent) for agent in dict.fromkeys((*step.agents, *extra)))
        return Record({agent: self._output_of(step, agent) for agent in self._at_work(phase, step)})

    def _additional(self, phase: Phase) -> tuple[str, ...]:
        """Who may join a round of this phase though no step names them."""
        if phase.check is not None and phase.check.script:
            return tuple(self._workflow.agents)
        moves = [rule.then for rule in phase.check.rules] if phase.check is not None else []
        moves += [option.then for option in phase.checkpoint.options] if phase.checkpoint is not None else []
        return tuple(agent for move in moves if isinstance(move, Again) for agent in move.agents)

    def _output_of(self, step: Step, agent: str) -> Kind:
        spec = self._workflow.agents.get(agent)
        schema = step.schema if step.schema is not None or spec is None else spec.schema
        return ANYTHING if schema is None else kind_of(schema)

    def _output(self, where: Where) -> Kind:
        """What a gate judges: of an agent, its output in any step; of a step, that of any of its agents."""
        phases = [self._phases[where.phase]] if where.step else self._phases.values()
        found = [
            self._output_of(step, agent)
            for phase in phases
            for index, step in enumerate(phase.steps)
            for agent in ([where.agent] if where.agent else self._at_work(phase, step))
            if (where.step == str(index) if where.step else _may_work(step, agent))
        ]
        value = either_of(found) if found else ANYTHING
        return record(text=TEXT, value=value, files=TEXTS, commit=TEXT, diff=TEXT)

    def _at_work(self, phase: Phase, step: Step) -> tuple[str, ...]:
        return tuple(self._workflow.agents) if step.agents_expr else (*step.agents, *self._additional(phase))

    def _drafts(self) -> Kind:
        points = [phase.checkpoint for phase in self._phases.values() if phase.checkpoint is not None]
        fields = [field for point in points for field in _fields(point)]
        if any(field.each for field in fields):  # the items name the fields
            return ANYTHING
        return Record(dict.fromkeys((field.id for field in fields), ANYTHING))

    def _settings_before(self, name: str) -> Kind:
        before: dict[str, Kind] = {}
        for each, spec in self._workflow.settings.items():
            if each == name:
                break
            before[each] = _setting(spec)
        return Record(before)

    # --- items --------------------------------------------------------------------------------------------------------

    def _item_for(self, where: Where) -> Kind:
        """What `item` is there; for an agent, in any of the phases in which it works."""
        if not where.agent:
            return self._item_at(where.phase)
        every = self._phases.values()
        phases = [each.id for each in every if any(_may_work(step, where.agent) for step in each.steps)]
        return either_of(self._item_at(each) for each in phases) if phases else ANYTHING

    def _item_at(self, phase: str) -> Kind:
        """What `item` is in a phase: that of the innermost loop; in the head of a loop, that of the loop around."""
        if not phase:
            return ANYTHING
        found: list[Kind] = []
        while phase:
            if self._phases[phase].each is not None:
                found.append(self._item(phase))
            phase = self._parents.get(phase, "")
        return either(*found[:2]) if found else OUTSIDE

    def _item_later(self, phase: str) -> Kind:
        return Later(lambda: self._item(phase))

    def _item(self, phase: str) -> Kind:
        each = self._phases[phase].each
        if each is None:
            return NOTHING
        if phase not in self._items:
            self._items[phase] = ANYTHING  # while it is being worked out
            outer = {**self._roots, "item": self._item_at(self._parents.get(phase, ""))}
            self._items[phase] = engine.item_of(element(in_expressions.kind_of(each.of, outer)))
        return self._items[phase]

    def _piece(self, use: Use) -> Kind:
        """One of the pieces that an option starts runs for."""
        view: dict[str, Kind] = {"id": TEXT, "title": TEXT, "description": TEXT}
        given = in_expressions.kind_of(use.where.pieces, self.scope(use._replace(where=use.where._replace(pieces=""))))
        return with_parts(engine.item_of(element(given)), view)

    def _all_items(self, around: str) -> Record:
        """`items.<phase>.<key>.<value>`, loops within loops included."""
        found: dict[str, Kind] = {}
        for phase in self._phases.values():
            if phase.each is not None and self._loop_around(phase.id) == around:
                names = [name for name, home in self._workflow.names.items() if home == phase.id]
                inside = self._all_items(phase.id).parts
                found[phase.id] = map_of(Record({**{name: self._values[name] for name in names}, **inside}))
        return Record(found)

    def _loop_around(self, phase: str) -> str:
        phase = self._parents.get(phase, "")
        while phase and self._phases[phase].each is None:
            phase = self._parents.get(phase, "")
        return phase


class _Scope(Mapping[str, Kind]):
    """Roots by name, each worked out when it is asked for."""

    def __init__(self, roots: frozenset[str], kind: Callable[[str], Kind]) -> None:
        self._roots = roots
        self._kind = kind

    def __getitem__(self, root: str) -> Kind:
        if root not in self._roots:
            raise KeyError(root)
        return self._kind(root)

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(self._roots))

    def __len__(self) -> int:
        return len(self._roots)


def _may_work(step: Step, agent: str) -> bool:
    return bool(step.agents_expr) or agent in step.agents


def _input(spec: Input) -> Kind:
    return _INPUTS.get(spec.type, ANYTHING)


def _setting(spec: Setting) -> Kind:
    return _INPUTS.get(spec.type, ANYTHING)


def _fields(point: Checkpoint) -> list[Field]:
    return [*point.fields, *(field for option in point.options for field in option.fields)]


def _answers(point: Checkpoint) -> Iterator[tuple[str, Kind]]:
    """What leaving a checkpoint writes."""
    for field in _fields(point):
        if field.into:
            answer = either(_FIELDS.get(field.type, ANYTHING), constant(field.blank))
            yield field.into, map_of(answer) if field.each else answer
    for option in point.options:
        for path, value in option.set.items():
            yield path, constant(value)
