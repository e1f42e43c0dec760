"""Phases and their steps, long and short forms."""

from __future__ import annotations

import json
import re
from typing import Literal, cast

from reconvene.core import kit_finder
from reconvene.core.definition.workflow import Each, Phase, Step, Track
from reconvene.wire.agents import Gates
from reconvene.wire.checkpoints import Checkpoints
from reconvene.wire.phase_tree import EXTRA, PhaseNode, PhaseTree, Roster
from reconvene.wire.problems import shown
from reconvene.wire.reading import Reading
from reconvene.wire.values import Values
from reconvene.wire.written_moves import Moves
from reconvene.wire.yaml_reader import Mapping, Scalar

_SHORT = ("agents", "prompt", "revise", "reads", "writes", "output", "gate", "missing", "place")
_NAME = re.compile(r"[\w-]+")
_Place = Literal["", "project", "project.read"]


class Phases:
    def __init__(
        self, reading: Reading, root: Mapping, tree: PhaseTree, roster: Roster, values: Values, gates: Gates
    ) -> None:
        self._reading = reading
        self._root = root
        self._tree = tree
        self._roster = roster
        self._values = values
        self._gates = gates
        self._moves = Moves(reading, tree, roster)
        self._checkpoints = Checkpoints(reading, root, self._moves, values)

    def read(self) -> tuple[Phase, ...]:
        phases = self._phases(self._root, ())
        self._checkpoints.check_all_used()
        return phases

    def _phases(self, owner: Mapping, shared: tuple[Scalar, ...]) -> tuple[Phase, ...]:
        """`shared`: what all of them read before what they name themselves."""
        return tuple(self._phase(each, self._tree.of(each), shared) for each in owner.mappings("phases"))

    def _phase(self, node: Mapping, here: PhaseNode, shared: tuple[Scalar, ...]) -> Phase:
        self._check_body(node)
        below = (*shared, *node.scalars("reads"))
        with self._reading.inside(phase=here.id):
            return Phase(
                id=here.id,
                when=self._reading.expression(node, "when"),
                each=self._each(node),
                rounds=here.rounds,
                steps=self._steps(node, here, shared, below),
                phases=self._phases(node, below),
                check=self._moves.check_of(node, here),
                checkpoint=self._checkpoints.of(node, here),
                title=node.text("title"),
                line=here.line,
                track=self._track(node, here),
            )

    def _check_body(self, node: Mapping) -> None:
        add = self._reading.add
        short = [key for key in _SHORT if node.get(key) is not None]
        if node.get("steps") is not None and node.get("phases") is not None:
            add(node.line_of("phases"), "a phase has either steps or phases", "put the steps into a phase of their own")
        if node.wrote("steps") or node.wrote("phases"):
            short = [key for key in short if key != "reads"]
        for body in ("steps", "phases"):
            if short and node.get(body) is not None:
                message = f"a phase has either '{short[0]}' or '{body}'"
                add(node.line_of(short[0]), message, f"move '{short[0]}' into one of the {body}")
                return
        if short and not node.wrote("agents"):
            add(node.line_of(short[0]), f"'{short[0]}' needs 'agents' in the same phase", "who does the work?")

    def _each(self, node: Mapping) -> Each | None:
        each = node.get("each")
        if not isinstance(each, Mapping):
            return None
        of, until = self._reading.expression(each, "of"), self._reading.expression(each, "until")
        return Each(of=of, key=each.text("key", "id"), until=until)

    def _track(self, node: Mapping, here: PhaseNode) -> Track | None:
        track = node.get("track")
        if not isinstance(track, Mapping):
            return None
        kit = track.text("kit")
        for key, example in (("kit", "gaps"), ("into", "gaps")):
            if not track.wrote(key):
                self._reading.add(track.line, f"'track' needs '{key}'", f"such as {key}: {example}")
        if track.wrote("into"):
            self._values.written(track.text("into"), track.line_of("into"), "'into'", here)
        tracker = self._reading.kit(kit, track.line_of("kit"), kit_finder.tracker) if kit else None
        if tracker is None:
            return None
        documents = kit_finder.documents(tracker)
        for key in track.entries:
            known = ("kit", "into", *tracker.expressions, *tracker.outputs, *documents)
            if key not in known:
                message = f"unknown key '{shown(key)}' in 'track' of the kit {kit}"
                self._reading.add_unknown(track.line_of(key), message, key, known)
        given = {key: self._reading.expression(track, key) or usual for key, usual in tracker.expressions.items()}
        return Track(
            into=track.text("into"),
            kit=kit,
            given={key: source for key, source in given.items() if source},
            outputs=self._tracked_outputs(node, track, tracker.outputs),
            documents={key: track.text(key) for key in documents if track.wrote(key)},
        )

    def _tracked_outputs(self, node: Mapping, track: Mapping, keys: tuple[str, ...]) -> dict[str, str]:
        outputs = [name for step in (node, *node.mappings("steps")) if (name := _output_of(step))]
        found: dict[str, str] = {}
        for key in keys:
            name = track.text(key)
            if name and name not in outputs:
                message = f"'{key}': no step of this phase has the output '{shown(name)}'"
                self._reading.add_unknown(track.line_of(key), message, name, outputs)
            elif name:
                found[key] = name
        return found

    def _steps(
        self, node: Mapping, here: PhaseNode, shared: tuple[Scalar, ...], below: tuple[Scalar, ...]
    ) -> tuple[Step, ...]:
        """`shared`: what is read because of the phases around; `below`: with what this one adds for its steps."""
        if node.get("steps") is not None:
            steps = enumerate(node.mappings("steps"))
            return tuple(self._step(each, here, index, below, self._when(each, here)) for index, each in steps)
        return (self._step(node, here, 0, shared, ""),) if node.get("agents") is not None else ()

    def _step(self, node: Mapping, here: PhaseNode, index: int, shared: tuple[Scalar, ...], when: str) -> Step:
        """`when` beside a short form is the phase's own."""
        agents, agents_expr = self._who(node)
        output, detail, name = node.get("output"), node.mapping("output"), _output_of(node)
        line = output.line if output else node.line
        if "." in name:
            hint = "to keep the text in a file: output: {name: …, file: …}"
            self._reading.add(line, f"'output': '{shown(name)}' must be a name without dots", hint)
        elif name:
            self._values.written(name, line, "output", here)
        file = detail.get("file")
        with self._reading.inside(step=str(index)):
            gates = self._gates.of(node)
            prompt, revise = self._reading.prompt(node), self._reading.prompt(node, "revise")
        return Step(
            agents=agents,
            agents_expr=agents_expr,
            when=when,
            prompt=prompt,
            revise=revise,
            reads=self._reads(node, shared),
            writes=self._reading.paths(node, "writes"),
            output=name,
            output_file=self._reading.path(file, "'file'") if isinstance(file, Scalar) else "",
            schema=self._reading.contract(detail, "schema"),
            line=node.line,
            place=self._place(node, agents),
            missing="go_on" if node.text("missing") == "go_on" else "ask",
            gates=gates,
        )

    def _when(self, node: Mapping, here: PhaseNode) -> str:
        """When a step runs: in the rounds that `on` names, and only if `when` holds."""
        when = self._reading.expression(node, "when")
        names = [str(each.value) for each in node.scalars("on") if self._is_round(each, here)]
        if not names:
            return when
        said = json.dumps(names, ensure_ascii=False)
        rounds = f"round.name === {said[1:-1]}" if len(names) == 1 else f"{said}.includes(round.name)"
        return f"{rounds} && ({when})" if when else rounds

    def _is_round(self, node: Scalar, here: PhaseNode) -> bool:
        name, rounds = str(node.value), here.rounds
        if name == EXTRA and not rounds.open_ended and rounds.max <= len(rounds.plan):
            message = f"'on': phase '{here.id}' can have no extra round: its rounds end at {rounds.max}"
            self._reading.add(node.line, message, f"set rounds: {{max: {len(rounds.plan) + 1}}}")
            return False
        if name == EXTRA or name in rounds.plan:
            return True
        message = f"'on': phase '{here.id}' has no round '{shown(name)}'"
        self._reading.add_unknown(node.line, message, name, [*rounds.plan, EXTRA], column=node.column)
        return False

    def _reads(self, node: Mapping, shared: tuple[Scalar, ...]) -> tuple[str, ...] | None:
        """What the phases around read first, then what the step names; without any of them, everything."""
        if node.get("reads") is None and not shared:
            return None
        return tuple(dict.fromkeys(self._values.read((*shared, *node.scalars("reads")))))

    def _place(self, node: Mapping, agents: tuple[str, ...]) -> _Place:
        place = node.text("place")
        if not place.startswith("project"):
            return ""
        self._values.needs_project(node.line_of("place"), f"place: {place}")
        found = next((name for name in agents if name in self._roster.with_tools), "")
        if found and place == "project":  # where it may only read, it looks with its tools
            message = f"{shown(found)} has tools, which work in a folder of the run and not in 'place: {place}'"
            self._reading.add(node.line_of("place"), message, "leave 'place' out; the tool 'project' reads the project")
        if node.get("writes") is not None:
            message = f"'writes' is for files of the run, and 'place: {place}' is not among them"
            self._reading.add(node.line_of("writes"), message, "remove one of the two")
        return cast(_Place, place)

    def _who(self, node: Mapping) -> tuple[tuple[str, ...], str]:
        """Literal agents, or an expression: one text may be a group, an agent, or JavaScript."""
        agents = node.get("agents")
        if agents is None and not node.wrote("agents"):
            self._reading.add(node.line, "a step needs 'agents'", "who does the work?")
            return (), ""
        if isinstance(agents, Scalar):
            text = str(agents.value)
            if text in self._roster.names or _NAME.fullmatch(text):
                return self._roster.spread((agents,)), ""
            return (), self._reading.source(agents, "'agents'")
        return self._roster.spread(node.scalars("agents")), ""


def _output_of(step: Mapping) -> str:
    return step.mapping("output").text("name") or step.text("output")
