"""Runs with hostile texts in every field that an agent or a person can write; and all pages that show them."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

from tests.browser.hostile import as_address, as_file_name, payloads, short

from reconvene.app import queries
from reconvene.app.engine import Engine
from reconvene.app.file_versions import versions
from reconvene.app.views.companion_talk import Proposed, Said
from reconvene.companion.kept_talk import OfRun
from reconvene.core.facts import commands as c
from reconvene.core.facts.events import Lines
from reconvene.errors import AgentError
from reconvene.testing.scripted import ScriptedAgents
from reconvene.wire.workflow_file import parse_workflow
from reconvene.wiring import open_engine

FLOW = """
name: flow
inputs: {description: {type: text, required: true}}
agents: {writer: {}, asker: {retries: 1}}
phases:
  - id: ask
    rounds: {max: 3}
    steps:
      - {agents: [writer]}
      - {agents: [asker], output: asked}
    checkpoint:
      question: "{{ context.asked.question }}"
      prompt: "{{ context.asked.prompt }}"
      fields: [{each: "context.asked.list || []", type: item}]
      options:
        - {label: Go on, then: continue, remark: optional}
        - {label: Once more, then: again, remark: optional}
  - id: each_of_them
    each: {of: "context.asked.items || []"}
    agents: [writer]
    checkpoint: {question: Good?, options: [{label: Good, then: continue}]}
"""
FIELDS = 19  # that one run holds
ENDINGS = (".md", ".html", ".svg", ".txt")


class Texts:
    """One payload after the other, from one of them on."""

    def __init__(self, first: int) -> None:
        self._all = [_storable(one) for one in payloads()]
        self._next = first
        self.used: list[str] = []

    def next(self) -> str:
        text = self._all[self._next % len(self._all)]
        self._next += 1
        self.used.append(text)
        return text


class Poisoned(NamedTuple):
    run: str
    texts: list[str]


def poison(home: Path, first: int) -> Poisoned:
    """A run whose fields hold the payloads from this one on, at its second checkpoint."""
    texts = Texts(first)
    files: dict[str, object] = {as_file_name(texts.next(), ending): texts.next() for ending in ENDINGS}
    files["plain.md"] = "first line\n" + texts.next() + "\nlast line\n"
    asked = {
        "question": texts.next(), "prompt": texts.next(), "items": [{"id": "one", "title": texts.next()}],
        "list": [{"id": "q1", "text": texts.next(), "type": "choice", "options": [texts.next(), "b"]}],
    }  # fmt: skip
    agents = ScriptedAgents(
        {
            "writer": [{"text": texts.next(), "files": files}, {"text": texts.next(), "files": {"plain.md": "other"}}],
            "asker": [AgentError(texts.next()), {"value": asked}],
        }
    )
    engine = open_engine(str(home), runner=agents, say=lambda *_: None)
    run = engine.start(parse_workflow(FLOW), {"description": texts.next()}, by=_name(texts.next()))
    engine.drive_sync(run)
    on = Lines("plain.md", engine.load(run).world.files["plain.md"].digest, 2, 2)
    engine.submit(run, c.AddRemark(c.RemarkIn(texts.next(), on=on), _name(texts.next()), "browser"))
    said = (c.RemarkIn(texts.next(), "correction"),)
    point = engine.load(run).world.open
    assert point is not None, engine.load(run)
    engine.submit(run, c.AnswerCheckpoint(point.id, "Go on", remarks=said, by="ann", door="browser"))
    engine.drive_sync(run)
    talk = OfRun(engine, run)
    talk.add(Said("person", texts.next(), by="ann", door="browser"))
    offered = Proposed("remark", texts.next())
    talk.add(Said("companion", texts.next(), by="ann", door="browser", proposals=(offered,)))
    asyncio.run(engine.close())
    return Poisoned(run, texts.used)


def _storable(text: str) -> str:
    """As whatever reads an answer or a request gives it: halves of pairs cannot be recorded, and are refused."""
    return text.encode("utf-8", "replace").decode()


def _name(text: str) -> str:
    """What a name may be; with control characters it is refused."""
    return short(" ".join("".join(one for one in text if one.isprintable() or one == " ").split()))


def addresses(engine: Engine, run: str) -> Iterator[str]:
    """Of all pages about this run."""
    at = f"/runs/{quote(run)}"
    yield from (at, f"{at}?as_of=9", f"{at}/now", f"{at}/files", f"{at}/work", f"{at}/talk", f"{at}/ledger")
    yield from (
        f"{at}/calls",
        f"{at}/comments",
        f"{at}/events",
        f"{at}/companion",
        f"{at}/decide",
        f"/figures?run={run}",
    )
    for one in queries.attempts(engine, run):
        yield f"{at}/attempt?task={quote(f'R{one.serial}/{one.step}/{one.agent}', safe='')}&attempt={one.attempt}"
    for path in sorted({one.path for one in versions(engine, run)}):
        yield from (f"{at}/file?path={as_address(path)}&as={how}" for how in ("rendered", "source", "diff"))


def raw_addresses(engine: Engine, run: str) -> Iterator[str]:
    at = f"/runs/{quote(run)}"
    yield from (f"{at}/raw?path={as_address(path)}" for path in sorted({one.path for one in versions(engine, run)}))
    for one in queries.attempts(engine, run):
        task = quote(f"R{one.serial}/{one.step}/{one.agent}", safe="")
        yield from (
            f"{at}/sent?task={task}&attempt={one.attempt}&part={part}" for part in ("prompt", "reply", "output")
        )
