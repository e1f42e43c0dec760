"""How many tokens the agents of a workflow will be given, phase by phase, against what their models can take.

Before a run nobody knows how long documents will be. What is known is counted: instructions, forms, inputs that are
given. What is not is assumed, and the assumption is in `ASSUMED`, for people to read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from msgspec import Struct

from reconvene.core.definition.workflow import Agent, Phase, Step, Workflow, every_phase
from reconvene.core.facts.book import to_json
from reconvene.prompts.compact_schema import compact
from reconvene.prompts.documents import tokens
from reconvene.prompts.marks import RULES

DOCUMENT, SUMMARY, INPUT = 1_500, 200, 2_000
ASSUMED = f"A document that is not there yet counts {DOCUMENT:,} tokens, a summary {SUMMARY}, an input {INPUT:,}."
_REPLY = 0.25


class Size(Struct, frozen=True):
    phase: str
    agent: str
    instructions: int  # tokens: rules, role, task, form
    documents: int  # tokens
    window: int  # tokens, 0 = not known
    model: str = ""

    @property
    def expected(self) -> int:
        return self.instructions + self.documents

    @property
    def room(self) -> int:
        """What of the window is not kept for the reply."""
        return int(self.window * (1 - _REPLY))

    @property
    def fits(self) -> bool:
        return not self.window or self.expected <= self.room


def sizes(
    workflow: Workflow,
    inputs: Mapping[str, object],
    window: Callable[[Agent], int],
    models: Mapping[str, str] | None = None,
) -> list[Size]:
    """The largest prompt of each agent in each phase. `models`: by whom agents are carried out, where it is known."""
    found: dict[tuple[str, str], Size] = {}
    made = 0
    for phase in every_phase(workflow):
        for step in phase.steps:
            read = sum(_read(workflow, phase, inputs, word, made) for word in _words(step))
            for agent in _agents(workflow, step):
                model = (models or {}).get(agent.name, "")
                size = Size(phase.id, agent.name, _told(workflow, agent, step), read, window(agent), model)
                known = found.get((phase.id, agent.name))
                if known is None or known.expected < size.expected:
                    found[phase.id, agent.name] = size
        made += sum(len(step.agents) for step in phase.steps)
    return list(found.values())


def _agents(workflow: Workflow, step: Step) -> Iterator[Agent]:
    for name in step.agents or (tuple(workflow.agents) if step.agents_expr else ()):
        yield workflow.agents[name]


def _told(workflow: Workflow, agent: Agent, step: Step) -> int:
    texts = [RULES, agent.prompt, step.prompt, step.revise, agent.remit]
    texts += [text for name, text in workflow.templates.items() if any(f'"{name}"' in each for each in texts)]
    schema = step.schema if step.schema is not None else agent.schema
    texts += [to_json(compact(schema)).decode()] if schema is not None else []
    texts += [gate.retry_with + gate.example + gate.ask for gate in (*agent.gates, *step.gates)]
    return sum(tokens(text) for text in texts if text)


def _words(step: Step) -> tuple[str, ...]:
    return step.reads if step.reads is not None else ("files", "values")


def _read(workflow: Workflow, phase: Phase, inputs: Mapping[str, object], word: str, made: int) -> int:
    peers = max((len(step.agents) for step in phase.steps), default=1)
    which, _, rest = word.partition(".")
    if which == "inputs":
        given = inputs.get(rest)
        spec = workflow.inputs.get(rest)
        given = spec.default if given is None and spec is not None else given
        return tokens(given if isinstance(given, str) else to_json(given).decode()) if given else INPUT
    if word in ("files", "values"):
        return made * DOCUMENT
    many = peers if which in ("all", "round") else 3 if rest and which == "near" else _writers(workflow, word)
    return many * (SUMMARY if rest == "summary" else DOCUMENT)


def _writers(workflow: Workflow, name: str) -> int:
    """How many agents have a part in this value."""
    steps = [step for phase in every_phase(workflow) for step in phase.steps if step.output == name]
    return max((len(step.agents) for step in steps), default=1) or 1
