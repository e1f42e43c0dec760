"""What expressions and templates of one workflow see, by place: the roots, and below them all that can be known.

A value has as many kinds as it has writers: outputs (by their contracts), fields, what options set, what the tracker
keeps. A name that none of them writes is not there. Knows no file and no line.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from itertools import takewhile

from reconvene.core import kit_finder
from reconvene.core.definition import workflow as definition
from reconvene.core.definition.field_types import TYPES
from reconvene.core.definition.run_inputs import ALWAYS
from reconvene.core.definition.survey_results import RESULTS
from reconvene.core.definition.workflow import Again, Checkpoint, Field, Phase, Step, Workflow
from reconvene.core.shown.scope import ENGINE_NAMES
from reconvene.errors import UserError
from reconvene.wire.names import in_expressions
from reconvene.wire.names.kinds import (
    ANYTHING,
    FLAG,
    NOTHING,
    NUMBER,
    OUTSIDE,
    TEXT,
    TEXTS,
    WORDS,
    WRITTEN,
    Kind,
    Later,
    ListOf,
    Plain,
    Record,
    alternatives,
    constant,
    either,
    element,
    map_of,
    record,
    with_parts,
)
from reconvene.wire.names.schema_kinds import kind_of
from reconvene.wire.reading import Use, Where

_REMARK = Record(dict.fromkeys(
    ("id", "kind", "text", "target", "by", "phase", "round", "at", "path", "lines", "was", "now", "level", "reason",
     "opinion", "because", "read_by", "checkpoint", "origin", "quote"), TEXT
))  # fmt: skip
_ROUND = record(n=NUMBER, name=TEXT, extra=FLAG, agents=TEXTS, last=FLAG, serial=NUMBER, missing=TEXTS, max=NUMBER)
_FILES = ListOf(record(name=TEXT, text=TEXT))
_DOCUMENTS = ListOf(
    record(name=TEXT, media=TEXT, digest=TEXT, parts=ListOf(record(place=TEXT, text=TEXT)), notes=TEXTS)
)
_SOURCES = ListOf(record(name=TEXT, kind=TEXT, address=TEXT))
# The engine's own names, which are the same in every workflow. A test compares them with real runs.
_ROOTS: dict[str, Kind] = {
    "phase": record(id=TEXT, entry=NUMBER, iteration=NUMBER),
    "round": _ROUND,
    "feedback": record(count=NUMBER, all=ListOf(_REMARK), here=ListOf(_REMARK), major=FLAG),
    "project": record(path=TEXT, branch=TEXT, base=TEXT, head=TEXT, changed=FLAG),
    "machine": record(model=FLAG, git=FLAG, coder=TEXT),
    "task": record(agent=TEXT, attempt=NUMBER, step=NUMBER),
    "routing": record(affected=TEXTS),
    "decisions": ListOf(
        record(phase=TEXT, round=NUMBER, at=TEXT, option=TEXT, decision=TEXT, checkpoint=TEXT, by=TEXT, remarks=TEXTS,
               approved=TEXTS, late=FLAG, feedback=FLAG, level=TEXT, again=FLAG, last=FLAG, extra=FLAG)
    ),
    "changed": record(
        rows=ListOf(record(agent=TEXT, remark=TEXT, verdict=TEXT, was=TEXT, now=TEXT, why=TEXT, reason=TEXT)),
        nobody=FLAG,
    ),
    "attempts": ListOf(
        record(at=TEXT, phase=TEXT, round=NUMBER, serial=NUMBER, step=NUMBER, agent=TEXT, attempt=NUMBER, verdict=TEXT,
               then=TEXT, code=TEXT, why=TEXT)
    ),
    "rollbacks": ListOf(
        record(at=TEXT, phase=TEXT, round=NUMBER, serial=NUMBER, by=TEXT, why=TEXT, folder=TEXT, pruned=FLAG,
               dropped=FLAG, fields=map_of(ANYTHING), remarks=ListOf(_REMARK))
    ),
    **dict.fromkeys(("output_dir", "run", "workflow", "started", "updated", "name", "year", "n", "text"), TEXT),
    **dict.fromkeys(("tool", "agent"), TEXT),
}  # fmt: skip
_CONTEXT: dict[str, Kind] = {
    "checkpoints": ListOf(
        record(phase=TEXT, decision=TEXT, target=TEXT, skipped=TEXTS, feedback=TEXT, option=TEXT, by=TEXT,
               timestamp=TEXT)
    ),
    "skip_phases": TEXTS,
    "subagents_spawned": NUMBER,
    "files": TEXTS,
    "deliverables": ListOf(record(phase=TEXT, path=TEXT, size=NUMBER, time=TEXT)),
    "gap_checks": ListOf(record(phase=TEXT, action=TEXT, message=TEXT, count=NUMBER, agents=TEXTS, timestamp=TEXT)),
}  # fmt: skip
_BY_PHASE: dict[str, Kind] = {"iteration_counts": NUMBER, "skipped": TEXT, "ended": TEXT}  # of `context.phases`
_INPUTS: dict[str, Kind] = {"number": NUMBER, "bool": FLAG, "files": _FILES, "folder": _FILES, "json": ANYTHING}
_INPUTS |= {"documents": _DOCUMENTS, "sources": _SOURCES}
_GIVEN: dict[str, Kind] = {"text": TEXT, "number": NUMBER, "flag": FLAG, "texts": TEXTS}
_FIELDS = {name: _GIVEN[one.gives] for name, one in TYPES.items()}


class Known:
    def __init__(self, workflow: Workflow) -> None:
        self._workflow = workflow
        self._phases = {phase.id: phase for phase in definition.every_phase(workflow)}
        self._parents = {child.id: phase.id for phase in self._phases.values() for child in phase.phases}
        self._values = self._written()
        self._items: dict[str, Kind] = {}
        ids = tuple(self._phases)
        inputs = Record({ALWAYS: ANYTHING, **{name: _given(each.type) for name, each in workflow.inputs.items()}})
        settings = _settings(workflow, workflow.settings)
        self._roots: dict[str, Kind] = {
            **_ROOTS,
            "context": self._context(inputs, settings),
            "inputs": inputs,
            "settings": settings,
            "groups": Record(dict.fromkeys(workflow.groups, TEXTS)),
            "drafts": self._drafts(),
            "kit": _fields_of(workflow.kits),
            "rounds_by_phase": _by_phase(ids, NUMBER),
            "budget": Record(dict.fromkeys(workflow.limits.group_calls, record(left=NUMBER, of=NUMBER))),
            "items": self._all_items(""),
            "up": Record({each: record(round=_ROUND, item=Later(partial(self._item, each))) for each in ids}),
        }

    def scope(self, use: Use) -> Mapping[str, Kind]:
        """Every root that the use may name, with its kind."""
        where = use.where
        here: dict[str, Kind] = {
            "item": Later(lambda: self._piece(use) if where.pieces else self._item_for(where)),
            "output": WRITTEN if use.template else Later(lambda: self._output(where)),
        }
        if where.setting:
            here["settings"] = self._settings_before(where.setting)
        return {root: here.get(root) or self._roots.get(root, ANYTHING) for root in sorted(use.roots)}

    # --- values -------------------------------------------------------------------------------------------------------

    def _context(self, inputs: Record, settings: Record) -> Record:
        ids = tuple(self._phases)
        own: dict[str, Kind] = {
            **_CONTEXT,
            "feature": inputs.parts[ALWAYS],
            "phases": record(**{each: _by_phase(ids, kind) for each, kind in _BY_PHASE.items()}),
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
                yield phase.track.into, tracked(phase.track.kit)
            if phase.checkpoint is not None:
                yield from _answers(phase.checkpoint)
        if self._workflow.replan is not None:
            yield from ((path, constant(value)) for path, value in self._workflow.replan.set.items())

    def _returned(self, phase: Phase, step: Step) -> Kind:
        """What a step's agents return: one literal agent's output itself, otherwise a map by agent."""
        extra = self._additional(phase)
        if len(step.agents) == 1 and not step.agents_expr:
            return either(*[self._output_of(step, agent) for agent in dict.fromkeys((*step.agents, *extra))])
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
        if schema is None and spec is not None and spec.survey:
            schema = RESULTS.get(spec.survey)
        return WRITTEN if schema is None else kind_of(schema)

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
        value = either(*found) if found else ANYTHING
        return record(text=WORDS, value=value, files=TEXTS, commit=TEXT, diff=WORDS, not_taken=TEXTS)

    def _at_work(self, phase: Phase, step: Step) -> tuple[str, ...]:
        return tuple(self._workflow.agents) if step.agents_expr else (*step.agents, *self._additional(phase))

    def _drafts(self) -> Kind:
        points = [phase.checkpoint for phase in self._phases.values() if phase.checkpoint is not None]
        fields = [field for point in points for field in _fields(point)]
        if any(field.each for field in fields):  # the items name the fields
            return ANYTHING
        return Record(dict.fromkeys((field.id for field in fields), ANYTHING))

    def _settings_before(self, name: str) -> Kind:
        before = takewhile(lambda each: each != name, self._workflow.settings)
        return _settings(self._workflow, before)

    # --- items --------------------------------------------------------------------------------------------------------

    def _item_for(self, where: Where) -> Kind:
        """What `item` is there; for an agent, in any of the phases in which it works."""
        if not where.agent:
            return self._item_at(where.phase)
        every = self._phases.values()
        phases = [each.id for each in every if any(_may_work(step, where.agent) for step in each.steps)]
        return either(*map(self._item_at, phases)) if phases else ANYTHING

    def _item_at(self, phase: str) -> Kind:
        """What `item` is in a phase: that of the innermost loop; in the head of a loop, that of the loop around."""
        if not phase:
            return ANYTHING
        found = [self._item(each) for each in self._loops_around(phase)]
        return either(*found[:2]) if found else OUTSIDE

    def _item(self, phase: str) -> Kind:
        each = self._phases[phase].each
        if each is None:
            return NOTHING
        if phase not in self._items:
            self._items[phase] = ANYTHING  # while it is being worked out
            outer = {**self._roots, "item": self._item_at(self._parents.get(phase, ""))}
            self._items[phase] = _item_of(element(in_expressions.kind_of(each.of, outer)))
        return self._items[phase]

    def _piece(self, use: Use) -> Kind:
        """One of the pieces that an option starts runs for."""
        view: dict[str, Kind] = {"id": TEXT, "title": TEXT, "description": TEXT}
        given = in_expressions.kind_of(use.where.pieces, self.scope(use._replace(where=use.where._replace(pieces=""))))
        return with_parts(_item_of(element(given)), view)

    def _all_items(self, around: str) -> Record:
        """`items.<phase>.<key>.<value>`, loops within loops included."""
        found: dict[str, Kind] = {}
        for phase in self._phases.values():
            if phase.each is not None and next(self._loops_around(self._parents.get(phase.id, "")), "") == around:
                names = [name for name, home in self._workflow.names.items() if home == phase.id]
                inside = self._all_items(phase.id).parts
                found[phase.id] = map_of(Record({**{name: self._values[name] for name in names}, **inside}))
        return Record(found)

    def _loops_around(self, phase: str) -> Iterator[str]:
        """The phases that go through a list, from this one outwards."""
        while phase:
            if self._phases[phase].each is not None:
                yield phase
            phase = self._parents.get(phase, "")


def _may_work(step: Step, agent: str) -> bool:
    return bool(step.agents_expr) or agent in step.agents


def _given(kind: str) -> Kind:
    """An input or a setting of this type."""
    return _INPUTS.get(kind, TEXT)


def _fields(point: Checkpoint) -> list[Field]:
    return [*point.fields, *(field for option in point.options for field in option.fields)]


def _settings(workflow: Workflow, names: Iterable[str]) -> Record:
    """`planning.interactive` is a part of `settings.planning`."""
    parts: dict[str, dict[str, Kind]] = {}
    for name in names:
        group, _, own = name.rpartition(".")
        parts.setdefault(group, {})[own] = _given(workflow.settings[name].type)
    return Record({**parts.pop("", {}), **{group: Record(own) for group, own in parts.items()}})


def _answers(point: Checkpoint) -> Iterator[tuple[str, Kind]]:
    """What leaving a checkpoint writes."""
    for field in _fields(point):
        if field.into:
            answer = either(_FIELDS.get(field.type, ANYTHING), constant(field.blank))
            yield field.into, map_of(answer) if field.each else answer
    for option in point.options:
        for path, value in option.set.items():
            yield path, constant(value)


def _item_of(kind: Kind) -> Kind:
    """What `item` is, given what the list holds: records with their key and index; anything else is a `value`."""
    position: dict[str, Kind] = {"key": TEXT, "index": NUMBER}
    every = alternatives(kind)
    plain = [one for one in every if isinstance(one, Plain | ListOf)]
    records = [with_parts(one, position) for one in every if not isinstance(one, Plain | ListOf)]
    if not every:
        return ANYTHING
    return either(*records, *([Record({"value": either(*plain), **position})] if plain else []))


def _by_phase(ids: Iterable[str], kind: Kind) -> Record:
    return Record(dict.fromkeys(ids, kind))


def _fields_of(kits: tuple[str, ...]) -> Record:
    """`kit.NAME.FIELD`: what a field holds is the kit's business."""

    def fields(name: str) -> Kind:
        try:
            return Record(dict.fromkeys(kit_finder.kit(name).fields, ANYTHING))
        except UserError:  # reported where it is named
            return ANYTHING

    return Record({name: Later(partial(fields, name)) for name in kits})


def tracked(kit: str) -> Kind:
    """What the tracker of a kit keeps; worked out only where somebody looks at it."""
    return Later(lambda: kind_of(kit_finder.tracker(kit).schema()))
