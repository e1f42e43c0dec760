"""The run that the questions are about: a brewery plans where its bottles come from. Everything that can be searched is
in it, as a run really has it.

What the packaged workflows' recordings say lies among its files, as studies that somebody read before. They speak of
the same works, contract and furnaces, and are in the way of whoever looks for something else.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path

import msgspec
import yaml

from reconvene.adapters.documents.gathering import Request
from reconvene.adapters.documents.read_child import read
from reconvene.app.engine import Engine
from reconvene.core.facts.commands import AnswerCheckpoint, RemarkIn
from reconvene.material_ports import Document, ReadLimits
from reconvene.testing.scripted import ScriptedAgents
from reconvene.wire.workflow_file import parse_workflow
from reconvene.wiring import open_engine

_CORPUS = Path(__file__).parent / "corpus"
_STUDIES = ("scenario-planning", "market-entry", "spec-refinement", "brainstorm")
_TEMPLATE = re.compile(r"\{\{.*?\}\}|\{%.*?%\}", re.DOTALL)
_SHORT = 90  # characters: shorter paragraphs of recordings say little on their own

WORKFLOW = """
name: bottles
inputs: {documents: {type: documents}}
agents: {planner: {}, analyst: {}, sourcing: {}, critic: {}}
phases:
  - {id: planning, title: Plan, agents: [planner], checkpoint: {approval_required: true, prompt: "Is the plan right?"}}
  - {id: research, agents: [analyst, sourcing], checkpoint: {approval_required: true, prompt: "Is research complete?"}}
  - {id: options, agents: [analyst, sourcing, critic], checkpoint: {approval_required: true, prompt: "Which way?"}}
"""


def make(home: Path) -> tuple[Engine, str]:
    """The engine and the run, at its end."""
    said = [phase["remarks"] for phase in yaml.safe_load((_CORPUS / "talk.yaml").read_text("utf-8"))]
    own = {path.name: path.read_bytes() for path in sorted((_CORPUS / "workspace").iterdir())}
    studies = {f"studies/{name}.md": study(name).encode() for name in _STUDIES}
    planned = {"text": "The plan is in plan.md, the to-dos are in todos.yaml.", "files": own | studies}
    agents = ScriptedAgents({"planner": planned} | {name: _outputs(name) for name in ("analyst", "sourcing", "critic")})
    engine = open_engine(home, runner=agents)
    given = [msgspec.to_builtins(document(path)) for path in sorted((_CORPUS / "documents").iterdir())]
    run = engine.start(parse_workflow(WORKFLOW), {"documents": given}, by="Imke")
    asyncio.run(engine.drive(run))
    for remarks in said:
        told = tuple(RemarkIn(text) for text in remarks)
        engine.submit(run, AnswerCheckpoint("", "Continue", remarks=told, by="Imke"))
        asyncio.run(engine.drive(run))
    assert engine.load(run).ended == "completed"
    return engine, run


def _outputs(agent: str) -> list[str]:
    return [path.read_text("utf-8") for path in sorted((_CORPUS / "outputs").glob(f"{agent}_*.md"))]


def document(path: Path) -> Document:
    """As the process in the box reads it."""
    with path.open("rb") as file:
        found = read(file, Request(path.suffix, path.stat().st_size, ReadLimits()))
    return Document(path.name, found.media, found.digest, found.parts, found.notes)


def study(name: str) -> str:
    """What the agents of a packaged workflow say in its recording, each paragraph once, without what is filled in."""
    recorded = files("reconvene").joinpath("workflows", name, "recorded", "team.yaml").read_text("utf-8")
    told = (part.strip() for text in _texts(yaml.safe_load(recorded)["entries"]) for part in text.split("\n\n"))
    return "\n\n".join(dict.fromkeys(_TEMPLATE.sub("…", part) for part in told if len(part) > _SHORT))


def _texts(value: object) -> Iterator[str]:
    match value:
        case str():
            yield value
        case dict():
            for inner in value.values():
                yield from _texts(inner)
        case list():
            for inner in value:
                yield from _texts(inner)
