"""The conversation with the companion, kept where it takes place: in the log of a run.

What a person says is on record before anybody is asked. Entries are added one after the other, whoever else is talking
with it at the same time, and whether or not agents are at work.
"""

from __future__ import annotations

from typing import Protocol

from reconvene.app.engine import Engine
from reconvene.app.views import companion_talk
from reconvene.app.views.companion_talk import Proposed, Said, Used
from reconvene.core.facts.commands import RecordCompanion
from reconvene.core.facts.events import CompanionSaid, Consulted, Proposal, Ref
from reconvene.core.facts.ids import digest_of

Blobs = dict[str, bytes]


class Conversation(Protocol):
    def entries(self) -> list[Said]: ...

    def add(self, said: Said) -> Said:
        """On record when this returns; as it is there, with its number and without secrets."""


class OfRun:
    """The conversation of a run that has started."""

    def __init__(self, engine: Engine, run: str) -> None:
        self._engine = engine
        self._run = run

    def entries(self) -> list[Said]:
        return companion_talk.entries(self._engine.log.read(self._run), self._engine.log.artefact)

    def add(self, said: Said) -> Said:
        secrets = self._engine.discretion.of(self._engine.session(self._run).book.workflow)
        command, blobs = as_command(secrets.blank_in(said))
        before = self._engine.load(self._run).seq
        self._engine.submit(self._run, command, blobs)
        for seq, event in reversed(self._engine.log.read(self._run, before)):
            if isinstance(event, CompanionSaid) and _same(event, command):
                return companion_talk.said(seq, event, self._engine.log.artefact)
        raise AssertionError("what was appended is not in the log")


def _same(event: CompanionSaid, command: RecordCompanion) -> bool:
    return (event.role, event.text, event.by, event.answers) == (
        command.role,
        command.text,
        command.by,
        command.answers,
    )


def as_command(said: Said) -> tuple[RecordCompanion, Blobs]:
    """As it goes on record: its texts by digest."""
    blobs: Blobs = {}

    def kept(text: str) -> str:
        data = text.encode("utf-8", "replace")
        blobs[digest_of(data)] = data
        return digest_of(data)

    text = said.text.encode("utf-8", "replace")
    command = RecordCompanion(
        said.role,
        Ref(kept(said.text), "text", len(text)),
        said.by,
        said.door,
        said.stage,
        said.answers,
        said.cites,
        said.unknown,
        tuple(_consulted(one, kept(one.arguments), kept(one.result)) for one in said.tools),
        tuple(_proposal(one, kept(one.text), kept(one.after) if one.kind == "edit" else "") for one in said.proposals),
        said.usage,
        said.fault,
        said.at,
    )
    return command, blobs


def _consulted(one: Used, arguments: str, result: str) -> Consulted:
    return Consulted(one.tool, arguments, result, one.failed)


def _proposal(one: Proposed, text: str, after: str) -> Proposal:
    return Proposal(one.kind, text, one.path, one.lines, one.before, after)
